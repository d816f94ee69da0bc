"""Parts what a plan gives from what it only offers: whole plans to choose from, measures in reserve or considered.

'Option 1: surgery. Option 2: drugs' decides nothing. 'Surgery, failing that drugs' gives surgery.
"""

import re
from bisect import bisect_left

import msgspec

from wardround.engine.text import regex

_SPACE = r"[^\S\n]"
_COUNT = r"(?:\d|[a-e]|i{1,3}|one|two|three|four|eins|zwei|drei|un|deux|trois|uno|dos|tres|due|tre|[一二三四])"
_OPTION = regex(
    rf"(?i)(?<![\w-])(?P<noun>options?|cases?|scenarios?|alternatives?|variants?|possibilit(?:y|ies)|strateg(?:y|ies)"
    rf"|approach(?:es)?|pathways?|routes?|regimens?|choices?|arms?|optionen|variante|möglichkeit|fall|cas|caso|opción"
    rf"|opzione|opção|方案|选项){_SPACE}*(?:no\.?|nr\.?|#)?{_SPACE}*(?P<count>{_COUNT})(?![\w-])"
    rf"(?:{_SPACE}|[*_]){{0,3}}(?:[:.)=–—-]|, also called\b|(?:is|are|would be|ist|est|es|è|为|是)\b)"
)
"""The label of one plan among several: 'Option 1:', 'Case B -', 'Strategy two is'."""
_CHOSEN = regex(
    rf"(?i)\b(?:choos(?:e|ing)|chose|select|prefer|recommend|favou?r|go with|going with|opt for|decide (?:for|on)"
    rf"|decision|answer|my choice|best)(?:ed|s)?\b\W{{0,3}}(?:(?:is|for|the)\s+){{0,2}}\w{{4,13}}\s*"
    rf"(?P<count>{_COUNT})\b"
)
_EITHER = regex(
    r"(?:(?<=[a-z])|[.;])\s?/\s?(?=[A-Z][a-z]{2})|\b(?:x?or|vs\.?|versus)\s+(?=[A-Z][a-z]{2})|\b[xX][oO][rR]\b"
    r"|(?i:\bor else\b|(?<=[;,] )(?:else|otherwise|sonst|andernfalls|ansonsten|sinon|altrimenti)\b)"
    r"|(?i:\b(?:eller|nebo|vagy|sau|ili|tai|atau|hoặc)\b)"
)
_GUESS = regex(rf"(?:{_EITHER.pattern})|(?i:\b(?:perhaps|possibly|maybe)\b)")
"""Words of `_EITHER` and words of a guess. One guess leaves a measure open; several leave the whole plan open."""
_EXAMINES = regex(
    r"(?i)\W*(?:testing|tests?|screening|evaluat\w+|work-?\s?up|assess\w+|investigat\w+|exclud\w+|exclusion|ruling out"
    r"|checking|looking)\s+(?:for|of|out)\b"
)
"""The beginning of a consideration that treats nothing: 'consider testing for'."""
_UNDECIDED = regex(
    r"(?i)\b(?:one of(?: the following| these)?\s*:|(?:any|either|whichever|one) of (?:the following|these|those|them)"
    r"|whichever (?:applies|fits|is|works)|(?:choos(?:e|ing)|pick|decid(?:e|ing)|select|choice|toss-?\s?up"
    r"|undecided|torn) (?:between|from|among|one)|eine?[sr]? (?:von|der) folgenden"
    r"|l['’]une? des|un[oa] de (?:los|las|estos))"
    r"|(?:^|(?<=[.;\n]))\W{0,6}(?:(?:treatment|therapeutic|possible|management|several|the|our) ){0,3}(?:options?"
    r"|choices?|possibilities)(?: (?:are|include|would be))?\s?:"
    r"|(?:^|(?<=[.;\n]))\s*depending (?:up)?on [^:.;,\n]{2,60}[:,]"
)


def plans_offered(text: str) -> list[str]:
    """The plans among which a text lets the reader choose; only one if the text decides. Takes linear time.

    >>> plans_offered("Option 1: colchicine. Option 2: surgery.")
    [' colchicine. ', ' surgery.']
    >>> plans_offered("Option 1: colchicine. Option 2: surgery. We choose option 2.")
    [' surgery. We choose option 2.']
    """
    choices = list(_CHOSEN.finditer(text))
    ends = {one.end("count") for one in choices}
    labels = [one for one in _OPTION.finditer(text) if one.end("count") not in ends]
    noun = labels[0]["noun"].lower()[:4] if labels else ""
    labels = [one for one in labels if one["noun"].lower()[:4] == noun]
    counts = [one["count"].lower() for one in labels]
    if len(set(counts)) < 2:
        return (_GUESS if len(_GUESS.findall(text)) > 1 else _EITHER).split(text)
    edges = [*(one.start() for one in labels[1:]), len(text)]
    plans = [text[one.end() : edge] for one, edge in zip(labels, edges, strict=True)]
    chosen = {one["count"].lower() for one in choices}
    taken = [plan for count, plan in zip(counts, plans, strict=True) if count in chosen]
    return taken if len(chosen) == len(taken) == 1 else plans


