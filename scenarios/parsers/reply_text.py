"""Reads the parts of a doctor's reply, under headings in several languages.

The parts are the reasoning and its steps, the final diagnosis or treatment, and the list of requested tests.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from wardround.engine.models.reply import split_thinking
from wardround.engine.text import regex, split_outside_brackets
from wardround.scenarios.answers.answer_markup import marked
from wardround.scenarios.parsers.nonanswers import postponed, template

_LEADING = (
    r"(?:(?:the|my|most|likely|final|primary|principal|main|definitive|definite|confirmed|working|leading|presumptive"
    r"|suspected|overall|preliminary|clinical|proposed|recommended|suggested|selected) +){0,4}"
)
_DIAGNOSIS = "|".join(
    (
        rf"{_LEADING}diagnos[ie]s(?: results?)?",
        r"(?:(?:endgültige|finale|wahrscheinlichste|gesicherte|abschließende|meine|vorläufige) +){0,2}"
        r"(?:haupt|end|abschluss|verdachts)?diagnosen?",
        r"diagnostics?(?: +(?:final|retenu|principal|définitif|le plus probable|probable))?",
        r"diagnósticos?(?: +(?:final|principal|definitivo|más probable|probable))?",
        r"diagnosi(?: +(?:finale|definitiva|principale))?",
        r"(?:最终|最后|主要|初步|临床|确定|明确|最可能的?|综合)*诊断(?:结果|结论|意见|为|是)?",
    )
)
_TREATMENT = "|".join(
    (
        rf"{_LEADING}(?:treatments?|therapy|management)(?: +(?:plan|recommendation|strategy))?",
        r"(?:empfohlene +)?(?:behandlung|therapie)(?:splan|sempfehlung|empfehlung)?",
        r"(?:plan +de +)?traitement(?: +(?:final|retenu|proposé|recommandé))?",
        r"(?:plan +de +)?tratamiento(?: +(?:final|propuesto|recomendado))?",
        r"(?:最终|推荐|建议|选择)*治疗(?:方案|计划|建议|选择)?",
    )
)
_ANSWER = "|".join(
    (
        r"(?:final +)?(?:answer|conclusion|assessment|impression)",
        r"(?:meine +|endgültige +|finale +)?(?:antwort|schlussfolgerung|fazit)",
        r"(?:ma +)?réponse(?: +finale)?|conclusion(?: +finale)?",
        r"(?:mi +)?respuesta(?: +final)?|conclusión(?: +final)?|risposta(?: +finale)?|conclusione",
        r"(?:最终)?(?:答案|回答|结论)",
    )
)
REACH = 8_000
"""Most characters after a heading that are read."""
MOST = 50
"""Most headings of a kind that are read. Both bounds limit the time for a reply of 1 MB."""
_COLON = "[:\uff1a]"
_OPEN = r"^[ \t>]*(?:[-*\u2022][ \t]+)?"
_NUMBER = r"(?:\d{1,2}[.)\u3001][ \t]*)?"
_GAP = r"[ \t]*"
_FRAME = (
    rf"(?:{_OPEN}#{{1,6}}{_GAP}[*_]{{0,3}}{_GAP}{_NUMBER}(?:%s){_GAP}[*_]{{0,3}}{_GAP}(?:{_COLON}[*_ \t]*|$)"
    rf"|{_OPEN}[*_]{{2,3}}{_GAP}{_NUMBER}(?:%s){_GAP}"
    rf"(?:{_COLON}{_GAP}[*_]{{2,3}}|[*_]{{2,3}}{_GAP}(?:{_COLON}|$)|{_COLON})"
    rf"|{_OPEN}[\u3010\[](?:%s)[\u3011\]]{_GAP}{_COLON}?"
    rf"|{_OPEN}{_NUMBER}(?:%s){_GAP}{_COLON}){_GAP}"
)


def _heading(words: str) -> re.Pattern[str]:
    return regex(_FRAME.replace("%s", words), re.IGNORECASE | re.MULTILINE)


_BY_GOAL: dict[str, tuple[re.Pattern[str], ...]] = {
    "diagnosis": (_heading(_DIAGNOSIS), _heading(_ANSWER)),
    "treatment": (_heading(_TREATMENT), _heading(_ANSWER)),
}
_NEXT = regex(
    r"^[ \t>]*(?:#{1,6}[ \t]|[*_]{2,3}[^*\n]{1,80}(?:[:\uff1a][*_]{2,3}|[*_]{2,3}[:\uff1a])[ \t]*$|\u3010)",
    re.MULTILINE,
)


def under_heading(text: str, goal: str = "diagnosis") -> str:
    """The text under the last heading of the goal that has any, else under the last `Answer`; else "".

    A heading may be in English, German, French, Spanish, Italian or Chinese. It is marked by hashes, bold or brackets,
    or is a plain line with a colon. Headings of a differential or of another part do not count. The text ends at the
    next heading or at the first empty line after it began.
    """
    for heading in _BY_GOAL.get(goal, ()):
        for match in reversed(list(heading.finditer(text))[-MOST:]):
            said = _under(text[match.end() : match.end() + REACH])
            if said and not template(said) and not postponed(said):
                return said
    return ""


def _under(text: str) -> str:
    """The text under a heading: the rest of its line, else the first paragraph below it."""
    line, _, rest = text.partition("\n")
    if line.strip(" \t*_#`"):
        return line.strip()
    rest = rest.lstrip("\n \t")
    following = _NEXT.search(rest)
    if following:
        rest = rest[: following.start()]
    return " ".join(part.strip() for part in rest.strip().split("\n\n")[0].splitlines() if part.strip("`").strip())


Name = Literal["reasoning", "information", "conclusion", "answer", "final"]

_NAMES: dict[Name, str] = {
    "reasoning": r"rea?s?oning|chain[ -]of[ -]thoughts?|thought[ ]process",  # two published files misspell it
    "information": r"additional[ ]information(?:[ ](?:required|needed|requested))?",
    "conclusion": r"(?:final[ ]|preliminary[ ])?conclusions?",
    "answer": r"(?:final[ ])?answer",
    "final": r"final[ ](?:diagnosis|treatment(?:[ ]plan)?)",
}
_NAME = "|".join(rf"(?P<{name}>{words})" for name, words in _NAMES.items())
# '### Answer:', '## **Answer**', '**Answer:**', '**Final diagnosis: gout**'; a heading with hashes may stand in a line
_MARKED = re.compile(
    rf"(?im)(?:(?<!\#)(?P<level>\#{{1,6}})[ \t]*[*_]{{0,3}}|^[ \t>]*[*_]{{2,3}})[ \t]*(?:{_NAME})[ \t]*"
    rf"(?:[*_]{{0,3}}{_COLON}[ \t]*[*_]{{0,3}}|[*_]{{0,3}}[ \t]*$)"
)
_PLAIN = regex(rf"(?im)^[ \t]*(?:{_NAME})[ \t]*{_COLON}")
_SAID = regex(r"(?i)\bfinal[ ](?:diagnosis|treatment)[ ](?:is|would[ ]be)\b[: \t]*")
_SENTENCE = regex(r"\.\s|\n")
_TEMPLATE = regex(r"(?i)[(\[](?:the (?:diagnosis|treatment)|just output|directly output|if do not|give a)")
_OTHER_PART = regex(
    r"(?i)[*_ ]*(?:\d{1,2}[.)] *)?(?:\w+ ){0,2}(?:notes?|rationale|reasoning|explanation|justification"
    r"|differentials?|references?|evidence|summary|discussion"
    r"|limitations?|confidence|next steps|disclaimer|appendix|sources?|comments?)\b"
)
_HASHES = regex(r"(?m)^[ \t]*(#{1,6})[ \t]")
_BOLD = regex(r"(?m)^[ \t]*\*\*[^*\n]{1,80}(?::\*\*|\*\*:)[ \t]*$")
_PUBLISHED = regex("### (?:Reasoning|Resoning):")
_FENCE = regex(r"(?m)^[ \t]*```")
_STEP = regex(r"(?im)^[ \t>*_]*<step\s{0,9}\d{1,4}\s{0,9}>[*_:]*")
_PAIRS = (("[", "]"), ('"', '"'), ("'", "'"), ("\u201c", "\u201d"))


class ReplySection(msgspec.Struct, frozen=True):
    """A section of a reply: its text, the position `begin` of its heading, and the position `end` of its own end."""

    name: Name
    text: str
    begin: int
    end: int


_CALL = regex(r"<tool_call>.{0,20000}?(?:</tool_call>|\Z)", re.DOTALL)


def answer_part(text: str) -> str:
    """`text` without a model's thinking and without tool calls, whose arguments are no answer."""
    said = split_thinking(text)[0]
    return _CALL.sub("", said) if "<tool_call>" in said else said


