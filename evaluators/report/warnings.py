"""Warns of everything that limits the scores of a run, and says what a reader must know before using them.

`doubts` are about how a run was scored, `cautions` also about how it was played.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.judges.panel import DIVIDED, TORN
from wardround.evaluators.measures import format_value
from wardround.evaluators.reasoning.controls import FIT
from wardround.evaluators.reasons import list_left_out, list_reasons, phrase, spaced
from wardround.evaluators.report.episode_list import ACCURACIES
from wardround.evaluators.report.model_facts import kin
from wardround.evaluators.report.score_rows import EvaluatorCoverage, RunScores
from wardround.evaluators.report.summary import Summary
from wardround.evaluators.search.contract import LIBRARY

FEW = 1_000
"""Number of documents below which a corpus is small: it lacks most medical statements."""
MANY = 0.3
"""Share of reasoning steps that no search settled, from which factuality says little."""
OFTEN = 0.2
"""Share of failed votes or searches above which a warning names their judge or search."""
_BUNDLED = "bundled"


def doubts(run: RunScores, summary: Summary) -> list[str]:
    """Return warnings, one sentence each: of damage, of different versions of the rules, and about a judged run."""
    return [
        *_imported(run),
        *unplayed_cases(run),
        *_damaged(run),
        *_rules(run),
        *([_FLOOR] if run.floor else []),
        *_evaluations(run, _PARTIAL, lambda one: bool(one.left)),
        *_evaluations(run, _SHORTENED, lambda one: bool(one.shortened)),
        *_unheard(run),
        *_unfit(run),
        *_evaluations(run, _OVERQUOTED, lambda one: bool(one.overquoted)),
        *_evaluations(run, _OPINIONS, lambda one: one.knowledge != "search"),
        *_kin(run),
        *_hostile(run),
        *_evidence(run),
        *_unverified(summary),
        *_divided(summary),
        *_silent(summary),
        *_roles(run),
        *_unread(run),
        *_written_by_model(summary),
    ]


def _imported(run: RunScores) -> Iterator[str]:
    """Say where an imported run comes from, since its results were not played here."""
    imported = run.header.get("imported")
    if isinstance(imported, Mapping):
        origin = "; ".join(str(line) for line in imported.get("recognised", ()))
        beside = f", with the cases of {imported['cases']}" if imported.get("cases") else ""
        yield (
            f"IMPORTED, not played here: {origin}{beside}; model {imported.get('model', '')}. "
            "Scores named origin are the origin's own."
        )


def _damaged(run: RunScores) -> Iterator[str]:
    if run.damaged:
        first = min(run.damaged)
        yield (
            f"DAMAGED: the store no longer holds {count_noun(len(run.damaged), 'episode')} whole; they have no figure, "
            f"and the bounds allow for any. The first is {first}: {run.damaged[first]}."
        )


def _rules(run: RunScores) -> Iterator[str]:
    """Warn of scores by older rules; if only a part was scored again, there is no score for the run."""
    for one in run.scorings:
        again = f"wardround score {run.name} --evaluators {one.evaluator}"
        again += "".join(f" --judge {spec}" for spec in one.judges)
        if one.search:  # the name of a corpus does not tell its location
            search = one.search.partition("@")[0]
            again += f" --search {'...' if ':' in search else search}"
        if one.shown and one.other_rules:
            yield (
                f"{one.evaluator}: {count_noun(one.episodes, 'closed episode')} scored by version {one.version} of its "
                f"rules, {one.other_rules} only by another version. There is no figure over both. Score the run again: "
                f"{again}"
            )
        elif one.shown and one.newest and one.version != one.newest:
            yield (
                f"{one.evaluator}: these figures are by version {one.version} of its rules, and this Wardround has "
                f"version {one.newest}. For figures by the new rules score the run again: {again}"
            )


_FLOOR = (
    "LOWER BOUND: a lexical stand-in judged, which compares words. Its figures say little of what a judge with a model "
    "would find, and are no judgment of the doctor."
)
_PARTIAL = (
    "{0.evaluator}: {0.judged} of {closed} judged so far; the others have no value, whatever another judge said of "
    "them, and the bounds allow for any. Score the run again in the same way to go on."
)
_SHORTENED = (
    "{0.evaluator}: in {shortened} a judge did not see all of a long case, of the steps before a step, of a reference "
    "or of a list: the middle was left out, and what stands only there did not count."
)
_OVERQUOTED = (
    "{0.evaluator}: in {overquoted} one passage or a few were quoted for many of the steps with a quotation: read "
    "whether they speak of each of these steps."
)
_OPINIONS = (
    "{0.evaluator}: the judges also went by their own knowledge, {where}. Such verdicts rest on no evidence and count "
    "in `opinion_factuality` alone."
)


def _evaluations(run: RunScores, warning: str, applies: Callable[[EvaluatorCoverage], bool]) -> Iterator[str]:
    """Fill in a warning for each evaluation to which it applies."""
    for one in filter(applies, run.evaluated):
        yield warning.format(
            one,
            closed=count_noun(one.closed, "closed episode"),
            shortened=count_noun(one.shortened, "episode"),
            overquoted=count_noun(one.overquoted, "episode"),
            where="in place of a search" if one.knowledge == "judge" else "where the search settled nothing",
        )


def _unheard(run: RunScores) -> Iterator[str]:
    """Name the judges and searches that failed too often, over all evaluators that asked them."""
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
    """Return the name of a judge or a search; each evaluator's search answers only for its own failures."""
    if seat == LIBRARY:
        return f"{LIBRARY}: {run.searches[evaluator][0]}" if evaluator in run.searches else LIBRARY
    apart = f"{seat} of {evaluator}"
    return apart if apart in run.judges else seat