_NEXT = (
    r"(?:(?:second|third|2nd|3rd|next)[- ](?:line|choice|option|best|preference)|plan[- ](?:[b-e](?![\w-])"
    r"|(?:[2-5]|two|three)(?=\s?[:=)]))"
    r"|zweit(?:e[rn]?)?[- ]?(?:wahl|linie)|2\. (?:wahl|linie)|(?:deuxième|seconde?|2e) (?:choix|ligne|intention|option)"
    r"|segund[ao] (?:línea|elección|opción|linha|escolha|opção)|seconda (?:linea|scelta|opzione)|二线|次选"
    r"|(?:step-?up|escalation) (?:option|therapy|line)|at worst|(?:in the )?worst case)"
)
_KEPT = r"(?:back-?\s?up|fall-?\s?back|reserve|stand-?\s?by|contingency|last resort|reserva|riserva|réserve|备选|备用)"
_FAILS = (
    r"(?:failing (?:that|which|this|it|these|those|them|all (?:that|else))|à défaut|en su defecto|em sua falta"
    r"|bei (?:versagen|misserfolg|nichtansprechen|unwirksamkeit)|(?:falls|wenn) (?:das|dies|es|diese)\b[^,:.;\n]{0,30}"
    r"|(?:en cas d['’]|si )(?:échec|inefficacité)|en caso de (?:fracaso|fallo|falla)|si (?:falla|fracasa|no (?:responde"
    r"|funciona))|in caso di (?:fallimento|insuccesso)|em caso de falha|se (?:fallisce|falhar)"
    r"|[若如](?:果)?(?:无效|失败)|无效时)"
)
_RESERVE = (
    rf"(?:as|in|on|for|als|in|en|de|di|the|an?|our|my|held|kept|with)?{_SPACE}*(?:an?{_SPACE}+|the{_SPACE}+)?{_KEPT}"
)
_ALTERNATIVE = (
    r"(?:alternatively|alternately|as an? (?:\w+ )?alternative(?! to\b)|alternativ(?:ement|amente)?|in alternativa"
    r"|en alternative|als alternative|como alternativa|(?:^|(?<=[.;,(\n])|(?<=[.;,(\n] ))(?:an? |the |another )?"
    r"alternatives?(?= (?:is|are|would be)\b| ?:))"
)
_ASIDE = (
    r"(?:rationale|reason(?:s|ing)?|justification|explanation|why|comments?|notes?|background|evidence|literature"
    r"|discussion|begründung|justificación|justificatif|motivazione|justificativa|理由|依据)"
)
_LINE = r"(?:^|(?<=[.;\n!?)])|(?<=[.;!?)] ))[\s#>*_-]{0,8}(?P<item>\(?\d{1,2}[.)]\s*)?[*_]{0,3}"
_HEADED = regex(
    rf"(?im){_LINE}(?:(?P<aside>{_ASIDE})|(?:{_KEPT}|rescue|{_NEXT})(?: (?:plan|treatment|therapy|option|measures?))?"
    rf"|later(?: on)?|{_FAILS}|if [^:.;\n]{{0,40}}\b(?:fail\w*|relaps\w*|recur\w*|worsen\w*|refractory|persist\w*"
    rf"|no (?:response|effect|improvement))\b[^:.;\n]{{0,20}}|(?P<instead>alternatives?|alternatively)"
    rf"(?: (?:plan|treatment|therapy|option)s?)?|(?P<maybe>(?:to |also )?consider(?:ations?)?|optional(?:ly)?))"
    r"(?:\s?[*_]{0,3}\s?:|[*_]{0,3}[^\S\n]{0,3}(?=\n))"
)
"""A heading above what a plan does not give: its grounds, measures in reserve, another plan."""
_RESUMED = regex(
    r"(?im)(?:^|(?<=[.;\n] )|(?<=\n))[\s#>*_-]{0,8}(?:\(?\d{1,2}[.)]\s*)?[*_]{0,3}(?:the |final |main |primary )?"
    r"(?:treatment|therapy|plan|management|first[- ](?:line|choice)|main|primary|final|definitive|recommend\w*|answer"
    r"|interventions?|follow[- ]?up|monitoring|supportive|prevention|next steps?)(?: (?:plan|treatment|therapy|care"
    r"|steps?|measures?))?(?:\s?[*_]{0,3}\s?:|[*_]{0,3}[^\S\n]{0,3}(?=\n))"
)
_BLANK = regex(r"(?<=\S)[^\S\n]{0,40}\n[^\S\n]{0,40}\n")
_ITEM = regex(r"\n[\s#>*_-]{0,8}\(?\d{1,2}[.)]\s")
_INLINE = regex(
    rf"(?i)(?<![\w-])(?:(?P<instead>{_ALTERNATIVE})|(?P<fails>{_FAILS})|(?P<next>(?:as |of |in |the |als |en |de |di )"
    rf"{{0,2}}{_NEXT}|{_RESERVE})"
    r"|(?P<maybe>consider(?!\w)|(?:in )?consideration (?:of|for)|(?:could|may|might)(?: also)? consider"
    r"|(?P<perhaps>perhaps|possibly|maybe)|as (?:is|are|would be)(?= \w)|with or without"
    r"|(?P<soft>optional(?:ly)?(?! (?:too|as well))(?= ?:? ?[\w(])|depending (?:up)?on|contingent on|subject to))"
    r"|(?P<weak>(?:(?:(?:is|are|would be|remains?|being) )?(?:also |equally |another |an? |further |valid |viable )*"
    r"(?:acceptable|optional|permissible|option|alternative)"
    r"|(?:is|are|would be) (?:also|equally|just as) (?:a )?(?:reasonable|possible|valid|viable|suitable|fine|adequate"
    r"|appropriate|effective|good|defensible|feasible)"
    r"|should (?:also )?be considered|(?:could|may|might|can) (?:also )?be (?:considered"
    r"|tried|used|added|given|offered|discussed|attempted))"
    r"(?: too| also| as well)?(?=\W*(?:$|[,.;)\n]|(?:for|if|in|should|when|as|instead|later)\b))))"
    r"(?![\w-])|(?P<plusminus>±|\+\s?/\s?[-–−])"
)
_FIRST = regex(r"(?i)\b(?:first|1st)[- ](?:line|choice|option)|\bplan (?:a|1|one)\b|\bpreferred\b")
_END = regex(r"(?:(?<=[a-z0-9)\]%]{2})|(?<=[A-Za-z]{2}[a-z]))[.!]+(?:\s+|$)|[;\n?)\]]|\.$|(?i:[,\s]+(?:but|however)\b)")
_COMMA = regex(
    r"(?i),|(?:,|\band\b|\bthen\b)\s*(?=(?:give|start|begin|use|initiat|administ|add|switch|perform|proceed|treat"
    r"|continu|stop|discontinu|avoid)\w*\b)"
)
_STARTED = regex(
    r"(?i)\b(?:start|begin|initiat|giv|administ|switch|add|commenc|us[ei]|proceed|chang|continu|receiv)\w*\s+(?:\w+\s+){0,2}$"
)
_LEAD = 40
_BEHIND = regex(r"[\s*_]*(?:$|[.;)\]\n|]|,(?! also called))")
_OPENS = regex(r"(?:\A|[.;(\n:])[^\w,]*$")
_BACK = (regex(r"[,;.(\n:|]"), regex(r"(?i)\b(?:and|with|then|or|plus)\b"))
_BACKWARD, _FORWARD = 200, 2000
"""Most characters between a word of reserve and the beginning of its measure before it, or its end after it."""
_TRIAL = regex(
    r"(?i)\b(?:trials?|ex juvantibus|probatory treatment|try|tries|trying|attempt(?:s|ing)?)\b[^.\n]{3,200}?"
    r"(?P<next>[,;]?\s*(?:and )?(?:then|followed by|next|after that|subsequently|finally)\b)"
)
"""A trial of one treatment after another. Only the first is given for certain."""
_LATER = regex(
    r"(?i)\b(?:(?:only|just) (?:if|when|in case|after)\b|(?:if|when|in case of|in the event of) (?:[\w-]+ ){0,3}"
    r"(?:fail\w*|relaps\w*|recur\w*|worsen\w*|need\w*|necessary|refractory|persist\w*|(?:no|without) response))"
)
"""Words that keep the measure before them for later: 'surgery only if drugs fail', 'steroids in case of relapse'."""


