"""The name, unit and order of each score in a report."""

import re
from collections.abc import Container
from typing import Literal, get_args

import msgspec

Unit = Literal["share", "count", "tokens", "points", "usd", "seconds", ""]
Part = Literal["formal", "thinking"]
"""The part of a reply: the formal answer, or the marked thinking (MedR-Bench, section 4.4)."""


class Measure(msgspec.Struct, frozen=True):
    """A score as reports show it. A `share` lies in 0..1, so a missing value has bounds.

    `headline`: the score is among those that reports show first and compare. `matched`: it says whether an answer is
    right, by word match if no judge decided it. `by_words`: it uses the word match even if there is a judge. `beside`:
    it appears in a run's own table of scores, but in no ranking, comparison or list of episodes. `clipped`: a single
    value may leave 0..1, and only means are cut to it.
    """

    name: str
    label: str
    unit: Unit
    headline: bool = False
    matched: bool = False
    by_words: bool = False
    beside: bool = False
    clipped: bool = False


_PARTS = {"formal": "reply", "thinking": "thinking"}
_FIGURES: tuple[tuple[str, str, Unit, bool], ...] = (
    ("efficiency", "Efficiency", "share", True),
    ("factuality", "Factuality", "share", True),
    ("unverifiable", "Unverifiable steps", "share", True),
    ("completeness", "Completeness", "share", True),
    ("completeness_without_answer", "Completeness without the answer", "share", False),
    ("efficiency_low", "Efficiency, at least", "share", False),
    ("efficiency_high", "Efficiency, at most", "share", False),
    ("factuality_low", "Factuality, unverified as wrong", "share", False),
    ("factuality_high", "Factuality, unverified as correct", "share", False),
    ("steps", "Steps", "count", False),
)
_OPINION = ("opinion_factuality", "Factuality by evidence or the judge's own knowledge")
_PUBLISHED = ("efficiency", "factuality", "completeness")


_LABELS = {name: label for name, label, _, _ in _FIGURES}

REASONING: tuple[Measure, ...] = tuple(
    Measure(f"{name}_{part}", f"{label}, {_PARTS[part]}", unit, first and part == "formal")
    for part in get_args(Part)
    for name, label, unit, first in _FIGURES
)
"""The scores of the reply that contains the answer. Reports show those of the formal part first."""
OPINIONS: tuple[Measure, ...] = tuple(
    Measure(f"{_OPINION[0]}_{part}", f"{_OPINION[1]}, {_PARTS[part]}", "share") for part in get_args(Part)
)
"""Factuality where judges may use their own knowledge. It has its own name because no evidence supports it."""
WHOLE: tuple[Measure, ...] = (
    *(
        measure
        for part in get_args(Part)
        for measure in (
            *(
                Measure(f"whole_{one.name}", f"{one.label}, all turns", one.unit, one.headline)
                for one in REASONING
                if one.name.endswith(part)
            ),
            Measure(f"whole_unseen_{part}", f"Steps on what was not told, {_PARTS[part]}", "share"),
            Measure(f"whole_repetition_{part}", f"Steps that repeat an earlier turn, {_PARTS[part]}", "share"),
        )
    ),
    *(Measure(f"whole_{one.name}", f"{one.label}, all turns", one.unit) for one in OPINIONS),
)
"""The scores of all turns taken as one reasoning. Reports show these first, in every scenario."""
PUBLISHED: tuple[Measure, ...] = (
    *(
        Measure(f"published_{name}_{part}", f"{_LABELS[name]}, {_PARTS[part]}, published rules", "share")
        for part in get_args(Part)
        for name in _PUBLISHED
    ),
    Measure("published_treatment_accuracy", "Treatment accuracy, published rules", "share", False, True),
    Measure("published_assessment_precision", "Precision of examinations, published rules", "share"),
    Measure("published_assessment_recall", "Recall of examinations, published rules", "share"),
)
"""The scores of the published code. They have names of their own, so that nobody compares them with the others."""
ASSESSMENT: tuple[Measure, ...] = (
    Measure("diagnosis_points", "Points for the diagnosis, 1 to 5", "points"),
    Measure("diagnosis_points_right", "Diagnoses with 4 points or more", "share", True),
    Measure("assessment_precision", "Precision of examinations, judged", "share", True),
    Measure("assessment_recall", "Recall of examinations, judged", "share", True),
)
JUDGES: tuple[Measure, ...] = (
    Measure("judge_agreement", "Votes on the outcome that agree", "share"),
    Measure("reasoning_agreement", "Questions on the reasoning with one voice", "share"),
    Measure("hostile_texts", "Texts that speak to the judge", "count"),
)
OPEN_ANSWERS: tuple[Measure, ...] = (
    Measure("rubric_score", "Rubric", "", True, clipped=True),
    Measure("rubric_score_low", "Rubric, undecided criteria at their worst", "", clipped=True),
    Measure("rubric_score_high", "Rubric, undecided criteria at their best", "", clipped=True),
    Measure("published_rubric_score", "Rubric, unread criteria as not met", "", clipped=True),
    Measure("rubric_undecided", "Criteria without a decision", "share"),
    Measure("rubric_veto", "Answers with a veto", "share"),
    Measure("rubric_agreement", "Criteria on which all votes agree", "share"),
    Measure("answer_characters", "Length of the answer, characters", "count"),
    Measure("rubric_probe_blank", "Rubric of no text", "", clipped=True),
    Measure("rubric_probe_copied", "Rubric of the question copied", "", clipped=True),
    Measure("rubric_probe_long", "Rubric of a long text about nothing", "", clipped=True),
    Measure("usable", "Usable answers", "share", True),
    Measure("usable_strict", "Usable answers, every dimension at least 4", "share"),
    Measure("checklist_score", "Checklist score, 1 to 5", "points"),
    Measure("generation_score", "Text generation, 0 to 7", "points"),
    Measure("generation_safe", "Safe texts", "share"),
    Measure("draft_requirements", "Requirements proposed", "count"),
    Measure("checklist_agreement", "Verdicts on usability that agree", "share"),
    *(
        Measure(f"error_{name}", f"Answers with {words}", "share")
        for name, words in (
            ("incomplete_knowledge", "incomplete knowledge"),
            ("inconsistent_logic", "inconsistent logic"),
            ("context_not_kept", "context not kept"),
            ("format_not_kept", "format not kept"),
        )
    ),
)
"""The scores of open answers by rubrics (HealthBench) and checklists (LLMEval-Med)."""

