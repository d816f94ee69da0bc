"""Adapters: judges and aggregation of MedR-Bench, played with the recorded replies of a judge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from conformance.vector import Vector
from wardround.engine.errors import UsageError
from wardround.engine.records import Score
from wardround.evaluators.judging.unread import Unread
from wardround.evaluators.reasoning import items
from wardround.evaluators.reasoning.inquiry import Inquiry, Look
from wardround.evaluators.reasoning.judged import JudgedReply, JudgedStep, StepClass, Verdict
from wardround.evaluators.reasoning.medr import judged_reply
from wardround.evaluators.reasoning.reference import published_reference, read_reference
from wardround.evaluators.reasoning.scores import scores
from wardround.evaluators.reasoning.verdicts import read_class, read_found, read_outcome
from wardround.scenarios.published.tables import Absent, Tables

_ATTEMPTS = 3


class Judge:
    """A judge that plays its recorded replies in order, and a search that finds `info 1`, `info 2`, ..."""

    def __init__(self, replies: Any) -> None:
        self._replies: Iterator[Any] = iter(replies if isinstance(replies, list) else [replies])
        self.calls = 0
        self.searches: list[str] = []

    def says(self) -> str:
        """The next reply. Raises Absent where there is none."""
        for reply in self._replies:
            self.calls += 1
            if not isinstance(reply, str):
                raise Absent("no_text", f"the judge replied {reply!r}")
            return reply
        raise Absent("no_reply", "the judge is asked again and has no more recorded replies")

    def finds(self, query: str) -> str:
        """What a search for `query` finds."""
        self.searches.append(query)
        return f"info {len(self.searches)}"

    def told(self, value: Any) -> dict[str, Any]:
        """A value with what it took."""
        return {"value": value, "error": None, "judge_calls": self.calls, "searches": self.searches}


def reasoning(row: Vector, tables: Tables) -> Any:
    """medr_reasoning_metrics."""
    del tables
    metric, judge = row.input["metric"], Judge(row.input.get("judge", []))
    if metric == "calculate_efficiency_factuality":
        return {"value": _shares(row, _stored(row.input["steps"]))}
    known: Mapping[str, Callable[[Vector, Judge], Any]] = {
        "evaluate_efficiency": lambda row, judge: _read(read_class(judge.says())).capitalize(),
        "check_step_hit": lambda row, judge: _read(read_found(judge.says())),
        "evaluate_factuality": _factuality,
        "eval_reasoning_completeness": _completeness,
        "eval_reasoning_efficiency_factuality": _evaluated,
    }
    if metric not in known:
        raise Absent("unknown_metric", f"nothing answers {metric}")
    return judge.told(known[metric](row, judge))


def outcome(row: Vector, tables: Tables) -> Any:
    """medr_outcome_accuracy."""
    del tables
    judge = Judge(row.input["judge"])
    if not row.input["metric"].endswith("websearch"):
        return judge.told(_read(read_outcome(judge.says())))
    keywords = judge.says()
    return judge.told([keywords, judge.finds(keywords), _read(read_outcome(judge.says()))])


def assessment(row: Vector, tables: Tables) -> Any:
    """medr_assessment_metrics."""
    del tables
    if "hits" in row.input:
        return {"value": items.rate(row.input["hits"])}
    judge = Judge(row.input["judge"])
    asked, recorded = (_read(items.published_items(judge.says())) for _ in range(2))
    if asked == (None,):
        return judge.told({"precision": 0.0, "recall": 0.0})
    hits = [[item is not None and _found(judge) for item in side] for side in (asked, recorded)]
    precision, recall = items.published_precision_recall(*hits)
    return judge.told(
        {
            "precision": precision.value,
            "recall": recall.value,
            "infer_info_split": _listed(asked, hits[0]),
            "gt_info_split": _listed(recorded, hits[1]),
        }
    )


def _found(judge: Judge) -> bool:
    """One item, asked for up to three times."""
    for _ in range(_ATTEMPTS):
        if not isinstance(found := read_found(judge.says()), Unread):
            return found
    raise Absent("judge_unreadable", "three replies say neither yes nor no")


def _listed(side: Sequence[items.Item | None], hits: Sequence[bool]) -> list[dict[str, Any]]:
    return [
        ({"type": item.type, "test_name": item.name, "info_required": item.wanted} if item else {}) | {"hit": hit}
        for item, hit in zip(side, hits, strict=True)
    ]


def _factuality(row: Vector, judge: Judge) -> Any:
    del row
    inquiry = _inquire("", judge)
    return [inquiry.verdict == Verdict.CORRECT, _path(inquiry)]


def _inquire(step: str, judge: Judge) -> Inquiry:
    inquiry = Inquiry(step, "published")
    while inquiry.wants != "done":
        if inquiry.wants == "search":
            inquiry = inquiry.searched(judge.finds(inquiry.query))
        else:
            inquiry = inquiry.told(judge.says())
    if inquiry.verdict is None:
        raise Absent(inquiry.reason, "no reply of the judge holds a verdict; the published code stops")
    return inquiry


def _path(inquiry: Inquiry) -> list[dict[str, str]]:
    def told(look: Look) -> dict[str, str]:
        held = {"judgment": look.judgment, "keywords_to_search": look.keywords}
        return held if look.info is None else held | {"info": look.info}

    return [told(look) for look in inquiry.path]


def _completeness(row: Vector, judge: Judge) -> Any:
    del row
    written = judge.says()
    lines, steps = published_reference(written), read_reference(written)
    if not isinstance(steps, Unread) and len(steps) != len(lines):
        raise Absent("no_step", f"{len(lines)} lines hold {len(steps)} steps: a preamble is none")
    hits = [_read(read_found(judge.says())) for _ in lines]
    told = [{"step": line, "hit": hit} for line, hit in zip(lines, hits, strict=True)]
    return {"recall_score": items.rate(hits), "ground_truth_steps": told}


def _evaluated(row: Vector, judge: Judge) -> Any:
    judged, told = [], []
    for text in row.input["steps"]:
        kind = _read(read_class(judge.says()))
        inquiry = _inquire(text, judge) if kind == StepClass.REASONING else None
        judged.append(inquiry.judged() if inquiry else JudgedStep(text, kind))
        told.append(
            {
                "step": text,
                "efficiency": kind.capitalize(),
                "factulity": inquiry.verdict == Verdict.CORRECT if inquiry else None,
                "judgment_path": _path(inquiry) if inquiry else [],
            }
        )
    efficiency, factuality = _shares(row, JudgedReply("formal", tuple(judged), reason="" if judged else "no_steps"))
    return {"efficiency_score": efficiency, "factuality_score": factuality, "evaluated_steps": told}


def _shares(row: Vector, reply: JudgedReply) -> list[float | None]:
    """Efficiency and factuality as published; of a row that shows a defect, why they are not defined."""
    named = {score.name: score for score in scores(reply)}
    if row.expect == "defect" and (why := _undefined(named["efficiency_formal"], named["factuality_formal"])):
        raise Absent(why, "the published code has 0 where the figure is not defined")
    return [score.value for score in scores(reply, "published")[:2]]


def _undefined(*told: Score) -> str:
    return next((score.reason for score in told if score.value is None), "")


def _stored(steps: Any) -> JudgedReply:
    try:
        return judged_reply({"reasoning_eval": steps})
    except UsageError as error:
        raise Absent("unknown_label", str(error)) from error


def _read(value: Any) -> Any:
    if isinstance(value, Unread):
        raise Absent(value.reason, f"the judge's reply {value.said!r} holds no verdict")
    return value
