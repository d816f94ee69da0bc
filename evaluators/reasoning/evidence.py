"""Collects the evidence for a step: passages, and the sentences of long pages that bear on it, all quoted verbatim."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec

from wardround.engine.errors import LimitReached
from wardround.engine.once import together
from wardround.evaluators.injection.detect import HOSTILE, Signed
from wardround.evaluators.judges.panel import Judge, PanelAnswer, Sample, answered
from wardround.evaluators.judges.strict_reply import Unread, strings
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.quotes import locate
from wardround.evaluators.search.results import KINDS, Found, Page, Reader, SearchError

LONG = 2000
"""Longest text, in characters, that is shown whole; from a longer one the judge copies what bears on the step."""


class Shown(msgspec.Struct, frozen=True):
    """A source, and the text of it that a judge sees."""

    source: Found | Page
    text: str


class Gathered(msgspec.Struct, frozen=True):
    """The result of one search: what the judge sees, which pages were dropped and why, and the signs in them.

    `pages` are (address, kind): a kind of SearchError, `hostile`, or the reason why the judge did not read a long page.
    """

    shown: tuple[Shown, ...]
    pages: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


class _Seen(msgspec.Struct, frozen=True):
    """What became of one passage: shown, or dropped for an error of this kind, with the signs in it."""

    shown: Shown | None = None
    fell: tuple[str, str] | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Library:
    """A search that hides the truth, and a reader of pages where passages are only the beginning of a text.

    `signed` caches the signs of texts that came up before.
    """

    search: Search
    reader: Reader | None = None
    signed: Signed = field(default_factory=Signed)

    async def look(self, query: str, step: str, judge: Judge, sample: Sample) -> Gathered:
        """Search for `query` and read all pages at once.

        Raises SearchError if the search fails or none of its pages can be read, and LimitReached.
        """
        results = await self.search.find(query)
        looks = [partial(self._seen, passage, step, judge, sample) for passage in results]
        # without pages to read there is rarely anything to wait for, and a task costs more than the lookup
        seen = await together(looks) if self.reader else [await look() for look in looks]
        fallen = tuple(one.fell for one in seen if one.fell is not None)
        unread = [kind for _, kind in fallen if kind in KINDS]
        if unread and len(unread) == len(results):
            raise SearchError(unread[0], "none of the pages could be read")
        shown = tuple(one.shown for one in seen if one.shown is not None)
        return Gathered(shown, fallen, tuple(dict.fromkeys(flag for one in seen for flag in one.flags)))

    async def _seen(self, passage: Found, step: str, judge: Judge, sample: Sample) -> _Seen:
        place = passage.url or passage.digest
        try:
            source = await self._whole(passage)
        except SearchError as error:
            return _Seen(fell=(place, error.kind))
        except LimitReached as error:
            return _Seen(fell=(place, f"judge/{error.limit}"))
        if hostile_signs := self.signed.of(source.digest, source.text):
            return _Seen(fell=(place, HOSTILE), flags=hostile_signs)
        telling = await _telling(source, step, judge, sample)
        if telling.value is None:
            return _Seen(fell=(place, telling.reason))
        return _Seen(Shown(source, telling.value) if telling.value else None)

    async def _whole(self, passage: Found) -> Found | Page:
        """Return the whole page of a passage; a corpus already gives whole passages."""
        if self.reader is None or not passage.url.startswith(("http://", "https://")):
            return passage
        return await self.reader.read(passage.url)


async def _telling(source: Found | Page, step: str, judge: Judge, sample: Sample) -> PanelAnswer[str]:
    """Return the text of `source` that a judge sees; from a long one only quotations that occur in it."""
    if len(source.text) <= LONG:
        return PanelAnswer(source.text)
    quotes: PanelAnswer[tuple[str, ...]] = await answered(
        judge, step_questions.extract(source.text, step), read_quotes, sample
    )
    if quotes.value is None:
        return PanelAnswer(None, quotes.reason)
    places = filter(None, (locate(source.text, quote) for quote in quotes.value))
    return PanelAnswer("\n".join(dict.fromkeys(source.text[place.start : place.end] for place in places)))


def read_quotes(text: str) -> tuple[str, ...] | Unread:
    """Read the quotations of a reply {"quotes": ["...", ...]}; an empty list is valid."""
    return strings(text, ("quotes", "sentences"))


def unique(gathered: Sequence[Gathered]) -> list[Shown]:
    """Return the results of several searches, each source once, in order."""
    kept: dict[str, Shown] = {}
    for one_search in gathered:
        for one in one_search.shown:
            kept.setdefault(one.source.digest, one)
    return list(kept.values())
