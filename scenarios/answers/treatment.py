"""Compares a treatment plan with the true one, by the measures that each of them gives, stops and avoids."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import msgspec

from wardround.engine.text import regex
from wardround.scenarios.answers.answer_markup import unmarked
from wardround.scenarios.answers.double_negation import kept
from wardround.scenarios.answers.plan_measures import (
    ASIDES,
    BRACKET,
    DOING,
    JOINER,
    PlanMeasure,
    contrary,
    measures_in,
    measures_listed,
    shares_general_words_only,
    with_classes,
)
from wardround.scenarios.answers.plan_options import chooses_nothing, for_now, plans_offered, set_aside
from wardround.scenarios.answers.stance import RETRACTS
from wardround.scenarios.answers.taken_back import NOT_THE_PLAN, affixed, standing
from wardround.scenarios.case import Truth
from wardround.scenarios.terms.cues import cue, cues_in_english
from wardround.scenarios.terms.wording import flat, key, unstruck

_SENTENCE = regex(r"(?:(?<=[a-z0-9)\]%]{2})|(?<=[A-Za-z]{2}[a-z]))[.!]+(?:\s+|$)|[;\n]+|\.$|\?")
_TURN = regex(
    r"(?i)(?<!anything)(?<!everything)(?<!nothing)(?<!\ball)[\s,]+"
    r"(?:but|however|although|though|whereas|instead(?! of))\b[\s,]*"
)
_OR = regex(r"(?i)\b(?:or|x?or|versus|vs|alternately|otherwise|sive)\b\.?|\s/\s|(?<=\s)v\.?(?=\s)")
_VERSUS = regex(r"(?i)\bvs\.")
_AVOIDED = regex(
    r"(?i)\b(?:avoid\w*|contra-?indicated|inadvisable|not (?:recommended|indicated|advised|needed|required"
    r"|necessary|appropriate|given"
    r"|used|started|an option)|(?:should|must|do|does|did|will|would|can|could|need)(?: ?not|n['’]t)|no (?:role"
    r"|need|indication|place|benefit)"
    r"|never|rather than|instead of|without|withhold\w*|refrain\w*|defer(?:red|ring)?|no|not|neither|nor"
    r"|unnecessary|ruled out|against|omit\w*"
    r"|forgo\w*|skip\w*|leav(?:e|ing) out|(?:patient|he|she|they|family|parents?) (?:refuse|decline)[sd]?"
    r"|mimic\w*|excluding|exclusion of|evidence of"
    r"|hardly|scarcely|barely|hypothetically|theoretically|no way|opposite of|absence of|unrelated to|negative for"
    r"|history of|except(?: for)?|status post|s/p|r/o|rule out|(?:is|are|was|were|has|have|had)n['’]t|z\.n\."
    r"|(?:better|likelier|(?:more|rather) \w+) than"
    r"|ineffective|harmful|dangerous|wrong|inappropriate|in place of|other than|anything but|forbidden|prohibited)\b"
)
_STOPPED = regex(
    r"(?i)\b(?:stop(?:ped|ping|s)?|discontinu\w+|withdraw\w*|cease|cessation of|suspend\w*|hold(?:ing)?|held"
    r"|terminat\w+|remov(?:e|al) of the"
    r" drug|switch(?:ed|ing)? from|(?:taper|wean)\w* off)\b"
)
_AGAINST = regex(f"{_AVOIDED.pattern}|{_STOPPED.pattern.removeprefix('(?i)')}")
_AFTER = regex(
    r"(?i)\b(?:(?:is|are|was|were|be|been|seems?|remains?|would be|should be|must be)\s+(?:\w+ly\s+)?(?:avoid\w*"
    r"|contra-?indicated|stopped"
    r"|discontinued|withheld|held|withdrawn|suspended|unnecessary|ineffective|harmful|dangerous|inappropriate|wrong"
    r"|inadvisable|forbidden|omitted"
    r"|deferred|ruled out)|(?:is|are|was|were|should|must|need|does|do|will|would|can|could)(?: ?not|n['’]t)"
    r"|has no (?:role|place|benefit)"
    r"|have no (?:role|place|benefit)|contra-?indicated|not(?=\s*(?:,|$)))\b"
)
_NO_LONGER = r"stopped|discontinued|withheld|held|withdrawn|suspended|ceased|omitted|deferred|avoided"
_DONE = r"given|started|begun|initiated|administered|added|continued|commenced|performed|prescribed|resumed"
_VERB_LAST = regex(
    rf"(?i)\b(?:(?:is|are|was|were|be|been)\s+)?(?:(?P<against>{_NO_LONGER})|{_DONE})\b"
    r"(?:\W*$|(?:\s*,)?(?:\s+(?:and|then|while|but)\b)?)"
)
"""A verb after its measures, with what joins the next ones: 'metformin held, insulin started'."""
_GIVING = regex(
    r"(?i)(?:,|\band\b|\bthen\b)\s*(?:then\s+)?(?=(?:give|start|begin|use|initiat\w*|administer\w*|add|switch"
    r"|commence|prescrib\w*|perform|proceed|treat|continu\w*|transition|replace|stop|discontinu\w*|avoid\w*)\b)"
)
_GIVING_OR_COMMA = regex(rf"{_GIVING.pattern}|,\s*(?!\s*(?:or|and|nor)\b)(?![^,]*,?\s*\b(?:or|nor)\b)")
_BRIEFLY = regex(r"(?i)no|not|without|(?:should|must|do|does|did|will|would|can|could|need)(?: ?not|n['’]t)")
_OF_ALL = regex(r"(?i)\W*(?:(?:this|that|it|there)\s+(?:is|are|was|were)\b|I\s+would\b|(?:\w+\s+)?is\s+not\b|not\b)")
_DIAGNOSED = regex(r"(?i)\W*(?:it|this|that)(?: is|['’]s| was)(?:\s+(?!\w+(?:ed|ing|en)\b)[\w-]+){1,5}\W*")
"""A clause that only says what the disease is: 'but it is seasickness'."""
_STATED = regex(r"(?i)not?|evidence of|never")
_UNLIKE = regex(
    r"(?i)anything but|other than|mimic\w*|rather than|hardly|scarcely|barely|hypothetically|theoretically|no way"
    r"|opposite of|absence of|unrelated to|negative for|except(?: for)?|status post|s/p|r/o|rule out|z\.n\."
    r"|(?:is|are|was|were|has|have|had)n['’]t|(?:better|likelier|(?:more|rather) \w+) than"
)
"""Denials of the rest of a clause: 'this is not A, give B' and 'seasickness rather than A, give B' give neither."""
_FINAL = regex(r"(?i)\bfinal\s+(?:answer|treatment(?: plan)?|plan|decision|diagnosis)\s*(?::|\bis\b)")
_REACH = 200
"""Characters at the beginning of a sentence in which it may take back what stands before it."""
_SAID_NO = regex(r"(?i)[:–—-]\s*(?:no|not|never|denied|excluded|wrong|out of the question)\W*$")
_OF_OTHERS = regex(
    r"(?i)(?:,\s*(?:which|who)\b|\b(?:whose|(?:next|other|another|neighbou?ring) (?:bed|patient)|(?:his|her|their)"
    r" (?:mother|father|brother|sister|twin|wife|husband|relatives?|neighbou?r))\b|\b(?:test|screen)(?:ing|s)? for\b)"
    r".*$"
)
"""Statements about the disease, another patient or possible tests; they give nothing to this patient."""
_TESTED = regex(r"(?i)(?:test|screen)")
_AT_LAST = regex(r"\W*(?:\w+\W*){0,2}$")
_REMAINS = regex(r"(?i)^\W*(?:\w+\s+){0,2}(?:excluding|exclusion of|ruling out)\b.*\bremains?\W*$")
_SPARED = regex(r"(?i)\b(?:not only|no later than|if not|no more than|no less than)\b")
_CONDITION = regex(r"(?i)\b(?:if|unless|should\s+(?:he|she|it|they|the patient)|in case of|in the event)\b.*$")
_STOPS_AT_LAST = regex(r"(?i):\s*(?:please\s+)?(?:stop|discontinue|withdraw|hold|cease|suspend)\W*$")


class Plan(msgspec.Struct, frozen=True):
    """The measures of a plan: `started`, `stopped` and `avoided`, in order.

    `options` are main measures among which the plan does not decide. `considered` are measures that it names without
    giving them: 'consider surgery'. `put` are the words by which it gives and stops; `whole` says that these are all of
    its words.
    """

    started: tuple[PlanMeasure, ...] = ()
    stopped: tuple[PlanMeasure, ...] = ()
    avoided: tuple[PlanMeasure, ...] = ()
    options: tuple[PlanMeasure, ...] = ()
    put: tuple[str, ...] = ()
    whole: bool = True
    considered: tuple[PlanMeasure, ...] = ()


@dataclass(slots=True)
class _Draft:
    """A plan whose clauses are being sorted."""

    started: list[PlanMeasure] = field(default_factory=list)
    stopped: list[PlanMeasure] = field(default_factory=list)
    avoided: list[PlanMeasure] = field(default_factory=list)
    options: list[PlanMeasure] = field(default_factory=list)
    put: list[str] = field(default_factory=list)
    whole: bool = True


@lru_cache(maxsize=1024)
def read_plan(text: str) -> Plan:
    """Read a plan: 'avoid ceftriaxone; give meropenem' gives meropenem and avoids ceftriaxone. Takes linear time.

    If whole plans are offered as alternatives ('A, perhaps B, or else C'), their measures are options.
    """
    draft = _Draft()
    raw, text = text, unmarked(text.replace("±", " +/- "), plan=True)
    left = _VERSUS.sub("vs", flat(standing(unstruck(text), plan=True)))
    for aside in ASIDES:
        left = aside.sub(" ", left)
    left = left[start:] if (start := _last_word(left)) else left
    draft.whole = left == flat(text) and raw.split() == text.split()
    text = cues_in_english(left.replace("*", ""))
    plans = [part for part in plans_offered(text) if measures_listed(part)]
    if len(plans) > 1:
        return _open(plans)
    return _decided(plans[0] if plans else text, draft)


def _open(plans: Sequence[str]) -> Plan:
    """The plan that leaves open which of several plans is carried out: all their measures are options."""
    every = tuple(_once([measure for plan in plans for measure in _named_in(plan)]))
    return Plan(started=every, options=every)


def _named_in(text: str) -> list[PlanMeasure]:
    return [measure for sentence in _SENTENCE.split(text) for measure in measures_listed(sentence)]


def _decided(text: str, draft: _Draft) -> Plan:
    """Sort a plan's clauses. A part that is only considered or in reserve is given if the plan names nothing else."""
    if (choice := chooses_nothing(text)) >= 0 and not _named_in(text[:choice]):
        return _open([text])
    apart = set_aside(text)
    gives, main = apart.gives, _named_in(apart.gives)
    considered, instead, reserved = (
        [part for part in parts if _named_in(part)] for parts in (apart.considered, apart.instead, apart.reserved)
    )
    if not main and len(only := [*considered, *instead, *reserved]) == 1:
        gives, considered, instead = only[0], [], []
    elif not main and only:
        return _open(only)
    if instead and len(main) <= 1:
        return _open([gives, *instead])
    draft.whole = draft.whole and gives == text
    for sentence in _SENTENCE.split(gives):
        for piece in _TURN.split(kept(sentence)):
            _sort(piece, draft)
    started, stopped, avoided = (tuple(_once(part)) for part in (draft.started, draft.stopped, draft.avoided))
    maybe = tuple(_once([measure for part in considered for measure in _named_in(part)]))
    return Plan(started, stopped, avoided, tuple(draft.options), tuple(draft.put), draft.whole, maybe)


