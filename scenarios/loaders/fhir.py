"""Loads FHIR R4 bundles: of each patient the visit of one diagnosis, what was known before it, and its results.

A bundle often holds a whole life (Synthea, `$everything`). A case is one visit: the Encounter that names the diagnosis,
or the days around the date of the Condition. Later resources are no part of it: nobody knew them then.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import Case, Culture, Finding, Investigation, Lab, Provenance, Study, Truth
from wardround.scenarios.loaders.fhir_resources import (
    BundleEntry,
    Resource,
    bundle_entries,
    concept_codes,
    disease_code,
    full_name,
    misshapen,
    name,
    objects,
    reference,
    reference_range,
    report_text,
    resource_time,
    snomed_names,
    stated_time,
    values,
)
from wardround.scenarios.loaders.oddities import Oddity
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
_MICROBIOLOGY = regex(r"(?i)\bcultur\w*|gram stain|microscopy|\bbacteria")
_IMAGING = regex(r"(?i)\b(?:x-?ray|radiograph|ct\b|mri\b|ultraso\w+|mammogra\w+|echocardiogra\w+|imaging|radiology)")
_NOTE = regex(r"(?i)history and physical|plan note|progress note|discharge|consult note")
_NO_GROWTH = regex(r"(?i)\b(?:no|negative|not|sterile|normal)\b")
_FINDING = regex(r"\((?:finding|situation)\)$")
_SYMPTOM = regex(r"(?i)\(finding\)$|\bsymptom|\bpain|\bache|cough|fever|vomit|dyspn|breath|bleed|rash|weakness")
_NO_REPORT = "The study was done; the record holds no report of it."
_AROUND = timedelta(days=30)


class FhirBundles(Loader):
    """FHIR R4 bundles, one file or one line a bundle; a bundle of several patients gives a case for each."""

    TITLE = "FHIR R4 Bundle JSON, one object with resourceType Bundle"
    MARK = '"resourceType"'

    def knows(self, record: Json) -> float:
        """Match a bundle."""
        return float(isinstance(record, dict) and record.get("resourceType") == "Bundle")

    def odd(self, record: Json) -> Iterator[Oddity]:
        """Results with the patient's name, which no case knows; also odd characters."""
        yield from super().odd(record)
        parts = [part for entry in objects(record.get("entry")) for part in objects(entry.get("resource"))]
        people = (one for part in parts if part.get("resourceType") == "Patient" for one in objects(part.get("name")))
        words = (word for one in people for part in ("family", "given") for word in _texts(one.get(part)))
        names = "|".join(re.escape(form) for word in words if len(word) > 2 for form in (word, word.upper()))
        for at, part in enumerate(parts):
            texts = (report_text(part), *(value for _, value, _ in values(part)), *_notes(part))
            if names and re.search(rf"\b(?:{names})\b", "\n".join(texts)):
                yield Oddity(f"entry[{at}].resource", "holds the patient's name: take it out, the doctor may read it")

    def cases(self, number: int, name: str, record: Json) -> Iterator[Case | Refused]:
        """The case of each patient of a bundle, or why it has none; raises Refused for a bundle without a patient."""
        listed = bundle_entries(record)
        people = [entry for entry in listed if entry.kind == "Patient"]
        if not people:
            kinds = ", ".join(sorted({entry.kind for entry in listed})) or "links without resources"
            raise Refused([("entry", f"holds no Patient, only {kinds}; write the patient into the bundle")])
        if wrong := [fault for entry in listed for fault in misshapen(entry)]:
            yield Refused(wrong)
        for place, person in enumerate(people, 1):
            own = [entry for entry in listed if len(people) == 1 or _is_of(entry, person)]
            label = str(record.get("id") or "") if len(people) == 1 else ""
            try:
                yield _case(person, own, label or str(person.resource.get("id") or f"fhir-{number:03d}-{place}"))
            except Refused as refused:
                yield refused


