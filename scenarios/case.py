"""A case: its opening, record and truth, the form of its results, and what a doctor may see of it and when."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import lru_cache
from hashlib import blake2b
from typing import Literal

import msgspec
from pydantic import Field

from wardround.engine.text import regex
from wardround.scenarios.criteria import RubricItem
from wardround.scenarios.record import Record, Text


class Finding(Record):
    """One section of the physical examination."""

    section: Text = Field(description="Name of the section, for instance 'Vital signs' or 'Abdomen'.")
    text: Text = Field(description="What the examination shows.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")
    images: tuple[str, ...] = Field(
        default=(), description="Images of the result: files beside the file of cases, data URLs or https addresses."
    )


class Lab(Record):
    """One laboratory result."""

    name: Text = Field(description="Name of the test as the record has it.")
    item_id: int | None = Field(default=None, description="Item number of the source, for instance MIMIC's itemid.")
    value: Text = Field(description="The value as text: '14.0', 'positive', '>1000'.")
    unit: str = Field(default="", description="Unit of the value.")
    low: float | None = Field(default=None, description="Lower end of the reference range, in `unit`.")
    high: float | None = Field(default=None, description="Upper end of the reference range, in `unit`.")
    flag: Literal["", "normal", "low", "high", "abnormal"] = Field(default="", description="The record's own flag.")
    time: str = Field(default="", description="When it was taken, ISO 8601; the earliest result of a name comes first.")


class Susceptibility(Record):
    """How one organism of a culture reacts to one antibiotic."""

    organism: str = Field(default="", description="The organism; empty if the culture has one only.")
    antibiotic: Text = Field(description="Name of the antibiotic as the record has it.")
    result: Literal["susceptible", "intermediate", "resistant"] = Field(description="The laboratory's reading.")
    concentration: str = Field(default="", description="Minimum inhibitory concentration as the record has it.")


class Culture(Record):
    """One microbiology result."""

    test: Text = Field(description="Name of the test, for instance 'Blood culture'.")
    item_id: int | None = Field(default=None, description="Item number of the source.")
    specimen: str = Field(default="", description="What was sampled.")
    organism: str = Field(default="", description="Organism grown or detected; empty if none.")
    comment: str = Field(default="", description="Comment of the laboratory, for instance 'No growth'.")
    susceptibility: tuple[Susceptibility, ...] = Field(default=(), description="Antibiotics tested, in record order.")
    time: str = Field(default="", description="When it was taken, ISO 8601.")


class Study(Record):
    """One imaging study."""

    exam: Text = Field(description="Name of the study, for instance 'Chest radiograph, PA and lateral'.")
    modality: str = Field(default="", description="Radiograph, CT, MRI, Ultrasound, ...")
    region: str = Field(default="", description="Chest, Abdomen, Head, ...")
    report: Text = Field(description="The radiologist's text.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")
    time: str = Field(default="", description="When it was done, ISO 8601.")
    images: tuple[str, ...] = Field(
        default=(), description="Images of the result: files beside the file of cases, data URLs or https addresses."
    )


class Investigation(Record):
    """One result that only exists as text: biopsy, endoscopy, tracing, or a case report's own line."""

    name: Text = Field(description="Name of the investigation, for instance 'Skin biopsy'.")
    text: Text = Field(description="Its result.")
    normal: bool | None = Field(default=None, description="True if recorded as normal; null if not said.")
    images: tuple[str, ...] = Field(
        default=(), description="Images of the result: files beside the file of cases, data URLs or https addresses."
    )


class Truth(Record):
    """What the scores compare with. No seat sees it, except a doctor whose factory asks for the truth."""

    diagnosis: str = Field(default="", description="The final diagnosis; empty in a treatment-only case.")
    synonyms: tuple[str, ...] = Field(default=(), description="Other names that count as the diagnosis.")
    parts: tuple[str, ...] = Field(
        default=(), description="The diseases that the diagnosis names, the principal one first; read from it if empty."
    )
    codes: tuple[str, ...] = Field(default=(), description="Codes as 'SYSTEM:CODE', for instance 'ICD10CM:K35.80'.")
    treatment: str = Field(default="", description="The treatment; empty in a diagnosis-only case.")
    differential: str = Field(default="", description="Reference reasoning: the differential and its narrowing.")
    reasoning: str = Field(default="", description="Reference reasoning: the explanation of the final answer.")
    deciding: tuple[str, ...] = Field(
        default=(), description="Findings that settle the diagnosis; a conclusion before all are seen is premature."
    )