_BASES = {measure.name: (place, measure) for place, measure in enumerate((*REASONING, *OPINIONS, *PUBLISHED))}
_STAGE = re.compile(r"(?:examination|turn_([1-9]\d{0,4}))_(\w+)")


def staged_measures(name: str) -> tuple[int, int, Measure] | None:
    """Look up a score of the replies before the answer.

    Returns (0 for `examination_` or N for `turn_N_`, place in its family, measure), or None for any other name. The
    `examination_` scores cover all such replies of an episode, the `turn_N_` scores one of the free turns.
    """
    match = _STAGE.fullmatch(name)
    if match is None or match[2] not in _BASES:
        return None
    turn, (place, base) = int(match[1] or 0), _BASES[match[2]]
    of = f"Turn {turn}" if turn else "Examination requests"
    return turn, place, Measure(name, f"{of}: {base.label[0].lower()}{base.label[1:]}", base.unit)


def is_superseded(name: str, taken: Container[str]) -> bool:
    """Whether `taken` also has this score for all turns, so that the one for the answering reply comes second."""
    return f"whole_{name}" in taken


def why_untaken(name: str, taken: Container[str]) -> str:
    """Return why an episode with the scores `taken` lacks this one: it may have had fewer turns than another."""
    stage = staged_measures(name)
    judged = any(f"{lead}efficiency_formal" in taken for lead in ("", "published_"))
    return NO_SUCH_TURN if stage and stage[0] and judged else "not_scored"


NO_SUCH_TURN = "no_such_turn"
"""Reason of a turn's score in an episode that ended before that turn."""

JUDGED_UNDEFINED = frozenset(
    {
        *("no_reference", "only_the_answer", "no_reasoning_step", "no_thinking", "no_words", "nothing_asked"),
        *(NO_SUCH_TURN, "one_turn", "no_deciding_findings"),
    }
)
"""Reasons why a judged score does not exist.

- `no_reference`, `only_the_answer`: the reference has nothing to look for.
- `no_reasoning_step`: no step makes a claim.
- `no_thinking`, `no_words`: the part does not exist; a typed action has no words.
- `nothing_asked`, `one_turn`, NO_SUCH_TURN: there was no request, no second turn, or not this turn.
- `no_deciding_findings`: the case names no deciding finding.

`empty_reply` and `no_reasoning` are not among them: the doctor had its chance. Neither is `nothing_verified`: the
steps exist, and the bounds give their possible values.
"""

FULL_PATHS = ("full_path_f1", "full_path", "full_path_by_type")
"""Scores that combine the answer with the orders: our own, that of MultiCogEval, and that of its published code."""
NO_ORDERS = "not_ordered_here"
"""Reason of scores about orders in a scenario that has none."""

NOTHING_REPORTED = "nothing_reported"
"""Reason of a share of results in an episode in which the doctor saw none."""

