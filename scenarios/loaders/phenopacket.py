"""Loads phenopackets (GA4GH schema 2, or the shared short form): present and absent findings of a patient."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import Case, Category, Finding, Investigation, Provenance, Truth
from wardround.scenarios.loaders.source import Loader, Refused, misfit
from wardround.scenarios.loaders.values import group

_SPAN = regex(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?")
_LABORATORY = regex(
    r"(?i)\b(?:concentration|level|circulating|serum|blood|plasma|urin\w+|emia|uria|count|antibod\w+|activity|biopsy"
    r"|eeg|mri|electro\w+|radiograph\w*|imaging|ultraso\w+)\b|\w+(?:emia|uria|penia|cytosis)\b"
)
_ASKED = regex(
    r"(?i)\b(?:pain|ache|seizures?|vomiting|nausea|fatigue|delay|difficult\w*|weakness|blindness|hearing|vision|diarrhea"
    r"|fever|cough|sleep|irritab\w+|behavio\w+|regress\w+|speech|feeding|walk\w*|nyctalopia|dyspnea|headache|vertigo"
    r"|constipation|itch\w*|pruritus|bleeding|bruis\w+|infections?|onset|anxiety|depress\w+|autis\w+|polydipsia)\b"
)


_SHAPES: Mapping[str, type] = {
    **dict.fromkeys(("phenotypicFeatures", "features", "diseases", "disease", "interpretations", "refs"), list),
    **dict.fromkeys(("subject", "metaData"), dict),
}


class Phenopackets(Loader):
    """Phenopackets: one JSON file a patient, or one object a line."""

    TITLE = "phenopackets JSON, one object with phenotypicFeatures (or features) and its disease"
    MARK = '"phenotypicFeatures"'

    def knows(self, record: Json) -> float:
        """Match an object with phenotypic features."""
        if not isinstance(record, dict):
            return 0.0
        if "phenotypicFeatures" in record or {"features", "disease", "sex"} <= record.keys():
            return 1.0
        return 0.6 if "subject" in record and record.keys() & {"diseases", "interpretations"} else 0.0

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a packet; raises Refused without a disease or without a present finding."""
        stated = ((field, record[field], kind) for field, kind in _SHAPES.items() if record.get(field) is not None)
        if wrong := [(field, why) for field, value, kind in stated if (why := misfit(value, kind, may_be_empty=True))]:
            raise Refused(wrong)
        code, disease = _disease(record)
        findings = _Findings(*_features(record))
        wrong = [] if disease else [("diseases", "names no disease")]
        if not findings.present:
            wrong.append(("phenotypicFeatures", "holds no present finding with a label"))
        case_id = record.get("id")
        if not isinstance(case_id, str) or not case_id.strip():
            wrong.append(("id", "is missing"))
        if wrong:
            raise Refused(wrong)
        who = _who(record)
        without_number = re.sub(r"(?:,|\s)\s*(?:type\s+)?(?:[IVX]+|\d+)[A-Z]?$", "", disease)
        return Case(
            id=str(case_id),
            opening=f"{who} Reported: {'; '.join(findings.reported)}.",
            complaint=f"{who} {findings.reported[0]}.",
            opening_source="composed",
            history=findings.history(),
            examination=findings.examination(),
            investigations=tuple(Investigation(name=label, text="found") for label in findings.tested),
            truth=Truth(
                diagnosis=disease,
                synonyms=(without_number,) if without_number != disease else (),
                codes=(code,) if code else (),
            ),
            group=group(disease),
            category=Category(rare=True),
            provenance=Provenance(source="phenopacket-store", record=_reference(record), licence="BSD-3-Clause"),
            data_class="public",
        )


@dataclass(frozen=True)
class _Findings:
    """The labels of a packet's present and absent findings, told apart by who learns of them."""

    present: Sequence[str]
    absent: Sequence[str]

    @cached_property
    def reported(self) -> Sequence[str]:
        """What the patient reports; at least the first finding."""
        return [label for label in self.present if _ASKED.search(label)] or self.present[:1]

    @cached_property
    def tested(self) -> Sequence[str]:
        """What a test shows."""
        return [label for label in self.present if label not in self.reported and _LABORATORY.search(label)]

    def history(self) -> dict[str, str]:
        """What the patient reports and denies."""
        denied = "; ".join(label for label in self.absent if _ASKED.search(label))
        return {"Symptoms": "; ".join(self.reported)} | ({"Not present": denied} if denied else {})

    def examination(self) -> tuple[Finding, ...]:
        """The remaining findings."""
        elsewhere = {*self.reported, *self.tested}
        return (
            *(Finding(section=label, text="present") for label in self.present if label not in elsewhere),
            *(Finding(section=label, text="absent", normal=True) for label in self.absent if not _ASKED.search(label)),
        )


def _features(record: Mapping[str, Json]) -> tuple[Sequence[str], Sequence[str]]:
    """The labels of the present and of the excluded findings."""
    listed = record.get("phenotypicFeatures", record.get("features"))
    labels: tuple[list[str], list[str]] = ([], [])
    for one in listed if isinstance(listed, list) else []:
        term = one.get("type") if isinstance(one, dict) and isinstance(one.get("type"), dict) else one
        if isinstance(term, dict) and (label := str(term.get("label") or "").strip()):
            labels[one.get("excluded") is True].append(label)
    return labels


def _disease(record: Mapping[str, Json]) -> tuple[str, str]:
    """(code, label) of the disease: the solved interpretation, else the first disease that is not excluded."""
    for one in record.get("interpretations") or []:
        diagnosis = one.get("diagnosis") if isinstance(one, dict) else None
        disease = diagnosis.get("disease") if isinstance(diagnosis, dict) else None
        if isinstance(disease, dict) and disease.get("label"):
            return str(disease.get("id") or ""), str(disease["label"])
    for one in record.get("diseases") or record.get("disease") or []:
        term = one.get("term", one) if isinstance(one, dict) and not one.get("excluded") else {}
        if isinstance(term, dict) and term.get("label"):
            return str(term.get("id") or ""), str(term["label"])
    return "", ""


def _who(record: Mapping[str, Json]) -> str:
    raw = record.get("subject")
    subject: Mapping[str, Json] = raw if isinstance(raw, dict) else record
    sex = {"FEMALE": "girl or woman", "MALE": "boy or man"}.get(str(subject.get("sex")), "patient")
    last = subject.get("timeAtLastEncounter") or subject.get("age") or {}
    age = last.get("age", last) if isinstance(last, dict) else last
    span = _SPAN.fullmatch(str(age.get("iso8601duration") if isinstance(age, dict) else age))
    if not span or not any(span.groups()):
        return f"A {sex}."
    if " or " in sex:
        sex = sex.split(" or ")[int(span[1] or 0) >= 18]
    units = zip(("year", "month", "week", "day"), span.groups(), strict=True)
    unit, value = next(((unit, value) for unit, value in units if value and int(value)), ("day", "0"))
    return f"A {value}-{unit}-old {sex}."


def _reference(record: Mapping[str, Json]) -> str:
    meta = record.get("metaData")
    listed = meta.get("externalReferences") if isinstance(meta, dict) else record.get("refs")
    first = listed[0] if isinstance(listed, list) and listed else ""
    return str(first.get("id", "") if isinstance(first, dict) else first)