class Category(Record):
    """Strata for reports."""

    body_systems: tuple[str, ...] = Field(default=(), description="Body systems concerned.")
    disorders: tuple[str, ...] = Field(default=(), description="Kinds of disorder.")
    rare: bool | None = Field(default=None, description="Rare disease or not; null if not known.")


class Provenance(Record):
    """Where a case comes from."""

    source: Text = Field(description="Data set or author.")
    record: str = Field(default="", description="Identifier in the source.")
    dated: date | None = Field(default=None, description="Date of the source record or publication.")
    licence: str = Field(default="", description="Licence of the source.")


class Case(Record):
    """One patient.

    ::

        Case(
            id="c1", opening="A woman of 34 with a painful red eye for two days.", data_class="public",
            truth=Truth(diagnosis="Anterior uveitis"), provenance=Provenance(source="written for teaching"),
        )

    Each string belongs to one of three kinds. Open: `opening` (or `complaint` in a consultation), seen by the doctor
    from the start. Ordered: `history` (asked of the patient) and the results, seen when asked for.
    Closed: `truth`, `rubric`, `group`, `category`, `provenance`, seen by no seat.
    """

    id: Text = Field(description="Unique in its file.")
    opening: Text = Field(description="What a doctor reads first: history of present illness, or a report's summary.")
    complaint: str = Field(default="", description="One line for the door of a consultation; `opening` if empty.")
    opening_source: Literal["note", "structured", "composed"] = Field(
        default="note", description="A clinician's note, built from coded fields, or composed by a loader."
    )
    history: dict[str, str] = Field(default_factory=dict, description="The patient's own story, section by section.")
    examination: tuple[Finding, ...] = Field(default=(), description="Physical examination.")
    labs: tuple[Lab, ...] = Field(default=(), description="Laboratory results.")
    microbiology: tuple[Culture, ...] = Field(default=(), description="Microbiology results.")
    imaging: tuple[Study, ...] = Field(default=(), description="Imaging studies.")
    investigations: tuple[Investigation, ...] = Field(default=(), description="Results known only as text.")
    ancillary: str = Field(
        default="", description="A report's tests as one text, kept word for word; `investigations` holds its lines."
    )
    truth: Truth = Field(description="The answer.")
    rubric: tuple[RubricItem, ...] = Field(default=(), description="Criteria on how the encounter is led.")
    group: str = Field(default="", description="The disease, for macro averages.")
    category: Category = Field(default_factory=Category, description="Strata.")
    provenance: Provenance = Field(description="Source.")
    data_class: Literal["public", "restricted"] = Field(
        description="A restricted case leaves this machine only to hosts the user names."
    )


Kind = Literal["examination", "lab", "microbiology", "imaging", "investigation"]


class CaseResult(msgspec.Struct, frozen=True):
    """One recorded result.

    `ref` cites the field that it comes from, for instance 'labs[3]'; `normal` is None if the record does not say.
    `code` is the source's item number, `time` when it was taken (ISO 8601); '' if the record has none. `images` are
    references (`image_reference`).
    """

    ref: str
    kind: Kind
    name: str
    text: str
    normal: bool | None
    detail: str = ""
    code: str = ""
    time: str = ""
    images: tuple[str, ...] = ()


_KEPT = 64
"""Number of cases whose results are kept. An episode asks for them several times, and a run plays the repeats of a case
soon after each other."""
_kept: OrderedDict[int, tuple[Case, tuple[CaseResult, ...]]] = OrderedDict()


def case_results(case: Case) -> tuple[CaseResult, ...]:
    """All results of `case`, in the order of its fields."""
    kept = _kept.get(id(case))
    if kept is not None and kept[0] is case:
        return kept[1]
    results = _items(case)
    _kept[id(case)] = (case, results)
    if len(_kept) > _KEPT:
        _kept.popitem(last=False)
    return results