_OUTCOME = (
    Measure("diagnosis_accuracy", "Diagnosis accuracy", "share", True, True),
    Measure("treatment_accuracy", "Treatment accuracy", "share", True, True),
    Measure("question_accuracy", "Question accuracy", "share", True),
    Measure("question_guessed", "Answers drawn by chance, published rules", "share"),
    Measure("question_followed_hint", "Wrong hints followed", "share"),
    Measure("question_kept_answer", "Old answer kept after a fact was changed", "share"),
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
    Measure("test_cost", "Cost of tests, in points", "points"),
    Measure("case_cost_usd", "Cost of the case", "usd", True),
    Measure("known_cost_usd", "Cost of the case, at least", "usd"),
    Measure("most_cost_usd", "Cost of the case, at most", "usd"),
    Measure("tests_cost_usd", "Cost of its tests", "usd"),
    Measure("visits_cost_usd", "Cost of its visits", "usd"),
    Measure("visits", "Visits", "count"),
    Measure("unpriced_orders", "Tests without a known price", "count"),
    Measure("premature_closing", "Concluded before all deciding findings were seen", "share"),
    Measure("deciding_seen", "Deciding findings seen before the conclusion", "share"),
    Measure("repeat_requests", "Requests for what was known", "share"),
    Measure("assumed_answers", "Answers assumed normal", "share"),
    Measure("invented_answers", "Results seen that the examiner's model invented", "share"),
    Measure("invented_leaks", "Invented results that name the diagnosis", "count"),
    Measure("declined_answers", "Invented results not passed on", "count"),
    Measure("misstated_facts", "Facts that the patient misstated", "count"),
    Measure("corrected_facts", "Misstated facts that the patient corrected", "count"),
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
    Measure("failed_roles", "Roles of the team that failed", "count"),
    Measure("model_seconds", "Time in model calls", "seconds"),
    Measure("episode_seconds", "Duration", "seconds"),
)

MEASURES: tuple[Measure, ...] = (*_OUTCOME, *_EXAMINATIONS, *_USAGE)
"""The scores that need no judge."""

_LISTED = (
    *_OUTCOME,
    *OPEN_ANSWERS,
    *WHOLE,
    *REASONING,
    *OPINIONS,
    *ASSESSMENT,
    *_EXAMINATIONS,
    *JUDGES,
    *_USAGE,
    *PUBLISHED,
)
_BY_NAME = {measure.name: measure for measure in _LISTED}
_PLACE = {measure.name: place for place, measure in enumerate(_LISTED)}
_FAMILY = 1000  # larger than the number of names
_ROLE = re.compile(r"role_(calls|tokens|cost)_([a-z]\w*)")
_ROLE_UNITS: dict[str, tuple[str, Unit]] = {
    "calls": ("Calls of {}", "count"),
    "tokens": ("Tokens of {}", "tokens"),
    "cost": ("Cost of calls of {}", "usd"),
}
_TOP = re.compile(r"diagnosis_top_([1-9]\d{0,4})")


def measure_of(name: str) -> Measure:
    """Return the measure of that name. A plug-in's score goes by its own name and has no unit."""
    if listed := _BY_NAME.get(name):
        return listed
    if top := _TOP.fullmatch(name):
        return Measure(name, f"Diagnosis among the first {top[1]}", "share", True, True)
    if role := _ROLE.fullmatch(name):
        label, unit = _ROLE_UNITS[role[1]]
        return Measure(name, label.format(f"the role {role[2]}"), unit, role[1] == "cost")
    if staged := staged_measures(name):
        return staged[2]
    return Measure(name, name.replace("_", " "), "")


def is_house(name: str) -> bool:
    """Whether a score of that name belongs to Wardround."""
    return name in _BY_NAME or any(form.fullmatch(name) for form in (_TOP, _ROLE)) or staged_measures(name) is not None


def place_of(name: str) -> tuple[int, str]:
    """Return the sort key of a score in reports: Wardround's own as listed, then stages, turns, and others by name."""
    if name in _PLACE:
        return _PLACE[name], name
    if top := _TOP.fullmatch(name):
        return _PLACE["answers_given"], f"{int(top[1]):6}"
    if role := _ROLE.fullmatch(name):
        return _PLACE["failed_roles"], f"{list(_ROLE_UNITS).index(role[1])} {role[2]}"
    if staged := staged_measures(name):
        return _FAMILY * (1 + staged[0]) + staged[1], name
    return _FAMILY**3, name


UNDEFINED = JUDGED_UNDEFINED | frozenset(
    {
        "nothing_recorded",
        "nothing_ordered",
        NOTHING_REPORTED,
        NO_ORDERS,
        "unstructured",
        "no_replies",
        "no_truth",
        "unknown_price",
        "unpriced_order",
        "no_bill",
        "truth_unknown",
        "no_diagnosis",
        "no_rubric",
        "no_positive_points",
        "no_checklist",
        "not_asked",
        "unknown_category",
        "closed_question",
        "not_generation",
        "generation_scale",
    }
)
"""Reasons why a score does not exist: there was nothing to measure, and nothing failed."""


def format_value(name: str, value: float | None, *, one: bool = False) -> str:
    """Format a value for people: 0.873, 12.4, 1,204, $0.0312, 4.1 s, 0.24 ms; a dash for None.

    `one`: the value belongs to a single episode and is no mean, so a count has no decimals.
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
        return f"{value:,.0f}" if one and value == int(value) else f"{value:z,.1f}"
    return f"{value:z.3f}"
