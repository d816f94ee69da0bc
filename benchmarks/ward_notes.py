"""Makes up discharge notes in sixty styles, with the truth of each; their author had not seen how notes are read."""

import json
import random
import re
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

DATA = Path(__file__).parents[1] / "tests" / "data" / "ward_notes"
PER_STYLE = 10
HEAD = """Name:  ___                     Unit No:   ___

Admission Date:  ___              Discharge Date:   ___

Date of Birth:  ___             Sex:   {sex}"""
COMORBIDITIES = (
    "Hypertension",
    "HTN",
    "Type 2 diabetes mellitus",
    "Hyperlipidemia",
    "GERD",
    "Hypothyroidism",
    "Depression",
    "Obstructive sleep apnea",
    "Osteoarthritis",
    "BPH",
    "Chronic kidney disease stage 3",
    "Gout",
)
MEDICINES = (
    "Amlodipine 5 mg PO DAILY",
    "Atorvastatin 40 mg PO QPM",
    "Omeprazole 20 mg PO DAILY",
    "Acetaminophen 650 mg PO Q6H:PRN pain",
)
SYSTEMS = {
    "GEN": "Uncomfortable, in mild distress",
    "HEENT": "Anicteric, mouth moist",
    "NECK": "Supple",
    "CV": "Regular, no murmur",
    "LUNGS": "Clear on both sides",
    "ABD": "Soft, not tender",
    "EXT": "Warm, no edema",
    "SKIN": "No rash",
    "NEURO": "Alert, moves all limbs",
}
NAMING = (
    "The outside hospital sent him on with a diagnosis of {written}.",
    "In the ED the team was concerned for {written} and admitted the patient.",
    "Imaging there was consistent with {written}.",
)
COURSE = (
    "The patient was admitted and treated for {written}. Pain and fever settled over ___ days and diet was advanced."
)
DISCHARGED = "Walks in the hallway, comfortable"
FIXED = {
    "social": "Lives with family, retired. Tobacco: quit in ___.",
    "family": "Father died of an accident. No disease runs in the family.",
    "ros": "no weight change, no rash, otherwise negative.",
    "letter": "It was a pleasure to care for you. You felt unwell. Please take your medicines as listed.",
}
EMERGENCY = """{text}

In the ED, initial VS were: {vitals}
Exam notable for: discomfort
Labs notable for: normal lactate
Patient was given: 1 L of saline

On the floor, the patient repeats the above story and is tired."""
TWO_PARTS = """{text}

ED Course:
Initial vitals {vitals}. Seen within an hour.

On arrival to the ward: still unwell and asks for water."""
INNER = (
    "{text} Past medical history is notable for little else. Physical exam in clinic last week was normal. Discharge "
    "from the ear was noted once. Family history was reviewed. Labs drawn last month were normal. The patient lives "
    "alone and called a neighbor."
)
FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")


@dataclass(frozen=True)
class Disease:
    """A disease with what its notes may say; the head of diseases.toml explains the fields."""

    name: str
    icd: str
    written: tuple[str, ...]
    words: tuple[str, ...]
    complaint: str
    history: tuple[str, ...]
    exam: dict[str, str]
    imaging: tuple[str, str]
    procedure: str
    gives: tuple[tuple[str, str], ...]
    harmless: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class WardNote:
    """A discharge note and its truth.

    `principal` holds the forms of the principal diagnosis that count as right. A case must show `history` and `exam` in
    full; the sentences of `elsewhere` may stand in neither. `named` is the sentence of the history that names the
    diagnosis, if there is one; the disease's `words` may then stand nowhere in the opening.
    """

    style: str
    disease: Disease
    sex: str
    age: int
    text: str
    principal: tuple[str, ...]
    history: str
    exam: str
    elsewhere: tuple[str, ...]
    named: str | None
    report_title: str
    report: str
    report_findings: str


def diseases() -> list[Disease]:
    """Return the forty diseases in the order of their file."""
    return [
        Disease(
            name=row["name"],
            icd=row["icd"],
            written=tuple(row["written"]),
            words=tuple(row["words"]),
            complaint=row["complaint"],
            history=tuple(row["history"]),
            exam=row["exam"],
            imaging=(row["imaging"][0], row["imaging"][1]),
            procedure=row["procedure"],
            gives=tuple((relation, sentence) for relation, sentence in row["gives"]),
            harmless=tuple((kind, sentence) for kind, sentence in row["harmless"]),
        )
        for row in tomllib.loads((DATA / "diseases.toml").read_text())["disease"]
    ]


