"""Compares a curated case with its article, finding by finding: sex, side, negation, numbers, diagnosis."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.loaders.values import diagnosis_names
from wardround.scenarios.reports.article import article_sentences
from wardround.scenarios.terms.disease import synonyms_of
from wardround.scenarios.terms.wording import key, roots

_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*%?")
_LITTLE_TEXT = """a an the of and or in on at to for from by with without as is was were are be been has had have that
this which who his her he she it its him patient there their also not no nor denied denies none
absent absence negative any all showed shows revealed found noted seen observed reported presented
presenting history examination exam test tests normal up over after before during since within into
than then both left right bilateral side sided confirmed evidence signs sign identified demonstrated
present performed revealing showing indicated specified"""
_LITTLE = frozenset(_LITTLE_TEXT.split())
_CUES_TEXT = """no not without denied denies negative absent absence none nor never neither lack lacked ruled"""
_CUES = frozenset(_CUES_TEXT.split())
_ENDS_TEXT = """but however although though except with showed revealed had presented reported"""
_ENDS = frozenset(_ENDS_TEXT.split())
_FEMALE_TEXT = """woman women female girl lady she her hers herself"""
_FEMALE = frozenset(_FEMALE_TEXT.split())
_MALE_TEXT = """man men male boy gentleman he his him himself"""
_MALE = frozenset(_MALE_TEXT.split())
_AGED = re.compile(
    r"(?i)(?:year|month|week|day)s?[- ]old,?(?:[ -](?!old\b)[\w-]+){0,4}?[ -]"
    r"(woman|man|female|male|girl|boy|lady|gentleman)\b"
)
_SIDES = {"left": "left", "right": "right", "bilateral": "both", "bilaterally": "both"}
_LABEL = re.compile(r"(?m)^[ \t]*(?:[-*\u2022+]|\d{1,2}[.)])?[ \t]*\**[A-Z][^:\n]{1,60}?\**:\**(?=\s)")
"""The label of an item: 'Family History:'."""
_GENERAL_TEXT = """documented reported provided specified mentioned history medical family surgical patient information
similar previous significant relevant known became full clear detailed described available
applicable personal social"""
_GENERAL = frozenset(root for word in _GENERAL_TEXT.split() for root in roots(word))
_SCOPE_ENDS_TEXT = (
    """who which presented presenting noticed except other due until therefore was were had showed revealed"""
)
_SCOPE_ENDS = frozenset(_SCOPE_ENDS_TEXT.split())
"""Words at which what a cue denies has ended."""
_TELLS = re.compile(
    r"(?i)\b(?:had|has|have|having|with|present\w*|complain\w*|report\w*|show\w*|reveal\w*|develop\w*|experienc\w*"
    r"|suffer\w*|noted|was|were|demonstrat\w*|detected|found|observed)\b"
)
_CLAUSE = re.compile(
    r":(?!\s*(?:absent|negative|none|not)\b)\s|[.;,()]\s|[.;:,()]$|\b(?:but|however|although|whereas|while)\b|\s[\u2013\u2014-]\s|\n"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,\u00b7]\d+)*")


@dataclass(frozen=True, slots=True)
class Unfaithful:
    """A statement of a case that the article contradicts: what kind, the words of the case, those of the article."""

    kind: str
    said: str
    article: str = ""


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A clause: its words as roots, whether it is denied, its text."""

    words: frozenset[str]
    denied: bool
    text: str
    tells: bool
    carried: bool


def unfaithful(summary: str, text: str) -> tuple[Unfaithful, ...]:
    """What `summary` says otherwise than the article `text`: sex, side, negation, numbers."""
    return (
        *_sex(summary, text),
        *_sides(summary, text),
        *_negations(summary, text),
        *_repeated(summary, text),
        *_numbers(summary, text),
    )


def article_sex(text: str) -> str:
    """'female' or 'male' of the article's patient, '' if it tells of both or of neither."""
    aged = {("female" if match[1].lower() in _FEMALE else "male") for match in _AGED.finditer(text)}
    if len(aged) == 1:
        return aged.pop()
    if aged:
        return ""
    words = [word.lower() for word in _WORD.findall(text)]
    women, men = sum(word in _FEMALE for word in words), sum(word in _MALE for word in words)
    if max(women, men) < 3 or min(women, men) * 4 > max(women, men):
        return ""
    return "female" if women > men else "male"