def _said(run: RunScores, who: str, silent: int, total: int, reason: str) -> str:
    """Say that a judge or a search failed too often, how often and why, and what follows."""
    of = f"{silent:,} of {total:,}" if silent < total else f"all {total:,}"
    why = f"mostly: {phrase(reason)}"
    if who.partition(": ")[0] == LIBRARY:
        name = who.removeprefix(LIBRARY).removeprefix(": ")
        failed = f"Silent search: {f'{name}{_users(run, name)} ' if name else ''}failed in {of} look-ups ({why})."
        return f"{failed} A failed search is no evidence: what hung on it is unverifiable."
    spec = f" ({run.judges[who][0]})" if who in run.judges else ""
    means = (
        "a silent judge counts against every majority" if len(run.judges) > 1 else "what hung on them has no verdict"
    )
    return f"Silent judge: {who}{spec} gave no usable answer in {of} votes ({why}); {means}."


def _unfit(run: RunScores) -> Iterator[str]:
    """Warn of judges that cannot tell supported from unsupported claims, and of those whose fitness is unknown."""
    for one in run.evaluated:
        if one.uncontrolled:
            yield (
                f"Not known whether the judges of {one.evaluator} are fit: the controls are asked in the first episode "
                "of an evaluation, and that one could not be judged."
            )
        for fitness in one.controls:
            who = _who(run, one.evaluator, fitness.judge)
            spec = f" ({run.judges[who][0]})" if who in run.judges else ""
            if fitness.fit is None:
                yield (
                    f"Not known whether the judge is fit: {who}{spec} could not be reached for {fitness.unreached} of "
                    f"{count_noun(fitness.supported + fitness.unsupported + fitness.unreached, 'control')}."
                )
            elif not fitness.fit:
                others = (each.evaluator for each in run.scorings if each.shown and spec[2:-1] in each.judges)
                yield (
                    f"Unfit judge: {who}{spec} accepted {fitness.accepted} of "
                    f"{count_noun(fitness.supported, 'claim')} that their passage supports, and rejected "
                    f"{fitness.rejected} of {fitness.unsupported} that it does not (Youden's index "
                    f"{fitness.youden:.2f}, at least {FIT:g} is needed): do not rest anything on its verdicts, which "
                    f"are in the figures of {' and '.join(dict.fromkeys((one.evaluator, *others)))}."
                )


