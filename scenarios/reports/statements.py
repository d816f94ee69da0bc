"""Reads the words of a clinical text as concepts, and finds the sentences of an article on its patient.

A concept is the root of a word, or the word of a table that stands for a wording: 'short of breath' is 'dyspnea'.
"""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.scenarios.reports.article import Article, article_sentences
from wardround.scenarios.terms.wording import cells, root, stem, table_rows, vocabulary

_TOKEN = re.compile(r"no~[a-z_]+|[A-Za-z_][A-Za-z0-9_~]*(?:'[a-z]+)?|\d+(?:[.,\u00b7]\d+)*|[,:]")
CLAUSE_END = re.compile(
    r"[;\n]|\b(?:but|however|although|though|whereas|while|yet|instead|nevertheless)\b|\s[\u2013\u2014-]\s|\u2014"
    r"|\.\s+(?=[A-Z])"
)
"""Where a clause certainly ends."""
_LITTLE_TEXT = """a an the of and or in on at to for from by with as is was were are be been being has had have having
that this these those which who whose whom his her hers he she it its him them their they patient patients there
also any all than then into over during since within up after before did does do not no nor could would will about
approximately around showed shows showing show revealed reveals revealing found finding findings noted notes seen
observed reported reports reporting presented presenting presents presentation demonstrated demonstrates
demonstrating indicated indicating identified detected confirmed confirming described specified documented provided
mentioned known performed evidence sign signs test tests tested testing examination exam examined evaluation history
significant significantly relevant notable initial initially subsequently further additional well other others
case report year years old month months week weeks day days hour hours time times level levels value values
result results felt underwent came visited complained complaining complaint complaints experienced experiencing
experience developed developing develops denied denies deny without normal limits range one two three four five six
seven eight nine ten due because per via when where recent recently ago prior previous previously past medical
personal family social physical information chief currently current associated accompanied related including
included includes such like both several multiple some few more most very quite left right bilateral admitted
admission hospital clinic presence present absent negative positive none clinically consistent compatible detectable
palpable visible audible reviewed remained remains otherwise noticed feeling having made taken visit department
emergency onset symptom symptoms reason came following followed upon later despite against among per se old
lasting lasted began started starting beginning duration period ever never mm cm mg dl ml kg g l u iu min mmhg mmol bpm
kpa hz"""
LITTLE = frozenset(_LITTLE_TEXT.split())
"""Words that name no concept."""


_WRITTEN = re.compile(r"[A-Za-z0-9+]+(?:'[a-z]+)?")


@cache
def _wordings() -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """First word -> (the words of a wording, the word that replaces it), the longest wording first."""
    means = {row["said"]: row["means"] for row in table_rows("denied_words.csv")}
    for row in table_rows("clinical_words.csv"):
        word = row["word"].replace(" ", "_")
        for said in (row["word"], *cells(row["variants"])):
            means.setdefault(said, word)
    listed: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for said, meant in means.items():
        words = tuple(said.replace("-", " ").split())
        listed.setdefault(words[0], []).append((words, meant))
    return {first: sorted(rows, key=lambda row: (-len(row[0]), row[0])) for first, rows in listed.items()}


@cache
def _shorthand() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """(pattern of the abbreviations of notes, in their exact case; what each means)."""
    means = {said: row["means"] for row in table_rows("shorthand.csv") for said in cells(row["written"])}
    listed = "|".join(re.escape(one) for one in sorted(means, key=lambda one: (-len(one), one)))
    return re.compile(rf"(?<![\w.\u00b5])(?:{listed})(?![\w\u00b2]|/(?:d?[lL]|\d))"), means


_SIGN = re.compile(r"(?<=[A-Za-z)])(?: ?[-\u2212\u2013]|\(-\)| ?\(neg\.?\))(?=\s*(?:[,;.)/]|$)| [A-Z])")
_PLUS = re.compile(r"(?<=[A-Za-z)])(?: ?\+|\(\+\))(?=\s*(?:[,;.)/]|$)| [A-Z])")
_SIGN_BEFORE = re.compile(r"(?:(?<=[,;:.] )|(?<![^\s]))\([-\u2212\u2013]\)\s*(?=[A-Za-z])(?<!\w \(-\) )")
"""A minus sign before what is absent: '(-) cough'."""
_SIDE_LETTER = re.compile(r"(?<![\w./])(?<!\d )([RL])(?=\.? [A-Za-z(]| ?[+@]|\s*[,;:)>]|\s*$|-sided|-handed)(?!/)")


