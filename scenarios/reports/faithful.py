"""Compares a curated case with its article, finding by finding: sex, side, negation, numbers."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences, comparable
from wardround.scenarios.reports.article_numbers import misplaced_numbers
from wardround.scenarios.reports.case_summary import Unfaithful, item_sentences
from wardround.scenarios.reports.statements import (
    ArticleStatement,
    ArticleWord,
    PatientText,
    sentence_statements,
    word_concept,
)
from wardround.scenarios.terms.wording import vocabulary

_FEMALE = frozenset(["woman", "women", "female", "girl", "lady", "she", "her", "hers", "herself"])
_MALE = frozenset(["man", "men", "male", "boy", "gentleman", "he", "his", "him", "himself"])
_NOUNS = frozenset(["woman", "female", "girl", "lady", "man", "male", "boy", "gentleman"])
_KIN = re.compile(
    r"(?i)\b(?:mothers?|fathers?|brothers?|sisters?|sons?|daughters?|husband|wife|spouse|partner|parents?|siblings?|uncles?"
    r"|aunts?|cousins?|niece|nephew|grand\w+|child|children|baby|infant|newborn|neonate|relatives?|family|boyfriend"
    r"|girlfriend|donor|fetus|foetus|maternal|paternal)\b"
)
_AGED = re.compile(
    r"(?i)(?:(?:year|month|week|day|hour)s?[- ]old|\byo|y/o|\baged \d+(?: years)?),?(?:[ -](?!old\b)[\w-]+,?){0,4}?[ -]"
    r"(woman|man|female|male|girl|boy|lady|gentleman)\b"
    r"|\b(female|male)(?= (?:neonate|newborn|infant|baby|toddler|child|adolescent|patient)\b)"
    r"|\b(woman|man|female|male|girl|boy|lady|gentleman)(?: patient)?,? (?:of|aged|in (?:her|his)) (?:\w+ )?\w*\d"
)
_LETTER = re.compile(r"(?<![\w.,-])(\d{1,3})[- ]?(?:y(?:ears?)?[/-]?o?(?:ld)?)?[, /]{0,2}([MF])(?![\w-])")
_GENERIC_TEXT = """history disease condition disorder complain finding result change problem episod treatment therap
medicat patient body area region site part type form case normal use
habit intake care detail record mention outline attention origin cause concern event time course specif"""
_GENERIC = frozenset(word_concept(word) for word in _GENERIC_TEXT.split()) - {"normal"}
"""Concepts too general to decide by their polarity alone."""


def unfaithful(summary: str, text: str, patient: PatientText | None = None) -> tuple[Unfaithful, ...]:
    """What `summary` says otherwise than the article `text`: sex, side, negation, numbers.

    `patient` are the sentences of the article on its patient (`statements.patient_text`); all of it if left out.
    """
    patient = patient or PatientText(article_sentences(text))
    known = _known(patient)
    faults: list[Unfaithful] = []
    faults += _sex(summary, "\n".join(patient.case))
    whole = f" {comparable(text)} "
    for item, sentence in item_sentences(summary):
        if len(sentence.split()) > 3 and f" {comparable(sentence)} " in whole:
            continue  # the article's own sentence
        for said in sentence_statements(sentence):
            faults += _sides(item, said, known)
            faults += _negations(item, said, known)
        faults += misplaced_numbers(item, sentence, text, known.case)
    return tuple(dict.fromkeys(faults))


@dataclass(frozen=True)
class _Known:
    """The statements of an article: where each concept stands, and how much each weighs."""

    statements: tuple[ArticleStatement, ...]
    places: Mapping[str, tuple[tuple[int, ArticleWord], ...]]
    weights: Mapping[str, float]
    sentences: Mapping[str, frozenset[str]]
    case: frozenset[str]

    def both_sided(self, sentence: str, side: str) -> bool:
        """Whether a sentence also has the side."""
        return any(side == one for other in self.statements if other.sentence == sentence for one, _ in other.sides)

    def weight(self, concept_: str) -> float:
        """The weight of a concept: the rarer in the article, the more."""
        return self.weights.get(concept_, 1.0)


@lru_cache(maxsize=32)
def _known(patient: PatientText) -> _Known:
    sentences_of_both = dict.fromkeys((*patient.case, *patient.discussed))
    read = tuple(one for sentence in sentences_of_both for one in sentence_statements(sentence))
    places: dict[str, list[tuple[int, ArticleWord]]] = {}
    sentences: dict[str, frozenset[str]] = {}
    for at, one in enumerate(read):
        sentences[one.sentence] = sentences.get(one.sentence, frozenset()) | one.concepts
        for word in one.words:
            places.setdefault(word.concept, []).append((at, word))
    weights = {name: 1 / (1 + math.log(len(hits))) for name, hits in places.items()}
    return _Known(
        read, {name: tuple(hits) for name, hits in places.items()}, weights, sentences, frozenset(patient.case)
    )


# --- sex -------------------------------------------------------------------------------------------------------------


def article_sex(text: str, age: str = "") -> str:
    """'female' or 'male' of the article's patient, '' if it tells of both or of neither.

    `age` is the patient's age in a case; where an article tells of both sexes, it picks the patient of that age.
    """
    own = [sentence for sentence in article_sentences(text) if not _OTHERS.search(sentence)]
    aged = [one for sentence in own for one in _aged(sentence)]
    for chosen in (
        aged,
        [one for one in aged if age and one[1] == age],
        aged[:1] if age and aged and aged[0][1] == age else [],
    ):
        if len(sexes := {sex for sex, _ in chosen}) == 1:
            return sexes.pop()
    women, men = 0, 0
    for sentence in own:
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", sentence)]
        if not _KIN.search(sentence):
            women += sum(word in _FEMALE for word in words)
            men += sum(word in _MALE for word in words)
    if max(women, men) < (2 if len(own) < 60 else 3) or min(women, men) * 4 > max(women, men):
        return ""
    return "female" if women > men else "male"


_OTHERS = re.compile(
    r"(?i)\bet al|\b(?:reported|described|published) (?:a|the|an|two|three) (?:\w+ )?case|\bpatients\b|\bliterature\b"
)
"""Sentences on other people's patients."""


