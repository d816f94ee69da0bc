"""Signs that a text speaks to its judge: what a report shows beside a verdict, and a reason not to use a page."""

import re
from collections.abc import Iterator

from wardround.engine.text import later
from wardround.evaluators.judging.codes import written
from wardround.evaluators.judging.disguise import coded, disguised, folded, plain
from wardround.evaluators.judging.fence import seen
from wardround.evaluators.judging.narrated import unnarrated
from wardround.evaluators.judging.phrases import spoken
from wardround.evaluators.judging.question import Origin
from wardround.evaluators.judging.signs import ENCODED, FENCE, FORM, HIDDEN, MARKUP, SIGNS, TALK
from wardround.evaluators.judging.talk import about_judging

_MARKUP = later(
    r"<[|\uff5c][\w\u2581 .:/-]{1,40}[|\uff5c]>|\[/?inst\]|<</?sys>>|</s>|<s>|<(?:start|end)_of_turn>"
    r"|\[/?(?:system(?:_prompt)?|admin|developer|root)\]|</?(?:system|user|assistant|human|think"
    r"|tool_call|function_calls|invoke|instructions?|prompt)\b[^<>]{0,60}>|^[ \t>*#-]{0,8}(?:system|user"
    r"|human|assistant)[ \t*]{0,4}:|^[ \t]*#{2,6}[ \t]*(?:instructions?|response|system|judge output)\b"
    r"""|[\"']?\brole[\"']? ?: ?[\"']?(?:system|user|assistant)\b""",
    re.MULTILINE,
)
_FORM = later(
    r"""[\"'](?:judge?ment|verdict|classification|found|basis|same|steps|quotes"""
    r"""|keywords[_ ]to[_ ]search)[\"'] ?:|\b(?:verdict|judge?ment|judging|step class|class(?:ification)?"""
    r"|result of grading|found|grade|evaluation|same)\W{0,3}(?: is)?\s?[:=]\W{0,4}(?:(?:correct|incorrect"
    r"|wrong|true|reasoning|citation|repetition|redundancy|approved|pass(?:ed)?)\b|\[\d|\d+, ?\d)"
    r"|\[\[?(?:correct|incorrect|wrong|true|reasoning|citation|repetition|redundancy|approved"
    r"|pass(?:ed)?)\]|\\boxed\{(?:correct|incorrect|wrong|true|reasoning|citation|repetition|redundancy"
    r"|approved|pass(?:ed)?)|</?(?:verdict|judge?ment|score|grade)>|(?:\b\d+/\d+|grade:? \w) \((?:correct"
    r"|incorrect|wrong|true|reasoning|citation|repetition|redundancy|approved|pass(?:ed)?)\)"
    r"|\A\W*(?:(?:in)?correct\W*)+\Z|\b(?:label|result|output|answer"
    r"""|a)[\"']?\s?[:=]\W{0,4}(?:in)?correct\b|\boutput\n\W*(?:correct|incorrect|wrong|true|reasoning"""
    r"|citation|repetition|redundancy|approved|pass(?:ed)?)\b",
)
_FENCE = later(
    r"[=#-]{3} ?(?:system|developer|admin|instructions?) ?[=#-]{3}|(?:[-=#]{2}\W{0,8}|\*{3}\W{0,8}"
    r"|\[)(?:begin|end|start)\b.{0,40}(?:[-=*#]{2}|\])|</?(?:case|passage|reference|answer|step|material"
    r"|document|context|evidence)s?>|^\W{0,8}the (?:step|text|reference|answer|case|passage \d+) ?:"
    r"|(?:step|passage(?: \d+)?|case|answer|material) ends(?: here)?\.|^\W{0,4}(?:your task"
    r"|end of (?:the )?(?:case|candidate\S*(?: answer)?|text|step|material))\b",
    re.MULTILINE,
)
_HIDDEN = later(
    r"""<!--|display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|[;\"' ](?:max-)?(?:height|width) ?: ?0"""
    r"""|opacity ?: ?0|(?:left|top|text-indent) ?: ?-\d{3}|\[//\]: ?#|colou?r ?[:=] ?[\"']?(?:white"""
    r"""|transparent|#fff(?:fff)?)\b|\bfill=[\"']?white|\bsr-only\b|\\textcolor\{white|\\phantom\{"""
    r"|<details\b|<[a-z]{1,10} hidden\b|aria-hidden",
)
_NEEDED: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    MARKUP: (("<", "\uff5c", "[", "##", "role"), ("system", "user", "human", "assistant")),
    FORM: (
        ("[correct", "[true", "[wrong", "[incorrect", "[reason", "boxed", "output", "correct", "redundancy"),
        (
            *("verdict", "judgment", "judgement", "judging", "class", "grad", "found", "evaluation", "same", "basis"),
            *("steps", "quotes", "keywords", "score", "citation", "repetition", "approved", "pass", "reasoning"),
            *("wrong", "true"),
        ),
    ),
    FENCE: (
        ("--", "==", "##", "-=", "=-", "#-", "-#", "=#", "#=", "***", "[", "<", " ends", "your task", "end of"),
        ("the step", "the text", "the reference", "the answer", "the case", "the passage"),
    ),
    HIDDEN: (
        ("<", "\\", "[//]", "fill=", "sr-only", "aria-hidden"),
        (
            "display",
            "visibility",
            "font-size",
            "height",
            "width",
            "opacity",
            "left",
            "top",
            "text-indent",
            "color",
            "colour",
        ),
    ),
}
"""What a text must hold for a pattern to fit: one of the first, or one of the second and a colon, an equals sign or a
bracket. To look for these is far quicker, and most texts hold none.
"""
_MARKS = (":", "=", "(", "/", "[", ">")
_THINKS = later(r"\s*<think>(?=[^<]{200})")
_TAGS = later("[\U000e0020-\U000e007e]")
_TURNED = later("[\u202a-\u202e\u2066-\u2069]")
_SELECTED = later("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")
_SPLIT = later(
    "[a-z][\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u034f\u115f\u1160\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef]+(?=[a-z])",
    re.IGNORECASE,
)
_CYRILLIC = later("[a-z][\u0400-\u052f]|[\u0400-\u052f][a-z]", re.IGNORECASE)


