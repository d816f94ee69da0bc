"""What a finding of a case says otherwise than the sentences it rests on: sides, sex, denials and judgements.

Only an established contradiction counts: the sentences hold the same thing and say the opposite of it. What they do not
mention is no contradiction; a person reads it (`open_points`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from wardround.scenarios.reports.article import comparable
from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.finding_evidence import (
    ArticleIndex,
    FindingEvidence,
    meets,
    spelled_out,
    with_prefixes,
)
from wardround.scenarios.reports.patient_sex import of_relatives, relative_contradictions, sex_contradictions
from wardround.scenarios.reports.statements import (
    GENERIC,
    ArticleStatement,
    ArticleWord,
    longhand,
    sentence_statements,
    word_concept,
)
from wardround.scenarios.terms.wording import vocabulary

_ELLIPTIC = re.compile(
    r"(?i)\b(?:none|neither(?! (?!to |in |on |at |of )(?:[\w-]+ ){1,4}?nor\b)"
    r"|those|that of|but not|not (?:in|on|of|at)|the others?|the rest"
    r"|nowhere|nothing|except\w*|apart from|elsewhere|no other|only|otherwise|remaining)\b"
)
"""Wording that denies for one place what it affirms for another."""
_LIMITS = re.compile(
    r"(?i)\b(?:recent|recently|new|initial|initially|previous|previously|prior|earlier|other|further|additional|later"
    r"|subsequent|subsequently|at first|repeat|repeated|follow-?up|postoperative\w*|after|again|then|now|since|current"
    r"|currently|today|until|before|while|significant\w*|specific|typical|characteristic|suspicious|associated|obvious"
    r"|definite|primary|residual|recurrent|clear|relevant|similar|overt|gross|focal|frank|major|such|true|more|longer)\b"
)
"""Words with which a denial leaves room: for another time, for the rest, for another form of what it denies."""
_JUDGED = ("normal", "positive")
_GENERAL = GENERIC | frozenset(map(word_concept, ("elevate", "lower", "increased", "reduced", "present", "absent")))


def contradictions(claim: FindingEvidence, index: ArticleIndex, sex: str) -> Iterator[Unfaithful]:
    """What a finding says otherwise than its evidence; `sex` is the patient's, '' if unknown.

    Of sentences that were sought, only those on the patient count.
    """
    if not claim.cited:
        claim = replace(claim, sentences=tuple(one for one in claim.sentences if one in index.patient))
    claim = replace(claim, finding=spelled_out(claim.finding, claim.sentences))
    if comparable(claim.finding) in _own_sentences(index.sentences):
        return  # the article's own sentence
    yield from sex_contradictions(claim, sex)
    yield from relative_contradictions(claim)
    yield from _sides(claim, index)
    yield from _polarities(claim, index)


@lru_cache(maxsize=32)
def _own_sentences(sentences: tuple[str, ...]) -> frozenset[str]:
    return frozenset(comparable(sentence) for sentence in sentences)


@lru_cache(maxsize=8192)
def _statements(sentences: tuple[str, ...]) -> tuple[ArticleStatement, ...]:
    return tuple(one for sentence in sentences for one in sentence_statements(sentence))


# --- denials and judgements ------------------------------------------------------------------------------------------


def site(name: str) -> bool:
    """Whether a concept is a part of the body."""
    return name in vocabulary().sites or name in vocabulary().within


def _polarities(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The first concept of each statement that the evidence has only with the other polarity."""
    theirs = _statements(claim.sentences)
    yield from _kept_functions(claim, theirs)
    for said in sentence_statements(claim.finding):
        relatives = claim.item == "Family History" or of_relatives(said.text)
        for plain in said.words:
            sign = None if plain.judged else _sign(plain, said, "positive")
            word = plain if sign is None else replace(plain, judged=("positive", sign))
            if len(word.concept) < 3 or word.concept in _GENERAL or _undecided(word, said):
                continue
            against = _opposite(claim, word, said, theirs, relatives=relatives)
            if not against:
                continue
            if not claim.cited and _supported_elsewhere(word, said, index, relatives=relatives):
                continue
            yield Unfaithful("negation", _shown(word), claim.finding, against, claim.item)
            break


