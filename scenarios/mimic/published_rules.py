"""The rules of MultiCogEval's published code, as far as its test vectors show them (docs/records.md)."""

import re
from collections.abc import Callable
from dataclasses import replace

from wardround.scenarios.case import Finding, Study
from wardround.scenarios.mimic.case_draft import AdmissionDraft
from wardround.scenarios.mimic.record_items import placed
from wardround.scenarios.mimic.rules import (
    NEARBY,
    BuildConditions,
    BuildRule,
    coded_rules,
    first_results,
    record_rules,
    with_nearby,
    with_results,
    without_cancelled,
)
from wardround.scenarios.published import admissions
from wardround.scenarios.published.admissions import radiology_sections, radiology_text
from wardround.scenarios.published.imaging_words import Absent, ImagingTables, radiology_name

BLANK = "____"
"""What the published code puts in the place of a name."""


def published_rules(conditions: BuildConditions, tables: ImagingTables | None) -> tuple[BuildRule, ...]:
    """The published rules in their order, without those of the last stage ('pool').

    `tables` are the published look-up tables of exam names (`--lookup DIR`); without them our own tables give modality
    and region. For a copy without notes there are no published rules: the default rules apply, with the first result of
    each test only.
    """
    if not conditions.notes:
        return (*coded_rules(conditions), *record_rules(BuildConditions(conditions.pool, notes=False, series=False)))
    return (*coded_rules(conditions), *_note_rules(conditions), *_record_rules(tables))


def _note_rules(conditions: BuildConditions) -> tuple[BuildRule, ...]:
    names = [disease.name.lower() for disease in conditions.pool.diseases]

    def first(draft: AdmissionDraft) -> AdmissionDraft | None:
        said = stated_diagnosis(draft.text)
        pool = (draft.leading,) if conditions.takes_all and draft.leading else draft.coded
        fits = [disease for disease in pool if disease and admissions.is_primary(disease.name, said)]
        fits.sort(key=lambda disease: said.lower().find(disease.name.lower()))
        return replace(draft, disease=fits[0]) if fits else None

    def only(draft: AdmissionDraft) -> AdmissionDraft | None:
        said, own = stated_diagnosis(draft.text).lower(), draft.disease.name.lower() if draft.disease else ""
        return None if any(name in said and name not in own and own not in name for name in names) else draft

    rules = [
        BuildRule("note", "it has a discharge note", "note", lambda d: d if d.text else None),
        BuildRule("label_first", "the name stands in the discharge diagnosis, before 'secondary'", "note", first),
        BuildRule("history", "the note has the heading of the history", "note", _with_history),
    ]
    if not conditions.takes_all:
        rules.append(BuildRule("one_disease", "no other pool name in the discharge diagnosis", "note", only))
    return tuple(rules)


def _with_history(draft: AdmissionDraft) -> AdmissionDraft | None:
    return draft if admissions.has_history(draft.text) else None


def _record_rules(tables: ImagingTables | None) -> tuple[BuildRule, ...]:
    return (
        BuildRule("nearby", NEARBY, "record", with_nearby),
        BuildRule("cancelled", "cancelled cultures are left out", "record", without_cancelled),
        BuildRule("first_results", "only the first result of each test is kept", "record", first_of_item),
        BuildRule("informative", "reports without the sections that tell the reading", "record", _informative(tables)),
        BuildRule("history_leak", "the history is not empty and does not hold the name", "record", unnamed_in_history),
        BuildRule("leaks", "the name is blanked in examination and reports", "record", masked_name),
    )


def stated_diagnosis(text: str) -> str:
    """The discharge diagnosis; '' if the published code cannot locate it."""
    try:
        return admissions.discharge_diagnosis(text)
    except Absent:
        return ""


def history_section(text: str) -> dict[str, str]:
    """The history as one section."""
    history = admissions.history_text(text).strip()
    return {"History of Present Illness": history} if history else {}


def examined(text: str) -> tuple[Finding, ...]:
    """The examination as one finding."""
    body = admissions.examination(text).strip()
    return (Finding(section="Physical examination", text=body),) if body else ()


def first_of_item(draft: AdmissionDraft) -> AdmissionDraft:
    """Keep the first result of each laboratory item and of each microbiology test, whatever the specimen."""
    kept = first_results(draft)
    first: dict[object, int] = {}
    for place, culture in enumerate(kept.results.cultures):
        first.setdefault(culture.item_id, place)
    cultures = tuple(kept.results.cultures[place] for place in first.values())
    return with_results(kept, replace(kept.results, cultures=cultures))


def _informative(tables: ImagingTables | None) -> Callable[[AdmissionDraft], AdmissionDraft]:
    def apply(draft: AdmissionDraft) -> AdmissionDraft:
        studies = []
        for report in draft.results.reports:
            said = radiology_text(radiology_sections(report.text)) if report.text.strip() else ""
            modality, region = _placed(report.exam, tables)
            if said and modality and region:
                studies.append(Study(exam=report.exam, modality=modality, region=region, report=said, time=report.time))
        return with_results(draft, replace(draft.results, studies=tuple(studies)))

    return apply


def _placed(exam: str, tables: ImagingTables | None) -> tuple[str, str]:
    if not exam or tables is None:
        return placed(exam) if exam else ("", "")
    read = radiology_name(exam, tables)
    return (read.modality, read.region) if all(read.counts) else ("", "")


def unnamed_in_history(draft: AdmissionDraft) -> AdmissionDraft | None:
    """The draft; None if its history is empty or contains the name of its disease literally."""
    name = draft.disease.name if draft.disease else ""
    history = "\n".join(draft.history.values())
    return None if not history or (name and re.search(re.escape(name), history, re.IGNORECASE)) else draft


def masked_name(draft: AdmissionDraft) -> AdmissionDraft:
    """The draft with the literal name of its disease blanked in examination and reports."""
    if not draft.disease:
        return draft
    name = re.compile(re.escape(draft.disease.name), re.IGNORECASE)
    studies = (study.model_copy(update={"report": name.sub(BLANK, study.report)}) for study in draft.results.studies)
    after = replace(
        draft,
        examination=tuple(part.model_copy(update={"text": name.sub(BLANK, part.text)}) for part in draft.examination),
        results=replace(draft.results, studies=tuple(studies)),
    )
    return draft if after == draft else after
