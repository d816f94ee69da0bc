"""Compares a stated diagnosis with the truth: the diseases asserted in the answer against the parts of the truth."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from wardround.engine.text import regex
from wardround.scenarios.answers import principal
from wardround.scenarios.answers.answer_markup import headed_answer, legible, unfilled, unheaded, unmarked, unnumbered
from wardround.scenarios.answers.bracketed_names import PIECE, full_text, other_names, own_names, second_names
from wardround.scenarios.answers.commitment import Asserted, CommittedAnswer, entries, join_asserted, read_answer
from wardround.scenarios.answers.open_choice import weighed
from wardround.scenarios.answers.principal import follows, leads_to
from wardround.scenarios.answers.taken_back import affixed, standing, why_nothing_stands
from wardround.scenarios.answers.truth import parts_of
from wardround.scenarios.case import Case, Truth
from wardround.scenarios.diseases.contradiction import BINOMIAL, core, kinds, write_words
from wardround.scenarios.diseases.definitions import defines
from wardround.scenarios.diseases.disease import disease, whole
from wardround.scenarios.diseases.disease_heads import consequence, disease_like
from wardround.scenarios.diseases.disease_name import PLAIN, parse_name, weight
from wardround.scenarios.diseases.foreign_diseases import diseases_in_english
from wardround.scenarios.diseases.mondo import twofold
from wardround.scenarios.diseases.other_names import another_name
from wardround.scenarios.diseases.relations import relation
from wardround.scenarios.diseases.same_disease import infects, same_disease
from wardround.scenarios.terms.cues import cue, cues_in_english
from wardround.scenarios.terms.wording import key, plain, tokens, vocabulary

Rule = Literal[
    "exact", "head", "cause", "beside", "alternatives", "none", "denied", "undecided", "several", "empty", "nothing"
]
SEVERAL = "several_answers"
"""The reason for a score of 0.0 if an answer commits to no single diagnosis."""
SHORT = 14
"""Longest answer, in words, that is also compared as a whole with the truth's name."""
LONGEST_AFFIXED = 200
"""Longest answer, in characters, that is also compared without an affix such as 'non-'."""
BRIEF = 7
"""Two names are brief if they have at most so many different words together."""

_REASONS: Mapping[Rule, str] = {
    **dict.fromkeys(("undecided", "several"), SEVERAL),
    **dict.fromkeys(("empty", "nothing", "denied"), "no_diagnosis_asserted"),
}
"""The reason for the score, by each rule that finds no single diagnosis in the answer."""

_PAST = regex(
    r"(?i)\b(?:history|known|previous(?:ly)?|prior|past|diagnosed|underlying|comorbid\w*|chronic|background|treated for"
    r"|on treatment|years? ago|months? ago|since childhood|with a diagnosis of|suffers? from|long-?standing)\b"
)
_SPREAD = regex(
    r"(?i)\bwith\b(?:(?!\bwith\b|,|;).)*\b(?:metasta\w*|spread|dissemination|extension|invasion)\b"
    r"(?:(?!\b(?:from|due|with|secondary)\b|[,;]).)*"
)
_PLACED = regex(r"(?i)\s+(?:of|in)\s.+$")
_OPENED = regex(r"[(\[{<~]")
_TOGETHER = regex(r"(?i)\bco-?infections?\b")
_JOINED = regex(r"(?i)[,/]|\b(?:and|with|due to)\b")
_SENTENCE = regex(r"(?<=[a-z0-9)]{2})[.!?]\s+|[;\n]+")

NOTHING = CommittedAnswer()


