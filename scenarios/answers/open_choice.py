"""Reads an answer that weighs several diseases: which one it decides for, or that the choice stays open.

The patterns of sentences are written like sentences (`_spelled`): `{weighing} <options>, {decided} <rest>` matches
'between gout and lupus, I prefer gout'. A word in braces stands for any phrase of a list (`_WORDS`), a word in angle
brackets for a phrase that is kept (`_PHRASES`).
"""

import itertools
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from wardround.engine.text import regex
from wardround.scenarios.answers.remarks import answered
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease

_WORDS = {
    "doubt": r"(?:torn|choosing|deciding|wavering|undecided|hesitating|oscillating) between"
    r"|(?:the|a) choice (?:of|between)",
    "weighing": r"(?:given |faced with )?{doubt}|between|among(?:st)?|of|out of|weighing|comparing|balancing",
    "i would": r"(?:i|we)(?:['’]d| would)?",
    "decided": r"(?:{i would}(?: \w+ly)? {choose}|(?:my|our) (?:vote|choice|pick|money|preference|answer|diagnosis"
    r"|decision|bet) (?:goes to|is|falls on|would be)|(?:it|this) (?:is|must be|should be))"
    r"(?: (?:that )?(?:it|this) is| for| on)?",
    "choose": r"prefer|favou?r|choose|pick|select|vote for|go (?:for|with)|opt for|settle (?:on|for)|conclude|believe"
    r"|(?:lean|tend) to(?:wards?)?|decide (?:on|for)|think|say|diagnose",
    "is": r"is|seems|appears|looks|fits|remains",
    "much": r"much|far|a bit|somewhat|clearly|still",
    "likelier": r"(?:more (?:likely|probable|probably|plausible|consistent)|likelier|preferred|preferable|better"
    r"|a better (?:fit|match))",
    "unlikelier": r"less (?:likely|probable|plausible)|a worse (?:fit|match)|worse",
    "wins": r"fits|is|seems|appears|matches|suits|explains|remains|looks|wins",
    "best": r"better|best|more|most|likelier|likeliest|favou?rite|winner|first",
    "would": r"(?:would|could|might|may) (?:(?:well|also|at first|certainly|easily|indeed|have) )*",
    "fit": r"explain(?:ed)?|fit(?:ted)?|account(?:ed)?|match(?:ed)?|suit(?:ed)?|look|be the|been (?:my|the|a)",
    "seems": r"looks?|looked|seems?|seemed|appears?|appeared|is|was|sounds?",
    "tempting": r"tempting|plausible|attractive|obvious|the (?:obvious|tempting|first|classic|usual)|(?:my|the) first"
    r"|to (?:fit|explain|match|account)",
    "at first": r"at first (?:sight|glance)|on the face of it|superficially|it {seems} like"
    r"|one (?:would|might|could) (?:think|expect|say|suspect)",
    "it has": r"(?:it|this|that|she|he|the patient|what we see|we have here)(?: really| actually)?"
    r" (?:is|has|must be|turns out to be|turned out to be|proves to be)",
    "the diagnosis is": r"(?:the|my|our) (?:(?:final|correct|right|true|real) )?(?:diagnosis|answer|disease|cause)"
    r" (?:is|must be)",
    "shows": r"the [\w\s-]{2,40}? (?:shows?|proves?|reveals?|confirms?)",
    "any": r"(?:both|either|all|each|any|neither|one)(?: (?:one|of (?:them|these|those|the (?:two|three|above))))?",
    "may be": r"is|are|remains?|seems?|could be|may be|might be|can be|would be|would",
    "possible": r"possible|likely|conceivable|plausible|probable|right|true|correct|imaginable|fit|ruled out|excluded",
    "cannot": r"can(?:not|['’]t)|can ?not|am unable to|are unable to|could not|do not",
    "ordered": r"ranked|ranking|rank|ordered|sorted|listed|descending|decreasing|order",
    "likely": r"likelihood|likely|probability|probable|plausibility|likeliest",
    "little": r"the|my|our|an?|in|of|by|from|with|to|and|as|is|are|follows|most|least|less|more|top|first|best|last"
    r"|down|highest|lowest|list|differentials?|diagnos[ei]s|possibilities|candidates|overall|working|here|final|\d+",
    "tell": r"decide|tell|choose|say which|know|distinguish|separate them",
}
"""The lists of words for the patterns of sentences below; one list may name another."""
_PHRASES = {
    "options": r"[^;\n?!]{3,300}?", "name": r"[^,.;\n]{2,100}?", "first": r"[^.;\n]{2,120}?", "other": r"[^.;\n]{2,}",
    "rest": r"\w[\s\S]*",
}  # fmt: skip
"""The phrases that are kept: the options, a disease, a disease with commas in its name, another disease, the rest."""