def _kin(run: RunScores) -> Iterator[str]:
    """Warn of judges that share a maker with the doctor: judges are known to favour their own family."""
    doctor = inside(inside(run.header, "seats"), "doctor")
    spec, model = str(doctor.get("spec") or ""), str(doctor.get("model") or "")
    for seat, judge in run.judges.items():
        if shared := kin(judge, (spec, model)):
            yield (
                f"Self-preference: {seat} ({judge[0]}) and the doctor ({spec}) are of one family, {shared}; judges "
                "tend to favour their own."
            )


def _hostile(run: RunScores) -> Iterator[str]:
    if episodes := sum((row.score("hostile_texts").value or 0) > 0 for row in run.episodes):
        yield (
            f"{count_noun(episodes, 'episode')} with text that speaks to the judge (instructions, verdicts, disguised "
            "words): their pages name it; read those verdicts before believing them."
        )


def _users(run: RunScores, search: str) -> str:
    """Return ` of EVALUATOR` if other evaluators used another search or none."""
    mine = [evaluator for evaluator, (name, _) in run.searches.items() if name == search]
    return "" if len(mine) >= max(len(run.searches), len(run.evaluated)) else f" of {', '.join(mine)}"


def _evidence(run: RunScores) -> Iterator[str]:
    for search, documents in dict.fromkeys(run.searches.values()):
        of = f"The evidence{_users(run, search)} is"
        if search.startswith(_BUNDLED):
            yield (
                f"{of} the bundled demonstration corpus, a few short texts of our own: what is not in it stays "
                "unverifiable."
            )
        elif documents is not None and documents < FEW:
            yield f"{of} a corpus of {count_noun(documents, 'document')}: what is not in it stays unverifiable."


def _unverified(summary: Summary) -> Iterator[str]:
    for part in ("formal", "thinking"):
        score = summary.score(f"whole_unverifiable_{part}") or summary.score(f"unverifiable_{part}")
        if score and score.mean is not None and score.mean > MANY:
            yield (
                f"In the mean, a share of {format_value(score.name, score.mean)} of the reasoning steps ({part} part) "
                "could not be verified: factuality is over the others, so read its bounds."
            )


def _divided(summary: Summary) -> Iterator[str]:
    """Warn how many episodes a single score lost at most because the panel had no majority."""
    lost = [score.reasons.get(DIVIDED, 0) + score.reasons.get(TORN, 0) for score in summary.scores]
    if most := max(lost, default=0):
        yield f"The panel had no majority in {count_noun(most, 'episode')}: what hung on it has no value there."


def _silent(summary: Summary) -> Iterator[str]:
    names = ("whole_efficiency_formal", "efficiency_formal", "published_efficiency_formal")
    score = next(filter(None, map(summary.score, names)), None)
    if score and (typed := score.reasons.get("no_words")):
        episodes = count_noun(typed, "episode")
        yield f"{episodes} answered by a typed action without words: there is no reasoning to judge."
    if score and (silent := score.reasons.get("no_reasoning", 0) + score.reasons.get("empty_reply", 0)):
        answer = "without reasoning in the answer: in no mean of reasoning, but in its bounds."
        yield f"{count_noun(silent, 'episode')} {answer}"


ROLES = "role_breaks_"
"""Prefix of the scores that count how often a seat broke its role."""
SHAPES: Mapping[str, str] = {
    "empty": "no text at all",
    "only_thinking": "thinking, and no text after it",
    "tool_call": "a call of a tool in place of text",
    "content_filter": "cut off, or taken, by a filter of the model's endpoint",
    "refusal": "a refusal",
    "template": "a placeholder that was not filled in, or a copy of the instruction",
    "dialogue": "the words of another seat, made up",
    "truncated": "cut off at the longest reply allowed",
    "other_language": "in another script than the question",
    "not_possible": "a move that is not possible now",
    "names_nothing": "the right form with nothing in it",
    "no_heading": "text without the form that was asked for",
    "bad_arguments": "an action whose arguments make no move",
}
"""The shapes of unread replies, in words."""


