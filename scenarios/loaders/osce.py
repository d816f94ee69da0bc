"""Loads AgentClinic's OSCE stations (JSONL, one `OSCE_Examination` per line), with their results as record items.

Layout: AgentClinic's agentclinic_medqa.jsonl. The objective is the complaint at the start. The actor's sheet is the
history and, as one text, the opening of scenarios without a dialogue. Examination and tests become results to look up.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.case import Case, Culture, Finding, Investigation, Lab, Provenance, Study, Truth
from wardround.scenarios.loaders.oddities import Oddity, in_record, in_station
from wardround.scenarios.loaders.source import FieldFault, Loader, Refused, misfit
from wardround.scenarios.loaders.values import (
    Measured,
    diagnosis_names,
    flag_of,
    group,
    measured_number,
    not_done,
    says_normal,
)

_WRAPPER = regex(
    r"(?:(?:blood|laboratory|lab|basic laboratory|additional|other|special|screening|imaging(?: and other)?|hematologic"
    r"|infectious disease)[ _]*(?:tests?|work|results?|values?|studies|testing|workup)?|radiographs?|x[- ]rays?|biopsy"
    r"|imaging studies|assessment tools)",
    re.IGNORECASE,
)
_CONTENT = regex(
    r"(?:\w+ )?(?:findings?|results?|levels?|reports?|analysis|histopathology(?: findings)?|interpretation|comments?"
    r"|microscop\w*(?: description)?|scores|suggestion|optional|description|impression)",
    re.IGNORECASE,
)
_IMAGING = regex(
    r"x-?\s?rays?\b|radiograph|\bct\b|\bmr[ia]\b|ultraso|echocardio|mammogra|doppler|barium|pyelogram|tomograph|angiogra"
    r"|\bpet\b|scintigra|\bscan\b|imaging|fluoroscop|\bdexa\b",
    re.IGNORECASE,
)
_MODALITIES = (
    ("Echocardiography", r"echocardio"),
    ("Ultrasound", r"ultraso|doppler"),
    ("MRI", r"\bmr[ia]\b|magnetic"),
    ("CT", r"\bct\b|computed tomog"),
    ("Mammography", r"mammogra"),
    ("Fluoroscopy", r"barium|pyelogram|fluoroscop"),
    ("Radiograph", r"x-?\s?rays?\b|radiograph"),
)
_REGIONS = (
    ("Head", r"brain|head|cranial|skull"),
    ("Chest", r"chest|thora|lung"),
    ("Heart", r"echocardio|cardiac|heart"),
    ("Abdomen", r"abdom|barium enema|renal|kidney|liver|pyelogram"),
    ("Pelvis", r"pelvi|scrotal|uter"),
    ("Breast", r"breast|mammogra"),
    ("Neck", r"neck|thyroid"),
    ("Spine", r"spin|lumbar"),
    ("Limb", r"knee|hip|hand|wrist|shoulder|leg|limb|foot|ankle|elbow"),
)
_MICROBIOLOGY = regex(r"cultures?\b|gram[ -]stain|acid[ -]fast|\bafb\b", re.IGNORECASE)
_BLOOD = regex(
    r"blood|serum|count|\bcbc\b|chemi|panel|laborator|\blabs?\b|electrolyte|liver|thyroid|coagulation|hormon|iron|hemato"
    r"|profile|metabolic|serolog|level|elisa|\bca-?\d|lipid|renal function|tests?$|testing$|screen(?:ing)?$",
    re.IGNORECASE,
)
_PREFIXED = regex(
    r"urin|stool|csf|lumbar puncture|aspirat|arthrocentesis|toxicology|synovial|pleural|peritoneal|semen|sweat",
    re.IGNORECASE,
)
_TRACED = regex(
    r"spirometry|pulmonary function|encephalogra|cardiogram|audio|hearing|polysomno|sleep|conduction|electromyo"
    r"|vestibular|manoeuvre|maneuver|autonomic|differential$|assessment|screening_tests|biops|smear|cytometry"
    r"|genetic|bone marrow|scop|consult|fluorescence",
    re.IGNORECASE,
)
_VAGUE = regex(r"random|fasting|others?|total|direct|other findings|ratio|index|volume", re.IGNORECASE)
_ADVICE = ("optional", "suggestion")
"""Keys whose values are suggestions, not results."""


class StationResults(msgspec.Struct, frozen=True):
    """The results of one station by kind."""

    examination: tuple[Finding, ...]
    labs: tuple[Lab, ...]
    microbiology: tuple[Culture, ...]
    imaging: tuple[Study, ...]
    investigations: tuple[Investigation, ...]


class _Leaf(msgspec.Struct, frozen=True):
    path: tuple[str, ...]
    text: str


def results(tests: Mapping[str, Json]) -> StationResults:
    """All results under unique names; leaves such as 'pending' or 'not specified' are left out."""
    studies: dict[str, list[_Leaf]] = {}
    labs: dict[str, Lab] = {}
    for leaf in _leaves(tests, ()):
        lab = _lab(leaf)
        if lab is None:
            studies.setdefault(_study(leaf), []).append(leaf)
        else:
            name = _unique(lab.name, leaf.path, labs)
            labs[name] = lab.model_copy(update={"name": name})
    vital, cultures, imaging, other = [], [], [], []
    for name, leaves in studies.items():
        text = _joined(_line(name, leaf) for leaf in leaves)
        plain = True if all(says_normal(leaf.text) for leaf in leaves) else None
        where = " ".join((*leaves[0].path[:1], name))
        if re.search(r"vital", name, re.IGNORECASE):
            vital.append(Finding(section=name, text=text, normal=plain))
        elif _IMAGING.search(where) and not _TRACED.search(name.replace("chocardiogram", "")):
            kind, region = _first_label(_MODALITIES, name), _first_label(_REGIONS, name)
            imaging.append(Study(exam=name, modality=kind, region=region, report=text, normal=plain))
        elif _MICROBIOLOGY.search(name):
            cultures.append(Culture(test=name, specimen=_specimen(name), comment=text))
        else:
            other.append(Investigation(name=name, text=text, normal=plain))
    return StationResults(tuple(vital), tuple(labs.values()), tuple(cultures), tuple(imaging), tuple(other))


def readable_key(key: str) -> str:
    """A key in readable form: 'Past_Medical_History' as 'Past medical history', with abbreviations kept."""
    words = key.replace("_", " ").split()
    shown = [
        word.lower() if index and len(word) > 1 and word.istitle() and word.isalpha() else word
        for index, word in enumerate(words)
    ]
    return " ".join(shown) or "Unnamed"


def as_text(value: Json) -> str:
    """A value as text: lists joined by commas, objects as 'Name: text' joined by semicolons."""
    if value is None or value is False:
        return ""
    if value is True:
        return "yes"
    if isinstance(value, dict):
        parts = ((readable_key(name), as_text(part)) for name, part in value.items())
        return "; ".join(f"{name}: {text}" for name, text in parts if text)
    if isinstance(value, list):
        return ", ".join(text for part in value if (text := as_text(part)))
    return str(value).strip()


def _leaves(value: Json, path: tuple[str, ...]) -> Iterator[_Leaf]:
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _leaves(part, (*path, key.replace("_", " ").strip() or "Unnamed"))
    elif (text := as_text(value)) and path and not not_done(text) and path[-1].lower() not in _ADVICE:
        yield _Leaf(path, text)


def _lab(leaf: _Leaf) -> Lab | None:
    """The laboratory value of a leaf that is exactly one; otherwise None."""
    path = [part for part in leaf.path if not _CONTENT.fullmatch(part)] or list(leaf.path)
    whole = " ".join(leaf.path)
    if _IMAGING.search(whole) or _MICROBIOLOGY.search(whole) or re.search("vital", whole, re.IGNORECASE):
        return None
    if any(_TRACED.search(part) for part in leaf.path):
        return None
    known = any(_BLOOD.search(part) or _PREFIXED.search(part) for part in leaf.path)
    read = measured_number(leaf.text)
    if read is None and known and len(leaf.text) <= 40 and not leaf.text.endswith("."):
        read = Measured(leaf.text, flag=flag_of(leaf.text))
    if read is None:
        return None
    panel = next((part for part in leaf.path[:-1] if _PREFIXED.search(part) or _VAGUE.fullmatch(path[-1])), "")
    alone = readable_key(path[-1])
    name = f"{readable_key(panel)}: {alone}" if panel and panel != path[-1] else alone
    return Lab(name=name, value=read.value, unit=read.unit, low=read.low, high=read.high, flag=read.flag)


def _unique(name: str, path: tuple[str, ...], taken: Mapping[str, object]) -> str:
    """A unique name: `name`, or with its section in front, or numbered."""
    if name in taken and len(path) > 1:
        name = f"{readable_key(path[0])}: {name.rsplit(': ', 1)[-1]}"
    free, count = name, 1
    while free in taken:
        count += 1
        free = f"{name} ({count})"
    return free


def _study(leaf: _Leaf) -> str:
    """The study that a leaf belongs to: its section, or below a wrapper such as 'Imaging' the section's member."""
    path = list(leaf.path)
    if len(path) > 1 and _MICROBIOLOGY.search(path[-1]):
        return f"{readable_key(path[-2] if not _CONTENT.fullmatch(path[-2]) else path[0])}: {readable_key(path[-1])}"
    while len(path) > 1 and _CONTENT.fullmatch(path[-1]):
        path.pop()
    if len(path) > 1 and _WRAPPER.fullmatch(path[0]):
        if re.fullmatch(r"biopsy|radiographs?|x[- ]rays?", path[0], re.IGNORECASE):
            return readable_key(f"{path[1]} {path[0]}" if path[0].lower() not in path[1].lower() else path[1])
        return readable_key(path[1])
    return readable_key(path[0])


