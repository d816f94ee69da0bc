"""Takes the markup off an answer: headings, JSON, tags, LaTeX, code fences, look-alike characters, odd symbols."""

import html
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import lru_cache

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.terms.cues import cue
from wardround.scenarios.terms.wording import key, unstruck

LONGEST_ANSWER = 20_000
"""Most characters of an answer that are read; a longer answer only repeats itself."""
MOST_NAMED = 60
"""Most phrases of an answer that are kept; an answer with more is a list in any case."""

_LOOK_ALIKE = str.maketrans(
    "асеорхуіјѕһԁԛԝАВСЕНІЈКМОРЅТХУοΟΑΒΕΖΗΙΚΜΝΡΤΥΧ", "aceopxyijshdqwABCEHIJKMOPSTXYoOABEZHIKMNPTYX"
)
_HYPHENS = str.maketrans("\u2010\u2011\u2212\ufe63\uff0d\u2044\u2215", "-----//")
_WORD = regex(r"\w+")
_LATIN_LETTER, _LIKE_LATIN = regex(r"[A-Za-z]"), regex(r"[\u0370-\u03ff\u0400-\u052f]")
_FENCE = regex(r"(?m)^[ \t]*(?:```|~~~)[ \t]*\w*[ \t]*$|^[ \t]*```(?:json|text|markdown|md)?[ \t]*|```[ \t]*$")
_OBJECT = regex(r"\A\s*[{\[].*[}\]]\s*\Z", re.DOTALL)
_LATEX_WRAPPED = regex(r"\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|mathit|emph|underline)\s*\{([^{}]*)\}")
_LATEX_COMMAND = regex(r"\s*\\[A-Za-z]{2,}\b\s*")
_DOLLARS = regex(r"\$\$?([^$\n]*[A-Za-z][^$\n]*)\$\$?")
_BLOCK = regex(
    r"(?i)\s*</?(?:br|li|ul|ol|p|div|tr|td|th|table|h[1-6]|hr|summary|details"
    r"|\w*(?:diagnos[ei]s|answer|disease|condition|treatment|plan)\w*)\b[^<>\n]{0,80}/?>\s*"
)
_INLINE = regex(
    r"(?i)</?(?:b|i|u|em|strong|span|font|a|code|pre|mark|small"
    r"|sup|sub|center|html|body|thead|tbody)\b[^<>\n]{0,400}>"
)
_NO_SIGNS = "¬≠✗✘❌🚫"
_NOT_BEFORE = regex(rf"(?m)(?:^|(?<=[,;(:]))[^\S\n]*(?:[{_NO_SIGNS}]\ufe0f?\s*|!+(?=\w))(?=\w)")
_NOT_BETWEEN = regex(rf"(?<=\w)[^\S\n]*[{_NO_SIGNS}]\ufe0f?[^\S\n]*(?=\w)")
_NOT_BEHIND = regex(rf"(?<=[^\W\d_])[^\S\n]*[{_NO_SIGNS}]\ufe0f?(?=\W|$)")
_APART = regex(
    r"(?<=[a-z)\]'\"])(?:[^\S\n]+(?:[#%]+|\*|_+|`+|\.{2,4}|:{2,}|<{1,2}-?|-{2,3}|\"|')[^\S\n]+"
    r"|[^\S\n]*[\t\v\f\u2028\u2029\u3000\u2000-\u200a]+[^\S\n]*)(?=[(\[]?[^\W\d_])"
)
"""What separates two names: a sign with spaces around it, such as that of a remark in code, a tab, a wide space."""
_ENCODED = regex(r"(?<=\w)%(?:20|0[9AaDd]|2[Cc]|3[Bb])(?=\w)")
"""A space, a line's end or a comma as an address writes it."""
_KEYED = regex(
    r"(?i)\b(diagnosis|answer|dx|disease|condition|certainty|confidence|probability|likelihood)[^\S\n]*=[^\S\n]*(?=\w)"
)
_ALIAS_SIGN = regex(r"(?<=[A-Za-z)\]])[^\S\n]*(?:=|≈|≡|≅)[^\S\n]*(?=[A-Za-z(\[])")
_SIGN = regex(
    r"(?<=[^\W\d_])([)\]]?)(?:(?:[^\S\n]*[^\w\s\-'’´ʼ`.,()\[\]/+&%:;!?\"“”‘«»<>#*–—|~®™©†‡°≥≤→⇒➔⟶\u3000-\u303f\uff00-\uffef\x00-\x1f\u0300-\u036f\u0483-\u0489\u0590-\u0eff])+"
    r"|[^\S\n]+~(?=[^\S\n]))[^\S\n]*(?=[(\[]?[^\W\d_])"
)
"""A symbol between two words that belongs to no name of a disease: a dot, a tilde, a brace, a picture."""

