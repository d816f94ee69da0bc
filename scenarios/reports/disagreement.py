"""Decides whether an article contradicts a finding of a case: denied against affirmed, one judgement against another.

A case is refused only where the article says the opposite of the same finding and nowhere what could support it. What
the article does not mention is left to a person.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.statements import (
    GENERIC,
    ArticleStatement,
    ArticleWord,
    PatientText,
    sentence_statements,
)
from wardround.scenarios.terms.wording import vocabulary

KIN = re.compile(
    r"(?i)\b(?:mothers?|fathers?|brothers?|sisters?|sons?|daughters?|husband|wife|spouse|partner|parents?|siblings?|uncles?"
    r"|aunts?|cousins?|niece|nephew|grand\w+|child|children|baby|infant|newborn|neonate|relatives?|family|boyfriend"
    r"|girlfriend|donor|fetus|foetus|maternal|paternal)\b"
)
_INFORMANT = re.compile(
    r"(?i)\b(?:mother|father|parents?|wife|husband|spouse|partner|daughter|son|family|relatives?|sister|brother)\b"
    r"(?: (?:\w+ ){0,2}?| had | have | has )(?:denied|denies|reported|reports|noticed|noted|observed|described|stated"
    r"|said|brought|recalled|told|gave|found|took|saw|seen|thought|remembered|sought)\b"
    r"|\b(?:according to|denied by|reported by|noticed by|noted by) (?:his|her|their|the) \w+"
)
_RELATIVES = re.compile(KIN.pattern + r"|(?i:\bfamil(?:y|ial)\b|\bhereditary\b)")
ELLIPTIC = re.compile(
    r"(?i)\b(?:none|neither|those|that of|but not|not (?:in|on|of|at)|the others?|the rest|nowhere|nothing|except\w*"
    r"|apart from"
    r"|elsewhere|no other|only|otherwise|remaining)\b"
)
"""Wording that denies for one place what it affirms for another."""
_LIMITS = re.compile(
    r"(?i)\b(?:recent|recently|new|initial|initially|previous|previously|prior|earlier|other|further|additional|later"
    r"|subsequent|subsequently|at first|repeat|repeated|follow-?up|postoperative\w*|after|again|then|now|current"
    r"|currently"
    r"|today|until|before|while)\b"
)
"""Words that tie a denial to a time or to the rest."""
_NARROWING = re.compile(
    r"(?i)\b(?:significant\w*|specific|typical|characteristic|suspicious|associated|obvious|definite|primary|residual|recurrent"
    r"|clear|relevant|similar|overt|gross|focal|frank|major|additional|such|true)\b"
)
"""Words with which a denial leaves room for another form of what it denies."""
_PREFIX = 5


@dataclass(frozen=True)
class Known:
    """The statements of an article: where each concept stands, and how much each weighs."""

    statements: tuple[ArticleStatement, ...]
    places: Mapping[str, tuple[tuple[int, ArticleWord], ...]]
    weights: Mapping[str, float]
    sentences: Mapping[str, frozenset[str]]
    case: frozenset[str]
    sided: Mapping[str, Sequence[str]]
    """The words of side of each sentence that has any."""

    def weight(self, concept: str) -> float:
        """The weight of a concept: the rarer in the article, the more."""
        return self.weights.get(concept, 1.0)


@lru_cache(maxsize=32)
def known_statements(patient: PatientText) -> Known:
    """The statements of an article's sentences on its patient."""
    read = tuple(
        one for sentence in dict.fromkeys((*patient.case, *patient.discussed)) for one in sentence_statements(sentence)
    )
    places: dict[str, list[tuple[int, ArticleWord]]] = {}
    sentences: dict[str, frozenset[str]] = {}
    for at, one in enumerate(read):
        sentences[one.sentence] = sentences.get(one.sentence, frozenset()) | with_prefixes(one.concepts)
        for word in one.words:
            places.setdefault(word.concept, []).append((at, word))
    weights = {name: 1 / (1 + math.log(len(hits))) for name, hits in places.items()}
    sided: dict[str, list[str]] = {}
    for one in read:
        if one.sides:
            sided.setdefault(one.sentence, []).extend(side for side, _ in one.sides)
    mentions = {name: tuple(hits) for name, hits in places.items()}
    return Known(read, mentions, weights, sentences, frozenset(patient.case), sided)