def _line(study: str, leaf: _Leaf) -> str:
    """The text of a leaf within its study: bare for findings, else with its own name."""
    last = readable_key(leaf.path[-1])
    if study.endswith(last) or _CONTENT.fullmatch(leaf.path[-1]) or study.lower().startswith(last.lower()):
        return leaf.text
    return f"{last}: {leaf.text}"


def _joined(lines: Iterable[str]) -> str:
    text = ""
    for line in lines:
        text += line if not text else f" {line}" if text.endswith(".") else f"; {line}"
    return text


def _specimen(test: str) -> str:
    """The specimen: 'Sputum' of 'Sputum culture', 'Urinalysis' of 'Urinalysis: Bacterial culture'."""
    return test.split(":", 1)[0].strip() if ":" in test else re.split(r"\s+cultures?\b", test, flags=re.IGNORECASE)[0]


def _first_label(table: tuple[tuple[str, str], ...], name: str) -> str:
    return next((label for label, pattern in table if re.search(pattern, name, re.IGNORECASE)), "")


SOURCE = "AgentClinic"
LICENCE = "MIT"
KEY = "OSCE_Examination"

_ACTOR_FIRST = ("Demographics", "History", "Symptoms")


def osce_case(number: int, record: Json) -> Case:
    """The case of station `number`, which is called 'osce-001', since the file has no ids; raises Refused."""
    wrong: list[FieldFault] = []
    station = record.get(KEY) if isinstance(record, dict) else None
    if not isinstance(station, dict):
        raise Refused([(KEY, "is missing, or no object")])
    objective = _text(station, "Objective_for_Doctor", wrong)
    correct = _text(station, "Correct_Diagnosis", wrong)
    actor = _object(station, "Patient_Actor", wrong, needed=True)
    body = _object(station, "Physical_Examination_Findings", wrong)
    tests = _object(station, "Test_Results", wrong)
    history = _history(actor)
    if actor and not history:
        wrong.append((f"{KEY}.Patient_Actor", "says nothing"))
    if wrong:
        raise Refused(wrong)
    diagnosis, synonyms = diagnosis_names(correct)
    recorded = results(tests)
    return Case(
        id=f"osce-{number:03d}",
        opening="\n".join(f"{name}: {text}" for name, text in history.items()),
        complaint=objective,
        opening_source="composed",
        history=history,
        examination=(*_examination(body), *recorded.examination),
        labs=recorded.labs,
        microbiology=recorded.microbiology,
        imaging=recorded.imaging,
        investigations=recorded.investigations,
        truth=Truth(diagnosis=diagnosis, synonyms=synonyms),
        group=group(diagnosis),
        provenance=Provenance(source=SOURCE, record=str(number), licence=LICENCE),
        data_class="public",
    )