def clean_value(value: str) -> str:
    """`value` without surrounding emphasis, quotes or square brackets, and without a final full stop."""
    value = value.strip(" \t\r\n*_`#:-")
    for begin, end in _PAIRS:
        if len(value) > 1 and value.startswith(begin) and value.endswith(end) and end not in value[1:-1]:
            value = value[1:-1].strip(" \t*_`")
    return value.rstrip(" .").replace("**", "")


def reply_sections(text: str) -> tuple[ReplySection, ...]:
    """The sections of a reply, in order.

    Headings are marked by hashes or in bold, in any case and level, with or without a colon. If no heading is marked, a
    line that begins with a section's name and a colon is one. A section ends at the next section heading, at a heading
    of the same or a higher level, and at the end of a code block.
    """
    heads = list(_MARKED.finditer(text)) or list(_PLAIN.finditer(text))
    parts = []
    for index, head in enumerate(heads):
        name = next(name for name in _NAMES if head[name] is not None)
        end = heads[index + 1].start() if index + 1 < len(heads) else len(text)
        if name != "reasoning":
            end = _cut(text, head, end)
        parts.append(ReplySection(name, _unfenced(text[head.end() : end].strip()), head.start(), end))
    return tuple(parts)


def final_answer(text: str, parts: Sequence[ReplySection] | None = None, goal: str = "diagnosis") -> str:
    """The answer of a reply, or ""; `parts` are its sections if they are known already.

    These count, in this order: the last non-empty section `Answer`, the last `Conclusion`, the last `Final diagnosis`
    (or treatment), the last sentence 'the final diagnosis is ...', the last heading of another wording or language
    (`under_heading`; not without a `goal`), an answer in tags, in a box or in JSON. A placeholder counts as empty.

    ::

        final_answer("### Reasoning: red toe\\n### Answer: Gout.")  # 'Gout'
    """
    parts = reply_sections(text) if parts is None else parts
    for name in ("answer", "conclusion", "final"):
        for part in reversed(parts):
            if part.name == name and clean_value(part.text) and not _unfilled(part.text):
                return clean_value(part.text)
    said = list(_SAID.finditer(text))
    if said:
        rest = text[said[-1].end() : said[-1].end() + 4_000].lstrip()
        return clean_value(_SENTENCE.split(rest, maxsplit=1)[0])
    return clean_value(under_heading(text, goal)) or marked_answer(text)


