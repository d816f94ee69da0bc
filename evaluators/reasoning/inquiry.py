"""Whether one step holds: keywords, search, verdict, and again up to a cap; how one judge goes through it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Literal

import msgspec

from wardround.engine.errors import LimitReached, ProviderError
from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.evaluators.content import known, sentences, share
from wardround.evaluators.judges import strict_reply as reply
from wardround.evaluators.judges.panel import Answer, Judge, Sample
from wardround.evaluators.judges.question import Question, seen
from wardround.evaluators.judges.strict_reply import LONGEST, Unread, noticing, unread
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.evidence import Gathered, Library, unique
from wardround.evaluators.reasoning.judged_reply import JudgedStep, Rules, StepClass, Verdict
from wardround.evaluators.reasoning.questions import KEYWORDS, QUERY, read_judgment, read_keywords
from wardround.evaluators.reasoning.reasoning_record import Looked, Quoted, quoted_in
from wardround.evaluators.search.results import SEARCHED, Found, Page, SearchError
from wardround.scenarios.terms import ontologies
from wardround.scenarios.terms.knowledge import assembled, conditions
from wardround.scenarios.terms.lexical_linker import LexicalLinker

REPAIRS = 5
"""Times that a reply which is no JSON is put right to any effect: what comes after a sixth request is not looked at."""

_MARKS = ("```json", "```")
_PURPOSE, _MISSPELT = "info_required", "info_requried"


def strict(text: str) -> Json | Unread:
    """The value that a reply is; prose around it or a comma too many make it none.

    What Python reads beyond JSON is read here as well: NaN, and of a key that comes twice the last.
    """
    if len(text) > LONGEST:
        return unread("too_long", text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.strip()
    if not text:
        return unread("empty", text)
    try:
        value: Json = loads(text)
    except (ValueError, RecursionError):
        return unread("half_json" if text.startswith(("{", "[")) else "prose", text)
    return value


def entries(text: str) -> list[dict[str, Json]] | Unread:
    """The objects of a list, or the only one, as they stand but for one misspelt key; `no_field` for anything else."""
    value = strict(text)
    if isinstance(value, Unread):
        return value
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return unread("no_field", text)
    objects = [one for one in listed if isinstance(one, dict)]
    if len(objects) < len(listed):
        return unread("no_field", text)
    return [{(_PURPOSE if name == _MISSPELT else name): held for name, held in one.items()} for one in objects]


PAIR = 2
"""Linked concepts of a claim that must be held: that of which something is said, and what is said of it."""
ALIKE = 0.3
"""Least share (by weight) of a claim's other telling words that a quotation must hold where no pair of concepts is."""
BEFORE = 600
"""Characters before a quotation that may name what it speaks of."""


def bears(step: str, quote: str, context: str = "") -> bool:
    """Whether `quote` holds subject and object of one claim of `step`; each sentence of a step is a claim.

    Concepts are the project's diseases and the findings of HPO, as the lexical linker finds them. The quotation holds a
    pair of the claim's concepts; one of the two, the subject, may stand in the `context` alone (the title of the source
    and the text just before the quotation). Where no pair is held, for most objects are no linked concept, a concept of
    the claim must be held all the same, if it has one, and the quotation itself must hold telling words of the claim
    beside that concept's own: two at least, and three tenths of them by weight, or all of fewer.
    """
    said, inside, around = known(quote), concepts(quote), concepts(f"{context}\n{quote}")
    return any(_holds(claim, said, inside, around) for claim in sentences(step))


def _holds(claim: str, said: frozenset[str], inside: Mapping[str, object], around: Mapping[str, object]) -> bool:
    wanted = concepts(claim)
    held = [concept for concept in wanted if concept in around]
    if len(held) >= PAIR and any(concept in inside for concept in held):
        return True
    if wanted and not held:
        return False
    words = known(claim).difference(*(wanted[concept] for concept in held))
    return len(words & said) >= min(PAIR, len(words)) > 0 and share(words, said) >= ALIKE


