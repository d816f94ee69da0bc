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
from wardround.scenarios.reports.sides import side_contradictions
from wardround.scenarios.reports.statements import (
    GENERIC,
    JUDGED,
    ArticleStatement,
    ArticleWord,
    all_statements,
    sentence_statements,
    site,
    stretch_bounds,
    word_concept,
)

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
    r"|definite|primary|residual|recurrent|clear|relevant|similar|overt|gross|focal|frank|major|such|true|more|longer"
    r"|mornings?|evenings?|nights?|nocturnal|daytime|rest|exertion|exercise)\b"
)
"""Words with which a denial leaves room: for another time, for the rest, for another form of what it denies."""
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
    yield from side_contradictions(claim, index)
    yield from _polarities(claim, index)


@lru_cache(maxsize=32)
def _own_sentences(sentences: tuple[str, ...]) -> frozenset[str]:
    return frozenset(comparable(sentence) for sentence in sentences)


# --- denials and judgements ------------------------------------------------------------------------------------------


def _polarities(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The first concept of each statement that the evidence has only with the other polarity."""
    theirs = all_statements(claim.sentences)
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
        ("crackle", "lung"), ("wheeze", "lung"), ("rhonchi", "lung"), ("infiltrate", "lung"),
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


_CARRIERS_TEXT = (
    "antibody antibodies serology titer titre virus swab assay stain marker igg igm pcr panel level value test"
)
_CARRIERS = frozenset(word_concept(word) for word in _CARRIERS_TEXT.split())
"""Words for tests of all kinds, of which a judgement tells nothing without the word for what they test."""
_ALONE = re.compile(r"(?i)\b(?:sole|only|other|remaining|rest)\b")
"""Words with which a judgement is of one thing and not of its neighbours: 'the sole deficit'."""


def _undecided(word: ArticleWord, said: ArticleStatement) -> bool:
    """Whether a word of the case says nothing that could be contradicted."""
    if word.judged:
        return not word.head or bool(_ALONE.search(said.text))
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
    around = {other.concept for other in _group(word, said)} - {word.concept, *JUDGED}
    mentions: list[tuple[int, bool | None, str]] = []
    for one in theirs:
        near = with_prefixes(one.concepts)
        fit = sum(meets(name, near) for name in around)
        for other in one.words:
            if other.concept != word.concept or relatives != of_relatives(one.text):
                continue
            if word.concept in _CARRIERS and _of_another(around, said, other, one):
                continue
            agrees = _agrees(word, said, other, one)
            if agrees is False and not _same_finding(word, said, other, one):
                agrees = None if _limited(other, one, said) or _ELLIPTIC.search(one.sentence) else True
                fit = min(fit, 0)
            mentions.append((fit, agrees, one.sentence))
    best = max((fit for fit, _, _ in mentions), default=0)
    fitting = [(agrees, sentence) for fit, agrees, sentence in mentions if fit == best]
    return fitting[0][1] if fitting and all(agrees is False for agrees, _ in fitting) else ""


def _of_another(
    around: frozenset[str] | set[str], said: ArticleStatement, other: ArticleWord, one: ArticleStatement
) -> bool:
    """Whether a test of the evidence is one that the finding names beside the test in question."""
    theirs = {name.concept for name in _group(other, one)} - {*JUDGED, *_CARRIERS}
    beside = {word.concept for part in sentence_statements(said.sentence) for word in part.words} - set(around)
    mine, others = with_prefixes(frozenset(around)), with_prefixes(frozenset(beside))
    return any(meets(name, others) for name in theirs) and not any(meets(name, mine) for name in theirs)


_DENIES = re.compile(
    r"(?i)\bno~|n't\b|\b(?:no|not|never|none|without|negative|absent|sterile|nothing|neither|normal)\b"
)
_SHOWN = re.compile(
    r"(?i)\b(?:found|detect\w*|present|seen|identified|isolated|grew|reveal\w*|show\w*|demonstrat\w*)\b"
)


def _supported_elsewhere(word: ArticleWord, said: ArticleStatement, index: ArticleIndex, *, relatives: bool) -> bool:
    """Whether any sentence on the patient may say the same as a word of the case."""
    around = {other.concept for other in _group(word, said)} - {word.concept, *JUDGED}
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
    for one in all_statements(tuple(sentence for sentence in index.sentences if sentence in index.patient)):
        for word in one.words:
            mentions.setdefault(word.concept, []).append((one, word))
    return mentions


def _agrees(word: ArticleWord, said: ArticleStatement, other: ArticleWord, one: ArticleStatement) -> bool | None:
    """Whether the article's word says the same; None where that cannot be said."""
    judged = other.judged
    if word.judged and not judged and (sign := _sign(other, one, word.judged[0])) is not None:
        judged = (word.judged[0], sign)
    if word.judged and judged:
        return _same_judgement(word.judged, judged)
    if word.judged or judged:
        kind, plain, its = (word.judged, other, one) if word.judged else (judged, word, said)
        if kind == ("normal", True) and plain.denied and plain.head and not _sided_or_lost(plain, its):
            return False  # absent reflexes are not normal
        if not kind or kind[0] != "positive" or plain.denied is None or not plain.head:
            return None
        if plain.denied:
            return not kind[1]
        shown = _SHOWN.search(its.text) and not _DENIES.search(its.text)
        return True if kind[1] else False if shown else None
    if word.denied and other.concept.startswith(_COUNTED) and _beside_a_number(other, one):
        return None  # '2% eosinophils' are no eosinophilia
    theirs = _surely(other, one.text)
    return None if word.denied is None or theirs is None else word.denied == theirs


_LOSES = re.compile(r"(?i)\b(?:los[es]\w*|lost|fail\w*|chang\w*|not\b)")


def _sided_or_lost(word: ArticleWord, its: ArticleStatement) -> bool:
    """Whether the denial of a word may be of its loss ('did not lose consciousness') or is of a part of the body."""
    return site(word.concept) or bool(_LOSES.search(its.text))


def _same_judgement(one: tuple[str, bool], other: tuple[str, bool]) -> bool | None:
    """Whether two judgements agree; None where one does not tell of the other: what is raised is not normal."""
    if one[0] == other[0]:
        return one[1] == other[1]
    both = {one, other}
    if both & {("high", True)} and both & {("unraised", True), ("normal", True)}:
        return False
    return False if both == {("high", False), ("normal", True)} else None


_COUNTED = ("eosinophil", "neutrophil", "lymphocyt", "leukocyt", "monocyt", "basophil", "platelet", "protein")


def _beside_a_number(word: ArticleWord, one: ArticleStatement) -> bool:
    return any(abs(at - word.place) <= _NEXT_BUT_ONE for _, at in one.numbers)


_NEXT_BUT_ONE = 2


def _sign(other: ArticleWord, one: ArticleStatement, kind: str) -> bool | None:
    """Whether what a word's item of a list judges is normal (positive); None if it judges nothing, or both ways."""
    if "nothing" in one.text:  # 'cultures grew nothing'
        return None
    signs = {not word.denied for word in _group(other, one) if word.concept == kind and word.denied is not None}
    return signs.pop() if len(signs) == 1 else None


def _same_finding(word: ArticleWord, said: ArticleStatement, other: ArticleWord, one: ArticleStatement) -> bool:
    """Whether an opposite mention is of the same finding: what is denied may not be narrower than what is affirmed."""
    if word.judged or other.judged:
        mine = {name.concept for name in _group(word, said) if name.concept not in (word.concept, *JUDGED)}
        ours = {name.concept for name in _group(other, one) if name.concept not in (word.concept, *JUDGED)}
        return not mine or not ours or bool(mine & ours) or not _sites(mine) or not _sites(ours)
    if not _heads(other, one) or _ELLIPTIC.search(one.sentence):
        return False
    denied, its, affirmed, whole = (word, said, other, one) if word.denied else (other, one, word, said)
    if not word.denied and _limited(other, one, said):
        return False
    narrows = {name.concept for name in _group(denied, its) if name.denied or (word.denied and name.denied is not None)}
    narrows -= {denied.concept, *JUDGED, *GENERIC}
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


def _limited(other: ArticleWord, one: ArticleStatement, said: ArticleStatement) -> bool:
    """Whether a mention is limited by a word that the finding has not: 'no fever in the mornings'."""
    mine = {hit[0].lower() for hit in _LIMITS.finditer(said.text)}
    return any(hit[0].lower() not in mine for hit in _LIMITS.finditer(_listed(other, one)))


_TEST = re.compile(
    r"(?i)\b(?:(\w*(?:graph|scop))(?:y|ies|ic|ically)|(ct|mri|ultraso\w+|biops\w+|x-?ray|radiograph|film)s?)\b"
)


def _tests(sentence: str) -> frozenset[str]:
    """The kinds of test that a sentence names: what one test did not show, another may have shown."""
    return frozenset((hit[1] or hit[2]).lower()[:8] for hit in _TEST.finditer(sentence))


def _sites(names: set[str]) -> bool:
    return any(site(name) for name in names)


def _sides_of(word: ArticleWord, said: ArticleStatement) -> set[str]:
    start, end = stretch_bounds(word.place, said)
    return {side for side, at in said.sides if start < at < end}


def _group(word: ArticleWord, said: ArticleStatement) -> Sequence[ArticleWord]:
    """The words of the item of a list that a word stands in."""
    start, end = stretch_bounds(word.place, said)
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
