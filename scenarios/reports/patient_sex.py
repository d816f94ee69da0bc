"""The sex of an article's patient and of the relatives it tells of, and findings that have another."""

import re
from collections.abc import Iterator
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.finding_evidence import FindingEvidence
from wardround.scenarios.reports.statements import longhand, sentence_statements

_FEMALE = frozenset(["woman", "women", "female", "girl", "lady", "she", "her", "hers", "herself"])
_MALE = frozenset(["man", "men", "male", "boy", "gentleman", "he", "his", "him", "himself"])
_NOUNS = frozenset(["woman", "female", "girl", "lady", "man", "male", "boy", "gentleman"])
_AGED = re.compile(
    r"(?i)(?:(?:year|month|week|day|hour)s?[- ]old|\byo|y/o|\baged \d+(?: years)?),?(?:[ -](?!old\b)[\w-]+,?){0,4}?[ -]"
    r"(woman|man|female|male|girl|boy|lady|gentleman)\b"
    r"|\b(female|male)(?= (?:neonate|newborn|infant|baby|toddler|child|adolescent|patient)\b)"
    r"|\b(woman|man|female|male|girl|boy|lady|gentleman)(?: patient)?(?:,? (?:of|aged|in (?:her|his)) (?:\w+ )?\w*\d"
    r"|, ?(?:aged )?\d{1,3}[ -]?(?:y(?:ears?|rs?|o)?|months?|weeks?|days?)\b"
    r"|,? (?:in|of) (?:her|his) (?:early |late |mid[- ])?(?:teens|\w+ties)\b)"
)
_LETTER = re.compile(r"(?<![\w.,-])(\d{1,3})[- ]?(?:y(?:ears?)?[/-]?o?(?:ld)?)?[, /]{0,2}([MF])(?![\w-])")
_OTHERS = re.compile(
    r"(?i)\bet al|\b(?:reported|described|published) (?:a|the|an|two|three) (?:\w+ )?case|\bpatients\b|\bliterature\b"
)
"""Sentences on other people's patients."""
_BIRTH = re.compile(r"(?i)\bborn\b|\bdeliver(?:ed|y)\b|\bbirth|\bc(?:a?e)sare?an\b")
KIN = re.compile(
    r"(?i)\b(?:mothers?|fathers?|brothers?|sisters?|sons?|daughters?|husband|wife|spouse|(?<!sexual )partner"
    r"|parents?|siblings?|uncles?"
    r"|aunts?|cousins?|niece|nephew|grand\w+|child|children|baby|infant|newborn|neonate|relatives?|family|boyfriend"
    r"|girlfriend|donor|fetus|foetus|maternal|paternal|mum|mom|dad|twin|colleague)\b"
)
_INFORMANT = re.compile(
    r"(?i)\b(?:mother|father|parents?|wife|husband|spouse|partner|daughter|son|family|relatives?|sister|brother)\b"
    r"(?: (?:\w+ ){0,2}?| had | have | has )(?:denied|denies|reported|reports|noticed|noted|observed|described|stated"
    r"|said|brought|recalled|told|gave|found|took|saw|seen|thought|remembered|sought)\b"
    r"|\b(?:according to|denied by|reported by|noticed by|noted by) (?:his|her|their|the) \w+"
)


def of_relatives(text: str) -> bool:
    """Whether a text is on relatives of the patient."""
    return bool(KIN.search(_INFORMANT.sub(" ", text)))


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
    words = [w.lower() for one in own if not KIN.search(one) for w in re.findall(r"[A-Za-z]+", one)]
    women, men = sum(word in _FEMALE for word in words), sum(word in _MALE for word in words)
    if max(women, men) < (2 if len(own) < 60 else 3) or min(women, men) * 4 > max(women, men):
        return ""
    return "female" if women > men else "male"


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


_POSSESSED = re.compile(
    r"(?i)(?:his|her) (?:\w+ )?(?:mother|father|sister|brother|daughter|son|aunt|uncle|cousin|grand\w+|wife|husband"
    r"|parents)\b"
)
"""A relative of the patient: 'her daughter'."""


