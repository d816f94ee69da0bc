"""Normalises the words of a disease name, and pairs the words of two names that mean the same."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace
from rapidfuzz.distance import OSA

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease import opposed
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import lexicon, list_words, plain, root, stem, tokens, vocabulary

CAUSE, EFFECT, WITH, WITHOUT, PART, PLACE = "xcause", "xeffect", "xwith", "xwithout", "xpart", "xplace"
BEFORE, END, OPEN, CLOSE = "xbefore", "xend", "xopen", "xclose"
MARKS = frozenset((CAUSE, EFFECT, WITH, WITHOUT, PART, PLACE, BEFORE, END, OPEN, CLOSE))
# Joining words between the parts of a name. Each is written as a mark of one word, so names of tables may contain it.
_JOINS = tuple(
    (regex(pattern, re.IGNORECASE), f" {mark} ")
    for pattern, mark in (
        (
            r"\b(?:due to|caused by|induced by|triggered by|because of|attributed to|attributable to|resulting from"
            r"|as a (?:result|consequence|complication) of|in the (?:context|setting) of|related to"
            r"|following|after|complicating|provoked by|mediated by|superimposed on|from)\b",
            CAUSE,
        ),
        (
            r"\b(?:causing|leading to|resulting in|complicated by|presenting (?:as|with)|manifesting (?:as|with)"
            r"|manifested by|progressing to|with (?:resultant|resulting|consequent|subsequent))\b",
            EFFECT,
        ),
        (r"\b(?:without|with no|in the absence of|but no)\b", WITHOUT),
        (r"(?<![\w-])(?:associated with|accompanied by|along with|together with|with|w/|plus)(?!\w)", WITH),
        (
            r"\b(?:involving|affecting|arising (?:in|from|within|on)|located (?:in|at)|(?:localized|limited) to"
            r"|of|in|on|at|within)\b",
            PLACE,
        ),
        (r"[(\[]", OPEN),
        (r"[)\]]", CLOSE),
        (r"[,;:]|\s[-–—]\s", PART),
    )
)
SECONDARY = regex(r"\bsecondary (?:to|from)\b", re.IGNORECASE)
_LED = regex(  # begins with a whole word, so that a long one is tried once and not at each of its letters
    r"(?<![\w.+/'-])([\w.+/'-]*\w)[-–]"
    r"(?:induced|associated|related|mediated|triggered|linked|dependent|(positive|negative))\s+(?=\w)",
    re.IGNORECASE,
)
_ONE_WORD = regex(r"(?i)\b(?:SARS[- ]?CoV[- ]?2|COVID[- ]?19)\b")
ABBREVIATED = regex(r"\s*[(\[]\s*(?:[A-Za-z]{0,3}[A-Z0-9][A-Z0-9-]{1,8}s?|[A-Z]{2,6}\s[A-Za-z]{1,4}\s?\d?)\s*[)\]]")
_KEPT = regex(r"(?i)(?:x|age|sex|immune|igg4|hla|stress|pregnancy)$")
_HYPHENED = regex(
    r"\b(non|pseudo|anti|para|extra|intra|inter|neuro|micro|macro|post|pre|sub|hyper|hypo|poly|multi|peri|retro|trans"
    r"|ultra|endo|auto|semi|hemi|un|re|co|pan|mono|ante|mega)[-–](?=[A-Za-z])",
    re.IGNORECASE,
)
_PREFIXED = regex(r"\b(non|pseudo)\s+(?=[a-z])", re.IGNORECASE)
_POISONED = {"hepat": "liver", "nephr": "kidney", "cardi": "heart", "neur": "nerve", "ot": "ear", "pulm": "lung"}
_ORDINAL = {"first": "first", "1st": "first", "second": "second", "2nd": "second", "third": "third", "3rd": "third"}
_VESSEL = r"((?:\w+ ){0,2}(?:aorta|arter(?:y|ies)))"
_LAY = (
    (r"\b(?:sac|membrane|lining) (?:around|of|surrounding) the heart\b", "pericardium"),
    (r"\bheart muscles?\b", "myocardium"),
    (
        r"\b(?:linings?|coverings?|membranes?) (?:of|around|surrounding) the brain\b|\bbrain (?:linings?|membranes?)\b",
        "meninges",
    ),
    (r"\b(?:lining|wall) of (?:the |an? )?(?=\w)|(?<=stomach) lining\b|(?<=womb) lining\b|(?<=bowel) lining\b", ""),
    (r"\bfood ?pipe\b|\bgullet\b", "esophagus"),
    (r"\bwind ?pipe\b", "trachea"),
    (r"\bvoice ?box\b", "larynx"),
    (r"\bwomb\b", "uterus"),
    (r"\bblood clots?\b", "clot"),
    (r"\bholes? in (?:the |an? )?", "perforation of "),
    (r"\bburst (?=\w)", "ruptured "),
    (r"\b(?:blocked|clogged)(?:-up| up)? (?=\w)", "obstruction of "),
    (r"\bnarrowed (?=\w)", "stenosis of "),
    (r"\bleak(?:y|ing) (?=[\w ]{0,20}\bvalve\b)", "regurgitation of "),
    (r"\b(?:failing|weak|worn[- ]out|tired|bad) (heart|liver|kidney|lung)s?\b", r"\1 failure"),
    (
        r"\b(heart|liver|kidney|lung|stomach|bowel|gallbladder|thyroid) (?:trouble|complaint|ailment|sickness)s?\b",
        r"\1 disease",
    ),
    (r"\b(?:sugar|sweet) (?:sickness|disease|diabetes|illness)\b", "diabetes mellitus"),
    (r"\bwater on the lungs?\b", "pulmonary edema"),
    (r"\binfected (?=\w)", "infection of "),
    (r"\b(?:swollen and )?inflamed (?=\w)", "inflammation of "),
    (rf"\b(?:tears?|torn|splits?|rips?)(?: (?:in|of|inside))?(?: the| an?)? {_VESSEL}\b", r"dissection of \1"),
    (rf"\b(?:bulg(?:es?|ing)|ballooning)(?: (?:in|of))?(?: the| an?)? {_VESSEL}\b", r"aneurysm of \1"),
    (r"\b(?:dropped|fallen|sagging) (?=(?:\w+ )?(?:uterus|bladder|rectum|vagina|kidney)\b)", "prolapse of "),
    (r"\btwisted (?=\w)|\btwist(?:ing)? (?:in|of) (?=\w)", "torsion of "),
    (r"\b(?:scarring|scarred)(?: of)? (?:the )?(?=liver\b)", "cirrhosis of "),
    (r"\b(?:scarring|scarred)(?: of)? (?:the )?(?=(?:lung|kidney|retroperit\w+)s?\b)", "fibrosis of "),
    (r"\b(?:(?:pocket|collection) of )?pus in (?:the )?(?=\w)", "abscess of "),
    (r"\bhardening of the arteries\b", "atherosclerosis"),
)
"""A patient's words for an organ or for what is wrong with it: 'hole in the stomach', 'inflamed gallbladder'."""
_IN_LAY = tuple((regex(pattern, re.IGNORECASE), written) for pattern, written in _LAY)


