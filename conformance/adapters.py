"""Which function of the project answers which vector file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance import assessing, building, judging, loops, questions, requests, staged, transitions
from conformance.tables import Tables
from conformance.vector import Vector


@dataclass(frozen=True)
class Adapter:
    """`ours` computes the project's value; `theirs` puts the recorded one in the same form, if it has another."""

    ours: Callable[[Vector, Tables], Any]
    theirs: Callable[[Any, Vector], Any] | None = None


_ANSWERED: Mapping[str, Callable[[Vector, Tables], Any]] = {
    "multicog_lab_item_match": requests.item_match,
    "multicog_lab_micro_reply_parse": requests.list_parse,
    "multicog_image_reply_parse": requests.image_parse,
    "multicog_modality_region": requests.modality_region,
    "multicog_action_parser": requests.action,
    "multicog_diagnosis_match": requests.diagnosis,
    "multicog_recall_fullpath": requests.full_path,
    "multicog_extract_MCQ": questions.choice,
    "multicog_extract_SV": questions.statement,
    "multicog_extract_MR": questions.rectification,
    "multicog_extract_AE": questions.existence,
    "multicog_lowmid_accuracy": questions.accuracies,
    "mimic_discharge_sections": building.note_sections,
    "mimic_lab_value_string": building.lab_value,
    "mimic_radiology_text": building.report_text,
    "mimic_radiology_name_class": building.exam_name,
    "mimic_extract_info_general": building.records,
    "medr_ancillary_split": staged.ancillary_split,
    "medr_section_parse": staged.section_parse,
    "medr_split_reasoning": staged.steps,
    "medr_extract_answer": staged.answer,
    "medr_paper_ci": staged.printed_interval,
    "medr_reasoning_metrics": judging.reasoning,
    "medr_outcome_accuracy": judging.outcome,
    "medr_assessment_metrics": assessing.assessment,
}

ADAPTERS: Mapping[str, Adapter] = {
    **{name: Adapter(ours) for name, ours in _ANSWERED.items()},
    "multicog_transition": Adapter(transitions.transition, transitions.decided),
    "multicog_episodes": Adapter(transitions.episodes, transitions.concluded),
    "multicog_metrics": Adapter(questions.macro_means, questions.recorded_macro),
    "multicog_fewshot": Adapter(questions.demonstrations, questions.shown),
    "agentclinic_loop": Adapter(loops.consultation, loops.consulted),
    "medr_inference_loops": Adapter(loops.staged, loops.decided),
}
"""By the name of the file without its ending."""
