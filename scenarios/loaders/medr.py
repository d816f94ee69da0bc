"""Loads MedR-Bench cases (JSON object of case reports by PMC number), for diagnosis and for treatment."""

from collections.abc import Mapping
from datetime import date

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Category, Provenance, Truth, split_report
from wardround.scenarios.loaders.oddities import in_name
from wardround.scenarios.loaders.source import FieldFault, Loader, Refused, misfit
from wardround.scenarios.loaders.values import diagnosis_names, group, investigations, report_parts

SOURCE = "MedR-Bench"
LICENCE = "see the data set; the reports are open-access articles of PubMed Central"


def medr_case(case_id: str, record: Json) -> Case:
    """The case of one entry; raises Refused with all faults. Layout: paper 002, section 10.2.

    An entry with `treatment_plan_results` is a treatment case: its whole summary is open, the plan is the truth.
    """
    wrong: list[FieldFault] = [("id", why)] if (why := in_name(case_id)) else []
    inner = _inner(record, wrong)
    treats = "treatment_plan_results" in inner
    wanted = ("treatment_plan_results", "treatment_planning_analysis") if treats else _DIAGNOSIS
    texts = {name: _text(inner, name, wrong, needed=name in _NEEDED) for name in ("case_summary", *wanted)}
    if wrong:
        raise Refused(wrong)
    category = _category(record, wrong)
    dated = _dated(record.get("receive_time"), wrong)
    if wrong:
        raise Refused(wrong)
    where = Provenance(source=SOURCE, record=case_id, dated=dated, licence=LICENCE)
    make_case = _treatment_case if treats else _diagnosis_case
    return make_case(case_id, texts, category, where)


class MedRBench(Loader):
    """MedR-Bench's case reports."""

    TITLE = "MedR-Bench JSON, one object of cases by id, each with generate_case"
    WHOLE = True
    MARK = '"generate_case"'

    def knows(self, record: Json) -> float:
        """Match an object of entries with a generated case."""
        entries = record.values() if isinstance(record, dict) else ()
        return 0.9 if any(isinstance(entry, dict) and "generate_case" in entry for entry in entries) else 0.0

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of an entry."""
        return medr_case(name, record)


_DIAGNOSIS = ("diagnosis_results", "differential_diagnosis", "final_diagnosis")
_NEEDED = ("case_summary", "diagnosis_results", "treatment_plan_results")


def _diagnosis_case(case_id: str, texts: Mapping[str, str], category: Category, where: Provenance) -> Case:
    opening, ancillary = split_report(texts["case_summary"])
    if not opening.strip():
        raise Refused([("generate_case.case_summary", "says nothing before its ancillary tests")])
    diagnosis, synonyms = diagnosis_names(texts["diagnosis_results"])
    parts = report_parts(opening)
    return Case(
        id=case_id,
        opening=opening,
        complaint=parts.complaint,
        history=parts.history,
        examination=parts.examination,
        ancillary=ancillary,
        investigations=investigations(ancillary),
        truth=Truth(
            diagnosis=diagnosis,
            synonyms=synonyms,
            differential=texts["differential_diagnosis"].strip(),
            reasoning=texts["final_diagnosis"].strip(),
        ),
        group=group(diagnosis),
        category=category,
        provenance=where,
        data_class="public",
    )


def _treatment_case(case_id: str, texts: Mapping[str, str], category: Category, where: Provenance) -> Case:
    return Case(
        id=case_id,
        opening=texts["case_summary"].strip("\n"),
        truth=Truth(
            treatment=texts["treatment_plan_results"].strip(),
            reasoning=texts["treatment_planning_analysis"].strip(),
        ),
        category=category,
        provenance=where,
        data_class="public",
    )


def _inner(record: Json, wrong: list[FieldFault]) -> Mapping[str, Json]:
    inner = record.get("generate_case") if isinstance(record, dict) else None
    if not isinstance(inner, dict):
        raise Refused([("generate_case", "is missing, or no object")])
    if not any(name in inner for name in ("diagnosis_results", "treatment_plan_results")):
        wrong.append(
            ("generate_case", "has neither diagnosis_results (diagnosis) nor treatment_plan_results (treatment)")
        )
    return inner


def _text(inner: Mapping[str, Json], name: str, wrong: list[FieldFault], *, needed: bool) -> str:
    value = inner.get(name, None if needed else "")
    if why := misfit(value, str, may_be_empty=not needed):
        wrong.append((f"generate_case.{name}", why))
        return ""
    return str(value)


def _category(record: Mapping[str, Json], wrong: list[FieldFault]) -> Category:
    lists = {}
    for name in ("body_category", "disorder_category", "checked_rare_disease"):
        value = record.get(name)
        if value is not None and not (isinstance(value, list) and all(isinstance(part, str) for part in value)):
            wrong.append((name, "must be a list of texts"))
            value = None
        lists[name] = value
    rare = lists["checked_rare_disease"]
    return Category(
        body_systems=tuple(lists["body_category"] or ()),
        disorders=tuple(lists["disorder_category"] or ()),
        rare=None if rare is None else bool(rare),
    )


def _dated(value: Json, wrong: list[FieldFault]) -> date | None:
    """'2024-7-10' (the source does not pad) as a date; '2024-9' and '2024' mean the first day of the month or year."""
    if value is None or value == "":
        return None
    try:
        parts = [int(part) for part in str(value).split("-")]
        year, month, day = (*parts, 1, 1)[: max(3, len(parts))]
        return date(year, month, day)
    except ValueError:
        wrong.append(("receive_time", f"{value!r} is no date; it is written as 2024-7-10"))
        return None
