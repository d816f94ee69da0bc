"""Reads an answer that weighs several diseases: which one it decides for, or that the choice stays open."""

import itertools
import re
from collections.abc import Sequence

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease

_OPEN_ENDED = regex(
    r"(?i)\W*(?:(?:an)?other(?: (?:disease|condition|disorder|diagnosis|cause|illness|one|thing))?"
    r"|(?:some|any)thing(?: else)?|nothing|none(?: of (?:these|them|those|it))?|whatever"
    r"|any other(?: (?:disease|condition|diagnosis))?|not)\W*"
)
"""An alternative that names nothing: 'gout or something else'."""
_ELSE = regex(
    r"(?i)(?<=\w),?\s+(?:if not|unless (?:it|this|that|she|he) (?:is|was|be|has|had|turns out to be|proves to be))\s+"
    r"(?!(?:for|in|all|most|yet|already|always|otherwise|an?\s+\w+(?:ed|en)|\w+(?:ed|en|ing|ly))\b)(?=\w)"
)

_OR_IF = regex(r"(?i)\bor,?\s+if\s+[^,]{3,100},\s*(?=\w)")
"""An alternative under a condition: 'anemia or, if the ferritin is low, iron deficiency'."""

_ENTRY = regex(r"[;\n|]+|,\s+(?=\D|\d+\s?%)|\.\s+(?=[A-Z\d])|\sand\s(?=\d+\s?%|[^,;\n]{1,80}\d\s?%)")
_LINE = regex(r"[;\n|]+")
"""What separates entries whose names may hold commas."""
_LONGEST, _MOST_ENTRIES = 200, 60
"""Characters of an entry that may state a share, and entries that are looked at."""
_ODDS = r"(?:probability|likelihood|chance|confidence|certainty|posterior|prob|odds|p)"
_SHARE = (
    r"(?:(?P<per_cent>\d{1,3}(?:[.,]\d{1,3})?)\s?%|(?P<part>[01]?[.,]\d{1,4}|1)|(?P<of>\d{1,2})/(?P<whole>\d{1,3}))"
)
_BEHIND = regex(rf"(?i)(?:(?<=[\s:=(~≈\[–—-])|^){_SHARE}[)\]\s]*(?:{_ODDS}|likely|probable|confident|sure)?[)\].\s]*$")
_BEFORE = regex(rf"(?i)^[\W_]*{_SHARE}\s*(?:{_ODDS}\s+(?:of|for)\s+|for\s+|[:–—-]\s*)?(?=[(\[]?[^\W\d_])")
_RATED = regex(
    r"(?i)(?:[:=(–—-]|\s(?:is|has|with))\s*(?:an?\s+)?"
    r"(?P<word>(?:very |quite |extremely )?(?:high|low|moderate|medium|intermediate|small|minimal))"
    rf"(?:\s+(?:{_ODDS}|suspicion))?\W*$"
)
_OF_WORD = {"high": 80, "low": 20, "small": 20, "minimal": 5, "moderate": 50, "medium": 50, "intermediate": 50}
_LINK = regex(rf"(?i)(?:[\s:=(~≈\[,–—-]|\b{_ODDS}\b|\b(?:with|of|is|at|about|has|an?)\b)$")
_OPENS = regex(rf"(?i)^[\s\d.)*•\"'-]*(?:{_ODDS}\s*\()?\s*")
_MEASURED = regex(
    r"(?i)\b(?:ejection|fraction|saturation|stenosis|occlusion|narrowing|parasit\w+|blasts?|tbsa|burns?|body|surface"
    r"|hb\w*|a1c"
    r"|h[ae]+moglobin|h[ae]+matocrit|creatinine|crp|glucose|potassium|sodium|calcium|acid|pressure|temperature|rate"
    r"|count|titers?|fev\w*|reversibility|mutation|allele)\b"
)
"""What has a share of its own: '40 % blasts'."""
_ANALYTE = regex(
    r"(?i)\b(?:hb\w*|a1c|h[ae]+moglobin|h[ae]+matocrit|creatinine|crp|glucose|potassium|sodium|calcium|acid|pressure"
    r"|temperature|rate|count|titers?)\b"
)
"""What may be high or low without being a disease."""
_NEARLY_WHOLE, _WHOLE = 90, 101
"""Per cent that shares of one whole add up to, with rounding: the least of a complete list, and the most."""