@lru_cache(maxsize=16384)
def with_prefixes(concepts: frozenset[str]) -> frozenset[str]:
    """Concepts with their beginnings, so that 'tonsil' and 'tonsillar' meet."""
    return concepts | frozenset(f"{name[:_PREFIX]}-" for name in concepts if len(name) > _PREFIX)


def meets(name: str, concepts: frozenset[str]) -> bool:
    """Whether concepts (`with_prefixes`) have one, or one that begins alike."""
    return name in concepts or (len(name) >= _PREFIX and f"{name[:_PREFIX]}-" in concepts)


def decides(name: str) -> bool:
    """Whether the polarity of a concept tells: not that of a site, a general word or a short one."""
    return len(name) > 2 and name not in GENERIC and not site(name)


def site(name: str) -> bool:
    """Whether a concept is a part of the body."""
    return name in vocabulary().sites or name in vocabulary().within


def _judges(name: str) -> bool:
    return len(name) > 2 and name not in GENERIC


# --- polarity --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Evidence:
    """How alike the article's best mention is that says the same or leaves it open, and the best of the opposite.

    0 to 1, by what stands with the concept; None without such a mention. `plain`: the opposite is said of the concept
    without anything that narrows it ('There was no fever').
    """

    support: float | None
    against: float | None
    sentence: str
    plain: bool = False


def _contradicted(evidence: _Evidence, *, alone: bool, denied: bool) -> bool:
    """The table of decisions; `alone` says that the case says nothing else of the concept, `denied` that it denies it.

    What a case denies with more words than the article affirms ('no cystic necrosis') may be true all the same.

    | support | against | contradicted |
    |---|---|---|
    | none | alike, or the concept stands alone in the case or the article | yes |
    | unlike | alike | yes |
    | alike | any | no |
    """
    if evidence.against is None:
        return False
    if evidence.support is None:
        if denied:
            return alone or evidence.against >= DENIED_ALIKE
        return alone or evidence.plain or evidence.against >= NEVER_SUPPORTED
    return (
        not alone
        and evidence.against >= ALIKE
        and evidence.support <= UNLIKE
        and evidence.against >= evidence.support + BY
    )


NEVER_SUPPORTED, DENIED_ALIKE, ALIKE, UNLIKE, BY = 0.1, 0.7, 0.5, 0.4, 0.5
OUTSIDE = 0.2


def contradicted_polarity(item: str, said: ArticleStatement, known: Known) -> Iterator[Unfaithful]:
    """The first word of a statement of the case that the article denies where the case affirms it, or the reverse."""
    relatives = item == "Family History" or _of_relatives(said.text)
    for word in said.words:
        if word.concept not in known.places:
            continue
        context = _context(word, said, known)
        alone = _alone(word, said)
        if word.denied and alone and context and site(word.concept):
            evidence = _polarities(item, word, said, context, known, relatives=relatives)
            if evidence.support is None and (evidence.against or 0.0) >= DENIED_ALIKE:  # 'rash of the face, no trunk'
                yield Unfaithful("negation", f"not {word.written}", said.sentence, evidence.sentence, item)
                return
        if not (decides(word.concept) or (word.judged and _judges(word.concept))):
            continue
        evidence = _Evidence(None, None, "")
        words = ""
        if word.judged:
            evidence = _judged(word, context, known, relatives=relatives)
            words = ("" if word.judged[1] else "not ") + word.judged[0]
        listed = _listed(word, said)
        narrowed = bool(word.denied and (_limits(listed) or _NARROWING.search(listed)))  # 'no prior imaging'
        if (
            evidence.against is None
            and _heads(word, said)
            and word.denied is not None
            and decides(word.concept)
            and not narrowed
        ):
            evidence = _polarities(item, word, said, context, known, relatives=relatives)
            words = ("not " if word.denied else "") + word.written.replace("no~", "").replace("_", " ")
        if _contradicted(
            evidence,
            denied=bool(word.denied and not word.judged),
            alone=all(weight < OUTSIDE * 2 for _, weight in context),
        ):
            yield Unfaithful("negation", words, said.sentence, evidence.sentence, item)
            return


