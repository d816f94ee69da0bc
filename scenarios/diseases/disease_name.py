"""Parses a disease name into its head, its cause, its effect, what goes with it, and its types and stages."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.scenarios.diseases.disease import GENERIC_WEIGHT, GENERIC_WORDS, PLAIN_WORDS, SITE_WEIGHT
from wardround.scenarios.diseases.disease_wording import (
    ABBREVIATED,
    BEFORE,
    CAUSE,
    CLOSE,
    EFFECT,
    END,
    LITTLE,
    MARKS,
    OPEN,
    PART,
    PLACE,
    ROMAN,
    SECONDARY,
    STAGE,
    TNM,
    WITH,
    WITHOUT,
    Token,
    canonical,
    tokenized,
    typed,
)
from wardround.scenarios.terms.wording import RootWords, list_words, plain, root, vocabulary

GENERIC = RootWords(
    GENERIC_WORDS
    + """ illness classical definite new old known common rapidly fulminant episode single attack exacerbation flare
    aggressive profound marked significant localized generalized diffuse focal multifocal progressive stable
    unstable transient permanent long standing longstanding untreated evidence picture state clinical radiologic
    histologic biopsy proven confirmed type side sided body tissue dominant recessive xlinked autosomal
    inherited genetic due year elderly man woman patient male female overlap flow organ system structure middle
    internal external manifestation problem gland wall location classification histology component predominant
    pattern phenotype conventional usual reactive resulting underlying subsequent prior previous recent ongoing
    several numerous main trunk urinary elevated aspect arising including increased decreased reduced abnormal
    abnormality multicentric community hospital nosocomial antibody antibodies virus worsening relapse relapsed
    remission presenting adulthood evolving resolved resolving florid treated postmenopausal premenopausal fetal
    prenatal antenatal"""
)
PLAIN = RootWords(PLAIN_WORDS + " inflammation pain anomaly malformation deep")
_TELLING = list_words("generalized mixed combined hereditary familial inherited genetic iatrogenic spontaneous")
_OF_DEGREE = frozenset(
    ("degree", "level", "side", "sides", "extent", "spread", "episode", "company", "stability", "onset", "age", "sex")
)
HEADLESS = RootWords("disease disorder syndrome condition infection deficiency")
_AROUND = re.compile(r"^(?:sub|peri|retro|intra|inter|extra|epi|supra|infra|para|juxta|trans|endo)(?=\w{4})")
_ADVERB = re.compile(r"\w{4}(?:ous|ful|nt|ate|al|ive|ar|ed)l$")
"""Matches the root of an adverb: 'spontaneously', 'locally'."""


class NamePart(msgspec.Struct, frozen=True):
    """The words of one part of a name by root, and the values that they have on each axis ('side': {'left'})."""

    words: Mapping[str, Token]
    axes: Mapping[str, frozenset[str]]


class Name(msgspec.Struct, frozen=True):
    """A disease name in its parts.

    `form` has all words in alphabetical order, `words` the words of all parts but `lacking`, which is what the disease
    is said to be without. `led` are words of causes before it ('drug-induced'), `places` words after 'of' or 'in',
    `asides` words in brackets, `apposed` words after a comma. `types` are numbers and letters of the head, `all_types`
    those of every part. `noun` is the last word of the head that is not generic.

    ::

        parse_name("cellulitis of the left leg due to trauma").head.axes  # {'side': frozenset({'left'})}
    """

    text: str
    form: str
    head: NamePart
    cause: NamePart
    effect: NamePart
    beside: NamePart
    lacking: NamePart
    led: frozenset[str]
    places: frozenset[str]
    asides: frozenset[str]
    apposed: frozenset[str]
    types: frozenset[str]
    all_types: frozenset[str]
    stages: frozenset[tuple[str, str]]
    noun: str
    words: frozenset[str]

    def anywhere(self, axis: str) -> frozenset[str]:
        """The values of an axis in any part of the name."""
        parts = (self.head, self.cause, self.effect, self.beside)
        return frozenset(value for part in parts for value in part.axes.get(axis, ()))


def weight(word: str) -> float:
    """How much a word distinguishes the disease: 0.25 for degree or kind, 0.5 for a site or a plain noun, else 1."""
    if word in GENERIC or _ADVERB.search(word):
        return GENERIC_WEIGHT
    return SITE_WEIGHT if word in PLAIN or word in vocabulary().sites or _around(word) else 1.0


def is_site(word: str) -> bool:
    """Whether a root names a part of the body, or a place around or within one ('subhepatic', 'intermuscular')."""
    table = vocabulary()
    return word in table.sites or word in table.within or (_around(word) and not word.startswith("extra"))


def _around(word: str) -> bool:
    return root(_AROUND.sub("", word)) in vocabulary().sites


@lru_cache(maxsize=16384)
def parse_name(text: str) -> Name:
    """Parse `text`, a single name of a disease."""
    stages = frozenset(
        ("grade" if match[0].lower().startswith("grade") else "stage", _stage(match[1] or match[2]))
        for match in STAGE.finditer(text)
    )
    bare = ABBREVIATED.sub(" ", text) if plain(ABBREVIATED.sub(" ", text)) else text
    tokens = canonical(tokenized(TNM.sub(" ", STAGE.sub(" ", bare))))
    secondary = bool(SECONDARY.search(text))
    return _built(text, tokens, stages, secondary)


def _stage(value: str) -> str:
    value = value.lower()
    letters = value.rstrip("0123456789")
    tail = letters[-1] if letters and letters[-1] in "abcd" and len(letters) > 1 else ""
    body = value.removesuffix(tail) if tail else value
    return {"i": "1", "v": "5", "x": "10", **ROMAN}.get(body, body) + tail


def _built(text: str, tokens: Sequence[Token], stages: frozenset[tuple[str, str]], secondary: bool) -> Name:
    parts: dict[str, list[Token]] = {"head": [], "cause": [], "effect": [], "beside": [], "lacking": []}
    places: set[str] = set()
    led: set[str] = set()
    asides: set[str] = set()
    outside: set[str] = set()
    apposed: set[str] = set()
    for part, placed, aside, piece in _pieces(tokens):
        if part == "head" and parts["head"] and not placed and not aside:
            apposed |= {token.root for token in piece}
        parts[part] += piece
        if part == "cause" and not parts["head"]:
            led |= {token.root for token in piece if weight(token.root) > GENERIC_WEIGHT}
        if aside:
            asides |= {token.stem if typed(token.stem) else token.root for token in piece}
        else:
            outside |= {token.root for token in piece}
        if placed and part == "head":
            places |= {token.root for token in piece}
    if not any(weight(token.root) > GENERIC_WEIGHT and not typed(token.stem) for token in parts["head"]):
        # 'infection with X', 'disease due to X': the words that follow make the disease
        for other in ("cause", "beside"):
            if parts[other] and all(token.root in GENERIC | HEADLESS for token in parts["head"]):
                parts["head"], parts[other] = [*parts["head"], *parts[other]], []
                break
    types = frozenset(token.stem for token in parts["head"] if typed(token.stem))
    every = frozenset(token.stem for piece in parts.values() for token in piece if typed(token.stem))
    head = _part(parts["head"], secondary)
    main = [word for word in head.words if word not in places | (asides - outside) and word not in GENERIC]
    form = " ".join(
        sorted(f"{scale}:{value}" for scale, value in stages)
        + sorted(
            f"{part[0]}:{token.stem if token.axes else token.root}" for part, piece in parts.items() for token in piece
        )
    )
    cause, effect, beside, lacking = (_part(parts[part]) for part in ("cause", "effect", "beside", "lacking"))
    return Name(
        text,
        form,
        head,
        cause,
        effect,
        beside,
        lacking,
        led=frozenset(led),
        places=frozenset(places),
        asides=frozenset(asides - outside),
        apposed=frozenset(apposed),
        types=types,
        all_types=every,
        stages=stages,
        noun=([word for word in main if word not in apposed] or main or [""])[-1],
        words=frozenset(head.words).union(cause.words, effect.words, beside.words),
    )


def _pieces(tokens: Sequence[Token]) -> Iterator[tuple[str, bool, bool, list[Token]]]:
    """(part, whether after 'of', whether in a bracket, its words) of each run of words between two marks."""
    part, placed, outer, outside = "head", False, "head", ""
    piece: list[Token] = []
    for token in (*tokens, Token(END, "", "")):
        if token.root not in MARKS:
            if token.root not in LITTLE or typed(token.stem):
                piece.append(token)
            continue
        yield part, placed, bool(outside), piece
        piece = []
        if token.root == BEFORE:
            outer, part = part, "cause"
        elif token.root == END:
            part = outer
        elif token.root == PLACE:
            placed = True
        elif token.root == OPEN:
            outside, part, placed = outside or part, "head" if part == "cause" else part, False
        elif token.root == CLOSE:
            part, outside = outside or part, ""
        elif token.root == PART:
            part, placed = "head" if part != "cause" else part, False
        else:
            placed = False
            part = {CAUSE: "cause", EFFECT: "effect", WITH: "beside", WITHOUT: "lacking"}[token.root]
            outer = part


def telling(token: Token) -> bool:
    """Whether a word of low weight still distinguishes kinds: 'congenital', 'lower'; not 'severe' or 'acute'."""
    return (
        token.stem in _TELLING
        or (token.listed and token.root not in HEADLESS)
        or any(axis not in _OF_DEGREE and value != "acute" for axis, value in token.axes)
    )


def _part(tokens: Sequence[Token], secondary: bool = False) -> NamePart:
    words: dict[str, Token] = {}
    axes: dict[str, frozenset[str]] = {}
    for token in tokens:
        if not typed(token.stem):
            words.setdefault(token.root, token)
        for axis, value in token.axes:
            axes[axis] = axes.get(axis, frozenset()) | {value}
    if secondary:
        axes.setdefault("origin", frozenset(("secondary",)))
    return NamePart(words, axes)
