"""Writes a made-up tree of MIMIC-IV's shape by seed: all tables that a build reads, with notes and reports.

No part of it comes from a person: a generator draws names, numbers and texts, and the notes are our own templates. Each
admission is of one of the `KINDS`, which give every rule of a build something to drop or to change.
"""

import csv
import gzip
import io
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

Row = Sequence[object]
Rows = Iterator[tuple[str, Row]]
"""Pairs of a table's name and one of its rows."""

KINDS = (
    "plain", "plain", "plain", "plain", "plain", "plain", "other_code", "second", "several", "no_note", "no_history",
    "named", "synonym", "seen_named", "report_named", "no_results", "near",
)  # fmt: skip


@dataclass(frozen=True)
class Disease:
    """A disease as the tree shows it.

    Notes write it as `written`; `other` is another name that gives it away. `icd10` and `icd9` are its code and title.
    """

    name: str
    written: str
    other: str
    icd10: tuple[str, str]
    icd9: tuple[str, str]
    organ: str


DISEASES = (
    Disease("Appendicitis", "Acute appendicitis", "acute appendicitis", ("K3580", "Unspecified acute appendicitis"),
         ("5409", "Acute appendicitis without mention of peritonitis"), "abdomen"),
    Disease("Pancreatitis", "Acute pancreatitis", "acute pancreatitis", ("K859", "Acute pancreatitis, unspecified"),
         ("5770", "Acute pancreatitis"), "abdomen"),
    Disease("Pneumonia", "Pneumonia", "bronchopneumonia", ("J189", "Pneumonia, unspecified organism"),
         ("486", "Pneumonia, organism unspecified"), "chest"),
    Disease("Heart failure", "Acute on chronic heart failure", "CHF", ("I509", "Heart failure, unspecified"),
         ("4280", "Congestive heart failure, unspecified"), "chest"),
    Disease("Herpes zoster", "Herpes zoster", "shingles", ("B029", "Zoster without complications"),
         ("0539", "Herpes zoster without mention of complication"), "skin"),
    Disease("Lyme disease", "Lyme disease", "Lyme borreliosis", ("A6920", "Lyme disease, unspecified"),
         ("08881", "Lyme Disease"), "skin"),
    Disease("Cholecystitis", "Acute cholecystitis", "gallbladder inflammation", ("K810", "Acute cholecystitis"),
         ("5750", "Acute cholecystitis"), "abdomen"),
)  # fmt: skip
RARE = Disease(
    "Malaria", "Malaria", "malaria", ("B54", "Unspecified malaria"), ("0846", "Malaria, unspecified"), "blood"
)
OTHER = Disease(
    "Fall",
    "Mechanical fall",
    "fall",
    ("W19XXXA", "Unspecified fall, initial encounter"),
    ("E8889", "Unspecified fall"),
    "hip",
)
_LABS = (
    (50912, "Creatinine", "Blood", "Chemistry", "mg/dL", 0.4, 1.1),
    (50931, "Glucose", "Blood", "Chemistry", "mg/dL", 70, 105),
    (50971, "Potassium", "Blood", "Chemistry", "mEq/L", 3.3, 5.1),
    (50983, "Sodium", "Blood", "Chemistry", "mEq/L", 133, 145),
    (51222, "Hemoglobin", "Blood", "Hematology", "g/dL", 12, 16),
    (51265, "Platelet Count", "Blood", "Hematology", "K/uL", 150, 440),
    (51301, "White Blood Cells", "Blood", "Hematology", "K/uL", 4, 11),
    (51478, "Glucose", "Urine", "Hematology", "mg/dL", None, None),
    (50820, "pH", "Blood", "Blood Gas", "units", 7.35, 7.45),
)
_START = datetime(2150, 1, 1, 8)
_NOTE = ("note_id", "subject_id", "hadm_id", "note_type", "note_seq", "charttime", "storetime", "text")
_ORGANISMS = ((80002, "ESCHERICHIA COLI"), (80004, "KLEBSIELLA PNEUMONIAE"), (90760, "CANCELLED"), ("", ""))
_TESTS = ((90201, "Blood Culture, Routine", 70012, "BLOOD CULTURE"), (90039, "URINE CULTURE", 70079, "URINE"))
TABLES: Mapping[str, tuple[str, Sequence[str]]] = {
    "admissions": ("hosp", (
        "subject_id", "hadm_id", "admittime", "dischtime", "deathtime", "admission_type", "admit_provider_id",
        "admission_location", "discharge_location", "insurance", "language", "marital_status", "race", "edregtime",
        "edouttime", "hospital_expire_flag")),
    "patients": ("hosp", ("subject_id", "gender", "anchor_age", "anchor_year", "anchor_year_group", "dod")),
    "diagnoses_icd": ("hosp", ("subject_id", "hadm_id", "seq_num", "icd_code", "icd_version")),
    "d_icd_diagnoses": ("hosp", ("icd_code", "icd_version", "long_title")),
    "d_labitems": ("hosp", ("itemid", "label", "fluid", "category")),
    "labevents": ("hosp", (
        "labevent_id", "subject_id", "hadm_id", "specimen_id", "itemid", "order_provider_id", "charttime", "storetime",
        "value", "valuenum", "valueuom", "ref_range_lower", "ref_range_upper", "flag", "priority", "comments")),
    "microbiologyevents": ("hosp", (
        "microevent_id", "subject_id", "hadm_id", "micro_specimen_id", "order_provider_id", "chartdate", "charttime",
        "spec_itemid", "spec_type_desc", "test_seq", "storedate", "storetime", "test_itemid", "test_name", "org_itemid",
        "org_name", "isolate_num", "quantity", "ab_itemid", "ab_name", "dilution_text", "dilution_comparison",
        "dilution_value", "interpretation", "comments")),
    "services": ("hosp", ("subject_id", "hadm_id", "transfertime", "prev_service", "curr_service")),
    "transfers": ("hosp", ("subject_id", "hadm_id", "transfer_id", "eventtype", "careunit", "intime", "outtime")),
    "discharge": ("note", _NOTE),
    "radiology": ("note", _NOTE),
    "radiology_detail": ("note", ("note_id", "subject_id", "field_name", "field_value", "field_ordinal")),
}  # fmt: skip