def _heads(word: ArticleWord, statement: ArticleStatement) -> bool:
    """Whether words are about this one: it ends their group, or only parts of the body follow ('enlarged tonsils')."""
    place = word.place
    for other in () if word.head else statement.words:
        if other.place == place + 1 and site(other.concept):
            if other.head:
                return True
            place += 1
    return word.head


def _of_relatives(text: str) -> bool:
    return bool(_RELATIVES.search(_INFORMANT.sub(" ", text)))


def _item(word: ArticleWord, statement: ArticleStatement) -> Sequence[ArticleWord]:
    """The words of the item of a list that a word stands in."""
    start = max((joint for joint in statement.joints if joint < word.place), default=-1)
    end = min((joint for joint in statement.joints if joint > word.place), default=10**6)
    return [other for other in statement.words if start < other.place < end]


def _alone(word: ArticleWord, statement: ArticleStatement) -> bool:
    """Whether nothing narrows a word in its item."""
    return all(other.concept in (word.concept, *_JUDGED) for other in _item(word, statement))


def _context(word: ArticleWord, said: ArticleStatement, known: Known) -> Sequence[tuple[str, float]]:
    """(concept, weight) of what the case says with a concept, most in the same item of a list."""
    start = max((joint for joint in said.joints if joint < word.place), default=-1)
    end = min((joint for joint in said.joints if joint > word.place), default=10**6)
    around = [
        (other.concept, known.weight(other.concept) * (1.0 if start < other.place < end else OUTSIDE))
        for other in said.words
        if other.concept not in (word.concept, "positive", "normal")
    ]
    return [*around, *((f"@{side}", 1.0) for side, at in said.sides if start < at < end)]


def _alike(context: Sequence[tuple[str, float]], statement: ArticleStatement, known: Known) -> float:
    total = sum(weight for _, weight in context)
    if not total:
        return 1.0
    near = with_prefixes(statement.concepts) | {f"@{side}" for side, _ in statement.sides}
    far = known.sentences[statement.sentence]
    return sum(w * (1.0 if meets(name, near) else 0.5 if meets(name, far) else 0.0) for name, w in context) / total


def _polarities(
    item: str,
    word: ArticleWord,
    said: ArticleStatement,
    context: Sequence[tuple[str, float]],
    known: Known,
    *,
    relatives: bool,
) -> _Evidence:
    support, against, sentence, plain = None, None, "", False
    limits = _limits(said.sentence) | (_EARLIER if "History" in item else set())
    for at, other in known.places[word.concept]:
        statement = known.statements[at]
        alike = _alike(context, statement, known)
        if word.denied and other.denied is False:  # 'no epidural abscess' wants an 'epidural abscess'
            own = {one.concept for one in _item(word, said)} - {word.concept, *_JUDGED}
            alike = alike if all(meets(name, with_prefixes(frozenset(one.concept for one in _item(other, statement))))
                                 for name in own) else 0.0  # fmt: skip
        opposite = other.denied is not None and other.denied != word.denied
        if opposite and _may_differ(word, other, statement, limits, known, relatives=relatives):
            continue
        if not opposite:
            support = max(support or 0.0, alike)
        else:
            plain = plain or _alone(other, statement)
            if against is None or alike > against:
                against, sentence = alike, statement.sentence
    return _Evidence(support, against, sentence, plain)


def _may_differ(
    word: ArticleWord,
    other: ArticleWord,
    statement: ArticleStatement,
    limits: set[str],
    known: Known,
    *,
    relatives: bool,
) -> bool:
    """Whether an opposite mention may be of somebody else, of another time or place, or of part of a wording."""
    if statement.sentence not in known.case or relatives != _of_relatives(statement.text):
        return True
    if word.denied:
        return bool(ELLIPTIC.search(statement.sentence))
    return not _heads(other, statement) or not _limits(_listed(other, statement)) <= limits


def _listed(word: ArticleWord, statement: ArticleStatement) -> str:
    """The item of a list that a word stands in."""
    return next((part for part in statement.text.split(",") if word.written in part.lower()), statement.text)


_EARLIER = {"previous", "previously", "prior", "earlier"}


def _limits(text: str) -> set[str]:
    return {hit[0].lower() for hit in _LIMITS.finditer(text)}


