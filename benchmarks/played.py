"""The engine on the same calls: a two-seat game, the loop, the recording model, and a durable SQLite store."""

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.load import Load, Measured, measuring
from wardround.engine.batch import Progress, run_batch
from wardround.engine.clock import wall
from wardround.engine.episode import Episode, Table
from wardround.engine.events import Acted, Opened, Row
from wardround.engine.log import EpisodeLog
from wardround.engine.models.chat import ChatModel
from wardround.engine.models.endpoint import Endpoint
from wardround.engine.models.retry import Retrying
from wardround.engine.protocols import Agent, Model
from wardround.engine.records import Action, Ending, Json, Message, Said, View
from wardround.engine.rows import EpisodeRow
from wardround.engine.seat import Voice
from wardround.engine.stores.sqlite import SqliteStore


class Game:
    """`asker` calls its model, `teller` answers with a fixed text, until the calls are made."""

    name = "game"
    seats: Sequence[str] = ("asker", "teller")

    def __init__(self, load: Load) -> None:
        self._turns = 2 * load.calls - 1

    def start(self, case: str) -> tuple[Said, ...]:
        """The question."""
        return (Said(0, "teller", "say", case),)

    def turn(self, state: tuple[Said, ...]) -> str:
        """In turn."""
        return self.seats[(len(state) + 1) % 2]

    def view(self, state: tuple[Said, ...], seat: str) -> View:
        """Everything said."""
        return View(seat=seat, brief="You are a doctor.", heard=state, verbs=("say",))

    def apply(self, state: tuple[Said, ...], event: Acted) -> tuple[Said, ...]:
        """Say it."""
        return (*state, Said(event.seq, event.seat, event.action.verb, event.action.text))

    def ending(self, state: tuple[Said, ...]) -> Ending | None:
        """After the last call."""
        return Ending("completed") if len(state) > self._turns else None


class Asker:
    """Sends the whole conversation, says what comes back."""

    sealed = True

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    async def act(self, view: View) -> Action:
        """One call."""
        messages = [Message("system", view.brief)]
        messages += [Message("assistant" if said.seat == view.seat else "user", said.text) for said in view.heard]
        reply = await self._voice.complete(messages, purpose="act")
        return Action("say", reply.text)


class Teller:
    """Says the same long text each time."""

    sealed = True

    def __init__(self, text: str) -> None:
        self._text = text

    async def act(self, view: View) -> Action:
        """The text."""
        del view
        return Action("say", self._text)


async def played(load: Load, base_url: str) -> Measured:
    """Play the load into a fresh store."""
    question = "q" * load.turn_chars
    game, model = Game(load), Retrying(ChatModel("bench", Endpoint(base_url)))

    def cast(seat: str, voice: Callable[[Model, Mapping[str, Json]], Voice]) -> Agent:
        return Asker(voice(model, {"temperature": 0.8})) if seat == "asker" else Teller(question)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        store = SqliteStore(path)
        await store.create_run("bench", {})
        await store.plan("bench", [EpisodeRow(f"e{n}", n, "c", 1, None, "", 0, 0.0) for n in range(load.episodes)])
        progress = Progress(load.episodes)

        async def play(row: EpisodeRow) -> Ending | None:
            async def sink(rows: Sequence[Row], ending: Ending | None) -> None:
                await store.append("bench", row.id, rows, ending=ending)

            log = EpisodeLog(sink)
            log.add(Opened(seq=0, at=wall(), episode=row.id, case="c", case_hash="", scenario="game", seed=1, repeat=1))
            return await Episode(Table(game, question, cast, log, watch=progress)).play()

        async def jobs() -> AsyncIterator[EpisodeRow]:
            async for row in store.episodes("bench", causes=["open"]):
                yield row

        with measuring() as measured:
            await run_batch(jobs(), play, concurrency=load.concurrency, progress=progress)
        await model.aclose()
        await store.aclose()
        if progress.endings["completed"] != load.episodes:
            raise RuntimeError(f"only {progress.endings} of {load.episodes} episodes completed")
        measured.more = {"bytes an episode": path.stat().st_size / load.episodes}
    return measured
