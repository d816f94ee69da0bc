"""Whether a stated treatment plan is the true one, by the measures that both give, stop and avoid: a floor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from wardround.scenarios.case import Truth
from wardround.scenarios.terms.therapy import Measure, Plan, read_plan
from wardround.scenarios.terms.wording import key

ENOUGH = 0.5
"""Least share of the true plan's measures. Free text has no synonyms here: a model judge is the measure to quote."""
MORE = 3
"""Measures that an answer may name beyond twice the number of the truth's."""
MOST_UNREAD = 12
"""Measures that an answer may name where no measure can be read from the truth."""
NAMED = 0.5
"""Least share of a measure's words that name it."""

Rule = Literal["exact", "measures", "none", "against", "undecided", "too_many", "empty", "nothing"]
_REASONS = {
    "undecided": "several_answers",
    "too_many": "too_many_measures",
    "empty": "",
    "nothing": "no_treatment_asserted",
}


NOTHING = Plan()


@dataclass(frozen=True, slots=True)
class PlanVerdict:
    """Right or not, by which rule, and why in plain words; `share` of the truth's measures that are given (0 to 1)."""

    match: bool
    rule: Rule
    why: str
    share: float = 0.0
    read: Plan = NOTHING

    @property
    def committed(self) -> str:
        """What a judge is shown: the words that give and stop measures; "" where the answer says no more than that."""
        return "" if self.read.whole or self.rule == "exact" else "; ".join(self.read.put)

    @property
    def reason(self) -> str:
        """The typed reason of the score 0.0, or "" where the plan was a single one."""
        return _REASONS.get(self.rule, "")


def compare(answer: str, truth: Truth) -> PlanVerdict:
    """Compare a stated plan with the true one.

    Right if it is the plan in other spelling; else if it gives at least half of the truth's measures (and stops what
    the truth stops), stops or avoids none that the truth gives, names at most twice as many measures and three more,
    and leaves its main measure decided, unless the truth leaves it open too.
    """
    if not key(answer):
        return PlanVerdict(False, "empty", "the plan is empty")
    if key(answer) == key(truth.treatment):
        return PlanVerdict(True, "exact", "the true plan itself", 1.0, read_plan(answer))
    said, meant = read_plan(answer), read_plan(truth.treatment)
    if not said.given and not said.stopped:
        return PlanVerdict(False, "nothing", "no measure is given", 0.0, said)
    wanted = [*((one, said.given) for one in meant.given), *((one, said.stopped) for one in meant.stopped)]
    share = sum(_named(one, among) for one, among in wanted) / len(wanted) if wanted else 0.0
    return _ruled(said, meant, share)


def _ruled(said: Plan, meant: Plan, share: float) -> PlanVerdict:
    wanted = len(meant.given) + len(meant.stopped)
    most = 2 * wanted + MORE if wanted else MOST_UNREAD
    count = len(said.given) + len(said.stopped)
    if count > most:
        of_what = f": twice the truth's number plus {MORE}" if wanted else ""
        why = f"it names {count} measures, more than {most}{of_what}"
        return PlanVerdict(False, "too_many", why, share, said)
    if said.options and not meant.options and not all(_meant(one, meant.given) for one in said.options):
        why = f"several answers: {' or '.join(one.text for one in said.options)} is left open"
        return PlanVerdict(False, "undecided", why, share, said)
    against = [
        one.text for one in meant.given if _whole(one, (*said.avoided, *said.stopped)) and not _whole(one, said.given)
    ]
    if against:
        return PlanVerdict(False, "against", f"it stops or avoids {against[0]!r}", share, said)
    if not wanted:
        return PlanVerdict(False, "none", "the truth names no measure", 0.0, said)
    why = f"{share:.0%} of the truth's measures are given"
    return PlanVerdict(share >= ENOUGH, "measures" if share >= ENOUGH else "none", why, share, said)


def _named(one: Measure, among: Sequence[Measure]) -> bool:
    """Whether the words of a measure are said in the measures of the answer."""
    words = {word for measure in among for word in measure.words}
    return len(one.words & words) / len(one.words) >= NAMED


def _whole(one: Measure, among: Sequence[Measure]) -> bool:
    """Whether one measure of the answer names this one."""
    return any(len(one.words & other.words) / len(one.words) >= NAMED for other in among)


def _meant(one: Measure, among: Sequence[Measure]) -> bool:
    return any(one.words & other.words for other in among)