_NAMED = regex(
    r"(?:(?:final|most|likely|probable|primary|principal|main|leading|working|definitive|suspected|my|the|best)_?)*"
    r"(?:diagnos[ei]s|answer|disease|condition|conclusion|treatment|treatment_?plan|plan|diagnosis_?name)(?:_?\d+)?"
    r"|(?:最终|主要|最可能)?(?:诊断|答案|治疗方案)"
)
_BESIDE = regex(
    r"(?i)verdict|reference|gold|judge|note|reason|rationale|explanation|evidence|reject|exclu|differential|alternative"
    r"|contraindic|avoid|stop|discontinu|comment|diagnos"
)
_INSIDE = ("name", "diagnosis", "label", "primary", "main", "text", "value", "answer", "disease", "condition")
_SURE = regex(
    r"(?i)(?:confidence|probability|likelihood|certainty|status|state|present|likely|(?:is_?)?(?:correct|true|confirmed"
    r"|accepted|selected))"
)
_NEGATED = regex(r"(?i)\W*(?:no|not\b.*|none|false|excluded|ruled[ _-]?out|rejected|unlikely|negative|absent|wrong)\W*")
_LITTLE_SURE = 0.05


_BLANK_LINES, _SPACES = regex(r"\n\s*\n"), regex(r"[^\S\n]{9,}")


def legible(answer: str) -> str:
    """The part of an answer that is read, with runs of blank lines cut to one and runs of spaces cut to four.

    Many patterns look past blanks from each blank on, so thousands of them in a row would take hours.

    >>> legible("gout" + 9 * "\\n" + "lupus")
    'gout\\n\\nlupus'
    """
    return _SPACES.sub(lambda spaces: spaces[0][:4], _BLANK_LINES.sub("\n\n", answer[:LONGEST_ANSWER]))


@lru_cache(maxsize=2048)
def unmarked(answer: str, *, plan: bool = False) -> str:
    """The words of an answer without the markup around them. Of a `plan` in JSON every value counts. Never raises.

    >>> unmarked('{"diagnosis": "gout", "differential": ["lupus"]}')
    'gout'
    >>> unmarked("\\\\boxed{\\\\text{gout}}")
    'gout'
    """
    text = _ticked(_unthought(visible_text(legible(answer))))
    text = _FENCE.sub("", text) if "```" in text else text
    text = unstruck(text)
    if _OBJECT.match(text) and (said := _in_json(text, plan=plan)) is not None:
        text = said if said or plan else text
    if "\\" in text or "$" in text:
        text = _without_latex(text)
    if "<" in text or "&" in text:
        bare = _INLINE.sub("", _BLOCK.sub("\n", html.unescape(text)))
        text = bare.strip() if any(map(str.isalnum, bare)) else text
    text = _without_table(_NOT_IN_ROW.sub(r"not \1", text)) if "|" in text else text
    text = _QUOTED_NAME.sub(r" (\1)", _TAG_TO_TAG.sub("; ", text))
    text = _NOT_BEFORE.sub("not ", text)
    text = _NOT_BETWEEN.sub(" or else ", text)
    text = _NOT_BEHIND.sub(": no", text)
    text = _APART.sub("; ", _ENCODED.sub("; ", text))
    text = _ALIAS_SIGN.sub(", also called ", _KEYED.sub(r"\1: ", text))
    return _SIGN.sub(r"\1, ", text)


_THOUGHT = regex(r"(?i)<(?P<ends>/?)(?P<name>think(?:ing)?|thoughts?|reasoning|scratchpad)>")


def _unthought(text: str) -> str:
    """An answer without the tagged thoughts before it. Their opening tag may be missing; without an end tag they stay.

    >>> unmarked("<think>gout</think>asthma"), unmarked("gout</think>asthma")
    ('asthma', 'asthma')
    """
    said: list[str] = []
    start, thought = 0, ""
    for tag in _THOUGHT.finditer(text):
        name = tag["name"].lower()
        if not tag["ends"] and not thought:
            said.append(text[start : tag.start()])
            start, thought = tag.end(), name
        elif tag["ends"] and thought in ("", name):
            said = said if thought else []
            start, thought = tag.end(), ""
    return "".join((*said, text[start:]))


