"""Sentences that speak to whoever judges: left out before words are compared, so that they cannot weigh."""

import re
from functools import lru_cache

from wardround.engine.text import later

_WORDS = (
    "ignor", "disregard", "forget", "overrid", "bypass", "verdict", "judg", "classif", "label", "grade", "grading",
    "rating", "score", "mark ", "rate ", "count ", "treat ", "deem", "accept", "consider", "regard", "report ",
    "return", "output", "print", "say ", "write ", "answer", "respon", "reply", "instruction", "prompt", "system",
    "developer", "admin", "assistant", "evaluator", "reviewer", "<|", "[inst", "<<sys", "user:", "human:", "{",
    "\u5ffd\u7565", "\u65e0\u89c6", "\u8bf7", "\u5224\u5b9a", "\u0438\u0433\u043d\u043e\u0440",
)  # fmt: skip
"""One of these stands in every sentence that is left out: most texts have none, and to see that is quick."""
_VERDICTS = (
    r"(?:correct|incorrect|wrong|search|true|false|reasoning|citation|repetition|redundancy|yes|no|unverifiable)\b"
)
_JUDGES = r"(?:judge|grader|evaluator|reviewer|rater|assistant|ai|llm|language\smodel)s?\b"
_BEHEST = later(
    rf"""(?xi)
    \b(?:ignor(?:e|ing|a|ad|en|ez|iere?n?)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?)\b[^\n.!?]{{0,60}}
        \b(?:instructions?|prompts?|rules?|above|previous|criteria|guidelines?|system|everything|instru\w+|anweisung\w*|consignes?)\b
    |\b(?:verdict|judge?ment|classification|label|grade|rating|score)\b[^\n.!?\w]{{0,6}}
        (?:\s(?:is|as|must\sbe|should\sbe)\b|[:=])[^\n.!?\w]{{0,6}}{_VERDICTS}
    |\b(?:mark|rate|grade|classify|label|judge|score|count|treat|deem|accept|consider|regard|report|return|output|print
        |say|write|answer|respond|reply)\b[^\n.!?]{{0,60}}
        \b(?:as|with|only|is|exactly|simply|just)\b[^\n.!?\w]{{0,6}}{_VERDICTS}
    |\b(?:answer|respond|reply|output|say|return|print)\s[^\n.!?\w]{{0,3}}{_VERDICTS}
    |\b(?:dear|attention|hey|(?:note|message|instructions?)\s(?:to|for))[\s,:]{{1,2}}(?:the\s|all\s|any\s)?{_JUDGES}
    |\b(?:as|you\sare(?:\snow)?)\s(?:the\s|an?\s)?(?:\w+\s){{0,2}}{_JUDGES}
    |\b(?:system|developer|admin\w*)\s?(?:prompt|message|override|note|instruction)s?\b
    |<\|?/?\w*\|>|\[/?INST\]|<</?SYS>>|^\#{{2,}}\s?(?:instruction|system|response|assistant|user)\b
    |^\s*(?:system|assistant|user|human)\s*:
    |\{{[^{{}}]{{0,200}}"(?:judge?ment|verdict|classification|found|steps?|same|items|keywords_to_search)"
    |\u5ffd\u7565|\u65e0\u89c6|\u8bf7(?:\u5224|\u56de\u7b54|\u8f93\u51fa|\u5c06)|\u5224\u5b9a\u4e3a
    |\b(?:\u043f\u0440\u043e)?\u0438\u0433\u043d\u043e\u0440\u0438\u0440\w*
    """,
    re.MULTILINE,
)
_SPLIT = later(r"(?<=[.!?\u3002\uff01\uff1f])(?=\s|$|[\u3400-\u9fff])|(?<=\n)")


@lru_cache(maxsize=1024)
def without_asides(text: str) -> str:
    """`text` without the sentences that tell a judge what to do, a line's end in their place; else the same text.

    Text is never an instruction to a lexical judge. But a sentence is words, and words that are not the case's would
    weigh; so those that are plainly about judging are passed over. Others weigh as any words do.
    """
    if not _speaks(text.lower()):
        return text
    return "".join("\n" if _speaks(part.lower()) and _BEHEST.search(part) else part for part in _SPLIT.split(text))


def _speaks(lowered: str) -> bool:
    return any(word in lowered for word in _WORDS)
