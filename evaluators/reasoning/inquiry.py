"""Whether one step holds: keywords, search, verdict, and again up to a cap, as a machine without model or network."""

from typing import Literal

import msgspec

from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.reasoning.judged import JudgedStep, Rules, StepClass, Verdict
from wardround.evaluators.reasoning.keywords import KEYWORDS, QUERY, read_keywords
from wardround.evaluators.reasoning.verdicts import read_judgment

FURTHER = 4
"""Searches after the first that the published code allows."""

Wants = Literal["keywords", "search", "verdict", "done"]

_REPAIRS = {"default": 1, "published": 6}


class Look(msgspec.Struct, frozen=True):
    """One round: the `judgment` (Search, Correct, Wrong), its `keywords`, and what a search found (None: no search)."""

    judgment: str
    keywords: str = ""
    info: str | None = None


class Inquiry(msgspec.Struct, frozen=True):
    """Where the checking of one reasoning step stands; `told`, `searched` and `failed` give the next state.

    `wants` says what comes next: the judge's `keywords`, a `search` for `query`, the judge's `verdict` on all that was
    found (`path`), or nothing (`done`). After `further` searches that settled nothing the step is unverifiable, and so
    it is where the judge wants to search but does not say for what (`no_keywords`, `keywords/WHY` if it says so in
    no terms), or where the search failed: a failed search is never evidence. A reply that cannot be read is asked for
    again (`repairing`), once by default; then `verdict` stays None.
    """

    step: str
    rules: Rules = "default"
    further: int = FURTHER
    wants: Wants = "keywords"
    query: str = ""
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
        if self.wants == "keywords":
            words = _published(reply) if self.rules == "published" else read_keywords(reply)
            if isinstance(words, Unread):
                return self._unread(words, keywords=True)
            if not words:
                return self._done(Verdict.UNVERIFIABLE, Look("Search"), "no_keywords")
            return self._searching(words)
        if self.wants != "verdict":
            raise ValueError(f"the judge was not asked: the inquiry wants {self.wants}")
        judgment = read_judgment(reply, self.rules)
        if isinstance(judgment, Unread):
            return self._unread(judgment)
        if judgment.verdict is not None:
            return self._done(judgment.verdict, Look(judgment.verdict.capitalize(), judgment.keywords or "None"))
        if len(self.path) > self.further:
            return self._done(Verdict.UNVERIFIABLE, Look("Search", judgment.keywords), "unresolved")
        # the published code searches for whatever it is told, for the word None too
        more = judgment.keywords if self.rules == "published" else read_keywords(judgment.keywords or "None")
        if isinstance(more, Unread):
            return self._unread(more, keywords=True)
        if not more and self.rules == "default":
            return self._done(Verdict.UNVERIFIABLE, Look("Search"), "unresolved")
        return self._searching(more)

    def searched(self, info: str) -> "Inquiry":
        """The search for `query` found `info`. Raises ValueError if none was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        path = (*self.path, Look("Search", self.query, info))
        return msgspec.structs.replace(self, wants="verdict", query="", path=path)

    def failed(self, kind: str) -> "Inquiry":
        """The search for `query` failed with an error of this kind. Raises ValueError if none was wanted."""
        if self.wants != "search":
            raise ValueError(f"no search was wanted: the inquiry wants {self.wants}")
        return self._done(Verdict.UNVERIFIABLE, Look("Search", self.query), f"search/{kind}")

    def judged(self) -> JudgedStep:
        """The step with its verdict. Raises ValueError before the end."""
        if self.wants != "done":
            raise ValueError(f"the inquiry is not done: it wants {self.wants}")
        return JudgedStep(self.step, StepClass.REASONING, self.verdict, self.reason)

    def _searching(self, query: str) -> "Inquiry":
        return msgspec.structs.replace(self, wants="search", query=query[:QUERY], unreadable=0)

    def _done(self, verdict: Verdict, look: Look, reason: str = "") -> "Inquiry":
        path = (*self.path, look)
        return msgspec.structs.replace(
            self, wants="done", query="", path=path, verdict=verdict, reason=reason, unreadable=0
        )

    def _unread(self, why: Unread, *, keywords: bool = False) -> "Inquiry":
        times = self.unreadable + 1
        if keywords and self.rules == "default" and times > _REPAIRS[self.rules]:
            return self._done(Verdict.UNVERIFIABLE, Look("Search"), f"{KEYWORDS}/{why.why}")
        if times > _REPAIRS[self.rules]:
            return msgspec.structs.replace(self, wants="done", query="", reason=why.reason, unreadable=times)
        return msgspec.structs.replace(self, unreadable=times)


def _published(reply: str) -> str | Unread:
    """The published code looks up whatever the reply says."""
    return " ".join(reply.split()).strip(" .`") or unread("empty", reply)