_LOST = {
    word_concept(lost): frozenset(map(word_concept, kept.split()))
    for lost, kept in (
        ("numbness", "sensation sensory touch"), ("weakness", "strength power"), ("paresis", "strength power"),
        ("deafness", "hearing"), ("blindness", "vision acuity"), ("fever", "temperature"), ("anemia", "hemoglobin"),
        ("confusion", "orientation consciousness"), ("thrombocytopenia", "platelet"), ("hypoxia", "saturation"),
    )
}  # fmt: skip
"""What is lost, with the functions and values of which 'normal' says that it is not."""


def _kept_functions(claim: FindingEvidence, theirs: Sequence[ArticleStatement]) -> Iterator[Unfaithful]:
    """A loss of what the cited sentences call intact or normal, and do not name otherwise."""
    named = {word.concept for one in theirs for word in one.words}
    for said in sentence_statements(claim.finding) if claim.cited else ():
        for word in said.words:
            kept = _LOST.get(word.concept)
            if not kept or word.concept in named or _undecided(word, said) or word.denied is not False:
                continue
            judged = {(other.judged, one.sentence) for one in theirs for other in one.words if other.concept in kept}
            if judged and all(judge == ("normal", True) for judge, _ in judged):
                yield Unfaithful(
                    "negation", word.written, claim.finding, sorted(text for _, text in judged)[0], claim.item
                )
                return


_BACKWARD_TEXT = """not never none nil absent denied negative wanting free lost loss lose missing lacking lack lacked
failed fails excluded unremarkable gone disappeared vanished spared ceased stopped quit ex former cannot scarcely hardly
barely rarely neither nowhere without~ avoided refused unable impaired"""
_BACKWARD = frozenset(_BACKWARD_TEXT.split())
"""Words that may deny what stands before or after them."""
_FORWARD = frozenset(["no", "without", "denies", "deny", "denying", "nor", "nothing"])
"""Words that may deny what stands after them."""
_PRESENT = re.compile(r"\s*(?:present|yes|positive|severe|mild|moderate|marked)\b")
_PLAIN_WORD = re.compile(r"[a-z~_']+")


@lru_cache(maxsize=16384)
def _surely(word: ArticleWord, text: str) -> bool | None:
    """Whether a word is denied; None if it is read as affirmed and its statement has a word that may deny it,
    or it is a label."""
    lows = _PLAIN_WORD.findall(text.lower())
    at = lows.index(word.written) if word.written in lows else len(lows)
    if word.denied:  # 'without discharge and cracked lips'
        cue = max((place for place, low in enumerate(lows[:at]) if low in ("no", "without")), default=-1)
        between = lows[cue + 1 : at] if cue >= 0 else []
        return None if "and" in between and "or" not in between else True
    if word.denied is None:
        return None
    if any(low in _BACKWARD or low.endswith("n't") for low in lows):
        return None
    _, _, content = text.lower().partition(word.written)[2].partition(":")
    if content and not _PRESENT.match(content):
        return None
    return None if any(low in _FORWARD for low in lows[:at]) else False


def _undecided(word: ArticleWord, said: ArticleStatement) -> bool:
    """Whether a word of the case says nothing that could be contradicted."""
    if word.judged:
        return not word.head
    if _surely(word, said.text) is None or site(word.concept) or not _heads(word, said):
        return True
    return bool(word.denied and _LIMITS.search(_listed(word, said)))


def _shown(word: ArticleWord) -> str:
    if word.judged:
        return ("" if word.judged[1] else "not ") + word.judged[0]
    return ("not " if word.denied else "") + word.written.replace("no~", "").replace("_", " ")


def _opposite(
    claim: FindingEvidence,
    word: ArticleWord,
    said: ArticleStatement,
    theirs: Sequence[ArticleStatement],
    *,
    relatives: bool,
) -> str:
    """The sentence that says the opposite of a word of the case, '' if none does or one that fits may say the same.

    Of several mentions those count that share most with the words around the case's.
    """
    around = {other.concept for other in _group(word, said)} - {word.concept, *_JUDGED}
    mentions: list[tuple[int, bool | None, str]] = []
    for one in theirs:
        near = with_prefixes(one.concepts)
        fit = sum(meets(name, near) for name in around)
        for other in one.words:
            if other.concept != word.concept or relatives != of_relatives(one.text):
                continue
            agrees = _agrees(word, said, other, one)
            if agrees is False and not _same_finding(word, said, other, one):
                agrees = None if _LIMITS.search(_listed(other, one)) or _ELLIPTIC.search(one.sentence) else True
                fit = min(fit, 0)
            mentions.append((fit, agrees, one.sentence))
    best = max((fit for fit, _, _ in mentions), default=0)
    fitting = [(agrees, sentence) for fit, agrees, sentence in mentions if fit == best]
    return fitting[0][1] if fitting and all(agrees is False for agrees, _ in fitting) else ""