def _spelled(sentence: str) -> str:
    """The pattern of a sentence: `{list}` becomes its words, `<phrase>` a group of this name, a space any gap."""
    while named := re.search(r"\{([a-z ]+)\}", sentence):
        sentence = sentence.replace(named[0], f"(?:{_WORDS[named[1]]})")
    sentence = re.sub(r"<(\w+)>", lambda phrase: f"(?P<{phrase[1]}>{_PHRASES[phrase[1]]})", sentence)
    return "(?i)" + sentence.replace(" ", r"\s+")


_CHOSEN = tuple(
    regex(_spelled(rf"^\W*{sentence}$"))
    for sentence in (
        "{weighing} <options>,? {decided} <rest>",
        r"{weighing} <options>, <name> {wins}(?: (?:[\w']+ ){0,4}?{best}\b.*)?",
    )
)
"""'Between gout and lupus I prefer gout', 'of gout and lupus, gout fits best'."""
_PREFERRED = tuple(
    regex(_spelled(rf"^\W*{sentence}$"))
    for sentence in (
        "(?:(?:i|we) {choose} )?(?:(?:it|this) is )?(?:rather|sooner|{likelier}) <name> than <other>",
        "<first> {is} (?:{much} )?{likelier} (?:than|over|to|compared (?:to|with)) <other>",
        "<other> {is} (?:{much} )?{unlikelier} than <name>",
        "{i would} prefer <name> (?:to|over) (?!treat)<other>",
    )
)
"""'Rather gout than lupus', 'gout is likelier than lupus', 'lupus is less likely than gout', 'I prefer it to lupus'."""
_OPEN_PAIR = regex(_spelled(r"^\W*(?:{doubt}|(?:it is |somewhere )?between) <name> (?:and|or) <other>$"))
"""'Torn between gout and lupus', and nothing more."""
_JOINS = regex(r"(?i)\b(?:and|or|against|versus|vs|with|from)\b|,|/")
_ASKED = regex(r"(?i)^[^?\n]{3,200}\b(?:or|vs\.?|versus)\b[^?\n]{0,200}\?\s+(?=\w)")
"""A choice that is put as a question, with its answer after it: 'Gout or lupus? Gout'."""

_CONCEDES = regex(
    _spelled(r"^\W*(?:[^;\n]{2,300}? (?:{would}{fit}|{seems} (?:(?:so|very|quite) )?{tempting}\b)|(?:{at first})\b)")
)
_TURNS = regex(
    r"(?i)[,;.–—-]\s*(?:and\s+)?(?:but|yet|however|still|nevertheless|nonetheless|though|(?P<truth>in truth|in fact"
    r"|actually|in reality|really))\b|\s(?:and yet|but|yet|however)\b"
    r"|\.\s+(?=[^.\n]{2,120},?\s(?:though|however|instead|nevertheless)\W*$)"
)
_COMMITS = regex(
    _spelled(r"^\W*(?:{it has}|{the diagnosis is}|(?:i|we) {choose}|{shows}) (?:(?:that )?(?:it|this) is )?<other>")
)
"""The three parts of a concession: 'gout would explain it all', 'yet', 'it is lupus'."""
_CONCEDED_WITHIN = 160
"""Most characters between what concedes a disease and the turn to another."""
_NO_OTHER = regex(
    r"(?i)^\W*(?:not\b|\w+(?:ed|en)\s+(?:by|with|in|on)\b|(?:an?|the|its?|no)\s+(?:[\w-]+\s+){0,4}(?:disease|disorder"
    r"|condition|tumou?r|diagnosis|entity|cause|complication|variant|form|finding|one)"
    r"(?:\s+(?:here|there|in|at|of)\b[^,:]*)?\W*$)"
)
"""Words that describe the conceded disease and name no other: 'yet it is a rare disease'."""

