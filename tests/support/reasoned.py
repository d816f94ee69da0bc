"""A judge that is pleased with everything, what it finds, and a library of pages: what tests of reasoning vary."""

from collections.abc import Mapping
from typing import Any

import msgspec
from bench import PlayedJudge, PlayedSearch, Reply

from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.page import Page

PASSAGE = Found("Appendicitis", "https://a.test/1", "Pain moves to the right. Fever is common. No rash.", date="2020")
OTHER = Found("Stones", "https://a.test/2", "A stone hurts in waves. Blood in the urine is seen in 85 percent.")
QUOTE = {"passage": 1, "quote": "Pain moves to the right."}
STEPS = ("The pain moved.", "White cells are raised.", "Appendicitis.")


def said(**fields: Any) -> str:
    """A reply: a JSON object."""
    return msgspec.json.encode(fields).decode()


def judgment(word: str, *quotes: Any, keywords: str = "") -> str:
    """A verdict on a step, with its evidence."""
    return said(judgment=word, keywords_to_search=keywords, evidence=list(quotes))


def script(**replies: Reply | list[Reply]) -> dict[str, Any]:
    """Every step is reasoning, is right and quotes PASSAGE, every reference step is found; `replies` differ."""
    return {
        "step_class": said(classification="reasoning"),
        "keywords": "appendix, pain",
        "judgment": judgment("correct", QUOTE),
        "extract": said(quotes=[]),
        "reference": said(steps=STEPS),
        "found": said(found=True),
        "starts": said(starts=[]),
    } | replies


def pleased(seat: str = "judge", **replies: Reply | list[Reply]) -> PlayedJudge:
    """A judge that plays it."""
    return PlayedJudge(script(**replies), seat)


def found_by(*passages: Found | SearchError) -> PlayedSearch:
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