def _last_word(text: str) -> int:
    """Where the final plan begins: after 'final plan:', or after words that take back what stands before them."""
    ends = [match.end() for match in _FINAL.finditer(text) if any(map(str.isalnum, text[match.end() :]))]
    begins = [0, *(end.end() for end in _SENTENCE.finditer(text))]
    ends += [begin + taken.end() for begin in begins if (taken := RETRACTS.match(text[begin : begin + _REACH]))]
    return max(ends, default=0)


def _sort(piece: str, draft: _Draft) -> None:
    """Sort the measures of one clause into started, stopped and avoided."""
    if _DIAGNOSED.fullmatch(piece):
        return
    if refused := cue("refused").search(piece):
        draft.avoided += measures_listed(piece[refused.end() :])
        draft.whole = False
        return
    if _SAID_NO.search(piece):
        _take(piece, measures_listed(piece), draft, stops=False)
        return
    if _STOPS_AT_LAST.search(piece):
        _take(piece, measures_listed(piece), draft, stops=True)
        return
    if others := _OF_OTHERS.search(piece):
        draft.whole = False
        piece = piece[: others.start()] + _denied_at_last(others[0])
    plain = _SPARED.sub(lambda match: "_" * len(match[0]), piece)
    if _verbs_last(piece, plain, draft):
        return
    after = _AFTER.search(plain) or cue("denied").search(plain)
    if after and (measures := measures_listed(piece[: after.start()])):
        _take(piece, measures, draft, stops=_STOPPED.search(after[0]) is not None)
        return
    while denial := _AGAINST.search(plain):
        _give(piece[: denial.start()], draft)
        whole = _OF_ALL.match(piece) is not None or _BRIEFLY.fullmatch(denial[0]) is None
        behind = piece[denial.end() :]
        part, rest = (behind, "") if _of_all(piece, denial) else _reach(behind, over_list=whole)
        _take(denial[0] + part, measures_listed(part), draft, stops=_STOPPED.fullmatch(denial[0]) is not None)
        piece, plain = rest, plain[len(plain) - len(rest) :] if rest else ""
    _give(piece, draft)


