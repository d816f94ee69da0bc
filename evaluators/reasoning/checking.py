"""One judge checks one step: keywords, search, verdict, as the inquiry asks for them, and the words it rests on."""

from dataclasses import dataclass, field

from wardround.engine.errors import LimitReached, ProviderError
from wardround.engine.records import Json
from wardround.evaluators.evidence.failure import SearchError
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.judging import payload as reply
from wardround.evaluators.judging.fence import seen
from wardround.evaluators.judging.judge import Answer, Judge, Sample
from wardround.evaluators.judging.noticing import noticing
from wardround.evaluators.judging.question import Question
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.account import Looked, Quoted
from wardround.evaluators.reasoning.bears import BEFORE, bears
from wardround.evaluators.reasoning.inquiry import Inquiry
from wardround.evaluators.reasoning.judged import Rules, Verdict
from wardround.evaluators.reasoning.library import Gathered, Library, unique
from wardround.evaluators.reasoning.quoting import quoted_in

_BEARING = {Verdict.CORRECT: "supports", Verdict.WRONG: "contradicts"}
UNCITED = "uncited"
"""Reason: the verdict comes without words that stand in what was found."""


@dataclass(slots=True)
class Check:
    """The checking of `step` by `judge` in the light of what was `known` of the case; see `verdict`.

    With `bearing` a quotation must speak of what the step claims (bears.py) and be said to support a step that is
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
