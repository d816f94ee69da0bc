"""Lets a panel judge a final answer: a diagnosis by the reference, a treatment also by search results.

A plan of treatment is looked up once for the whole panel, so that all judges see the same passages. A plan other than
the reference is right or wrong only by words quoted from them. The published rules are applied to the same replies.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

from wardround.evaluators.evaluation import JudgeContext
from wardround.evaluators.injection.detect import HOSTILE, hostile_signs
from wardround.evaluators.judges.panel import Judge, PanelAnswer, Ruling, Sample, Vote, ask_judge
from wardround.evaluators.judges.question import Material, Question
from wardround.evaluators.judges.strict_reply import NOTICED
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.outcome.outcome_record import NO_PLAN, Basis, JudgedPlan, OutcomeAccount, plan_reader
from wardround.evaluators.reasoning.evidence import quoted_in
from wardround.evaluators.reasoning.reasoning_record import EvidenceQuote, SearchRecord
from wardround.evaluators.reasoning.step_questions import KEYWORDS, read_keywords, read_outcome
from wardround.evaluators.search.contract import MOST
from wardround.evaluators.search.results import SEARCHED, SearchError, SearchHit
from wardround.evaluators.search.stack import LeakGuard
from wardround.scenarios.case import Case, Truth, full_report

NO_KEYWORDS = "no_keywords"
"""Reason why nothing was looked up: no judge names any keywords."""


class Lookup(msgspec.Struct, frozen=True):
    """The passages of a search; `looked` records it, if there was one. `failure` says why it returned nothing.

    `flags` are signs of passages that address the judge; the judges do not see those passages.
    """

    passages: tuple[SearchHit, ...] = ()
    looked: tuple[SearchRecord, ...] = ()
    failure: str = ""
    flags: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the search failed; a judge that names no keywords is no failure."""
        return self.failure not in ("", NO_KEYWORDS)


async def lookup(context: JudgeContext, truth: Truth, known: str, plan: str) -> Lookup:
    """Look up the plan `plan` for the case `known`, once for the whole panel, so that all judges see the same texts.

    The judges that name the keywords do not see the truth. A query that still contains words of the truth is not sent
    (`search/leak`), unless the plan or the case itself has them. Without a search nothing is looked up. Raises
    EgressError if a restricted case's words would go to a host that the user did not name.
    """
    if context.search is None:
        return Lookup()
    judge, keywords = await _keywords(context, outcome_questions.treatment_keywords(known, plan))
    if keywords.value is None:
        return _failed_lookup(judge, "", keywords.reason)
    query = keywords.value
    try:
        results = await LeakGuard(context.search, truth, known=f"{known}\n{plan}").find(query, most=MOST)
    except SearchError as error:
        return _failed_lookup(judge, query, f"{SEARCHED}{error.kind}")
    hostile = [(one, context.signed.of(one.digest, one.text)) for one in results]
    shown = tuple(one for one, signs in hostile if not signs)
    fallen = tuple((one.url or one.digest, HOSTILE) for one, signs in hostile if signs)
    flags = tuple(dict.fromkeys(sign for _, signs in hostile for sign in signs))
    return Lookup(shown, (SearchRecord(judge, query, tuple(one.digest for one in shown), pages=fallen),), flags=flags)


async def _keywords(context: JudgeContext, question: Question) -> tuple[str, PanelAnswer[str]]:
    """Return the seat and the keywords of the first judge that names any; else the first failure."""
    failed: list[tuple[str, PanelAnswer[str]]] = []
    for judge in context.panel.judges:
        answer: PanelAnswer[str] = await ask_judge(judge, question, read_keywords)
        if answer.value:
            return judge.seat, answer
        why = answer.reason.replace("judge_unreadable/", f"{KEYWORDS}/") if answer.value is None else NO_KEYWORDS
        failed.append((judge.seat, PanelAnswer(None, why)))
    return failed[0]


def _failed_lookup(judge: str, query: str, why: str) -> Lookup:
    return Lookup(looked=(SearchRecord(judge, query, failure=why),), failure=why)


UNVERIFIABLE, UNCITED = "unverifiable", "uncited"
"""Reasons: no search result settles the plan; no search result contains the words that the judge quotes."""

_VALUES = {"correct": 1.0, "wrong": 0.0}


async def judged_diagnosis(context: JudgeContext, case: Case, answer: str, committed: str = "") -> OutcomeAccount:
    """Judge whether `answer` names the case's disease, by the panel's majority (MedR-Bench, prompt 19).

    If the answer commits to only a part of its words, the judges see that part.
    """
    question = outcome_questions.diagnosis(case.truth, committed or answer)
    ruling: Ruling[bool] = await context.panel.ask(question, read_outcome, swappable=True)
    return OutcomeAccount(
        goal="diagnosis",
        value=None if ruling.value is None else float(ruling.value),
        reason=ruling.reason,
        votes=ruling.votes,
        judges=context.panel.specs,
        floor=context.panel.floor,
        flags=hostile_signs(
            (*question.materials, Material(outcome_questions.ANSWER, answer, "reply")), noticed=ruling.noticed
        ),
    )


