"""What a reader of a run's figures must know before believing them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from wardround.engine.records import Json
from wardround.engine.text import counted
from wardround.evaluators.doubts import doubts
from wardround.evaluators.measures import shown
from wardround.evaluators.reasons import listed
from wardround.evaluators.rows import RunScores
from wardround.evaluators.showing.contents import ACCURACIES
from wardround.evaluators.summary import Summary


def cautions(run: RunScores, summary: Summary) -> list[str]:
    """One plain sentence each; none if there is nothing to say."""
    return [
        *_unfinished(run, summary),
        *_helped(run.header),
        *_unreadable(summary),
        *_invented(summary),
        *_unpriced(summary),
        *doubts(run, summary),
    ]


def _unfinished(run: RunScores, summary: Summary) -> Iterator[str]:
    if summary.open:
        yield f"{counted(summary.open, 'episode')} still open and in no figure; resume the run to finish."
    failed = _failed(summary)
    if failed:
        share = f"{sum(failed.values())} of {counted(summary.episodes, 'episode')}"
        yield (
            f"{share} ended by a failure that is not the doctor's and has no score: {listed(failed)}. Bounds show what "
            "they could change."
        )
    skipped = run.header.get("skipped")
    count = skipped.get("count") if isinstance(skipped, Mapping) else None
    if count:
        yield f"{counted(count, 'case')} could not be played, so not in any figure; the run's header says why."


def _failed(summary: Summary) -> dict[str, int]:
    """Episodes that ended by a failure for which there is no score, by reason: neither the case's nor a judge's."""
    found: Counter[str] = Counter()
    for name in ACCURACIES:
        score = summary.score(name)
        for reason, count in score.reasons.items() if score else ():
            cause = reason.partition("/")[0]
            if cause != "completed" and cause in summary.endings:
                found[reason] += count
    return dict(found)


def _helped(header: Mapping[str, Json]) -> Iterator[str]:
    seats = header.get("seats")
    for seat, part in seats.items() if isinstance(seats, Mapping) else ():
        told = part.get("told") if isinstance(part, Mapping) else None
        if told == "truth":
            yield f"The {seat} was told the truth: these figures check the set-up, they say nothing about a model."
        elif told == "cases":
            yield f"The {seat} was told the other cases and their diagnoses."


def _unreadable(summary: Summary) -> Iterator[str]:
    for score in summary.scores:
        judged = sum(count for reason, count in score.reasons.items() if reason.startswith(("judge/", "judge_unread")))
        if judged and score.name in ACCURACIES:
            yield f"{counted(judged, 'answer')} without a verdict: the judge could not be read or reached."


def _invented(summary: Summary) -> Iterator[str]:
    score = summary.score("assumed_answers")
    if score and score.mean:
        yield (
            f"In the mean, a share of {shown(score.name, score.mean)} of the answers to orders was assumed normal, not "
            "recorded; those never count as recall."
        )


def _unpriced(summary: Summary) -> Iterator[str]:
    score = summary.score("cost_usd")
    if score and (unknown := score.reasons.get("unknown_price")):
        yield f"{counted(unknown, 'episode')} with calls of unknown price: the cost of calls leaves them out."