def _verbs_last(piece: str, plain: str, draft: _Draft) -> bool:
    """Sort a clause whose verbs stand after their measures ('A held, B started'); False if it is no such clause.

    In 'give A, B stopped' only the last measure belongs to the verb after it.
    """
    verbs = list(_VERB_LAST.finditer(plain))
    starts = [0, *(verb.end() for verb in verbs)]
    parts = [piece[start : verb.start()] for start, verb in zip(starts, verbs, strict=False)]
    ended = bool(verbs) and verbs[-1].end() == len(plain)
    if not ended or any(_AGAINST.search(part) or not measures_listed(part) for part in parts):
        return False
    for part, verb in zip(parts, verbs, strict=True):
        if not verb["against"]:
            _give(part, draft)
            continue
        last = max(part.rfind(","), part.rfind(" and "), 0) if DOING.match(part) else 0
        _give(part[:last], draft)
        _take(part[last:] + verb[0], measures_listed(part[last:]), draft, stops=_STOPPED.search(verb[0]) is not None)
    return True


def _denied_at_last(aside: str) -> str:
    """The last words of a clause that deny all of it ('A, B and screening for C is wrong'); "" if there are none."""
    if not _TESTED.match(aside):
        return ""
    denials = (*_AFTER.finditer(aside), *cue("denied").finditer(aside))
    return next((f" {aside[one.start() :]}" for one in denials if _AT_LAST.match(aside, one.end())), "")