def _roles(run: RunScores) -> Iterator[str]:
    """Say for each seat in how many episodes it broke its role, and how."""
    for name in sorted({score.name for row in run.episodes for score in row.scores if score.name.startswith(ROLES)}):
        broken = [score for row in run.episodes if (score := row.score(name)).value]
        if broken:
            kinds = Counter(kind for score in broken for kind in score.reason.split(", ") if kind)
            yield (
                f"The {spaced(name.removeprefix(ROLES))} left its role in {count_noun(len(broken), 'episode')}: "
                f"{list_reasons(kinds)}. Their pages show where."
            )


def _unread(run: RunScores) -> Iterator[str]:
    """Count unusable replies by their shape: a faulty parser would show here."""
    shapes: Counter[str] = Counter()
    for row in run.episodes:
        shapes.update(row.unread)
    if shapes:
        listing = "; ".join(f"{SHAPES.get(shape, spaced(shape))} ({count:,})" for shape, count in shapes.most_common())
        yield f"Replies of the doctor that could not be used, {shapes.total():,}, by what they looked like: {listing}."


def cautions(run: RunScores, summary: Summary) -> list[str]:
    """Return cautions, one plain sentence each; none if there is nothing to say."""
    return [
        *_unfinished(summary),
        *_helped(run.header),
        *_unreadable(summary),
        *_invented(summary),
        *_unpriced(summary),
        *doubts(run, summary),
    ]


def unplayed_cases(run: RunScores) -> Iterator[str]:
    """Count what was left out before the run began, with the first reasons."""
    skipped = inside(run.header, "skipped")
    if count := skipped.get("count"):
        why = list_left_out(list(skipped.get("first") or ()), count)
        yield f"{count_noun(count, 'case')} could not be played and are in no figure: {why}."


def _unfinished(summary: Summary) -> Iterator[str]:
    if summary.open:
        yield f"{count_noun(summary.open, 'episode')} still open and in no figure; resume the run to finish."
    if failed := _failed(summary):
        share = f"{sum(failed.values())} of {count_noun(summary.episodes, 'episode')}"
        yield (
            f"{share} ended by a failure that is not the doctor's and has no score: {list_reasons(failed)}. Bounds "
            "show what they could change."
        )


def _failed(summary: Summary) -> dict[str, int]:
    """Count by reason the episodes without a score because of a failure that was neither the case's nor a judge's."""
    failures: Counter[str] = Counter()
    for name in ACCURACIES:
        score = summary.score(name)
        for reason, count in score.reasons.items() if score else ():
            cause = reason.partition("/")[0]
            if cause != "completed" and cause in summary.endings:
                failures[reason] += count
    return dict(failures)


def _helped(header: Mapping[str, Json]) -> Iterator[str]:
    seats = inside(header, "seats")
    for seat in seats:
        knowledge = inside(seats, seat).get("told")
        if knowledge == "truth":
            yield f"The {seat} was told the truth: these figures check the set-up and say nothing about a model."
        elif knowledge == "cases":
            yield f"The {seat} was told the other cases and their diagnoses."


def _unreadable(summary: Summary) -> Iterator[str]:
    for score in summary.scores:
        judged = sum(count for reason, count in score.reasons.items() if reason.startswith(("judge/", "judge_unread")))
        if judged and score.name in ACCURACIES:
            yield f"{count_noun(judged, 'answer')} without a verdict: the judge could not be read or reached."


def _invented(summary: Summary) -> Iterator[str]:
    score = summary.score("assumed_answers")
    if score and score.mean:
        yield (
            f"In the mean, a share of {format_value(score.name, score.mean)} of the answers to orders was assumed "
            "normal, not recorded; those never count as recall."
        )


def _written_by_model(summary: Summary) -> Iterator[str]:
    score = summary.score("invented_answers")
    if score and score.mean:
        yield (
            f"In the mean, a share of {format_value(score.name, score.mean)} of the results that the doctor saw was "
            "invented by the examiner's model or assumed normal; the record does not hold them."
        )
    leaks = summary.score("invented_leaks")
    if leaks and leaks.mean:
        yield "Some invented results name the diagnosis; the evidence of invented_leaks says which."


def _unpriced(summary: Summary) -> Iterator[str]:
    score = summary.score("cost_usd")
    if score and (unknown := score.reasons.get("unknown_price")):
        yield f"{count_noun(unknown, 'episode')} with calls of unknown price: the cost of calls leaves them out."