@dataclass(frozen=True)
class Admission:
    """The plan of an admission; `version` is that of its codes, 9 or 10."""

    hadm: int
    subject: int
    kind: str
    disease: Disease
    version: int
    age: int
    sex: str


@dataclass
class MimicTree:
    """A tree that the constructor writes below `root`; `planned` holds the plan of each admission.

    Args:
        root: An empty folder.
        admissions: Number of admissions; two are of one patient.
        seed: Seed of the generator.
        labs: Rounds of laboratory results of an admission.
        notes: Write the tables of notes too.
        packed: Tables to write as gzip.
        rare: Admissions with the rare disease.
        reports: Radiology reports of an admission.
        course: Length of a note's hospital course in characters.
    """

    root: Path
    admissions: int = 300
    seed: int = 1
    _: KW_ONLY
    labs: int = 2
    notes: bool = True
    packed: Sequence[str] = ("labevents", "discharge")
    rare: int = 6
    reports: int = 1
    course: int = 0
    planned: list[Admission] = field(init=False)
    written: dict[str, Path] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self.planned = [self._plan(number) for number in range(self.admissions)]
        self._write()

    def of(self, *kinds: str) -> list[Admission]:
        """Return the admissions of some of the `KINDS`."""
        return [one for one in self.planned if one.kind in kinds]

    def _plan(self, number: int) -> Admission:
        draw = self._random
        kind = KINDS[number % len(KINDS)]
        disease = RARE if number < self.rare * len(KINDS) and number % len(KINDS) == 5 else draw.choice(DISEASES)
        return Admission(
            hadm=20_000_000 + number * 7,
            subject=10_000_000 + number // 2,
            kind=kind,
            disease=OTHER if kind == "other_code" else disease,
            version=draw.choice((9, 10, 10)),
            age=draw.randint(19, 88),
            sex=draw.choice("FM"),
        )

    def _write(self) -> None:
        with ExitStack() as stack:
            tables = {
                name: self._opened_table(stack, name) for name in TABLES if self.notes or TABLES[name][0] == "hosp"
            }
            for disease in (*DISEASES, RARE, OTHER):
                tables["d_icd_diagnoses"]((disease.icd10[0], 10, disease.icd10[1]))
                tables["d_icd_diagnoses"]((disease.icd9[0], 9, disease.icd9[1]))
            tables["d_icd_diagnoses"](("I10", 10, "Essential (primary) hypertension"))
            for item in _LABS:
                tables["d_labitems"](item[:4])
            for number, one in enumerate(self.planned):
                for name, row in self._rows(number, one):
                    if name in tables:
                        tables[name](row)

    def _opened_table(self, stack: ExitStack, name: str) -> Callable[[Row], object]:
        folder, columns = TABLES[name]
        path = self.root / folder / f"{name}.csv{'.gz' if name in self.packed else ''}"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.written[name] = path
        packed = name in self.packed
        opened = partial(gzip.open, compresslevel=1) if packed else io.open
        stream = stack.enter_context(opened(path, "wt", encoding="utf-8", newline=""))
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        return writer.writerow

    def _rows(self, number: int, one: Admission) -> Rows:
        came = _START + timedelta(days=number % 9000, hours=number % 2 * 24 * 40)
        left = came + timedelta(days=4)
        yield "admissions", (
            one.subject, one.hadm, came, left, "", "EW EMER.", "P0", "EMERGENCY ROOM", "HOME", "Other", "ENGLISH", "",
            "", came - timedelta(hours=5), came, 0,
        )  # fmt: skip
        if number % 2 == 0:
            yield "patients", (one.subject, one.sex, one.age, came.year, "2011 - 2013", "")
        yield "services", (one.subject, one.hadm, came, "", "MED")
        yield "transfers", (one.subject, one.hadm, number * 2, "admit", "Medicine", came, left)
        yield "transfers", (one.subject, one.hadm, number * 2 + 1, "discharge", "", left, "")
        yield from self._codes_of(one)
        yield from self._results_of(number, one, came)
        yield from self._notes_of(number, one, came)

    def _codes_of(self, one: Admission) -> Rows:
        code = one.disease.icd10[0] if one.version == 10 else one.disease.icd9[0]
        if one.kind == "second":
            yield "diagnoses_icd", (one.subject, one.hadm, 1, OTHER.icd10[0], 10)
        yield "diagnoses_icd", (one.subject, one.hadm, 2 if one.kind == "second" else 1, code, one.version)
        if one.kind == "several":
            yield "diagnoses_icd", (one.subject, one.hadm, 2, _another(one.disease).icd10[0], 10)

    def _results_of(self, number: int, one: Admission, came: datetime) -> Rows:
        if one.kind == "no_results":
            return
        near = one.kind == "near"
        hadm, at = ("", came - timedelta(hours=3)) if near else (one.hadm, came)
        for turn in range(self.labs):
            when = at + timedelta(hours=8 * turn)
            for place in range(len(_LABS)):
                yield "labevents", self._lab((number * self.labs + turn) * len(_LABS) + place, one.subject, hadm, when)
        comment = f"Note: consistent with {one.disease.other}." if one.kind == "report_named" else "NO GROWTH."
        for place, (organism, org) in enumerate(_ORGANISMS):
            code, name, spec, specimen = _TESTS[place >= 3]
            when = at + timedelta(hours=1 if place != 2 else 0)
            row = {
                "microevent_id": number * 4 + place, "subject_id": one.subject, "hadm_id": hadm,
                "chartdate": when.date(), "charttime": when, "spec_itemid": spec, "spec_type_desc": specimen,
                "test_itemid": code, "test_name": name, "org_itemid": organism, "org_name": org,
                "comments": "" if org else comment,
            }  # fmt: skip
            yield "microbiologyevents", [row.get(column, "") for column in TABLES["microbiologyevents"][1]]

    def _lab(self, key: int, subject: int, hadm: int | str, when: datetime) -> Row:
        item, _, _, _, unit, low, high = _LABS[key % len(_LABS)]
        value = round(self._random.uniform((low or 0) * 0.7, (high or 100) * 1.4), 1)
        flag = "abnormal" if low is not None and high is not None and not low <= value <= high else ""
        return (key, subject, hadm, key, item, "P0", when, when, value, value, unit, low, high, flag, "STAT", "")

    def _notes_of(self, number: int, one: Admission, came: datetime) -> Rows:
        if one.kind != "no_note":
            text = discharge_note(one, self.course)
            yield "discharge", (f"{one.subject}-DS-{number}", one.subject, one.hadm, "DS", 1, came, came, text)
        if one.kind in ("no_results", "no_note"):
            return
        hadm = "" if one.kind == "near" else one.hadm
        for place in range(self.reports):
            note = f"{one.subject}-RR-{number * self.reports + place}"
            yield "radiology", (note, one.subject, hadm, "RR", place + 1, came, came, radiology_report(one))
            yield "radiology_detail", (note, one.subject, "exam_name", "CT ABD & PELVIS WITH CONTRAST", 1)