def clinical(phrase: str) -> str:
    """A phrase with a patient's words written as a clinician does: 'weak heart' becomes 'heart failure'."""
    for pattern, written in _IN_LAY:
        phrase = pattern.sub(written, phrase)
    return phrase


_EJECTED = (
    r"(?:\bwith )?(?:\ban? )?\b(?:lv)?(?:ef|ejection fraction)(?: (?:of|is|was|at))?[ :=~<>≈-]*(?:\d\d?\s?[-–]\s?)?"
)
_PER_CENT = r"(?:\s?%|\s?per ?cent)"
_PHRASES = tuple(
    (regex(pattern, re.IGNORECASE), written)
    for pattern, written in (
        (r"\b([bt])[- ]?(?:cell|lymphocyte)s?\b", r"\1cell"),
        (r"\b(?:nk|natural killer)[- ]?cells?\b", "nkcell"),
        (r"\bplasma[- ]cells?\b", "plasmacell"),
        (r"\bsmall (?:intestin\w+|bowel)\b", "smallintestine"),
        (r"\blarge (?:intestin\w+|bowel)\b", "colon"),
        (r"\bfetus and (?:the )?newborn\b", "newborn"),
        (r"\b(non)?(small|large|giant|clear|spindle|round|germ|hairy)[- ]cells?\b", r"\1\2cell"),
        (r"\b(well|poorly|moderately)[- ]differentiated\b", r"\1differentiated"),
        (r"\bx[- ]linked\b", "xlinked"),
        (r"\b[a-z]+-(?:limited|confined|restricted)\s+(?=[a-z])", ""),
        (r"\b(?:open)[- ]angle\b", "openangle"),
        (r"\b(?:(?:angle|narrow|closed)[- ](?:closure|angle)|closed[- ]angle)\b", "closedangle"),
        (r"\b(first|1st|second|2nd|third|3rd) trimester\b", lambda match: f"{_ORDINAL[match[1].lower()]}trimester"),
        (r"\bnot[- ](?=intractable)", "non"),
        (r"\b(\w+?)(?:a|e)?[- ](?:negative)\b", r"\1 negative"),
        (r"\buncomplicated\b", "without complication"),
        (r"\bcandida?emia\b", "candida fungemia"),
        (r"\b(candida(?: [a-z]+)?) (?:blood ?stream infections?|septica?emia|sepsis)\b", r"\1 fungemia"),
        *_LAY,
        (r"\b(?:sero(?:type|group|var))\b", "type"),
        (rf"{_EJECTED}(?:[1-3]?\d|40){_PER_CENT}", "with reduced ejection fraction"),
        (rf"{_EJECTED}(?:[5-8]\d){_PER_CENT}", "with preserved ejection fraction"),
        (r"\b(?:not otherwise specified|nos|unspecified|not elsewhere classified|nec)\b", " "),
        (r"\b(?:streptococcus|s\.) pneumoniae\b", "pneumococcus"),
        (r"\b(?:neisseria|n\.) meningitidis\b", "meningococcus"),
        (r"\b(?:neisseria|n\.) gonorrh?o?eae\b", "gonococcus"),
        (r"\b(\w+)\s+(pneumoniae)\b", r"\1 organism\2"),
        (r"\bin[- ]situ\b", "insitu"),
        (r"\b(hepat|nephr|cardi|neur|ot|pulm)otoxicity\b", lambda match: f"{_POISONED[match[1].lower()]} injury"),
        (r"\bhypovitaminosis (\w+)\b", r"vitamin \1 deficiency"),
        (
            r"\binfections? (?:with|by|due to|caused by|from) (?:the )?([a-z]+(?: [a-z]+){0,3})(?=$|[,;(])",
            r"\1 infection",
        ),
        (r"\b\d+(?:\.\d+)?\s*(?:x\s*\d+(?:\.\d+)?\s*)?(?:cm|mm|%|ml|mg|years?|weeks?|days?|months?)\b", " "),
        (r"\bclass (?=i|\d)", "stage "),
        # a karyotype before the name that it defines
        (r"\b4[57-9][, ]\s?x[xyo]{0,4}\b(?=[,\s]+(?!syndrome|karyotype|dis)[a-z]{5})", " "),
    )
)
STAGE = regex(
    r"\b(?:stage|grade|figo|score|degree)s?\s*-?\s*([ivx]+[a-d]?\d?|\d+[a-d]?\d?)(?!\w)|\b(unstageable)\b",
    re.IGNORECASE,
)
TNM = regex(r"\b[cpy]{0,2}T[0-4](?:is|[a-d])?\s*(?:N[0-3X][a-c]?)?\s*(?:M[01X][a-c]?)?(?!\w)")
_SPECIES = regex(
    r"^(?!infection|disease|\w*(?:itis|osis|iasis|a?emia|uria|oma|pneumonia|meningia)$)\w{2,}(?:i|is|us|um|a|ae|ans|ens|es|ii|ides)$"
)
_LETTER = regex(r"(?<![\w'’.-])([B-HJ-UWYZ]|(?<=[a-z] )A|(?<=type )[Aa])(?![\w'’.])")
_ROMAN_LETTER = regex(r"\b(I|II|III|IV|V|VI|VII)([a-z]|[A-H])\b")
_OF_LETTER = regex(r"\b(hepatitis|ha?emophilia|influenza|type|group|factor|vitamin|bipolar)\s+([a-h])\b", re.I)
_WORD = regex(r"\d+(?:\.\d+)+|\d+(?=[a-z]\b)|\d+|[^\W\d_]+\d+[a-z0-9]*|[^\W\d_]+", re.IGNORECASE)
ROMAN = {
    "ii": "2",
    "iii": "3",
    "iv": "4",
    "vi": "6",
    "vii": "7",
    "viii": "8",
    "ix": "9",
    "xi": "11",
    "xii": "12",
    "i": "1",
}
_AFTER_TYPE = {"v": "5", "x": "10"}
_BEFORE_ROMAN = frozenset(
    ("type", "factor", "bipolar", "disorder", "syndrome", "disease", "deficiency", "group", "complex", "stage")
)
LITTLE = list_words("a an the to by for and or as its this that is was be into type types both due") | {PLACE}
_LONG_NOUN = 5
_DISEASE = regex(
    r"(?:itis|oma|osis|emia|aemia|pathy|iasis|ism|uria|sarcoma|trophy|plasia|disease|syndrome|disorder|infection|cancer"
    r"|tumou?r|deficiency|failure|insufficiency|fever|dystrophy|palsy|sclerosis|anomaly|malformation|hernia|cyst|abscess"
    r"|fracture|poisoning|stroke|infarction|thrombosis|embolism|hemorrhage|haemorrhage|stenosis|sepsis)s?$"
)


