"""Panels: majorities of judges and of each judge's own answers, whoever is done first, with every vote kept."""

from collections import Counter
from collections.abc import Sequence

import anyio
import pytest
from bench import PlayedJudge
from examples import at_most
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import LimitReached, ProviderError, UsageError
from wardround.evaluators.judges.panel import DIVIDED, TORN, Judge, Panel, PanelAnswer, Ruling, Sample, Vote
from wardround.evaluators.judges.question import Material, Question
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.evaluators.reasoning.step_questions import read_presence

QUESTION = Question("found", (Material("A", "one", "case"), Material("B", "two", "reply")))
YES, NO, MUTE = '{"found": true}', '{"found": false}', "Who knows."
UNREAD = "judge_unreadable/prose"
LATE = ProviderError("timeout", "late")


def judges(*scripts: str | Exception | Sequence[str | Exception]) -> list[PlayedJudge]:
    return [PlayedJudge({"found": script}, f"judge-{place}") for place, script in enumerate(scripts)]


async def ruled(
    *scripts: str | Exception | Sequence[str | Exception], repeats: int = 1, swap: bool = False
) -> Ruling[bool]:
    return await Panel(judges(*scripts), repeats=repeats, swap=swap).ask(QUESTION, read_presence, swappable=True)


@pytest.mark.parametrize(
    ("scripts", "value", "reason", "by"),
    [
        ((YES,), True, "", (True,)),
        ((NO,), False, "", (False,)),
        ((MUTE,), None, UNREAD, (None,)),
        ((YES, YES, NO), True, "", (True, True, False)),
        ((NO, YES, NO), False, "", (False, True, False)),
        ((YES, NO), None, DIVIDED, (True, False)),
        ((YES, NO, LATE), None, "judge/timeout", (True, False, None)),
        ((YES, LATE), None, "judge/timeout", (True, None)),
        ((YES, YES, LATE), True, "", (True, True, None)),
        ((YES, YES, LATE, MUTE), None, "judge/timeout", (True, True, None, None)),
        ((MUTE, LATE), None, UNREAD, (None, None)),
        ((LimitReached("cost", "spent"),), None, "judge/cost", (None,)),
    ],
)
async def test_more_than_half_of_all_judges_decide(
    scripts: tuple[str | Exception, ...], value: bool | None, reason: str, by: tuple[bool | None, ...]
) -> None:
    ruling = await ruled(*scripts)
    assert (ruling.value, ruling.reason, ruling.by) == (value, reason, by)
    assert [vote.value for vote in ruling.votes] == list(by)


async def test_a_judge_s_own_answers_are_one_vote() -> None:
    ruling = await ruled([YES, NO, YES], [NO, NO, NO], [NO, YES, YES], repeats=3)
    assert (ruling.value, ruling.by) == (True, (True, False, True))
    assert Counter(vote.value for vote in ruling.votes) == {False: 5, True: 4}


async def test_a_judge_that_changes_its_mind_has_none() -> None:
    torn = await ruled([YES, NO], swap=True)
    assert (torn.value, torn.reason, torn.steady) == (None, TORN, False)
    assert torn.votes == (Vote("judge-0", True), Vote("judge-0", False, swapped=True))
    failed = await ruled([YES, LATE], repeats=2)
    assert (failed.value, failed.reason) == (None, "judge/timeout")
    one_of_three = await ruled([YES, NO], YES, YES, swap=True)
    assert (one_of_three.value, one_of_three.by) == (True, (None, True, True))


async def test_the_order_is_swapped_only_where_it_must_not_matter() -> None:
    (judge,) = asked = judges(YES)
    panel = Panel(asked, repeats=2, swap=True)
    await panel.ask(QUESTION, read_presence)
    assert [sample for _, sample, _ in judge.asked] == [Sample(False, 0), Sample(False, 1)]
    judge.asked.clear()
    await panel.ask(QUESTION, read_presence, swappable=True)
    texts = [
        ("".join(text.text[0] for text in question.materials), sample.repeat) for question, sample, _ in judge.asked
    ]
    assert texts == [("ot", 0), ("ot", 1), ("to", 0), ("to", 1)]


async def test_a_reply_is_repaired_once_and_then_it_is_a_reason() -> None:
    (mended,) = asked = judges([MUTE, YES])
    ruling = await Panel(asked).ask(QUESTION, read_presence)
    assert (ruling.value, mended.asked[1][2]) == (True, (MUTE,))
    (hopeless,) = asked = judges([MUTE, "Hm.", YES])
    ruling = await Panel(asked).ask(QUESTION, read_presence)
    assert (ruling.value, ruling.reason, hopeless.count("found")) == (None, UNREAD, 2)


async def test_the_first_that_answers_counts_where_no_majority_can() -> None:
    asked = judges(MUTE, LATE, NO, YES)
    assert await Panel(asked).first(QUESTION, read_presence) == PanelAnswer(False)
    assert [judge.count("found") for judge in asked] == [2, 1, 1, 0]
    assert await Panel(judges(LATE, MUTE)).first(QUESTION, read_presence) == PanelAnswer(None, "judge/timeout")


def test_a_panel_has_a_judge() -> None:
    for played, repeats in (([], 1), (judges(YES), 0)):
        with pytest.raises(UsageError, match="one judge at least"):
            Panel(played, repeats=repeats)


def test_what_a_panel_says_of_itself() -> None:
    one, two = Panel(judges(YES)), Panel([*judges(YES), LexicalJudge()])
    assert [(panel.floor, panel.several) for panel in (one, two)] == [(False, False), (True, True)]
    assert Panel(judges(YES), swap=True).several
    assert Panel(judges(YES), repeats=2).several


VALUES = st.sampled_from([True, False, None])


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, bool, list[bool | None], list[int]]:
    """(judges, repeats, swap, what each answers, how long each waits)."""
    many, repeats, swap = draw(st.integers(1, 4)), draw(st.integers(1, 3)), draw(st.booleans())
    size = many * repeats * (1 + swap)
    values = draw(st.lists(VALUES, min_size=size, max_size=size))
    return many, repeats, swap, values, draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))


def most(values: Sequence[bool | None]) -> bool | None:
    return next((value for value in (True, False) if 2 * sum(one is value for one in values) > len(values)), None)


@given(tables())
@at_most(150)
async def test_who_is_done_first_never_matters(table: tuple[int, int, bool, list[bool | None], list[int]]) -> None:
    many, repeats, swap, values, waits = table
    each = repeats * (1 + swap)

    async def work(judge: Judge, sample: Sample) -> PanelAnswer[bool]:
        at = int(judge.seat.partition("-")[2]) * each + sample.swapped * repeats + sample.repeat
        for _ in range(waits[at]):
            await anyio.lowlevel.checkpoint()
        value = values[at]
        return PanelAnswer(value, "" if value is not None else f"judge/{at}")

    ruling = await Panel(judges(*[YES] * many), repeats=repeats, swap=swap).each(work, swappable=True)
    assert [vote.value for vote in ruling.votes] == values
    assert [(vote.swapped, vote.repeat) for vote in ruling.votes] == [
        (swapped, n) for _ in range(many) for swapped in (False, True)[: 1 + swap] for n in range(repeats)
    ]
    own = [values[at * each : (at + 1) * each] for at in range(many)]
    decided = [most(one) for one in own]
    assert (ruling.by, ruling.value) == (tuple(decided), most(decided))
    assert bool(ruling.reason) == (ruling.value is None)
    if ruling.reason in (TORN, DIVIDED):
        assert ruling.reason == TORN or all(value is not None for value in decided)