def _judged(word: ArticleWord, context: Sequence[tuple[str, float]], known: Known, *, relatives: bool) -> _Evidence:
    support, against, sentence, plain = None, None, "", False
    assert word.judged
    kind, good = word.judged
    for at, other in known.places[word.concept]:
        statement = known.statements[at]
        alike = _alike(context, statement, known)
        agrees: bool | None = None
        if other.judged and other.judged[0] == kind:
            agrees = other.judged[1] == good
        elif kind == "positive" and other.denied is not None and other.head:
            agrees = True if other.denied is not good else False if other.denied else None
        if agrees is False and statement.sentence in known.case and relatives == _of_relatives(statement.text):
            plain = plain or _alone(other, statement)
            if against is None or alike > against:
                against, sentence = alike, statement.sentence
        elif agrees:
            support = max(support or 0.0, alike)
    return _Evidence(support, against, sentence, plain)


# --- judgements ------------------------------------------------------------------------------------------------------


def contradicted_judgement(item: str, said: ArticleStatement, known: Known) -> Iterator[Unfaithful]:
    """'Abnormal' or 'positive' of a whole statement where the article's statement on the same says the opposite."""
    names = {word.concept for word in said.words if word.concept not in _JUDGED}
    for kind in _JUDGED:
        sign = _sign(said, kind)
        if sign is None or not names:
            continue
        total = sum(known.weight(name) for name in names)
        support, against, sentence = 0.0, 0.0, ""
        for one in known.statements:
            theirs = _sign(one, kind)
            if theirs is None and (sign or not any(word.concept == kind for word in one.words)):
                continue
            near = with_prefixes(one.concepts)
            alike = sum(known.weight(name) for name in sorted(names) if meets(name, near)) / total
            if theirs is None or theirs == sign:
                support = max(support, alike)
            elif not all(meets(name, near) for name in names if name in known.places):
                continue
            elif alike > against and one.sentence in known.case and not ELLIPTIC.search(one.sentence):
                against, sentence = alike, one.sentence
        if against >= JUDGED_ALIKE and against >= support + JUDGED_BY:
            yield Unfaithful("negation", ("" if sign else "not ") + kind, said.sentence, sentence, item)


_JUDGED = ("normal", "positive")
JUDGED_ALIKE, JUDGED_BY = 0.6, 0.3


def _sign(one: ArticleStatement, kind: str) -> bool | None:
    """Whether all that a statement judges is normal (positive); None if nothing is, or one thing is and another not."""
    signs = {not word.denied for word in one.words if word.concept == kind and word.denied is not None}
    return signs.pop() if len(signs) == 1 else None


# --- whole items -----------------------------------------------------------------------------------------------------


def contradicted_items(item: str, said: ArticleStatement, known: Known) -> Iterator[Unfaithful]:
    """Items of a list whose words the article has together, always with the other polarity."""
    relatives = item == "Family History" or _of_relatives(said.text)
    limits = _limits(said.sentence) | (_EARLIER if "History" in item else set())
    ends = [-1, *said.joints, 10**6]
    for start, end in itertools.pairwise(ends):
        words = [word for word in said.words if start < word.place < end and word.concept not in _JUDGED]
        names = {word.concept for word in words}
        polarity = {word.denied for word in words if not word.judged}
        if len(names) < 2 or len(polarity) != 1 or None in polarity or not names <= known.places.keys():
            continue
        denied = polarity.pop()
        against = ""
        for at in dict.fromkeys(
            at for at, _ in known.places[min(names, key=lambda one: (len(known.places[one]), one))]
        ):
            one = known.statements[at]
            if not names <= one.concepts:
                continue
            theirs = {word.denied for word in one.words if word.concept in names}
            own = one.sentence in known.case and relatives == _of_relatives(one.text)
            sure = _limits(one.text) <= limits and not (denied and ELLIPTIC.search(one.sentence))
            if theirs != {not denied} or not own or not sure:
                against = ""
                break
            against = against or one.sentence
        if against:
            shown = " ".join(word.written.replace("no~", "").replace("_", " ") for word in words)
            yield Unfaithful("negation", ("not " if denied else "") + shown, said.sentence, against, item)