_STAYS_OPEN = regex(
    _spelled(
        r"(?:^|[\s(,;:.–—-]\s*)(?:{any}(?: {may be})?(?: (?:\w+ly|still|also))? {possible}"
        r"|(?:equally|similarly|about as|just as) {possible}"
        r"|(?:i|we|one|you)?\s*{cannot} {tell}(?: (?:which(?: it is| one)?|between (?:them|these|the two)))?"
        r"|(?:it|this|he|she) (?:could|may|might|can) be (?:either|any|both|one)(?: of (?:them|these|the two))?"
        r"|one of (?:these|them|those|the (?:two|three|above)))\W*$"
    )
)
"""'Both possible', 'equally likely', 'I cannot tell which', 'it could be either', 'one of these' after a list."""
_AND = regex(r"\s*(?:,\s*(?:and\s+)?|\n|\band\b|&)\s*")

_OPEN_ENDED = regex(
    r"(?i)\W*(?:(?:an)?other(?: (?:disease|condition|disorder|diagnosis|cause|illness|one|thing))?"
    r"|(?:some|any)thing(?: else)?|nothing|none(?: of (?:these|them|those|it))?|whatever"
    r"|any other(?: (?:disease|condition|diagnosis))?|not)\W*"
)
"""An alternative that names nothing: 'gout or something else'."""
_ELSE = regex(
    r"(?i)(?<=\w),?\s+(?:if not|failing (?:that|this|which),?"
    r"|unless (?:it|this|that|she|he) (?:is|was|be|has|had|turns out to be|proves to be))\s+"
    r"(?!(?:for|in|all|most|yet|already|always|otherwise|an?\s+\w+(?:ed|en)|\w+(?:ed|en|ing|ly))\b)(?=\w)"
)
_OR_IF = regex(r"(?i)\bor,?\s+if\s+[^,]{3,100},\s*(?=\w)")
"""An alternative under a condition: 'anemia or, if the ferritin is low, iron deficiency'."""
_OR_BRACKET = regex(r"(?i)\s*[(\[]\s*(?:or|vs\.?|versus|failing that)\s+([^()\[\]]{3,100})[)\]]")
"""An alternative in a bracket: 'gout (or lupus)'."""

_RANKING = regex(
    _spelled(r"(?=.*\b(?:{ordered}|by {likely}|{likely} first)\b)(?:\W*\b(?:{ordered}|{likely}|{little})\b)+\W*")
)
"""A line that only announces a list by likelihood: 'Ranked by likelihood', 'Top 3, most likely first'."""
_UNRANKED = regex(
    r"(?i)\b(?:not?|un|never|without)\W*(?:\w+\s+)?(?:rank|order)|\bno particular\b|\bleast\b.*\bmost\b"
    r"|\b(?:equal|tied|ties?)\b"
)
"""A list without order, or with the likeliest last."""

_LONGEST = 200
"""Most characters of an entry that may state a share."""
_MOST_ENTRIES = 60
"""Most entries of a list that is read."""
_LINE = regex(r"[;\n|]+")
_ENTRY = regex(r"[;\n|]+|,\s+(?=\D|\d+\s?%)|\.\s+(?=[A-Z\d])|\sand\s(?=\d+\s?%|[^,;\n]{1,80}\d\s?%)")
"""What separates the entries of a list: `_LINE` if names may hold commas, else `_ENTRY`."""
_ODDS = r"(?:probability|likelihood|chance|confidence|certainty|posterior|prob|odds|p)"
_SHARE = (
    r"(?:(?P<per_cent>\d{1,3}(?:[.,]\d{1,3})?)\s?%|(?P<part>[01]?[.,]\d{1,4}|1)|(?P<of>\d{1,2})/(?P<whole>\d{1,3}))"
)
_BEHIND = regex(rf"(?i)(?:(?<=[\s:=(~≈\[–—-])|^){_SHARE}[)\]\s]*(?:{_ODDS}|likely|probable|confident|sure)?[)\].\s]*$")
_BEFORE = regex(rf"(?i)^[\W_]*{_SHARE}\s*(?:{_ODDS}\s+(?:of|for)\s+|for\s+|[:–—-]\s*)?(?=[(\[]?[^\W\d_])")
_RATED = regex(
    r"(?i)(?:[:=(–—-]|\s(?:is|has|with))\s*(?:an?\s+)?(?P<very>very |quite |extremely )?"
    rf"(?P<word>high|low|moderate|medium|intermediate|small|minimal)(?:\s+(?:{_ODDS}|suspicion))?\W*$"
)
_PERCENT = {"high": 80, "low": 20, "small": 20, "minimal": 5, "moderate": 50, "medium": 50, "intermediate": 50}
_PERCENT_VERY = {"high": 85, "low": 15, "small": 15, "minimal": 0, "moderate": 45, "medium": 45, "intermediate": 45}
"""'Gout 80 %', '80 % gout', 'gout: high'; and the per cent for which a word stands, alone and after 'very'."""
_LINK = regex(rf"(?i)(?:[\s:=(~≈\[,–—-]|\b{_ODDS}\b|\b(?:with|of|is|at|about|has|an?)\b)$")
_OPENS = regex(rf"(?i)^[\s\d.)*•\"'-]*(?:{_ODDS}\s*\()?\s*")
"""What joins a name to its share, and what opens an entry."""
_ANALYTE = (
    r"hb\w*|a1c|h[ae]+moglobin|h[ae]+matocrit|creatinine|crp|glucose|potassium|sodium|calcium|acid|pressure|temperature"
    r"|rate|count|titers?"
)
_HIGH_OR_LOW = regex(rf"(?i)\b(?:{_ANALYTE})\b")
_MEASURED = regex(
    rf"(?i)\b(?:{_ANALYTE}|ejection|fraction|saturation|stenosis|occlusion|narrowing|parasit\w+|blasts?|tbsa|burns?"
    r"|body|surface|fev\w*|reversibility|mutation|allele)\b"
)
"""What may be high or low and is no disease, and what has a percentage of its own: '40 % blasts'."""
_LEAST_WHOLE, _MOST_WHOLE = 90, 101
"""Least and most per cent that the shares of a complete list add up to, with rounding."""


