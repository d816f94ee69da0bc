"""A radiology report as a study: modality and region by its exam name, the report without what tells the reading."""

import re
from collections.abc import Mapping

from wardround.scenarios.case import Study
from wardround.scenarios.mimic.draft import Report
from wardround.scenarios.mimic.opening import tidy
from wardround.scenarios.terms import imaging
from wardround.scenarios.terms.catalogue import catalogue

_HEAD = re.compile(r"(?m)^[ \t]*([A-Z][A-Z ,/&'().-]{2,60}?)[ \t]*:(?!\d)")
_TELLING = (
    "IMPRESSION", "CONCLUSION", "SUMMARY", "OPINION", "INDICATION", "CLINICAL", "HISTORY", "REASON", "COMPARISON",
    "RECOMMENDATION", "NOTIFICATION", "COMMENT", "MEDICAL HISTORY", "REFERENCE", "OPERATOR", "DATE", "WET READ",
    "FINAL",
)  # fmt: skip
_NAMING = ("EXAMINATION", "EXAM", "STUDY", "TYPE OF EXAMINATION")
_SAYING = re.compile(r"(?m)^[ \t]*(?:Impression|Conclusion|IMPRESSION|CONCLUSION)[ \t]*:?")
_LEAST = 15


def sections(text: str) -> dict[str, str]:
    """The report by its headings in capitals; what stands before the first is under ''. Equal headings are joined."""
    heads = list(_HEAD.finditer(text))
    found = {"": text[: heads[0].start()] if heads else text}
    for head, end in zip(heads, [*(other.start() for other in heads[1:]), len(text)], strict=False):
        name = " ".join(head[1].split())
        body = text[head.end() : end].strip()
        found[name] = f"{found[name]}\n{body}" if name in found else body
    return {name: body.strip() for name, body in found.items() if body.strip()}


def informative(text: str) -> str:
    """The report's own findings: without indication, history, comparison, impression and the like; '' if none are."""
    kept = []
    for name, body in sections(text).items():
        if name.startswith(_TELLING):
            continue
        said = _SAYING.split(body)[0].strip()
        if name not in _NAMING and said:
            kept.append(f"{name}:\n{said}" if name else said)
    text = tidy("\n\n".join(kept))
    return text if len(text.strip("_ ")) >= _LEAST else ""


def exam_name(report: Report) -> str:
    """The exam's recorded name, else what the report says of itself."""
    if report.exam.strip("_ "):
        return report.exam.strip()
    parts = sections(report.text)
    said = next((parts[name] for name in _NAMING if name in parts), "")
    line = next((line.strip() for line in (said or parts.get("", "")).splitlines() if line.strip("_ ")), "")
    return " ".join(line.split())[:120] or "Imaging study"


def study(report: Report) -> Study | None:
    """The whole report as a study; None where it says nothing."""
    text = tidy(report.text)
    if not text.strip("_ "):
        return None
    name = exam_name(report)
    modality, region = placed(name)
    return Study(exam=name, modality=modality, region=region, report=text, time=report.time)


def placed(name: str) -> tuple[str, str]:
    """The modality and region that an exam name tells, '' for what it does not."""
    table = catalogue()
    read = imaging.read(name.replace("_", " ").replace("W&W/O", " "), table)
    regions: Mapping[str, object] = table.regions
    return (read.modalities[0] if read.modalities else "", next((name for name in regions if name in read.regions), ""))