class Token(msgspec.Struct, frozen=True):
    """A word of a name: `root` in comparable form, `stem` in one spelling, `surface` as written.

    `axes` are pairs (axis, value), such as ('side', 'left'). `listed` marks words that come from a name of the tables.
    """

    root: str
    stem: str
    surface: str
    axes: tuple[tuple[str, str], ...] = ()
    listed: bool = False


@lru_cache(maxsize=65536)
def tokenized(text: str) -> tuple[Token, ...]:
    """The words of a text: joining words become marks, abbreviations are expanded, prefixes join their word."""
    text = _ONE_WORD.sub("covid", text)
    text = _LED.sub(
        lambda match: match[0] if _KEPT.search(match[1]) else f" {BEFORE} {match[1]} {END} {match[2] or ''} ", text
    )
    text = re.sub(r"\b[A-Z][A-Za-z0-9]{1,6}\b", lambda match: vocabulary().abbreviations.get(match[0], match[0]), text)
    text = _ROMAN_LETTER.sub(lambda match: f"type {match[1]} letter{match[2].lower()}", text)
    text = _OF_LETTER.sub(lambda match: f"{match[1]} letter{match[2].lower()}", text)
    text = _LETTER.sub(lambda match: f"letter{match[1].lower()}", text)
    text = _PREFIXED.sub(r"\1", _HYPHENED.sub(r"\1", text))
    text = SECONDARY.sub(f" {CAUSE} ", text)
    for pattern, written in _PHRASES:
        text = pattern.sub(written, text)
    for pattern, mark in _JOINS:
        text = pattern.sub(mark, text)
    pieces: list[Token] = []
    agents, species = vocabulary().agents, False
    for word in _WORD.findall(plain(text)):
        bare = word if word in MARKS else stem(word)
        if species and _SPECIES.search(word):
            species = False
            continue
        disease, species = agents.get(bare, ("", True))
        species = not species
        bare = stem(disease) if disease else bare
        if bare in ROMAN:
            bare = ROMAN[bare]
        elif bare in _AFTER_TYPE and pieces and pieces[-1].surface in _BEFORE_ROMAN:
            bare = _AFTER_TYPE[bare]
        elif bare[0].isdigit() and bare[-1].isalpha() and len(bare) > 1 and bare[:-1].isdigit():
            pieces.append(Token(bare[:-1], bare[:-1], bare[:-1]))
            bare = f"letter{bare[-1]}"
        elif len(bare) == 1 and (bare in "bcdefgh" or (bare.isalpha() and pieces and pieces[-1].stem.isdigit())):
            bare = f"letter{bare}"
        meant = bare if bare in MARKS or typed(bare) else root(bare)
        pieces.append(Token(meant, bare, word, vocabulary().axes.get(bare, ())))
    return tuple(_inflamed(pieces))


