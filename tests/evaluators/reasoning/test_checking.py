"""One judge checks one step: it looks things up, and its verdict counts by the words that it rests on."""

from typing import Any

import pytest
from bench import PlayedJudge, PlayedSearch
from reasoned import OTHER, PASSAGE, QUOTE, found_by, judgment, pleased, said

from wardround.engine.errors import LimitReached, ProviderError
from wardround.evaluators.judges.panel import PanelAnswer, Sample
from wardround.evaluators.reasoning.evidence import Library
from wardround.evaluators.reasoning.inquiry import Check
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.search.results import KINDS, SearchError, SearchHit

AGAIN = judgment("search", keywords="appendicitis course")


def check(judge: PlayedJudge, *passages: SearchHit | SearchError, rules: Rules = "default") -> Check:
    return Check(judge, Sample(), "The pain moved.", "A case.", Library(found_by(*passages)), rules)


def spans(one: Check, *passages: SearchHit) -> list[str]:
    """The words that were quoted, read from the texts they are said to stand in."""
    texts = {passage.digest: passage.text for passage in (PASSAGE, OTHER, *passages)}
    return [texts[quoted.digest][quoted.start : quoted.end] for quoted in one.quoted]


async def test_keywords_then_a_search_then_a_verdict_with_its_words() -> None:
    judge = pleased()
    one = check(judge)
    assert await one.verdict() == PanelAnswer("correct")
    assert [question.name for question, *_ in judge.asked] == ["keywords", "judgment"]
    (look,) = one.looked
    assert (look.judge, look.query, look.texts, look.failure) == ("judge", "appendix, pain", (PASSAGE.digest,), "")
    (quoted,) = one.quoted
    assert spans(one) == ["Pain moves to the right."]
    assert (quoted.title, quoted.url, quoted.date, quoted.how) == ("Appendicitis", PASSAGE.url, "2020", "exact")
    assert quoted.judge == "judge"


class Turns(PlayedSearch):
    """A search that finds something else each time."""

    async def find(self, query: str, *, most: int = 3) -> list[SearchHit]:
        self.queries.append(query)
        return [SearchHit("T", "", f"Sentence number {len(self.queries)} stands here.")]


async def test_it_searches_on_up_to_the_cap_and_then_it_is_unresolved() -> None:
    search, judge = Turns(), pleased(judgment=AGAIN)
    one = Check(judge, Sample(), "A step.", "A case.", Library(search))
    assert await one.verdict() == PanelAnswer("unverifiable", "unresolved")
    assert search.queries == ["appendix, pain", *["appendicitis course"] * 4]
    assert judge.count("judgment") == 5
    labels = [
        [text.label for text in question.materials] for question, *_ in judge.asked if question.name == "judgment"
    ]
    assert [sum(label.startswith("Passage") for label in each) for each in labels] == [1, 2, 3, 4, 5]
    assert len(one.looked) == 5
    assert not one.quoted


async def test_passages_keep_their_numbers_over_several_searches() -> None:
    judge = pleased(judgment=[AGAIN, judgment("wrong", {"passage": 2, "quote": "Sentence number 2 stands here."})])
    one = Check(judge, Sample(), "A step.", "A case.", Library(Turns()))
    assert await one.verdict() == PanelAnswer("wrong")
    last = judge.asked[-1][0]
    assert (last.text("Passage 1"), last.text("Passage 2")) == tuple(
        f"Sentence number {n} stands here." for n in (1, 2)
    )
    assert [quoted.digest for quoted in one.quoted] == [SearchHit("", "", "Sentence number 2 stands here.").digest]


async def test_what_is_found_twice_is_shown_once() -> None:
    judge = pleased(judgment=[AGAIN, judgment("correct", QUOTE)])
    one = check(judge, PASSAGE, OTHER, PASSAGE)
    assert await one.verdict() == PanelAnswer("correct")
    shown = [text.text for text in judge.asked[-1][0].materials if text.origin == "page"]
    assert shown == [PASSAGE.text, OTHER.text]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rules", ["default", "published"])
async def test_a_search_that_failed_is_no_evidence(kind: str, rules: Rules) -> None:
    judge = pleased()
    one = check(judge, SearchError(kind, "no"), rules=rules)
    assert await one.verdict() == PanelAnswer("unverifiable", f"search/{kind}")
    assert judge.count("judgment") == 0
    assert [(look.query, look.failure, look.texts) for look in one.looked] == [("appendix, pain", kind, ())]


async def test_the_next_search_may_fail_too() -> None:
    class Once(PlayedSearch):
        async def find(self, query: str, *, most: int = 3) -> list[SearchHit]:
            if "course" in query:
                raise SearchError("rate_limit", "slow down")
            return [PASSAGE]

    one = Check(pleased(judgment=AGAIN), Sample(), "A step.", "", Library(Once()))
    assert await one.verdict() == PanelAnswer("unverifiable", "search/rate_limit")
    assert [look.failure for look in one.looked] == ["", "rate_limit"]


