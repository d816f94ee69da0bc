"""An episode whose reasoning is judged, and a judge that is pleased with everything: what tests of reasoning vary."""

from collections.abc import Mapping
from typing import Any

import msgspec
from bench import PlayedJudge, PlayedSearch, Script, bench
from graded import case as a_case
from graded import completed, trajectory

from wardround.engine.records import Action, Ending, Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.reasoning.reasoning_record import Account
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import Page, SearchError, SearchHit
from wardround.scenarios.case import Case, Truth

PASSAGE = SearchHit(
    "Appendicitis", "https://a.test/1", "Pain moves to the right. Fever is common. No rash.", date="2020"
)
OTHER = SearchHit("Stones", "https://a.test/2", "A stone hurts in waves. Blood in the urine is seen in 85 percent.")
QUOTE = {"passage": 1, "quote": "Pain moves to the right."}
BEARING = {**QUOTE, "bearing": "supports"}
STEPS = ("The pain moved.", "White cells are raised.", "Appendicitis.")


def said(**fields: Any) -> str:
    """A reply: a JSON object."""
    return msgspec.json.encode(fields).decode()


def judgment(word: str, *quotes: Any, keywords: str = "") -> str:
    """A verdict on a step, with its evidence."""
    return said(judgment=word, keywords_to_search=keywords, evidence=list(quotes))


def script(**replies: Any) -> dict[str, Any]:
    """Every step is reasoning, is right and quotes PASSAGE, every reference step is found; `replies` differ."""
    return {
        "step_class": said(classification="reasoning"),
        "step_role": said(classification="reasoning", finding=""),
        "bearing": judgment("correct", BEARING),
        "opinion": said(judgment="correct"),
        "keywords": "appendix, pain",
        "judgment": judgment("correct", QUOTE),
        "extract": said(quotes=[]),
        "reference": said(steps=STEPS),
        "found": said(found=True),
        "starts": said(starts=[]),
    } | replies


def pleased(seat: str = "judge", **replies: Any) -> PlayedJudge:
    """A judge that plays it; `replies` by the question's name: a reply, an error, or several in turn."""
    return PlayedJudge(script(**replies), seat)


def found_by(*passages: SearchHit | SearchError) -> PlayedSearch:
    """A search that finds them; PASSAGE if none is given."""
    return PlayedSearch(*(passages or (PASSAGE,)))


class PlayedReader:
    """A reader that has these pages, or an error in their place."""

    name = "played"

    def __init__(self, pages: Mapping[str, str | Exception]) -> None:
        self._pages = pages

    async def read(self, url: str) -> Page:
        """The page."""
        page = self._pages[url]
        if isinstance(page, Exception):
            raise page
        return Page(url, url, page, f"Page {url}")

    async def aclose(self) -> None:
        """Nothing to give back."""


TRUTH = Truth(diagnosis="Appendicitis", reasoning="Pain moved, cells are raised.", differential="A stone was unlikely.")
CASE = a_case(truth=TRUTH)
ANSWER = "### Reasoning:\n<step 1> The pain moved.\n<step 2> Cells are raised.\n\n### Answer:\nAppendicitis"
ASKING = "### Chain of Thought:\n<step 1> I need blood.\n\n### Additional Information Required:\n1. White cells\n"


def played(*texts: str | tuple[str, str], scenario: str = "oracle", ending: Ending | None = None) -> Trajectory:
    """An episode of these replies, each text alone or with its thinking; between two of them a result is told."""
    seat = "examiner" if scenario in ("workup", "consultation") else "patient"
    turns: list[tuple[str, Action]] = []
    for one in texts:
        if turns:
            turns.append((seat, Action("answer", "White cells: 15.")))
        text, thinking = (one, "") if isinstance(one, str) else one
        turns.append(("doctor", Action("reply", text, thinking=thinking)))
    goal = "treatment" if scenario == "treatment" else "diagnosis"
    return trajectory(*turns, ending=ending or completed("Appendicitis", goal), scenario=scenario, goal=goal)


async def judged(
    of: Trajectory,
    *judges: PlayedJudge | Script,
    by: type[Reasoning] = Reasoning,
    case: Case = CASE,
    search: Search | None = None,
    repeats: int = 1,
    **more: Any,
) -> tuple[dict[str, Score], Account]:
    """The scores by name, and the account as it comes back from JSON."""
    on = bench(*(judges or (pleased(),)), search=search or found_by(), repeats=repeats, **more)
    given = await by().score(case, of, on)
    assert len({score.name for score in given.scores}) == len(given.scores)
    assert all(score.reason or score.value is not None for score in given.scores)
    account = Account("default", {}, "", floor=False)
    if given.account is not None:
        account = msgspec.json.decode(msgspec.json.encode(given.account), type=Account)
        assert account == given.account
    return {score.name: score for score in given.scores}, account


def values(scores: dict[str, Score], *names: str) -> list[tuple[float | None, str]]:
    return [(scores[name].value, scores[name].reason) for name in names]
