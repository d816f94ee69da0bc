"""A run whose endpoint lets nothing through: it stops and closes no episode; a call that sleeps holds no stop up."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from matrix import EPISODES, House, Ward, cases, endings
from structlog.testing import capture_logs
from trouble import TROUBLES
from until import until

from wardround.engine.batch import Progress
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.wrappers import Patience
from wardround.engine.protocols import Model
from wardround.evaluators.metrics.standard import Standard
from wardround.runs.encounter_run import EncounterRun
from wardround.runs.runner import Runner
from wardround.runs.seats import SeatConfig
from wardround.scoring.score import score_run
from wardround.testing.wire import Fault, Rates

SHORT = Patience(attempts=10_000, first=0.01, longest=0.05, silence=0.3)


class Closed(Ward):
    """Every request to the model that answers is refused."""

    def __init__(self, fault: Fault, patience: Patience, role: str = "doctor") -> None:
        super().__init__(TROUBLES[0], role, "oracle", lasting=True)
        self.ill.faults, self.ill.only = Rates({fault: 1.0}), None
        self.patience = patience
        self.gates = Gates()

    def model(self, role: str, gates: Gates | None = None) -> Model:
        """Behind the gates of the ward, which a test asks."""
        server = self.ill if role == self.role else self.well
        return reach(f"openai/{role}", env={}, base_url=server.base_url, patience=self.patience, gates=self.gates)


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    built = House()
    await built.plan("oracle", cases(tmp_path / "cases.jsonl"))
    yield built
    await built.store.aclose()


async def staged(house: House, ward: Closed) -> EncounterRun:
    scene = await house.staged(ward, "r")
    return replace(scene, cast=replace(scene.cast, gates=ward.gates))


async def play(scene: EncounterRun, progress: Progress) -> None:
    try:
        with anyio.fail_after(100):  # nothing waits as long as it sleeps
            await Runner(scene, progress, EPISODES).play()
    finally:
        for part in scene.cast.parts.values():
            if part.model is not None:
                await part.model.aclose()


async def test_it_stops_says_why_and_goes_on_when_the_endpoint_is_well(house: House) -> None:
    ward = Closed(Fault("rate_limit"), SHORT)
    async with ward.open():
        scene, progress = await staged(house, ward), Progress()
        await play(scene, progress)
        assert set((await endings(scene)).values()) == {"None"}, "open: no cause, so no score"
        assert ward.ill.base_url in progress.why
        assert re.search(r"answered HTTP 429 to every call for \d+ s", progress.why)
        assert "see what it allows" in progress.why
        ward.mend()
        ward.gates = Gates()
        parts = {
            seat: replace(part, model=ward.model(seat)) if part.model else part
            for seat, part in scene.cast.parts.items()
        }
        again = replace(scene, cast=replace(scene.cast, parts=parts, gates=ward.gates))
        await play(again, Progress())
        assert set((await endings(again)).values()) == {"completed"}


@pytest.mark.parametrize("fault", [Fault("rate_limit", retry_after=500), Fault("rate_limit", retry_after=110)])
async def test_a_stop_waits_for_no_call_that_sleeps(house: House, fault: Fault) -> None:
    ward = Closed(fault, Patience())
    async with ward.open():
        scene, progress = await staged(house, ward), Progress()
        said = f"{ward.ill.base_url} answers HTTP 429 to every call since"

        async def interrupt() -> None:
            await until(lambda: any(said in str(entry["event"]) for entry in logs))
            await until(
                lambda: ward.ill.total == EPISODES and not ward.gates.summary()[0]["in_flight"]
            )  # all three sleep
            progress.drain("it was interrupted")

        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                group.start_soon(interrupt)
                await play(scene, progress)
        assert set((await endings(scene)).values()) == {"None"}
        assert (progress.why, ward.ill.total) == ("it was interrupted", EPISODES)


async def test_a_judge_that_lets_nothing_through_stops_the_scoring_and_leaves_no_score(house: House) -> None:
    ward = Closed(Fault("rate_limit"), SHORT, role="judge")
    async with ward.open():
        scene, progress = await staged(house, ward), Progress()
        await play(scene, Progress())
        assert set((await endings(scene)).values()) == {"completed"}
        for expected in ("stopped", "scored"):
            model = ward.model("judge")
            judge = SeatConfig("openai/judge", model=model, gates=ward.gates)
            with anyio.fail_after(200):
                rows = await score_run(scene.run, [Standard()], judge=judge, progress=progress)
            await model.aclose()
            assert all(bool(row.scores) is (expected == "scored") for row in rows.episodes)
            assert ("answered HTTP 429 to every call" in progress.why) is (expected == "stopped")
            ward.mend()
            ward.gates, progress = Gates(), Progress()