def _of_all(piece: str, denial: re.Match[str]) -> bool:
    """Whether a denial covers all the rest of the clause and no measure is given before it."""
    if _OF_ALL.match(piece):
        return _STATED.fullmatch(denial[0]) is not None
    if _REMAINS.search(piece):
        return True
    return _UNLIKE.fullmatch(denial[0]) is not None and not DOING.match(piece[: denial.start()])


def _take(words: str, measures: Sequence[PlanMeasure], draft: _Draft, *, stops: bool) -> None:
    """Add the measures that a clause stops or else avoids; `words` are the words that say so."""
    if stops:
        draft.stopped += measures
        draft.put.append(words.strip())
    else:
        draft.avoided += measures
        draft.whole = False


def _reach(text: str, *, over_list: bool) -> tuple[str, str]:
    """Split `text` where the reach of a word of stopping or avoiding ends: at a verb that gives or stops something.

    'Avoid A, B and C' reaches over its list. 'No A, B' reaches to the first comma, unless 'or' continues the list.
    """
    turn = _GIVING.search(text) if over_list else _GIVING_OR_COMMA.search(text)
    return (text[: turn.start()], text[turn.end() :]) if turn else (text, "")


def _give(text: str, draft: _Draft) -> None:
    """Add the measures that a clause gives; alternatives to its first measure become options."""
    said, text = text, _CONDITION.sub("", for_now(text))
    draft.whole = draft.whole and text == said
    if any(map(str.isalnum, text)):
        draft.put.append(text.strip(" ,"))
    bare = BRACKET.sub(" ", text)
    choice = _OR.search(bare)
    first = measures_listed(bare[: choice.start()]) if choice else []
    if choice and not draft.started and len(first) <= 1:
        options = [
            one
            for part in _OR.split(JOINER.split(bare[choice.start() :], maxsplit=1)[0])
            for one in measures_listed(part)
        ]
        draft.options += [*first, *options] if first and options else []
    draft.started += measures_listed(_OR.sub(",", text))


