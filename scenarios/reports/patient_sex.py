"""Reads the sex of an article's patient and of the relatives in it, and finds findings of a case with another sex."""

import re
from collections.abc import Iterator
from functools import lru_cache

from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.denials import item_concepts
from wardround.scenarios.reports.finding_evidence import FindingEvidence, meets, with_prefixes
from wardround.scenarios.reports.statements import concepts_text, longhand

_FEMALE = frozenset(["woman", "women", "female", "girl", "lady", "she", "her", "hers", "herself"])
_MALE = frozenset(["man", "men", "male", "boy", "gentleman", "he", "his", "him", "himself"])
_NOUNS = frozenset(["woman", "female", "girl", "lady", "man", "male", "boy", "gentleman"])
_AGED = re.compile(
    r"(?i)(?:(?:year|month|week|day|hour)s?[- ]old|\byo|y/o|\baged \d+(?: years)?),?(?:[ -](?!old\b)[\w-]+,?){0,4}?[ -]"
    r"(woman|man|female|male|girl|boy|lady|gentleman)\b"
    r"|\b(female|male)(?= (?:neonate|newborn|infant|baby|toddler|child|adolescent|patient)\b)"
    r"|\b(woman|man|female|male|girl|boy|lady|gentleman)(?: patient)?(?:,? (?:of|aged|in (?:her|his)) (?:\w+ )?"
    r"(?!\d[\d,.]* ?(?:g|kg|lbs?|grams?)\b)\w*\d"
    r"|, ?(?:aged )?\d{1,3}[ -]?(?:y(?:ears?|rs?|o)?|months?|weeks?|days?)\b"
    r"|,? (?:in|of) (?:her|his) (?:early |late |mid[- ])?(?:teens|\w+ties)\b)"
)
_LETTER_FIRST = re.compile(r"^\W*([MF]) ?/ ?(\d{1,3})\b")
_LETTER = re.compile(r"(?<![\w.,-])(\d{1,3})[- ]?(?:y(?:ears?)?[/-]?o?(?:ld)?)?[, /]{0,2}([MF])(?![\w-])")
_OTHERS = re.compile(
    r"(?i)\bet al|\b(?:reported|described|published) (?:a|the|an|two|three) (?:\w+ )?case|\bpatients\b|\bliterature\b"
)
"""Words of sentences on other patients than the article's."""
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


_YOUNG = frozenset(("child", "baby", "infant", "newborn", "neonate", "fetus", "foetus"))
"""Words that may name the patient too, and not only a relative."""


def of_relatives(text: str) -> bool:
    """Whether a text is on relatives of the patient."""
    return any(hit[0].lower() not in _YOUNG for hit in KIN.finditer(_INFORMANT.sub(" ", text)))


@lru_cache(maxsize=256)
def article_sex(text: str, age: str = "") -> str:
    """The sex of an article's patient, 'female' or 'male'; '' if the article tells of both or of neither.

    The majority of the words of sex decides, outside sentences on relatives and on other patients. If the article tells
    of both sexes, the patient of the given `age` counts, which is the age in the case.
    """
    own = [one for one in article_sentences(text) if not _OTHERS.search(one)]
    words = [w.lower() for one in own if not KIN.search(one) for w in re.findall(r"[A-Za-z]+", one) if w != "MEN"]
    women, men = sum(word in _FEMALE for word in words), sum(word in _MALE for word in words)
    if max(women, men) >= _ENOUGH and min(women, men) * 4 <= max(women, men):
        return "female" if women > men else "male"
    aged = [one for sentence in own for one in _aged(sentence)]
    for chosen in (aged, [one for one in aged if age and one[1] == age]):
        if len(sexes := {sex for sex, _ in chosen}) == 1:
            return sexes.pop()
    return ""


_ENOUGH = 2


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
        stated += [("female" if hit[1] == "F" else "male", hit[2]) for hit in _LETTER_FIRST.finditer(text)]
    return stated