class SetAside(msgspec.Struct, frozen=True):
    """What a plan `gives`, and the parts that it only considers, offers `instead` or keeps in reserve."""

    gives: str
    considered: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    reserved: tuple[str, ...] = ()


def chooses_nothing(text: str) -> int:
    """The position of the sentence that leaves a choice among what it lists ('one of: A, B'); -1 if there is none.

    >>> chooses_nothing("Rest. Choose between colchicine and surgery.")
    5
    """
    choice = _UNDECIDED.search(text)
    return max(0, *(text.rfind(sign, 0, choice.end() - 1) + 1 for sign in ".;\n")) if choice else -1


def set_aside(text: str) -> SetAside:
    """Part what a plan gives from its grounds and from what it keeps in reserve or only considers. Takes linear time.

    >>> set_aside("Surgery, failing that drugs. Rationale: trials.").gives
    'Surgery, .'
    >>> set_aside("Surgery; consider drugs").considered
    (' drugs',)
    """
    instead: list[str] = []
    considered: list[str] = []
    reserved: list[str] = []
    text = _without_headed(text, instead, considered)
    gives: list[str] = []
    place = 0
    for cue in _INLINE.finditer(text):
        if cue.start() < place or (cue["next"] and _STARTED.search(text, max(place, cue.start() - _LEAD), cue.start())):
            continue
        begin, end, part = _extent(text, cue, place)
        gives.append(text[place:begin])
        kept_for = instead if cue["instead"] else reserved if cue["fails"] or cue["next"] else considered
        kept_for += [] if _EXAMINES.match(part) else [part]
        place = end
    gives.append(text[place:])
    return SetAside(_TRIAL.sub(_tried, "".join(gives)), tuple(considered), tuple(instead), tuple(reserved))