def marked_answer(text: str) -> str:
    """The answer that a reply puts into tags (`<answer>gout</answer>`), a box or JSON; "" if there is none."""
    value = clean_value(marked(text))
    return "" if not value or _unfilled(value) or postponed(value) else value


def _unfilled(said: str) -> bool:
    """Whether the text repeats the requested format without filling it in."""
    return _TEMPLATE.match(said) is not None or template(said)


def reasoning_text(text: str) -> str:
    """The reasoning of a reply: from its first reasoning heading, or from its beginning, up to its answer."""
    parts = reply_sections(text)
    first = next((part for part in parts if part.name == "reasoning"), None)
    # the section's text begins after its heading, which may be only part of the line
    begin = _after_heading(text, first.begin) if first else 0
    for name in ("answer", "conclusion", "final"):
        last = next((part for part in parts if part.name == name and part.begin >= begin), None)
        if last:
            return text[begin : last.begin].strip()
    return text[begin:].strip()


def reply_steps(text: str, *, published: bool = False) -> list[str]:
    """The steps of a reply's reasoning, or of a text that is only reasoning (a model's thinking).

    A step runs from a `<step n>` at the beginning of a line to the next one. Without such tags, the paragraphs are the
    steps, or the lines if there is only one paragraph. These are the rules of MedR-Bench's code (section 10.2 of the
    paper), but that code stops at ten steps.

    With `published`, only the headings that the published code knows count: '### Reasoning' without a colon, or
    '## Answer:', is then a step like any other.
    """
    text = _published_reasoning(text) if published else reasoning_text(text)
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
    """The end of a section, at most `end`: the next heading of the section's level or a higher one, or in bold."""
    level = len(head["level"]) if head.re is _MARKED and head["level"] else 6
    if level == 6 and (bold := _BOLD.search(text, head.end(), end)):
        end = bold.start()
    for match in _HASHES.finditer(text, head.end(), end):
        if len(match[1]) <= level:
            empty = not text[head.end() : match.start()].strip()
            if not empty or _OTHER_PART.match(text, match.end()):
                return match.start()  # but the first line of a section may be marked as a heading itself
    return end


def _unfenced(body: str) -> str:
    """A section's text without the code block that encloses or ends it."""
    if body.startswith("```"):
        body = body.partition("\n")[2]
    closing = _FENCE.search(body)
    return body[: closing.start()].strip() if closing else body


