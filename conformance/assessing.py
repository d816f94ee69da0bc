"""Adapter: examinations asked for and recorded, as MedR-Bench compares them, played with a judge's recorded replies."""

from typing import Any

from conformance import loose
from conformance.played import Judge
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.evaluators.judges.strict_reply import Unread, unread_reply
from wardround.evaluators.outcome import items
from wardround.evaluators.reasoning.inquiry import REPAIRS, published_json
from wardround.scenarios.published.imaging_words import Absent

_ATTEMPTS = 3
_TYPE = "type"
_NEEDED = (_TYPE, "test_name", "info_required")

Entry = dict[str, Any]

_SPELT: dict[Any, str] = {"info_requried": "info_required"}


def assessment(row: Vector, tables: Tables) -> Any:
    """medr_assessment_metrics."""
    del tables
    if "hits" in row.input:
        return {"value": items.rate(row.input["hits"])}
    if "judge" not in row.input:
        raise Absent("unknown_metric", f"nothing answers {row.input.get('metric')}")
    judge = Judge(row.input["judge"])
    asked = _listed(judge, row, "nothing_asked")
    if len(asked) == 1 and _TYPE not in asked[0]:  # taken to say that nothing is needed
        return judge.with_calls({"precision": 0.0, "recall": 0.0, "infer_info_split": [], "gt_info_split": []})
    recorded = _listed(judge, row, "no_reference")
    hits = [[_hit(entry, judge, row) for entry in side] for side in (asked, recorded)]
    precision, recall = items.published_precision_recall(*hits)
    return judge.with_calls(
        {
            "precision": precision.value,
            "recall": recall.value,
            "infer_info_split": _marked(asked, hits[0]),
            "gt_info_split": _marked(recorded, hits[1]),
        }
    )


def _listed(judge: Judge, row: Vector, none: str) -> list[Entry]:
    """One side's entries. Raises Absent; for a row that shows a defect, also for entries that cannot be matched."""
    listed = _asked(judge)
    if not row.counts and not listed:
        raise Absent(none, "the published code has 0 where the figure is not defined")
    if not row.counts and any(name not in entry for entry in listed for name in _NEEDED):
        raise Absent("judge_unreadable/no_test", "an entry lacks what it is matched by")
    return listed


def _asked(judge: Judge) -> list[Entry]:
    """The entries of the judge's list. It gives up to three, and repairs each that is no JSON."""
    why = ""
    for _ in range(_ATTEMPTS):
        reply = judge.says()
        for _ in range(REPAIRS):
            if not isinstance(published_json(reply), Unread):
                break
            reply = judge.says()
        listed = entries(reply)
        if not isinstance(listed, Unread):
            return listed
        why = listed.reason
        if isinstance(published_json(reply), Unread):
            judge.says()  # a sixth repair, which the published code does not read
    raise Absent(why, "three lists of the judge cannot be read; the published code gives up")


def entries(text: str) -> list[Entry] | Unread:
    """The objects of a list, or the single object, with one misspelt key put right; else `no_field`."""
    value = published_json(text)
    if isinstance(value, Unread):
        return value
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        return unread_reply("no_field", text)
    return [
        {_SPELT.get(name) or str(name): field for name, field in one.items()} for one in listed if isinstance(one, dict)
    ]


def _hit(entry: Entry, judge: Judge, row: Vector) -> bool:
    """An entry that lacks what it is described by is a miss, and nobody is asked."""
    return all(name in entry for name in _NEEDED) and loose.matched(judge.says(), row)


def _marked(side: list[Entry], hits: list[bool]) -> list[Entry]:
    return [{**entry, "hit": hit} for entry, hit in zip(side, hits, strict=True)]
