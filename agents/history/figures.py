"""The figures of a question and a sentence: features of how the sentence may answer, each from 0 to about 1.

- Words: which words of the question the sentence shares, by letters, by concept or by field of words.
- Kind: whether it is of the kind asked, and whether topic, person, site and polarity agree.
- Thread: how much it shares of the question before, if this one goes on with it.

`weighing` says what each figure is worth.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache

from wardround.agents.history import vocabulary
from wardround.agents.history.aims import aim_figures
from wardround.agents.history.facts import COMPLAINT, TIME, Fact
from wardround.agents.history.question_kinds import ATTRIBUTES, HistoryQuestion
from wardround.agents.history.recall import Memory, Recollection, sites_agree
from wardround.agents.history.vocabulary import history_rows, is_about

_DETAILS = {name: TIME if name == "onset" else pattern for name, _, pattern in ATTRIBUTES}
_PLACES = re.compile(
    r"\b(?:side|left|right|perianal|skull|axill\w*|buttock\w*|mucosa|generali[sz]ed|diffuse\w*|fold\w*)\b",
    re.IGNORECASE,
)
KIN = re.compile(
    r"\b(?:famil|relat|mother|father|parent|brother|sister|uncle|aunt|grand|sibling|mum|dad|folks|cousin|son\b|daughter)",
    re.IGNORECASE,
)


SILENT = frozenset(("unknown", "unnoticed", "family"))
"""The kinds of recollection that hold no fact."""
Figures = Mapping[str, float]
Weights = Mapping[tuple[str, str], float]
"""The weights of `weights.csv`, each by what it is of ('none', 'fact', 'answer', 'word') and its figure or word."""


def describe(
    memory: Memory,
    question: HistoryQuestion,
    proposed: Recollection,
    earlier: Sequence[HistoryQuestion],
    weights: Weights,
) -> tuple[Figures, list[Figures]]:
    """The figures of silence, and of each fact of the memory."""
    thread = thread_of(question, earlier)
    asked = vocabulary.units(question.text)
    before = vocabulary.units(thread.text) if thread else ()
    known = frozenset(name for fact in memory.main for name in vocabulary.all_meanings(fact.text))
    whole = question.after(thread) if thread and question.bare else question
    rows: list[dict[str, float]] = []
    for fact in memory.facts:
        about = {f"@{topic.name}" for topic in whole.topics if is_about(topic, fact.section, fact.text)}
        means = vocabulary.all_meanings(fact.text) | about
        rows.append(
            _cover([*asked, *(unit for unit in before if question.bare)], means, known)
            | _strength(asked, means)
            | _thread(before, means)
            | lack_figures(word_strengths(question.text, fact), weights)
            | _kinds(memory, whole, fact, thread if question.bare else None)
            | _circumstance(question.text, means)
            | _rules(proposed, fact)
        )
    for figure in ("cover", "strength", "thread"):
        top = max((row[figure] for row in rows), default=0.0)
        rows = [row | {f"best {figure}": float(row[figure] >= top > 0)} for row in rows]
    unmet, aimed = aim_figures(question.text, memory.facts)
    unmet |= _nowhere(whole, memory)
    if proposed.kind in SILENT:
        unmet |= {f"{name}, rules silent": figure for name, figure in unmet.items()}
    return {
        **unmet,
        "asked words": asked_figure(question.text, weights),
        "none": 1.0,
        "none, rules silent": float(proposed.kind in SILENT),
        "none, rules yes or no": float(proposed.kind in ("yes", "no")),
        "none, detail": float(bool(question.details)),
        "none, yes or no": float(question.yes_no),
        "none, words": min(sum(unit.weight for unit in asked), 5.0) / 5.0,
        "none, topic": float(bool(question.topics)),
        "none, follows": float(bool(thread)),
        "none, bare": float(question.bare),
        "none, of no kind asked": float(all(row["lacks the kind asked"] for row in rows)),
    }, [{**row, **aim} for row, aim in zip(rows, aimed, strict=True)]


_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|one|ones|then|there|same|other|he|she|his|her)\b|^\W*(?:and|so|but|any|since|how)\b",
    re.IGNORECASE,
)
_SHORT = 6
"""A question of so few words may go on with the one before."""


def thread_of(question: HistoryQuestion, earlier: Sequence[HistoryQuestion]) -> HistoryQuestion | None:
    """The question before, if this one goes on with it ('Do you cough?' 'What colour is it?')."""
    last = next((one for one in earlier if not one.bare), next(iter(earlier), None))
    short = len(question.text.split()) <= _SHORT
    return last if short or _POINTS_BACK.search(question.text) else None


def _thread(before: Sequence[vocabulary.Unit], means: frozenset[str]) -> dict[str, float]:
    """How much of the question before a sentence covers, if this one goes on with it."""
    share = _share(before, means)
    return {"thread": share, "thread missing": 1.0 - share if before else 0.0}


_SURELY = {"=": 1.0, "!": 0.9}
_LOOSE = 0.2
"""How surely a sentence holds a word by the widest field."""


def strength_of(unit: vocabulary.Unit, means: frozenset[str]) -> float:
    """How surely a sentence holds a word of the question: by its letters, by a concept, or by a field of words.

    The fewer words a field has, the surer it is.
    """
    breadth = vocabulary.breadth_of_fields()
    return max(
        (_SURELY.get(name[0], 0.0) or max(_LOOSE, 1.0 - breadth.get(name[1:], 1.0)) for name in unit.meanings & means),
        default=0.0,
    )


def _strength(asked: Sequence[vocabulary.Unit], means: frozenset[str]) -> dict[str, float]:
    """How surely a sentence holds the words of the question, all together, and the word that it holds least."""
    sure = [(strength_of(unit, means), unit.weight) for unit in asked]
    total = sum(weight for _, weight in sure)
    full = [strength for strength, weight in sure if weight >= 1.0]
    return {
        "strength": sum(strength * weight for strength, weight in sure) / total if total else 0.0,
        "weakest word": min(full, default=1.0),
        "words not held": min(3.0, float(sum(strength < 0.5 for strength in full))) / 3.0,
    }


UNSEEN = 0.55
"""The share (of right answers that hold a word) for a word that no example has."""


def word_strengths(question: str, fact: Fact) -> list[tuple[str, float]]:
    """Each word of a question, and how surely a sentence holds it."""
    means = vocabulary.all_meanings(fact.text)
    return [
        (vocabulary.word_stem(unit.text.lower().removesuffix("'s")), strength_of(unit, means))
        for unit in vocabulary.units(question)
    ]


def lack_figures(strengths: Sequence[tuple[str, float]], weights: Weights) -> dict[str, float]:
    """What a sentence lacks of a question, each word by the share of right answers that hold it.

    'Sir' or 'lately' is held by few of them, and says little if it is missing; 'cough' is held by most.
    """
    shares = [(weights.get(("word", word), UNSEEN), strength) for word, strength in strengths]
    lacks = [(1.0 - strength) * -math.log(1.0 - min(share, 0.95)) for share, strength in shares]
    return {
        "holds": sum(share * strength for share, strength in shares) / (sum(share for share, _ in shares) or 1.0),
        "lacks": min(5.0, sum(lacks)) / 3.0,
        "lacks most": max(lacks, default=0.0),
        "lacks in all": sum(share * (1.0 - strength) for share, strength in shares) / 2.0,
    }


def asked_words(question: str) -> frozenset[str]:
    """The words of a question without endings, little ones too."""
    return frozenset(vocabulary.word_stem(word) for word in re.findall(r"[a-z']+", question.lower()))


_MOST_ASKED = 3.0
"""The largest sum of the weights of a question's words that is counted."""