class _Rated(NamedTuple):
    """An entry of a list with its share in per cent, and how the share is written."""

    name: str
    share: float
    written: Literal["number", "per cent", "word"]


def weighed(text: str) -> str:
    """`text` with the diseases that it weighs replaced by the one it decides for, or by alternatives if it is open.

    A text that fits none of the patterns stays as it is. Takes time linear in the length of the text.

    >>> weighed("gout: 0.4; asthma: 0.6")
    'asthma'
    >>> weighed("Between gout and pseudogout I prefer pseudogout")
    'pseudogout'
    >>> weighed("Gout would explain everything, yet it is asthma")
    'it is asthma'
    >>> weighed("Gout, asthma; both possible")
    'Gout vs asthma'
    """
    text = answered(_most_likely(text))
    if len(text) > 4 * _LONGEST:
        return text
    asked = _ASKED.match(text)
    text = text[asked.end() :] if asked else text
    return _undecided(_preferred(_conceded(text)))


def _most_likely(text: str) -> str:
    """`text` with a list of diseases and their probabilities replaced by the likeliest; by a choice between ties."""
    for pattern in (_LINE, _ENTRY):
        bounds = _entries(text, pattern)
        if len(bounds) > _MOST_ENTRIES:
            return text
        rated = [_rated(text[begin:end]) if end - begin <= _LONGEST else None for begin, end in bounds]
        first = next((place for place, one in enumerate(rated) if one), 0)
        last = next((place for place in range(first, len(rated)) if rated[place] is None), len(rated))
        listed = [one for one in rated[first:last] if one is not None]
        if len(listed) > 1 and _of_one_whole(listed):
            break
    else:
        return text
    best = max(one.share for one in listed)
    top = [one.name for one in listed if one.share == best]
    named = " vs ".join(name if not _OPEN_ENDED.fullmatch(name) else "something else" for name in top)
    if len(top) == 1 and _OPEN_ENDED.fullmatch(top[0]):
        named = f"{next((one.name for one in listed if one.name != top[0]), named)} or something else"
    return text[: bounds[first][0]] + named + text[bounds[last - 1][1] :]


def _entries(text: str, between: re.Pattern[str]) -> list[tuple[int, int]]:
    """(begin, end) of each entry of a text; the list is longer than `_MOST_ENTRIES` if there are too many."""
    bounds, start = [], 0
    for mark in itertools.islice(between.finditer(text), _MOST_ENTRIES + 1):
        bounds.append((start, mark.start()))
        start = mark.end()
    return [*bounds, (start, len(text))]