def _sex(summary: str, text: str) -> Iterator[Unfaithful]:
    sex = article_sex(text)
    if not sex:
        return
    wrong = _MALE if sex == "female" else _FEMALE
    known = {word.lower() for word in _WORD.findall(text)}
    for line in summary.splitlines():
        aged = _AGED.search(line)
        for match in _WORD.finditer(line):
            word = match[0].lower()
            if word in wrong and (word not in known or (aged and match.start() == aged.start(1)) or _informs(line)):
                yield Unfaithful("sex", line.strip(), f"the patient is {sex}")
                break


def _informs(line: str) -> bool:
    """Whether a line gives the patient's data, where a word of sex can be no one else's."""
    return bool(re.match(r"(?i)[\s*\-]*patient (?:information|demographics|data)", line))


def _roots(text: str) -> frozenset[str]:
    return frozenset(root for word in _WORD.findall(text) if word.lower() not in _LITTLE and len(word) > 2
                     for root in roots(word) if not root.isdigit())  # fmt: skip


@lru_cache(maxsize=64)
def _sided(text: str) -> tuple[tuple[str, tuple[str, ...], str], ...]:
    """(side, roots of the words around it, the nearest first, the words) of each word of side."""
    words = [match[0] for match in _WORD.finditer(text)]
    sides = []
    for place, word in enumerate(words):
        side = _SIDES.get(word.lower())
        if side:
            after, before = words[place + 1 : place + 7], words[max(0, place - 6) : place]
            near = [root for one in after if one.lower() not in _LITTLE and len(one) > 2 for root in roots(one)]
            far = [root for one in before if one.lower() not in _LITTLE and len(one) > 2 for root in roots(one)]
            sides.append((side, (*near, *far), " ".join(words[max(0, place - 3) : place + 6])))
    return tuple(sides)


def _sides(summary: str, text: str) -> Iterator[Unfaithful]:
    known = _sided(text)
    for sentence in article_sentences(summary):
        for side, near, words in _sided(sentence):
            if not near:
                continue
            best = {one: max((_likeness(near, around) for other, around, _ in known if other == one), default=0.0)
                    for one in ("left", "right", "both")}  # fmt: skip
            opposite = max(value for one, value in best.items() if one != side)
            met = any(other == side and near[0] in around[:4] for other, around, _ in known)
            if opposite >= 1.0 and opposite > best[side] + (0.7 if met else 0.15):
                side_words = next(
                    text for other, around, text in known if other != side and _likeness(near, around) == opposite
                )
                yield Unfaithful("side", words, side_words)


def _likeness(near: Sequence[str], around: Sequence[str]) -> float:
    """How much the words around two words of side agree; the nearest word counts most."""
    kept = frozenset(around)
    score = sum(
        (1.0 if place == 0 else 0.5 if place == 1 else 0.3) for place, root in enumerate(near[:5]) if root in kept
    )
    return score + (0.5 if near[0] == around[:1][0] else 0.0) if around else 0.0


@lru_cache(maxsize=64)
def _phrases(text: str) -> tuple[_Phrase, ...]:
    """The clauses of a text; 'no fever, cough or chills' denies each of its items. General statements are left out."""
    phrases = []
    for sentence in article_sentences(text):
        if _IN_GENERAL.search(sentence):
            continue
        tells = bool(_TELLS.search(sentence))
        carried = False
        at = 0
        for cut in [*_CLAUSE.finditer(sentence), None]:
            piece = sentence[at : cut.start() if cut else len(sentence)]
            at = cut.end() if cut else len(sentence)
            for part, denied, goes_on in _denials(piece, carried):
                if words := _roots(part):
                    phrases.append(_Phrase(words, denied, part.strip(), tells, carried))
                carried = goes_on
            if cut is None or not cut[0].startswith(","):
                carried = False
    return tuple(phrases)


def _denials(piece: str, carried: bool) -> Iterator[tuple[str, bool, bool]]:
    """(part, denied, whether the next item of a list is denied too) of a clause."""
    words = list(_WORD.finditer(piece))
    lows = [word[0].lower() for word in words]
    cue = next((place for place in range(len(lows)) if _denies(lows, place)), None)
    if cue is None:
        starts = any(low in _ENDS or low in ("was", "were", "had") for low in lows)
        yield piece, carried and not starts, carried and not starts
        return
    before, after = piece[: words[cue].start()], piece[words[cue].end() :]
    behind = lows[cue] in ("negative", "absent", "none", "ruled")
    if behind and (not _roots(after) or (cue and lows[cue - 1] in _LINKS)):
        yield before, True, False
        if _roots(after):
            yield after, False, False
        return
    if _roots(before):
        yield before, False, False
    ended = next((place for place in range(cue + 2, len(words)) if _scope_ends(lows, place)), len(words))
    if ended < len(words):
        yield piece[words[cue].end() : words[ended].start()], True, False
        yield piece[words[ended].start() :], False, False
    else:
        yield after, True, True