def asked_figure(question: str, weights: Weights) -> float:
    """How often records answer questions in such words, from -1 (hardly ever, 'worries you') to 1 ('brought you')."""
    total = sum(weights.get(("asked", word), 0.0) for word in sorted(asked_words(question)))
    return max(-_MOST_ASKED, min(_MOST_ASKED, total)) / _MOST_ASKED


_WHEN = re.compile(
    r"\b(?:when|after|before|during|while|if|at|with|lying|in the|first thing|because of|without)\b(?P<rest>[^,?]*)",
    re.IGNORECASE,
)


def _circumstance(question: str, means: frozenset[str]) -> dict[str, float]:
    """Whether a sentence holds or lacks the circumstance that a question names ('at night', 'after meals')."""
    when = _WHEN.search(question, 4)
    units = vocabulary.units(when["rest"]) if when else ()
    return {
        "circumstance": max((strength_of(unit, means) for unit in units), default=0.0),
        "circumstance missing": float(bool(units) and max(strength_of(unit, means) for unit in units) < 0.5),
    }


def _nowhere(question: HistoryQuestion, memory: Memory) -> dict[str, float]:
    """What of a question no sentence of the story tells: its symptoms, its topic."""
    findings = frozenset(name for fact in memory.facts for name in vocabulary.with_wider(fact.findings))
    lacks = float(bool(question.findings) and not question.findings & findings)
    topic = next(iter(question.topics), None)
    return {
        "finding told nowhere": lacks,
        "finding told nowhere, yes or no": lacks * question.yes_no,
        "topic told nowhere": float(
            topic is not None and not any(is_about(topic, fact.section, fact.text) for fact in memory.facts)
        ),
    }


