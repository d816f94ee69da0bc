"""Loads FHIR R4 bundles: Patient, Condition, Observation, DiagnosticReport and ImagingStudy as one patient's case."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Culture, Finding, Investigation, Lab, Provenance, Study, Truth
from wardround.scenarios.loaders.source import Loader, Refused
from wardround.scenarios.loaders.values import Flag, day_of, diagnosis_names, group

_FLAGS: Mapping[str, Flag] = {
    "H": "high", "HH": "high", "HU": "high", "L": "low", "LL": "low", "LU": "low", "N": "normal", "A": "abnormal",
    "AA": "abnormal", "POS": "abnormal", "NEG": "normal",
}  # fmt: skip
_MODALITIES = {
    "CR": "Radiograph", "DX": "Radiograph", "RG": "Radiograph", "CT": "CT", "MR": "MRI", "US": "Ultrasound",
    "MG": "Mammography", "NM": "Nuclear medicine", "PT": "PET", "XA": "Angiography", "RF": "Fluoroscopy",
}  # fmt: skip
_SYSTEMS = {
    "http://snomed.info/sct": "SNOMED",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD10CM",
    "http://hl7.org/fhir/sid/icd-10": "ICD10",
    "http://hl7.org/fhir/sid/icd-9-cm": "ICD9CM",
}
_QUALIFIER = re.compile(r"\s*\((?:disorder|finding|situation|procedure|morphologic abnormality)\)$")
_MICROBIOLOGY = re.compile(r"(?i)\bcultur\w*|gram stain|microscopy|\bbacteria")
_IMAGING = re.compile(
    r"(?i)\b(?:x-?ray|radiograph|ct\b|mri\b|ultraso\w+|mammogra\w+|echocardiogra\w+|imaging|radiology)"
)
_REFUTED = frozenset({"refuted", "entered-in-error"})

Resource = Mapping[str, Json]


class FhirBundles(Loader):
    """FHIR R4 bundles, one file a patient, or one bundle a line."""

    TITLE = "FHIR R4 Bundle JSON, one object with resourceType Bundle"
    SINGLE = True
    MARK = '"resourceType"'

    def knows(self, record: Json) -> float:
        """Match a bundle."""
        return float(isinstance(record, dict) and record.get("resourceType") == "Bundle")

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a bundle; raises Refused without a patient, or with several, or without a diagnosis."""
        del name
        entries = list(_resources(record))
        people = [(at, one) for at, one in entries if one.get("resourceType") == "Patient"]
        if len(people) != 1:
            raise Refused([("entry", f"must hold one Patient, holds {len(people)}; write one bundle a patient")])
        patient = people[0][1]
        main, at_main = _principal(entries)
        label, code = _named(main.get("code"))
        if not label:
            raise Refused([(f"entry[{at_main}].resource.code", "names no diagnosis: it has neither text nor display")])
        if not (patient.get("gender") or patient.get("birthDate")):
            raise Refused([(f"entry[{people[0][0]}].resource", "tells neither gender nor birthDate")])
        when = day_of(main.get("onsetDateTime") or main.get("recordedDate"))
        who = _who(patient, when)
        diagnosis, synonyms = diagnosis_names(_QUALIFIER.sub("", label))
        others = [
            _QUALIFIER.sub("", text)
            for _, one in entries
            if one.get("resourceType") == "Condition" and one is not main and _counts(one)
            if (text := _named(one.get("code"))[0]) and text != label
        ]
        labs, findings, cultures, studies, texts = _results(entries)
        complaint = _complaint(entries)
        history = {"Symptoms": complaint} if complaint else {}
        if others:
            history["Other conditions"] = "; ".join(dict.fromkeys(others))
        return Case(
            id=str(record.get("id") or patient.get("id") or f"fhir-{number:03d}"),
            opening=f"{who}{f' {complaint}.' if complaint else ''}",
            complaint=f"{who}{f' {complaint}.' if complaint else ''}",
            opening_source="structured",
            history=history,
            examination=tuple(findings),
            labs=tuple(sorted(labs, key=lambda lab: lab.time)),
            microbiology=tuple(cultures),
            imaging=tuple(studies),
            investigations=tuple(texts),
            truth=Truth(diagnosis=diagnosis, synonyms=synonyms, codes=(code,) if code else ()),
            group=group(diagnosis),
            provenance=Provenance(source="FHIR R4", record=str(patient.get("id") or ""), dated=when),
            data_class="restricted",
        )