class Verdict(msgspec.Struct, frozen=True):
    """Whether the answer is right, by which rule, and why in plain words.

    An answer is right by `exact` (the name itself), `head` (the disease asserted first), `cause` (the cause of the
    first), `beside` (what goes with the first) or `alternatives` (all of them are the truth), and wrong by `none`
    (another disease), `denied`, `undecided`, `several`, `empty` or `nothing` (no disease is asserted). `said` tells
    which `parts` of the truth the answer asserts. The field `beside` lists asserted diseases unrelated to the truth.
    """

    match: bool
    rule: Rule
    why: str
    read: CommittedAnswer = NOTHING
    parts: tuple[str, ...] = ()
    said: tuple[bool, ...] = ()
    beside: tuple[str, ...] = ()
    committed: str = ""
    """The text shown to a judge in place of the answer; "" if it would be the answer itself."""

    @property
    def reason(self) -> str:
        """The typed reason for a score of 0.0; "" if the answer is a single diagnosis."""
        return _REASONS.get(self.rule, "")

    @property
    def all_parts(self) -> bool:
        """Whether the answer asserts every part of the truth."""
        return bool(self.said) and all(self.said)

    @property
    def f1(self) -> float:
        """F1 of the asserted diseases against the parts; unrelated diseases count as false positives."""
        right = sum(self.said)
        return 2 * right / (right + len(self.beside) + len(self.parts)) if right else 0.0


def past_of(case: Case) -> str:
    """The patient's past in a case: its history, and the sentences of its opening that speak of the past."""
    past = [sentence for sentence in _SENTENCE.split(case.opening) if _PAST.search(sentence)]
    return "\n".join((*case.history.values(), *past))


_OF_ONE_WORD = frozenset(("non", "anti", "pre", "post", "un", "para", "semi"))
"""Affixes that may belong to one word beside the disease: 'post-operative cellulitis' is cellulitis."""


def _joined_elsewhere(affix: str, rest: str, labels: Sequence[str]) -> bool:
    """Whether the affix is joined to a word that no label of the truth has, with more words after it."""
    split = rest.split(maxsplit=1)
    joined = tokens(split[0]) if affix in _OF_ONE_WORD and len(split) > 1 else ()
    words = [word for label in labels for word in tokens(label)]
    return bool(joined) and not any(word[:5] == other[:5] for word in joined for other in words)


def compare(answer: str, truth: Truth, past: str = "") -> Verdict:
    """Compare a stated diagnosis with the truth.

    An answer is right if its head (the disease asserted first, or the cause of that disease) is the truth's principal
    part and it asserts at most one unrelated disease. A disease is related if it is a part of the truth, a wider or
    narrower disease or a complication by the tables, or mentioned in `past`, the patient's history (`past_of`). The
    share of right answers is a floor: other wordings of the truth may be missed.
    """
    read, raw, parts, label = read_answer(answer), legible(answer).strip(), parts_of(truth), truth.diagnosis
    if (plain_label := unnumbered(label)) != label:
        truth = truth.model_copy(update={"diagnosis": plain_label, "synonyms": (label, *truth.synonyms)})
    answer = standing(weighed(unmarked(answer)))
    if not key(answer):
        return Verdict(False, "empty", why_nothing_stands(raw), parts=parts)
    labels = tuple(label for label in (truth.diagnosis, *truth.synonyms) if key(label))
    if not labels or not parts:
        return Verdict(False, "none", "the truth names no disease", read)
    written, answer = answer.strip(), diseases_in_english(answer)
    if {raw, written} & {*map(str.strip, labels)} or (
        not unfilled(answer) and {whole(written), whole(answer.strip())} & {*map(whole, labels)}
    ):
        return Verdict(True, "exact", "the truth's own name", read, parts, (True,) * len(parts))
    for rest, affix in affixed(answer) if len(answer) <= LONGEST_AFFIXED else ():
        said = answer.lower().count(affix)
        if _joined_elsewhere(affix, rest, labels) and compare(rest.split(maxsplit=1)[1], truth, past).match:
            continue
        if all(label.lower().count(affix) < said for label in labels) and compare(rest, truth, past).match:
            why = f"the true diagnosis with {affix!r} is not the true diagnosis"
            return Verdict(False, "denied", why, read, parts, (False,) * len(parts))
    answer = answer if answer.isascii() else cues_in_english(answer)
    if read.undecided:
        return _alternatives(read, _targets(truth, parts), parts)
    if not read.asserted:
        denied = any(_is(name, _targets(truth, parts)) for name in read.dropped)
        why = "the true diagnosis is denied, not asserted" if denied else "no diagnosis is asserted"
        return Verdict(False, "denied" if denied else "nothing", why, read, parts, (False,) * len(parts))
    verdict = _defined(_as_a_whole(_committed(read, truth, parts, past, raw), answer, truth))
    exchanged = verdict.rule == "cause" and verdict.match and _exchanged(read.asserted, truth)
    why = f"cause and consequence are exchanged: {read.asserted[0].name!r}" if exchanged else ""
    if verdict.match and (why := why or _contradiction(answer, read.asserted, truth)):
        return replace(verdict, match=False, rule="none", why=why, said=(False, *verdict.said[1:]))
    return verdict