def _items(case: Case) -> tuple[CaseResult, ...]:
    results = [
        CaseResult(
            f"examination[{i}]", "examination", part.section, part.text, part.normal, images=_references(part.images)
        )
        for i, part in enumerate(case.examination)
    ]
    for i, lab in enumerate(case.labs):
        code = str(lab.item_id or "")
        results.append(
            CaseResult(f"labs[{i}]", "lab", lab.name, lab_text(case, i), lab_normal(case, i), code, code, lab.time)
        )
    for i, culture in enumerate(case.microbiology):
        parts = (culture.organism, culture.comment, *_antibiotics(culture))
        text = "; ".join(part for part in parts if part) or "no organism reported"
        where = f" ({culture.specimen})" if culture.specimen else ""
        results.append(
            CaseResult(
                f"microbiology[{i}]",
                "microbiology",
                culture.test,
                f"{culture.test}{where}{taken_at(culture.time)}: {text}",
                None,
                culture.specimen,
                str(culture.item_id or ""),
                culture.time,
            )
        )
    for i, study in enumerate(case.imaging):
        detail = f"{study.modality} {study.region}".strip()
        report = f"{study.exam}{taken_at(study.time)}: {study.report}"
        results.append(
            CaseResult(
                f"imaging[{i}]",
                "imaging",
                study.exam,
                report,
                study.normal,
                detail,
                time=study.time,
                images=_references(study.images),
            )
        )
    for i, other in enumerate(case.investigations):
        results.append(
            CaseResult(
                f"investigations[{i}]",
                "investigation",
                other.name,
                f"{other.name}: {other.text}",
                other.normal,
                images=_references(other.images),
            )
        )
    return tuple(results)


def image_reference(image: str) -> str:
    """How a log names an image: `image:` and a digest for a data URL; an https address stays as it is.

    In this way the image itself is kept only once, in its case, and not in every call that shows it.
    """
    return image if image.startswith("https://") else f"image:{blake2b(image.encode(), digest_size=16).hexdigest()}"


def _references(images: Sequence[str]) -> tuple[str, ...]:
    return tuple(map(image_reference, images))


def _antibiotics(culture: Culture) -> Iterator[str]:
    """One phrase for each organism and reading: 'E. coli: susceptible to ceftriaxone, gentamicin'."""
    groups: dict[tuple[str, str], list[str]] = {}
    for one in culture.susceptibility:
        name = f"{one.antibiotic} (MIC {one.concentration})" if one.concentration else one.antibiotic
        groups.setdefault((one.organism, one.result), []).append(name)
    for (organism, result), names in groups.items():
        yield f"{organism + ': ' if organism else ''}{result} to {', '.join(names)}"


def lab_text(case: Case, index: int) -> str:
    """A laboratory result as in a chart: value, unit, reference range, flag, time."""
    lab = case.labs[index]
    parts = [f"{lab.name}: {lab.value}" + (f" {lab.unit}" if lab.unit else "")]
    if lab.low is not None and lab.high is not None:
        parts.append(f"(reference {lab.low:g}-{lab.high:g})")
    elif lab.low is not None:
        parts.append(f"(reference from {lab.low:g})")
    elif lab.high is not None:
        parts.append(f"(reference up to {lab.high:g})")
    if lab.flag and lab.flag != "normal":
        parts.append(f"[{lab.flag}]")
    return " ".join(parts) + taken_at(lab.time)


def taken_at(time: str) -> str:
    """' at 2150-01-02 10:00' for the time of a result, to the minute; '' if the record has none."""
    return f" at {time[:16].replace('T', ' ')}" if time else ""


def lab_normal(case: Case, index: int) -> bool | None:
    """Whether a laboratory result is normal: by the record's flag, else by its range, else None."""
    lab = case.labs[index]
    if lab.flag:
        return lab.flag == "normal"
    match = _MEASURED.fullmatch(lab.value.strip())
    if match is None or (lab.low is None and lab.high is None):
        return None
    value = float(match["number"])
    if match["sign"] in ("<", "\u2264"):  # the value lies below the number
        if lab.low and value <= lab.low:
            return False
        return True if not lab.low and lab.high is not None and value <= lab.high else None
    if match["sign"]:  # the value lies above it
        if lab.high is not None and value >= lab.high:
            return False
        return True if lab.high is None and lab.low is not None and value >= lab.low else None
    return (lab.low is None or value >= lab.low) and (lab.high is None or value <= lab.high)


_MEASURED = regex(r"(?P<sign>[<>\u2264\u2265]?)=?\s*(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")
"""A measured number, or the bound of one ("<0.01")."""


