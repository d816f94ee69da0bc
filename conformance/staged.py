"""Adapters: parsers and printed intervals of MedR-Bench."""

from typing import Any

from conformance.tables import Tables
from conformance.vector import Vector
from wardround.evaluators.report.intervals import student_t
from wardround.scenarios.parsers import published
from wardround.scenarios.published.imaging_words import Absent

_TESTS = "Ancillary Tests"


def split_ancillary(summary: str) -> tuple[str, str]:
    """Split into (open, hidden) part before the first line that names ancillary tests; raises Absent without one."""
    lines = summary.strip().split("\n")
    for place, line in enumerate(lines):
        if _TESTS in line:
            return "\n".join(lines[:place]), "\n".join(lines[place:])
    raise Absent("no_tests", f"no line holds {_TESTS!r}; the published code stops")


def extracted_answer(reply: str) -> str:
    """The text shown to the accuracy judge: all after the last `### Answer`, without colons and line ends, else all."""
    _, mark, rest = reply.rpartition("### Answer")
    return rest.replace("\n", "").replace(":", "") if mark else reply


def ancillary_split(row: Vector, tables: Tables) -> Any:
    """medr_ancillary_split."""
    del tables
    return {"value": list(split_ancillary(row.input["case_summary"]))}


def section_parse(row: Vector, tables: Tables) -> Any:
    """medr_section_parse."""
    del tables
    protocol = row.input["function"].split(".")[0]
    conclusion, information = published.published_sections(row.input["text"], protocol)
    sections = {"conclusion": conclusion, "info_required": information, "error": None}
    return sections | ({"stops_dialogue": published.stops(information)} if "stops_dialogue" in row.expected else {})


def steps(row: Vector, tables: Tables) -> Any:
    """medr_split_reasoning."""
    del tables
    return {"steps": published.reasoning_steps(row.input["text"])}


def answer(row: Vector, tables: Tables) -> Any:
    """medr_extract_answer."""
    del tables
    return {"answer": extracted_answer(row.input["text"])}


def printed_interval(row: Vector, tables: Tables) -> Any:
    """medr_paper_ci: whether our interval prints what the paper prints, and for which counts."""
    del tables
    n, successes = row.input["n"], row.input["successes"]
    printed = tuple(row.expected[name] for name in ("mean", "lo", "hi"))
    fitting = [
        [k, size]
        for size in range(2, n + 1)
        for k in range(max(0, int(printed[0] * size / 100) - 1), min(size, int(printed[0] * size / 100) + 2) + 1)
        if round(100 * k / size, 2) == printed[0] and _printed(k, size) == printed
    ]
    return {
        "count_consistent": round(100 * successes / n, 2) == printed[0],
        "consistent_k_n_under_student_t": fitting,
    }


def _printed(k: int, n: int) -> tuple[float, float, float]:
    ends = student_t([1.0] * k + [0.0] * (n - k))
    assert ends is not None
    return round(100 * k / n, 2), round(100 * ends[0], 2), round(100 * ends[1], 2)