MARKS = " \t\r*_`#[](){}<>\"'.!:"
"""Characters without meaning that may surround a word. The colon comes last, so that `MARKS[:-1]` leaves it out."""

HEADING = regex(
    r"(?i)[ \t#>*_\-]*(?:rationale|action|reasoning|explanation|note|treatment(?: +plan)?|(?:\w+ +)?diagnos[ie]s|"
    r"(?:lab|laboratory|microbiology) +tests?|imaging +(?:scans?|studies))[*_ ]*[:\uff1a]"
)
"""A line that opens another part of the reply."""

_LINE = regex(
    r"(?im)^[ \t#>*_\-]*(?:\d[.)] ?)?"
    r"(?:(?:correction|corrected|(?:no, )?wait(?:, no)?|actually|revised|revision|edit|update|erratum"
    r"|on second thoughts?|scratch that|my mistake)[,:.;!]{0,3} )?(?:(?:the|my|most|likely|final|primary|principal"
    r"|main|definitive|leading) +){0,4}"
    r"diagnos[ie]s[*_ ]*(?:[:\uff1a]|$)"
)
_INLINE = regex(r"(?i)\bdiagnosis[*_ ]{0,4}[:\uff1a]")
_DIAGNOSIS_SAID = regex(r"(?i)\bdiagnosis +(?:is|would be)\b[: ]*")
_OTHER = regex(r"(?i)\b(?:differential|secondary|other|additional|alternative)[\s*_]*$")
_TREATMENT_LABEL = regex(r"(?i)\btreatment(?: +plan)?[*_ ]*[:\uff1a]")


def headed_diagnosis(text: str) -> str:
    """The diagnosis on the last line that opens with `Diagnosis:`, or ""; a differential does not count.

    Placeholders and postponements do not count either. Without such a line, one in another language is used.
    """
    return _named(text, _LINE) or clean_value(under_heading(text)) or marked_answer(text)


def named_diagnosis(text: str) -> str:
    """As `headed_diagnosis`, but also within a line or sentence; for a reply that was asked only for the diagnosis."""
    return headed_diagnosis(text) or _named(text, _INLINE) or _named(text, _DIAGNOSIS_SAID, sentence=True)


def place(text: str) -> tuple[int, int] | None:
    """(start, end) of the line that `headed_diagnosis` reads first, with the line below if it is only a heading."""
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
        if line.strip().startswith("```") and (boxed := marked_answer(text[match.end() : match.end() + REACH])):
            return boxed
        if not line.strip(f"{MARKS}-"):
            line = _paragraph(rest)
        if sentence:
            line = line.partition(". ")[0]
        said = _TREATMENT_LABEL.split(line, maxsplit=1)[0]
        value = clean_value(said)
        if value and not value.lower().startswith("(the ") and not template(said) and not postponed(said):
            return value
    return ""


def _paragraph(lines: list[str]) -> str:
    """The first paragraph of `lines`, as one line."""
    kept: list[str] = []
    for line in lines:
        if HEADING.match(line) or (kept and not line.strip()):
            break
        if line.strip():
            kept.append(line.strip())
    return " ".join(kept)


