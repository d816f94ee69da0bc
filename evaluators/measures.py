"""What each house score is called in a report, in what unit it is, and which ones come first."""

import re

from wardround.evaluators import judged_measures
from wardround.evaluators.measure import Measure

FULL_PATHS = ("full_path_f1", "full_path", "full_path_by_type")
"""Combined figures of answer and orders. The last two are the paper's formula and its code's: their names stay."""
NO_ORDERS = "not_ordered_here"
"""Reason of figures of orders in a scenario without any."""

_OUTCOME = (
    Measure("diagnosis_accuracy", "Diagnosis accuracy", "share", True, True),
    Measure("treatment_accuracy", "Treatment accuracy", "share", True, True),
    Measure("diagnosis_all_parts", "All parts of the diagnosis named", "share", False, True, True, True),
    Measure("diagnosis_parts_f1", "Parts of the diagnosis named, F1", "share", False, True, True, True),
    Measure("diagnosis_reader_list", "Any listed diagnosis right (as readers are scored)", "share", True, True, True),
    Measure("answers_given", "Diagnoses listed", "count", False, False, False, True),
    Measure("diagnosis_grade", "Diagnosis grade", "share"),
    Measure("exam_recall", "Examination recall", "share", True),
    Measure("full_path_f1", "Full path (accuracy x F1 of orders)", "share", True, True),
    Measure("full_path", "Full path, published formula", "share", False, True),
    Measure("full_path_by_type", "Full path by type, published code", "share", False, True),
    Measure("lexical_match", "Word match beside the judge", "share", False, True, True),
)
_EXAMINATIONS = (
    Measure("exam_recall_pooled", "Examination recall, pooled", "share"),
    Measure("exam_recall_lab", "Recall, laboratory", "share"),
    Measure("exam_recall_microbiology", "Recall, microbiology", "share"),
    Measure("exam_recall_imaging", "Recall, imaging", "share"),
    Measure("exam_recall_investigation", "Recall, other investigations", "share"),
    Measure("exam_precision", "Examination precision", "share"),
    Measure("exam_precision_pooled", "Examination precision, pooled", "share"),
    Measure("exam_precision_lab", "Precision, laboratory", "share"),
    Measure("exam_precision_microbiology", "Precision, microbiology", "share"),
    Measure("exam_precision_imaging", "Precision, imaging", "share"),
    Measure("exam_precision_investigation", "Precision, other investigations", "share"),
    Measure("tests", "Tests ordered", "count"),
    Measure("test_cost", "Cost of tests", "points"),
    Measure("premature_closing", "Concluded before all deciding findings were seen", "share"),
    Measure("deciding_seen", "Deciding findings seen before the conclusion", "share"),
    Measure("repeat_requests", "Requests for what was known", "share"),
    Measure("assumed_answers", "Answers assumed normal", "share"),
)
_USAGE = (
    Measure("unusable_replies", "Unusable replies", "share"),
    Measure("role_breaks_doctor", "Role breaks, doctor", "count"),
    Measure("role_breaks_patient", "Role breaks, patient", "count"),
    Measure("role_breaks_examiner", "Role breaks, examiner", "count"),
    Measure("turns", "Turns", "count"),
    Measure("calls", "Model calls", "count"),
    Measure("failed_calls", "Failed calls", "count"),
    Measure("tokens", "Tokens", "tokens"),
    Measure("tokens_prompt", "Tokens sent", "tokens"),
    Measure("tokens_completion", "Tokens received", "tokens"),
    Measure("cost_usd", "Cost of calls", "usd"),
    Measure("model_seconds", "Time in model calls", "seconds"),
    Measure("episode_seconds", "Duration", "seconds"),
)

MEASURES: tuple[Measure, ...] = (*_OUTCOME, *_EXAMINATIONS, *_USAGE)
"""The scores that need no judge."""

_LISTED = (
    *_OUTCOME,
    *judged_measures.WHOLE,
    *judged_measures.REASONING,
    *judged_measures.OPINIONS,
    *judged_measures.ASSESSMENT,
    *_EXAMINATIONS,
    *judged_measures.JUDGES,
    *_USAGE,
    *judged_measures.PUBLISHED,
)
_BY_NAME = {measure.name: measure for measure in _LISTED}
_PLACE = {measure.name: place for place, measure in enumerate(_LISTED)}
_FAMILY = 1000  # more than there are names
_TOP = re.compile(r"diagnosis_top_([1-9]\d{0,4})")


def measure_of(name: str) -> Measure:
    """The measure of that name; one of a plug-in is called by its name and has no unit."""
    if listed := _BY_NAME.get(name):
        return listed
    if top := _TOP.fullmatch(name):
        return Measure(name, f"Diagnosis among the first {top[1]}", "share", True, True)
    if staged := judged_measures.staged(name):
        return staged[2]
    return Measure(name, name.replace("_", " "), "")


def is_house(name: str) -> bool:
    """Whether a score of that name is the house's own."""
    return name in _BY_NAME or _TOP.fullmatch(name) is not None or judged_measures.staged(name) is not None


def place_of(name: str) -> tuple[int, str]:
    """The order of scores in reports: the house's own as listed, stages and turns, then the others by name."""
    if name in _PLACE:
        return _PLACE[name], name
    if top := _TOP.fullmatch(name):
        return _PLACE["answers_given"], f"{int(top[1]):6}"
    if staged := judged_measures.staged(name):
        return _FAMILY * (1 + staged[0]) + staged[1], name
    return _FAMILY**3, name


UNDEFINED = judged_measures.UNDEFINED | frozenset(
    {
        "nothing_recorded",
        "nothing_ordered",
        NO_ORDERS,
        "unstructured",
        "no_replies",
        "no_truth",
        "unknown_price",
        "truth_unknown",
        "no_diagnosis",
    }
)
"""Reasons for which a score does not exist: there was nothing to measure, and nothing failed."""


def shown(name: str, value: float | None, *, one: bool = False) -> str:
    """A value as people read it: 0.873, 12.4, 1,204, $0.0312, 4.1 s, 0.24 ms; a dash for None.

    `one`: it is of one episode and no mean, so that a count has no decimal.
    """
    if value is None:
        return "–"
    unit = measure_of(name).unit
    if unit == "usd":
        if not value:
            return "$0"
        return f"${value:,.4f}" if abs(value) < 1 else f"${value:,.2f}"
    if unit == "tokens":
        return f"{value:,.0f}"
    if unit == "seconds":
        if 0 < abs(value) < 0.01:
            return f"{value * 1000:.2g} ms"
        return f"{value:,.3f} s" if abs(value) < 1 else f"{value:,.1f} s"
    if unit in ("count", "points"):
        if one and value == int(value):
            return f"{value:,.0f}"
        return f"{value:,.1f}"
    return f"{value:.3f}"