def _as_a_whole(verdict: Verdict, answer: str, truth: Truth) -> Verdict:
    """The verdict on a short answer, after comparing it as a whole with the truth's whole name.

    Reading disease by disease loses the words after the comma of a name such as 'gout, right foot'. So a name that
    contradicts the truth's is wrong, and one that contains all of it is right.
    """
    bare = " ".join(headed_answer(unheaded(answer)).split())
    if verdict.rule not in ("head", "cause", "beside", "none", "several"):
        return verdict
    labels = [label for label in (truth.diagnosis, *truth.synonyms) if key(label)]
    if verdict.match and verdict.rule == "head" and len(bare.split()) <= SHORT:
        compared = [same_disease(label, bare) for label in labels]
        if compared[0].contrary and not any(one.same for one in compared) and _alike(truth.diagnosis, bare):
            why = f"{bare!r} is not {truth.diagnosis!r}: {compared[0].reason}"
            return replace(verdict, match=False, rule="none", why=why, said=(False, *verdict.said[1:]))
        return verdict
    items = verdict.read.asserted
    if verdict.match or not items:
        return verdict
    full = [label for label in labels if label == truth.diagnosis or not label.isupper()]
    brief = len(verdict.parts) == 1 and len(bare.split()) <= 2 * SHORT and not verdict.read.dropped
    if (
        brief
        and (len(items) == 1 or "\n" not in headed_answer(unheaded(answer)).strip())
        and not _OPENED.search(bare)
        and any(another_name(one, bare) or (verdict.rule == "none" and _both_ways(one, bare)) for one in full)
    ):
        return replace(verdict, match=True, rule="head", why=f"{bare!r} is {truth.diagnosis!r}", said=(True,))
    if verdict.rule == "several":
        return verdict
    listed_parts = [item.link for item in read_answer(truth.diagnosis).asserted[1:2]] == ["and"]
    if listed_parts and not any(_states(item, verdict.parts[0]) for item in items):
        return verdict
    plain_one = not verdict.read.dropped and not any(item.link == "and" for item in items)
    if plain_one and any(_said_in_all(items, label) for label in labels):
        why = f"{bare!r} is {truth.diagnosis!r} as a whole"
        return replace(verdict, match=True, rule="head", why=why, said=(True, *verdict.said[1:]))
    return verdict


def _defined(verdict: Verdict) -> Verdict:
    """The verdict, made right if the answer says what defines the truth, or names what the truth describes."""
    items = verdict.read.asserted
    if verdict.match or not items:
        return verdict
    stated = defines(verdict.parts[0], [item.text for item in items])
    others = [item for place, item in enumerate(items) if place not in (stated or ()) and not consequence(item.name)]
    by_name = defines(items[0].name, verdict.parts)
    if (stated is not None and len(others) <= principal.MOST_FOREIGN) or (by_name is not None and len(items) == 1):
        why = f"{items[0].name!r} is defined as {verdict.parts[0]!r}"
        return replace(verdict, match=True, rule="head", why=why, said=(True, *verdict.said[1:]))
    return verdict


def _exchanged(items: Sequence[Asserted], truth: Truth) -> bool:
    """Whether the disease that an answer asserts first is a cause of the truth."""
    causes = [item for item in read_answer(truth.diagnosis).asserted[1:] if item.link == "due"]
    return any(same_disease(cause.name, items[0].name).same for cause in causes)


