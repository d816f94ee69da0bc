"""What is looked up for a step: passages, and what long pages say of it, each in words that stand in a stored text."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from wardround.evaluators.judging.hostile import signs

from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.page import Page, Reader
from wardround.evaluators.evidence.quoted import locate
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.judging.judge import Answer, Judge, Sample, answered
from wardround.evaluators.judging.payload import Payload, field, payload
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.reasoning import questions

LONG = 2000
"""Characters of a text that is shown as it is; of a longer one the judge copies out what bears on the step."""
HOSTILE = "hostile"
"""Stands where the kind of an error stands for a text that speaks to the judge: it is not shown."""


class Shown(msgspec.Struct, frozen=True):
    """A source, and those of its words that a judge is shown."""

    source: Found | Page
    text: str


class Gathered(msgspec.Struct, frozen=True):
    """What one search gave: what is shown, which pages fell out and why (address, kind), and the signs in them."""

    shown: tuple[Shown, ...]
    pages: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """A search that is sealed against the truth, and a reader of pages where passages are only the beginning."""

    search: Search
    reader: Reader | None = None

    async def look(self, query: str, step: str, judge: Judge, sample: Sample) -> Gathered:
        """What is found for `query`. Raises SearchError if the search fails or none of its pages can be read."""
        shown: list[Shown] = []
        fallen: list[tuple[str, str]] = []
        flags: list[str] = []
        found = await self.search.find(query)
        for passage in found:
            try:
                source = await self._whole(passage)
            except SearchError as error:
                fallen.append((passage.url, error.kind))
                continue
            if told := signs(source.text, "page"):
                flags += told
                fallen.append((passage.url or source.digest, HOSTILE))
                continue
            text = await _telling(source, step, judge, sample)
            if text:
                shown.append(Shown(source, text))
        if fallen and len(fallen) == len(found) and not flags:
            raise SearchError(fallen[0][1], "none of the pages that were found could be read")
        return Gathered(tuple(shown), tuple(fallen), tuple(dict.fromkeys(flags)))

    async def _whole(self, passage: Found) -> Found | Page:
        """The page that a passage is the beginning of; a corpus gives whole passages."""
        if self.reader is None or not passage.url.startswith(("http://", "https://")):
            return passage
        return await self.reader.read(passage.url)


async def _telling(source: Found | Page, step: str, judge: Judge, sample: Sample) -> str:
    """The words of `source` that a judge is shown; of a long one only what really stands in it."""
    if len(source.text) <= LONG:
        return source.text
    quotes: Answer[tuple[str, ...]] = await answered(judge, questions.extract(source.text, step), read_quotes, sample)
    places = [locate(source.text, quote) for quote in quotes.value or ()]
    return "\n".join(dict.fromkeys(source.text[place.start : place.end] for place in places if place is not None))


def read_quotes(text: str) -> tuple[str, ...] | Unread:
    """The quotations in a reply {"quotes": ["...", ...]}; an empty list is one."""
    held = payload(text)
    if isinstance(held, Unread):
        return held
    listed = field(held.value, ("quotes", "sentences")) if isinstance(held, Payload) else None
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return unread("no_field" if held else "prose" if text.strip() else "empty", text)
    return tuple(one for one in listed if one.strip())


def unique(gathered: Sequence[Gathered]) -> list[Shown]:
    """What several searches gave, each source once, in order."""
    kept: dict[str, Shown] = {}
    for one_search in gathered:
        for one in one_search.shown:
            kept.setdefault(one.source.digest, one)
    return list(kept.values())