def _texts(value: Json) -> Sequence[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _is_of(entry: BundleEntry, person: BundleEntry) -> bool:
    """Whether a resource of a bundle of several patients is about `person`, or about nobody, as a Medication is."""
    owner = reference(entry.resource.get("subject")) or reference(entry.resource.get("patient"))
    return owner in person.ids if owner else entry.kind in ("Medication", "Specimen")


def _case(person: BundleEntry, listed: Sequence[BundleEntry], case_id: str) -> Case:
    patient = person.resource
    main = _principal(person, listed)
    label = name(main.resource.get("code"))
    if not label:
        raise Refused([(f"entry[{main.at}].resource.code", "names no diagnosis: it has neither text nor display")])
    if not (patient.get("gender") or patient.get("birthDate")):
        raise Refused([(f"entry[{person.at}].resource", "tells neither gender nor birthDate")])
    visit = _visit(main, listed)
    diagnosis, short = diagnosis_names(label)
    synonyms = (*short, *snomed_names(main.resource.get("code")))
    history = _History((diagnosis, *synonyms), visit, listed)
    complaint = history.complaint()
    opening = f"{_who(patient, day_of(visit.start))}{f' {complaint}.' if complaint else ''}"
    results = _Results.of_visit(visit, listed)
    code = disease_code(main.resource.get("code"))
    return Case(
        id=case_id,
        opening=opening,
        complaint=opening,
        opening_source="structured",
        history=history.sections(complaint),
        examination=tuple(dict.fromkeys(results.findings)),
        labs=tuple(sorted(dict.fromkeys(results.labs), key=lambda lab: lab.time)),
        microbiology=tuple(results.cultures),
        imaging=tuple(results.reported_studies()),
        investigations=tuple(results.texts),
        truth=Truth(diagnosis=diagnosis, synonyms=synonyms, codes=(code,) if code else ()),
        group=group(diagnosis),
        provenance=Provenance(source="FHIR R4", record=str(patient.get("id") or ""), dated=day_of(visit.start)),
        data_class="restricted",
    )


class _Visit(msgspec.Struct, frozen=True):
    """The visit of the diagnosis: the ids of its Encounter, if it has one, its first and last time as stated, or ''."""

    main: BundleEntry
    ids: frozenset[str]
    start: str
    end: str

    def holds(self, entry: BundleEntry) -> bool:
        """Whether a resource belongs to the visit: by its Encounter, else by its date; without a date it does."""
        at = _encounter(entry)
        if at and self.ids:
            return bool(at & self.ids)
        day, first, last = (day_of(said) for said in (stated_time(entry.resource), self.start, self.end or self.start))
        if day is None or first is None or last is None:
            return not _earlier(stated_time(entry.resource), self.start)
        margin = timedelta(days=1) if self.ids else _AROUND
        return first - margin <= day <= last + margin

    def precedes(self, entry: BundleEntry) -> bool:
        """Whether a resource is dated before the visit; without a date, whether it is no resource of the visit."""
        said = stated_time(entry.resource)
        return _earlier(said, self.start) if said else not _encounter(entry) & self.ids


def _encounter(entry: BundleEntry) -> set[str]:
    """The id of the Encounter that a resource belongs to, as it says; empty if it does not."""
    named = reference(entry.resource.get("encounter")) or reference(entry.resource.get("context"))
    return {named} if named else set()


def _earlier(said: str, start: str) -> bool:
    """Whether one time in ISO form lies before another, by the precision that both have."""
    size = min(len(said), len(start), 10)
    return bool(size) and said[:size] < start[:size]


def _principal(person: BundleEntry, listed: Sequence[BundleEntry]) -> BundleEntry:
    """The Condition that is the diagnosis.

    An encounter's principal one; else the latest confirmed disease, of those first whose visit has a result. A
    Condition that is only considered ('differential', 'provisional') counts where there is no other.
    """
    conditions = [
        entry for entry in listed if entry.kind == "Condition" and not _states(entry, "refuted", "entered-in-error")
    ]
    if not conditions:
        raise Refused(
            [(f"entry[{person.at}]", "the patient has no Condition that is not refuted, so there is no diagnosis")]
        )
    first = {
        reference(part.get("condition"))
        for entry in listed if entry.kind == "Encounter"
        for part in objects(entry.resource.get("diagnosis"))
        if part.get("rank", 1) == 1
    }  # fmt: skip
    for entry in conditions:
        if entry.ids & first:
            return entry
    certain = [entry for entry in conditions if not _states(entry, "differential", "provisional", "unconfirmed")]
    diseases = [entry for entry in certain if not _is_symptom(full_name(entry.resource.get("code")))]
    dated = sorted(diseases or certain or conditions, key=lambda entry: stated_time(entry.resource), reverse=True)
    return next((entry for entry in dated if _Results.of_visit(_visit(entry, listed), listed)), dated[0])


def _is_symptom(label: str) -> bool:
    return bool(_FINDING.search(label) or _SYMPTOM.search(label))


def _states(condition: BundleEntry, *states: str) -> bool:
    return bool(set(concept_codes(condition.resource.get("verificationStatus"))) & set(states))


def _visit(main: BundleEntry, listed: Sequence[BundleEntry]) -> _Visit:
    """The Encounter that names a Condition, or that it names, or whose days hold its date; else its date alone."""
    encounters = [entry for entry in listed if entry.kind == "Encounter"]
    when = stated_time(main.resource)
    named = reference(main.resource.get("encounter"))
    chosen = (
        [one for one in encounters if _diagnosed(one) & main.ids]
        or [one for one in encounters if named in one.ids]
        or [one for one in encounters if when and when[:10] in _days(one)]
    )  # fmt: skip
    if not chosen:
        return _Visit(main, frozenset(), when, when)
    start, end = _days(chosen[0])
    return _Visit(main, chosen[0].ids, start or when, end or start or when)


def _diagnosed(encounter: BundleEntry) -> set[str]:
    return {reference(part.get("condition")) for part in objects(encounter.resource.get("diagnosis"))}


def _days(encounter: BundleEntry) -> tuple[str, str]:
    """The first and last day of an Encounter as it states them; '' where it does not."""
    period = encounter.resource.get("period")
    start, end = (str(period.get(part) or "") if isinstance(period, dict) else "" for part in ("start", "end"))
    return start[:10], end[:10]


class _History(msgspec.Struct, frozen=True):
    """What the patient can tell: what was recorded before the visit, and the symptoms of the visit itself."""

    names: Sequence[str]
    visit: _Visit
    listed: Sequence[BundleEntry]

    def complaint(self) -> str:
        """The reason for the visit in words, if it is a symptom and does not name the diagnosis; else its symptoms."""
        for entry in self.listed:
            if entry.kind == "Encounter" and (entry.ids & self.visit.ids or not self.visit.ids):
                for part in objects(entry.resource.get("reasonCode")):
                    if _SYMPTOM.search(full_name(part)) and (said := self._safe([name(part)])):
                        return said[0]
        return ", ".join(self._conditions(_FINDING, of_visit=True))

    def sections(self, complaint: str) -> dict[str, str]:
        """The sections of the history that have an entry."""
        sections = {
            "Symptoms": [complaint],
            "Other conditions": self._conditions(re.compile(""), of_visit=False),
            "Past procedures": self._names("Procedure", "code"),
            "Medications": self._names("MedicationStatement", "medicationCodeableConcept")
            + self._names("MedicationRequest", "medicationCodeableConcept"),
            "Allergies": [self._allergy(entry) for entry in self._before("AllergyIntolerance")],
            "Vaccinations": self._names("Immunization", "vaccineCode"),
            "Family history": [self._relative(entry) for entry in self._of("FamilyMemberHistory")],
            "Social history": self._social(),
        }
        return {title: "; ".join(kept) for title, said in sections.items() if (kept := self._safe(said))}

    def _safe(self, said: Sequence[str]) -> list[str]:
        """What is said, once each, without what names the diagnosis."""
        kept = dict.fromkeys(filter(None, said))
        return [one for one in kept if not any(name.casefold() in one.casefold() for name in self.names)]

    def _of(self, kind: str) -> list[BundleEntry]:
        return [entry for entry in self.listed if entry.kind == kind and not _is_void(entry)]

    def _before(self, kind: str) -> list[BundleEntry]:
        return [entry for entry in self._of(kind) if self.visit.precedes(entry)]

    def _conditions(self, kind: re.Pattern[str], *, of_visit: bool) -> list[str]:
        """Other conditions of the visit, or those before it; without the ones that were only considered or refuted."""
        kept = [
            entry for entry in self._of("Condition")
            if entry is not self.visit.main and kind.search(full_name(entry.resource.get("code")))
            and not _states(entry, "refuted", "entered-in-error", "differential", "provisional", "unconfirmed")
            and (self.visit.holds(entry) if of_visit else self.visit.precedes(entry))
        ]  # fmt: skip
        return [name(entry.resource.get("code")) for entry in kept]

    def _names(self, kind: str, concept: str) -> list[str]:
        """The names of earlier resources, of drugs in their own resource too; without drugs that were stopped."""
        ended = ("stopped", "completed", "not-taken") if kind.startswith("Medication") else ()
        medicines = {one: entry for entry in self.listed if entry.kind == "Medication" for one in sorted(entry.ids)}
        said = []
        for entry in self._before(kind):
            linked = medicines.get(reference(entry.resource.get("medicationReference")))
            said.append(name(entry.resource.get(concept)) or (name(linked.resource.get("code")) if linked else ""))
            if entry.resource.get("status") in ended:
                said.pop()
        return said

    def _allergy(self, entry: BundleEntry) -> str:
        reactions = [
            name(sign)
            for part in objects(entry.resource.get("reaction"))
            for sign in objects(part.get("manifestation"))
        ]
        said = ", ".join(filter(None, reactions))
        return f"{name(entry.resource.get('code'))}{f' ({said})' if said else ''}"

    def _relative(self, entry: BundleEntry) -> str:
        ills = [name(part.get("code")) for part in objects(entry.resource.get("condition"))]
        return f"{name(entry.resource.get('relationship'))}: {', '.join(filter(None, ills))}" if any(ills) else ""

    def _social(self) -> list[str]:
        """The latest of each observation of social history up to the visit."""
        latest: dict[str, str] = {}
        known = [entry for entry in self._of("Observation") if _category(entry) & {"social-history"}]
        for entry in sorted(known, key=lambda one: stated_time(one.resource)):
            if self.visit.precedes(entry) or self.visit.holds(entry):
                latest |= {
                    label: f"{label}: {f'{value} {unit}'.strip()}" for label, value, unit in values(entry.resource)
                }
        return list(latest.values())


def _category(entry: BundleEntry) -> set[str]:
    return set(concept_codes(entry.resource.get("category")))


def _is_void(entry: BundleEntry) -> bool:
    """Whether a resource says that it does not hold: entered in error, cancelled, not done."""
    return entry.resource.get("status") in ("entered-in-error", "cancelled", "not-done") or _states(
        entry, "entered-in-error"
    )


@dataclass(slots=True)
class _Results:
    """The results of a visit by kind."""

    labs: list[Lab] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    cultures: list[Culture] = field(default_factory=list)
    studies: list[Study] = field(default_factory=list)
    texts: list[Investigation] = field(default_factory=list)

    @classmethod
    def of_visit(cls, visit: _Visit, listed: Sequence[BundleEntry]) -> "_Results":
        """What was observed, measured and reported at the visit."""
        specimens = {
            one: name(entry.resource.get("type"))
            for entry in listed
            if entry.kind == "Specimen"
            for one in sorted(entry.ids)
        }
        results = cls()
        for entry in listed:
            if _is_void(entry) or not visit.holds(entry):
                continue
            if entry.kind == "Observation":
                results._observe(entry, specimens.get(reference(entry.resource.get("specimen")), ""))
            elif entry.kind == "ImagingStudy":
                results.studies.append(_study(entry.resource))
            elif entry.kind == "DiagnosticReport":
                results._report(entry.resource)
        return results

    def __bool__(self) -> bool:
        return bool(self.labs or self.cultures or self.studies or self.texts)

    def reported_studies(self) -> list[Study]:
        """The studies with a report; if there is none, all."""
        return [study for study in self.studies if study.report != _NO_REPORT] or self.studies

    def _observe(self, entry: BundleEntry, specimen: str) -> None:
        one, category = entry.resource, _category(entry)
        for label, value, unit in values(one):
            if category & {"vital-signs", "exam"}:
                self.findings.append(Finding(section=label, text=f"{value} {unit}".strip()))
            elif _MICROBIOLOGY.search(label):
                grown = name(one.get("valueCodeableConcept"))
                grown = "" if _NO_GROWTH.search(grown) else grown
                self.cultures.append(
                    Culture(
                        test=label,
                        specimen=specimen,
                        organism=grown,
                        comment="" if grown else value,
                        time=resource_time(one),
                    )
                )
            elif not category & {"social-history", "survey"}:
                self.labs.append(_lab(one, label, value, unit, specimen))

    def _report(self, one: Resource) -> None:
        label, said = name(one.get("code")), report_text(one)
        if not label or not said:
            return
        if _IMAGING.search(label) or set(concept_codes(one.get("category"))) & {"RAD", "IMG"}:
            self.studies.append(Study(exam=label, report=said, time=resource_time(one)))
        elif not _NOTE.search(label):
            self.texts.append(Investigation(name=label, text=said))


def _lab(one: Resource, label: str, value: str, unit: str, specimen: str) -> Lab:
    """A laboratory result; a specimen other than blood is part of its name."""
    low, high = reference_range(one)
    flag: Flag = next((_FLAGS[code] for code in concept_codes(one.get("interpretation")) if code in _FLAGS), "")
    fluid = specimen.split(" (", maxsplit=1)[0].removesuffix(" specimen").removesuffix(" sample").strip()
    plain = not fluid or re.search(r"(?i)blood|serum|plasma", fluid) or fluid.casefold() in label.casefold()
    shown = label if plain else f"{label}, {fluid}"
    return Lab(name=shown, value=value, unit=unit, low=low, high=high, flag=flag, time=resource_time(one))


def _notes(one: Resource) -> list[str]:
    return [str(note["text"]) for note in objects(one.get("note")) if note.get("text")]


def _study(one: Resource) -> Study:
    series = objects(one.get("series"))
    kinds = [
        str(part.get("code"))
        for part in (*(objects(one.get("modality"))), *(part for a in series for part in objects(a.get("modality"))))
        if part.get("code")
    ]
    modality = next((_MODALITIES.get(kind, kind) for kind in kinds), "")
    region = next(
        (str(site["display"]) for a in series for site in objects(a.get("bodySite")) if site.get("display")), ""
    )
    procedure = next(filter(None, (name(part) for part in objects(one.get("procedureCode")))), "")
    return Study(
        exam=str(one.get("description") or procedure or f"{modality} {region}".strip() or "Imaging"),
        modality=modality,
        region=region,
        report=" ".join(_notes(one)) or _NO_REPORT,
        time=resource_time(one),
    )


def _who(patient: Resource, when: date | None) -> str:
    sex = {"female": ("girl", "woman"), "male": ("boy", "man")}.get(str(patient.get("gender")), ("child", "patient"))
    born = day_of(patient.get("birthDate"))
    if born is None or when is None or when < born:
        return f"A {sex[1]}."
    years = when.year - born.year - ((when.month, when.day) < (born.month, born.day))
    return f"{'An' if re.match('8|11$|18$', str(years)) else 'A'} {years}-year-old {sex[years >= 18]}."
