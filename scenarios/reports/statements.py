"""Reads a clinical text as statements: its words as concepts, each affirmed, denied or left open."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from wardround.scenarios.reports.article import Article, article_sentences
from wardround.scenarios.reports.denials import denied_words, judgements, plain_denials
from wardround.scenarios.terms.wording import cells, root, stem, table_rows, vocabulary

_TOKEN = re.compile(r"no~[a-z_]+|[A-Za-z_][A-Za-z0-9_~]*(?:'[a-z]+)?|\d+(?:[.,\u00b7]\d+)*|[,:]")
_BREAK = re.compile(
    r"[;()\[\]\n]|\b(?:but|however|although|though|whereas|while|yet|instead|nevertheless)\b|\s[\u2013\u2014-]\s"
    r"|\u2014|(?<=[a-z]{4})\.\s+|(?<=\w\w)\.\s+(?=[A-Z])"
    r"|,\s+(?=(?:which|who|and (?:he|she|they|the|there|it|his|her|a|an)|with|he|she|the patient|there|revealing"
    r"|showing|demonstrating)\b)"
)
"""Where what a cue denies has ended for certain."""
_LINKING = frozenset(("but", "however", "although", "though", "whereas", "while", "yet", "instead", "nevertheless"))
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
_LITTLE = frozenset(_LITTLE_TEXT.split())


@dataclass(frozen=True, slots=True)
class ArticleWord:
    """A word of content as its concept; `denied` is None where a list may have gone on or ended.

    `head` is set on the word that a group of words is about ('thrombus' in 'renal vein thrombus'); `judged` is what is
    said of it: ('positive', False) of 'ANA' in 'ANA negative'.
    """

    concept: str
    denied: bool | None
    place: int
    written: str
    head: bool = True
    judged: tuple[str, bool] | None = None


@dataclass(frozen=True, slots=True)
class ArticleStatement:
    """A stretch of a sentence that one cue can reach: its words of content, and the sentence it stands in."""

    words: tuple[ArticleWord, ...]
    sides: tuple[tuple[str, int], ...]
    joints: tuple[int, ...]
    numbers: tuple[tuple[str, int], ...]
    text: str
    sentence: str

    @property
    def concepts(self) -> frozenset[str]:
        """The concepts of its words."""
        return frozenset(word.concept for word in self.words)


_WRITTEN = re.compile(r"[A-Za-z0-9+]+(?:'[a-z]+)?")


@cache
def _wordings() -> Mapping[str, Sequence[tuple[tuple[str, ...], str]]]:
    """The wordings that are replaced, with their replacements, by first word, the longest first."""
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
    """The abbreviations of notes, in their case, with what they mean."""
    means = {said: row["means"] for row in table_rows("shorthand.csv") for said in cells(row["written"])}
    listed = "|".join(re.escape(one) for one in sorted(means, key=lambda one: (-len(one), one)))
    return re.compile(rf"(?<![\w.\u00b5])(?:{listed})(?![\w\u00b2]|/(?:d?[lL]|\d))"), means


_SIGN = re.compile(r"(?<=[A-Za-z)])(?: ?[-\u2212\u2013]|\(-\)| ?\(neg\.?\))(?=\s*(?:[,;.)/]|$)| [A-Z])")
_PLUS = re.compile(r"(?<=[A-Za-z)])(?: ?\+|\(\+\))(?=\s*(?:[,;.)/]|$)| [A-Z])")
_SIGN_BEFORE = re.compile(r"(?:(?<=[,;:.] )|(?<![^\s]))\([-\u2212\u2013]\)\s*(?=[A-Za-z])(?<!\w \(-\) )")
"""A minus before what is absent: '(-) cough'."""
_SIDE_LETTER = re.compile(r"(?<![\w./])(?<!\d )([RL])(?=\.? [A-Za-z(]|\s*[,;:)>]|\s*$|-sided|-handed)(?!/)")


_JUDGED_BEFORE = re.compile(r"~(\s*(?:[,;.)]|$| (?:for|in|on|at|and|or|but)\b))|~")
"""A short 'neg' judges what stands before it: 'HBV neg, HIV pos' and 'IgG pos IgM neg'."""


_BOTH_LETTERS = re.compile(r"(?<![\w.])([RL]) (\d[\d/.]*(?: ?(?:mm|cm|mmHg|ml|mL|g|%))?[,;]? )([RL])(?= \d)")


_LETTERS = {"R": "right", "L": "left"}


@lru_cache(maxsize=8192)
def longhand(text: str) -> str:
    """`text` with the abbreviations of notes written out: 'R knee, ANA -' gives 'right knee, ANA absent'."""
    pattern, means = _shorthand()
    text = _SIGN_BEFORE.sub("no ", text)
    text = _PLUS.sub(" present", _SIGN.sub(" absent", text))
    text = _BOTH_LETTERS.sub(lambda hit: f"{_LETTERS[hit[1]]} {hit[2]}{_LETTERS[hit[3]]}", text)
    text = _SIDE_LETTER.sub(lambda hit: _LETTERS[hit[1]], text)
    return _JUDGED_BEFORE.sub(lambda hit: hit[1] or ",", pattern.sub(lambda hit: means[hit[0]], text))


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
def numbers_by_side(sentence: str) -> frozenset[tuple[str, str]]:
    """(number, side) of a sentence: '2.6 cm on the right', 'the left pupil measured 2 mm'."""
    text = longhand(sentence)
    before = {(hit[1].replace(",", "."), hit[2].lower()) for hit in _BEFORE_SIDE.finditer(text)}
    return frozenset(before | {(hit[2].replace(",", "."), hit[1].lower()) for hit in _BEHIND_SIDE.finditer(text)})


@lru_cache(maxsize=4096)
def concepts_text(text: str) -> str:
    """`text` with each clinical wording replaced by one word: 'short of breath' gives 'dyspnea', 'afebrile' 'no~fever'.

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
    """Whether only a blank or a hyphen stands between words."""
    return all(re.fullmatch(r"[\s-]+", text[one[1] : two[0]]) for one, two in itertools.pairwise(words))