def sex_contradictions(claim: FindingEvidence, sex: str) -> Iterator[Unfaithful]:
    """Words of the other sex than the patient's, or than that of the person of the cited sentences."""
    low = [word.lower() for word in re.findall(r"[A-Za-z]+", claim.finding)]
    sex = sex or article_sex(" ".join(claim.sentences))
    if not sex:
        return
    wrong = _MALE if sex == "female" else _FEMALE
    nouns = [word for word in low if word in wrong & _NOUNS]
    informs = claim.item in ("Patient Information", "Patient Demographics")
    others = bool(KIN.search(claim.finding) or _BIRTH.search(claim.finding))
    first = next((word for word in low if word in ("his", "her")), "")
    if (
        others
        and not informs
        and claim.cited
        and low[:1] == [first]
        and first in wrong
        and _POSSESSED.match(claim.finding)
    ):
        yield Unfaithful("sex", first, claim.finding, f"the patient is {sex}", claim.item)
        return
    if others and not informs:
        theirs = " ".join(claim.sentences).lower()
        pairs = [("boy", "girl"), ("girl", "boy")]
        for mine, other in pairs:
            if mine in low and re.search(rf"\b{other}\b", theirs) and not re.search(rf"\b(?:{mine}|twins?)\b", theirs):
                yield Unfaithful("sex", mine, claim.finding, " ".join(claim.sentences), claim.item)
        return
    letter = re.search(r"\bM\b" if sex == "female" else r"\bF\b", claim.finding) if informs else None
    if any(one != sex for one, _ in _aged(claim.finding)) or nouns or letter or (not others and set(low) & wrong):
        words = ", ".join(word for word in low if word in wrong) or claim.finding
        yield Unfaithful("sex", words, claim.finding, f"the patient is {sex}", claim.item)


_KIN_NAMES = {
    "parent": "mother | father",
    "sibling": "sister sisters | brother brothers",
    "child": "daughter daughters | son sons",
    "aunt": "aunt aunts | uncle uncles",
    "grandparent": "grandmother grandmothers | grandfather grandfathers",
    "niece": "niece nieces | nephew nephews",
    "spouse": "wife | husband",
}
_RELATIVES = {
    name: (kind, sex)
    for kind, both in _KIN_NAMES.items()
    for sex, names in zip(("female", "male"), both.split(" | "), strict=True)
    for name in names.split()
}
_RELATIVE = re.compile(rf"(?i)\b({'|'.join(_RELATIVES)})\b(?:['\u2019]s)?")
_ON_SIDE = re.compile(r"(?i)\bon (?:the|his|her) (?:father|mother)['\u2019]s side|\b(?:mother|father)['\u2019]s (?=\w)")
_PARENTAL = re.compile(r"(?i)\b(maternal|paternal)\b")
_KIN_BREAK = re.compile(r"[;.]\s|,\s|\b(?:and|but|while|whereas|with)\b")


def relative_contradictions(claim: FindingEvidence) -> Iterator[Unfaithful]:
    """Relatives of whom the evidence tells the same under the other sex."""
    theirs = [one for sentence in claim.sentences for one in _kin_statements(sentence)]
    for kin, sex, about in _kin_statements(claim.finding):
        same = [one for one in theirs if one[0] == kin and one[1] == sex]
        other = [one for one in theirs if one[0] == kin and one[1] != sex]
        if not other or not about:
            if other and not same and claim.cited:
                yield Unfaithful("sex", kin, claim.finding, " ".join(claim.sentences), claim.item)
            continue
        own, against = (max((len(about & names) for _, _, names in some), default=0) for some in (same, other))
        if against > own or (not same and claim.cited):
            yield Unfaithful("sex", f"{sex} {kin}", claim.finding, " ".join(claim.sentences), claim.item)


@lru_cache(maxsize=4096)
def _kin_statements(sentence: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """(kind of relative, sex, what is said) of each relative of a sentence; what stands before the first is its too."""
    text = _ON_SIDE.sub(" ", longhand(sentence))
    listed: list[tuple[str, str, set[str]]] = []
    before: set[str] = set()
    start = 0
    ends = [(hit.start(), hit.end()) for hit in _KIN_BREAK.finditer(text)] + [(len(text), len(text))]
    for stop, after in ends:
        piece = text[start:stop]
        if text[start - 2 : start - 1] in (";", "."):
            before = set()
        start = after
        concepts = {word.concept for one in sentence_statements(_RELATIVE.sub(" ", piece)) for word in one.words} | {
            f"#{number}" for number in re.findall(r"\d+", piece)
        }
        hits = [_RELATIVES[hit[1].lower()] for hit in _RELATIVE.finditer(piece)]
        if not hits and (parent := _PARENTAL.search(piece)) and not KIN.search(_PARENTAL.sub(" ", piece)):
            hits = [("parent", "female" if parent[1].lower() == "maternal" else "male")]
        if not hits:
            (listed[-1][2] if listed else before).update(concepts)
            continue
        listed += [(kind, sex, set(concepts)) for kind, sex in hits]
        if before:
            listed[-1][2].update(before)
            before = set()
    return tuple((kind, sex, frozenset(about)) for kind, sex, about in listed)