_JUDGED_BEFORE = re.compile(r"~(\s*(?:[,;.)]|$| (?:for|in|on|at|and|or|but)\b))|~")
"""The mark of a short 'neg' or 'pos', which judges the words before it: 'HBV neg, HIV pos', 'IgG pos IgM neg'."""


_BOTH_LETTERS = re.compile(r"(?<![\w.])([RL]) (\d[\d/.]*(?: ?(?:mm|cm|mmHg|ml|mL|g|%))?[,;]? )(?!\1)([RL])(?= \d)")


_LETTERS = {"R": "right", "L": "left"}


@lru_cache(maxsize=8192)
def longhand(text: str) -> str:
    """`text` with the abbreviations of notes written out: 'R knee, ANA -' becomes 'right knee, ANA absent'."""
    pattern, means = _shorthand()
    text = _SIGN_BEFORE.sub("no ", text)
    text = _PLUS.sub(" present", _SIGN.sub(" absent", text))
    text = _BOTH_LETTERS.sub(lambda hit: f"{_LETTERS[hit[1]]} {hit[2]}{_LETTERS[hit[3]]}", text)
    text = _SIDE_LETTER.sub(lambda hit: _LETTERS[hit[1]], text)
    return _JUDGED_BEFORE.sub(lambda hit: hit[1] or ",", pattern.sub(lambda hit: means[hit[0]], text))


@lru_cache(maxsize=4096)
def concepts_text(text: str) -> str:
    """`text` with each clinical wording replaced by one word; `no~` marks one that denies.

    ::

        >>> concepts_text("Afebrile, short of breath")
        'no~fever, dyspnea'
    """
    text = text.replace("\u2019", "'").replace("*", " ").replace("\u2011", "-").replace("\u2010", "-")
    text = longhand(text)
    words = [(match.start(), match.end(), match[0].lower()) for match in _WRITTEN.finditer(text)]
    wordings = _wordings()
    parts, at, place = [], 0, 0
    while place < len(words):
        start, _end, low = words[place]
        for said, meant in wordings.get(low, ()):
            last = place + len(said) - 1
            if (
                last < len(words)
                and tuple(word[2] for word in words[place : last + 1]) == said
                and _joined(text, words[place : last + 1])
            ):
                parts += [text[at:start], meant]
                at, place = words[last][1], last
                break
        place += 1
    return "".join((*parts, text[at:]))


def _joined(text: str, words: Sequence[tuple[int, int, str]]) -> bool:
    """Whether only spaces or hyphens stand between the words."""
    return all(re.fullmatch(r"[\s-]+", text[one[1] : two[0]]) for one, two in itertools.pairwise(words))


_REWRITTEN = (
    (r"(?<=[A-Za-z]\d)-(?=[,;.)]|$)|(?<=[A-Za-z]\d\d)-(?=[,;.)]|$)", " negative"),  # 'CD30-'
    (r"(?<=[A-Za-z]\d)\+(?=[,;.)]|$)|(?<=[A-Za-z]\d\d)\+(?=[,;.)]|$)", " positive"),
    (r"(?<![\w])[-\u2212\u2013]ve\b", " negative"),
    (r"\+ve\b", " positive"),
    (r"\bg[ai]ves? an? (positive|negative)(?: (?:result|test|reaction))?", r" was \1"),
    (
        r"\b(is|are|was|were|remained|also)((?: also| \w+ly)*) (?:impaired|diminished|abolished|depressed|lost)\b",
        r"\1 no~normal",
    ),
    (r"\bimpaired (?=[a-z])", " no~normal "),
    (r"\bnone (?=(?:to|against|for|in|on|at) )", " without "),
    (r"(?<=[A-Za-z]) 0(?=[,;]|\.?$|\.\s)", " absent"),
    (r"\bnormal for\b", " query~it "),
    (r"\bnone of\b:?|\bmissing\b", " without "),
    (r"\bno~positive for\b|\bnegative for\b", " negative~for "),
    (r"\bno~positive\b", " negative "),
    (r"\b(?:failed|fails) to\b", " not "),
    (r"\b(?:free|clear|absence|exclusion|devoid) (?:of|from)\b|\babst\w+ from\b", " without "),
    (r"\b([a-z]{3,})-(?:free|na[i\u00ef]ve)\b", r" no~\1"),
    (r"\bnon[- ]?(?=[a-z]{4,})|\bun(?=[a-z]{4,}ed\b)", " no~"),
    (r"\b(?:(?:is|was|were|are|tested|remained|came back|turned) )?positive for\b", " with positive "),
    (r"(\w+)-(negative|positive)\b", r" \1 \2 , "),
    (r"\b(\w+)n't\b", r"\1 not"),
)
_REWRITES = tuple((re.compile(f"(?i){pattern}"), new) for pattern, new in _REWRITTEN)


