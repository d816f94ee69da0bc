"""The evidence for a step: the passages found, where quoted words occur in them, and whether they bear on the step.

`Library` searches and reads pages, `cite` finds a judge's quotation in its source, and `bears` says by concepts and
words whether the quotation is about what a step claims.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import NamedTuple

import msgspec
from rapidfuzz import fuzz

from wardround.engine.errors import LimitReached
from wardround.engine.once import together
from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.evaluators.content import sentences, share, word_set
from wardround.evaluators.injection.detect import HOSTILE, SignCache
from wardround.evaluators.judges.panel import Judge, PanelAnswer, Sample, ask_judge
from wardround.evaluators.judges.strict_reply import Unread, strings
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.reasoning_record import EvidenceQuote
from wardround.evaluators.search.contract import Search
from wardround.evaluators.search.results import KINDS, Page, Reader, SearchError, SearchHit
from wardround.scenarios.diseases.knowledge import finding_knowledge
from wardround.scenarios.diseases.lexical_linker import LexicalLinker

LEAST_LIKENESS = 90.0
"""Least similarity (rapidfuzz's partial ratio, 0 to 100) of an aligned quotation."""
SHORTEST_QUOTE, LONGEST_QUOTE = 24, 4000
"""Shortest and longest quotation, in characters, that may be aligned; a shorter one must occur literally."""
_ALIGNED_WITHIN = 400_000
"""Number of characters of a text in which an alignment is sought."""
_TYPOGRAPHY = str.maketrans("‘’‚‛“”„‟«»‐‑‒–—−\u00a0\u2009\u202f", '\'\'\'\'""""""------   ')
"""Typographic variants, replaced one for one, so that positions stay the same."""
_TELLING = regex(
    r"\d+(?:[.,]\d+)*|\b(?:not|no|nor|never|neither|without|cannot|none|non|un\w{3,}|in(?:effective|sufficient|significant))\b"
    r"|n't\b|[<>≤≥%]|\b(?:increase|decrease|reduce|rais|lower|high|hypo|hyper)\w*",
    re.IGNORECASE,
)
"""Words that change a sentence's meaning: numbers, negations, directions."""


class Place(NamedTuple):
    """A position, `start` to `end`, in the text.

    `how` is exact, spaced (other white space, case, dashes or quotation marks) or aligned (nearly the same words);
    `likeness` is 100 except for aligned quotations.
    """

    start: int
    end: int
    how: str
    likeness: float = 100.0


def locate(text: str, words: str) -> Place | None:
    """Return the first place of `words` in `text`, or None.

    Similar words count from LEAST_LIKENESS on, and only if numbers, negations and words of direction are the same as in
    the text: a sentence without its "not" is very similar to the one with it. A caller that shows the quotation must
    show the text's own words.
    """
    words = words.strip()
    if not words:
        return None
    at = text.find(words)
    if at >= 0:
        return Place(at, at + len(words), "exact")
    same = text.translate(_TYPOGRAPHY)
    parts = words.translate(_TYPOGRAPHY).split()
    if match := re.search(r"\s+".join(re.escape(part) for part in parts), same, re.IGNORECASE):
        return Place(match.start(), match.end(), "spaced")
    return _align(text, same, " ".join(parts))


def _align(text: str, same: str, words: str) -> Place | None:
    """Return the place of nearly the same words, if they have the same numbers, negations and directions."""
    if not SHORTEST_QUOTE <= len(words) <= LONGEST_QUOTE:
        return None
    lower = same[:_ALIGNED_WITHIN].lower()
    if len(lower) != len(same[:_ALIGNED_WITHIN]):  # a letter with a longer lower-case form would shift every position
        lower = same[:_ALIGNED_WITHIN]
    match = fuzz.partial_ratio_alignment(words.lower(), lower, score_cutoff=LEAST_LIKENESS)
    if match is None or match.src_end - match.src_start < len(words):
        return None
    start, end = _to_words(text, match.dest_start, match.dest_end)
    if _telling_words(words) != _telling_words(same[start:end]):
        return None
    return Place(start, end, "aligned", round(match.score, 1))


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the place without cut words and outer white space."""
    while start > 0 and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _telling_words(text: str) -> Counter[str]:
    return Counter(match[0].lower() for match in _TELLING.finditer(text))


LEAST_LETTERS = 8
"""Fewest letters and digits of a quotation that may support a verdict."""


def cite(source: SearchHit | Page, words: str) -> Place | None:
    """Locate `words` in a passage or page; None if they do not occur and so are not evidence.

    It is also None for words that occur in any text: a quotation needs two words and 8 letters or digits (fewer in
    Chinese).
    """
    return locate(source.text, words) if _is_specific(words) else None


def _is_specific(words: str) -> bool:
    """Whether quoted words are specific; a single word or a few letters occur in any text.

    A Chinese character counts as two letters, and no second word is needed.
    """
    letters = [char for char in words if char.isalnum()]
    dense = sum(char >= "\u3040" for char in letters)
    return len(letters) + dense >= LEAST_LETTERS and (dense > 0 or len(words.split()) > 1)


SHOWN_WHOLE = 2000
"""Longest text, in characters, that is shown whole; from a longer one the judge copies what bears on the step."""


class ShownSource(msgspec.Struct, frozen=True):
    """A source, and the text of it that a judge sees."""

    source: SearchHit | Page
    text: str


class SearchFindings(msgspec.Struct, frozen=True):
    """The result of one search: what the judge sees, which pages were dropped and why, and the signs in them.

    `pages` are (address, kind): a kind of SearchError, `hostile`, or the reason why the judge did not read a long page.
    """

    shown: tuple[ShownSource, ...]
    pages: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()


class _Examined(msgspec.Struct, frozen=True):
    """What became of one passage: shown, or dropped for an error of this kind, with the signs in it."""

    shown: ShownSource | None = None
    dropped: tuple[str, str] | None = None
    flags: tuple[str, ...] = ()


class Library(msgspec.Struct, frozen=True):
    """A search that hides the truth, and a reader of pages where passages are only the beginning of a text.

    `signed` caches the signs of texts that came up before.
    """

    search: Search
    reader: Reader | None = None
    signed: SignCache = msgspec.field(default_factory=SignCache)

    async def look(self, query: str, step: str, judge: Judge, sample: Sample) -> SearchFindings:
        """Search for `query` and read all pages at once.

        Raises SearchError if the search fails or none of its pages can be read, and LimitReached.
        """
        results = await self.search.find(query)
        looks = [partial(self._examine, passage, step, judge, sample) for passage in results]
        # without pages to read there is rarely anything to wait for, and a task costs more than the lookup
        seen = await together(looks) if self.reader else [await look() for look in looks]
        dropped = tuple(one.dropped for one in seen if one.dropped is not None)
        unread = [kind for _, kind in dropped if kind in KINDS]
        if unread and len(unread) == len(results):
            raise SearchError(unread[0], "none of the pages could be read")
        shown = tuple(one.shown for one in seen if one.shown is not None)
        return SearchFindings(shown, dropped, tuple(dict.fromkeys(flag for one in seen for flag in one.flags)))

    async def _examine(self, passage: SearchHit, step: str, judge: Judge, sample: Sample) -> _Examined:
        """Read the page of a passage, and decide what of it the judge sees."""
        place = passage.url or passage.digest
        try:
            source = await self._read_whole(passage)
        except SearchError as error:
            return _Examined(dropped=(place, error.kind))
        except LimitReached as error:
            return _Examined(dropped=(place, f"judge/{error.limit}"))
        if hostile_signs := self.signed.of(source.digest, source.text):
            return _Examined(dropped=(place, HOSTILE), flags=hostile_signs)
        telling = await _relevant_text(source, step, judge, sample)
        if telling.value is None:
            return _Examined(dropped=(place, telling.reason))
        return _Examined(ShownSource(source, telling.value) if telling.value else None)

    async def _read_whole(self, passage: SearchHit) -> SearchHit | Page:
        """Return the whole page of a passage; a corpus already gives whole passages."""
        if self.reader is None or not passage.url.startswith(("http://", "https://")):
            return passage
        return await self.reader.read(passage.url)


async def _relevant_text(source: SearchHit | Page, step: str, judge: Judge, sample: Sample) -> PanelAnswer[str]:
    """Return the text of `source` that a judge sees; from a long one only quotations that occur in it."""
    if len(source.text) <= SHOWN_WHOLE:
        return PanelAnswer(source.text)
    quotes: PanelAnswer[tuple[str, ...]] = await ask_judge(
        judge, step_questions.extract(source.text, step), read_quotes, sample
    )
    if quotes.value is None:
        return PanelAnswer(None, quotes.reason)
    places = filter(None, (locate(source.text, quote) for quote in quotes.value))
    return PanelAnswer("\n".join(dict.fromkeys(source.text[place.start : place.end] for place in places)))


def read_quotes(text: str) -> tuple[str, ...] | Unread:
    """Read the quotations of a reply {"quotes": ["...", ...]}; an empty list is valid."""
    return strings(text, ("quotes", "sentences"))


def unique_sources(gathered: Sequence[SearchFindings]) -> list[ShownSource]:
    """Return the results of several searches, each source once, in order."""
    kept: dict[str, ShownSource] = {}
    for one_search in gathered:
        for one in one_search.shown:
            kept.setdefault(one.source.digest, one)
    return list(kept.values())


PAIR = 2
"""Linked concepts of a claim that must occur: the subject, and what the claim says of it."""
LEAST_SHARE = 0.3
"""Least share (by weight) of a claim's other content words that a quotation needs if it lacks a pair of concepts."""
SUBJECT_WITHIN = 600
"""Number of characters before a quotation that may name its subject."""


def bears(step: str, quote: str, context: str = "") -> bool:
    """Whether `quote` contains the subject and the object of a claim of `step`; each sentence of a step is a claim.

    Concepts are the project's diseases and the findings of HPO, as the lexical linker finds them. The quotation must
    contain two of the claim's concepts; one of them, the subject, may occur only in the `context` (the title of the
    source and the text just before the quotation). Most objects are no linked concept. So without such a pair, one
    concept of the claim must occur, if it has any, and the quotation must contain other content words of the claim: at
    least two, and three tenths of them by weight. If the claim has fewer than two other words, it must contain all.
    """
    said = word_set(quote)
    return any(_bears_on_claim(claim, said, quote, context) for claim in sentences(step))


def _bears_on_claim(claim: str, said: frozenset[str], quote: str, context: str) -> bool:
    wanted = named_concepts(claim)
    around = (
        named_concepts(f"{context}\n{quote}") if wanted else {}
    )  # linking is what takes time: most claims have none
    present = [concept for concept in wanted if concept in around]
    if len(present) >= PAIR and any(concept in named_concepts(quote) for concept in present):
        return True
    if wanted and not present:
        return False
    words = word_set(claim).difference(*(wanted[concept] for concept in present))
    return len(words & said) >= min(PAIR, len(words)) > 0 and share(words, said) >= LEAST_SHARE


@lru_cache(maxsize=8192)
def named_concepts(text: str) -> Mapping[str, frozenset[str]]:
    """Return the ids of the diseases and findings that a text names, each with the content words that name it."""
    by_id: dict[str, frozenset[str]] = {}
    for mention in _linker().mentions(text):
        by_id[mention.concept.id] = by_id.get(mention.concept.id, frozenset()) | word_set(mention.text)
    return by_id


@cache
def _linker() -> LexicalLinker:
    """Use only the project's table and HPO: all of ICD-10-CM and OMIM would take three times as long."""
    return LexicalLinker(finding_knowledge(), "findings")


def bears_on_step(step: str, source: SearchHit | Page, quoted: EvidenceQuote) -> bool:
    """Whether the quoted text speaks of what the step claims."""
    before = source.text[max(0, quoted.start - SUBJECT_WITHIN) : quoted.start]
    return bears(step, source.text[quoted.start : quoted.end], f"{source.title}\n{before}")


def quoted_in(sources: Sequence[SearchHit | Page], number: Json, words: str, seat: str) -> EvidenceQuote | None:
    """Locate `words` in the source with this `number` (1 is the first), else in any other source.

    Returns None if they do not occur, or if the number is that of a source that does not exist. 0, or a value that is
    no number, stands for no particular source.
    """
    numbered = isinstance(number, int) and not isinstance(number, bool) and number != 0
    if numbered and not 0 < number <= len(sources):
        return None
    named = [sources[number - 1]] if numbered else []
    for source in (*named, *sources):
        if place := cite(source, words):
            where = (source.title, source.url, source.date, source.source if isinstance(source, SearchHit) else "")
            return EvidenceQuote(source.digest, place.start, place.end, *where, place.how, place.likeness, seat)
    return None