_TICKED, _EMPTY = r"\[[xX✓✔]\]|☑|✅|☒", r"\[ {1,3}\]|☐"
_BOX = regex(rf"(?P<ticked>{_TICKED}|\([xX✓✔]\)|[✓✔])|(?P<empty>{_EMPTY}|\( {{1,3}}\))")
_SURELY_BOX = regex(rf"{_TICKED}|{_EMPTY}")
_BULLETS = regex(r"[\s\d.)*+•-]*")


def _ticked(text: str) -> str:
    """The names that are ticked in a form with tick boxes; a text without boxes as it is.

    The first line with a box shows whether the boxes stand before the names or after them.

    >>> unmarked("gout [ ] asthma [x]")
    'asthma'
    """
    boxes = list(_BOX.finditer(text))
    if not any(box["empty"] for box in boxes) and not _SURELY_BOX.search(text):
        return text
    start = text.rfind("\n", 0, boxes[0].start()) + 1
    before = _BULLETS.fullmatch(text, start, boxes[0].start()) is not None
    lines: list[str] = []
    for line in text.split("\n"):
        marks = list(_BOX.finditer(line))
        edges = [0, *(mark.end() for mark in marks)] if not before else [*(mark.start() for mark in marks), len(line)]
        chosen = [
            _BOX.sub("", line[edges[place] : edges[place + 1]]).strip(" \t,;|")
            for place, mark in enumerate(marks)
            if mark["ticked"] and not (mark[0] == "☒" and ("☑" in text or "✅" in text))
        ]
        lines += [", ".join(chosen)] if marks else [line]
    return "\n".join(line for line in lines if line.strip())


_RULE = regex(r"(?m)^ {0,8}\|?[ \t]{0,8}:?-{2,}+:?[ \t]{0,8}(?:\|[ \t]{0,8}:?-{2,}+:?[ \t]{0,8})+\|?[ \t]{0,8}$")
_TABLE_NAME = regex(
    r"(?i)(?:the )?(?:(?:final|most likely|likely|primary|principal|main|leading|working)\s+)*"
    r"(?:diagnos[ei]s|disease|condition|answer|诊断|最终诊断)(?: name)?"
)


_NOT_IN_ROW = regex(
    r"(?im)^[ \t]{0,8}\|?[ \t]*([^|\n]{2,200}?)[ \t]*\|[ \t]*"
    r"(?:no|false|excluded|ruled out|unlikely|negative|rejected|[✗✘❌])[ \t]*\|?[ \t]*$"
)
"""A row of a table that denies what it names."""
_TAG_TO_TAG = regex(r"(?<=\w)[>»][^\S\n]*[<«](?=\w)")
_QUOTED_NAME = regex(r"(?<=\w)[^\S\n]?«([^«»\n]{2,80})»")
"""These patterns find '<gout><lupus>', which no letter separates, and a second name in quotation marks."""


def _without_table(text: str) -> str:
    """A text with a Markdown table replaced by its diagnosis, from the column or row of that title; else as it is.

    A table that names several diagnoses stays as it is too.

    >>> unmarked("| Diagnosis | Probability |\\n|---|---|\\n| gout | 90% |")
    'gout'
    """
    rule = _RULE.search(text)
    if rule is None:
        return text
    before, _, head = text[: rule.start()].rstrip("\n").rpartition("\n")
    lines = text[rule.end() :].lstrip("\n").split("\n")
    count = next((place for place, line in enumerate(lines) if "|" not in line), len(lines))
    rows = [_cells(line) for line in lines[:count]]
    heads = [place for place, cell in enumerate(_cells(head)) if _TABLE_NAME.fullmatch(cell)]
    named = [row[1] for row in rows if len(row) == 2 and _TABLE_NAME.fullmatch(row[0])]
    if len(heads) == 1:
        named = [row[heads[0]] for row in rows if len(row) > heads[0] and row[heads[0]]]
    return "\n".join((before, *named, *lines[count:])).strip("\n") if len(named) == 1 else text


def _cells(line: str) -> list[str]:
    return [cell.strip(" \t*_`") for cell in line.strip().strip("|").split("|")]


_TAGGED = regex(
    r"(?is)<(?P<tag>(?:final_?|my_?)?(?:answer|diagnosis|treatment))>(?P<tagged>[^<>]{1,2000})</(?P=tag)>"
    r"|\\boxed\s*\{(?P<boxed>(?:[^{}]|\{[^{}]*\}){1,2000})\}"
)
_BLOCK_OF_JSON = regex(r"```(?:json)?\s*(?P<body>[{\[].{0,8000}?[}\]])\s*```", re.DOTALL)


