"""Which requests are which recorded examinations, by the votes of a panel."""

from collections.abc import Sequence

import pytest
from bench import PlayedJudge, Script, bench
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import ProviderError
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.outcome.items import PairedItem, TextItem
from wardround.evaluators.outcome.outcome_record import figures, number_reader, pair

CT = TextItem("imaging", "CT", "an abscess")
RECORD = (TextItem("lab", "CBC"), TextItem("lab", "CRP"), TextItem("imaging", "CT abdomen"))


@pytest.mark.parametrize(
    ("reply", "places"),
    [
        ('{"same": [3]}', (3,)),
        ('{"same": [3, 1, 3]}', (1, 3)),
        ('{"same": []}', ()),
        ('```json\n{"same": [2]}\n```', (2,)),
        ('The same is {"numbers": [1]}', (1,)),
    ],
)
def test_numbers_are_read(reply: str, places: tuple[int, ...]) -> None:
    assert number_reader(3)(reply) == places


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "empty"),
        ("Number 3.", "prose"),
        ('{"same": [3', "half_json"),
        ('{"same": 3}', "no_field"),
        ('{"other": [3]}', "no_field"),
        ('{"same": [4]}', "not_in_vocabulary"),
        ('{"same": [0]}', "not_in_vocabulary"),
        ('{"same": [true]}', "not_in_vocabulary"),
        ('{"same": ["3"]}', "not_in_vocabulary"),
        ('{"same": [1.5]}', "not_in_vocabulary"),
    ],
)
def test_anything_else_has_a_typed_reason(reply: str, why: str) -> None:
    found = number_reader(3)(reply)
    assert isinstance(found, Unread)
    assert found.why == why


@pytest.mark.long
@given(st.text())
def test_any_text_is_read_or_typed(text: str) -> None:
    assert isinstance(number_reader(3)(text), tuple | Unread)


async def paired(*replies: str | Exception, swap: bool = False) -> PairedItem:
    """What a panel of judges that reply so makes of one request."""
    judges = [PlayedJudge({"same_items": reply}, f"judge-{seat}") for seat, reply in enumerate(replies, 1)]
    return await pair(bench(*judges, swap=swap).panel, CT, RECORD)


async def test_a_judge_sees_one_request_and_the_numbered_record() -> None:
    judge = PlayedJudge({"same_items": '{"same": [3]}'})
    assert await pair(bench(judge).panel, CT, RECORD) == PairedItem((2,), (Vote("judge", (3,)),))
    [(question, *_)] = judge.asked
    assert question.text("The request") == "CT"
    assert question.text("The list") == "1. CBC\n2. CRP\n3. CT abdomen"


async def test_each_number_is_decided_by_itself() -> None:
    found = await paired('{"same": [1, 3]}', '{"same": [3]}', '{"same": [2, 3]}')
    assert (found.same, found.open, found.reason) == ((2,), (), "")
    assert [vote.value for vote in found.votes] == [(1, 3), (3,), (2, 3)]


async def test_a_judge_that_fails_leaves_open_what_the_others_do_not_decide() -> None:
    late = ProviderError("timeout", "late")
    found = await paired('{"same": [3]}', late, '{"same": [3]}')
    assert (found.same, found.open) == ((2,), ())
    found = await paired('{"same": [3]}', late, '{"same": [1]}')
    assert (found.same, found.open, found.reason) == ((), (0, 2), "judge/timeout")
    found = await paired("none of them")
    assert (found.same, found.open, found.reason) == ((), (0, 1, 2), "judge_unreadable/prose")
    assert found.votes == (Vote("judge-1", None, "judge_unreadable/prose"),)


async def test_a_tie_and_a_verdict_that_the_order_turns_leave_it_open() -> None:
    found = await paired('{"same": [3]}', '{"same": []}')
    assert (found.same, found.open, found.reason) == ((), (2,), "judges_divided")

    def one_sided(question: object, sample: object) -> str:
        return '{"same": [3]}' if getattr(sample, "swapped", False) else '{"same": []}'

    script: Script = one_sided
    found = await pair(bench(script, swap=True).panel, CT, RECORD)
    assert (found.open, found.reason) == ((2,), "judge_torn")


def values(found: Sequence[PairedItem], recorded: int) -> list[tuple[float | None, str]]:
    """Precision and recall."""
    return [(score.value, score.reason) for score in figures(found, recorded)]


def test_one_broad_request_hits_one_reference_and_not_ten() -> None:
    assert values([PairedItem(tuple(range(10)), ())], 10) == [(1.0, ""), (0.1, "")]


def test_what_the_panel_left_open_counts_only_where_it_matters() -> None:
    sure, torn = PairedItem((0,), ()), PairedItem((), (), open=(0,), reason="judge_torn")
    assert values([sure, torn], 2) == [(0.5, ""), (0.5, "")]
    assert values([torn], 2) == [(None, "judge_torn")] * 2
    assert values([], 2) == [(None, "nothing_asked"), (0.0, "")]
    assert values([PairedItem((), ())], 0) == [(None, "no_reference")] * 2