def _inflamed(pieces: Sequence[Token]) -> list[Token]:
    """The words of a name in which 'inflammation of' an organ is replaced by its one word: 'cholecystitis'."""
    written = list(pieces)
    for place, token in enumerate(pieces):
        if token.root != _INFLAMMATION:
            continue
        behind = [one for one in pieces[place + 1 : place + 4] if one.root not in LITTLE]
        before = pieces[place - 1 : place]
        sites = behind[:1] if pieces[place + 1 : place + 2] and pieces[place + 1].root == PLACE else before
        word = _inflammation_of(sites[0].root) if sites else ""
        if word:
            meant = Token(root(stem(word)), stem(word), f"inflammation of {sites[0].surface}")
            low, high = sorted((place, written.index(sites[0])))
            written[low : high + 1] = [meant]
            break
    return written


_INFLAMMATION = "inflammat"
"""The root of 'inflammation'."""


@lru_cache(maxsize=1)
def _inflammations() -> Mapping[str, str]:
    """Root of an organ -> the word for its inflammation; organs with several such words are left out."""
    words: dict[str, list[str]] = {}
    for word, site in vocabulary().inflamed.items():
        words.setdefault(site, []).append(word)
    return {site: named[0] for site, named in words.items() if len(named) == 1}


_LATIN = regex(r"(?:um|us|is|a|ae|e|on)$")