_BESIDE = (
    r"(?:tests?|testing|investigations?|stud(?:y|ies)|exam(?:ination)?s?|procedures?|work-?ups?|data|findings?|results?"
    r"|imaging|images?|diagnostics?|evaluations?|assessments?|reports?|labs?|laborator(?:y|ies)|radiolog\w*|other|further"
    r"|additional|relevant|key|special|the|patholog\w*|histo\w*|microbiolog\w*|biops\w*|genetics?|summary|performed|done"
    r"|obtained)"
)
ANCILLARY = (
    rf"[ \t#>*_\u2022\-]*(?:\d{{1,2}}[.)][ \t]*)?[*_]*ancillary[ ]{_BESIDE}"
    rf"(?:[ ]?(?:[/&+,]|and|or|[ ])[ ]?{_BESIDE}){{0,6}}"
    r"\b[ ]?(?:\([^()\n]{0,80}\))?[*_ \t]*(?:[:\uff1a]|[\u2013\u2014]|-[ \t]|$)"
)
"""A line that opens a report's tests: 'Ancillary Tests:', with any other words before its colon."""
_HEADING = regex(rf"(?im)^{ANCILLARY}")
_MARKS = regex(r"(?m)^[ \t]*\d{1,2}[.)][ \t]")
_GAPS = regex(r"[\W_]+")


def split_report(summary: str) -> tuple[str, str]:
    """Split a report into (open part, withheld part) before its first heading 'Ancillary Tests'.

    The heading may have any markup and further words: 'Ancillary Tests/Imaging:', 'Ancillary Tests and Findings:',
    'Ancillary Investigations -'. A mention of ancillary tests within a sentence is not a heading. Without a heading
    the whole report is open. Both parts are verbatim apart from blank lines between them; the withheld part includes
    the heading.
    """
    heading = _HEADING.search(summary)
    if heading is None:
        return summary.strip("\n"), ""
    return summary[: heading.start()].strip("\n"), summary[heading.start() :].strip("\n")


def open_report(case: Case) -> str:
    """The report without its tests: the open part of the opening, with the history and examination that it lacks.

    A case may keep the patient's story and the examination in fields of their own. They become sections here, because
    the published reports disclose them too (MedR-Bench, section 4.2).
    """
    opening, _ = split_report(case.opening)
    known = _flat(opening)
    parts = [opening]
    parts += [f"- {name}: {text}" for name, text in case.history.items() if _flat(text) not in known]
    body = [part for part in case.examination if _flat(part.text) not in known]
    if body:
        parts.append("- Physical Examination:\n" + "\n".join(f"  - {part.section}: {part.text}" for part in body))
    return "\n".join(part for part in parts if part)


def withheld(case: Case) -> str:
    """The tests of the report as one text: the report's own words if it has any, and the recorded results."""
    _, rest = split_report(case.opening)
    parts = [text for text in (rest, case.ancillary) if text]
    kinds = ("lab", "microbiology", "imaging") if parts else ("lab", "microbiology", "imaging", "investigation")
    rows = [_line(item) for item in case_results(case) if item.kind in kinds]
    if rows:
        parts.append("- Ancillary Tests:\n" + "\n".join(rows))
    return "\n".join(parts)


def full_report(case: Case) -> str:
    """The whole report: `open_report` and `withheld` together."""
    return "\n".join(part for part in (open_report(case), withheld(case)) if part)


def _line(item: CaseResult) -> str:
    return "  - " + item.text.strip().replace("\n", "\n    ")


def _flat(text: str) -> str:
    """The words of a text, without case, spacing, punctuation and marks of lists."""
    return _GAPS.sub(" ", _MARKS.sub("", text)).strip().lower()


def mentions_finding(finding: str, texts: Sequence[str]) -> bool:
    """Whether one of the texts contains the words of a finding, ignoring case and spacing."""
    wanted = _plain(finding)
    return bool(wanted) and any(wanted in _plain(text) for text in texts)


def unrecorded_findings(case: Case) -> list[str]:
    """The deciding findings of a case that its record does not contain, so that no doctor can ever see them."""
    texts = [*_open_texts(case)]
    return [finding for finding in case.truth.deciding if not mentions_finding(finding, texts)]


def _open_texts(case: Case) -> Iterable[str]:
    yield from (case.opening, case.complaint, case.ancillary, full_report(case), *case.history.values())
    yield from (item.text for item in case_results(case))


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" .;,").casefold()