@lru_cache(maxsize=65536)
def word_concept(word: str) -> str:
    """The concept of a single word in lower case: its root, or the word of the table that it was replaced by."""
    return word if "_" in word else root(stem(word))


@lru_cache(maxsize=4096)
def text_concepts(text: str) -> tuple[str, ...]:
    """The concepts of the words of content of a text, denied or not."""
    lows = (match[0].lower().removeprefix("no~") for match in _TOKEN.finditer(concepts_text(text)))
    return tuple(word_concept(low) for low in lows if low[0].isalpha() and len(low) > 2 and low not in _LITTLE)


@lru_cache(maxsize=512)
def article_statements(text: str) -> tuple[ArticleStatement, ...]:
    """The statements of a text, sentence by sentence."""
    return tuple(one for sentence in article_sentences(text) for one in sentence_statements(sentence))


def sentence_statements(sentence: str) -> Sequence[ArticleStatement]:
    """The statements of one sentence."""
    text = plain_denials(concepts_text(sentence))
    ends = [0, *(hit.start() for hit in _BREAK.finditer(text)), len(text)]
    pieces = [text[start:end] for start, end in itertools.pairwise(ends) if text[start:end].strip()]
    read: list[ArticleStatement] = []
    open_end = False
    for piece in pieces:
        lows = [match[0].lower() for match in _TOKEN.finditer(piece)]
        lows = lows[1:] if lows and lows[0] in _LINKING else lows
        words = _words(lows)
        if piece[0] in "([" and open_end:
            words = tuple(replace(word, denied=None) for word in words)  # 'no symptoms (fever, cough)'
        open_end = bool(lows) and denied_words(lows)[-1] is not False
        if words:
            joints = tuple(at for at, low in enumerate(lows) if low in (",", "and", "or"))
            numbers = tuple((low, at) for at, low in enumerate(lows) if low[0].isdigit())
            read.append(ArticleStatement(words, _sides(lows), joints, numbers, " ".join(piece.split()), sentence))
    return read


@lru_cache(maxsize=8192)
def all_statements(sentences: tuple[str, ...]) -> tuple[ArticleStatement, ...]:
    """The statements of sentences."""
    return tuple(one for sentence in sentences for one in sentence_statements(sentence))


def site(name: str) -> bool:
    """Whether a concept is a part of the body."""
    return name in vocabulary().sites or name in vocabulary().within


def stretch_bounds(place: int, said: ArticleStatement) -> tuple[int, int]:
    """Where the item of a list begins and ends that a place stands in."""
    start = max((joint for joint in said.joints if joint < place), default=-1)
    return start, min((joint for joint in said.joints if joint > place), default=10**6)


JUDGED = ("normal", "positive")
"""Concepts that judge others."""


_SIDES = {"left": "left", "leftward": "left", "right": "right", "rightward": "right", "bilateral": "both",
          **dict.fromkeys(("contralateral", "fellow", "opposite", "ipsilateral"), "any")}  # fmt: skip
_NO_SIDE = frozenset(
    ["the", "hospital", "with", "without", "untreated", "against", "home", "him", "her", "away", "after", "us"]
)
"""Words after 'left' and 'right' where these are no sides."""