_DECIDED = (
    r"(?:(?:i|we)(?:['’]d| would)?\s+(?:\w+ly\s+)?(?:prefer|favou?r|choose|pick|select|vote for|go (?:for|with)|opt for"
    r"|settle (?:on|for)|(?:lean|tend) to(?:wards?)?|decide (?:on|for)|believe|think|say|diagnose|conclude)"
    r"|(?:my|our) (?:vote|choice|pick|money|preference|answer|diagnosis|decision|bet)\s+(?:goes to|is|falls on"
    r"|would be)"
    r"|(?:it|this) (?:is|must be|should be))\s+(?:(?:that )?(?:it|this) is\s+|for\s+|on\s+)?"
)
_WEIGHS = (
    r"(?P<opens>(?:torn|choosing|deciding|wavering|undecided|hesitating|oscillating)\s+between"
    r"|(?:given |faced with )?(?:the|a) choice\s+(?:of|between)|between|among(?:st)?|of|out of|weighing|comparing"
    r"|balancing)"
    r"\s+(?P<options>[^;\n?!]{3,300}?)"
)
_JOINS = regex(r"(?i)\b(?:and|or|against|versus|vs|with|from)\b|,|/")
_CHOSEN = regex(rf"(?i)^\W*{_WEIGHS},?\s+{_DECIDED}(?=\w)")
_FITS_BEST = regex(
    rf"(?i)^\W*{_WEIGHS},\s+(?P<name>[^,.;\n]{{3,80}}?)\s+(?:fits|is|seems|appears|matches|suits|explains|remains"
    rf"|looks|wins)"
    r"(?:\s+(?:[\w']+\s+){0,4}?(?:better|best|more|most|likelier|likeliest|favou?rite|winner|first)\b.*)?$"
)
_BETWEEN_ONLY = regex(
    r"(?i)^\W*(?:(?:torn|choosing|deciding|wavering|undecided|hesitating|oscillating)\s+between|(?:a"
    r"|the) choice (?:of|between)"
    r"|(?:it is |somewhere )?between)\s+(?P<one>[^.;\n,]{2,80}?)\s+(?:and|or)\s+(?P<other>[^.;\n]{2,80})$"
)
_LIKELIER = (
    r"(?:more (?:likely|probable|probably|plausible|consistent)|likelier|preferred|preferable|better"
    r"|a better (?:fit|match))"
)
_COMPARED = (
    regex(
        rf"(?i)^\W*(?:(?:i|we) (?:think|believe|favou?r|prefer)\s+)?(?:(?:it|this) is\s+)?(?:rather|sooner"
        rf"|{_LIKELIER})\s+"
        r"(?P<name>[^,.;\n]{2,100}?)\s+than\s+[^.;\n]+$"
    ),
    regex(
        r"(?i)^(?P<name>[^.;\n]{2,120}?)\s+(?:is|seems|appears|looks|fits|remains)\s+(?:(?:much|far|a bit|somewhat"
        r"|clearly|still)\s+)?"
        rf"{_LIKELIER}\s+(?:than|over|to|compared (?:to|with))\s+[^.;\n]+$"
    ),
    regex(
        r"(?i)^[^.;\n]{2,120}?\s+(?:is|seems|appears|looks|remains)\s+(?:(?:much|far|a bit|somewhat|clearly)\s+)?"
        r"(?:less (?:likely|probable|plausible)|a worse (?:fit|match)|worse)\s+than\s+(?P<name>[^,.;\n]{2,100})$"
    ),
    regex(r"(?i)^\W*(?:i|we)(?:['’]d| would)? prefer\s+(?P<name>[^,.;\n]{2,100}?)\s+(?:to|over)\s+(?!treat)[^.;\n]+$"),
)
_ASKED = regex(r"(?i)^[^?\n]{3,200}\b(?:or|vs\.?|versus)\b[^?\n]{0,200}\?\s+(?=\w)")
_CONCEDED = regex(
    r"(?i)^\W*(?:[^;\n]{2,300}?\s(?:(?:would|could|might|may)\s+(?:(?:well|also|at first|certainly|easily|indeed"
    r"|have)\s+)*"
    r"(?:explain|explained|fit|fitted|account|accounted|match|matched|suit|suited|look|be the|been (?:my|the|a))"
    r"|(?:looks?|looked|seems?|seemed|appears?|appeared|is|was|sounds?)\s+(?:so |very |quite )?"
    r"(?:tempting|plausible|attractive|obvious|the (?:obvious|tempting|first|classic|usual)|to (?:fit|explain|match"
    r"|account)"
    r"|(?:my|the) first)\b)"
    r"|(?:at first (?:sight|glance)|on the face of it|superficially|one (?:would|might|could) (?:think|expect|say"
    r"|suspect)"
    r"|it (?:looks|looked|seems|seemed|sounds) like)\b)"
    r"[^.;\n]{0,160}?(?P<turn>[,;.–—-]\s*(?:and\s+)?(?:but|yet|however|still|nevertheless|nonetheless|though"
    r"|in truth|in fact"
    r"|actually|in reality|really)\b|\s(?:and yet|but|yet|however)\b|\.\s+(?=[^.\n]{2,120},?\s(?:though|however"
    r"|instead|nevertheless)\W*$))"
    r"[,\s]*(?P<rest>\S.*)$",
    re.DOTALL,
)
_COMMITS = regex(
    r"(?i)^\W*(?:(?:it|this|that|she|he|the patient|what we see|we have here)(?: really| actually)? (?:is|has"
    r"|must be|turns out to be"
    r"|turned out to be|proves to be)|(?:the|my|our) (?:final |correct |right |true |real )?(?:diagnosis|answer"
    r"|disease|cause) (?:is|must be)"
    r"|(?:i|we) (?:settle on|choose|diagnose|go (?:for|with)|conclude|believe|think|say|opt for|pick|prefer)"
    r"|the [\w -]{2,40}? (?:shows?|proves?|reveals?|confirms?))\s+(?:(?:that )?(?:it|this) is\s+)?(?P<name>[^.;\n]+)"
)
_NO_OTHER = regex(
    r"(?i)^\W*(?:not\b|\w+(?:ed|en)\s+(?:by|with|in|on)\b|(?:an?|the|its?|no)\s+(?:[\w-]+\s+){0,4}(?:disease"
    r"|disorder|condition|tumou?r"
    r"|diagnosis|entity|cause|complication|variant|form|finding|one)(?:\s+(?:here|there|in|at|of)\b[^,:]*)?\W*$)"
)
"""What says something of the disease conceded and names no other: 'yet it is a rare disease'."""
_BOTH = regex(
    r"(?i)(?:^|[\s(,;:.–—-]\s*)(?:(?:both|either|all|each|any|neither|one)(?:\s+(?:one|of\s+(?:them|these|those"
    r"|the (?:two|three|above))))?"
    r"(?:\s+(?:is|are|remain|remains|seem|seems|could be|may be|might be|can be|would be|would))?"
    r"(?:\s+(?:\w+ly|still|also))?\s+(?:possible|likely|conceivable|plausible|probable|right|true|correct|imaginable"
    r"|fit"
    r"|(?:ruled out|excluded))"
    r"|(?:equally|similarly|about as|just as)\s+(?:likely|possible|probable|plausible)"
    r"|(?:i|we|one|you)?\s*(?:can(?:not|['’]t)| can ?not|am unable to|are unable to|could not|do not)\s+(?:decide"
    r"|tell|choose|say which|know"
    r"|distinguish|separate them)(?:\s+(?:which|between (?:them|these|the two)|which (?:it is|one)))?"
    r"|(?:it|this|he|she)\s+(?:could|may|might|can) be (?:either|any|both|one)(?:\s+of (?:them|these|the two))?"
    r"|one of (?:these|them|those|the (?:two|three|above)))\W*$"
)
_AND = regex(r"\s*(?:,\s*(?:and\s+)?|\n|\band\b|&)\s*")