class Osce(Loader):
    """AgentClinic's OSCE stations."""

    TITLE = "AgentClinic OSCE JSONL, one object with OSCE_Examination a line"

    def knows(self, record: Json) -> float:
        """Match an object that contains the station."""
        return float(isinstance(record, dict) and KEY in record)

    def case(self, number: int, name: str, record: Json) -> Case:
        """The case of a station."""
        return osce_case(number, record)

    def odd(self, record: Json) -> Iterable[Oddity]:
        """The oddities of any record, and those of a station."""
        station = record.get(KEY) if isinstance(record, dict) else None
        return (*in_record(record), *in_station(station))


def _history(actor: Mapping[str, Json]) -> dict[str, str]:
    """The actor's sheet by section, under readable names, the presenting part first."""
    order = [name for name in _ACTOR_FIRST if name in actor] + [name for name in actor if name not in _ACTOR_FIRST]
    sections = {}
    for name in order:
        if text := as_text(actor[name]):
            sections[readable_key(name)] = text
    return sections


def _examination(body: Mapping[str, Json]) -> tuple[Finding, ...]:
    """One finding per section; `normal` is true if every line says only that it is normal."""
    findings = []
    for name, part in body.items():
        value = _done(part)
        text = as_text(value)
        if text and not not_done(text):
            parts = list(value.values()) if isinstance(value, dict) else [value]
            plain = all(isinstance(part, str) and says_normal(part) for part in parts)
            findings.append(Finding(section=readable_key(name), text=text, normal=True if plain else None))
    return tuple(findings)


def _done(value: Json) -> Json:
    """The value without its parts that only say that there is no result ('Reflexes: not provided')."""
    if not isinstance(value, dict):
        return value
    parts = {name: _done(part) for name, part in value.items()}
    return {name: part for name, part in parts.items() if not (isinstance(part, str) and not_done(part))}


def _text(station: Mapping[str, Json], name: str, wrong: list[FieldFault]) -> str:
    value = station.get(name)
    if why := misfit(value, str):
        wrong.append((f"{KEY}.{name}", why))
        return ""
    return str(value).strip()


def _object(
    station: Mapping[str, Json], name: str, wrong: list[FieldFault], *, needed: bool = False
) -> Mapping[str, Json]:
    value = station.get(name)
    if isinstance(value, dict):
        return value
    if value is not None or needed:
        wrong.append((f"{KEY}.{name}", misfit(value, dict)))
    return {}