_MARKER = regex(r"^\s*(?:[-*•·–—+>]+|\(?\d{1,3}[.)](?!\d)|\(?[a-z]\))\s*", re.IGNORECASE)
_NEXT_SENTENCE = regex(r"(?<=[\w)]{3})\.\s+(?=[A-Z][a-z]+\s+[a-z])")
_JOINING = regex(r"^(?:and|or|plus|also|including)\s+", re.IGNORECASE)
_INNER_NUMBER = regex(r"(?:(?<=^)|(?<=[,;\s]))\(?\d{1,2}[.)]\s+")
_OF_WHAT = (
    "no more other additional further new extra specific special ancillary diagnostic laboratory lab imaging tests? "
    "testing investigations? examinations? exams? information studies study work-?up evaluations? assessments? "
    "procedures? requests? questions? is are was were be needed required requested necessary indicated applicable "
    "available asked recommended performed done ordered warranted at this the time point moment now currently today of "
    "these those present stage"
)
_OTHERS = (  # 'no', 'not needed' and words that may follow: Chinese, Spanish, French, German
    (
        "\u6682\u65e0 \u65e0\u9700 \u65e0\u987b \u4e0d\u9700\u8981 \u4e0d\u9700 \u4e0d\u5fc5 \u6ca1\u6709 \u65e0",
        "\u8fdb\u4e00\u6b65 \u5176\u4ed6 \u5176\u5b83 \u989d\u5916 "
        "\u66f4\u591a \u4efb\u4f55 \u7684 \u68c0\u67e5 \u68c0\u9a8c \u5316\u9a8c \u4fe1\u606f "
        "\u8865\u5145 \u505a",
    ),
    (
        "ningun[oa]?s? no\\sse\\srequieren? no\\sse\\snecesitan?",
        "m[a\u00e1]s otr[ao]s? pruebas? ex[a\u00e1]men(?:es)? estudios? adicional(?:es)?",
    ),
    ("aucune?s?", "autres? examens? tests? suppl\u00e9mentaires?"),
    ("keine?", "weiteren? zus\u00e4tzlichen? untersuchung(?:en)? tests? erforderlich n\u00f6tig"),
)
_NONE = (
    rf"(?:no|none|not|nothing|nil|n/?a|n[.]a)\b(?:\W+(?:{'|'.join(_OF_WHAT.split())})\b)*",
    *(f"(?:{'|'.join(no.split())})(?: ?(?:{'|'.join(what.split())}))*" for no, what in _OTHERS),
)
_NOTHING = regex(f"(?:{'|'.join(_NONE)})[\\s.!\u3002-]*", re.IGNORECASE)
_SODIUM = "Na"
_COMMA = regex("[,;\uff0c\uff1b\u3001]")
_LONGEST_ITEM = 300
_MOST_ITEMS = 200


def listed_names(text: str) -> tuple[str, ...]:
    """Split a list into its items, which lines, bullets, numbers, commas or semicolons separate.

    Commas and semicolons in brackets do not separate; 'and' inside an item is kept ('ova and parasites'). A sentence
    after the list and the word 'none' are not items. Returns at most 200 items, without repeats. An item of more than
    300 characters is left out, since it is not the name of a test.
    """
    names: dict[str, str] = {}
    for line in text.splitlines():
        for part in split_outside_brackets(_NEXT_SENTENCE.split(_unmarked(line), maxsplit=1)[0], _COMMA):
            name = _JOINING.sub("", part.strip(" \t.;,:*_`\"'")).strip()
            if name and len(name) <= _LONGEST_ITEM and not requests_nothing(name):
                names.setdefault(name.lower(), name)
                if len(names) == _MOST_ITEMS:
                    return tuple(names.values())
    return tuple(names.values())


def requests_nothing(text: str) -> bool:
    """Whether a text says that nothing is requested: 'None', 'No additional tests required'. 'Na' is sodium."""
    said = text.strip(" \t\r\n*_`\"'-([)]")
    return said != _SODIUM and _NOTHING.fullmatch(said) is not None


def _unmarked(line: str) -> str:
    """The line without its bullet or number, and without numbers that open its inner items ('1. CBC, 2. BMP')."""
    return _INNER_NUMBER.sub(", ", _MARKER.sub("", line.replace("**", "")))


_LABEL = regex(r"^(?P<label>[^:(\[]{1,80}):\s+(?P<rest>\S.*)$")
_GROUP = regex(
    r"(?i)^(?:additional |further |other |specific |detailed |repeat |advanced |routine )*(?:lab(?:oratory)?|blood|"
    r"serum|urine|imaging|radiolog\w*|microbiolog\w*|patholog\w*|histolog\w*|histopatholog\w*|genetic\w*|molecular|serolog\w*|"
    r"immunolog\w*|endocrin\w*|hormon\w*|physical|clinical|neurolog\w*|cardiac|functional|ancillary|diagnostic|history|"
    r"tests?|procedures?|others?)\b"
)
_REASON = regex(r"(?i)^(?:to|for|if|in order|as|because|evaluate|assess|check|confirm|rule|exclude|look|determine)\b")


def requested_tests(text: str) -> tuple[str, ...]:
    """Split a request written under headings ('1. Laboratory tests: CBC, CRP', '2. CT: to exclude an abscess').

    Labels that name a group of tests, and reasons after a test's name, are left out: here CBC, CRP and CT remain.
    """
    lines = []
    for line in text.splitlines():
        match = _LABEL.match(_MARKER.sub("", line.replace("**", "")).strip())
        if match is None:
            lines.append(line)
        elif _GROUP.match(match["label"]) and not _REASON.match(match["rest"]):
            lines.append(match["rest"])
        else:
            lines.append(match["label"] if _REASON.match(match["rest"]) else f"{match['label']}, {match['rest']}")
    return listed_names("\n".join(lines))