def _rated(entry: str) -> _Rated | None:
    """An entry of a list with its share in per cent; None if it states none."""
    bare = entry.strip().strip("{}").strip(" \"'")
    number = _BEHIND.search(bare) or _BEFORE.match(bare)
    share = number or _RATED.search(bare)
    if share is None:
        return None
    name = _OPENS.sub("", bare[: share.start()] or bare[share.end() :], count=1)
    while link := _LINK.search(name[-40:]):
        name = name[: len(name) - len(link[0])]
    name = name.strip(" )]\"'*_.")
    if not any(map(str.isalnum, name)) or not any(map(str.isalpha, name)) or "%" in name:
        return None
    if number is None:
        return _Rated(name, (_PERCENT_VERY if share["very"] else _PERCENT)[share["word"].lower()], "word")
    if share["per_cent"]:
        return _Rated(name, float(share["per_cent"].replace(",", ".")), "per cent")
    if share["part"]:
        return _Rated(name, 100 * float(share["part"].replace(",", ".")), "number")
    whole = int(share["whole"])
    return _Rated(name, 100 * int(share["of"]) / whole, "number") if whole else None


def _of_one_whole(listed: Sequence[_Rated]) -> bool:
    """Whether the shares are probabilities of diseases, which add up to one whole, and not measurements."""
    names, kinds = [one.name for one in listed], {one.written for one in listed}
    diseases = [bool(_OPEN_ENDED.fullmatch(name)) or _names_disease(name) for name in names]
    if kinds == {"word"}:
        apart = len({one.share for one in listed}) > 1
        return apart and any(diseases) and not any(map(_HIGH_OR_LOW.search, names))
    total = sum(one.share for one in listed)
    if len(kinds) > 1 or total > _MOST_WHOLE:
        return False
    return any(diseases) if total >= _LEAST_WHOLE else all(diseases) and not any(map(_MEASURED.search, names))


def _names_disease(text: str) -> bool:
    return disease_like(text.partition(",")[0].strip(" .")) or any(map(heads_disease, re.findall(r"[\w'-]+", text)))


def _conceded(text: str) -> str:
    """`text` without a disease that it only concedes before it names another: 'X would fit, yet it is Y'."""
    concedes = _CONCEDES.match(text)
    turn = _TURNS.search(text, concedes.end(), concedes.end() + _CONCEDED_WITHIN) if concedes else None
    if concedes is None or turn is None or _LINE.search(text, concedes.end(), turn.start()):
        return text
    rest = text[turn.end() :].lstrip(", \n\t")
    commits = _COMMITS.match(rest)
    if commits is None:
        return rest if turn["truth"] and disease_like(rest.strip(" .")) else text
    return rest if _names_disease(commits["other"]) and not _NO_OTHER.match(commits["other"]) else text


def _preferred(text: str) -> str:
    """The disease that `text` prefers over others; `text` as it is if it prefers none."""
    bare = text.strip(" .")
    for pattern in _CHOSEN:
        if (chosen := pattern.match(bare)) and _JOINS.search(chosen["options"]):
            return str(chosen[chosen.lastindex or 0])
    if (pair := _OPEN_PAIR.match(bare)) and _names_disease(pair["name"]):
        return f"{pair['name']} or {pair['other']}"
    compared = next((found for pattern in _PREFERRED if (found := pattern.match(bare))), None)
    return (compared.groupdict().get("name") or compared["first"]) if compared else text


def _undecided(text: str) -> str:
    """`text` as alternatives, if it says that all of what it lists is possible."""
    both = _STAYS_OPEN.search(text[-_LONGEST:])
    if both is None:
        return text
    listed = text[: len(text) - len(both[0])].strip(" \n,;:.(–—-")
    return _AND.sub(" vs ", listed) if _AND.search(listed) else text


def ranks(heading: str) -> bool:
    """Whether a line only announces a list in which the likeliest disease comes first.

    >>> ranks("Ranked by likelihood"), ranks("Top 3, most likely first"), ranks("Ranked from least to most likely")
    (True, True, False)
    """
    return _RANKING.fullmatch(heading, 0, _LONGEST) is not None and not unranked(heading)


def unranked(text: str) -> bool:
    """Whether a text says that its list has no order, or that the likeliest comes last."""
    return _UNRANKED.search(text) is not None


def left_open(pieces: Sequence[tuple[str, str]]) -> bool:
    """Whether an alternative among the phrases names no disease, so that the diagnosis stays open.

    Each pair is a phrase and its `Choice`, '' if it is no alternative.

    >>> left_open([("gout", ""), ("something else", "or")])
    True
    """
    return any(either and _OPEN_ENDED.fullmatch(piece) for piece, either in pieces[1:])


def with_or(sentence: str) -> str:
    """`sentence` with other words for a choice ('if not', 'failing that') written as 'or'.

    >>> with_or("Gout if not lupus")
    'Gout or lupus'
    """
    return _OR_IF.sub("or ", _ELSE.sub(" or ", _OR_BRACKET.sub(r" or \1", sentence)))
