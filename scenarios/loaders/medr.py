"""Loads MedR-Bench cases (JSON object of case reports by PMC number), for diagnosis and for treatment."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Category, Provenance, Truth, split_report
from wardround.scenarios.loaders.oddities import in_name
from wardround.scenarios.loaders.source import FieldFault, Loader, Refused, misfit
from wardround.scenarios.loaders.values import diagnosis_names, group, investigations, report_parts

SOURCE = "MedR-Bench"
LICENCE = "see the data set; the reports are open-access articles of PubMed Central"


def medr_case(case_id: str, record: Json) -> Case:
    """The case of one entry; raises Refused with all faults. Layout: MedR-Bench, section 10.2.

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
    report = CaseReport(
        case_id,
        texts["case_summary"],
        category,
        Provenance(source=SOURCE, record=case_id, dated=dated, licence=LICENCE),
    )
    if treats:
        return report.treatment_case(texts["treatment_plan_results"], texts["treatment_planning_analysis"])
    if not split_report(report.summary)[0].strip():
        raise Refused([("generate_case.case_summary", "says nothing before its ancillary tests")])
    return report.diagnosis_case(texts["diagnosis_results"], texts["differential_diagnosis"], texts["final_diagnosis"])


@dataclass(frozen=True)
class CaseReport:
    """A case report in the parts that MedR-Bench divides it into; curated reports have the same parts."""

    id: str
    summary: str
    category: Category
    provenance: Provenance
    data_class: Literal["public", "restricted"] = "public"

    def diagnosis_case(self, answer: str, differential: str, reasoning: str, *, parted: bool = True) -> Case:
        """The case whose truth is the diagnosis that `answer` names.

        `parted` divides the opening into complaint, history and examination.
        """
        opening, ancillary = split_report(self.summary)
        parts = report_parts(opening if parted else "")
        diagnosis, synonyms = diagnosis_names(answer)
        return Case(
            id=self.id,
            opening=opening,
            complaint=parts.complaint,
            history=parts.history,
            examination=parts.examination,
            ancillary=ancillary,
            investigations=investigations(ancillary),
            truth=Truth(
                diagnosis=diagnosis,
                synonyms=synonyms,
                differential=differential.strip(),
                reasoning=reasoning.strip(),
            ),
            group=group(diagnosis),
            category=self.category,
            provenance=self.provenance,
            data_class=self.data_class,
        )

    def treatment_case(self, plan: str, reasoning: str) -> Case:
        """The case whose truth is the plan; its whole summary is open."""
        return Case(
            id=self.id,
            opening=self.summary.strip("\n"),
            truth=Truth(treatment=plan.strip(), reasoning=reasoning.strip()),
            category=self.category,
            provenance=self.provenance,
            data_class=self.data_class,
        )


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