def _tried(trial: re.Match[str]) -> str:
    """The trial up to its first measure and the words '; if', which make a condition of the rest of the sentence."""
    return f"{trial[0][: trial.start('next') - trial.start()]}; if "


def _without_headed(text: str, instead: list[str], considered: list[str]) -> str:
    """The text without the parts under headings of `_HEADED`; other plans go to `instead`, some to `considered`."""
    gives: list[str] = []
    place = 0
    resumed, items, blank = ([one.start() for one in sign.finditer(text)] for sign in (_RESUMED, _ITEM, _BLANK))
    for head in _HEADED.finditer(text):
        if head.start() < place:
            continue
        edges = [resumed, *([items] if head["item"] else []), *([blank] if head["aside"] else [])]
        end = min(_next(places, head.end() + 1, text) for places in edges)
        gives.append(text[place : head.start()])
        if head["instead"] or head["maybe"]:
            (instead if head["instead"] else considered).append(text[head.end() : end])
        place = end
    return "".join((*gives, text[place:]))


def _next(places: list[int], start: int, text: str) -> int:
    """The first of the sorted places from `start` on, or else the end of the text."""
    after = bisect_left(places, start)
    return places[after] if after < len(places) else len(text)


def _extent(text: str, cue: re.Match[str], start: int) -> tuple[int, int, str]:
    """(begin, end, text) of the part that a cue sets aside: after the cue or, for some cues, before it."""
    behind = bool(cue["weak"])
    if (cue["next"] or cue["instead"]) and _BEHIND.match(text, cue.end()):
        behind = not _OPENS.search(text, max(cue.start() - 3, 0), cue.start())
    short = behind or cue["plusminus"] or cue["perhaps"] or cue["soft"]
    end = min(cue.end() + _FORWARD, len(text))
    for sign in (_COMMA if short else _FIRST, _END):
        nearer = next((one for one in sign.finditer(text, cue.end(), end) if _outside(text, cue.end(), one)), None)
        end = nearer.start() if nearer else end
    if not behind:
        return cue.start(), end, text[cue.end() : end]
    floor = max(start, cue.start() - _BACKWARD)
    before = [
        [one.end() for one in sign.finditer(text, floor, cue.start())] for sign in _BACK[: 1 if cue["weak"] else 2]
    ]
    begin = next((ends[-1] for ends in before if ends), floor)
    return begin, end, text[begin : cue.start()]


def _outside(text: str, start: int, sign: re.Match[str]) -> bool:
    """Whether a sign ends the part that begins at `start`; a sign inside a bracket of the part does not."""
    return not any(
        text.count(opens, start, sign.start()) > text.count(closes, start, sign.start())
        for opens, closes in ("()", "[]")
    )


def for_now(text: str) -> str:
    """The text up to a measure that is kept for later; the whole text if there is none."""
    later = _LATER.search(text)
    return text[: max(text.rfind(sign, 0, later.start()) for sign in ",;") + 1] if later else text