def _sides(lows: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (_SIDES[low], place)
        for place, low in enumerate(lows)
        if low in _SIDES
        and (lows[place - 1 : place] == ["the"] or (lows[place + 1] if place + 1 < len(lows) else "") not in _NO_SIDE)
    )


_GENERIC_TEXT = """history disease condition disorder complain finding result change problem episod treatment therap
medicat patient body area region site part type form case normal use positive
active passive
habit intake care detail record mention outline attention origin cause concern event time course specif stool regular"""
GENERIC = frozenset(word_concept(word) for word in _GENERIC_TEXT.split())
"""Concepts too general to decide by their polarity alone."""
_JUDGING = frozenset(("positive", "negative", "normal", "no~normal", "no~positive"))


def _words(lows: Sequence[str]) -> tuple[ArticleWord, ...]:
    denied = denied_words(lows)
    judged = judgements(lows, denied)
    words: list[ArticleWord] = []
    for place, low in enumerate(lows):
        heads = _is_head(lows, place)
        if low in _JUDGING:
            name = "positive" if low in ("positive", "negative") else word_concept(low.removeprefix("no~"))
            turned = low in ("negative", "no~normal", "no~positive")
            state = denied[place] if low != "negative" else False
            words.append(ArticleWord(name, None if state is None else state != turned, place, low, False))
        elif low.startswith("no~"):
            state = denied[place]
            words.append(
                ArticleWord(
                    word_concept(low[3:]), None if state is None else not state, place, low, True, judged.get(place)
                )
            )
        elif low[0].isalpha() and low not in _LITTLE and len(low) > 1 and low not in ("ruled~out", "query~it"):
            words.append(ArticleWord(_concept_at(lows, place), denied[place], place, low, heads, judged.get(place)))
    return tuple(
        word
        for before, word in zip([None, *words], words, strict=False)
        if before is None or before.concept != word.concept or before.written[:3] != "no~"
    )


_DISEASE = frozenset(("disease", "diseases", "disorder", "disorders", "condition", "conditions", "problem", "problems"))


def _concept_at(lows: Sequence[str], place: int) -> str:
    """The concept of a word; a site with 'disease' is one concept."""
    name = word_concept(lows[place])
    diseased = lows[place + 1 : place + 2] and lows[place + 1] in _DISEASE and name in vocabulary().sites
    return f"{name}_disease" if diseased else name


def _is_head(lows: Sequence[str], place: int) -> bool:
    """Whether a group of words ends with this one, and is not the complement of another ('swelling of the lid')."""
    after = next((low for low in lows[place + 1 :] if word_concept(low) not in GENERIC), "")
    if lows[place + 1 : place + 2] and lows[place + 1] in _SIGNS:
        return False
    judges = after in _JUDGING or after in ("elevate", "lower")
    if after and after[0].isalpha() and after not in _LITTLE and not judges and not after.endswith("ed"):
        return False
    at = place - 1
    while at >= 0 and lows[at][0].isalpha() and (lows[at] not in _LITTLE or lows[at] in _ARTICLES):
        at -= 1
    if at < 0 or lows[at] not in _COMPLEMENTS:
        return True
    return lows[at] == "of" and at > 0 and lows[at - 1] in _SIGNS


_ARTICLES = frozenset(("the", "a", "an", "his", "her", "their", "left", "right", "both", "any", "other"))
_SIGNS = frozenset(
    [
        "history",
        "sign",
        "signs",
        "symptom",
        "symptoms",
        "evidence",
        "feature",
        "features",
        "finding",
        "findings",
        "use",
        "presence",
        "complaint",
        "complaints",
        "episode",
        "episodes",
        "suspicion",
        "abuse",
    ]
)
"""Words after which 'of' leads to what is meant."""
_COMPLEMENTS = frozenset(
    ("of", "in", "on", "at", "over", "to", "from", "during", "under", "between", "within", "upon", "by")
)


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
    """What an article says of its patient: the sentences of the case, and those of the discussion that speak of it."""

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


@lru_cache(maxsize=64)
def specific_text(article: Article) -> str:
    """An article without the sentences of its introduction and discussion that speak of the disease in general."""
    kept = [article.title, *article_sentences(article.abstract)]
    for part in article.sections:
        background = bool(part.heading) and _is_background(part.heading)
        kept += [
            one
            for one in article_sentences(part.text)
            if not background or _OWN.search(one) or not _IN_GENERAL.search(one)
        ]
    return "\n".join(kept)


def _is_background(heading: str) -> bool:
    return bool(_BACKGROUND.search(heading)) and "case" not in heading.lower()
