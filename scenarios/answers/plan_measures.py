"""The measures of a treatment plan: their names and classes (`measures.csv`), and the measures that a text lists."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.diseases.disease_name import is_site
from wardround.scenarios.terms.wording import RootWords, cells, roots, table_rows


class MeasureNames(msgspec.Struct, frozen=True):
    """The table of measures.

    `named` maps the roots of a name to its measure, `classes` the root of a drug to the classes that it belongs to.
    `longest` is the number of roots in the longest name.
    """

    named: Mapping[tuple[str, ...], str]
    classes: Mapping[str, frozenset[str]]
    longest: int


@lru_cache(maxsize=1)
def measure_names() -> MeasureNames:
    """Read the table `measures.csv`. If several measures have one name, it means the first of them."""
    named: dict[tuple[str, ...], str] = {}
    classes: dict[str, frozenset[str]] = {}
    for row in table_rows("measures.csv"):
        for name in (row["name"], *cells(row["names"])):
            named.setdefault(roots(name), row["name"])
        for member in cells(row["members"]):
            for word in roots(member):
                classes[word] = classes.get(word, frozenset()) | {row["name"]}
    return MeasureNames(named, classes, max(map(len, named)))


def measure_words(text: str) -> tuple[str, ...]:
    """The roots of a text with names of measures in one wording: 'excision' and 'removal' both become 'resection'."""
    table, words = measure_names(), roots(text)
    written: list[str] = []
    place = 0
    while place < len(words):
        size = _longest(words[place : place + table.longest], table.named)
        written.append(table.named[words[place : place + size]] if size else words[place])
        place += max(size, 1)
    return tuple(written)


def _longest(words: Sequence[str], named: Mapping[tuple[str, ...], str]) -> int:
    return next((size for size in range(len(words), 0, -1) if tuple(words[:size]) in named), 0)


_LITTLE = RootWords(
    """a an the of in on at to by for and or as its this that is was were be been from with without into after
    before during then than followed following patient patients treatment treated treat therapy management plan
    started start initiated initiate administered administer administration given give received receive underwent
    performed perform daily weekly twice once day days week weeks month months year years hour hours dose doses
    mg g ml mcg kg iv im po oral orally intravenous intravenously bid tid qid regimen course continued continue
    recommended recommendation include includes including consider option options appropriate initial initially
    further additional long short term up left right per due first second third line also both each more less any
    all such which will would should could may can ensure ensuring complete careful close immediate immediately
    proceed provide use using needed necessary control optimal based selected strategy approach care proper
    adequate aggressive early prompt urgent emergency standard cycle cycles interval high low small large
    increase increasing reduce reducing mg/day maintain maintenance stop stopped discontinue discontinued
    discontinuation avoid withdraw withdrawal cessation hold held withhold case cases risk symptoms symptomatic
    infusion injection injections empiric empirically prescribed prescribe adjunctive adjuvant postoperative
    preoperative perioperative intraoperative guided structured directed combined combination accompanying
    lifelong subcutaneous intramuscular continuous repeated gradual tapering taper addition commence
    employ utilize apply systemic topical broad spectrum narrow coverage agent agents drug drugs medication
    disease condition underlying supportive measure measures primary secondary medical definitive selective
    targeted intervention procedure no not"""
)
"""Words, by their roots, that do not tell which measure a text names."""


def distinctive(text: str) -> frozenset[str]:
    """The words of `measure_words` that tell one measure from another: no little words, no numbers."""
    words = measure_words(text)
    return frozenset(word for word in words if word not in _LITTLE and len(word) > 2 and not word[0].isdigit())


def with_classes(words: Iterable[str]) -> frozenset[str]:
    """The words and the classes of the drugs among them: 'ceftriaxone' adds 'antibiotics', but not the reverse."""
    said = frozenset(words)
    return said.union(*(measure_names().classes.get(word, frozenset()) for word in said))


_GENERAL = RootWords(
    """transplantation transplant transfusion replacement resection biopsy repair drainage supplementation
    restriction fluids infusion blockade inhibitor agonist antagonist hormone hormonal cell graft surgery surgical
    operation procedure total partial complete local focal acute chronic oral tumor mass lesion level function
    failure reconstruction reduction fixation dose acid"""
)
"""Words, by their roots, that measures of many kinds share; two measures with only these in common are different."""
_CONTRARY: Mapping[str, RootWords] = {
    word: RootWords(others)
    for word, others in (
        ("left", "left left-sided"),
        ("right", "right right-sided"),
        ("more", "increase increasing increased raise escalate uptitrate"),
        ("less", "reduce reducing reduced reduction decrease decreasing decreased lower lowering taper wean"),
        ("watched", "monitor monitoring check recheck"),
        ("restricted", "restrict restricting restriction limit limiting"),
    )
}
"""What a measure does, by the roots of the words that say so."""
_EXCLUSIVE = (("left", "right"), ("more", "less"))
_WORDS_A_MEASURE = 3
"""So many distinctive words that the tables do not know count as one measure more."""


def contrary(truth: str, said: str) -> bool:
    """Whether two measures with like words differ in side or direction, or only one is watched or restricted."""
    meant, stated = ({kind for kind, words in _CONTRARY.items() if words & set(roots(text))} for text in (truth, said))
    if any(
        {one, other} & meant and {one, other} & stated and not {one, other} & meant & stated
        for one, other in _EXCLUSIVE
    ):
        return True
    return bool({"watched", "restricted"} & (meant ^ stated))


def shares_general_words_only(truth: frozenset[str], said: frozenset[str]) -> bool:
    """Whether two measures share only general words or parts of the body, while each has other words too."""
    return bool(truth - said and said - truth) and all(word in _GENERAL or is_site(word) for word in truth & said)


def measures_in(phrases: Sequence[frozenset[str]]) -> int:
    """How many measures the phrases name; each phrase is the set of its distinctive words.

    It is the number of phrases, or the number of known measures and classes of drugs among their words plus one for
    every three other words, whichever is larger. So phrases that run measures together count for more than one.
    """
    table = measure_names()
    words = frozenset().union(*phrases)
    kinds = {min(table.classes[word]) if word in table.classes else word for word in words}
    known = kinds & set(table.named.values())
    return max(len(phrases), len(known) + len(kinds - known) // _WORDS_A_MEASURE)


JOINER = regex(
    r"(?i)(?<!\d),|,(?!\d)|\s[-–—+&|•·]\s|\s?[→⇒➔>]+\s?|:\s|\b(?:and|plus|followed by|then|along with|together with"
    r"|combined with|in combination with|as well as|with|after|before|including|followed|also"
    r"|via|using|through|by|to|for|under|until|during)\b"
)
BRACKET = regex(r"[(\[]([^()\[\]]*)[)\]]")
_PURPOSE = frozenset({"for", "to", "until", "under", "during"})
DOING = regex(
    r"(?i)\s*(?:then\s+)?(?:\w+(?:ly)\s+)?(?:start|give|begin|initiat|administ|perform|proceed|continu|add|use"
    r"|transition|switch|install|adjust"
    r"|coordinat|stop|discontinu|avoid|prescri|consider|surg|antibiotic|[a-z]+(?:ectomy|otomy|plasty|ostomy|mab"
    r"|nib|cillin|mycin|olol|pril|statin)\b)"
)
_SUPPORT = RootWords(
    """monitor monitoring follow follow-up followup observation counseling education surveillance reassess
    reassessment review evaluate evaluation assess assessment consult consultation referral imaging check checks
    rehabilitation adjust titrate refer coordinate discharge lifestyle support"""
)


class PlanMeasure(msgspec.Struct, frozen=True):
    """One measure as written, with its distinctive `words` in comparable form; `also` has those in its brackets too."""

    text: str
    words: frozenset[str]
    also: frozenset[str] = frozenset()


def measures_listed(text: str) -> list[PlanMeasure]:
    """The measures listed in a text. Words after 'for' or 'to' are purposes, which count only if no other is named."""
    measures: list[PlanMeasure] = []
    purposes: list[PlanMeasure] = []
    aim, start = False, 0
    glosses: list[str] = []

    def gloss(match: re.Match[str]) -> str:
        glosses.append(match[1])
        return f" \x02{len(glosses) - 1}\x03 "

    text = BRACKET.sub(gloss, text)
    for joiner in [*JOINER.finditer(text), None]:
        part = text[start : joiner.start() if joiner else len(text)]
        said = re.sub("\x02(\\d+)\x03", lambda match: glosses[int(match[1])], part)
        bare = re.sub("\x02\\d+\x03", " ", part)
        words, also = distinctive(bare), distinctive(said)
        if also and not also <= _SUPPORT:
            (purposes if aim else measures).append(PlanMeasure(" ".join(bare.split()), words or also, also))
        if joiner is None:
            break
        word = joiner[0].strip().lower()
        aim = word in _PURPOSE or (aim and word in ("and", ",", "&") and DOING.match(text[joiner.end() :]) is None)
        start = joiner.end()
    return measures or purposes


_ASKED = regex(r"(?:^|(?<=[.;\n!?]))[^.;\n!?]*\?")
_DEALING = regex(
    r"(?i)(?:^|(?<=[.;\n]))[^,;.\n]*\b(?:(?:fear|simulation|chapters?|books?|phobia)\s+(?:of|on|in|about)"
    r"|patient['’]s (?:mother|father|brother|sister|wife|husband)|colleagues?|textbooks?|malingered|feigned"
    r"|looked like)\b[^;.\n]*"
    r"|\b(?:specialists?|experts?|side[- ]effects?|risks?|(?:differential )?diagnosis)\s+(?:of|on|in|about|to)\b[^,;]*"
    r"|\b(?:dr|prof)\.\s[^,;]*|\bformerly\b[^,;]*|\bwhether\b[^;.\n]*"
    r"|(?:^|(?<=[,;.\n]))[^,;.\n]*\b(?:last (?:week|month|year)|(?:weeks?|months?|years?) ago|in the past)\b"
    r"|\b\w+[- ](?:free|sparing|na[iï]ve)\b"
    r"|(?:^|(?<=[,;.\n%]))[^,;.\n]*\b0(?:[.,]0+)?\s?%"
)
"""A phrase that only mentions a treatment, or somebody else's treatment, and gives none."""
_FOR_THE_JUDGE = regex(
    r"(?im)(?:^|(?<=[.;!]))\W{0,20}(?:the )?(?:reference|gold standard|ground truth"
    r"|(?:for|to) the (?:grader|judge|examiner|marker))[^:\n]{0,40}:[^\n;.]*"
)
_THOUGHT = regex(
    r"(?i)[(\[][^()\[\]]*\b(?:was|were)\s+(?:(?:my|the|our|a|an)\s+)?(?:first thought|alternative|considered|discussed"
    r"|excluded|thought of)\W*[)\]]"
)
_WERE = regex(r"(?i)\bif (?:it|this|that|he|she|they) were\b[^;\n]*")
ASIDES = (_ASKED, _THOUGHT, _WERE, _FOR_THE_JUDGE, _DEALING)
"""Patterns of what a plan says without giving a treatment."""