_DENIES = re.compile(r"(?i)\bno~|n't\b|\b(?:no|not|never|none|without|negative|absent|sterile|nothing|neither)\b")
_SHOWN = re.compile(
    r"(?i)\b(?:found|detect\w*|present|seen|identified|isolated|grew|reveal\w*|show\w*|demonstrat\w*)\b"
)


def _supported_elsewhere(word: ArticleWord, said: ArticleStatement, index: ArticleIndex, *, relatives: bool) -> bool:
    """Whether any sentence on the patient may say the same as a word of the case."""
    around = {other.concept for other in _group(word, said)} - {word.concept, *_JUDGED}
    for one, other in _mentions(index).get(word.concept, ()):
        if _agrees(word, said, other, one) is not False:
            near = with_prefixes(one.concepts)
            if not around or any(meets(name, near) for name in around):
                return True
    return False


@lru_cache(maxsize=32)
def _mentions(index: ArticleIndex) -> Mapping[str, Sequence[tuple[ArticleStatement, ArticleWord]]]:
    """Where each concept stands in the sentences on the patient."""
    mentions: dict[str, list[tuple[ArticleStatement, ArticleWord]]] = {}
    for one in _statements(tuple(sentence for sentence in index.sentences if sentence in index.patient)):
        for word in one.words:
            mentions.setdefault(word.concept, []).append((one, word))
    return mentions


@lru_cache(maxsize=32)
def _side_words(index: ArticleIndex) -> Sequence[tuple[str, dict[str, float]]]:
    """Each word of side in the sentences on the patient, with what it belongs to."""
    patient = tuple(sentence for sentence in index.sentences if sentence in index.patient)
    return tuple((side, _near(one, at)) for one in _statements(patient) for side, at in one.sides)


def _agrees(word: ArticleWord, said: ArticleStatement, other: ArticleWord, one: ArticleStatement) -> bool | None:
    """Whether the article's word says the same; None where that cannot be said."""
    judged = other.judged
    if word.judged and not judged and (sign := _sign(other, one, word.judged[0])) is not None:
        judged = (word.judged[0], sign)
    if word.judged and judged:
        return word.judged[1] == judged[1] if word.judged[0] == judged[0] else None
    if word.judged or judged:
        kind, plain, its = (word.judged, other, one) if word.judged else (judged, word, said)
        if not kind or kind[0] != "positive" or plain.denied is None or not plain.head:
            return None
        if plain.denied:
            return not kind[1]
        shown = _SHOWN.search(its.text) and not _DENIES.search(its.text)
        return True if kind[1] else False if shown else None
    theirs = _surely(other, one.text)
    return None if word.denied is None or theirs is None else word.denied == theirs


def _sign(other: ArticleWord, one: ArticleStatement, kind: str) -> bool | None:
    """Whether what a word's item of a list judges is normal (positive); None if it judges nothing, or both ways."""
    signs = {not word.denied for word in _group(other, one) if word.concept == kind and word.denied is not None}
    return signs.pop() if len(signs) == 1 else None


