"""Reads one FHIR R4 resource: the names of its codes, its references, its times and its values."""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from datetime import datetime

import msgspec

from wardround.engine.records import Json
from wardround.scenarios.loaders.source import FieldFault, Refused, misfit
from wardround.scenarios.terms.wording import key

Resource = Mapping[str, Json]

_SYSTEMS = {
    "http://snomed.info/sct": "SNOMED",
    "http://hl7.org/fhir/sid/icd-10-cm": "ICD10CM",
    "http://hl7.org/fhir/sid/icd-10": "ICD10",
    "http://hl7.org/fhir/sid/icd-9-cm": "ICD9CM",
}
_QUALIFIER = re.compile(
    r"\s*\((?:disorder|finding|situation|procedure|morphologic abnormality|organism|substance|product)\)$"
)
_TIMES = (
    "effectiveDateTime", "effectiveInstant", "effectivePeriod", "started", "performedDateTime", "performedPeriod",
    "occurrenceDateTime", "onsetDateTime", "onsetPeriod", "recordedDate", "authoredOn", "dateAsserted", "period",
    "issued",
)  # fmt: skip
"""Where resources state when they took place, the most exact first."""


class BundleEntry(msgspec.Struct, frozen=True):
    """One entry of a bundle: its place, the ids by which others refer to it, and its resource."""

    at: int
    ids: frozenset[str]
    resource: Resource

    @property
    def kind(self) -> str:
        """The resource's type, 'Observation'."""
        return str(self.resource.get("resourceType") or "")


_SHAPES: Mapping[type, frozenset[str]] = {
    dict: frozenset({
        "clinicalStatus", "code", "effectivePeriod", "encounter", "onsetPeriod", "performedPeriod", "subject",
        "valueCodeableConcept", "valueQuantity", "verificationStatus",
    }),
    list: frozenset({
        "category", "component", "interpretation", "note", "performer", "presentedForm", "reasonCode",
        "referenceRange", "result", "series",
    }),
    str: frozenset({
        "authoredOn", "birthDate", "conclusion", "effectiveDateTime", "gender", "issued", "onsetDateTime",
        "recordedDate", "started", "status", "valueString",
    }),
}  # fmt: skip
"""The JSON types of fields that resources of a case have, as R4 defines them."""
_OF_A_CASE = frozenset({"Condition", "DiagnosticReport", "ImagingStudy", "Observation", "Patient"})


def misshapen(entry: BundleEntry) -> list[FieldFault]:
    """The fields of a resource that have another JSON type than R4 gives them."""
    return [
        (f"entry[{entry.at}].resource.{name}", why)
        for name, value in (entry.resource.items() if entry.kind in _OF_A_CASE else ())
        for kind, names in _SHAPES.items()
        if name in names and value is not None and (why := misfit(value, kind, may_be_empty=True))
    ]


def bundle_entries(bundle: Mapping[str, Json]) -> tuple[BundleEntry, ...]:
    """The entries of a bundle that hold a resource; raises Refused where there is no list of entries."""
    listed = bundle.get("entry")
    if not isinstance(listed, list) or not listed:
        raise Refused([("entry", "is missing or empty")])
    read = []
    for at, entry in enumerate(listed):
        resource = entry.get("resource") if isinstance(entry, dict) else None
        if isinstance(entry, dict) and isinstance(resource, dict):
            ids = {str(resource["id"])} if resource.get("id") else set()
            if entry.get("fullUrl"):
                ids.add(_last_part(str(entry["fullUrl"])))
            read.append(BundleEntry(at, frozenset(ids), resource))
    return tuple(read)


def objects(value: Json) -> list[Resource]:
    """The objects of a list, or the one object; what is no object is passed over."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, dict)]


def reference(value: Json) -> str:
    """The id that a reference names: 'c1' of {"reference": "Condition/c1"}; '' if it names none."""
    named = value.get("reference") if isinstance(value, dict) else None
    return _last_part(named) if isinstance(named, str) else ""


def _last_part(url: str) -> str:
    return url.split("/_history/", maxsplit=1)[0].rpartition("/")[2].rpartition(":")[2]


def concept_codes(concept: Json) -> tuple[str, ...]:
    """The bare codes of a CodeableConcept, or of several."""
    return tuple(
        str(coding["code"])
        for part in objects(concept)
        for coding in objects(part.get("coding"))
        if coding.get("code") is not None
    )


def name(concept: Json) -> str:
    """The text of a CodeableConcept, else the first display; without SNOMED's kind in brackets."""
    return _QUALIFIER.sub("", full_name(concept))


def full_name(concept: Json) -> str:
    """As `name`, with SNOMED's kind in brackets."""
    for part in objects(concept):
        text = str(part.get("text") or "").strip()
        shown = (str(one["display"]).strip() for one in objects(part.get("coding")) if one.get("display"))
        if said := text or next(shown, ""):
            return said
    return ""