_INFORMS = ("Patient Information", "Patient Demographics")
_LONE_LETTER = re.compile(r"(?:^\W*|(?<=[,;] )|\d ?mo )([MF])(?=[,;.]|\s*$)")
_KIN_NAMES = {
    "parent": "mother | father",
    "sibling": "sister sisters | brother brothers",
    "child": "daughter daughters girl | son sons boy",
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
_POSSESSED = re.compile(rf"(?i)(his|her) (?:\w+ )?(?:{'|'.join(_RELATIVES)})\b")
_ON_SIDE = re.compile(r"(?i)\bon (?:the|his|her) (?:father|mother)['\u2019]s side|\b(?:mother|father)['\u2019]s (?=\w)")
_SAID_OF_ANYONE = frozenset(("normal", "health", "well", "alive"))
_PARENTAL = re.compile(
    r"(?i)\b(maternal|paternal)\b(?!\))(?! (?:\w+ )?(?:grand\w+|uncles?|aunts?|cousins?|side|line|age|half|great"
    r"|relatives?|family|kin))"
)
"""'Maternal asthma' is the mother's asthma."""
_ANY_KIN = re.compile(r"\b(?:family|relatives?|there)\b")
"""Words by which something is said of relatives in general, or of nobody."""
_KIN_BREAK = re.compile(r"[;.+&]\s|,\s|\b(?:and|but|while|whereas|with)\b")


def sex_contradictions(claim: FindingEvidence, sex: str) -> Iterator[Unfaithful]:
    """A finding with words of another sex than the patient's; in a finding on relatives or a birth fewer words count.

    Words that the sentences of the finding have themselves are right: 'she gave birth to a healthy boy'.
    """
    if not (sex := sex or article_sex(" ".join(claim.sentences))):
        return
    evidence = " ".join(claim.sentences)
    cited = set(re.findall(r"[a-z]+", evidence.lower()))
    wrong = (_MALE if sex == "female" else _FEMALE) - cited
    words = [word for word in re.findall(r"[A-Za-z]+", claim.finding) if word.lower() in wrong and word != "MEN"]
    informs = claim.item in _INFORMS
    others = bool(KIN.search(claim.finding) or _BIRTH.search(claim.finding))
    letters = [hit[1] for hit in _LONE_LETTER.finditer(claim.finding)] if informs else []
    stated = {one for one, _ in _aged(claim.finding)} | {"female" if one == "F" else "male" for one in letters}
    possessed = _POSSESSED.match(claim.finding)
    if (
        stated - {sex} - {one for one, _ in _aged(evidence)}
        or (words and not others)
        or (informs and any(word.lower() in _NOUNS for word in words))
        or (possessed and possessed[1].lower() in wrong)
    ):
        shown = ", ".join(word.lower() for word in words) or claim.finding
        yield Unfaithful("sex", shown, claim.finding, f"the patient is {sex}", claim.item)


def relative_contradictions(claim: FindingEvidence) -> Iterator[Unfaithful]:
    """Relatives whom the evidence has only with the other sex, or of whom it says the same with the other sex."""
    mine = _relatives(claim.finding)
    theirs = [one for sentence in claim.sentences for one in _relatives(sentence)]
    for kin, sex, about in mine:
        own = frozenset[str]().union(*(words for kind, of, words in theirs if (kind, of) == (kin, sex)))
        other = frozenset[str]().union(*(words for kind, of, words in theirs if kind == kin and of != sex))
        known = {of for kind, of, _ in theirs if kind == kin}
        both = {of for kind, of, _ in mine if kind == kin}
        wide = with_prefixes(own)
        crossed = about & other - _SAID_OF_ANYONE and not any(meets(one, wide) for one in about)
        if (known and sex not in known and len(both) == 1) or (sex in known and crossed):
            yield Unfaithful("sex", f"{sex} {kin}", claim.finding, " ".join(claim.sentences), claim.item)


@lru_cache(maxsize=4096)
def _relatives(sentence: str) -> tuple[tuple[str, str, frozenset[str]], ...]:
    """(kind of relative, sex, concepts of what is said about them) for each relative in a sentence."""
    named_kin: list[tuple[str, str, frozenset[str]]] = []
    for part in _KIN_BREAK.split(_ON_SIDE.sub(" ", longhand(sentence))):
        alone = not _RELATIVE.search(part)
        piece = _PARENTAL.sub(lambda hit: "mother" if hit[1][0] in "mM" else "father", part) if alone else part
        named = [_RELATIVES[hit[1].lower()] for hit in _RELATIVE.finditer(piece)]
        if not named and _ANY_KIN.search(piece):
            break
        lows = re.findall(r"[a-z_~]+|\d+", concepts_text(_RELATIVE.sub(" ", piece)).lower())
        about = item_concepts(lows) | {low for low in lows if low[0].isdigit()}
        if not named and named_kin:
            named_kin[-1] = (*named_kin[-1][:2], named_kin[-1][2] | about)
        named_kin += [(kind, sex, about) for kind, sex in named]
    return tuple(named_kin)