QUOTES: list[tuple[Any, list[str]]] = [
    (QUOTE, ["Pain moves to the right."]),
    ({"passage": 2, "quote": "Pain moves to the right."}, ["Pain moves to the right."]),
    ({"passage": 99, "quote": "Fever is common."}, []),
    ({"passage": -1, "quote": "Fever is common."}, []),
    ({"passage": 0, "quote": "Fever is common."}, ["Fever is common."]),
    ({"passage": "one", "quote": "Fever is common."}, ["Fever is common."]),
    ({"quote": "fever  is\ncommon."}, ["Fever is common."]),
    (
        {"passage": 2, "quote": "Blood in the urine is seen in 85 percent."},
        ["Blood in the urine is seen in 85 percent."],
    ),
    ({"passage": 2, "quote": "Blood in the urine is seen in 58 percent."}, []),
    ({"passage": 2, "quote": "Blood in the urine is not seen in 85 percent."}, []),
    ({"passage": 1, "quote": ""}, []),
    ({"passage": 1, "quote": " \n"}, []),
    ({"passage": 1, "quote": "the"}, []),
    ({"passage": 1, "quote": "."}, []),
    ({"passage": 1, "quote": "to the"}, []),
    ({"passage": 1, "quote": "The appendix is never inflamed."}, []),
    ({"passage": 1, "quote": None}, []),
    ({"passage": 1, "quote": ["Fever is common."]}, []),
    ({"passage": 1}, []),
    ("Fever is common.", []),
    (7, []),
]


@pytest.mark.parametrize(("quote", "words"), QUOTES)
async def test_a_verdict_counts_with_words_that_stand_there(quote: Any, words: list[str]) -> None:
    for word in ("correct", "wrong"):
        one = check(pleased(judgment=judgment(word, quote)), PASSAGE, OTHER)
        assert await one.verdict() == (PanelAnswer(word) if words else PanelAnswer("unverifiable", "uncited"))
        assert spans(one) == words


async def test_published_counts_it_as_it_is() -> None:
    one = check(pleased(judgment=judgment("correct")), rules="published")
    assert await one.verdict() == PanelAnswer("correct")


@pytest.mark.parametrize("evidence", [None, {}, "Fever is common.", 3, [[]], [None]])
async def test_evidence_of_any_other_form_is_none(evidence: Any) -> None:
    one = check(pleased(judgment=said(judgment="correct", keywords_to_search="", evidence=evidence)))
    assert await one.verdict() == PanelAnswer("unverifiable", "uncited")


async def test_a_reply_in_a_list_keeps_its_evidence() -> None:
    one = check(pleased(judgment=f"[{judgment('correct', QUOTE)}]"))
    assert await one.verdict() == PanelAnswer("correct")


async def test_a_word_alone_has_no_evidence() -> None:
    assert await check(pleased(judgment="Correct")).verdict() == PanelAnswer("unverifiable", "uncited")


async def test_nothing_found_is_nothing_to_rest_on() -> None:
    judge = pleased()
    one = Check(judge, Sample(), "A step.", "A case.", Library(PlayedSearch()))
    assert await one.verdict() == PanelAnswer("unverifiable", "uncited")
    assert not [text for text in judge.asked[-1][0].materials if text.origin == "page"]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ({"keywords": ProviderError("timeout", "late")}, "judge/timeout"),
        ({"judgment": ProviderError("quota", "spent")}, "judge/quota"),
        ({"keywords": LimitReached("cost", "spent")}, "judge/cost"),
        ({"judgment": [AGAIN, LimitReached("tokens", "spent")]}, "judge/tokens"),
        ({"judgment": "Who knows."}, "judge_unreadable/prose"),
        ({"judgment": ["Who knows.", judgment("correct", QUOTE)]}, ""),
    ],
)
async def test_a_judge_that_failed_leaves_no_verdict(replies: dict[str, Any], reason: str) -> None:
    one = check(pleased(**replies))
    assert await one.verdict() == PanelAnswer(None if reason else "correct", reason)


@pytest.mark.parametrize(
    ("words", "reason"),
    [("", "keywords/empty"), ("I can't help with that", "keywords/refusal"), ("This is about pain.", "keywords/prose")],
)
async def test_without_terms_nothing_is_searched(words: str, reason: str) -> None:
    judge, search = pleased(keywords=words), found_by()
    one = Check(judge, Sample(), "A step.", "", Library(search))
    assert await one.verdict() == PanelAnswer("unverifiable", reason)
    assert (search.queries, one.looked, judge.count("keywords")) == ([], [], 2)
    mended = Check(pleased(keywords=[words, "fever, pain"]), Sample(), "A step.", "", Library(search))
    assert (await mended.verdict()).value == "correct"
    assert search.queries == ["fever, pain"]


async def test_a_limit_that_stops_the_search_is_the_judge_s() -> None:
    class Spent(PlayedSearch):
        async def find(self, query: str, *, most: int = 3) -> list[SearchHit]:
            raise LimitReached("cost", "spent")

    assert await Check(pleased(), Sample(), "A step.", "", Library(Spent())).verdict() == PanelAnswer(
        None, "judge/cost"
    )


async def test_a_query_is_one_that_can_be_sent() -> None:
    search = found_by()
    await Check(pleased(keywords="fe\u200bver \ud83d, \x00rash"), Sample(), "A step.", "", Library(search)).verdict()
    assert search.queries == ["fever \ufffd, rash"]