def _aged(text: str) -> list[tuple[str, str]]:
    """(sex, age in figures) of each phrase such as '41-year-old man'."""
    stated = []
    for match in _AGED.finditer(text):
        age = re.search(r"\d+", text[max(0, match.start() - 5) : match.end()])
        stated.append(
            ("female" if (match[1] or match[2] or match[3]).lower() in _FEMALE else "male", age[0] if age else "")
        )
    if "emperature" not in text:
        stated += [("female" if match[2] == "F" else "male", match[1]) for match in _LETTER.finditer(text)]
    return stated


def _sex(summary: str, text: str) -> Iterator[Unfaithful]:
    age = re.search(r"\d+", summary)
    sex = article_sex(text, age[0] if age else "")
    if not sex:
        return
    wrong = _MALE if sex == "female" else _FEMALE
    whole = f" {comparable(text)} "
    for item, sentence in item_sentences(summary):
        if f" {comparable(sentence)} " in whole:
            continue  # the article's own sentence, perhaps on somebody else
        informs = item in ("Patient Information", "Patient Demographics")
        low = [word.lower() for word in re.findall(r"[A-Za-z]+", sentence)]
        nouns = [word for word in low if word in wrong & _NOUNS]
        others = bool(_KIN.search(sentence))
        if (
            any(one != sex for one, _ in _aged(sentence))
            or (informs and (nouns or re.search(r"\bM\b" if sex == "female" else r"\bF\b", sentence)))
            or (not others and (nouns or any(word in wrong for word in low)))
        ):
            words = ", ".join(word for word in low if word in wrong) or sentence
            yield Unfaithful("sex", words, sentence, f"the patient is {sex}", item)


# --- side ------------------------------------------------------------------------------------------------------------

_REACH = 10


def _sides(item: str, said: ArticleStatement, known: _Known) -> Iterator[Unfaithful]:
    for side, place in said.sides:
        near = _around(said, place)
        if not near:
            continue
        best: dict[str, tuple[float, str]] = {}
        for other, score, sentence in _sided(near, known):
            if score > best.get(other, (0.0, ""))[0]:
                best[other] = (score, sentence)
        own = best.get(side, (0.0, ""))[0]
        if side == "both":
            own = max(own, min(best.get("left", (0.0,))[0], best.get("right", (0.0,))[0]))
        against = max(((score, text) for other, (score, text) in best.items() if other != side), default=(0.0, ""))
        if known.both_sided(against[1], side) and own >= 0.05:
            least, more = (0.7, 0.25) if against[0] >= 0.7 else (0.45, 0.35)
        else:
            least, more = (0.15, 0.1) if own < 0.05 else (0.25, 0.085)
        if against[0] >= least and against[0] > own + more:
            yield Unfaithful("side", side, said.sentence, against[1], item)


_OUTSIDE = 0.15
"""The weight of a word that belongs to another word of side."""


