"""Whether one step holds: keywords, search, verdict, and again up to a cap, as a machine without model or network."""

from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.evidence.failure import SEARCHED
from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.reasoning.judged import JudgedStep, Rules, StepClass, Verdict
from wardround.evaluators.reasoning.keywords import KEYWORDS, QUERY, read_keywords
from wardround.evaluators.reasoning.published import REPAIRS, strict
from wardround.evaluators.reasoning.verdicts import read_judgment

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
