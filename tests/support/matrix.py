"""Plays one cell of the fault matrix: a trouble, the role it befalls, a scenario, and whether it lasts."""

import re
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
from clinic import case, lines
from trouble import ALONE, PLACES, SCENARIOS, Trouble

from wardround.engine.batch import Progress
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import Patience
from wardround.engine.protocols import Model, Store
from wardround.engine.records import Message
from wardround.evaluators.metrics.standard import Standard
from wardround.runs.encounter_run import EncounterRun, open_encounters
from wardround.runs.plan import RunPlan, create_run, plan_run
from wardround.runs.runner import Runner
from wardround.runs.seats import SeatConfig
from wardround.runs.settings import validate_settings
from wardround.scoring.score import score_run
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore
from wardround.testing.wire import Fault, Rates, ReceivedRequest, Schedule

EPISODES = 3
SPOILED = "case-001@1"
MARK = b"#1"
"""What the requests of the spoiled episode hold, in every role; that of a lasting trouble, others are spared."""

SHORT = Patience(attempts=3, first=0.01, longest=0.05)
LONG = Patience(attempts=200, first=0.01, longest=0.05)
BRIEF = Patience(attempts=3, total=0.5, first=0.01, longest=0.05)
"""Shorter than the longest Retry-After of the matrix."""
SECONDS = ("model_seconds", "episode_seconds")

Figures = dict[str, dict[str, tuple[float | None, str]]]
"""Episode to name of the score to (value, reason)."""


def cases(path: Path) -> Path:
    """A file of cases that each hold their mark wherever a model may look."""
    marked = []
    for number in range(EPISODES):
        plain, mark = case(number), f"#{number}"
        truth = plain.truth.model_copy(
            update={"synonyms": (f"{plain.truth.diagnosis} {mark}",), "treatment": f"{plain.truth.treatment} {mark}"}
        )
        history = {name: f"{text} {mark}" for name, text in plain.history.items()}
        opening = f"{plain.opening} {mark}"
        marked.append(plain.model_copy(update={"opening": opening, "history": history, "truth": truth}))
    path.write_text("".join(one.model_dump_json() + "\n" for one in marked))
    return path


