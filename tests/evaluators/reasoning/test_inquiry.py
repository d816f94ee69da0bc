"""The checking of one step: what comes next, when it ends, and how, whatever the judge and the search do."""

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.reasoning.inquiry import FURTHER, Inquiry, SearchRound
from wardround.evaluators.reasoning.step_questions import StepVerdict

T = TypeVar("T")

SEARCH = '{"judgment": "Search", "keywords_to_search": "more"}'
RIGHT = '{"judgment": "Correct", "keywords_to_search": "None"}'


def test_keywords_search_verdict() -> None:
    inquiry = Inquiry("Fever means infection.")
    assert inquiry.wants == "keywords"
    inquiry = inquiry.with_reply("fever,\n infection.")
    assert (inquiry.wants, inquiry.query) == ("search", "fever, infection")
    inquiry = inquiry.with_results("a page")
    assert inquiry.wants == "verdict"
    inquiry = inquiry.with_reply(SEARCH)
    assert (inquiry.wants, inquiry.query) == ("search", "more")
    inquiry = inquiry.with_results("another").with_reply("Wrong")
    assert inquiry.path == (
        SearchRound("Search", "fever, infection", "a page"),
        SearchRound("Search", "more", "another"),
        SearchRound("Wrong", "None"),
    )
    assert (inquiry.wants, inquiry.step, inquiry.verdict, inquiry.reason) == (
        "done",
        "Fever means infection.",
        StepVerdict.WRONG,
        "",
    )


@pytest.mark.parametrize("further", [0, 1, FURTHER])
def test_what_the_searches_do_not_settle_is_unverifiable(further: int) -> None:
    inquiry, searches = Inquiry("a", further=further).with_reply("a"), 0
    while inquiry.wants != "done":
        searches += 1
        inquiry = inquiry.with_results("page").with_reply(SEARCH)
    assert searches == further + 1
    assert (inquiry.verdict, inquiry.reason) == (StepVerdict.UNVERIFIABLE, "unresolved")


def test_a_failed_search_is_never_evidence() -> None:
    inquiry = Inquiry("a").with_reply("a").with_failure("timeout")
    assert (inquiry.wants, inquiry.verdict, inquiry.reason) == ("done", StepVerdict.UNVERIFIABLE, "search/timeout")
    assert all(look.info is None for look in inquiry.path)


def test_a_search_for_nothing_is_made_by_the_published_code_only() -> None:
    nothing = '{"judgment": "Search", "keywords_to_search": "None"}'
    assert Inquiry("a").with_reply("a").with_results("page").with_reply(nothing).reason == "unresolved"
    assert Inquiry("a", "published").with_reply("a").with_results("page").with_reply(nothing).query == "None"


@pytest.mark.parametrize(("bad", "why"), [("Partially correct", "hedged"), ('{"x": 1}', "no_field"), ("", "empty")])
def test_one_repair_then_a_typed_failure(bad: str, why: str) -> None:
    asked = Inquiry("a").with_reply("a").with_results("page")
    once = asked.with_reply(bad)
    assert (once.wants, once.repairing) == ("verdict", True)
    assert once.with_reply(RIGHT).verdict == StepVerdict.CORRECT
    twice = once.with_reply(bad)
    assert (twice.wants, twice.verdict, twice.repairing) == ("done", None, False)
    assert twice.reason == f"judge_unreadable/{why}"


def test_keywords_are_asked_for_again_too() -> None:
    inquiry = Inquiry("a").with_reply(" \n")
    assert (inquiry.wants, inquiry.repairing) == ("keywords", True)
    assert inquiry.with_reply("a").repairing is False
    silent = inquiry.with_reply("")
    assert (silent.verdict, silent.reason) == (StepVerdict.UNVERIFIABLE, "keywords/empty")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("Correct", "prose"),
        (f"So: {RIGHT}", "prose"),
        (f"{RIGHT} so it is", "half_json"),
        (f"{RIGHT[:-1]},}}", "half_json"),
        ("[" * 100_000, "half_json"),
        ("x" * 100_001, "too_long"),
    ],
)
def test_under_the_published_rules_a_verdict_is_json_alone_after_at_most_five_repairs(reply: str, reason: str) -> None:
    inquiry = Inquiry("a", "published").with_reply("").with_results("page")
    for _ in range(5):
        inquiry = inquiry.with_reply(reply)
        assert inquiry.repairing
    assert inquiry.with_reply(f"```json\n{RIGHT}\n```").verdict == StepVerdict.CORRECT
    given_up = inquiry.with_reply(reply)
    assert (given_up.wants, given_up.verdict, given_up.reason) == ("done", None, f"judge_unreadable/{reason}")


def test_under_the_published_rules_the_judges_own_words_are_kept() -> None:
    long = "a,\n b. " * 200
    inquiry = Inquiry("a", "published").with_reply(long)
    assert inquiry.keywords == long
    assert len(inquiry.query) == 500
    inquiry = inquiry.with_results("page").with_reply('{"judgment": "Search", "keywords_to_search": ["a", "b"]}')
    assert (inquiry.query, inquiry.keywords) == ("a, b", ["a", "b"])
    inquiry = inquiry.with_results("page").with_reply('{"judgment": "Incorrect", "keywords_to_search": ""}')
    assert inquiry.path == (
        SearchRound("Search", long, "page"),
        SearchRound("Search", ["a", "b"], "page"),
        SearchRound("Incorrect", ""),
    )
    assert inquiry.verdict == StepVerdict.WRONG


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ('{"judgment": "Correct"}', "judge_unreadable/no_field"),
        ('["Correct"]', "judge_unreadable/no_field"),
        ('{"judgment": "not Correct", "keywords_to_search": ""}', "judge_unreadable/hedged"),
        ('{"judgment": true, "keywords_to_search": ""}', "judge_unreadable/not_in_vocabulary"),
        ('{"judgment": "Search!", "keywords_to_search": "a"}', "unresolved"),
    ],
)
def test_under_the_published_rules_what_is_json_is_not_repaired(reply: str, reason: str) -> None:
    inquiry = Inquiry("a", "published").with_reply("a").with_results("page").with_reply(reply)
    verdict = StepVerdict.UNVERIFIABLE if reason == "unresolved" else None
    assert (inquiry.wants, inquiry.verdict, inquiry.reason) == ("done", verdict, reason)


def test_what_was_not_asked_for_is_an_error() -> None:
    inquiry = Inquiry("a")
    steps: list[Callable[[], Inquiry]] = [
        lambda: inquiry.with_results("x"),
        lambda: inquiry.with_failure("x"),
        lambda: inquiry.with_reply("a").with_reply("b"),
    ]
    for step in steps:
        with pytest.raises(ValueError, match="wants"):
            step()


@given(st.lists(st.sampled_from([SEARCH, RIGHT, "Wrong", "eyes", "", '{"judgment"', "kw"])), st.lists(st.booleans()))
def test_every_inquiry_ends(replies: list[str], found: list[bool]) -> None:
    says, finds = _then(replies, ""), _then(found, False)
    inquiry, turns = Inquiry("a"), 0
    while inquiry.wants != "done":
        if inquiry.wants == "search":
            inquiry = inquiry.with_results("page") if next(finds) else inquiry.with_failure("down")
        else:
            inquiry = inquiry.with_reply(next(says))
        turns += 1
        assert turns <= 3 * (FURTHER + 2)
    assert inquiry.verdict is not None or inquiry.reason.startswith("judge_unreadable/")


def _then(given: list[T], last: T) -> Iterator[T]:
    yield from given
    while True:
        yield last