def _inflammation_of(organ: str) -> str:
    """The one word for the inflammation of an organ, by the table or by its Latin stem; "" if there is none.

    'Diverticulum' gives 'diverticulitis', since the lexicon has this word.
    """
    stems = (organ, _LATIN.sub("", organ), organ + organ[-1:])
    by_stem = (f"{one}itis" for one in stems if len(one) > 2)
    return _inflammations().get(organ) or next((word for word in by_stem if word in lexicon()), "")


def canonical(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Replace each name of the tables by the first name of its disease; a whole name matches in any word order."""
    words = tuple(token for token in tokens if token.root not in LITTLE | {PART, OPEN, CLOSE})
    first = _sorted_table().get(tuple(sorted(token.root for token in words))) if len(words) > 1 else None
    if first is None:
        return _replaced(tokens)
    said, axes = " ".join(token.surface for token in words), tuple(pair for token in words for pair in token.axes)
    return tuple(replace(token, surface=said, axes=(*token.axes, *axes), listed=True) for token in first)


@lru_cache(maxsize=1)
def _sorted_table() -> Mapping[tuple[str, ...], tuple[Token, ...]]:
    return {tuple(sorted(key)): first for key, first in reversed(list(_table()[0].items())) if not MARKS & set(key)}


def _replaced(tokens: Sequence[Token]) -> tuple[Token, ...]:
    """Replace every name of the tables by the first name of its disease, longest first."""
    table, longest = _table()
    replaced: list[Token] = []
    place = 0
    while place < len(tokens):
        opens = tokens[place].root in _opening_words()
        for size in range(min(longest, len(tokens) - place) if opens else 0, 0, -1):
            words = tuple(token.root for token in tokens[place : place + size] if token.root not in LITTLE)
            if tokens[place + size - 1].root in LITTLE:
                continue
            if (first := table.get(words)) is not None:
                said = " ".join(token.surface for token in tokens[place : place + size] if token.root not in MARKS)
                axes = tuple(pair for token in tokens[place : place + size] for pair in token.axes)
                replaced += [replace(token, surface=said, axes=(*token.axes, *axes), listed=True) for token in first]
                place += size
                break
        else:
            replaced.append(tokens[place])
            place += 1
    return tuple(replaced)


class NameTable(msgspec.Struct, frozen=True):
    """`names` of the tables by their roots, each with the place of its disease's first name in `firsts`."""

    names: list[tuple[tuple[str, ...], int]]
    firsts: list[tuple[Token, ...]]


@lru_cache(maxsize=1)
def _table() -> tuple[Mapping[tuple[str, ...], tuple[Token, ...]], int]:
    """(names of the tables by their roots, each with its disease's first name; most words to try for a name)."""
    table = cached_table("names", NameTable, _name_table)
    longest = max((len(name) for name, _ in table.names), default=0) + 2
    return {name: table.firsts[place] for name, place in table.names}, longest


def _name_table() -> NameTable:
    names: dict[tuple[str, ...], int] = {}
    firsts: list[tuple[Token, ...]] = []
    for row in vocabulary().names:
        keys = [_key(name) for name in row]
        known = next((names[key] for key in keys if key in names), None)
        if known is None:
            known = len(firsts)
            firsts.append(tuple(token for token in tokenized(row[0]) if token.root not in (MARKS - {WITHOUT}) | LITTLE))
        for key in keys:
            if key:
                names.setdefault(key, known)
    return NameTable(list(names.items()), firsts)


@lru_cache(maxsize=1)
def _opening_words() -> frozenset[str]:
    """The words that names of the tables begin with."""
    return frozenset(name[0] for name in _table()[0])


def _key(name: str) -> tuple[str, ...]:
    return tuple(token.root for token in tokenized(name) if token.root not in LITTLE)


def is_disease_name(text: str) -> bool:
    """Whether a text alone is a disease name: listed in the tables, or a noun with a disease ending."""
    tokens = tuple(token for token in tokenized(text) if token.root not in LITTLE)
    if not tokens:
        return False
    table, _ = _table()
    roots = tuple(token.root for token in tokens)
    known = roots in table or any(token.listed for token in canonical(tokens))
    return known or bool(_DISEASE.search(tokens[-1].surface) and len(tokens[-1].surface) > _LONG_NOUN)


def typed(word: str) -> bool:
    """Whether a stem is a number or a letter, as in types."""
    return word[:1].isdigit() or (word.startswith("letter") and len(word) == 7)


_BRACKET = regex(r"\s*[(\[]([^()\[\]]*)[)\]]")
_KIND = regex(r"(?:itis|itid|osis|oma|iasis|emia|uria|pathy|algia|ectasia|penia|cytosis|plasia|trophy|it|os)$")
_LONG, _LONGER = 5, 9
"""Letters of the shortest word that may contain one typing error, and of the shortest that may contain two."""


def spelled(truth: str, said: str) -> bool:
    """Whether both have the same words one by one, apart from typing errors in long words."""
    ours, theirs = tokens(truth), tokens(said)
    if len(ours) != len(theirs):
        return False
    differing = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    return bool(differing) and all(mistyped(one, other) for one, other in differing)


def paired(
    missing: Sequence[str], extra: Sequence[str], by_root: Mapping[str, Token] | None = None
) -> tuple[list[str], list[str]]:
    """The two lists without words that pair up as a spelling, kind or part of each other."""
    lost, new = list(dict.fromkeys(missing)), list(dict.fromkeys(extra))
    for word in tuple(lost):
        other = next((one for one in new if _alike(word, one, by_root or {})), None)
        if other is not None:
            lost.remove(word)
            new.remove(other)
    return lost, new


_BESIDE = regex(r"^(?:peri|para|juxta)(?=\w{4})")


def _alike(word: str, other: str, by_root: Mapping[str, Token]) -> bool:
    """Whether `word` may stand for `other`: a narrower word, a part or surroundings of a site, or a typing error."""
    table = vocabulary()
    if other in table.narrower.get(word, frozenset()):
        return True
    if word in table.within.get(other, frozenset()) or other in table.within.get(word, frozenset()):
        return True
    if _BESIDE.sub("", word) == other or _BESIDE.sub("", other) == word:
        return True
    if word not in by_root or other not in by_root:
        return False
    return mistyped(by_root[word].stem, by_root[other].stem)


def mistyped(one: str, other: str) -> bool:
    """Whether two words differ by a typing error: one letter, or two in long words; never in an opposed prefix."""
    short = min(len(one), len(other))
    if short < _LONG or one[0] != other[0] or opposed(one, other) or not (one.isalpha() and other.isalpha()):
        return False
    kinds = _KIND.search(one), _KIND.search(other)
    if kinds[0] and kinds[1] and kinds[0][0] != kinds[1][0]:
        return False
    most = 2 if short >= _LONGER else 1
    if OSA.distance(one, other, score_cutoff=most) > most:
        return False
    return one not in lexicon() or other not in lexicon()
