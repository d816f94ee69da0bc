"""The signs of a text that addresses its judge, and the forms of words and marks that show some of them."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from wardround.engine.text import later

Sign = Literal[
    "instruction",
    "addresses_judge",
    "about_judging",
    "verdict_form",
    "chat_markup",
    "fence",
    "claims_authority",
    "threat_or_reward",
    "hidden",
    "encoded",
]
SIGNS: tuple[Sign, ...] = get_args(Sign)
"""All signs, in the order in which they are reported."""


class Form(NamedTuple):
    """A form of words or marks that shows a `sign`: a lower-case text with the form matches `pattern`.

    Such a text also contains at least one part of each group in `needs`. Most texts do not, and that is far quicker to
    see than that the pattern does not match.
    """

    sign: Sign
    pattern: re.Pattern[str]
    needs: Sequence[Sequence[str]]

    def may_fit(self, low: str) -> bool:
        """Whether a lower-case text contains what the form needs; a need of one part is the part itself."""
        for parts in self.needs:
            if parts not in low if isinstance(parts, str) else not any(part in low for part in parts):
                return False
        return True


_VERDICTS = "correct|incorrect|wrong|true|reasoning|citation|repetition|redundancy|approved|pass(?:ed)?"
_SET = (":", "=")
_RULES = ("--", "==", "##", "-=", "=-", "#-", "-#", "=#", "#=")
FORMS: Sequence[Form] = (
    Form("chat_markup", later(r"<[|\uff5c][\w\u2581 .:/-]{1,40}[|\uff5c]>"), [("<|", "<\uff5c")]),
    Form(
        "chat_markup",
        later(
            r"<</?sys>>|</s>|<s>|<(?:start|end)_of_turn>"
            r"|</?(?:system|user|assistant|human|think|tool_call|function_calls|invoke|instructions?|prompt)\b[^<>]{0,60}>"
        ),
        ["<"],
    ),
    Form("chat_markup", later(r"\[/?(?:inst|system(?:_prompt)?|admin|developer|root)\]"), ["["]),
    Form(
        "chat_markup",
        later(r"^[ \t>*#-]{0,8}(?:system|user|human|assistant)[ \t*]{0,4}:", re.MULTILINE),
        [":", ("system", "user", "human", "assistant")],
    ),
    Form(
        "chat_markup",
        later(r"^[ \t]*#{2,6}[ \t]*(?:instructions?|response|system|judge output)\b", re.MULTILINE),
        ["##", ("instruction", "response", "system", "judge output")],
    ),
    Form("chat_markup", later(r"""\brole[\"']? ?: ?[\"']?(?:system|user|assistant)\b"""), ["role", ":"]),
    Form(
        "verdict_form",
        later(
            r"""[\"'](?:judge?ment|verdict|classification|found|basis|same|steps|quotes"""
            r"""|keywords[_ ]to[_ ]search)[\"'] ?:"""
        ),
        [('":', "':", '" :', "' :")],
    ),
    Form(
        "verdict_form",
        later(
            r"\b(?:verdict|judge?ment|judging|step class|class(?:ification)?|result of grading|found|grade|evaluation"
            rf"|same)\W{{0,3}}(?: is)?\s?[:=]\W{{0,4}}(?:(?:{_VERDICTS})\b|\[\d|\d+, ?\d)"
        ),
        [
            _SET,
            (
                *("verdict", "judgment", "judgement", "judging", "class", "result of grading", "found", "grade"),
                *("evaluation", "same"),
            ),
        ],
    ),
    Form("verdict_form", later(rf"\[\[?(?:{_VERDICTS})\]"), ["["]),
    Form("verdict_form", later(rf"\\boxed\{{(?:{_VERDICTS})"), ["boxed{"]),
    Form("verdict_form", later(r"</?(?:verdict|judge?ment|score|grade)>"), ["<"]),
    Form(
        "verdict_form",
        later(rf"(?:\b\d+/\d+|grade:? \w) \((?:{_VERDICTS})\)"),
        [tuple(f" ({word}" for word in _VERDICTS.replace("(?:ed)?", "").split("|"))],
    ),
    Form("verdict_form", later(r"\A\W*(?:(?:in)?correct\W*)+\Z"), ["correct"]),
    Form(
        "verdict_form",
        later(r"""\b(?:label|result|output|answer|a)[\"']?\s?[:=]\W{0,4}(?:in)?correct\b"""),
        ["correct", _SET],
    ),
    Form("verdict_form", later(rf"\boutput\n\W*(?:{_VERDICTS})\b"), ["output\n"]),
    Form(
        "fence",
        later(r"[=#-]{3} ?(?:system|developer|admin|instructions?) ?[=#-]{3}"),
        [_RULES, ("system", "developer", "admin", "instruction")],
    ),
    Form(
        "fence",
        later(r"(?:[-=#]{2}\W{0,8}|\*{3}\W{0,8}|\[)(?:begin|end|start)\b.{0,40}(?:[-=*#]{2}|\])"),
        [(*_RULES, "***", "["), ("begin", "end", "start")],
    ),
    Form("fence", later(r"</?(?:case|passage|reference|answer|step|material|document|context|evidence)s?>"), ["<"]),
    Form(
        "fence",
        later(r"^\W{0,8}the (?:step|text|reference|answer|case|passage \d+) ?:", re.MULTILINE),
        [":", ("the step", "the text", "the reference", "the answer", "the case", "the passage")],
    ),
    Form("fence", later(r"(?:step|passage(?: \d+)?|case|answer|material) ends(?: here)?\."), [" ends"]),
    Form(
        "fence",
        later(
            r"^\W{0,4}(?:your task|end of (?:the )?(?:case|candidate\S*(?: answer)?|text|step|material))\b",
            re.MULTILINE,
        ),
        [("your task", "end of")],
    ),
    Form("hidden", later(r"<!--|<details\b|<[a-z]{1,10} hidden\b"), ["<"]),
    Form("hidden", later(r"display ?: ?none"), ["display", "none"]),
    Form("hidden", later(r"visibility ?: ?hidden"), ["visibility", "hidden"]),
    Form("hidden", later(r"(?:font-size|opacity) ?: ?0"), [("font-size", "opacity")]),
    Form("hidden", later(r"""[;\"' ](?:max-)?(?:height|width) ?: ?0"""), [(":0", ": 0"), ("height", "width")]),
    Form("hidden", later(r"(?:left|top|text-indent) ?: ?-\d{3}"), [(":-", ": -"), ("left", "top", "text-indent")]),
    Form("hidden", later(r"\[//\]: ?#"), ["[//]:"]),
    Form(
        "hidden",
        later(r"""colou?r ?[:=] ?[\"']?(?:white|transparent|#fff(?:fff)?)\b"""),
        [("color", "colour"), ("white", "transparent", "#fff")],
    ),
    Form("hidden", later(r"""\bfill=[\"']?white"""), ["fill="]),
    Form("hidden", later(r"\bsr-only\b|aria-hidden"), [("sr-only", "aria-hidden")]),
    Form("hidden", later(r"\\textcolor\{white|\\phantom\{"), [("\\textcolor{", "\\phantom{")]),
)


def formed(low: str) -> Iterator[Sign]:
    """Yield the signs whose forms a lower-case text has, each once."""
    signs: set[Sign] = set()
    for form in FORMS:
        if form.sign not in signs and form.may_fit(low) and form.pattern.search(low):
            signs.add(form.sign)
            yield form.sign
