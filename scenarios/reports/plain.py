"""Articles as JSON lines: whole texts, or texts already parted into title, abstract and sections."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from wardround.engine.records import Json
from wardround.scenarios.reports.article import Section
from wardround.scenarios.reports.prose import tidy

FIELDS = {
    "id": ("id", "pmcid", "pmc_id", "doi"),
    "text": ("text", "raw_case", "full_text", "body"),
    "title": ("title",),
    "abstract": ("abstract",),
    "kind": ("article_type", "type"),
    "published": ("published", "date", "receive_time"),
    "language": ("language", "lang"),
    "licence": ("licence", "license"),
}
"""The fields of a line, each with the names it may have; `sections` is a list of {heading, text} beside or for text."""

_LONGEST = 120
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[IVX]+\.)\s+")
_HEADING = re.compile(
    r"(?i)^(?:abstract|highlights?|background|introduction|case|patient|presentation|description|materials?|methods?"
    r"|results?|discussion|clinical|conclusions?|comments?|consent|ethic|funding|author|guarantor|research|conflict"
    r"|declaration|credit|supplement|learning|diagnos|treatment|management|outcome|follow|history|physical|laboratory"
    r"|imaging|investigation|differential|therap|intervention|surg|post|autopsy|histopath|patholog|limitation|key)"
)


class Wrong(Exception):
    """A line that is no article; the message says which field and what."""


def fields(record: Json) -> dict[str, Any]:
    """What a line says of an article, by the fields of `Article`; raises Wrong."""
    if not isinstance(record, Mapping):
        raise Wrong(f"a line must be a JSON object, this is {type(record).__name__}")
    told = {name: _text(record, names) for name, names in FIELDS.items()}
    title, sections = told["title"], _given(record.get("sections"))
    if told["text"]:
        found, parted = parts(told["text"], titled=bool(title))
        title, sections = title or found, (*sections, *parted)
    abstract = told["abstract"]
    if not abstract and sections and sections[0].heading.lower() == "abstract":
        abstract, sections = sections[0].text, sections[1:]
    return {
        "id": told["id"],
        "title": " ".join(title.split()),
        "abstract": tidy(abstract),
        "sections": sections,
        "kind": told["kind"],
        "published": dated(told["published"]),
        "language": told["language"][:2].lower(),
        "licence": told["licence"],
    }


def parts(text: str, *, titled: bool = False) -> tuple[str, tuple[Section, ...]]:
    """(title, sections) of a text: headings are short lines of their own that begin as headings of reports do.

    Unless `titled`, a first line that is short and no heading is the title.
    """
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text.strip()) if block.strip()]
    title = ""
    if not titled and len(blocks) > 1 and "\n" not in blocks[0] and len(blocks[0]) <= 400 and not _heads(blocks[0]):
        title, blocks = blocks[0], blocks[1:]
    found: list[tuple[str, list[str]]] = [("", [])]
    for block in blocks:
        first, _, rest = block.partition("\n")
        if _heads(first):
            found.append((_NUMBER.sub("", first.strip()).rstrip(":. "), [rest] if rest.strip() else []))
        else:
            found[-1][1].append(block)
    made = ((heading, tidy("\n\n".join(told))) for heading, told in found)
    return title, tuple(Section(heading=heading, text=told) for heading, told in made if told)


def _heads(line: str) -> bool:
    name = _NUMBER.sub("", line.strip())
    return (
        len(name) <= _LONGEST
        and len(name.split()) <= 9
        and not name.endswith((".", ",", ";"))
        and bool(_HEADING.match(name))
    )


def _given(value: Json) -> tuple[Section, ...]:
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise Wrong("field sections: must be a list of {heading, text}")
    found = []
    for part in value:
        if not isinstance(part, Mapping) or not isinstance(part.get("text"), str):
            raise Wrong("field sections: must be a list of {heading, text}")
        if text := tidy(part["text"]):
            found.append(Section(heading=" ".join(str(part.get("heading") or "").split()), text=text))
    return tuple(found)


def _text(record: Mapping[str, Json], names: Sequence[str]) -> str:
    for name in names:
        value = record.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            if name in FIELDS["id"] and isinstance(value, int):
                return str(value)
            raise Wrong(f"field {name}: must be a text, is {type(value).__name__}")
    return ""


def dated(value: str) -> date | None:
    """'2024-7-10', '2024-07' or '2024' as a date, the first of the month or year; raises Wrong."""
    if not value:
        return None
    try:
        numbers = [int(part) for part in value.partition("T")[0].split("-")]
        year, month, day = (*numbers, 1, 1)[: max(3, len(numbers))]
        return date(year, month, day)
    except ValueError:
        raise Wrong(f"field published: {value!r} is no date; it is written as 2024-07-10") from None