def _same_finding(word: ArticleWord, said: ArticleStatement, other: ArticleWord, one: ArticleStatement) -> bool:
    """Whether an opposite mention is of the same finding: what is denied may not be narrower than what is affirmed."""
    if word.judged or other.judged:
        mine = {name.concept for name in _group(word, said) if name.concept not in (word.concept, *_JUDGED)}
        ours = {name.concept for name in _group(other, one) if name.concept not in (word.concept, *_JUDGED)}
        return not mine or not ours or bool(mine & ours) or not _sites(mine) or not _sites(ours)
    if not _heads(other, one) or _ELLIPTIC.search(one.sentence):
        return False
    denied, its, affirmed, whole = (word, said, other, one) if word.denied else (other, one, word, said)
    if not word.denied and _LIMITS.search(_listed(other, one)):
        return False
    narrows = {name.concept for name in _group(denied, its) if name.denied or (word.denied and name.denied is not None)}
    narrows -= {denied.concept, *_JUDGED, *GENERIC}
    group = with_prefixes(frozenset(name.concept for name in _group(affirmed, whole)))
    read = sentence_statements(whole.sentence)
    wider = group | with_prefixes(frozenset(name.concept for part in read for name in part.words if not name.denied))
    placed = _sites({name.concept for name in _group(affirmed, whole)}) or re.search(r"(?i)\bnot\b|n't\b", its.text)
    every = with_prefixes(frozenset(name.concept for part in read for name in part.words))
    for name in narrows:
        if not meets(name, group if site(name) and placed else wider) and (
            placed or not site(name) or meets(name, every)
        ):
            return False
    sites = with_prefixes(frozenset(filter(site, every)))
    others = {name.concept for part in sentence_statements(its.sentence) for name in part.words if site(name.concept)}
    if not word.denied and placed and others and not any(meets(name, sites) for name in others):
        return False
    tests, shown = _tests(said.sentence), _tests(one.sentence)
    if not word.denied and tests and shown and not tests & shown:
        return False
    its_sides, sides = _sides_of(denied, its), _sides_of(affirmed, whole)
    return not its_sides or bool(its_sides & sides) or "both" in sides


_TEST = re.compile(
    r"(?i)\b(?:(\w*(?:graph|scop))(?:y|ies|ic|ically)|(ct|mri|ultraso\w+|biops\w+|x-?ray|radiograph|film)s?)\b"
)


def _tests(sentence: str) -> frozenset[str]:
    """The kinds of test that a sentence names: what one test did not show, another may have shown."""
    return frozenset((hit[1] or hit[2]).lower()[:8] for hit in _TEST.finditer(sentence))


def _sites(names: set[str]) -> bool:
    return any(site(name) for name in names)


def _sides_of(word: ArticleWord, said: ArticleStatement) -> set[str]:
    start, end = _bounds(word.place, said)
    return {side for side, at in said.sides if start < at < end}


def _bounds(place: int, said: ArticleStatement) -> tuple[int, int]:
    start = max((joint for joint in said.joints if joint < place), default=-1)
    return start, min((joint for joint in said.joints if joint > place), default=10**6)


def _group(word: ArticleWord, said: ArticleStatement) -> Sequence[ArticleWord]:
    """The words of the item of a list that a word stands in."""
    start, end = _bounds(word.place, said)
    return [other for other in said.words if start < other.place < end]


def _listed(word: ArticleWord, said: ArticleStatement) -> str:
    parts = re.split(r",|\band\b|\bor\b", said.text)
    return next((part for part in parts if word.written in part.lower()), said.text)


def _heads(word: ArticleWord, said: ArticleStatement) -> bool:
    """Whether words are about this one: it ends their group, or only parts of the body follow ('enlarged tonsils')."""
    place = word.place
    for other in () if word.head else said.words:
        if other.place == place + 1 and site(other.concept):
            if other.head:
                return True
            place += 1
    return word.head


# --- sides -----------------------------------------------------------------------------------------------------------

_COMPARED = re.compile(
    r"(?i)\b(?:worse|more|greater|larger|less|predominant\w*|mainly)\b[^,;]{0,20}\b(?:left|right)\b"
    r"|\b(?:than|less so|more so|lesser|as well as|to|compared)\b(?: the)? (?:left|right)\b"
)
"""A side that another is compared with."""
_OTHER_SIDE = re.compile(
    r"(?i)\b(?:on )?the other (?:side|eye|ear|hand|leg|arm|one)\b|\b(?:that|those) of the (?:left|right)\b"
)
"""A sentence that compares the sides without naming each time what is compared."""
ALIKE, MORE, FAINT, CITED, OUTSIDE = 0.5, 0.4, 0.25, 0.2, 0.1