def weighed(text: str) -> str:
    """`text` with what it weighs replaced by what it decides for, or by the alternatives that it leaves open.

    Each reading that a sentence does not fit leaves it as it is. Pure; linear in the length of the text.

    >>> weighed("gout: 0.4; asthma: 0.6")
    'asthma'
    >>> weighed("Between gout and pseudogout I prefer pseudogout")
    'pseudogout'
    >>> weighed("Gout would explain everything, yet it is asthma")
    'asthma'
    >>> weighed("Gout, asthma; both possible")
    'Gout vs asthma'
    """
    text = _most_likely(text)
    if len(text) > 4 * _LONGEST:
        return text
    asked = _ASKED.match(text)
    text = text[asked.end() :] if asked else text
    return _undecided(_preferred(_conceded(text)))


def _most_likely(text: str) -> str:
    """`text` with a list of diseases and their probabilities replaced by the likeliest; by a choice if two are that."""
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
    best = max(share for _, share, _ in listed)
    top = [name for name, share, _ in listed if share == best]
    named = " vs ".join(name if not _OPEN_ENDED.fullmatch(name) else "something else" for name in top)
    if len(top) == 1 and _OPEN_ENDED.fullmatch(top[0]):
        named = f"{next((name for name, _, _ in listed if name != top[0]), named)} or something else"
    return text[: bounds[first][0]] + named + text[bounds[last - 1][1] :]


