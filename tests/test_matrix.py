"""Every fault in every role and scenario: typed or survived, and mended by trying again; a 0 is only the doctor's."""

import re
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest
from matrix import EPISODES, SPOILED, Figures, House, Ward, cases, endings, judgement, played, scored
from steady import steadily
from trouble import PLACES, TROUBLES, Trouble, outcome, table

from wardround.engine.errors import PreflightError
from wardround.engine.logs import configure
from wardround.engine.models.preflight import preflight
from wardround.engine.models.reach import reach
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import BRAKE
from wardround.testing.loopback import Loopback
from wardround.testing.wire import KINDS, Rates

configure("warning")  # thousands of episodes end by a cause here, as they should
PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
QUICK = ("malformed JSON",)
"""Troubles of the default suite; the others are tried by make test-all."""
BRAKED, OPEN = ("quota", "auth", "unknown_model"), "None"
ALL = tuple(f"case-{number:03}@1" for number in range(EPISODES))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> House:
    return anyio.run(House.built, cases(tmp_path_factory.mktemp("matrix") / "cases.jsonl"))


def accuracy(scores: Mapping[str, tuple[float | None, str]]) -> tuple[float | None, str]:
    """The score that says whether the answer was right."""
    return next(score for name, score in scores.items() if name in ("diagnosis_accuracy", "treatment_accuracy"))


class Cell:
    """A trouble in one role of one scenario."""

    def __init__(self, trouble: Trouble, role: str, scenario: str, *, lasting: bool) -> None:
        self.ward = Ward(trouble, role, scenario, lasting=lasting)
        self.name = f"{trouble.name}, {role} of {scenario}, {'lasting' if lasting else 'passing'}"
        self.wanted = outcome(trouble, role, scenario, lasting=lasting)
        self.spoiled = (SPOILED,) if lasting and not trouble.down else ALL
        self.judged = role == "judge"
        # Refusals of the key, the credit or the model's name in a row stop the work, and what is left stays open.
        self.stopped = trouble.kind in BRAKED and not lasting
        # A summary or a repair is a call more; what is tried again by the model layer is one call with more attempts.
        self.same_effort = trouble.passing

    async def play(self, house: House) -> None:
        """Play, score, mend, play again, score again."""
        ward, expected = self.ward, house.whole[self.ward.scenario][self.judged]
        async with ward.open():
            scene = await house.staged(ward, self.name)
            await played(scene)
            ended = await endings(scene)
            found = await scored(ward, scene, judged=self.judged)
            reached = [episode for episode in ALL if not self.stopped or self.ended_by_itself(episode, ended, found)]
            assert len(reached) == (BRAKE - 1 if self.stopped else EPISODES), f"{self.name}: {ended}"
            for episode in reached:
                how = self.wanted if episode in self.spoiled else "scored" if self.judged else "completed"
                assert (ended[episode] == "completed") is (self.judged or how == "completed"), f"{self.name}: {ended}"
                if how in ("completed", "scored"):
                    assert self.seen(found)[episode] == self.seen(expected)[episode], f"{self.name}: {episode}"
                elif self.judged:
                    assert accuracy(found[episode]) == (None, how), self.name
                else:
                    assert ended[episode] == how, self.name
                    right = (0.0, how.removeprefix("doctor/")) if how.startswith("doctor/") else (None, how)
                    assert accuracy(found[episode]) == right, self.name
            assert ward.struck or (ward.trouble and ward.trouble.down), f"{self.name}: nothing went wrong"
            ward.mend()
            if ward.trouble and ward.trouble.down and ward.lasting:
                await ward.come_up()
            causes = sorted({how.partition("/")[0] for how in ended.values()} - {"completed", OPEN})
            await played(scene, causes)
            assert set((await endings(scene)).values()) == {"completed"}, self.name
            again = await scored(ward, scene, judged=self.judged)
            if (
                self.wanted == "judge_unreadable/empty"
            ):  # it did answer: another judge or another wording is asked, not it
                assert again == found, self.name
                return
            talk = not self.wanted.startswith("doctor/")
            assert judgement(again, talk=talk) == judgement(expected, talk=talk), f"{self.name}: mended"

    def ended_by_itself(self, episode: str, ended: Mapping[str, str], found: Figures) -> bool:
        """Whether an episode, or its verdict, was ended by its own refusal; the others were stopped and stay open."""
        if self.judged:
            return any(reason == self.wanted for _, reason in found[episode].values())
        assert ended[episode] in (self.wanted, OPEN), f"{self.name}: {ended}"
        return ended[episode] != OPEN

    def seen(self, figures: Figures) -> Figures:
        """What must be the same."""
        return figures if self.same_effort else judgement(figures)


@pytest.mark.long
@pytest.mark.parametrize(
    "trouble",
    [pytest.param(one, marks=() if one.name in QUICK else pytest.mark.long) for one in TROUBLES],
    ids=lambda trouble: re.sub(r"\W+", "-", trouble.name),
)
def test_in_every_role_and_scenario(trouble: Trouble, house: House) -> None:
    async def played_everywhere() -> list[str]:
        places, wrong = anyio.CapacityLimiter(8), []

        async def play(cell: Cell) -> None:
            async with places:
                try:
                    with anyio.fail_after(100):  # nothing hangs
                        await cell.play(house)
                except* (AssertionError, TimeoutError) as errors:
                    wrong.append(f"{cell.name}: {errors.exceptions}")

        async with anyio.create_task_group() as group:
            for role, scenarios in PLACES.items():
                for scenario in scenarios:
                    for lasting in (False, True):
                        group.start_soon(play, Cell(trouble, role, scenario, lasting=lasting))
        return wrong

    assert steadily(played_everywhere()) == []  # a slow machine is no stalled endpoint


async def test_many_faults_at_once_that_pass(house: House) -> None:
    """A third of all first attempts go wrong, in seven ways at once: every episode ends as if none had."""
    kinds = ("rate_limit", "server_error", "reset", "truncated", "malformed", "web_page", "no_choices")
    for role in ("doctor", "patient"):
        for scenario in PLACES[role]:
            ward = Ward(TROUBLES[0], role, scenario, lasting=False)
            ward.ill.faults = Rates(dict.fromkeys(kinds, 0.05), seed=3)
            async with ward.open():
                scene = await house.staged(ward, f"many faults, {role} of {scenario}")
                await played(scene)
                assert await scored(ward, scene, judged=False) == house.whole[scenario][False]


def test_before_the_run() -> None:
    """What lasts and lies in the endpoint stops a run before it has begun; what may lie in the one call does not."""
    found: dict[str, bool] = {}

    async def begin(trouble: Trouble) -> None:
        async with Loopback(faults=Rates({trouble.fault: 1.0})) as server:
            if trouble.down:
                await server.stop()
            model = reach("openai/doctor", env={}, base_url=server.base_url, timeouts=Timeouts(first_byte=0.3))
            try:
                await preflight({"doctor": model})
            except PreflightError:
                found[trouble.name] = False
            else:
                found[trouble.name] = True
            await model.aclose()

    async def all_begun() -> None:
        async with anyio.create_task_group() as group:
            for trouble in TROUBLES:
                group.start_soon(begin, trouble)

    steadily(all_begun())
    assert found == {trouble.name: trouble.starts for trouble in TROUBLES}


def test_the_matrix_has_every_fault_that_the_server_knows() -> None:
    assert {trouble.fault.kind for trouble in TROUBLES} == set(KINDS)


def test_the_page_shows_this_matrix() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