def _sides(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The words of side that the evidence gives only for other things, or with the other side."""
    theirs = [(one, side, place) for one in _statements(claim.sentences) for side, place in one.sides]
    mine = [
        (said, side, place)
        for said in sentence_statements(claim.finding) for side, place in said.sides if side != "any"
    ]  # fmt: skip
    if not theirs or not mine or _COMPARED.search(claim.finding):
        return
    yield from _sides_of_numbers(claim)
    yield from _only_other_side(claim, [side for _, side, _ in theirs], mine, index)
    scores = [_side_scores(said, place, theirs, index) for said, _, place in mine]
    pairs = [(_own(side, best), _other(side, best)[1]) for (_, side, _), best in zip(mine, scores, strict=True)]
    several = {"left", "right"} <= {side for _, side, _ in mine}  # 'right 2 cm, left 4 cm': crossed as a whole, or not
    crossed = all(against >= max(own, 0.0) + MORE for own, against in pairs)
    for (said, side, place), best, (own, against) in zip(mine, scores, pairs, strict=True):
        near = _near(said, place)
        names = [name for name, weight in near.items() if name[0] != "#" and weight > OUTSIDE]
        if not names or (several and own >= 0 and not crossed):
            continue
        if side == "both" and (several or {"left", "right"} <= best.keys()):
            continue
        least = CITED if claim.cited and own < 0 and side != "both" and not several else ALIKE
        if own >= 0 and any(_OTHER_SIDE.search(sentence) for sentence in claim.sentences):
            continue
        if against < least or (own >= 0 and (against < own + MORE or own > FAINT)):
            continue
        if claim.cited or not _sided_elsewhere(side, _other(side, best)[0], near, against, index):
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)


_FIGURE = r"(?<![\d.])(?!(?:19|20)\d\d\b)(\d+(?:[.,/]\d+)?)"
_THEN_SIDE = (
    r"\s*(?:(?!and\b|with\b|or\b|of\b)[a-z\u00b5%\u00b0/]{1,6}\s+)?(?:(?:on|in|at)\s+(?:the\s+|his\s+|her\s+)?)?"
    r"(left|right)\b(?!\s*[:=]?\s*\d)"
)
_BEFORE_SIDE = re.compile(rf"(?i){_FIGURE}{_THEN_SIDE}")
_BEHIND_SIDE = re.compile(
    r"(?i)\b(left|right)\b(?:\s+(?!left\b|right\b|and\b)[a-z-]+){0,4}[\s(:=]{1,3}"
    rf"{_FIGURE}(?![\d.,/]*\d)(?!{_THEN_SIDE})"
)


@lru_cache(maxsize=8192)
def _numbers_by_side(sentence: str) -> frozenset[tuple[str, str]]:
    """(number, side) of a sentence: '2.6 cm on the right', 'the left pupil measured 2 mm'."""
    text = longhand(sentence)
    before = {(hit[1].replace(",", "."), hit[2].lower()) for hit in _BEFORE_SIDE.finditer(text)}
    return frozenset(before | {(hit[2].replace(",", "."), hit[1].lower()) for hit in _BEHIND_SIDE.finditer(text)})


def _sides_of_numbers(claim: FindingEvidence) -> Iterator[Unfaithful]:
    """A number on one side that the evidence has on the other side only."""
    theirs = frozenset[tuple[str, str]]().union(*map(_numbers_by_side, claim.sentences))
    for number, side in sorted(_numbers_by_side(claim.finding)):
        other = "left" if side == "right" else "right"
        if (number, other) in theirs and (number, side) not in theirs:
            yield Unfaithful("side", f"{side} {number}", claim.finding, " ".join(claim.sentences), claim.item)
            return


_ACROSS = re.compile(r"(?i)\b(?:left|right)[- ]to[- ](?:left|right)\b|\b5/5\b")
"""A shunt from side to side, and full strength, which tells that nothing is wrong."""


def _only_other_side(
    claim: FindingEvidence,
    theirs: Sequence[str],
    mine: Sequence[tuple[ArticleStatement, str, int]],
    index: ArticleIndex,
) -> Iterator[Unfaithful]:
    """A side that neither the cited sentences, which know the other only, nor others on the same thing have."""
    if not claim.cited or len(set(theirs)) > 1 or any(_OTHER_SIDE.search(one) for one in claim.sentences):
        return
    for said, side, place in mine:
        names = [name for name, weight in _near(said, place).items() if name[0] != "#" and weight > OUTSIDE]
        if _nothing_there(said, place) or _ACROSS.search(said.text):
            continue
        if side in (*theirs, "both") or theirs[0] not in ("left", "right") or not names:
            continue
        if not any(
            known in (side, "both") and any(meets(name, with_prefixes(frozenset(near))) for name in names)
            for known, near in _side_words(index)
        ):
            yield Unfaithful("side", side, claim.finding, " ".join(claim.sentences), claim.item)
            return


def _side_scores(
    said: ArticleStatement, place: int, theirs: Sequence[tuple[ArticleStatement, str, int]], index: ArticleIndex
) -> dict[str, float]:
    """How much of what stands with a side in the case stands with each side in the evidence; -1 without it."""
    near, nothing = _near(said, place), _nothing_there(said, place)
    best: dict[str, float] = {}
    for one, other, at in theirs:
        if _nothing_there(one, at) == nothing and not _opposed(said, place, one, at):
            best[other] = max(_alike(near, _near(one, at), index), best.get(other, -1.0))
        else:
            best.setdefault(other, 0.0)
    return best


def _opposed(said: ArticleStatement, place: int, one: ArticleStatement, at: int) -> bool:
    """Whether what is affirmed of one side is denied of the other."""
    mine, theirs = ({word.concept: word.denied for word in _beside(*both)} for both in ((said, place), (one, at)))
    return any(theirs.get(name, denied) is (not denied) for name, denied in mine.items() if denied is not None)


def _own(side: str, best: dict[str, float]) -> float:
    return max(best.get(name, -1.0) for name in (side, "any", "both"))


def _other(side: str, best: dict[str, float]) -> tuple[str, float]:
    others = {name: score for name, score in best.items() if name in ("left", "right") and name != side}
    return max(others.items(), key=lambda one: (one[1], one[0]), default=("", 0.0))


def _nothing_there(one: ArticleStatement, place: int) -> bool:
    """Whether all that is said of a side is that nothing is wrong there."""
    words = _beside(one, place)
    said = [word for word in words if not site(word.concept) and word.concept not in _JUDGED]
    judged = [word.judged for word in words if word.judged]
    return any(judge == ("normal", True) for judge in judged) or bool(said and all(word.denied for word in said))


def _beside(one: ArticleStatement, place: int) -> Sequence[ArticleWord]:
    """The words of the item of a list that a word of side stands in."""
    start, end = _bounds(place, one)
    return [word for word in one.words if start < word.place < end]


def _near(said: ArticleStatement, place: int) -> dict[str, float]:
    """The concepts and numbers that a word of side belongs to, with their weights: 1 between the same separators."""
    start, end = _stretch(said, place)
    names = [(word.concept, word.place) for word in said.words] + [(f"#{number}", at) for number, at in said.numbers]
    return {
        name: max(0.2, 1 / (1 + abs(at - place) / 6)) if start < at < end else OUTSIDE for name, at in reversed(names)
    }


def _stretch(said: ArticleStatement, place: int) -> tuple[int, int]:
    """Where the words of a word of side begin and end: half-way to the next, or at the comma or 'and' between."""
    start, end = -1, 10**6
    for _, other in said.sides:
        between = [joint for joint in said.joints if min(place, other) < joint < max(place, other)]
        if other < place:
            start = max(start, between[-1] if between else (other + place) // 2)
        elif other > place:
            end = min(end, between[0] if between else (other + place) // 2)
    return start, end


def _alike(near: dict[str, float], theirs: dict[str, float], index: ArticleIndex) -> float:
    """The share of what stands with a side in the case that stands with one in the article."""
    total = sum(weight * index.weight(name) for name, weight in near.items())
    wide: dict[str, float] = {}
    for name, weight in theirs.items():
        for form in with_prefixes(frozenset((name,))):
            wide[form] = max(weight, wide.get(form, 0.0))
    met = 0.0
    for name, weight in near.items():
        form = name if name in wide else f"{name[:5]}-"
        met += weight * index.weight(name) * min(1.0, 1.6 * wide.get(form, 0.0))
    return met / total if total else 0.0


def _sided_elsewhere(side: str, other: str, near: dict[str, float], against: float, index: ArticleIndex) -> bool:
    """Whether another sentence on the patient gives this side for about the same words."""
    wanted = {"left", "right"} - {other} if side == "both" else {side}
    return any(
        mine in (*wanted, "both", "any") and _alike(near, theirs, index) >= against - MORE / 2
        for mine, theirs in _side_words(index)
    )