def _both_ways(label: str, bare: str) -> bool:
    """Whether a name with a joiner inside ('tetralogy of Fallot and glaucoma') and an answer mean each other."""
    if (
        not _JOINED.search(label)
        or twofold(bare)
        or not (same_disease(label, bare).same and same_disease(bare, label).same)
    ):
        return False
    items = read_answer(bare).asserted
    return all(parse_name(item.name).words & core(parse_name(label).words) for item in items)


def _said_in_all(items: Sequence[Asserted], label: str) -> bool:
    """Whether diseases joined by 'with' and 'due to' together state the name, and the first does not contradict it."""
    first, noun = items[0].name, parse_name(label).noun
    if noun not in parse_name(items[0].text).words or any(noun in parse_name(item.name).words for item in items[1:]):
        return False
    detailed_items = [replace(item, text=full_text(item)) for item in items]
    whole_name = _SPREAD.sub(" ", join_asserted(detailed_items))
    label = _SPREAD.sub(" ", label)
    return same_disease(label, whole_name).same and _shares(first, label) and not same_disease(label, first).opposite


def _alike(one: str, other: str) -> bool:
    """Whether two names are built alike, as sibling diseases are: both brief, or each shares half of its words."""
    ours, theirs = set(plain(one).split()), set(plain(other).split())
    return len(ours | theirs) <= BRIEF or 2 * len(ours & theirs) >= max(len(ours), len(theirs))


def _committed(read: CommittedAnswer, truth: Truth, parts: tuple[str, ...], past: str, raw: str) -> Verdict:
    items = read.asserted
    targets = _targets(truth, parts)
    hits = [_is_one(item, targets) for item in items]
    belongs = [hit or any(_is_one(item, (part,)) for part in parts[1:]) for item, hit in zip(items, hits, strict=True)]
    head, rule = principal.head(items, hits, belongs, truth.diagnosis)
    said = tuple(
        head is not None if not place else any(_is_one(item, (part,)) for item in items)
        for place, part in enumerate(parts)
    )
    if head is None and len(parts) > 1:
        stated = [next((place for place, item in enumerate(items) if _states(item, part)), None) for part in parts]
        opening = (0, 1) if items[1:2] and items[1].link == "due" and follows(items[0], items[1]) else (0,)
        if None not in stated and any(place in stated for place in opening):
            head, rule, said = stated[0], "head", (True,) * len(parts)
    if head is None and (detail := _in_details(items, belongs, parts[0], truth.diagnosis)) is not None:
        head, rule, said = detail, "beside", (True, *said[1:])
    place = head if head is not None else 0
    foreign = principal.foreign(items, place, belongs, parts, past, truth.diagnosis)
    free = principal.explanatory(items, place, foreign) if head is not None else []
    beside = tuple(items[other].name for other in foreign if other not in free)
    beside = (*beside, *second_names(items, (*targets, *parts)))
    plain_one = read.simple and not foreign and not any(hits[place + 1 :]) and not any(item.aliases for item in items)
    shown = "" if plain_one else _shown(items, foreign, hits, place)
    if len(beside) > principal.most_beside(raw, said):
        why = f"several answers: beside {items[place].name!r} it asserts {', '.join(beside[:5])}"
        return Verdict(False, "several", why, read, parts, said, beside, shown)
    if head is not None and _TOGETHER.search(truth.diagnosis) and len(items) < len(parts):
        why = f"only {len(items)} of {len(parts)} infections are named"
        return Verdict(False, "none", why, read, parts, said, beside, shown)
    if head is not None:
        why = f"{items[head].name!r} is the principal diagnosis {parts[0]!r}"
        return Verdict(True, rule, why, read, parts, said, beside, shown)
    first = same_disease(parts[0], items[0].name).reason
    return Verdict(False, "none", f"{items[0].name!r} is not {parts[0]!r}: {first}", read, parts, said, beside, shown)