@lru_cache(maxsize=8192)
def concepts(text: str) -> Mapping[str, frozenset[str]]:
    """The ids of the diseases and findings that a text names, each with the telling words that name it."""
    found: dict[str, frozenset[str]] = {}
    for mention in _linker().mentions(text):
        found[mention.concept.id] = found.get(mention.concept.id, frozenset()) | known(mention.text)
    return found


@cache
def _linker() -> LexicalLinker:
    """Over the project's table and HPO alone: the whole of ICD-10-CM and OMIM would take three times as long."""
    return LexicalLinker(assembled(conditions(), (), (ontologies.findings(),)))


FURTHER = 4
"""Searches after the first that the published code allows."""

Wants = Literal["keywords", "search", "verdict", "done"]

_REPAIRS = {"default": 1, "published": REPAIRS}
_SEARCH = "Search"


class Look(msgspec.Struct, frozen=True):
    """One round: the `judgment` (Search, Correct, Wrong), its `keywords`, and what a search found (None: no search).

    Under the published rules both are what the judge wrote, which need not be words.
    """

    judgment: Json
    keywords: Json = ""
    info: str | None = None


class Inquiry(msgspec.Struct, frozen=True):
    """Where the checking of one reasoning step stands; `told`, `searched` and `failed` give the next state.

    `wants` says what comes next: the judge's `keywords`, a `search` for `query`, the judge's `verdict` on all that was
    found (`path`), or nothing (`done`). After `further` searches that settled nothing the step is unverifiable, and so
    it is where the judge wants to search but does not say for what (`no_keywords`, `keywords/WHY` if it says so in
    no terms), or where the search failed: a failed search is never evidence. A reply that cannot be read is asked for
    again (`repairing`), once by default; then `verdict` stays None.

    Under the published rules any reply is keywords, a verdict is JSON and nothing else, and only what is no JSON is
    asked for again; `keywords` is what the judge wrote, of which `query` is the beginning on one line.
    """

    step: str
    rules: Rules = "default"
    further: int = FURTHER
    wants: Wants = "keywords"
    query: str = ""
    keywords: Json = ""
    path: tuple[Look, ...] = ()
    verdict: Verdict | None = None
    reason: str = ""
    unreadable: int = 0

    @property
    def repairing(self) -> bool:
        """Whether the judge is asked again because its last reply could not be read."""
        return self.unreadable > 0 and self.wants != "done"

    def told(self, reply: str) -> "Inquiry":
        """The judge replied. Raises ValueError if it was not asked."""
        if self.wants not in ("keywords", "verdict"):
            raise ValueError(f"the judge was not asked: the inquiry wants {self.wants}")
        if self.rules == "published":
            return self._searching(reply) if self.wants == "keywords" else self._ruled(reply)
        return self._named(read_keywords(reply), "no_keywords") if self.wants == "keywords" else self._judging(reply)

    def _judging(self, reply: str) -> "Inquiry":
        judgment = read_judgment(reply)
        if isinstance(judgment, Unread):
            return self._unread(judgment)
        if judgment.verdict is not None:
            return self._done(judgment.verdict, Look(judgment.verdict.capitalize(), judgment.keywords or "None"))
        if len(self.path) > self.further:
            return self._done(Verdict.UNVERIFIABLE, Look(_SEARCH, judgment.keywords), "unresolved")
        return self._named(read_keywords(judgment.keywords or "None"), "unresolved")

    def _named(self, words: str | Unread, none: str) -> "Inquiry":
        """The judge said what to look up, or for the reason `none` nothing."""
        if isinstance(words, Unread):
            return self._unread(words, keywords=True)
        return self._searching(words) if words else self._done(Verdict.UNVERIFIABLE, Look(_SEARCH), none)

    def _ruled(self, reply: str) -> "Inquiry":
        """A verdict under the published rules: one that is JSON but says nothing readable ends the inquiry without."""
        held = strict(reply)
        if isinstance(held, Unread):
            return self._unread(held)
        if not isinstance(held, dict) or "judgment" not in held or "keywords_to_search" not in held:
            return msgspec.structs.replace(self, wants="done", unreadable=0, reason=unread("no_field", reply).reason)
        judgment, keywords = held["judgment"], held["keywords_to_search"]
        told = read_judgment(judgment) if isinstance(judgment, str) else unread("not_in_vocabulary", reply)
        # our own prompt asks for the word in small letters, the published one does not
        if judgment in (_SEARCH, _SEARCH.lower()) and len(self.path) <= self.further:
            return self._searching(keywords)
        if isinstance(told, Unread):
            return self._done(None, Look(judgment, keywords), told.reason)
        if told.verdict is None:
            return self._done(Verdict.UNVERIFIABLE, Look(judgment, keywords), "unresolved")
        return self._done(told.verdict, Look(judgment, keywords))

    def searched(self, info: str) -> "Inquiry":
        """The search for `query` found `info`. Raises ValueError if none was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        path = (*self.path, Look(_SEARCH, self.keywords, info))
        return msgspec.structs.replace(self, wants="verdict", query="", keywords="", path=path)

    def failed(self, kind: str) -> "Inquiry":
        """The search for `query` failed with an error of this kind. Raises ValueError if none was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        return self._done(Verdict.UNVERIFIABLE, Look(_SEARCH, self.keywords), f"{SEARCHED}{kind}")

    def judged(self) -> JudgedStep:
        """The step with its verdict. Raises ValueError before the end."""
        if self.wants != "done":
            raise ValueError(f"the inquiry is not done: it wants {self.wants}")
        return JudgedStep(self.step, StepClass.REASONING, self.verdict, self.reason)

    def _searching(self, keywords: Json) -> "Inquiry":
        text = ", ".join(map(str, keywords)) if isinstance(keywords, list) else str(keywords)
        query = " ".join(text.split())[:QUERY]
        return msgspec.structs.replace(self, wants="search", query=query, keywords=keywords, unreadable=0)

    def _done(self, verdict: Verdict | None, look: Look, reason: str = "") -> "Inquiry":
        path = (*self.path, look)
        return msgspec.structs.replace(
            self, wants="done", query="", keywords="", path=path, verdict=verdict, reason=reason, unreadable=0
        )

    def _unread(self, why: Unread, *, keywords: bool = False) -> "Inquiry":
        times = self.unreadable + 1
        if keywords and times > _REPAIRS[self.rules]:
            return self._done(Verdict.UNVERIFIABLE, Look(_SEARCH), f"{KEYWORDS}/{why.why}")
        if times > _REPAIRS[self.rules]:
            return msgspec.structs.replace(self, wants="done", query="", reason=why.reason, unreadable=times)
        return msgspec.structs.replace(self, unreadable=times)