def marked(reply: str) -> str:
    """The last answer that a reply puts into tags or a box, else the answer of a reply in JSON; "" without any.

    >>> marked("It fits well. <answer>gout</answer>")
    'gout'
    """
    reply = reply[-LONGEST_ANSWER:]
    tags = list(_TAGGED.finditer(reply))
    if tags:
        return unmarked(tags[-1]["tagged"] or f"\\text{{{tags[-1]['boxed']}}}").strip()
    bodies = [match["body"] for match in _BLOCK_OF_JSON.finditer(reply)] or [reply]
    return (_in_json(bodies[-1]) or "") if _OBJECT.match(bodies[-1]) else ""


def visible_text(text: str) -> str:
    """`text` without characters that cannot be seen, with Latin letters in place of those that only look like them."""
    if text.isascii():
        return text
    text = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    text = text.translate(_HYPHENS)
    text = re.sub(r"\u00a0{2,}", "\n", text).replace("\u00a0", " ").replace("\u202f", " ")
    return _WORD.sub(lambda word: _in_one_script(word[0]), text)


def _in_one_script(word: str) -> str:
    """A word that mixes Latin letters with those that look like them, in Latin letters; any other as it is."""
    return word.translate(_LOOK_ALIKE) if _LATIN_LETTER.search(word) and _LIKE_LATIN.search(word) else word


def _without_latex(text: str) -> str:
    for _ in range(3):
        text = _LATEX_WRAPPED.sub(r"\1", text)
    return _LATEX_COMMAND.sub(", ", _DOLLARS.sub(r"\1", text)).strip(" ,")