def _contradiction(answer: str, items: Sequence[Asserted], truth: Truth) -> str:
    """The reason, if what a matching answer adds to the disease contradicts the truth: a stage, a cause, a kind.

    If the truth has a cause, another cause or another kind contradicts it, and a name of one word needs its organism.
    """
    meant, targets = read_answer(truth.diagnosis).asserted, _targets(truth, parts_of(truth))
    if not meant:
        return ""
    place = next((place for place, item in enumerate(items) if _is_one(item, targets)), 0)
    said, label = _with_causes(items[place:]), _with_causes(meant)
    compared = [same_disease(name, said) for name in (label, *truth.synonyms) if key(name)]
    if compared[0].opposite and not any(one.same for one in compared):
        return f"{said!r} is not {label!r}: {compared[0].reason}"
    agent, cause = parse_name(label).cause.words, core(parse_name(said).cause.words)
    if not core(agent) or core(agent) & parse_name(answer).words:
        return ""
    if cause:
        known = any(relation(one.name, other.name) for one in items[place + 1 :] for other in meant[1:])
        return "" if known else f"another cause than the truth's: {said!r}"
    kind = [word for word in parse_name(items[place].name).head.words if weight(word) == 1.0]
    kind = [word for word in kind if word not in parse_name(truth.diagnosis).words]
    if kind and kinds(kind) != {"site"}:
        return f"another kind than the truth's, which has a cause: {items[place].name!r}"
    living = "organism" in kinds(agent) or bool(BINOMIAL.search(label))
    if living and len(core(parse_name(meant[0].name).head.words)) == 1:
        return f"the organism is not said: {write_words(agent, agent)}"
    return ""


def _with_causes(items: Sequence[Asserted]) -> str:
    """The first of some asserted diseases with its details and the causes that follow it."""
    end = next((place for place, item in enumerate(items) if place and item.link != "due"), len(items))
    return join_asserted([replace(item, text=full_text(item)) for item in items[:end]])


def head_diseases(read: CommittedAnswer) -> tuple[str, ...]:
    """The disease that an answer asserts first, and its cause if the first is a consequence; needs no truth."""
    first, *others = read.asserted or (None,)
    if first is None:
        return ()
    return (first.text, *(other.text for other in others[:1] if other.link == "due" and follows(first, other)))


def _shown(items: Sequence[Asserted], foreign: Sequence[int], hits: Sequence[bool], head: int) -> str:
    """The text of a multi-part answer shown to a judge, without diseases unrelated to the one committed to."""
    kept = [
        own_names(item)
        for place, item in enumerate(items)
        if place == head or (place not in foreign and not (hits[place] and place > head))
    ]
    return join_asserted(kept)


def _alternatives(read: CommittedAnswer, targets: tuple[str, ...], parts: tuple[str, ...]) -> Verdict:
    """Judge alternatives: right only if each of them is the truth, as with two names of one disease."""
    if all(_is(name, targets) for name in read.undecided):
        return Verdict(True, "alternatives", "all alternatives are the truth", read, parts, (True,) * len(parts))
    why = f"several answers: {', '.join(read.undecided[:5])} are left open"
    return Verdict(False, "undecided", why, read, parts, (False,) * len(parts))


def rank_in_list(answer: str, truth: Truth, most: int = 0) -> tuple[int | None, int]:
    """(the rank of the truth in a list, from 1, or None if it is absent; the number of entries).

    For settings and papers that ask for a list. Only the first `most` entries are read; all of them if `most` is 0.
    Each entry is compared as an answer of its own. The cause in an entry, or what goes with its disease, counts only if
    no other entry names several diseases.
    """
    listed_names = entries(answer)
    read = listed_names[:most] if most else listed_names
    alone = sum(len(read_answer(entry).asserted) > 1 for entry in read) <= 1
    for rank, entry in enumerate(read, 1):
        verdict = compare(entry, truth)
        if verdict.match and (alone or verdict.rule not in ("cause", "beside")):
            return rank, len(listed_names)
    return None, len(listed_names)