def layouts(name: str) -> dict[str, str]:
    """Return the templates of a file by their names, in its order."""
    parts = re.split(r"^=== (\w+)\n", (DATA / name).read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def halves(what: Literal["styles", "diseases"]) -> tuple[list[str], list[str]]:
    """Return half A, on which rules may be changed, and half B, which is measured once; seed 1416 drew them."""
    split = json.loads((DATA / "halves.json").read_text())[what]
    return split["a"], split["b"]


def ward_notes(styles: str = "styles.txt", each: int = PER_STYLE) -> list[WardNote]:
    """Return `each` notes in each style of a file."""
    known = diseases()
    return [write(style, layout, number, known) for style, layout in layouts(styles).items() for number in range(each)]


def write(style: str, layout: str, number: int, known: list[Disease]) -> WardNote:
    """Write one note of a style: the same style and number give the same note."""
    chance = random.Random(f"{style}/{number}")
    disease = chance.choice(known)
    other = chance.choice([one for one in known if one is not disease])
    return compose(style, disease, other, chance, layout)


def compose(
    style: str, disease: Disease, other: Disease, chance: random.Random, layout: str, extra: str | None = None
) -> WardNote:
    """Fill a style's template; `extra` stands in the history in place of a sentence that names the diagnosis."""
    written = chance.choice(disease.written)
    sex = "F" if re.search(r"\b(She|Her)\b", " ".join(disease.history)) else "M"
    others = chance.sample(COMORBIDITIES, chance.randint(2, 4))
    named = extra or (chance.choice(NAMING).format(written=written) if chance.random() < 0.5 else None)
    person = "woman" if sex == "F" else "man"
    opening = f"___ y/o {person} with {others[0].lower()} who presents with {disease.complaint}."
    sentences = [opening, *disease.history, *([named] if named else [])]
    admission = examination(disease.exam, chance)
    discharge = examination({"GEN": DISCHARGED, "EXT": "Warm, well perfused at discharge"}, chance)
    title, findings = disease.imaging
    labs = (
        f"___ 06:10AM BLOOD WBC-{chance.randint(4, 24)}.4 Hgb-{chance.randint(7, 15)}.2* Plt Ct-{chance.random():.4f}"
    )
    made: dict[str, str] = {}
    values: dict[str, Callable[[str], str]] = {
        "head": lambda form: HEAD.format(sex=sex),
        "cc": lambda form: cased(disease.complaint[0].upper() + disease.complaint[1:], form),
        "hpi": lambda form: made.setdefault("history", history(sentences, form, chance)),
        "exam": lambda form: made.setdefault("exam", laid_out(admission, form)),
        "exam_dc": lambda form: laid_out(discharge, form),
        "pmh": lambda form: listed([*others, "Seasonal allergies"], form),
        "sec": lambda form: listed(others[1:], form),
        "all": lambda form: listed([written, *others[1:]], form),
        "dx": lambda form: cased(written, form),
        "other": lambda form: other.written[0],
        "meds": lambda form: listed(list(MEDICINES), form),
        "procedure": lambda form: disease.procedure,
        "imaging": lambda form: f"{title}: {findings}",
        "labs": lambda form: labs,
        "course": lambda form: cased(COURSE.format(written=written), form),
    }
    text = FIELD.sub(lambda match: FIXED.get(match[1]) or values[match[1]](match[2] or ""), layout)
    return WardNote(
        style=style,
        disease=disease,
        sex=sex,
        age=chance.randint(21, 88),
        text=text,
        principal=(written, disease.name, written.split(",")[0]),
        history=made["history"],
        exam=made["exam"],
        elsewhere=(COURSE[-40:], labs[-20:], DISCHARGED, FIXED["letter"][:30], MEDICINES[1]),
        named=named,
        report_title=title,
        report=radiology_report(disease, chance),
        report_findings=findings,
    )


def radiology_report(disease: Disease, chance: random.Random) -> str:
    """Return a radiology report whose impression names the disease."""
    title, findings = disease.imaging
    impression = f"Findings most consistent with {disease.written[0]}."
    values = {"title": title, "cc": disease.complaint, "findings": findings, "impression": impression}
    layout = chance.choice(list(layouts("reports.txt").values()))
    return FIELD.sub(lambda match: values[match[1]], layout)


def examination(special: dict[str, str], chance: random.Random) -> list[tuple[str, str]]:
    """Return an examination by system, the vital signs first."""
    pressure = f"{chance.randint(90, 170)}/{chance.randint(50, 95)}"
    breathing = f"RR {chance.randint(12, 28)} O2 {chance.randint(90, 100)}% RA"
    warmth = f"T {chance.randint(97, 102)}.{chance.randint(0, 9)} HR {chance.randint(60, 130)}"
    vitals = f"{warmth} BP {pressure} {breathing}"
    return [("VS", vitals), *((system, special.get(system, normal)) for system, normal in SYSTEMS.items())]


def history(sentences: list[str], form: str, chance: random.Random) -> str:
    """Return a history of the present illness in one of the forms that notes have."""
    text = " ".join(sentences)
    vitals = f"98.{chance.randint(1, 9)} {chance.randint(70, 120)} {chance.randint(100, 160)}/80 18 97% RA"
    if form == "wrap":
        return textwrap.fill(text, 70)
    if form == "lines":
        return "\n\n".join(sentences)
    if form == "ed":
        return EMERGENCY.format(text=text, vitals=vitals)
    if form == "twopart":
        return TWO_PARTS.format(text=text, vitals=vitals)
    if form == "inner":
        return textwrap.fill(INNER.format(text=text), 60)
    return cased(text, form)


def laid_out(rows: list[tuple[str, str]], form: str) -> str:
    """Return an examination in a form: with a line for each system, or all on one line."""
    if form == "dash":
        return "\n".join(f"{system} - {text}" for system, text in rows)
    if form == "semi":
        return "; ".join(f"{system}: {text}" for system, text in rows)
    if form == "prose":
        return " ".join(f"{system.capitalize()}: {text}." for system, text in rows)
    return cased("\n".join(f"{system}: {text}" for system, text in rows), form)


def listed(items: list[str], form: str) -> str:
    """Return items as lines, numbered, dashed, or on one line."""
    if form == "num":
        return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1))
    if form in ("comma", "semi"):
        return (", " if form == "comma" else "; ").join(items)
    return cased("\n".join(f"- {item}" if form == "dash" else item for item in items), form)


def cased(text: str, form: str) -> str:
    """Return a text, in capitals if the form asks for them."""
    return text.upper() if form == "upper" else text