_BEARING = {Verdict.CORRECT: "supports", Verdict.WRONG: "contradicts"}
UNCITED = "uncited"
"""Reason: the verdict comes without words that stand in what was found."""


@dataclass(slots=True)
class Check:
    """The checking of `step` by `judge` in the light of what was `known` of the case; see `verdict`.

    With `bearing` a quotation must speak of what the step claims (inquiry.py) and be said to support a step that is
    correct, or to contradict one that is wrong; any other is kept `beside` and founds nothing.
    """

    judge: Judge
    sample: Sample
    step: str
    known: str
    library: Library
    rules: Rules = "default"
    bearing: bool = False
    looked: list[Looked] = field(default_factory=list)
    quoted: list[Quoted] = field(default_factory=list)
    beside: list[Quoted] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    _gathered: list[Gathered] = field(default_factory=list)
    _noticed: bool = False

    async def verdict(self) -> Answer[str]:
        """The verdict on the step, with a reason where it is `unverifiable`; None with a reason if the judge failed.

        By default a verdict counts only with words that stand in what was found: else it is unverifiable, `uncited`.
        """
        try:
            inquiry = await self._inquired()
        except ProviderError as error:
            return Answer(None, f"judge/{error.kind}")
        except LimitReached as error:
            return Answer(None, f"judge/{error.limit}")
        if inquiry.verdict is None:
            return Answer(None, inquiry.reason, self._noticed)
        if self.rules == "default" and inquiry.verdict != Verdict.UNVERIFIABLE and not self.quoted:
            return Answer(str(Verdict.UNVERIFIABLE), UNCITED, self._noticed)
        return Answer(str(inquiry.verdict), inquiry.reason, self._noticed)

    async def _inquired(self) -> Inquiry:
        inquiry = Inquiry(self.step, self.rules)
        said: list[str] = []
        while inquiry.wants != "done":
            if inquiry.wants == "search":
                inquiry, said = await self._search(inquiry), []
                continue
            told = await self.judge.say(self._question(inquiry), self.sample, said)
            self._noticed |= noticing(told)
            inquiry = inquiry.told(told)
            said = [*said, told] if inquiry.repairing else []
            if inquiry.verdict in (Verdict.CORRECT, Verdict.WRONG):
                self._quote(told, _BEARING[inquiry.verdict])
        return inquiry

    async def _search(self, inquiry: Inquiry) -> Inquiry:
        query = seen(inquiry.query)  # what a judge names goes out as it can be read: no half character, none unseen
        try:
            found = await self.library.look(query, self.step, self.judge, self.sample)
        except SearchError as error:
            self.looked.append(Looked(self.judge.seat, query, failure=error.kind))
            return inquiry.failed(error.kind)
        self._gathered.append(found)
        self.flags += found.flags
        digests = tuple(one.source.digest for one in found.shown)
        self.looked.append(Looked(self.judge.seat, query, digests, pages=found.pages))
        return inquiry.searched("\n\n".join(one.text for one in found.shown))

    def _question(self, inquiry: Inquiry) -> Question:
        if inquiry.wants == "keywords":
            return questions.keywords(self.step)
        passages = [one.text for one in unique(self._gathered)]
        ask = questions.bearing if self.bearing else questions.judgment
        asked = ask(self.known, passages, self.step, [look.query for look in self.looked])
        return questions.published(asked) if self.rules == "published" else asked

    def _quote(self, told: str, bearing: str) -> None:
        """Keep the quotations of a reply that really stand in a passage: the one it names, or any other shown."""
        held = reply.payload(told)
        value = held.value if isinstance(held, reply.Payload) else None
        entries = reply.field(reply.single(value), ("evidence", "quotes"))
        shown = [one.source for one in unique(self._gathered)]
        for entry in entries if isinstance(entries, list) else ():
            words, number = reply.field(entry, ("quote", "text")), reply.field(entry, ("passage",))
            if not isinstance(words, str):
                continue
            quoted = quoted_in(shown, number, words, self.judge.seat)
            if quoted is None:
                continue
            source = next(one for one in shown if one.digest == quoted.digest)
            said = reply.field(entry, ("bearing",))
            founds = not self.bearing or (_says(said, bearing) and _speaks(self.step, source, quoted))
            kept = self.quoted if founds else self.beside
            if quoted not in kept:
                kept.append(quoted)


def _says(said: Json, bearing: str) -> bool:
    """How quoted words bear on the step is one whole word: anything else founds nothing."""
    return isinstance(said, str) and said.strip().casefold() == bearing


def _speaks(step: str, source: Found | Page, quoted: Quoted) -> bool:
    """Whether the words that really stand there speak of what the step claims."""
    before = source.text[max(0, quoted.start - BEFORE) : quoted.start]
    return bears(step, source.text[quoted.start : quoted.end], f"{source.title}\n{before}")