def _targets(truth: Truth, parts: Sequence[str]) -> tuple[str, ...]:
    """Every name of the principal part; if the truth has only one part, its label and synonyms."""
    names = (parts[:1] if len(parts) > 1 else (truth.diagnosis, *parts[:1])) if parts else ()
    firsts = [item for name in names for item in read_answer(name).asserted[:1]]
    bare = tuple(text for item in firsts for text in (item.text, item.name, *_own_aliases(item)))
    return tuple(dict.fromkeys(name for name in (*names, *bare, *truth.synonyms) if key(name)))


def _own_aliases(item: Asserted) -> list[str]:
    """The other names that a truth gives its disease in brackets, each at the disease's site."""
    place = _PLACED.search(item.name)
    return [f"{alias}{place[0] if place else ''}" for alias in item.aliases if disease_like(alias)]


def _is_one(item: Asserted, targets: Sequence[str]) -> bool:
    """Whether an asserted disease is one of the targets, by its name, another name given for it, or its full text.

    The full text counts only if the name shares a word with the target, and without what it says of spread: 'gout with
    features of lupus' is not lupus, and 'colon cancer with lung metastasis' is not lung cancer.
    """
    others = other_names(item)
    full = _SPREAD.sub(" ", full_text(item))
    against = bool(targets) and same_disease(targets[0], item.name).contrary
    against = against and not (_shares(item.name, targets[0]) and same_disease(targets[0], full).same)
    modifier = full.removesuffix(item.name).strip() if full.endswith(item.name) else ""
    for target in targets:
        if against and not same_disease(item.name, target).same:
            continue  # the name contradicts the first target: another target counts only if it means this name
        if _any_same(target, (item.name, *others)):
            return True
        if key(modifier) and _any_same(target, (modifier,)):
            continue  # the last noun heads a compound: 'sarcoidosis migraine' is no sarcoidosis
        detailed = _shares(item.name, target) or another_name(target, full)
        if (detailed or infects(parse_name(target), parse_name(full))) and _any_same(target, (full,)):
            return True
    return False


def _states(item: Asserted, part: str) -> bool:
    """Whether an asserted disease names a part of the truth, itself or in a detail that is not left open."""
    first, *details = PIECE.split(full_text(item))
    said = details if first.strip() != item.name and first.strip().endswith(item.name) else [first, *details]
    pieces = [piece for piece in said if not cue("weak", "or", "apart").search(piece)]
    return _is_one(item, (part,)) or any(key(piece) and same_disease(part, piece).same for piece in pieces)


def _in_details(items: Sequence[Asserted], belongs: Sequence[bool], part: str, truth: str) -> int | None:
    """The position of an asserted disease whose details name the `part`, if it and those before lead to the part."""
    for place, item in enumerate(items):
        if not (belongs[place] or leads_to(item.name, part, truth)) or (place and item.link in ("and", "due")):
            return None
        if _states(item, part):
            return place
    return None


def _any_same(target: str, said: Sequence[str]) -> bool:
    """Whether any of the names is the target; a target that is an abbreviation must match exactly."""
    if target.isupper() and " " not in target.strip():
        return any(key(target) == key(name) for name in said)
    return any(same_disease(target, name).same for name in said)


def _shares(name: str, other: str) -> bool:
    """Whether two names share a distinctive word, or a plain noun and no different site."""
    if any(one[:6] == two[:6] for one in _own(name) for two in _own(other)):
        return True
    ours, theirs = parse_name(name).head.words, parse_name(other).words
    sites = vocabulary().sites
    return any(word in PLAIN and word in theirs for word in ours) and all(
        word in theirs for word in ours if word in sites
    )


def _own(name: str) -> list[str]:
    """The distinctive words of a name: without 'disease', degree, side and site."""
    taken = disease(name)
    return [word for word, weight in zip(taken.words, taken.weights, strict=True) if weight == 1.0]


def _is(said: str, targets: Sequence[str]) -> bool:
    return any(_any_same(target, (said,)) for target in targets)
