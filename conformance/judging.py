"""Adapters: judges and aggregation of MedR-Bench, played with the recorded replies of a judge.

The project's strict reader reads a row that shows a defect; without a verdict it ends in a typed reason.
"""

from collections.abc import Callable, Mapping
from typing import Any

from conformance import loose
from conformance.played import Judge
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.engine.errors import UsageError
from wardround.engine.records import Score
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.outcome import items
from wardround.evaluators.reasoning.inquiry import Inquiry, SearchRound
from wardround.evaluators.reasoning.reasoning_record import PartAccount, StepAccount, combined_part, scores
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict, read_reference
from wardround.exchange.published_results import judged_reply
from wardround.scenarios.published.imaging_words import Absent


def reasoning(row: Vector, tables: Tables) -> Any:
    """medr_reasoning_metrics."""
    del tables
    metric, judge = row.input["metric"], Judge(row.input.get("judge", []))
    if metric == "calculate_efficiency_factuality":
        return {"value": _shares(row, _stored(row.input["steps"]))}
    if metric == "calculate_recall":
        return {"value": _recall(row)}
    known: Mapping[str, Callable[[Vector, Judge], Any]] = {
        "evaluate_efficiency": lambda row, judge: loose.step_class(judge.says(), row).capitalize(),
        "check_step_hit": lambda row, judge: loose.hit(judge.says(), row),
        "evaluate_factuality": _factuality,
        "eval_reasoning_completeness": _completeness,
        "eval_reasoning_efficiency_factuality": _evaluated,
    }
    if metric not in known:
        raise Absent("unknown_metric", f"nothing answers {metric}")
    return judge.with_calls(known[metric](row, judge))


def outcome(row: Vector, tables: Tables) -> Any:
    """medr_outcome_accuracy."""
    del tables
    judge = Judge(row.input["judge"])
    if not row.input["metric"].endswith("websearch"):
        return judge.with_calls(loose.right(judge.says(), row))
    keywords = judge.says()
    return judge.with_calls([keywords, judge.finds(keywords), loose.right(judge.says(), row)])


def _factuality(row: Vector, judge: Judge) -> Any:
    inquiry, verdict = _inquire("", row, judge)
    return [verdict, _path(inquiry)]


def _inquire(step: str, row: Vector, judge: Judge) -> tuple[Inquiry, bool]:
    """The inquiry at its end, and whether the step is correct. Raises Absent without a verdict."""
    inquiry = Inquiry(step, "published")
    while inquiry.wants != "done":
        if inquiry.wants == "search":
            inquiry = inquiry.with_results(judge.finds(inquiry.keywords))
        else:
            inquiry = inquiry.with_reply(judge.says())
    if inquiry.verdict is not None:
        return inquiry, inquiry.verdict == StepVerdict.CORRECT
    last = inquiry.path[-1]
    if row.counts and last.info is None and isinstance(last.judgment, str):  # JSON without a verdict
        return inquiry, loose.correct(last.judgment)
    raise Absent(inquiry.reason, "no reply of the judge holds a verdict; the published code stops")


def _path(inquiry: Inquiry) -> list[dict[str, Any]]:
    def one_round(look: SearchRound) -> dict[str, Any]:
        fields = {"judgment": look.judgment, "keywords_to_search": look.keywords}
        return fields if look.info is None else fields | {"info": look.info}

    return [one_round(look) for look in inquiry.path]


def _completeness(row: Vector, judge: Judge) -> Any:
    written = judge.says()
    lines = [line.strip() for line in written.split("\n") if line.strip()]  # a preamble is a step
    if not row.counts:
        steps = read_reference(written)
        if isinstance(steps, Unread):
            raise Absent(steps.reason, f"the judge's reply {steps.said!r} holds no step")
        if len(steps) != len(lines):
            raise Absent("no_step", f"{len(lines)} lines hold {len(steps)} steps: a preamble is none")
    hits = [loose.hit(judge.says(), row) for _ in lines]
    marked = [{"step": line, "hit": hit} for line, hit in zip(lines, hits, strict=True)]
    return {"recall_score": items.rate(hits), "ground_truth_steps": marked}


def _evaluated(row: Vector, judge: Judge) -> Any:
    judged, evaluated = [], []
    for text in row.input["steps"]:
        kind = loose.step_class(judge.says(), row)
        verdict, correct, path = None, None, []
        if kind == StepClass.REASONING:
            inquiry, correct = _inquire(text, row, judge)
            verdict, path = StepVerdict.CORRECT if correct else StepVerdict.WRONG, _path(inquiry)
        judged.append(StepAccount(text, kind, verdict))
        evaluated.append({"step": text, "efficiency": kind.capitalize(), "factulity": correct, "judgment_path": path})
    efficiency, factuality = _shares(row, combined_part("formal", tuple(judged), "" if judged else "no_steps"))
    return {"efficiency_score": efficiency, "factuality_score": factuality, "evaluated_steps": evaluated}


def _shares(row: Vector, reply: PartAccount) -> list[float | None]:
    """Efficiency and factuality as published; for a row that shows a defect, why they are not defined."""
    named = {score.name: score for score in scores(reply)}
    if row.expect == "defect" and (why := _undefined(named["efficiency_formal"], named["factuality_formal"])):
        raise Absent(why, "the published code has 0 where the figure is not defined")
    return [score.value for score in scores(reply, "published")[:2]]


def _undefined(*both: Score) -> str:
    return next((score.reason for score in both if score.value is None), "")


def _recall(row: Vector) -> float:
    """The share of reference steps that were found. Raises Absent for a row without a step."""
    listed = next((row.input[name] for name in ("steps", "ground_truth_steps", "hits") if name in row.input), None)
    if not isinstance(listed, list):
        raise Absent("no_reference", "the row names no reference steps")
    hits = [step.get("hit") if isinstance(step, Mapping) else step for step in listed]
    known = [hit for hit in hits if isinstance(hit, bool)]
    if len(known) < len(hits):
        raise Absent("unknown_label", "a reference step is neither found nor missed")
    if not row.counts and not hits:
        raise Absent("no_reference", "the published code has 0 where the figure is not defined")
    return items.rate(known)


def _stored(steps: Any) -> PartAccount:
    try:
        return judged_reply({"reasoning_eval": steps})
    except UsageError as error:
        raise Absent("unknown_label", str(error)) from error