def _once(measures: Sequence[PlanMeasure]) -> list[PlanMeasure]:
    return list({measure.words: measure for measure in reversed(measures)}.values())[::-1]


ENOUGH = 0.5
"""Least share of the true plan's measures that a right plan gives. This is a floor: the table of measures is small, so
report the score of a judge model instead."""
MORE = 3
"""How many measures an answer may name beyond twice the truth's number."""
MOST_UNREAD = 12
"""Most measures that an answer may name if none can be read from the truth."""
NAMED = 0.5
"""Least share of a measure's words that counts as naming it."""
_OPENING = 12
"""Number of characters by which the plan after an affix ('non-X') is recognised as the true one."""

Rule = Literal["exact", "measures", "none", "against", "undecided", "too_many", "empty", "nothing"]
_REASONS = {
    "undecided": "several_answers",
    "too_many": "too_many_measures",
    "empty": "",
    "nothing": "no_treatment_asserted",
}
NOTHING = Plan()


class PlanVerdict(msgspec.Struct, frozen=True):
    """Whether the plan is right, by which rule, and why. `share` is the share of the truth's measures that it gives."""

    match: bool
    rule: Rule
    why: str
    share: float = 0.0
    read: Plan = NOTHING

    @property
    def committed(self) -> str:
        """The text shown to a judge: the words that give and stop measures; "" if the answer has no other words."""
        return "" if self.read.whole or self.rule == "exact" else "; ".join(self.read.put)

    @property
    def reason(self) -> str:
        """The typed reason for a score of 0.0; "" if the answer is a single plan."""
        return _REASONS.get(self.rule, "")