def snomed_names(concept: Json) -> tuple[str, ...]:
    """SNOMED's own names of a CodeableConcept's codes; without those that only add words to its name or leave some out.

    'Acute myocardial infarction' is another name of 'Acute MI'; of 'Pneumonia after surgery' 'Pneumonia' is none. The
    titles of ICD are classes of diseases and no names.
    """
    words = set(key(name(concept)).split())
    codings = (one for part in objects(concept) for one in objects(part.get("coding")))
    shown = [_QUALIFIER.sub("", str(one.get("display") or "")) for one in codings if "snomed" in str(one.get("system"))]
    return tuple(one for one in dict.fromkeys(shown) if set(key(one).split()) - words and words - set(key(one).split()))


def disease_code(concept: Json) -> str:
    """'SNOMED:233604007' of a CodeableConcept that has a code of a known system of diseases; '' otherwise."""
    for part in objects(concept):
        for one in objects(part.get("coding")):
            if one.get("code") and str(one.get("system")) in _SYSTEMS:
                return f"{_SYSTEMS[str(one['system'])]}:{one['code']}"
    return ""


def stated_time(resource: Resource) -> str:
    """When a resource took place, in ISO form and as exactly as it says ('2013', '2013-04-02'); '' if it does not."""
    for field in _TIMES:
        value = resource.get(field)
        said = value.get("start") if isinstance(value, dict) else value
        if isinstance(said, str) and re.match(r"\d{4}", said):
            return said
    return ""


def resource_time(resource: Resource) -> str:
    """When a resource took place as a day or a time without zone, for a result; '' if it says less than the day."""
    said = stated_time(resource)
    try:
        return datetime.fromisoformat(said).replace(tzinfo=None).isoformat() if len(said) > 9 else ""
    except ValueError:
        return ""


def values(observation: Resource) -> Iterator[tuple[str, str, str]]:
    """(name, value, unit) of an observation and of each of its components that has a value."""
    for part in (observation, *objects(observation.get("component"))):
        label = name(part.get("code"))
        value, unit = value_of(part)
        if label and value:
            yield label, value, unit


def value_of(resource: Resource) -> tuple[str, str]:
    """The value of an observation or component as text, and its unit; ('', '') where it states none."""
    if number := _quantity(resource.get("valueQuantity")):
        return number
    if coded := name(resource.get("valueCodeableConcept")):
        return coded, ""
    bounds = resource.get("valueRange")
    if isinstance(bounds, dict):
        low, high = _quantity(bounds.get("low")), _quantity(bounds.get("high"))
        if low and high:
            return f"{low[0]}-{high[0]}", low[1]
    parts = resource.get("valueRatio")
    if isinstance(parts, dict):
        over, under = _quantity(parts.get("numerator")), _quantity(parts.get("denominator"))
        if over and under:
            return (f"{over[0]}:{under[0]}", "") if not over[1] else (f"{over[0]} {over[1]}/{under[0]} {under[1]}", "")
    if isinstance(flag := resource.get("valueBoolean"), bool):
        return ("yes" if flag else "no"), ""
    for field in ("valueString", "valueInteger", "valueDateTime"):
        if resource.get(field) is not None:
            return str(resource[field]).strip(), ""
    return "", ""


def _quantity(quantity: Json) -> tuple[str, str] | None:
    value = quantity.get("value") if isinstance(quantity, dict) else None
    if not isinstance(quantity, dict) or not isinstance(value, int | float) or isinstance(value, bool):
        return None
    number = f"{value:g}" if isinstance(value, float) else str(value)
    unit = str(quantity.get("unit") or quantity.get("code") or "")
    return f"{quantity.get('comparator') or ''}{number}", re.sub(r"^\{[^}]*\}$", "", unit)


def reference_range(observation: Resource) -> tuple[float | None, float | None]:
    """(low, high) of the first reference range of an observation."""
    first = next(iter(objects(observation.get("referenceRange"))), {})
    ends = []
    for end in ("low", "high"):
        limit = first.get(end)
        value = limit.get("value") if isinstance(limit, dict) else None
        ends.append(float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None)
    return ends[0], ends[1]


def report_text(report: Resource) -> str:
    """What a report says: its conclusion, else its attached plain text, else its coded conclusions."""
    if report.get("conclusion"):
        return str(report["conclusion"]).strip()
    for form in objects(report.get("presentedForm")):
        if str(form.get("contentType", "")).startswith("text/plain") and form.get("data"):
            try:
                return base64.b64decode(str(form["data"]), validate=True).decode("utf-8").strip()
            except (binascii.Error, UnicodeDecodeError):
                break
    return "; ".join(filter(None, (name(part) for part in objects(report.get("conclusionCode")))))
