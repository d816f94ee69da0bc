"""Checks one reasoning step: keywords, search and verdict, repeated up to a cap, by one judge.

`Inquiry` is the pure state of a check: it takes replies and results, and says what it wants next. `Check` drives it
with a judge and a library, and keeps what was searched and quoted.
"""

from dataclasses import dataclass, field
from typing import Literal

import msgspec

from wardround.engine.errors import LimitReached, ProviderError
from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.evaluators.judges import strict_reply
from wardround.evaluators.judges.panel import Judge, PanelAnswer, Sample
from wardround.evaluators.judges.question import Question, seen
from wardround.evaluators.judges.strict_reply import LONGEST, Unread, reports_address, unread_reply
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.evidence import Library, SearchFindings, bears_on_step, quoted_in, unique_sources
from wardround.evaluators.reasoning.reasoning_record import EvidenceQuote, SearchRecord
from wardround.evaluators.reasoning.step_questions import (
    KEYWORDS,
    QUERY,
    Rules,
    StepVerdict,
    read_judgment,
    read_keywords,
)
from wardround.evaluators.search.results import SEARCHED, SearchError

REPAIRS = 5
"""How often a judge is asked again under the published rules for a reply that is not JSON."""

_MARKS = ("```json", "```")


def published_json(text: str) -> Json | Unread:
    """Parse a reply as JSON; surrounding prose or an extra comma makes it unread.

    Like Python, this accepts more than JSON: NaN, and the last value of a repeated key.
    """
    if len(text) > LONGEST:
        return unread_reply("too_long", text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.strip()
    if not text:
        return unread_reply("empty", text)
    try:
        value: Json = loads(text)
    except (ValueError, RecursionError):
        return unread_reply("half_json" if text.startswith(("{", "[")) else "prose", text)
    return value


FURTHER = 4
"""Number of searches after the first that the published code allows."""

Wants = Literal["keywords", "search", "verdict", "done"]

_REPAIRS = {"default": 1, "published": REPAIRS}
_SEARCH = "Search"


class SearchRound(msgspec.Struct, frozen=True):
    """One round: the `judgment` (Search, Correct, Wrong), its `keywords`, and the search's text (None: no search).

    Under the published rules, judgment and keywords are whatever JSON the judge wrote, not always strings.
    """

    judgment: Json
    keywords: Json = ""
    info: str | None = None


class Inquiry(msgspec.Struct, frozen=True):
    """The state of checking one reasoning step; `with_reply`, `with_results` and `with_failure` return the next state.

    `wants` says what comes next: the judge's `keywords`, a `search` for `query`, the judge's `verdict` on all results
    so far (`path`), or nothing (`done`). The step is unverifiable after `further` searches that settled nothing, if
    the judge wants to search but does not say for what (`no_keywords`, or `keywords/WHY` if its keywords cannot be
    read), or if the search failed: a failed search is never evidence. The judge is asked again for a reply that cannot
    be read (`repairing`), once by default; then `verdict` stays None.

    Under the published rules any reply counts as keywords, a verdict must be plain JSON, and only a reply that is no
    JSON is asked for again. `keywords` is what the judge wrote; `query` is its beginning on one line.
    """

    step: str
    rules: Rules = "default"
    further: int = FURTHER
    wants: Wants = "keywords"
    query: str = ""
    keywords: Json = ""
    path: tuple[SearchRound, ...] = ()
    verdict: StepVerdict | None = None
    reason: str = ""
    unreadable: int = 0

    @property
    def repairing(self) -> bool:
        """Whether the judge is asked again because its last reply could not be read."""
        return self.unreadable > 0 and self.wants != "done"

    def with_reply(self, reply: str) -> "Inquiry":
        """Take the judge's reply. Raises ValueError if the judge was not asked."""
        if self.wants not in ("keywords", "verdict"):
            raise ValueError(f"the judge was not asked: the inquiry wants {self.wants}")
        if self.rules == "published":
            return self._with_query(reply) if self.wants == "keywords" else self._with_published_reply(reply)
        if self.wants == "keywords":
            return self._with_keywords(read_keywords(reply), "no_keywords")
        return self._with_judgment(reply)

    def _with_judgment(self, reply: str) -> "Inquiry":
        judgment = read_judgment(reply)
        if isinstance(judgment, Unread):
            return self._with_unread(judgment)
        if judgment.verdict is not None:
            return self._end(judgment.verdict, SearchRound(judgment.verdict.capitalize(), judgment.keywords or "None"))
        if len(self.path) > self.further:
            return self._end(StepVerdict.UNVERIFIABLE, SearchRound(_SEARCH, judgment.keywords), "unresolved")
        return self._with_keywords(read_keywords(judgment.keywords or "None"), "unresolved")

    def _with_keywords(self, words: str | Unread, none: str) -> "Inquiry":
        """Take the judge's keywords; without any the step is unverifiable for the reason `none`."""
        if isinstance(words, Unread):
            return self._with_unread(words, keywords=True)
        return self._with_query(words) if words else self._end(StepVerdict.UNVERIFIABLE, SearchRound(_SEARCH), none)

    def _with_published_reply(self, reply: str) -> "Inquiry":
        """Read a verdict under the published rules. JSON without a readable verdict ends the inquiry without one."""
        parsed = published_json(reply)
        if isinstance(parsed, Unread):
            return self._with_unread(parsed)
        if not isinstance(parsed, dict) or "judgment" not in parsed or "keywords_to_search" not in parsed:
            return msgspec.structs.replace(
                self, wants="done", unreadable=0, reason=unread_reply("no_field", reply).reason
            )
        judgment, keywords = parsed["judgment"], parsed["keywords_to_search"]
        meant = read_judgment(judgment) if isinstance(judgment, str) else unread_reply("not_in_vocabulary", reply)
        # our own prompt asks for the word in lower case, the published one does not
        if judgment in (_SEARCH, _SEARCH.lower()) and len(self.path) <= self.further:
            return self._with_query(keywords)
        if isinstance(meant, Unread):
            return self._end(None, SearchRound(judgment, keywords), meant.reason)
        if meant.verdict is None:
            return self._end(StepVerdict.UNVERIFIABLE, SearchRound(judgment, keywords), "unresolved")
        return self._end(meant.verdict, SearchRound(judgment, keywords))

    def with_results(self, info: str) -> "Inquiry":
        """Take the text `info` that the search for `query` returned. Raises ValueError if no search was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        path = (*self.path, SearchRound(_SEARCH, self.keywords, info))
        return msgspec.structs.replace(self, wants="verdict", query="", keywords="", path=path)

    def with_failure(self, kind: str) -> "Inquiry":
        """Record that the search for `query` failed with this kind of error. Raises ValueError if none was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        return self._end(StepVerdict.UNVERIFIABLE, SearchRound(_SEARCH, self.keywords), f"{SEARCHED}{kind}")

    def _with_query(self, keywords: Json) -> "Inquiry":
        text = ", ".join(map(str, keywords)) if isinstance(keywords, list) else str(keywords)
        query = " ".join(text.split())[:QUERY]
        return msgspec.structs.replace(self, wants="search", query=query, keywords=keywords, unreadable=0)

    def _end(self, verdict: StepVerdict | None, look: SearchRound, reason: str = "") -> "Inquiry":
        path = (*self.path, look)
        return msgspec.structs.replace(
            self, wants="done", query="", keywords="", path=path, verdict=verdict, reason=reason, unreadable=0
        )

    def _with_unread(self, why: Unread, *, keywords: bool = False) -> "Inquiry":
        times = self.unreadable + 1
        if keywords and times > _REPAIRS[self.rules]:
            return self._end(StepVerdict.UNVERIFIABLE, SearchRound(_SEARCH), f"{KEYWORDS}/{why.why}")
        if times > _REPAIRS[self.rules]:
            return msgspec.structs.replace(self, wants="done", query="", reason=why.reason, unreadable=times)
        return msgspec.structs.replace(self, unreadable=times)


_BEARING = {StepVerdict.CORRECT: "supports", StepVerdict.WRONG: "contradicts"}
UNCITED = "uncited"
"""Reason: the verdict comes without a quotation that occurs in the search results."""


@dataclass(slots=True)
class Check:
    """Checks `step` with `judge`, by what was `known` of the case; see `verdict`.

    With `bearing`, a quotation must speak of what the step claims (`bears`), and the judge must say that it supports a
    correct step or contradicts a wrong one. Other quotations are kept in `beside` and support no verdict.
    """

    judge: Judge
    sample: Sample
    step: str
    known: str
    library: Library
    rules: Rules = "default"
    bearing: bool = False
    looked: list[SearchRecord] = field(default_factory=list)
    quoted: list[EvidenceQuote] = field(default_factory=list)
    beside: list[EvidenceQuote] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    _gathered: list[SearchFindings] = field(default_factory=list)
    _noticed: bool = False

    async def verdict(self) -> PanelAnswer[str]:
        """Return the verdict with a reason if it is `unverifiable`; None with a reason if the judge failed.

        By default a verdict counts only with a quotation that occurs in the search results; else it is unverifiable,
        `uncited`.
        """
        try:
            inquiry = await self._inquire()
        except ProviderError as error:
            return PanelAnswer(None, f"judge/{error.kind}")
        except LimitReached as error:
            return PanelAnswer(None, f"judge/{error.limit}")
        if inquiry.verdict is None:
            return PanelAnswer(None, inquiry.reason, self._noticed)
        if self.rules == "default" and inquiry.verdict != StepVerdict.UNVERIFIABLE and not self.quoted:
            return PanelAnswer(str(StepVerdict.UNVERIFIABLE), UNCITED, self._noticed)
        return PanelAnswer(str(inquiry.verdict), inquiry.reason, self._noticed)

    async def _inquire(self) -> Inquiry:
        """Ask the judge and search, as the inquiry wants it, until it is done."""
        inquiry = Inquiry(self.step, self.rules)
        said: list[str] = []
        while inquiry.wants != "done":
            if inquiry.wants == "search":
                inquiry, said = await self._search(inquiry), []
                continue
            answer = await self.judge.say(self._question(inquiry), self.sample, said)
            self._noticed |= reports_address(answer)
            inquiry = inquiry.with_reply(answer)
            said = [*said, answer] if inquiry.repairing else []
            if inquiry.verdict in (StepVerdict.CORRECT, StepVerdict.WRONG):
                self._quote(answer, _BEARING[inquiry.verdict])
        return inquiry

    async def _search(self, inquiry: Inquiry) -> Inquiry:
        query = seen(inquiry.query)  # send no invisible characters or broken surrogates
        try:
            gathered = await self.library.look(query, self.step, self.judge, self.sample)
        except SearchError as error:
            self.looked.append(SearchRecord(self.judge.seat, query, failure=error.kind))
            return inquiry.with_failure(error.kind)
        self._gathered.append(gathered)
        self.flags += gathered.flags
        digests = tuple(one.source.digest for one in gathered.shown)
        self.looked.append(SearchRecord(self.judge.seat, query, digests, pages=gathered.pages))
        return inquiry.with_results("\n\n".join(one.text for one in gathered.shown))

    def _question(self, inquiry: Inquiry) -> Question:
        if inquiry.wants == "keywords":
            return step_questions.keywords(self.step)
        passages = [one.text for one in unique_sources(self._gathered)]
        ask = step_questions.judgment_by_quotes if self.bearing else step_questions.judgment
        asked = ask(self.known, passages, self.step, [look.query for look in self.looked])
        return step_questions.published_question(asked) if self.rules == "published" else asked

    def _quote(self, answer: str, bearing: str) -> None:
        """Keep the quotations of a reply that occur in a passage: in the one that it names, or in any other shown."""
        parsed = strict_reply.payload(answer)
        value = parsed.value if isinstance(parsed, strict_reply.Payload) else None
        entries = strict_reply.field(strict_reply.only_entry(value), ("evidence", "quotes"))
        shown = [one.source for one in unique_sources(self._gathered)]
        for entry in entries if isinstance(entries, list) else ():
            words = strict_reply.field(entry, ("quote", "text"))
            if not isinstance(words, str):
                continue
            quoted = quoted_in(shown, strict_reply.field(entry, ("passage",)), words, self.judge.seat)
            if quoted is None:
                continue
            source = next(one for one in shown if one.digest == quoted.digest)
            said = strict_reply.field(entry, ("bearing",))
            supports = not self.bearing or (_says_bearing(said, bearing) and bears_on_step(self.step, source, quoted))
            kept = self.quoted if supports else self.beside
            if quoted not in kept:
                kept.append(quoted)


def _says_bearing(said: Json, bearing: str) -> bool:
    """Whether the judge says with exactly this word how a quotation bears on the step; other replies count as no."""
    return isinstance(said, str) and said.strip().casefold() == bearing