def plain_denials(text: str) -> str:
    """A text of concepts with the wordings of denials and results as plain cues: 'free of' becomes 'without'.

    ::

        >>> plain_denials("free of pain, HIV -ve")
        ' without  pain, HIV  negative'
    """
    for pattern, new in _REWRITES:
        text = pattern.sub(new, text)
    return text


@lru_cache(maxsize=65536)
def word_concept(word: str) -> str:
    """The concept of a single word in lower case: its root, or the word of the table that it was replaced by."""
    return word if "_" in word else root(stem(word))


@lru_cache(maxsize=4096)
def text_concepts(text: str) -> tuple[str, ...]:
    """The concepts of the content words of a text, whether denied or not."""
    lows = (match[0].lower().removeprefix("no~") for match in _TOKEN.finditer(concepts_text(text)))
    return tuple(word_concept(low) for low in lows if low[0].isalpha() and len(low) > 2 and low not in LITTLE)


def site(name: str) -> bool:
    """Whether a concept is a part of the body."""
    return name in vocabulary().sites or name in vocabulary().within


_GENERIC_TEXT = """history disease condition disorder complain finding result change problem episod treatment therap
medicat patient body area region site part type form case normal use positive
active passive
habit intake care detail record mention outline attention origin cause concern event time course specif stool regular
anti age"""
GENERIC = frozenset(word_concept(word) for word in _GENERIC_TEXT.split())
"""Concepts that are too general to make a contradiction by themselves."""

_IN_GENERAL = re.compile(
    r"(?i)\b(?:(?-i:may)|might|can|patients|cases|literature|commonly|typically|often|usually|generally|rarely"
    r"|(?:previous|prior|several|other|recent|some|many|most|few|clinical|these) studies|studies (?:have|show"
    r"|suggest|report)"
    r"|symptoms of|characteri[sz]ed by|recommended|should|reported by|et al|causes|involves|denotes|(?:a|another"
    r"|one|this|present|previous) study|is an? (?:\w+ ){0,2}(?:disease|disorder|condition|cause|entity)|series"
    r"|authors|incidence|prevalence|defined as)\b"
)
_OWN = re.compile(
    r"(?i)\b(?:our|this|(?:the )?(?:present|current|presented)) (?:patient|case)\b(?! report)"
    r"|\bin our\b"
)
_OF_PATIENT = re.compile(r"(?i)\bthe patient\b|\b(?:he|she|his|her)\b")
_BACKGROUND = re.compile(
    r"(?i)\b(?:introduction|background|discussion|conclusions?|review|literature|comment|methods?)\b"
)


@dataclass(frozen=True, slots=True)
class PatientText:
    """The sentences of an article on its patient: those of the case, and those of the discussion that mention it."""

    case: tuple[str, ...]
    discussed: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def patient_text(article: Article) -> PatientText:
    """The sentences of an article on its patient; sentences on the disease in general are left out."""
    case, discussed = [article.title], []
    headed = any(part.heading and not _is_background(part.heading) for part in article.sections)
    for heading, text in (("abstract", article.abstract), *((part.heading, part.text) for part in article.sections)):
        background = headed and _is_background(heading)
        for sentence in article_sentences(text):
            own = bool(_OWN.search(sentence))
            if not background and (own or _OF_PATIENT.search(sentence) or not _IN_GENERAL.search(sentence)):
                case.append(sentence)
            elif own or not background:
                discussed.append(sentence)
    return PatientText(tuple(one for one in case if one), tuple(discussed))


def _is_background(heading: str) -> bool:
    return bool(_BACKGROUND.search(heading)) and "case" not in heading.lower()
