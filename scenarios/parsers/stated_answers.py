"""Finds what a reply to a closed question states as its answer, and how firmly."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import kept_if_short, regex
from wardround.scenarios.parsers.reply_text import answer_part

_WIDE: Mapping[int, int | str] = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\u3010\u3014"), "["),
    **dict.fromkeys(map(ord, "\u3011\u3015"), "]"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u300c\u300d\u300e\u300f\u300a\u300b"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019"), "'"),
    0x3000: " ",
}
"""Full-width and Chinese signs and curly quotes, each with the plain sign that it stands for."""

MARK = r"(?:[*_`\"'()\[\]{}$]|<(?=[A-Za-z]>)|\\boxed|\\text(?:bf|rm)?|\\math(?:bf|rm)|\\\()*"
_GAP = r"[ \t]*"
_IS = (
    rf"(?:{_GAP}(?:(?:is|was|should be|must be|has to be|therefore|thus|hence|clearly|definitely|most likely"
    rf"|likely|probably|ist|est|es|è)\b"
    r"|:|=|->|\u2192|[-\u2013\u2014](?=[ \t])|是(?=[^\s\u3002.,;!]|[ \t][*_(\[]*[A-Za-z](?![A-Za-z]))"
    rf"|为|就是|應為|应为|应该是|应该为|应该选择?|应选择?|选择?){_GAP})+"
)
_REST = r"(?P<said>[^\n]{0,400})"
_NAMED = (
    r"(?:(?:the|my|final|correct|best|right|most likely|most appropriate|single|selected|chosen)\s+){0,5}"
    r"(?:answers?|option|choice|response|verdict|statement|solution|conclusion|antwort|réponse|respuesta|risposta"
    r"|resposta|antwoord|svar|odpowied[zź]|cevap|jawaban|ответ)"
    r"(?:[ \t]+(?:choice|option|letter|correcta|correcte|correta|here))?(?:[ \t]+(?:to|of"
    r"|for)(?:[ \t]+[a-z]+){1,6}?(?=[ \t]+is\b))?"
)
_CHINESE = r"(?:最终|正确|最佳|我的|本题|参考)*(?:答案|选项|回答|判断|结论|答え|正解|정답)"
_BOXED = regex(r"\\boxed\{(?:\\(?:text|math)(?:bf|rm)?\{)?(?P<said>[^{}\n]*)\}")
_FIRM = (
    regex(rf"(?:\b{_NAMED}\b|{_CHINESE}){_GAP}{MARK}{_IS}{MARK}{_GAP}(?={_REST})", re.IGNORECASE),
    regex(
        rf"^[ \t#>*_\-\[]*(?:{_NAMED}|{_CHINESE}){_GAP}{MARK}{_GAP}(?:{_IS}{MARK})?{_GAP}\n+{_REST}",
        re.IGNORECASE | re.MULTILINE,
    ),
    regex(rf"\[{_GAP}{_CHINESE}{_GAP}\]{_GAP}{_REST}"),
    regex(
        rf"^[ \t#>*_\-]*(?:ans\b\.?{_GAP}{MARK}[:=]?"
        rf"|(?:correct(?: one)?|final|(?:my )?pick){_GAP}{MARK}[:=]){MARK}{_GAP}{_REST}",
        re.IGNORECASE | re.MULTILINE,
    ),
    regex(
        r"\b(?:I\s+(?:choose|select|pick)|I(?:'d|'ll|\s+would|\s+will)\s+(?:choose|select|pick)"
        rf"|(?:go|going)\s+with)\b:?[ \t]*(?={_REST})",
        re.IGNORECASE,
    ),
    regex(rf"选(?!项)择?(?:的?是)?[ \t]*:?[ \t]*(?={_REST})"),
    _BOXED,
    regex(r"<(?:final_?)?(?:answer|choice|option)>\s*(?P<said>[^<\n]*?)\s*</", re.IGNORECASE),
    regex(r"[\"'](?:final_?)?(?:answer|choice|option)[\"']\s*:\s*[\"'](?P<said>[^\"'\n]*)[\"']", re.IGNORECASE),
)
_ADVERB = r"(?:(?:therefore|thus|hence|clearly|likely|most likely|probably|indeed|then|now)[ \t]+)?"
_LOOSE = (
    regex(
        r"\b(?:the|this|my)\s+(?:(?!not\b)[a-z'-]+\s+){0,6}?(?:best|correct|right|likeliest|preferred|most\s+[a-z]+|next)\s+"
        rf"(?:(?!not\b)[a-z'-]+\s+){{0,6}}?(?:is|would\s+be)\s+{_ADVERB}(?:to\s+(?:give|start|use|perform|order)\s+)?"
        rf"(?={_REST})",
        re.IGNORECASE,
    ),
    regex(
        rf"^[ \t#>*_\-]*(?:(?:final|most likely|likely)[ \t]+)*(?:diagnosis|treatment|management|next step){MARK}{_GAP}"
        rf"[:=]{_GAP}{MARK}{_GAP}{_REST}",
        re.IGNORECASE | re.MULTILINE,
    ),
    regex(
        r"(?:^|(?<=[.!?;:])[ \t]+)(?:(?:so|thus|hence|therefore|and|but|I\s+(?:think|believe)(?:\s+that)?)[ \t,]+)*"
        rf"(?P<said>(?![ \t])[^\n]{{1,250}}?)[ \t]+(?:is|seems){_GAP}{_ADVERB}(?:the[ \t]+(?:only[ \t]+)?)?"
        r"(?:(?:single|most|likely|appropriate|correct|right|best)[ \t]+)*"
        r"(?:answer|choice|option|best|correct|right|most appropriate|most likely)\b(?![ \t]+(?:if|only|when"
        r"|unless)\b)",
        re.IGNORECASE | re.MULTILINE,
    ),
    regex(
        r"(?:选项)?(?P<said>[A-Z])(?:选项|项)?(?:是|为)?(?:最?正确|最合适|最恰当|最佳|对)(?:的|答案|选项)*(?=[\W_]|$)"
    ),
    regex(r"(?:认为|觉得|最可能的?|最佳的?|最合适的?|最恰当的?)[^\n。;,]{0,12}?(?:是|为)[ \t]*(?=(?P<said>[^\n。]*))"),
    regex(
        r"\b(?:so|thus|hence|therefore),?[ \t]+(?:(?:it is|it's|option|choose)[ \t]+)*(?P<said>[A-Z])[ \t]*[.!]?$",
        re.IGNORECASE | re.MULTILINE,
    ),
    regex(r"^[ \t>*\-]*[\u2705\u2714\u2611]\ufe0f?[ \t]*(?P<said>\S[^\n]*)$", re.MULTILINE),
    regex(r"^[ \t>*\-]*(?P<said>[A-Z][).:][^\n]*?)[ \t]*[\u2705\u2714\u2611]\ufe0f?[ \t]*$", re.MULTILINE),
)
_UNSAID = regex(
    r"(?:\b(?:not|never|doubt|if|whether|unless|nobody|evidence|deny|wrong|say|says|argue|thought|otherwise|else)|n't)"
    r"(?:[ \t]+[a-z']+){0,3}[ \t]*$|(?:不|勿|别|误|错|非|未|是否|如果|假如|若|为何|为什么|可|应不应|否则|不然)"
    r"(?:能|应|应该|该|可|会|宜|建议)?[ \t]*$",
    re.IGNORECASE,
)
_DEPENDS = regex(r"^[^.\n\u3002]*\b(?:otherwise|unless|only\s+if)\b|^[^\n\u3002]*否则", re.IGNORECASE)
_STRUCK = regex(r"~~[^~\n]{1,200}~~|<(del|s|strike)>[^<\n]{0,200}</\1>", re.IGNORECASE)
_TAGS = regex(r"</?(?:b|i|u|p|br|em|strong|span|code)[ ]?/?>")
_UNLESS = regex(r"\b(?:unless|except if|only if)\b[^.!?;\n\u3002]*$", re.IGNORECASE)
_SENTENCE_ENDS = regex(r"[.!?;:,\n\u3002]")
_FINAL = regex(r"\bfinal\s+(?:answer|choice)\b|最终(?:答案|选择)", re.IGNORECASE)
_OBJECT = regex(r"\{[^{}]*\}")
_KEYS = frozenset(
    (
        *("answer", "finalanswer", "correctanswer", "selectedanswer", "answerletter", "answerchoice", "youranswer"),
        *("choice", "finalchoice", "option", "correctoption", "selectedoption", "letter", "response", "prediction"),
        *("verdict", "judgment", "judgement", "答案", "最终答案", "正确答案", "选项", "判断"),
    )
)
_MOST_OBJECTS = 20
_MOST_AT_AN_END = 50
"""Number of statements that are read at the beginning, and again at the end, of a reply with very many of them."""


_TAKEN_BACK = regex(
    r"(?:^|(?<=[.!?;,\n\u3002]))[\s*_(>#-]{0,8}(?:(?:no,?\s+)?wait\b(?:,?\s+no\b)?|no,\s+(?=[A-Z]\b)|correction\b|actually\b"
    r"|on second thoughts?\b|scratch that\b|(?:i )?take (?:that|it|this) back\b|i take (?:that|it|this) back\b"
    r"|my mistake\b|(?:p\.?s\.?|edit|update|erratum|amended|amendment|revised|revision)\s*:"
    r"|(?:i(?:'m| am|'m only| was) )?(?:just |only )?(?:kidding|joking)\b"
    r"|i(?:'ve| have)? changed? my (?:answer|mind)(?: to)?\b"
    r"|let me (?:correct|revise|rephrase|change)\b[^,.;:\n]*|i was wrong\b|\u66f4\u6b63|\u4fee\u6b63|\u7b49\u7b49"
    r"|\u4e0d,|\u4e0d\u5bf9,|\u5e94\u6539\u4e3a|\u6211\u6539)[\s,:.;!*_)-]*"
    r"(?:(?:it is|it's|it should be|make (?:that|it))\s+)?",
    re.IGNORECASE | re.MULTILINE,
)
_UNSAID_AT_LAST = regex(
    r"[\s,.;:!(\u2013\u2014-]+(?:(?:i(?:'m| am) )?(?:just |only )?(?:kidding|joking)|not really|jk|lol|/s|psych"
    r"|as if|or (?:maybe )?not|never ?mind|\u5f00\u73a9\u7b11)[\s.!)]*$",
    re.IGNORECASE,
)
_LAST = 80
_GOES_ON = regex(r"[ \t]{0,8}\n\s{0,8}(?=(?:or|and|\u6216|\u6216\u8005)\b)", re.IGNORECASE)


class Stated(msgspec.Struct, frozen=True):
    """What a reply states as its answer, `firm` ("the answer is C", a box, JSON) or `loose` ("C is correct").

    `rest` is the reply without its JSON objects.
    """

    firm: tuple[str, ...]
    loose: tuple[str, ...]
    rest: str


@kept_if_short
def plain_signs(text: str) -> str:
    """`text` without words that are struck out and tags, and with ASCII signs in place of full-width or curly ones."""
    return _TAGS.sub("", _STRUCK.sub("", text.translate(_WIDE)))


@kept_if_short
def answer_text(reply: str) -> str:
    """The answer part of a reply, in plain signs; a line that opens with 'or' or 'and' joins the line before it."""
    return _GOES_ON.sub(" ", plain_signs(answer_part(reply)).strip())


@kept_if_short
def last_word(text: str) -> str:
    """The text after the last words that take back what stands before them ("wait, no:", "correction:"), or ""."""
    ends = [match.end() for match in _TAKEN_BACK.finditer(text)]
    return text[ends[-1] :].strip() if ends else ""


@kept_if_short
def unsaid(text: str) -> bool:
    """Whether a reply ends by taking all of it back: 'C, just kidding'."""
    return _UNSAID_AT_LAST.search(text[-_LAST:]) is not None


@kept_if_short
def stated_answers(text: str) -> Stated:
    """Everything that `text` states as its answer, in order.

    Answers in a box count before all other firm ones. If there is no box and the text speaks of a final answer, only
    the last firm statement counts. Statements after a denial or a condition ("if the answer is") are left out.

    ::

        stated_answers("The answer is C.").firm  # ('C.',)
    """
    values, rest = _objects(text)
    firm = [*values, *_said(rest, _FIRM)]
    firm = _said(rest, (_BOXED,)) or firm
    marked = _FINAL.search(rest) is not None and not _BOXED.search(rest)
    lines = [line for line in rest.splitlines() if line.strip()]
    ends = dict.fromkeys((lines[0], lines[-1])) if lines else {}
    ticks = [said for pattern in _LOOSE[-2:] for said in _said(rest, (pattern,))]
    loose = [said for line in ends for said in _said(line, _LOOSE[:-2])]
    return Stated(tuple(firm[-1:] if marked else firm), (*loose, *(ticks if len(ticks) == 1 else ())), rest)


def _said(text: str, patterns: Sequence[re.Pattern[str]]) -> list[str]:
    placed = sorted(
        (match.start("said"), match["said"].strip())
        for pattern in patterns
        for match in pattern.finditer(text)
        if not _unsaid(text, match.start()) and not _DEPENDS.match(match["said"])
    )
    ends = placed if len(placed) <= 2 * _MOST_AT_AN_END else [*placed[:_MOST_AT_AN_END], *placed[-_MOST_AT_AN_END:]]
    return [said for _, said in ends]


def _unsaid(text: str, start: int) -> bool:
    """Whether the words right before a statement deny it or make it depend on something."""
    before = text[max(0, start - 60) : start]
    return _UNSAID.search(_SENTENCE_ENDS.split(before)[-1]) is not None or _UNLESS.search(before) is not None


def _objects(text: str) -> tuple[list[str], str]:
    """The answers of the JSON objects in a text, and the text without these objects."""
    values: list[str] = []
    rest = text
    for match in list(_OBJECT.finditer(text))[:_MOST_OBJECTS]:
        try:
            read: Json = msgspec.json.decode(match[0])
        except (msgspec.DecodeError, UnicodeError):
            continue
        if isinstance(read, dict):
            values += _answers(read)
            rest = rest.replace(match[0], "\n")
    return values, rest


def _answers(read: Mapping[str, Json]) -> Iterator[str]:
    for key, value in read.items():
        if re.sub(r"[\s_-]", "", key.casefold()) not in _KEYS:
            continue
        if isinstance(value, bool):
            yield str(value)
        elif isinstance(value, list):
            yield ", ".join(str(one) for one in value)
        else:
            yield value if isinstance(value, str) else ""
