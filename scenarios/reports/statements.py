"""Reads a clinical text as statements: its words as concepts, each affirmed, denied or left open."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.scenarios.reports.article import Article, article_sentences
from wardround.scenarios.terms.wording import cells, root, stem, table_rows

_TOKEN = re.compile(r"no~[a-z_]+|[A-Za-z_][A-Za-z0-9_~]*(?:'[a-z]+)?|\d+(?:[.,\u00b7]\d+)*|[,:]")
_BREAK = re.compile(
    r"[;()\[\]\n]|\b(?:but|however|although|though|whereas|while|yet|instead|nevertheless)\b|\s[\u2013\u2014-]\s"
    r"|\u2014"
    r"|,\s+(?=(?:which|who|and (?:he|she|they|the|there|it|his|her|a|an)|with|he|she|the patient|there|revealing"
    r"|showing|demonstrating)\b)"
)
"""Where what a cue denies has ended for certain."""
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
lasting lasted began started starting beginning duration period ever never mm cm mg dl ml kg g l u iu"""
_LITTLE = frozenset(_LITTLE_TEXT.split())
_CUES = frozenset(
    ["no", "not", "without", "denied", "denies", "deny", "denying", "never", "none", "cannot", "absent", "negative"]
)
_ALONG = frozenset(["for", "in", "on", "at", "during", "to", "around", "over", "between", "upon"])
"""Words after which it is open whether a denial goes on: 'no imaging for pain'."""
_DEGREES = frozenset(
    [
        "subside",
        "resolve",
        "improve",
        "respond",
        "relieve",
        "change",
        "disappear",
        "abate",
        "help",
        "alleviate",
        "decrease",
        "settle",
        "more",
        "less",
        "longer",
        "later",
        "only",
        "further",
        "fewer",
        "earlier",
        "doubt",
        "change",
    ]
)
_ENDS_TEXT = """except until therefore because showed revealed presented developed demonstrated had has have with
apart than prompted required underwent complained started came due despite then since after when before suggesting
noticed visited consulted
sought attended arrived received suffered sustained went took remembers recalled"""
_ENDS = frozenset(_ENDS_TEXT.split())
_LINKS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "became",
        "becomes",
        "returned",
        "tested",
        "remained",
        "remains",
        "turned",
        "being",
        "been",
        "came",
        "be",
    ]
)
_PASSIVE_TEXT = """reported noted observed seen found detected identified present evident performed elicited visible
palpable demonstrated appreciated apparent documented recorded felt heard there described given obtained isolated
revealed known sought done taken made performed
visualized visualised"""
_PASSIVE = frozenset(_PASSIVE_TEXT.split())
_PLAIN_VERBS = frozenset(
    [
        "had",
        "has",
        "have",
        "showed",
        "revealed",
        "presented",
        "developed",
        "demonstrated",
        "was",
        "were",
        "is",
        "are",
        "reports",
    ]
)


@dataclass(frozen=True, slots=True)
class ArticleWord:
    """A word of content as its concept; `denied` is None where a list may have gone on or ended."""

    concept: str
    denied: bool | None
    place: int
    written: str


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


@lru_cache(maxsize=4096)
def concepts_text(text: str) -> str:
    """`text` with each clinical wording replaced by one word: 'short of breath' gives 'dyspnea', 'afebrile' 'no~fever'.

    ::

        >>> concepts_text("Afebrile, short of breath")
        'no~fever, dyspnea'
    """
    text = text.replace("\u2019", "'").replace("*", " ").replace("\u2011", "-").replace("\u2010", "-")
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


@lru_cache(maxsize=512)
def article_statements(text: str) -> tuple[ArticleStatement, ...]:
    """The statements of a text, sentence by sentence."""
    return tuple(one for sentence in article_sentences(text) for one in sentence_statements(sentence))


def sentence_statements(sentence: str) -> Sequence[ArticleStatement]:
    """The statements of one sentence."""
    pieces = [piece for piece in _BREAK.split(concepts_text(sentence)) if piece and piece.strip()]
    read = []
    for piece in pieces:
        lows = [match[0].lower() for match in _TOKEN.finditer(piece)]
        if words := _words(lows):
            joints = tuple(at for at, low in enumerate(lows) if low in (",", "and", "or"))
            numbers = tuple((low, at) for at, low in enumerate(lows) if low[0].isdigit())
            read.append(ArticleStatement(words, _sides(lows), joints, numbers, " ".join(piece.split()), sentence))
    return read


_SIDES = {"left": "left", "leftward": "left", "right": "right", "rightward": "right", "bilateral": "both"}
_NO_SIDE = frozenset(
    ["the", "hospital", "with", "without", "untreated", "against", "home", "him", "her", "away", "after", "us"]
)
"""Words after 'left' and 'right' where these are no sides."""


def _sides(lows: Sequence[str]) -> tuple[tuple[str, int], ...]:
    return tuple(
        (_SIDES[low], place)
        for place, low in enumerate(lows)
        if low in _SIDES and (lows[place + 1] if place + 1 < len(lows) else "") not in _NO_SIDE
    )


def _words(lows: Sequence[str]) -> tuple[ArticleWord, ...]:
    denied = _polarity(lows)
    words = []
    for place, low in enumerate(lows):
        if low.startswith("no~"):
            words.append(
                ArticleWord(word_concept(low[3:]), None if denied[place] is None else not denied[place], place, low)
            )
        elif low == "normal" or (
            low[0].isalpha() and low not in _LITTLE and len(low) > 1 and low not in ("ruled~out", "query~it")
        ):
            words.append(ArticleWord(word_concept(low), denied[place], place, low))
        elif low in ("positive", "negative"):
            words.append(ArticleWord("positive", low == "negative", place, low))
    return tuple(
        word
        for before, word in zip([None, *words], words, strict=False)
        if before is None or before.concept != word.concept or before.written[:3] != "no~"
    )


