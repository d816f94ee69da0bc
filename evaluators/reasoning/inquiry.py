"""Whether one step holds: keywords, search, verdict, and again up to a cap, as a machine without model or network."""

from typing import Literal

import msgspec

from wardround.evaluators.judging.unread import Unread, unread
from wardround.evaluators.reasoning.judged import JudgedStep, Rules, StepClass, Verdict
from wardround.evaluators.reasoning.verdicts import read_judgment

FURTHER = 4
"""Searches after the first that the published code allows."""

Wants = Literal["keywords", "search", "verdict", "done"]

_LONGEST = 500
_REPAIRS = {"default": 1, "published": 6}
_NONE = frozenset({"", "none", "null", "n/a"})


class Look(msgspec.Struct, frozen=True):
    """One round: the `judgment` (Search, Correct, Wrong), its `keywords`, and what a search found (None: no search)."""

    judgment: str
    keywords: str = ""
    info: str | None = None


class Inquiry(msgspec.Struct, frozen=True):
    """Where the checking of one reasoning step stands; `told`, `searched` and `failed` give the next state.

    `wants` says what comes next: the judge's `keywords`, a `search` for `query`, the judge's `verdict` on all that was
    found (`path`), or nothing (`done`). After `further` searches that settled nothing the step is unverifiable, and so
    it is where the judge wants to search but says for what not, or where the search failed: a failed search is never
    evidence. A reply that cannot be read is asked for again (`repairing`), once by default; then `verdict` stays None.
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
            words = " ".join(reply.split()).strip(" .`")
            if not words:
                return self._unread(unread("empty", reply))
            if words.casefold() in _NONE and self.rules == "default":
                return self._done(Verdict.UNVERIFIABLE, Look("Search"), "no_keywords")
            return msgspec.structs.replace(self, wants="search", query=words[:_LONGEST], unreadable=0)
        if self.wants != "verdict":
            raise ValueError(f"the judge was not asked: the inquiry wants {self.wants}")
        judgment = read_judgment(reply, self.rules)
        if isinstance(judgment, Unread):
            return self._unread(judgment)
        if judgment.verdict is not None:
            return self._done(judgment.verdict, Look(judgment.verdict.capitalize(), judgment.keywords or "None"))
        # the published code searches for the word None
        if judgment.keywords.casefold() in _NONE and self.rules == "default":
            return self._done(Verdict.UNVERIFIABLE, Look("Search"), "unresolved")
        if len(self.path) > self.further:
            return self._done(Verdict.UNVERIFIABLE, Look("Search", judgment.keywords), "unresolved")
        return msgspec.structs.replace(self, wants="search", query=judgment.keywords[:_LONGEST], unreadable=0)

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

    def _done(self, verdict: Verdict, look: Look, reason: str = "") -> "Inquiry":
        path = (*self.path, look)
        return msgspec.structs.replace(
            self, wants="done", query="", path=path, verdict=verdict, reason=reason, unreadable=0
        )

    def _unread(self, why: Unread) -> "Inquiry":
        times = self.unreadable + 1
        if times > _REPAIRS[self.rules]:
            return msgspec.structs.replace(self, wants="done", query="", reason=why.reason, unreadable=times)
        return msgspec.structs.replace(self, unreadable=times)