def _resources(record: Json) -> Iterator[tuple[int, Resource]]:
    """(place, resource) of each entry of a bundle."""
    entries = record.get("entry")
    if not isinstance(entries, list) or not entries:
        raise Refused([("entry", "is missing or empty")])
    for at, entry in enumerate(entries):
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if isinstance(resource, dict):
            yield at, resource


def _principal(entries: Sequence[tuple[int, Resource]]) -> tuple[Resource, int]:
    """The Condition that is the diagnosis: an encounter's principal one, else the last recorded one."""
    conditions = [(at, one) for at, one in entries if one.get("resourceType") == "Condition" and _counts(one)]
    if not conditions:
        raise Refused([("entry", "holds no Condition that is not refuted, so there is no diagnosis")])
    ranked: list[str] = []
    for _, one in entries:
        listed = one.get("diagnosis") if one.get("resourceType") == "Encounter" else None
        for part in listed if isinstance(listed, list) else []:
            target = part.get("condition", {}).get("reference") if isinstance(part, dict) else None
            if isinstance(target, str) and part.get("rank", 1) == 1:
                ranked.append(target.rpartition("/")[2].rpartition(":")[2])
    for at, one in conditions:
        if one.get("id") in ranked:
            return one, at
    diseases = [
        (at, one) for at, one in conditions if not re.search(r"\((?:finding|situation)\)", _named(one.get("code"))[0])
    ]
    at, one = max(
        diseases or conditions, key=lambda pair: str(pair[1].get("recordedDate") or pair[1].get("onsetDateTime") or "")
    )
    return one, at


def _counts(condition: Resource) -> bool:
    status = condition.get("verificationStatus")
    codes = {str(part.get("code")) for part in _codings(status)}
    return not codes & _REFUTED


def _codings(concept: Json) -> list[Resource]:
    listed = concept.get("coding") if isinstance(concept, dict) else None
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _named(concept: Json) -> tuple[str, str]:
    """(text, 'SYSTEM:CODE') of a CodeableConcept."""
    text = str(concept.get("text") or "").strip() if isinstance(concept, dict) else ""
    codings = _codings(concept)
    shown = next((str(one["display"]).strip() for one in codings if one.get("display")), "")
    code = next(
        (f"{_SYSTEMS[str(one.get('system'))]}:{one['code']}" for one in codings
         if one.get("code") and str(one.get("system")) in _SYSTEMS),
        "",
    )  # fmt: skip
    return text or shown, code


def _results(
    entries: Sequence[tuple[int, Resource]],
) -> tuple[list[Lab], list[Finding], list[Culture], list[Study], list[Investigation]]:
    """The results of a bundle by kind."""
    labs: list[Lab] = []
    findings: list[Finding] = []
    cultures: list[Culture] = []
    studies: list[Study] = []
    texts: list[Investigation] = []
    for _, one in entries:
        kind, name = one.get("resourceType"), _named(one.get("code"))[0]
        if kind == "Observation" and name and one.get("status") not in ("entered-in-error", "cancelled"):
            category = {str(code.get("code")) for part in one.get("category") or [] for code in _codings(part)}
            for label, value, unit in _values(name, one):
                if "vital-signs" in category or "exam" in category:
                    findings.append(Finding(section=label, text=f"{value} {unit}".strip()))
                elif _MICROBIOLOGY.search(label):
                    cultures.append(Culture(test=label, comment=value, time=_time(one)))
                elif "social-history" in category or "survey" in category:
                    continue
                else:
                    low, high = _range(one)
                    flag: Flag = next((_FLAGS[code] for code in _interpreted(one) if code in _FLAGS), "")
                    labs.append(Lab(name=label, value=value, unit=unit, low=low, high=high, flag=flag, time=_time(one)))
        elif kind == "ImagingStudy":
            studies.append(_study(one))
        elif kind == "DiagnosticReport" and name and (said := _said(one)):
            if _IMAGING.search(name):
                studies.append(Study(exam=name, report=said, time=_time(one)))
            elif not re.search(r"(?i)history and physical|plan note|progress note|discharge", name):
                texts.append(Investigation(name=name, text=said))
    reported = [study for study in studies if study.report != _NO_REPORT]
    return labs, findings, cultures, reported or studies, texts


_NO_REPORT = "The study was done; the record holds no report of it."


