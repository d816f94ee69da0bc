"""What of a case report a doctor may read from the start, and what is withheld until it is asked for."""

from wardround.engine.text import later
from wardround.scenarios.case import Case
from wardround.scenarios.records import Item, items

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
"""A line that opens a report's tests: 'Ancillary Tests:', and whatever else it lists beside them before its colon."""
_HEADING = later(rf"(?im)^{ANCILLARY}")
_GAPS = later(r"\s+")


def split(summary: str) -> tuple[str, str]:
    """(open part, withheld part): cut before the first line that is a heading 'Ancillary Tests', however it is marked.

    Of its class are 'Ancillary Tests/Imaging:', 'Ancillary Tests and Findings:', 'Ancillary Investigations -'. Both
    word for word but for the blank lines between them; the withheld part has the heading. A mention of ancillary tests
    inside a sentence is no heading. Without a heading all is open.
    """
    heading = _HEADING.search(summary)
    if heading is None:
        return summary.strip("\n"), ""
    return summary[: heading.start()].strip("\n"), summary[heading.start() :].strip("\n")


def summary(case: Case) -> str:
    """The report without its tests: the open part of the opening, and what it lacks of history and examination.

    Cases that keep the patient's story and the examination as fields of their own get them as sections here: in the
    published reports they are open too (paper 002, section 4.2).
    """
    opening, _ = split(case.opening)
    known = _flat(opening)
    parts = [opening]
    parts += [f"- {name}: {text}" for name, text in case.history.items() if _flat(text) not in known]
    body = [part for part in case.examination if _flat(part.text) not in known]
    if body:
        parts.append("- Physical Examination:\n" + "\n".join(f"  - {part.section}: {part.text}" for part in body))
    return "\n".join(part for part in parts if part)


def withheld(case: Case) -> str:
    """The tests of the report as one text, in the report's words where it has them."""
    _, rest = split(case.opening)
    told = [text for text in (rest, case.ancillary) if text]
    kinds = ("lab", "microbiology", "imaging") if told else ("lab", "microbiology", "imaging", "investigation")
    rows = [_line(item) for item in items(case) if item.kind in kinds]
    if rows:
        told.append("- Ancillary Tests:\n" + "\n".join(rows))
    return "\n".join(told)


def full(case: Case) -> str:
    """The report with its tests."""
    return "\n".join(part for part in (summary(case), withheld(case)) if part)


def _line(item: Item) -> str:
    return "  - " + item.text.strip().replace("\n", "\n    ")


def _flat(text: str) -> str:
    return _GAPS.sub(" ", text).strip().lower()