def _every_value(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Keep every value of a key that a JSON object has several times, since the answer says each of them."""
    made: dict[str, Json] = {}
    for name, value in pairs:
        written, count = name, 1
        while written in made and made[written] != value:
            count += 1
            written = f"{name}_{count}"
        made[written] = value
    return made


_NEXT_OBJECT = regex(r"\}\s{0,40}\{")
"""Where one object ends and another begins; the answer says both."""
_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_every_value)


def _in_json(text: str, *, plan: bool = False) -> str | None:
    """The answer in a JSON text; "" if it names none, None if it is no JSON. Different answers are alternatives.

    A plan may have its measures under any key, except those of an explanation, a doubt or the judge.
    """
    try:
        value: Json = _DECODER.decode(_NEXT_OBJECT.sub("},{", f"[{text}]") if _NEXT_OBJECT.search(text) else text)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(map(str, value))
    named = " vs ".join(dict.fromkeys(_answers(value, 0)))
    return named or ("\n".join(_values(value, 0)) if plan else "")


def _answers(value: Json, depth: int) -> Iterator[str]:
    """Every answer that a JSON value names under a key for answers."""
    if depth > 5:
        return
    if isinstance(value, list):
        for one in value:
            yield from _answers(one, depth + 1)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if _NAMED.fullmatch(name.strip().lower().replace(" ", "_").replace("-", "_")):
                said = _written(one, depth + 1)
                if said:
                    yield f"{said} is unlikely" if _doubted(value) else said


def _written(value: Json, depth: int) -> str:
    """A JSON value under a key for answers as words; the entries of a list stand together."""
    if isinstance(value, str):
        return value.strip()
    if depth > 5:
        return ""
    if isinstance(value, list):
        return "\n".join(said for one in value if (said := _written(one, depth + 1)))
    if isinstance(value, Mapping):
        said = next((said for name in _INSIDE if (said := _written(value.get(name), depth + 1))), "")
        said = said or ", ".join(_values(value, depth + 1))
        return f"{said} is unlikely" if said and _doubted(value) else said
    return ""


def _values(value: Json, depth: int) -> Iterator[str]:
    """Every text of a JSON value, except under the keys of an explanation, a doubt or the judge."""
    if depth > 5:
        return
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, list):
        for one in value:
            yield from _values(one, depth + 1)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            if not _BESIDE.search(name):
                yield from _values(one, depth + 1)


def _doubted(value: Mapping[str, Json]) -> bool:
    """Whether an object states next to no confidence in its answer, or that it is excluded."""
    stated = [one for name, one in value.items() if _SURE.fullmatch(name)]
    return any(
        one < _LITTLE_SURE if isinstance(one, int | float) else isinstance(one, str) and _NEGATED.fullmatch(one)
        for one in stated
    )


_LIST_MARK = regex(r"(?:^|(?<=\s))(?P<mark>[-*•+–▪●◦]|\(?\d{1,2}[.)])\s+(?=[*_(\[]{0,3}[^\W\d_])")


def is_marked_list(answer: str) -> bool:
    """Whether an answer opens with a bullet or number and has another of the same kind after it, on any line.

    >>> is_marked_list("- gout - asthma"), is_marked_list("1) gout 2) asthma"), is_marked_list("gout - asthma")
    (True, True, False)
    """
    text = unheaded(visible_text(legible(answer))).strip()
    first = _LIST_MARK.match(text)
    if first is None:
        return False
    numbered = first["mark"][-1] in ".)"
    return any(
        (other["mark"][-1] in ".)") if numbered else other["mark"] == first["mark"]
        for other in _LIST_MARK.finditer(text, first.end())
    )


_NUMBER = regex(r"(?:^|(?<=[\s,;，；、.]))\(?(?P<number>\d|[ivIV]{1,3}|[a-eA-E])\s?[.):,、，]\s?(?=[^\W\d_])")
_COUNTS = (("1", "2", "3", "4", "5"), ("i", "ii", "iii", "iv", "v"), ("a", "b", "c", "d", "e"))


def unnumbered(label: str) -> str:
    """The entries of a numbered list in one line, joined by 'and'; any other text as it is, but as `visible_text`.

    >>> unnumbered("1, Gout, 2, Asthma")
    'Gout and Asthma'
    """
    label = visible_text(label)
    marks = list(_NUMBER.finditer(label))
    if not marks or label[: marks[0].start()].strip():
        return label
    for count in _COUNTS:
        if len(marks) > 1 and [mark["number"].lower() for mark in marks] == list(count[: len(marks)]):
            ends = [*(mark.start() for mark in marks[1:]), len(label)]
            return " and ".join(
                label[mark.end() : end].strip(" ,;.，；、") for mark, end in zip(marks, ends, strict=True)
            )
    return label


def brackets_apart(text: str) -> tuple[str, list[str]]:
    """(the text with a mark `\\x02NUMBER\\x03` in place of each outermost bracket, the contents of the brackets)."""
    kept: list[str] = []
    glosses: list[str] = []
    depth, start = 0, 0
    last = max(text.rfind(")"), text.rfind("]"))
    for place, letter in enumerate(text[: last + 1]):
        if letter in "([":
            if not depth:
                kept.append(text[start:place])
                start = place + 1
            depth += 1
        elif letter in ")]" and depth:
            depth -= 1
            if not depth:
                kept.append(f" \x02{len(glosses)}\x03 ")
                glosses.append(text[start:place].strip())
                start = place + 1
    if depth:  # an unclosed bracket does not end the text
        kept.append(" ")
    return "".join((*kept, text[start:])), glosses


_HEADED = regex(
    r"(?:^|\n|[.;]\s)[\s#>*_-]*(?:\d+[.)]\s*)?(?:(?:the|my|most|likely|final|primary|main|principal|definitive"
    r"|working|leading)\s+)*"
    r"(?:diagnos[ei]s(?:\s+is)?|answer)\s*[*_]*\s*:",
    re.IGNORECASE,
)
_PART = regex(
    r"\s*\b(?:treatment(?: plan)?|rationale|reasoning|explanation|justification|action)\s*[*_]*\s*:", re.IGNORECASE
)
_TEMPLATE = regex(r"\s*(?:\[[^\[\]]*\]|<[^<>]*>|\{[^{}]*\})[\s.]*")


def unfilled(text: str) -> bool:
    """Whether a text is only a bracket: an unfilled template."""
    return _TEMPLATE.fullmatch(text) is not None


def unheaded(answer: str) -> str:
    """An answer without the heading that opens it: 'Primary diagnosis: gout'."""
    head = _HEADED.match(answer)
    return answer[head.end() :] if head and any(map(str.isalnum, answer[head.end() :])) else answer


def headed_answer(text: str) -> str:
    """The text after the last heading `Diagnosis:`, up to a heading of another part such as `Treatment:`.

    If several such headings have different names, the names become alternatives, unless the last heading says 'final'.
    """
    heads = [head for head in _HEADED.finditer(text) if any(map(str.isalnum, text[head.end() :]))]
    if not heads:
        return text
    answer = text[heads[-1].end() :]
    if part := _PART.search(answer):
        answer = answer[: part.start()] or answer
    if len(heads) == 1 or cue("final").search(heads[-1][0]):
        return answer
    lines = [text[head.end() :].strip().partition("\n")[0] for head in heads[-MOST_NAMED:]]
    return answer if len({key(line) for line in lines}) == 1 else " vs ".join(line.strip(" .") for line in lines)