_DAYS = "\nThe night was quiet, ___ ate half of the supper, walked with help, and the plan of the day before stood."


def _another(disease: Disease) -> Disease:
    return DISEASES[(DISEASES.index(disease) + 1) % len(DISEASES)] if disease in DISEASES else DISEASES[0]


def discharge_note(one: Admission, course: int = 0) -> str:
    """Return a discharge note of the usual layout, with marks of de-identification.

    `course` is the length of its hospital course in characters.
    """
    who = "woman" if one.sex == "F" else "man"
    story = f"Ms. ___ is a ___ year old {who} with two days of malaise, who came by car."
    story += {
        "named": f" She was told that she has {one.disease.name.lower()}.",
        "synonym": f" She was sent in for {one.disease.other}.",
    }.get(one.kind, "")
    if one.disease.name == "Appendicitis":
        story += " Taken to the OR for appendectomy."
    seen = f", in keeping with {one.disease.name.lower()}" if one.kind == "seen_named" else ""
    listed = [one.disease.written]
    if one.kind == "second":
        listed = ["Mechanical fall", "", f"Secondary diagnosis: {one.disease.written}"]
    if one.kind == "several":
        listed.append(_another(one.disease).written)
    sections = {
        "Service": "MEDICINE",
        "Allergies": "\nNo Known Allergies",
        "Chief Complaint": "\nfeeling unwell",
        "Major Surgical or Invasive Procedure": "\nnone",
        "History of Present Illness": "" if one.kind == "no_history" else f"\n{story}",
        "Past Medical History": "\nsprained ankle\n___",
        "Social History": "\n___",
        "Family History": "\nFather well at ___.",
        "Physical Exam": f"\nVS: 37.9 92 121/70\nHEENT: dry lips.\nAbd: soft{seen}.\nDischarge:\nVS: 36.6, comfortable",
        "Pertinent Results": "\n___ 08:00AM BLOOD WBC-12",
        "Brief Hospital Course": f"\nTreated for {one.disease.written}.{_DAYS * (course // len(_DAYS))}",
        "Discharge Disposition": "\nHome",
        "Discharge Diagnosis": "\n" + "\n".join(listed),
        "Discharge Condition": "\nStable",
        "Discharge Instructions": "\nrest\n",
    }
    head = " \nName:  ___                     Unit No:   ___\n \nAdmission Date:  ___\n \nSex: ___\n \n"
    return head + "\n \n".join(f"{name}:{text}" for name, text in sections.items() if text)


def radiology_report(one: Admission) -> str:
    """Return a radiology report, of which only some sections hold what the radiologist read in the images."""
    named = f" This is {one.disease.name.lower()}." if one.kind == "report_named" else ""
    sections = {
        "EXAMINATION": "CT ABD AND PELVIS WITH CONTRAST",
        "INDICATION": f"___ with pain, question of {one.disease.written}",
        "TECHNIQUE": "axial slices",
        "COMPARISON": "None.",
        "FINDINGS": f"There is stranding of the {one.disease.organ} fat.{named}",
        "IMPRESSION": f"{one.disease.written}.",
    }
    return "\n \n".join(f"{name}:  {text}" for name, text in sections.items())