def _denies(lows: Sequence[str], place: int) -> bool:
    """Whether a word denies what follows; 'no more than' does not."""
    after = lows[place + 1] if place + 1 < len(lows) else ""
    return (lows[place] in _CUES and after not in _DEGREES) or lows[place].endswith("n't")


_DEGREES_TEXT = """more less longer later only further"""
_DEGREES = frozenset(_DEGREES_TEXT.split())
_LINKS_TEXT = """is are was were became becomes returned tested remained turned being been"""
_LINKS = frozenset(_LINKS_TEXT.split())
_PASSIVE_TEXT = """reported noted observed seen found detected identified present evident performed elicited"""
_PASSIVE = frozenset(_PASSIVE_TEXT.split())
_IN_GENERAL = re.compile(
    r"(?i)\b(?:may|might|can|could|patients|cases|literature|commonly|typically|often|usually|generally|rarely"
    r"|studies|symptoms of|characterized by|recommended)\b"
)
"""Words of sentences on the disease in general, not on the patient."""


def _scope_ends(lows: Sequence[str], place: int) -> bool:
    """Whether what a cue denies ends at a word; 'no trauma was reported' goes on."""
    if lows[place] in ("was", "were"):
        return not (set(lows[place + 1 : place + 3]) & _PASSIVE)
    return lows[place] in _SCOPE_ENDS


_TESTED = re.compile(
    r"(?i)\b(?:tests?|tested|testing|pcr|antibod\w+|serolog\w*|screen\w*|cultures?|swabs?|anti-\w+|virus|hiv|rul\w+ out"
    r"|evaluat\w+|to exclude|ordered|none|unrelated|normal|unremarkable|resol\w+|improv\w+)\b"
)
"""Words of a clause whose polarity a cue does not settle: a test may be named before its result."""