class Ward:
    """The models of one cell: those that are well on one server, the ailing one on another.

    `struck` counts the requests that were chosen to fail.
    """

    def __init__(self, trouble: Trouble | None, role: str, scenario: str, *, lasting: bool) -> None:
        self.trouble, self.role, self.scenario, self.lasting = trouble, role, scenario, lasting
        self.struck = 0
        self.place: socket.socket | None = None
        self.well, self.ill = Loopback(self._say), Loopback(self._say, only=self._spoils)
        if trouble is not None and not trouble.down:
            self.ill.faults = Rates({trouble.fault: 1.0}, first=None if lasting else 1)

    def _say(self, messages: Sequence[Message], model: str) -> str:
        if model == "judge":
            return "Verdict: correct" if "stone" in messages[1].content else "Verdict: incorrect"
        if model == "patient":
            return f"Something like {len(messages[-1].content)}."
        told = "\n".join(message.content for message in messages)
        noted = re.search(r"Notes of (\d+) replies", told)
        before = int(noted[1]) if noted else 0
        if len(messages) == 1:  # it is asked for notes
            return f"Notes of {before + len(re.findall('^you: ', told, re.MULTILINE))} replies."
        said = [message for message in messages if message.role == "assistant" and message.content != "(no reply)"]
        return lines(self.scenario, [Message("assistant", "noted")] * before + said)

    def _spoils(self, asked: ReceivedRequest) -> bool:
        chosen = self._chosen(asked)
        self.struck += chosen
        return chosen

    def _chosen(self, asked: ReceivedRequest) -> bool:
        if self.lasting:
            return MARK in asked.body
        said = asked.body.count(b'"role":"assistant"')
        kind = self.trouble.fault.kind if self.trouble else ""
        if kind == "empty" or (kind == "refusal" and self.role == "doctor"):  # not the repair
            return said == 0
        if kind == "context_overflow" and self.role == "doctor" and self.scenario not in ALONE:
            return said == 1
        return True

    def model(self, role: str, gates: Gates | None = None) -> Model:
        """The way to the model of a role, behind `gates` or one of its own."""
        server = self.ill if role == self.role else self.well
        fault = self.trouble.fault if self.trouble and role == self.role else Fault("empty")
        patience = BRIEF if fault.retry_after == 1 else SHORT if self.lasting else LONG
        timeouts = Timeouts(first_byte=0.3) if fault.kind == "stall" else None
        return reach(
            f"openai/{role}",
            env={},
            base_url=server.base_url,
            timeouts=timeouts,
            patience=patience,
            gates=gates or Gates(),
        )

    def mend(self) -> None:
        """From now on nothing goes wrong."""
        self.ill.faults = Schedule(())

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Both servers listen; one that is down comes up after a while, unless that lasts."""
        async with self.well, self.ill, anyio.create_task_group() as group:
            if self.trouble is not None and self.trouble.down:
                port = self.ill.port
                await self.ill.stop()
                self.ill.port = port
                self.place = socket.socket()
                self.place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                self.place.bind(("127.0.0.1", port))  # nobody listens, and nobody else takes the port
                if not self.lasting:
                    group.start_soon(self.come_up, 0.1)
            yield
            self.leave()

    def leave(self) -> None:
        """Give the port free."""
        if self.place is not None:
            self.place.close()
            self.place = None

    async def come_up(self, after: float = 0.0) -> None:
        """Listen again where it listened before."""
        await anyio.sleep(after)
        self.leave()
        await self.ill.start(self.ill.port)


class House:
    """One store with a plan for each scenario: each cell writes down its own run, without planning it anew."""

    def __init__(self, store: Store | None = None) -> None:
        self.store = store or MemoryStore()
        self.plans: dict[str, RunPlan] = {}
        self.stages: dict[str, EncounterRun] = {}
        self.whole: dict[str, Mapping[bool, Figures]] = {}

    @classmethod
    async def built(cls, file: Path) -> "House":
        """With the fault-free scores of each scenario, without a judge and with one."""
        house = cls()
        for scenario in SCENARIOS:
            await house.plan(scenario, file)
            ward = Ward(None, "nobody", scenario, lasting=False)
            async with ward.open():
                scene = await house.staged(ward, f"{scenario} without a fault")
                await played(scene)
                assert set((await endings(scene)).values()) == {"completed"}
                house.whole[scenario] = {judged: await scored(ward, scene, judged=judged) for judged in (False, True)}
        return house

    async def plan(self, scenario: str, file: Path) -> None:
        """Plan a scenario over the cases of a file."""
        seats = {role: {"spec": "scripted/x"} for role in ("doctor", "patient") if scenario in PLACES[role]}
        fields = {"cases": str(file), "scenario": scenario, "repeats": 1, "seats": seats, "preflight": False}
        self.plans[scenario] = await plan_run(validate_settings(fields, "test"), self.store, {})

    async def staged(self, ward: Ward, name: str) -> EncounterRun:
        """A new run whose models are the ward's, called `name` with hyphens for what a name may not hold."""
        made = self.plans[ward.scenario]
        gates = Gates()  # those of the stage, as in a run: what a brake has shut is open when playing begins again
        parts = {
            seat: replace(part, model=ward.model(seat, gates)) if part.model else part
            for seat, part in made.parts.items()
        }
        named = made.settings.model_copy(update={"name": re.sub(r"[^A-Za-z0-9]+", "-", name)})
        run = await create_run(replace(made, settings=named, parts=parts), self.store)
        usual = self.stages.get(ward.scenario)
        if usual is None:
            usual = self.stages[ward.scenario] = await open_encounters(run, parts, made.access)
        return replace(usual, run=run, cast=replace(usual.cast, parts=parts, gates=gates))


async def played(scene: EncounterRun, retry: Sequence[str] = ()) -> None:
    """Play what is open, and what ended by a cause of `retry`."""
    try:
        store, name = scene.run.store, scene.run.name
        await store.reopen(name, [row.id async for row in store.episodes(name, causes=retry)])
        await Runner(scene, Progress(), EPISODES).play()
    finally:
        for part in scene.cast.parts.values():
            if part.model is not None:
                await part.model.aclose()


async def endings(scene: EncounterRun) -> dict[str, str]:
    """Episode to `completed` or CAUSE/REASON."""
    rows = await scene.run.episodes()
    return {row.id: f"{row.cause}/{row.reason}" if row.reason else str(row.cause) for row in rows}


async def scored(ward: Ward, scene: EncounterRun, *, judged: bool) -> Figures:
    """All scores but those of time."""
    part = None
    if judged:
        # a judge of this cell's own: what another cell's was asked is not asked again in the same store
        where = f"{ward.trouble.name if ward.trouble else ''}/{ward.role}/{ward.scenario}/{ward.lasting}"
        part = SeatConfig("openai/judge", model=ward.model("judge"), address=where)
    try:
        rows = await score_run(scene.run, [Standard()], judge=part)
    finally:
        if part and part.model:
            await part.model.aclose()
    return {
        row.episode: {s.name: (s.value, s.reason) for s in row.scores if s.name not in SECONDS} for row in rows.episodes
    }


def judgement(figures: Figures, *, talk: bool = True) -> Figures:
    """Without calls and tokens, of which a repair, a summary or a second try takes more.

    Without `talk` also without the number of turns and of unusable replies: a doctor that was silent, and is not now,
    was warned in between.
    """
    left_out = ("calls", "failed", "tokens") if talk else ("calls", "failed", "tokens", "turns", "unusable")
    return {
        episode: {name: score for name, score in scores.items() if not name.startswith(left_out)}
        for episode, scores in figures.items()
    }
