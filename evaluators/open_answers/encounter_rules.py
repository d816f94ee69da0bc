"""Criteria of an encounter that rules decide from its events: what was ordered, asked or concluded, and when."""

from collections.abc import Sequence

from wardround.engine.trajectory import Trajectory
from wardround.evaluators.open_answers.rubric_judging import Decided
from wardround.evaluators.ordered_tests import Request, orders_here, requests
from wardround.scenarios.criteria import Deed, Rule
from wardround.scenarios.terms.catalogue import catalogue
from wardround.scenarios.terms.name_lookup import link
from wardround.scenarios.terms.wording import key


def ruled(rule: Rule, trajectory: Trajectory) -> Decided:
    """Decide a criterion by its rule, with the doctor's events as evidence.

    It is met if the deed was done, among the first `within` orders if the rule says so, and earlier than `before` if
    that was done at all. Two orders of one message are made at the same time, so neither is before the other. It is
    undecided (None) in a scenario where the deed is not possible: `not_ordered_here`, `nobody_to_ask`, or
    `unstructured` if orders were answered in free text.
    """
    for deed in (rule.did, rule.before):
        if deed is not None and (reason := _impossible(deed, trajectory)):
            return Decided(None, (), reason)
    done = _first(rule.did, trajectory, rule.within)
    if done is None:
        return Decided(False)
    other = _first(rule.before, trajectory) if rule.before else None
    if other is not None and other <= done:
        return Decided(False, (), "", tuple(sorted({other, done})))
    return Decided(True, (), "", (done,) if other is None else (done, other))


def _impossible(deed: Deed, trajectory: Trajectory) -> str:
    """Return the reason why nobody can do this in the scenario; "" if it can be done."""
    if deed.asked:
        return "" if "patient" in trajectory.header.get("seats", ()) else "nobody_to_ask"
    if deed.ordered:
        if not orders_here(trajectory):
            return "not_ordered_here"
        return "unstructured" if requests(trajectory) is None else ""
    return ""


def _first(deed: Deed, trajectory: Trajectory, within: int | None = None) -> int | None:
    """Return the doctor's first event that is this deed; None if there is none."""
    doctor = list(trajectory.acted("doctor"))
    if deed.concluded:
        ending = trajectory.ending
        return doctor[-1].seq if doctor and ending is not None and ending.cause == "completed" else None
    if deed.asked:
        return next((seq for seq, text in _questions(trajectory) if _names_one(deed.asked, text)), None)
    ordered = (requests(trajectory) or ())[:within]
    answered = next((one.seq for one in ordered if _orders(deed.ordered, one)), None)
    if answered is None:
        return None
    return max((event.seq for event in doctor if event.seq < answered), default=None)


def _questions(trajectory: Trajectory) -> list[tuple[int, str]]:
    """Return the doctor's messages that the patient answered, with their events."""
    asked: list[tuple[int, str]] = []
    said: tuple[int, str] | None = None
    for event in trajectory.acted():
        if event.seat == "doctor":
            words = [event.action.text, *(one for one in event.action.args.values() if isinstance(one, str))]
            said = event.seq, " ".join(words)
        elif event.seat == "patient" and said is not None:
            asked.append(said)
            said = None
    return asked


def _names_one(words: Sequence[str], text: str) -> bool:
    folded = " ".join(text.casefold().split())
    return any(" ".join(word.casefold().split()) in folded for word in words)


def _orders(name: str, request: Request) -> bool:
    """Whether a request means a test: the same, a panel that holds it, or a name with all of its words."""
    table = catalogue()
    wanted, asked = link(name, table), link(request.asked, table)
    if wanted is not None:
        if request.test and request.test == wanted.test:
            return True
        if asked is not None and (asked.test == wanted.test or wanted.test in table.below.get(asked.test, ())):
            return True
        if asked is not None and wanted.kind != "imaging":
            return False  # both are known tests, and not the same
    words = set(key(name).split())
    return bool(words) and words <= set(key(request.asked).split())