def _negations(summary: str, text: str) -> Iterator[Unfaithful]:
    known = _phrases(text)
    absent = _only_denied(text)
    for phrase in _phrases(_LABEL.sub(" ", summary)):
        if phrase.words <= _GENERAL or len(phrase.words) > 8 or phrase.carried or _TESTED.search(phrase.text):
            continue
        if not phrase.denied and (turned := sorted(phrase.words & absent.keys() - _GENERAL)):
            yield Unfaithful("negation", phrase.text, absent[turned[0]])
            continue
        same = max((_shared(phrase, one) for one in known if one.denied == phrase.denied), default=0.0)
        other = max(
            (
                one
                for one in known
                if one.denied != phrase.denied and one.tells and not one.carried and not _TESTED.search(one.text)
            ),
            key=lambda one: _shared(phrase, one),
            default=None,
        )
        if other and same < 0.5 and _shared(phrase, other) >= (0.75 if phrase.denied else 0.99):
            yield Unfaithful("negation", phrase.text, other.text)


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence with its roots, the number of its denials, its numbers and its sides."""

    words: frozenset[str]
    denials: int
    numbers: frozenset[str]
    sides: frozenset[str]
    text: str


_ALIKE = 0.85
"""The share of common words from which two sentences are the same one, repeated."""


def _repeated(summary: str, text: str) -> Iterator[Unfaithful]:
    """Sentences that repeat a sentence of the article with another number of denials, other numbers or sides."""
    known = _read(text)
    for one in _read(_LABEL.sub(" ", summary)):
        if len(one.words) < 3:
            continue
        near = [other for other in known if len(one.words & other.words) >= _ALIKE * len(one.words | other.words)]
        if not near:
            continue
        if all(other.denials != one.denials for other in near):
            yield Unfaithful("negation", one.text, near[0].text)
        if all(one.sides - other.sides for other in near):
            yield Unfaithful("side", one.text, near[0].text)
        if all(one.numbers - other.numbers for other in near):
            yield Unfaithful("number", one.text, near[0].text)


@lru_cache(maxsize=64)
def _read(text: str) -> tuple[_Sentence, ...]:
    """The sentences of a text."""
    read = []
    for sentence in article_sentences(text):
        lows = [word[0].lower() for word in _WORD.finditer(sentence)]
        read.append(
            _Sentence(
                _roots(sentence),
                sum(_denies(lows, place) or lows[place] == "normal" for place in range(len(lows))),
                frozenset(_plain(match[0]) for match in _NUMBER.finditer(sentence)),
                frozenset(_SIDES[low] for low in lows if low in _SIDES),
                sentence,
            )
        )
    return tuple(read)


def _shared(phrase: _Phrase, other: _Phrase) -> float:
    """The share of the words of `phrase` that `other` has."""
    return len(phrase.words & other.words) / len(phrase.words)


@lru_cache(maxsize=64)
def _only_denied(text: str) -> dict[str, str]:
    """The roots that an article only denies, with the clause; it has them at most twice, and they are not short."""
    affirmed = frozenset(root for phrase in _phrases(text) if not phrase.denied for root in phrase.words)
    every = roots(text)
    return {
        root: phrase.text
        for phrase in _phrases(text)
        if phrase.denied
        for root in phrase.words - affirmed
        if len(root) > 4 and every.count(root) <= 2 and not _TESTED.search(phrase.text)
    }


@lru_cache(maxsize=64)
def _counted(text: str) -> dict[str, list[frozenset[str]]]:
    """The words around each number of a text, by the number."""
    words = list(re.finditer(r"[A-Za-z%\u00b0\u00b5\u03bc/]+|\d+(?:[.,\u00b7]\d+)*", text))
    counts: dict[str, list[frozenset[str]]] = {}
    for place, word in enumerate(words):
        if word[0][0].isdigit():
            around = words[max(0, place - 8) : place] + words[place + 1 : place + 7]
            counts.setdefault(_plain(word[0]), []).append(
                frozenset(root for one in around if not one[0][0].isdigit() and one[0].lower() not in _LITTLE
                          for root in (roots(one[0]) or (one[0].lower(),)))
            )  # fmt: skip
    return counts


def _plain(number: str) -> str:
    plain = number.replace("\u00b7", ".")
    plain = plain.replace(",", "") if re.fullmatch(r"\d{1,3}(?:,\d{3})+", plain) else plain.replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _numbers(summary: str, text: str) -> Iterator[Unfaithful]:
    known = _counted(text)
    for sentence in article_sentences(summary):
        for number, contexts in _counted(sentence).items():
            for around in contexts:
                places = known.get(number, [])
                year = re.fullmatch(r"(?:19|20)\d\d", number)
                if (
                    places
                    and not year
                    and len(around) > 3
                    and ("." in number or len(number) > 1)
                    and not any(around & other for other in places)
                ):
                    yield Unfaithful("number", f"{number} in {sentence}")


def named_in_article(answer: str, title: str, text: str) -> bool:
    """Whether the article names a diagnosis, by itself or by a synonym, and where it states what the patient has."""
    diagnosis, synonyms = diagnosis_names(answer)
    names = dict.fromkeys((diagnosis, *synonyms, *synonyms_of(diagnosis)))
    stating = f"{title}. {_stating(text)}"
    words = f" {key(text)} "
    about = [one for one in article_sentences(f"{title}.\n{text}") if any(_coverage(name, one) >= 1 for name in names)]
    if about and all(_CONSIDERED.search(one) for one in about):
        return False
    if any(key(name) and f" {key(name)} " in words for name in names):
        return any(_coverage(name, stating) >= 0.6 for name in names)
    return any(_coverage(name, text) >= 0.8 and _coverage(name, stating) >= 0.6 for name in names)


_CONSIDERED = re.compile(
    r"(?i)\b(?:differential|considered|exclud\w+|ruled? out|unlikely|suspected|initially|mimic\w*|versus"
    r"|misdiagnos\w+)\b"
)
"""Words of sentences that name a diagnosis as a possibility."""
_STATES = re.compile(
    r"(?i)\bdiagnos|\bconfirm|\bconsistent with|\brevealed|\bidentified|\bfinal\b"
    r"|\bwe (?:report|present|describe)|\bcase of"
)


@lru_cache(maxsize=64)
def _stating(text: str) -> str:
    """The beginning of the article and the sentences that state a finding or a diagnosis."""
    return text[:2500] + " " + " ".join(one for one in article_sentences(text) if _STATES.search(one))


def _coverage(name: str, text: str) -> float:
    own = _roots(name)
    return len(own & _roots_of(text)) / len(own) if own else 0.0


@lru_cache(maxsize=64)
def _roots_of(text: str) -> frozenset[str]:
    return _roots(text)