def _around(said: ArticleStatement, place: int) -> list[tuple[str, float]]:
    """(concept, weight) of the words and numbers near a word of side; those of another word of side count little."""
    start, end = -1, 10**6
    for _, other in said.sides:
        between = [joint for joint in said.joints if min(place, other) < joint < max(place, other)]
        if other < place:
            start = max(start, between[-1] if between else (other + place) // 2)
        elif other > place:
            end = min(end, between[0] if between else (other + place) // 2)
    near = []
    for name, at in (
        *((word.concept, word.place) for word in said.words),
        *((f"#{one}", at) for one, at in said.numbers),
    ):
        if abs(at - place) <= _REACH:
            joints = sum(min(place, at) < joint < max(place, at) for joint in said.joints)
            weight = (1.0 if start < at < end else _OUTSIDE) / (1 + abs(at - place) / 6) / 1.5**joints
            near.append((name, weight * 0.75 if name.startswith("#") else weight))
    return near


def _sided(near: Sequence[tuple[str, float]], known: _Known) -> Iterator[tuple[str, float, str]]:
    total = sum(weight * known.weight(name) for name, weight in near)
    for one in known.statements:
        for other, place in one.sides:
            theirs: dict[str, float] = {}
            for name, weight in _around(one, place):
                theirs[name] = max(weight, theirs.get(name, 0.0))
            score = sum(
                weight * known.weight(name) * min(1.0, theirs[name] * 1.6) for name, weight in near if name in theirs
            )
            far = known.sentences[one.sentence] - theirs.keys()
            score += sum(0.2 * weight * known.weight(name) for name, weight in near if name in far)
            yield other, score / total, one.sentence


# --- negation --------------------------------------------------------------------------------------------------------


_RELATIVES = re.compile(_KIN.pattern + r"|(?i:\bfamil(?:y|ial)\b|\bhereditary\b)")


def _negations(item: str, said: ArticleStatement, known: _Known) -> Iterator[Unfaithful]:
    relatives = item == "Family History" or bool(_RELATIVES.search(said.text))
    deciding = [word for word in said.words if _decides(word.concept) and word.concept in known.places]
    for word in deciding or [word for word in said.words if word.concept in known.places]:
        if word.denied is None:
            continue
        against, same, sentence = _polarities(word, said, known, relatives=relatives)
        least = 0.45 if word.concept == "positive" else 0.3 if word.concept in _JUDGED else 0.12
        if (same < 0 and against >= least) or (against >= (0.5 if same > 0.1 else 0.3) and against > same + 0.25):
            yield Unfaithful("negation", _written(word), said.sentence, sentence, item)
            return


def _item_of(word: ArticleWord, said: ArticleStatement) -> frozenset[str]:
    """The concepts of the item of a list that a word stands in, without its own."""
    start = max((joint for joint in said.joints if joint < word.place), default=-1)
    end = min((joint for joint in said.joints if joint > word.place), default=10**6)
    return frozenset(one.concept for one in said.words if start < one.place < end and one.concept != word.concept)


_JUDGED = frozenset(("normal", "positive"))
"""Concepts that say of the words beside them how they are."""
_ORDERED = re.compile(
    r"(?i)\b(?:tests?|pcr|serolog\w*|antibod\w+|cultures?|screen\w*|panel|assays?)\b.*\b(?:obtained|ordered|sent|performed|done)\b"
    r"(?!.*\b(?:positive|normal)\b)"
)
"""A test that is named before its result."""


def _written(word: ArticleWord) -> str:
    return ("not " if word.denied else "") + word.written.replace("no~", "").replace("_", " ")


def _polarities(
    word: ArticleWord, said: ArticleStatement, known: _Known, *, relatives: bool
) -> tuple[float, float, str]:
    """How well the article's places of a concept fit that deny what the case affirms, and those that agree.

    -1 where there is none; the third is the sentence that contradicts.
    """
    context = []
    judged = word.concept in _JUDGED
    for other in said.words:
        if other.concept != word.concept and not (judged and other.denied):
            commas = sum(min(word.place, other.place) < joint < max(word.place, other.place) for joint in said.joints)
            nearness = 1 / (1 + abs(other.place - word.place) / (3 if judged else 6)) / 3 ** min(commas, 2)
            context.append((other.concept, known.weight(other.concept) * nearness))
    total = sum(weight for _, weight in context)
    words = said.concepts
    against, same, sentence = -1.0, -1.0, ""
    for at, other in known.places[word.concept]:
        statement = known.statements[at]
        if relatives != bool(_RELATIVES.search(statement.text if not relatives else statement.sentence)):
            continue
        if other.denied is False and not judged and _ORDERED.search(statement.text):
            continue
        score = _shared(context, statement, known) / total if total else 1.0
        if not judged:
            theirs = _item_of(other, statement)
            score = max(score, 0.6 * len(theirs & words) / len(theirs) if theirs else 0.6)
        if other.denied is None or other.denied == word.denied:
            same = max(same, score)
        elif score > against and statement.sentence in known.case:
            against, sentence = score, statement.sentence
    return against, same, sentence


def _decides(name: str) -> bool:
    """Whether the polarity of a concept tells: not that of a site, a general word or a short one."""
    return len(name) > 2 and name not in _GENERIC and name not in vocabulary().sites and name not in vocabulary().within


def _shared(context: Sequence[tuple[str, float]], statement: ArticleStatement, known: _Known) -> float:
    sentence = known.sentences[statement.sentence]
    return sum(
        weight * (1.0 if name in statement.concepts else 0.5 if name in sentence else 0.0) for name, weight in context
    )


def undecided(summary: str, patient: PatientText) -> tuple[str, ...]:
    """Sentences with a denial or a side of something that the article does not mention; a person has to read them."""
    known = _known(patient)
    open_sentences = []
    for _, sentence in item_sentences(summary):
        for said in sentence_statements(sentence):
            denied = [word for word in said.words if word.denied and _decides(word.concept)]
            sided = [
                max((score for _, score, _ in _sided(near, known)), default=0.0)
                for _, place in said.sides
                if (near := _around(said, place))
            ]
            if any(word.concept not in known.places for word in denied) or any(score < 0.15 for score in sided):
                open_sentences.append(sentence)
    return tuple(dict.fromkeys(open_sentences))