def _polarity(lows: Sequence[str]) -> list[bool | None]:
    """For each token whether it is denied; None where it cannot be said."""
    denied: list[bool | None] = [False] * len(lows)
    state: bool | None = False
    for place, low in enumerate(lows):
        if state is not False and _ends(lows, place):
            state = False
        if low == "," and state is not False:
            state = _goes_on(lows, place) if state else state
        denied[place] = state
        if low == "query~it" or (state and low in _ALONG and lows[place - 1] not in ("evidence", "negative", "sign")):
            state = None
        elif low == "ruled~out":
            passive = lows[place - 1 : place] and lows[place - 1] in _LINKS
            if passive or place + 1 == len(lows) or lows[place + 1] == ",":
                _mark(denied, _subject(lows, place), place, value=True)
                state = False
            else:
                state = True
        elif _denies(lows, place):
            after = lows[place + 1] if place + 1 < len(lows) else ""
            open_ = (low == "negative" and after != "for") or lows[place - 1 : place] in (["could"], ["can"], ["would"])
            if _behind(lows, place):
                open_ = low == "negative" or after in _UNSAID or after in _UNDONE
                start = _subject(lows, place)
                _mark(denied, start, place, value=None if open_ else True)
                if low == "negative" and "for" in lows[start:place]:
                    _mark(denied, start + lows[start:place].index("for"), place, value=True)
                state = False
            else:
                if lows[place - 1 : place] and lows[place - 1] in _LINKS:
                    _mark(denied, _subject(lows, place), place, value=None)
                state = None if open_ or low == "cannot" else True
                denied[place] = False
    if any(state and low == "no~normal" for low, state in zip(lows, denied, strict=True)):
        denied = [None if state and low != "no~normal" else state for low, state in zip(lows, denied, strict=True)]
    return denied


def _mark(denied: list[bool | None], start: int, end: int, *, value: bool | None) -> None:
    for place in range(start, end):
        denied[place] = value


def _denies(lows: Sequence[str], place: int) -> bool:
    """Whether a word denies what follows or precedes it; 'no more than' and 'not only' do not."""
    after = lows[place + 1] if place + 1 < len(lows) else ""
    return (lows[place] in _CUES and after not in _DEGREES) or lows[place].endswith("n't")


def _behind(lows: Sequence[str], place: int) -> bool:
    """Whether a cue denies what precedes it: 'fever was absent', 'HIV: negative', 'a rash was not seen'."""
    low = lows[place]
    before = lows[place - 1] if place else ""
    after = lows[place + 1] if place + 1 < len(lows) else ""
    if low in ("absent", "negative", "none"):
        return (
            bool(place)
            and after not in ("for",)
            and (before in _LINKS or before in (":", "both") or not after or after == ",")
        )
    if low == "denied":
        return before in _LINKS
    if low == "not" and (after in _UNSAID or (place and after in _PASSIVE)):
        return True
    if low in ("not", "never") or low.endswith("n't"):
        return (before in _LINKS or low.endswith("n't") or before in ("did", "could", "does")) and (
            after in _PASSIVE or (after in ("be", "been") and place + 2 < len(lows) and lows[place + 2] in _PASSIVE)
        )
    return False


_UNDONE = frozenset(["performed", "done", "sought", "given", "taken", "made", "obtained", "measured"])
"""Words after 'not' where a step was left out, which denies no finding."""
_UNSAID = frozenset(
    [
        "detailed",
        "specified",
        "documented",
        "provided",
        "mentioned",
        "described",
        "stated",
        "available",
        "applicable",
        "given",
    ]
)
"""Words after 'not' where nothing is denied."""


def _subject(lows: Sequence[str], place: int) -> int:
    """Where the subject of a verb before `place` begins."""
    start = place - 1
    while start >= 0 and (lows[start] in _LINKS or lows[start] in (":", "both", "all", "also")):
        start -= 1
    while start > 0 and lows[start - 1] not in _PLAIN_VERBS and lows[start - 1] not in _CUES:
        start -= 1
    return max(start, 0)


def _ends(lows: Sequence[str], place: int) -> bool:
    """Whether what a cue denies ends at a word; 'no trauma was reported' goes on."""
    low = lows[place]
    if low in ("was", "were", "is", "are"):
        return not set(lows[place + 1 : place + 3]) & _PASSIVE
    if low == ":":
        return True
    return low in _ENDS and lows[place - 1] not in _CUES


def _goes_on(lows: Sequence[str], place: int) -> bool | None:
    """Whether a denial goes on after a comma: for certain before 'or', perhaps before another item."""
    rest = lows[place + 1 :]
    if set(rest[: next((at for at, low in enumerate(rest) if low == ","), len(rest))]) & _JUDGING:
        return False
    stop = next((at for at, low in enumerate(rest) if low in _ENDS or low in _LINKS or low == ":"), len(rest))
    listed = rest[:stop]
    if not listed or (stop < len(rest) and "," not in listed and not {"or", "and"} & set(listed)):
        return False if stop < len(rest) and not set(rest[stop + 1 : stop + 3]) & _PASSIVE else None
    if "or" in listed:
        return True
    return None


_JUDGING = frozenset(("normal", "no~normal", "positive", "no~positive", "negative"))
"""Words of an item of a list that says itself how it is."""
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
            elif own:
                discussed.append(sentence)
    return PatientText(tuple(one for one in case if one), tuple(discussed))


def _is_background(heading: str) -> bool:
    return bool(_BACKGROUND.search(heading)) and "case" not in heading.lower()
