"""Finding the diagnosis that a text names."""

import re

from wardround.scenarios import headings
from wardround.scenarios.nonanswers import postponed, template
from wardround.scenarios.reading import clean

REACH = 8_000
MOST = 50
"""Characters after a heading, and headings of a kind, that are looked at: a reply of 1 MB must not cost minutes."""

MARKS = " \t\r*_`#[](){}<>\"'.!:"
"""What may stand around a word without meaning anything; the colon comes last."""

HEADING = re.compile(
    r"(?i)[ \t#>*_\-]*(?:rationale|action|reasoning|explanation|note|treatment(?: +plan)?|(?:\w+ +)?diagnos[ie]s|"
    r"(?:lab|laboratory|microbiology) +tests?|imaging +(?:scans?|studies))[*_ ]*[:\uff1a]"
)
"""A line that opens another part of the reply."""

_LINE = re.compile(
    r"(?im)^[ \t#>*_\-]*(?:\d[.)] ?)?(?:(?:the|my|most|likely|final|primary|principal|main|definitive|leading) +){0,4}"
    r"diagnos[ie]s[*_ ]*(?:[:\uff1a]|$)"
)
_INLINE = re.compile(r"(?i)\bdiagnosis[*_ ]{0,4}[:\uff1a]")
_SAID = re.compile(r"(?i)\bdiagnosis +(?:is|would be)\b[: ]*")
_OTHER = re.compile(r"(?i)\b(?:differential|secondary|other|additional|alternative)[\s*_]*$")
_TREATMENT = re.compile(r"(?i)\btreatment(?: +plan)?[*_ ]*[:\uff1a]")


def headed(text: str) -> str:
    """What the last line that opens with `Diagnosis:` names, or the empty text; a differential is no diagnosis.

    Nor is a placeholder, or that there is none yet. Where there is no such line, one in another language counts.
    """
    return _named(text, _LINE) or clean(headings.named(text))


def named(text: str) -> str:
    """The same for a text that was asked for nothing but the diagnosis: also inside a line, or in a sentence."""
    return headed(text) or _named(text, _INLINE) or _named(text, _SAID, sentence=True)


def place(text: str) -> tuple[int, int] | None:
    """Where the line that `headed` looks at first begins and ends, with the line under it if it is a heading."""
    for match in reversed(list(_LINE.finditer(text))[-MOST:]):
        if not _OTHER.search(text[max(0, match.start() - 24) : match.start()]):
            line, _, rest = text[match.end() :].partition("\n")
            end = match.end() + len(line)
            if not line.strip(MARKS):
                under = rest.lstrip()
                end = len(text) - len(under) + len(under.partition("\n")[0])
            return match.start(), end
    return None


def _named(text: str, heading: re.Pattern[str], *, sentence: bool = False) -> str:
    for match in list(heading.finditer(text))[: -MOST - 1 : -1]:
        if _OTHER.search(text[max(0, match.start() - 24) : match.start()]):
            continue
        line, *rest = text[match.end() : match.end() + REACH].split("\n")
        if not line.strip(MARKS):
            line = _paragraph(rest)
        if sentence:
            line = line.partition(". ")[0]
        said = _TREATMENT.split(line, maxsplit=1)[0]
        value = clean(said)
        if value and not value.lower().startswith("(the ") and not template(said) and not postponed(said):
            return value
    return ""


def _paragraph(lines: list[str]) -> str:
    """The first paragraph of `lines`, in one line."""
    kept: list[str] = []
    for line in lines:
        if HEADING.match(line) or (kept and not line.strip()):
            break
        if line.strip():
            kept.append(line.strip())
    return " ".join(kept)