async def judged_treatment(context: JudgeContext, case: Case, answer: str, committed: str = "") -> OutcomeAccount:
    """Judge whether the plan `answer` is right, by prompt 20's rules and search results (MedR-Bench, section 4.3).

    By default, a treatment other than the reference is correct or wrong only by a quotation that occurs in a passage;
    without one it is unverifiable. Under the published rules it is wrong unless the judge calls it correct; if the
    search failed it is neither. An answer that proposes no treatment is wrong. If the measures that the answer gives
    and stops are only a part of its words, the judges see that part.
    """
    report = full_report(case)
    plan = committed or answer
    looked_up = await lookup(context, case.truth, report, plan)
    question = outcome_questions.treatment(report, case.truth.treatment, [one.text for one in looked_up.passages], plan)
    whole = Material(outcome_questions.ANSWER, answer, "reply")
    seen = [one for one in (*question.materials, whole) if one.origin != "page"]
    votes = _PlanVotes(looked_up)

    async def ask(judge: Judge, sample: Sample) -> PanelAnswer[str]:
        asked = question.swapped() if sample.swapped else question
        said: PanelAnswer[JudgedPlan] = await ask_judge(judge, asked, plan_reader(len(looked_up.passages)), sample)
        return msgspec.structs.replace(votes.default_vote(judge.seat, sample, said), noticed=said.noticed)

    async def published(judge: Judge, sample: Sample) -> PanelAnswer[str]:
        return votes.published_vote(judge.seat, sample)

    ruling = await context.panel.each(ask, swappable=True)
    other = await context.panel.each(published, swappable=True)
    return OutcomeAccount(
        goal="treatment",
        value=_VALUES.get(ruling.value or ""),
        reason=_reason(ruling, looked_up),
        published=None if other.value is None else _VALUES[other.value],
        published_reason=other.reason,
        votes=ruling.votes,
        judges=context.panel.specs,
        floor=context.panel.floor,
        basis=votes.basis(ruling),
        quoted=votes.quoted(),
        looked=looked_up.looked,
        flags=tuple(dict.fromkeys((*hostile_signs(seen), *looked_up.flags, *([NOTICED] if ruling.noticed else [])))),
    )


@dataclass(slots=True)
class _PlanVotes:
    """The judges' verdicts on a plan, and which of their quotations occur in the passages that they saw."""

    lookup: Lookup
    said: dict[tuple[str, Sample], PanelAnswer[JudgedPlan]] = field(default_factory=dict)
    cited: dict[tuple[str, Sample], tuple[EvidenceQuote, ...]] = field(default_factory=dict)

    @property
    def passages(self) -> Sequence[SearchHit]:
        """Return the passages that the judges see."""
        return self.lookup.passages

    def default_vote(self, seat: str, sample: Sample, said: PanelAnswer[JudgedPlan]) -> PanelAnswer[str]:
        """Return the vote of a verdict under the default rules."""
        self.said[seat, sample] = said
        verdict = said.value
        if verdict is None:
            return PanelAnswer(None, said.reason)
        quoted = (quoted_in(self.passages, number, words, seat) for number, words in verdict.quotes)
        self.cited[seat, sample] = cited = tuple(dict.fromkeys(one for one in quoted if one is not None))
        if verdict.basis == "evidence" and verdict.said != UNVERIFIABLE:
            return PanelAnswer(verdict.said) if cited else PanelAnswer(UNVERIFIABLE, UNCITED)
        if verdict.said == "correct" and not verdict.basis and self.passages:
            # the verdict may rest on the passages, but it quotes none of their words
            return PanelAnswer(UNVERIFIABLE, UNCITED)
        if verdict.basis == NO_PLAN:
            return PanelAnswer("wrong")
        return PanelAnswer("correct" if verdict.said == "correct" else UNVERIFIABLE)

    def published_vote(self, seat: str, sample: Sample) -> PanelAnswer[str]:
        """Return the vote under the published rules: wrong, unless the judge calls the plan correct.

        If the search failed, a passage might have supported the plan, so only the reference treatment settles it.
        """
        said = self.said[seat, sample]
        if said.value is None:
            return PanelAnswer(None, said.reason)
        bare = said.value.basis == "evidence" and not self.passages
        if said.value.said == "correct" and not bare:
            return PanelAnswer("correct")
        if said.value.basis == NO_PLAN:
            return PanelAnswer("wrong")
        return PanelAnswer(None, self.lookup.failure) if self.lookup.failed else PanelAnswer("wrong")

    def basis(self, ruling: Ruling[str]) -> Basis:
        """Return the rule behind most of the votes for the verdict."""
        votes = {(vote.judge, Sample(vote.swapped, vote.repeat)): vote.value for vote in ruling.votes}
        bases = [
            said.value.basis
            for key, said in self.said.items()
            if said.value is not None and ruling.value is not None and votes[key] == ruling.value
        ]
        counts = Counter(bases)
        return max(sorted(counts), key=lambda basis: counts[basis]) if counts else ""

    def quoted(self) -> tuple[EvidenceQuote, ...]:
        """Return all quotations that occur in the passages, in the order of the judges."""
        ordered = sorted(self.cited, key=lambda key: (key[0], key[1].swapped, key[1].repeat))
        return tuple(dict.fromkeys(one for key in ordered for one in self.cited[key]))


def _reason(ruling: Ruling[str], looked_up: Lookup) -> str:
    if ruling.value != UNVERIFIABLE:
        return ruling.reason
    reasons = [vote.reason for vote in ruling.votes if vote.value == UNVERIFIABLE]
    return looked_up.failure or (UNCITED if all(reason == UNCITED for reason in reasons) else UNVERIFIABLE)


def vote_agreement(votes: Sequence[Vote]) -> float | None:
    """Return 1.0 if all readable votes agree, else 0.0; None with fewer than two votes."""
    said = [vote.value for vote in votes if vote.value is not None]
    return float(len(set(said)) == 1) if len(said) > 1 else None