def _rules(proposed: Recollection, fact: Fact) -> dict[str, float]:
    """Whether the rules proposed a sentence, first or later."""
    place = proposed.facts.index(fact) if fact in proposed.facts else -1
    return {"rules first": float(place == 0), "rules later": float(place > 0)}


def _cover(asked: Sequence[vocabulary.Unit], means: frozenset[str], known: frozenset[str]) -> dict[str, float]:
    """How much of the question a sentence covers, of all its words and of those that the complaint does not hold."""
    new = [unit for unit in asked if not unit.meanings & known]
    hits = [unit for unit in asked if unit.meanings & means]
    return {
        "cover": _share(asked, means),
        "all covered": float(bool(asked) and len(hits) == len(asked)),
        "new covered": _share(new, means),
        "new missing": min(2.0, sum(unit.weight for unit in new if not unit.meanings & means)) / 2.0,
        "missing": min(3.0, sum(unit.weight for unit in asked if not unit.meanings & means)) / 2.0,
    }


def _share(asked: Sequence[vocabulary.Unit], means: frozenset[str]) -> float:
    total = sum(unit.weight for unit in asked)
    return sum(unit.weight for unit in asked if unit.meanings & means) / total if total else 0.0


def _kinds(memory: Memory, question: HistoryQuestion, fact: Fact, thread: HistoryQuestion | None) -> dict[str, float]:
    """Whether a sentence is of the kind asked: detail, answer, topic, relatives, site, polarity."""
    hits = [_tells(name, fact, question) for name in question.details]
    lacks_place = PLACE_ASKED.search(question.text) is not None and not _tells_place(question, fact)
    asked = _kinds_asked(question.text, thread.text if thread else "")
    kinds = [tells.search(fact.text) is not None for _, tells in asked]
    kin = KIN.search(question.text) is not None
    related = fact.family or (kin and KIN.search(fact.text) is not None)
    sited = bool(question.sites and fact.sites)
    agree = sited and sites_agree(question.sites, fact.sites)
    topic = next(iter(question.topics), None)
    own = topic is not None and topic.in_text.search(fact.text) is not None
    return {
        "detail": float(bool(hits) and hits[0]),
        "detail missing": float(bool(hits) and not any(hits)),
        "of the kind asked": float(any(kinds)),
        "lacks the kind asked": float(not all(kinds)),
        "lacks every kind asked": float(bool(kinds) and not any(kinds)),
        "lacks the place asked": float(lacks_place),
        "open, denied": float(not question.yes_no and fact.denied),
        "relatives": float(kin and related),
        "relatives not asked": float(fact.family and not kin),
        "relatives not told": float(kin and not related),
        "topic": float(own),
        "topic's section": float(topic is not None and any(name in fact.section.lower() for name in topic.sections)),
        "site": float(agree),
        "other site": float(sited and not agree),
        "finding": float(bool(question.findings & fact.findings)),
        "finding missing": float(
            bool(question.findings) and not question.findings & vocabulary.with_wider(fact.findings)
        ),
        "finding affirmed": float(any(question.findings & item.findings and not item.denied for item in fact.items)),
        "finding denied": float(
            any(question.findings & vocabulary.with_wider(item.findings) and item.denied for item in fact.items)
        ),
        "topic missing": float(topic is not None and not is_about(topic, fact.section, fact.text)),
        "main": float(fact in memory.main),
        "complaint": float(fact.section == COMPLAINT),
        **{f"{name}, {'told' if tells else 'lacking'}": 1.0 for (name, _), tells in zip(asked, kinds, strict=True)},
    }