def compare_plan(answer: str, truth: Truth) -> PlanVerdict:
    """Compare a stated plan with the true one.

    A plan is right if it equals the true one apart from spelling. Otherwise it must give at least half of the truth's
    measures, stop what the truth stops, and neither stop nor avoid what the truth gives. It may name at most twice as
    many measures plus three, and must decide its main measure unless the truth leaves it open too. An answer that
    starts nothing and stops or avoids what the truth gives asserts no treatment.
    """
    if not key(answer):
        return PlanVerdict(False, "empty", "the plan is empty")
    plain, denials = _plain_plan(answer)
    if answer.strip() == truth.treatment.strip() or plain == key(unmarked(truth.treatment)):
        return PlanVerdict(True, "exact", "the true plan itself", 1.0, read_plan(answer))
    said, meant = read_plan(answer), read_plan(truth.treatment)
    if key(truth.treatment)[:_OPENING] in denials or not (said.started or said.stopped):
        return PlanVerdict(False, "nothing", "no measure is given", 0.0, said)
    wanted = [*((one, said.started) for one in meant.started), *((one, said.stopped) for one in meant.stopped)]
    wanted += [(one, (*said.started, *said.considered)) for one in meant.considered]
    share = sum(_named(one, measures) for one, measures in wanted) / len(wanted) if wanted else 0.0
    return _ruled(said, meant, share)


@lru_cache(maxsize=1024)
def _plain_plan(answer: str) -> tuple[str, frozenset[str]]:
    """(what stands of a plan, in comparable form; the beginnings of names whose affix makes another plan of them)."""
    plain = standing(unstruck(unmarked(answer)), plan=True)
    denied = (rest for rest, affix in affixed(plain) if affix.startswith(NOT_THE_PLAN))
    return key(plain), frozenset(key(rest)[:_OPENING] for rest in denied)


def _ruled(said: Plan, meant: Plan, share: float) -> PlanVerdict:
    wanted, count = _count(meant) + len(meant.considered), _count(said)
    most = 2 * wanted + MORE if wanted else MOST_UNREAD
    if count > most:
        of_what = f": twice the truth's number plus {MORE}" if wanted else ""
        why = f"it names {count} measures, more than {most}{of_what}"
        return PlanVerdict(False, "too_many", why, share, said)
    if said.options and not meant.options and not all(_meant(one, meant.started) for one in said.options):
        why = f"several answers: {' or '.join(one.text for one in said.options)} is left open"
        return PlanVerdict(False, "undecided", why, share, said)
    off = (*said.avoided, *said.stopped)
    against = [one.text for one in meant.started if _named(one, off) and not _named(one, said.started)]
    both = [one.text for one in said.avoided if said.started and one.words == said.started[0].words]
    if against := against or both:
        rule: Rule = "against" if said.started and not both else "nothing"  # a denial of the plan is none for a judge
        return PlanVerdict(False, rule, f"it stops or avoids {against[0]!r}", share, said)
    if not wanted:
        return PlanVerdict(False, "none", "the truth names no measure", 0.0, said)
    why = f"{share:.0%} of the truth's measures are given"
    return PlanVerdict(share >= ENOUGH, "measures" if share >= ENOUGH else "none", why, share, said)


def _count(plan: Plan) -> int:
    """How many measures a plan starts and stops; measures that one phrase runs together count separately."""
    return measures_in([one.also | one.words for one in (*plan.started, *plan.stopped)])


def _named(one: PlanMeasure, among: Sequence[PlanMeasure]) -> bool:
    """Whether one measure among these names `one`: by half of its words, or half of those in its brackets."""
    names = [name for name in (one.words, one.also - one.words) if name]
    return any(_half(name, other) and not contrary(one.text, other.text) for other in among for name in names)


def _half(name: frozenset[str], said: PlanMeasure) -> bool:
    words = with_classes(said.also | said.words)
    return len(name & words) / len(name) >= NAMED and not shares_general_words_only(name, words)


def _meant(one: PlanMeasure, among: Sequence[PlanMeasure]) -> bool:
    return any(one.words & other.words and not contrary(other.text, one.text) for other in among)
