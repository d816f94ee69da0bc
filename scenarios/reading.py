"""What the parsers share: the answer part of a reply, its headed sections, its answer, its reasoning step by step."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from wardround.engine.models.reply import split_thinking
from wardround.scenarios import headings
from wardround.scenarios.nonanswers import template

Name = Literal["reasoning", "information", "conclusion", "answer", "final"]

_NAMES: dict[Name, str] = {
    "reasoning": r"rea?s?oning|chain[ -]of[ -]thoughts?|thought[ ]process",  # two published files misspell it
    "information": r"additional[ ]information(?:[ ](?:required|needed|requested))?",
    "conclusion": r"(?:final[ ]|preliminary[ ])?conclusions?",
    "answer": r"(?:final[ ])?answer",
    "final": r"final[ ](?:diagnosis|treatment(?:[ ]plan)?)",
}
_NAME = "|".join(rf"(?P<{name}>{words})" for name, words in _NAMES.items())
_COLON = "[:\uff1a]"
# '### Answer:', '## **Answer**', '**Answer:**', '**Final diagnosis: gout**'; with hashes also inside a line
_MARKED = re.compile(
    rf"(?im)(?:(?<!\#)(?P<level>\#{{1,6}})[ \t]*[*_]{{0,3}}|^[ \t>]*[*_]{{2,3}})[ \t]*(?:{_NAME})[ \t]*"
    rf"(?:[*_]{{0,3}}{_COLON}[ \t]*[*_]{{0,3}}|[*_]{{0,3}}[ \t]*$)"
)
_PLAIN = re.compile(rf"(?im)^[ \t]*(?:{_NAME})[ \t]*{_COLON}")
_SAID = re.compile(r"(?i)\bfinal[ ](?:diagnosis|treatment)[ ](?:is|would[ ]be)\b[: \t]*")
_SENTENCE = re.compile(r"\.\s|\n")
_TEMPLATE = re.compile(r"(?i)[(\[](?:the (?:diagnosis|treatment)|just output|directly output|if do not|give a)")
_HASHES = re.compile(r"(?m)^[ \t]*(#{1,6})[ \t]")
_BOLD = re.compile(r"(?m)^[ \t]*\*\*[^*\n]{1,80}(?::\*\*|\*\*:)[ \t]*$")
_PUBLISHED = re.compile("### (?:Reasoning|Resoning):")
_FENCE = re.compile(r"(?m)^[ \t]*```")
_STEP = re.compile(r"(?im)^[ \t>*_]*<step\s{0,9}\d{1,4}\s{0,9}>[*_:]*")
_PAIRS = (("[", "]"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d"))


class Section(msgspec.Struct, frozen=True):
    """A headed part of a reply: `begin` and `end` are where its heading begins and where it ends, in characters."""

    name: Name
    text: str
    begin: int
    end: int


def answer_part(text: str) -> str:
    """`text` without the thinking that a model left in it."""
    return split_thinking(text)[0]


def clean(value: str) -> str:
    """`value` without emphasis, quotes or square brackets around it, and without a closing full stop."""
    value = value.strip(" \t\r\n*_`#:-")
    for begin, end in _PAIRS:
        if len(value) > 1 and value.startswith(begin) and value.endswith(end) and end not in value[1:-1]:
            value = value[1:-1].strip(" \t*_`")
    return value.rstrip(" .").replace("**", "")


def sections(text: str) -> tuple[Section, ...]:
    """The sections of a reply, in order.

    Headings are marked by hashes or in bold, in any case and level, with or without a colon; where no heading is
    marked, a line that begins with a name and a colon is one. A section ends at the next heading of a section, at a
    heading that is at least as high as its own, and at the end of a code block.
    """
    heads = list(_MARKED.finditer(text)) or list(_PLAIN.finditer(text))
    found = []
    for index, head in enumerate(heads):
        name = next(name for name in _NAMES if head[name] is not None)
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        if name != "reasoning":
            end = _cut(text, head, end)
        body = text[head.end() : end].strip()
        found.append(Section(name, _unfenced(body), head.start(), end))
    return tuple(found)


def answer(text: str, parts: Sequence[Section] | None = None, goal: str = "diagnosis") -> str:
    """The answer of a reply, or the empty text; `parts` are its sections, where they are known already.

    The last section `Answer` that says anything, else the last `Conclusion`, else the last `Final diagnosis` (or
    treatment), else what the last sentence 'the final diagnosis is ...' names, else what stands under the last heading
    of another wording or language (`headings.named`; no `goal`: none). A placeholder says nothing.
    """
    parts = sections(text) if parts is None else parts
    for name in ("answer", "conclusion", "final"):
        for part in reversed(parts):
            if part.name == name and clean(part.text) and not _unfilled(part.text):
                return clean(part.text)
    said = list(_SAID.finditer(text))
    if said:
        rest = text[said[-1].end() : said[-1].end() + 4_000].lstrip()
        return clean(_SENTENCE.split(rest, maxsplit=1)[0])
    return clean(headings.named(text, goal))


def _unfilled(said: str) -> bool:
    """Whether the format is repeated and not filled in."""
    return _TEMPLATE.match(said) is not None or template(said)


def reasoning(text: str) -> str:
    """The reasoning of a reply: from its first heading of that name, or from its beginning, to its answer."""
    parts = sections(text)
    first = next((part for part in parts if part.name == "reasoning"), None)
    # what the section holds begins after its heading, which may not be all of its line
    begin = _after_heading(text, first.begin) if first else 0
    for name in ("answer", "conclusion", "final"):
        last = next((part for part in parts if part.name == name and part.begin >= begin), None)
        if last:
            return text[begin : last.begin].strip()
    return text[begin:].strip()


def steps(text: str, *, published: bool = False) -> list[str]:
    """The steps of a reply's reasoning, or of a text that is nothing but reasoning (a thinking part).

    What `<step n>` opens at the beginning of a line, up to the next; without such tags the paragraphs; where there is
    only one, its lines (paper 002, section 10.2, as its code does it; that code stops at ten).

    `published` knows only the headings that the published code knows: to it '### Reasoning' without a colon, or
    '## Answer:', is a step like any other.
    """
    text = _published_reasoning(text) if published else reasoning(text)
    tags = list(_STEP.finditer(text))
    if tags:
        ends = [tag.start() for tag in tags[1:]] + [len(text)]
        parts = [text[tag.end() : end].strip() for tag, end in zip(tags, ends, strict=True)]
    else:
        parts = [part for part in text.split("\n\n") if part.strip()]
        parts = parts if len(parts) > 1 else text.split("\n")
    return [part for part in parts if part.strip() and part.strip() != "```"]


def _published_reasoning(text: str) -> str:
    head = _PUBLISHED.search(text)
    return (text[head.end() :] if head else text).partition("### Answer:")[0].strip()


def _after_heading(text: str, begin: int) -> int:
    match = _MARKED.match(text, begin) or _PLAIN.match(text, begin)
    return match.end() if match else begin


def _cut(text: str, head: re.Match[str], end: int) -> int:
    """Where a section ends that would reach to `end`: at a heading as high as its own, or in bold like its own."""
    level = len(head["level"]) if head.re is _MARKED and head["level"] else 6
    if level == 6 and (bold := _BOLD.search(text, head.end(), end)):
        end = bold.start()
    for match in _HASHES.finditer(text, head.end(), end):
        if len(match[1]) <= level:
            return match.start()
    return end


def _unfenced(body: str) -> str:
    """A section's text without the code block it stands in, or that ends it."""
    if body.startswith("```"):
        body = body.partition("\n")[2]
    closing = _FENCE.search(body)
    return body[: closing.start()].strip() if closing else body