def _study(one: Resource) -> Study:
    series = [part for part in one.get("series") or [] if isinstance(part, dict)]
    coded = [part.get("modality") for part in series] + list(one.get("modality") or [])
    codes = [str(part.get("code")) for part in coded if isinstance(part, dict) and part.get("code")]
    modality = next((_MODALITIES.get(code, code) for code in codes), "")
    sites = [part["bodySite"] for part in series if isinstance(part.get("bodySite"), dict)]
    region = next((str(site["display"]) for site in sites if site.get("display")), "")
    procedures = [_named(part)[0] for part in one.get("procedureCode") or []]
    name = str(
        one.get("description") or next(filter(None, procedures), "") or f"{modality} {region}".strip() or "Imaging"
    )
    notes = [str(note["text"]) for note in one.get("note") or [] if isinstance(note, dict) and note.get("text")]
    return Study(
        exam=_QUALIFIER.sub("", name),
        modality=modality,
        region=region,
        report=" ".join(notes) or _NO_REPORT,
        time=_time(one),
    )


def _values(name: str, one: Resource) -> Iterator[tuple[str, str, str]]:
    """(name, value, unit) of an observation and its components."""
    value, unit = _value(one)
    if value:
        yield name, value, unit
    for part in one.get("component") or []:
        label = _named(part.get("code"))[0] if isinstance(part, dict) else ""
        value, unit = _value(part) if label else ("", "")
        if value:
            yield label, value, unit


def _value(one: Resource) -> tuple[str, str]:
    quantity = one.get("valueQuantity")
    if isinstance(quantity, dict) and quantity.get("value") is not None:
        number = f"{quantity['value']:g}" if isinstance(quantity["value"], float) else str(quantity["value"])
        unit = str(quantity.get("unit") or quantity.get("code") or "")
        return f"{quantity.get('comparator', '')}{number}", re.sub(r"^\{[^}]*\}$", "", unit)
    if one.get("valueCodeableConcept"):
        return _QUALIFIER.sub("", _named(one["valueCodeableConcept"])[0]), ""
    for field in ("valueString", "valueInteger", "valueBoolean"):
        if one.get(field) is not None:
            return str(one[field]).strip(), ""
    return "", ""


def _range(one: Resource) -> tuple[float | None, float | None]:
    ranges = one.get("referenceRange")
    first = ranges[0] if isinstance(ranges, list) and ranges and isinstance(ranges[0], dict) else {}
    ends = []
    for end in ("low", "high"):
        value = first.get(end, {}).get("value") if isinstance(first.get(end), dict) else None
        ends.append(float(value) if isinstance(value, int | float) else None)
    return ends[0], ends[1]


def _interpreted(one: Resource) -> list[str]:
    return [str(code.get("code")) for part in one.get("interpretation") or [] for code in _codings(part)]


def _said(report: Resource) -> str:
    """The text of a report: its conclusion, else its attached plain text."""
    if report.get("conclusion"):
        return str(report["conclusion"]).strip()
    for form in report.get("presentedForm") or []:
        if isinstance(form, dict) and str(form.get("contentType", "")).startswith("text/plain") and form.get("data"):
            try:
                return base64.b64decode(str(form["data"]), validate=True).decode("utf-8").strip()
            except (binascii.Error, UnicodeDecodeError):
                return ""
    return ""


def _complaint(entries: Sequence[tuple[int, Resource]]) -> str:
    """The reason of the last encounter that states one in words."""
    reasons = [
        text
        for _, one in entries
        if one.get("resourceType") == "Encounter"
        for part in one.get("reasonCode") or []
        if (text := _named(part)[0]) and re.search(r"\(finding\)|\bsymptom|pain|cough|fever", text)
    ]
    return _QUALIFIER.sub("", reasons[-1]) if reasons else ""


def _time(one: Resource) -> str:
    said = str(one.get("effectiveDateTime") or one.get("started") or one.get("issued") or "")
    try:
        return datetime.fromisoformat(said).replace(tzinfo=None).isoformat() if len(said) > 9 else ""
    except ValueError:
        return ""


def _who(patient: Resource, when: date | None) -> str:
    sex = {"female": ("girl", "woman"), "male": ("boy", "man")}.get(str(patient.get("gender")), ("child", "patient"))
    born = day_of(patient.get("birthDate"))
    if born is None or when is None or when < born:
        return f"A {sex[1]}."
    years = when.year - born.year - ((when.month, when.day) < (born.month, born.day))
    return f"{'An' if re.match('8|11$|18$', str(years)) else 'A'} {years}-year-old {sex[years >= 18]}."