PLACE_ASKED = re.compile(
    r"\bwhere(?:abouts)?\b(?! (?:do|did|are|is|were|was) (?:you|he|she|they|the family) "
    r"(?:from|live|living|work|born|stay|travel|go\b))"
    r"|\b(?:which|what) (?:part|bit|area|spot|place)s?\b|\bpoint to\b|\bone finger\b",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    r"\b(?:upper|lower|mid\w*|left|right|both|bilateral|front|back|anterior|posterior|antero\w*|postero\w*|lateral|medial|"
    r"dorsal|ventral|proximal|distal|central|inner|outer|quadrant|epigastri\w*|umbilic\w*|periumbilic\w*|hypochond\w*|"
    r"flank|iliac|suprapubic|substernal|retrostern\w*|occipital|frontal|temporal|thoracic|lumbar|cervical|sacral|coccyg\w*|"
    r"vaginal|inguinal|scrot\w*|perineal|gluteal|axilla\w*|mandib\w*|maxill\w*|buccal|lip|palm\w*|sole\w*|tip|generali[sz]ed|"
    r"diffuse|localized|angle|carpo\w*|crown|gland|trunk|hands|feet|limbs)\b",
    re.IGNORECASE,
)


def _tells_place(question: HistoryQuestion, fact: Fact) -> bool:
    """Whether a sentence names a place, or a part of one, that the question itself does not name."""
    parts = {match[0].lower() for match in _PART_OF.finditer(fact.text)}
    named = {match[0].lower() for match in _PART_OF.finditer(question.text)}
    return bool(parts - named) or bool(fact.sites - question.sites)


def _tells(detail: str, fact: Fact, question: HistoryQuestion) -> bool:
    """Whether a sentence tells this kind of detail; a place of the body only if it names one."""
    if detail == "place" and not question.topics:
        return bool(fact.sites) or _PLACES.search(fact.text) is not None
    return _DETAILS[detail].search(fact.text) is not None


@lru_cache(maxsize=8192)
def _kinds_asked(question: str, before: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """What a sentence has to tell that answers: a number for 'how many', a medicine for 'which tablets'.

    A pattern with `>` reads the question `before` as well: after 'Is one leg weak?' 'Which one?' asks for a side.
    """
    both = f"{before} > {question}" if before else ""
    return tuple(
        (name, tells)
        for name, asked, tells in _answer_kinds()
        if asked.search(both if ">" in asked.pattern else question) is not None
    )


@cache
def _answer_kinds() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Kinds of answer: what asks for one, and what a sentence that gives it holds (`answer_kinds.csv`)."""
    return tuple(
        (row["kind"], re.compile(row["asked"], re.IGNORECASE), re.compile(row["told"], re.IGNORECASE))
        for row in history_rows("answer_kinds.csv")
    )


def kind_figures() -> frozenset[str]:
    """The names of the figures of single kinds of answer: each kind asked for, and told or lacking."""
    return frozenset(f"{name}, {how}" for name, _, _ in _answer_kinds() for how in ("told", "lacking"))