def signs(text: str, origin: Origin) -> tuple[str, ...]:
    """Which of SIGNS the text has, in their order; () for nearly every honest one."""
    found = set(_signs(text, origin))
    return tuple(sign for sign in SIGNS if sign in found)


def _signs(text: str, origin: Origin, deeper: bool = True) -> Iterator[str]:
    raw = seen(text)
    smooth = plain(text)
    latin = folded(smooth)
    found, talks = tuple(spoken(smooth)), about_judging(smooth)
    if (found or talks) and latin == smooth:  # a text in disguise narrates nothing
        told = unnarrated(smooth)
        found, talks = tuple(spoken(told)), about_judging(told)
    yield from found
    if latin != smooth:
        yield from spoken(latin)
    raw = _own_thinking(raw) if origin == "reply" else raw
    low = raw.lower()  # a search without regard to case takes several times as long
    for sign, pattern in ((MARKUP, _MARKUP), (FORM, _FORM), (FENCE, _FENCE), (HIDDEN, _HIDDEN)):
        if _may_fit(sign, low) and pattern.search(low):
            yield sign
    if talks or (latin != smooth and about_judging(latin)):
        yield TALK
    if _unseen(text) or disguised(latin):
        yield HIDDEN
    if deeper and (written(raw) or any(_signs("\n".join(coded(raw, smooth)), origin, False))):
        yield ENCODED


def _may_fit(sign: str, low: str) -> bool:
    plainly, marked = _NEEDED[sign]
    if any(part in low for part in plainly):
        return True
    return any(mark in low for mark in _MARKS) and any(part in low for part in marked)


def _own_thinking(text: str) -> str:
    """Without the marks of a reply's own long thinking at its beginning, which are no forgery."""
    opened = _THINKS.match(text)
    return text[opened.end() :].replace("</think>", "", 1) if opened else text


def _unseen(text: str) -> bool:
    if text.isascii():
        return False
    if _TAGS.search(text) or _TURNED.search(text) or _SELECTED.search(text):
        return True
    return len(_SPLIT.findall(text)) > 2 or len(_CYRILLIC.findall(text)) > 2
