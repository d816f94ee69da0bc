"""Headings under which models write an answer when they do not keep to the form, in several languages."""

import re

from wardround.engine.text import later
from wardround.scenarios.nonanswers import postponed, template

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
    return later(_FRAME.replace("%s", words), re.IGNORECASE | re.MULTILINE)


_BY_GOAL: dict[str, tuple[re.Pattern[str], ...]] = {
    "diagnosis": (_heading(_DIAGNOSIS), _heading(_ANSWER)),
    "treatment": (_heading(_TREATMENT), _heading(_ANSWER)),
}
_NEXT = later(
    r"^[ \t>]*(?:#{1,6}[ \t]|[*_]{2,3}[^*\n]{1,80}(?:[:\uff1a][*_]{2,3}|[*_]{2,3}[:\uff1a])[ \t]*$|\u3010)",
    re.MULTILINE,
)
_REACH = 8_000
_MOST = 50


def named(text: str, goal: str = "diagnosis") -> str:
    """What stands under the last heading of the goal that says anything, else under the last `Answer`; else "".

    In English, German, French, Spanish, Italian and Chinese, with hashes, in bold, in brackets, or as a plain line with
    a colon. A heading of a differential or of another part is none of these. The text ends at the next heading or at
    the first empty line after it began.
    """
    for heading in _BY_GOAL.get(goal, ()):
        for match in reversed(list(heading.finditer(text))[-_MOST:]):
            said = _under(text[match.end() : match.end() + _REACH])
            if said and not template(said) and not postponed(said):
                return said
    return ""


def _under(text: str) -> str:
    """What belongs to a heading: the rest of its line, else the first paragraph under it."""
    line, _, rest = text.partition("\n")
    if line.strip(" \t*_#`"):
        return line.strip()
    rest = rest.lstrip("\n \t")
    following = _NEXT.search(rest)
    if following:
        rest = rest[: following.start()]
    return " ".join(part.strip() for part in rest.strip().split("\n\n")[0].splitlines() if part.strip("`").strip())