def _entries(text: str, between: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where the entries of a text begin and end; one more than _MOST_ENTRIES if there are too many."""
    bounds, start = [], 0
    for mark in itertools.islice(between.finditer(text), _MOST_ENTRIES + 1):
        bounds.append((start, mark.start()))
        start = mark.end()
    return [*bounds, (start, len(text))]


def _rated(entry: str) -> tuple[str, float, str] | None:
    """(name, per cent, how the share is written) of an entry of a list, if it states a share."""
    bare = entry.strip().strip("{}").strip(" \"'")
    share, kind = _BEHIND.search(bare), "number"
    name = bare[: share.start()] if share else ""
    if share is None and (share := _BEFORE.match(bare)):
        name = bare[share.end() :]
    if share is None and (share := _RATED.search(bare)):
        name, kind = bare[: share.start()], "word"
    name = _OPENS.sub("", name, count=1)
    while link := _LINK.search(name[-40:]):
        name = name[: len(name) - len(link[0])]
    name = name.strip(" )]\"'*_.")
    if share is None or not any(map(str.isalpha, name)) or "%" in name:
        return None
    if kind == "word":
        words = share["word"].lower().split()
        extreme = len(words) > 1
        return name, _OF_WORD[words[-1]] + (5 if extreme and words[-1] == "high" else -5 if extreme else 0), kind
    if share["per_cent"]:
        return name, float(share["per_cent"].replace(",", ".")), "per cent"
    if share["part"]:
        return name, 100 * float(share["part"].replace(",", ".")), kind
    whole = int(share["whole"])
    return (name, 100 * int(share["of"]) / whole, kind) if whole else None


def _of_one_whole(listed: Sequence[tuple[str, float, str]]) -> bool:
    """Whether the shares are those of diseases in one whole, and not measurements."""
    names = [name for name, _, _ in listed]
    measured = any(_MEASURED.search(name) for name in names)
    diseases = [bool(_OPEN_ENDED.fullmatch(name)) or _names_disease(name) for name in names]
    kinds = {kind for _, _, kind in listed}
    if kinds == {"word"}:
        measured = any(_ANALYTE.search(name) for name in names)
        return any(diseases) and not measured and len({share for _, share, _ in listed}) > 1
    total = sum(share for _, share, _ in listed)
    if len(kinds) > 1 or total > _WHOLE:
        return False
    return any(diseases) if total >= _NEARLY_WHOLE else all(diseases) and not measured


def _conceded(text: str) -> str:
    """`text` without a disease that it only concedes before it names another: 'X would fit, yet it is Y'."""
    conceded = _CONCEDED.match(text)
    said = _COMMITS.match(conceded["rest"]) if conceded else None
    if (
        conceded
        and said is None
        and re.match(r"(?i)^\W*(?:in truth|in fact|actually|in reality|really)\b", conceded["turn"])
    ):
        return conceded["rest"] if disease_like(conceded["rest"].strip(" .")) else text
    if conceded is None or said is None or _NO_OTHER.match(said["name"]):
        return text
    return conceded["rest"] if _names_disease(said["name"]) else text


def _names_disease(text: str) -> bool:
    return disease_like(text.partition(",")[0].strip(" .")) or any(map(heads_disease, re.findall(r"[\w'-]+", text)))


def _preferred(text: str) -> str:
    """`text` as the disease that it prefers over others."""
    if (chosen := _CHOSEN.match(text)) and _JOINS.search(chosen["options"]):
        return text[chosen.end() :]
    if (best := _FITS_BEST.match(text.strip(" ."))) and _JOINS.search(best["options"]):
        return best["name"]
    if (between := _BETWEEN_ONLY.match(text.strip(" ."))) and _names_disease(between["one"]):
        return f"{between['one']} or {between['other']}"
    for pattern in _COMPARED:
        if compared := pattern.match(text.strip(" .")):
            return compared["name"]
    return text


def _undecided(text: str) -> str:
    """`text` as alternatives, if it says that all of what it lists is possible."""
    both = _BOTH.search(text[-_LONGEST:])
    if both is None:
        return text
    listed = text[: len(text) - len(both[0])].strip(" \n,;:.(–—-")
    return _AND.sub(" vs ", listed) if _AND.search(listed) else text


_ORDERED = regex(r"ranked|ranking|rank|ordered|sorted|listed|descending|decreasing|order")
_BY = regex(r"likelihood|likely|probability|probable|plausibility|likeliest")
_BESIDE_RANK = regex(
    r"the|my|our|an?|in|of|by|from|with|to|and|as|is|are|follows|most|least|less|more|top|first|best|last|down|highest"
    r"|lowest|list|differentials?|diagnos[ei]s|possibilities|candidates|overall|working|here|final|\d+"
)
_UNRANKED = regex(r"(?i)\b(?:not?|un|never|without)\W*(?:\w+\s+)?(?:rank|order)|\bno particular\b|\bleast\b.*\bmost\b")


def ranks(heading: str) -> bool:
    """Whether a line only announces a list in which the likeliest disease comes first.

    >>> ranks("Ranked by likelihood"), ranks("Top 3, most likely first"), ranks("Ranked from least to most likely")
    (True, True, False)
    """
    words = re.findall(r"[^\W_]+", heading.lower())
    ordered = any(map(_ORDERED.fullmatch, words))
    by = any(map(_BY.fullmatch, words)) and not {"by", "first"}.isdisjoint(words)
    rest = (word for word in words if not (_ORDERED.fullmatch(word) or _BY.fullmatch(word)))
    return (ordered or by) and all(map(_BESIDE_RANK.fullmatch, rest)) and not unranked(heading)


def unranked(text: str) -> bool:
    """Whether a text says that its list has no order, or the likeliest last."""
    return _UNRANKED.search(text) is not None


def left_open(pieces: Sequence[tuple[str, str]]) -> bool:
    """Whether the phrases of a clause leave its diagnosis open; the second of each pair says how it is an alternative.

    >>> left_open([("gout", ""), ("something else", "or")])
    True
    """
    return any(either and _OPEN_ENDED.fullmatch(piece) for piece, either in pieces[1:])


def with_or(sentence: str) -> str:
    """`sentence` with its other words for a choice written as 'or'.

    >>> with_or("Gout if not lupus")
    'Gout or lupus'
    """
    return _OR_IF.sub("or ", _ELSE.sub(" or ", sentence))
