"""What speaks against the figures of judges: a stand-in, a kinship, silence, hostile text, thin evidence, division."""

from collections import Counter
from collections.abc import Iterator, Mapping

from wardround.evaluators.evidence.search import LIBRARY
from wardround.evaluators.judging.family import kin
from wardround.evaluators.judging.panel import DIVIDED, TORN
from wardround.evaluators.measures import counted, shown
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import ScoreSummary, Summary

FEW = 1_000
"""Documents below which a corpus is small: most medical statements are in none of them."""
MANY = 0.3
"""Share of reasoning steps that no search settled from which on factuality says little."""
OFTEN = 0.2
"""Share of votes or searches that came to nothing above which it is said whose they are."""
_BUNDLED = "bundled"


def doubts(run: RunScores, summary: Summary) -> list[str]:
    """One plain sentence each; none of a run that no judge has seen."""
    return [
        *_floor(run),
        *_partial(run),
        *_shortened(run),
        *_unheard(run),
        *_kin(run),
        *_hostile(run),
        *_evidence(run),
        *_unverified(summary),
        *_divided(summary),
        *_silent(summary),
    ]


def _floor(run: RunScores) -> Iterator[str]:
    if run.floor:
        yield (
            "FLOOR: a lexical stand-in judged, which compares words. Its figures are a lower bound of what a judge is "
            "worth, not a judgment of the doctor."
        )


def _partial(run: RunScores) -> Iterator[str]:
    for one in run.evaluated:
        if one.left:
            yield (
                f"{one.evaluator}: {one.judged} of {counted(one.closed, 'closed episode')} judged so far; the others "
                "have no value, whatever another judge said of them, and the bounds allow for any. Score the run again "
                "in the same way to go on."
            )


def _shortened(run: RunScores) -> Iterator[str]:
    for one in run.evaluated:
        if one.shortened:
            yield (
                f"{one.evaluator}: in {counted(one.shortened, 'episode')} a judge did not see all of a long case, of "
                "the steps before a step, of a reference or of a list: the middle was left out, and what stands only "
                "there did not count."
            )


def _unheard(run: RunScores) -> Iterator[str]:
    """Those who were silent too often to be passed over, by name: over all evaluators that they were asked by."""
    asked: Counter[str] = Counter()
    reasons: dict[str, Counter[str]] = {}
    for one in run.evaluated:
        for heard in one.heard:
            who = _who(run, one.evaluator, heard.seat)
            asked[who] += heard.asked
            reasons.setdefault(who, Counter()).update(heard.reasons)
    for who, total in asked.items():
        silent = reasons[who].total()
        if silent > OFTEN * total:
            yield _said(run, who, silent, total, min(reasons[who], key=lambda one: (-reasons[who][one], one)))


def _who(run: RunScores, evaluator: str, seat: str) -> str:
    """A judge, or a search by its name: what one evaluator's search is silent about is not laid to another's."""
    if seat == LIBRARY:
        return f"{LIBRARY}: {run.searches[evaluator][0]}" if evaluator in run.searches else LIBRARY
    apart = f"{seat} of {evaluator}"
    return apart if apart in run.judges else seat


def _said(run: RunScores, who: str, silent: int, total: int, reason: str) -> str:
    of = f"{silent:,} of {total:,}" if silent < total else f"all {total:,}"
    why = f"mostly {reason}"
    if who.partition(": ")[0] == LIBRARY:
        name = who.removeprefix(LIBRARY).removeprefix(": ")
        failed = f"Silent search: {f'{name}{_users(run, name)} ' if name else ''}failed in {of} look-ups ({why})."
        return f"{failed} A failed search is no evidence: what hung on it is unverifiable."
    spec = f" ({run.judges[who][0]})" if who in run.judges else ""
    means = (
        "a silent judge counts against every majority" if len(run.judges) > 1 else "what hung on them has no verdict"
    )
    return f"Silent judge: {who}{spec} gave no usable answer in {of} votes ({why}); {means}."


def _kin(run: RunScores) -> Iterator[str]:
    """Judges are known to favour answers of their own family."""
    seats = run.header.get("seats")
    doctor = seats.get("doctor") if isinstance(seats, Mapping) else None
    if not isinstance(doctor, Mapping):
        return
    spec, model = str(doctor.get("spec") or ""), str(doctor.get("model") or "")
    for seat, judge in run.judges.items():
        if shared := kin(judge, (spec, model)):
            yield (
                f"Self-preference: {seat} ({judge[0]}) and the doctor ({spec}) are of one family, {shared}; judges "
                "tend to favour their own."
            )


def _hostile(run: RunScores) -> Iterator[str]:
    episodes = sum((row.score("hostile_texts").value or 0) > 0 for row in run.episodes)
    if episodes:
        yield (
            f"{counted(episodes, 'episode')} with text that speaks to the judge (instructions, verdicts, disguised "
            "words): their pages name it; read those verdicts before believing them."
        )


def _users(run: RunScores, search: str) -> str:
    """` of EVALUATOR` where others have looked things up elsewhere."""
    mine = [evaluator for evaluator, (name, _) in run.searches.items() if name == search]
    return "" if len(mine) == len(run.searches) else f" of {', '.join(mine)}"


def _evidence(run: RunScores) -> Iterator[str]:
    for search, documents in dict.fromkeys(run.searches.values()):
        of = f"The evidence{_users(run, search)} is"
        if search.startswith(_BUNDLED):
            yield (
                f"{of} the bundled demonstration corpus, a few short texts of our own: what is not in it stays "
                "unverifiable."
            )
        elif documents is not None and documents < FEW:
            yield f"{of} a corpus of {counted(documents, 'document')}: what is not in it stays unverifiable."


def _unverified(summary: Summary) -> Iterator[str]:
    for part in ("formal", "thinking"):
        score = summary.score(f"unverifiable_{part}")
        if score and score.mean is not None and score.mean > MANY:
            yield (
                f"In the mean, a share of {shown(score.name, score.mean)} of the reasoning steps ({part} part) could "
                "not be verified: factuality is over the others, so read its bounds."
            )


def _divided(summary: Summary) -> Iterator[str]:
    """The most that any one figure lost by a panel without a majority."""
    lost = max((_lost(score) for score in summary.scores), default=0)
    if lost:
        yield f"The panel had no majority in {counted(lost, 'episode')}: what hung on it has no value there."


def _lost(score: ScoreSummary) -> int:
    return sum(score.reasons.get(reason, 0) for reason in (DIVIDED, TORN))


def _silent(summary: Summary) -> Iterator[str]:
    score = summary.score("efficiency_formal") or summary.score("published_efficiency_formal")
    if score and (typed := score.reasons.get("no_words")):
        yield f"{counted(typed, 'episode')} answered by a typed action without words: there is no reasoning to judge."
    silent = sum(score.reasons.get(reason, 0) for reason in ("no_reasoning", "empty_reply")) if score else 0
    if silent:
        said = "without reasoning in the answer: in no mean of reasoning, but in its bounds."
        yield f"{counted(silent, 'episode')} {said}"
