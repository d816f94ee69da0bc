"""Shows how a final answer was read before scoring: what it commits to, what it adds, and what was ignored."""

from collections.abc import Iterator

from wardround.evaluators.evaluation import Goal
from wardround.evaluators.metrics.standard import compare_answer
from wardround.evaluators.report.rendering import shortened
from wardround.scenarios.answers.commitment import CommittedAnswer, entries
from wardround.scenarios.answers.diagnosis import head_diseases
from wardround.scenarios.answers.treatment import Plan
from wardround.scenarios.case import Case

LONGEST = 600
"""Longest line, in characters, that is shown."""
_JOINED = {
    "first": "",
    "and": "and ",
    "with": "with ",
    "then": "leading to ",
    "shown": "presenting with ",
    "due": "due to ",
}
Line = tuple[str, str]
"""A label and its text."""


def as_read(answer: str, case: Case, goal: Goal, wanted: int = 1) -> list[Line]:
    """Return the lines about an answer, the last with the result of the word match; none for an empty answer.

    If a ranked list of `wanted` diagnoses was asked for, the lines list its entries, each of which is judged by itself.
    """
    if not answer.strip():
        return []
    if wanted > 1 and goal == "diagnosis":
        listed = entries(answer)
        lines = [("ranked list", "; ".join(f"{place}. {one}" for place, one in enumerate(listed[:wanted], 1)))]
        lines += [("beyond what was asked", "; ".join(listed[wanted:]))] if listed[wanted:] else []
    else:
        verdict = compare_answer(answer, case, goal)
        read = verdict.read
        lines = list(plan_lines(read) if isinstance(read, Plan) else answer_lines(read))
        lines.append(("by words", f"{'right' if verdict.match else 'wrong'}: {verdict.why}"))
    return [(label, shortened(text, LONGEST)) for label, text in lines]


def answer_lines(read: CommittedAnswer) -> Iterator[Line]:
    """Yield what a diagnosis commits to, and which of its words did not count."""
    first = head_diseases(read)
    if first:
        kept = len(first)
        yield "commits to", "; ".join(f"{_JOINED[item.link]}{item.text}" for item in read.asserted[:kept])
        if others := read.asserted[kept:]:
            yield "also asserts", "; ".join(f"{_JOINED[item.link]}{item.text}" for item in others)
    else:
        yield "commits to", "nothing"
    if read.hedged:
        yield "hedged", "it is said to be likely, which still commits to it"
    if read.undecided:
        yield "left open", "; ".join(read.undecided)
    if read.ranked:
        yield "list", "ranked by likelihood: its first counts"
    if read.refused:
        yield "refusal", "it declines to diagnose; what it says besides was read"
    if read.dropped:
        yield "not counted", f"{'; '.join(read.dropped)} (denied, only considered, or in a refusal)"


def plan_lines(read: Plan) -> Iterator[Line]:
    """Yield what a plan of treatment gives, stops, avoids, leaves open and only considers."""
    yield "gives", "; ".join(one.text for one in read.started) or "nothing"
    others = {"stops": read.stopped, "avoids": read.avoided, "left open": read.options, "considers": read.considered}
    yield from ((label, "; ".join(one.text for one in measures)) for label, measures in others.items() if measures)
