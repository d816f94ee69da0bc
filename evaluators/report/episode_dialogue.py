"""Rebuilds an episode as a dialogue: each seat's actions, the desk's corrections, costs, and what was known by then."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import Any

import msgspec

from wardround.engine.events import Acted, Called
from wardround.engine.protocols import Scenario
from wardround.engine.records import Json, Said, Usage, View
from wardround.engine.text import count_noun
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.parsers.moves import ANSWERING, RESULT_STATES, answers_of, tells_a_story

DESK = "desk"
FATES: dict[str, str] = {
    "not_performed": "not performed",
    "unknown": "no such test is known",
    "ambiguous": "may mean several tests",
    "broad": "too broad to look up",
    "assumed": "assumed normal",
    "invented": "invented by the examiner's model",
    "negated": "withheld: it was said not to be wanted",
    "conditional": "withheld: wanted only on a condition",
    "treatment": "no test: a treatment",
    "statement": "no test: a statement or a question",
    "done": "withheld: told as done",
}
"""What became of a request that the record did not answer."""
VERBS: dict[str, str] = {
    "reply": "replies",
    "ask": "asks",
    "order": "orders",
    "conclude": "concludes",
    "answer": "answers",
}
"""A seat's action in words."""
SAID: dict[str, str] = {"warning": "correction", "refusal": "refused", "demand": "demand", "question": "question"}
"""The desk's action in words."""


class Act(msgspec.Struct, frozen=True):
    """One request: the number of its results, its points, and what became of it.

    `fate` is empty if it got a result, else `not_performed`, `unknown`, `ambiguous`, `broad`, `assumed` or
    `invented`. A phrase that orders nothing is `negated`, `conditional` or `done`, and was not passed on.
    """

    asked: str
    results: int
    points: float
    fate: str = ""

    @property
    def outcome(self) -> str:
        """Say in words what became of the request."""
        return FATES.get(self.fate, self.fate.replace("_", " ")) if self.fate else count_noun(self.results, "result")


class Spent(msgspec.Struct, frozen=True):
    """The calls of models in one turn; `cost` in US dollars, None if the price of any call is unknown."""

    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0


class DialogueTurn(msgspec.Struct, frozen=True):
    """One action: `said` is its text, or a typed action in words; `desk` is the rules' answer to it.

    `known` are the names of results reported before it, `points` the cost of orders by then; only the doctor's turns
    have both. `roles` is what each role of a team spent in this turn, `failed` why a role of it said nothing.
    `notes` are what the log says of the action besides: a fact misstated on purpose, an invented result not passed on.
    """

    seq: int
    seat: str
    verb: str
    said: str
    thinking: str = ""
    acts: tuple[Act, ...] = ()
    desk: tuple[Said, ...] = ()
    known: tuple[str, ...] = ()
    points: float = 0.0
    spent: Spent = Spent()
    roles: Mapping[str, Spent] = {}
    failed: Mapping[str, Json] = {}
    notes: tuple[str, ...] = ()


class Dialogue(msgspec.Struct, frozen=True):
    """A whole dialogue. `brief` is what the doctor read first. `folded` is False if the scenario is not installed, so
    that the desk's corrections are unknown.
    """

    brief: str
    turns: tuple[DialogueTurn, ...]
    folded: bool = True
    detail: str = ""

    @property
    def points(self) -> float:
        """Return the cost of all orders, in points."""
        return fsum(act.points for turn in self.turns for act in turn.acts)

    @property
    def corrections(self) -> int:
        """Count how often the desk said that something was not possible."""
        return sum(said.verb in ("warning", "refusal") for turn in self.turns for said in turn.desk)


def rebuild_dialogue(case: Case, trajectory: Trajectory, scenario: Scenario[Case, Any] | None) -> Dialogue:
    """Rebuild the dialogue of an episode by replaying its rules; no seat is called.

    Without `scenario` the desk's words are missing, because they are no events.
    """
    desk, orders, brief = _replayed_words(case, trajectory, scenario) if scenario else ({}, {}, "")
    costs = _costs(trajectory)
    own = read_chart(case_results(case)).known
    names = {item.ref: item.name for item in case_results(case)}
    known: dict[str, None] = {}
    points = 0.0
    turns: list[DialogueTurn] = []
    for event in trajectory.acted():
        acts = _acts(event, trajectory, orders.get(event.seq), own) if event.seat in ANSWERING else ()
        turns.append(
            DialogueTurn(
                seq=event.seq,
                seat=event.seat,
                verb=event.action.verb,
                said=event.action.text or _in_words(event.action.args),
                thinking=event.action.thinking,
                acts=acts,
                desk=tuple(desk.get(event.seq, ())),
                known=tuple(known) if event.seat == "doctor" else (),
                points=points if event.seat == "doctor" else 0.0,
                spent=costs.get(event.seq, {}).get("", Spent()),
                failed=_silent_roles(event),
                notes=tuple(_notes(event)),
                roles={role: spent for role, spent in costs.get(event.seq, {}).items() if role},
            )
        )
        known.update(dict.fromkeys(_cited_results(event, names)))
        points += sum(act.points for act in acts)
    ending = trajectory.ending
    return Dialogue(brief or case.opening, tuple(turns), scenario is not None, ending.detail if ending else "")


_Orders = dict[int, Mapping[str, Json]]


def _replayed_words(
    case: Case, trajectory: Trajectory, scenario: Scenario[Case, Any]
) -> tuple[dict[int, list[Said]], _Orders, str]:
    """Return the desk's words by the event they answer, the orders by the event that answers them, and the brief."""
    state = scenario.start(case)
    desk: dict[int, list[Said]] = {}
    orders: _Orders = {}
    brief, heard = "", set[tuple[int, str, str]]()
    for event in trajectory.acted():
        if scenario.ending(state) is not None:
            break
        seat = scenario.turn(state)
        view = scenario.view(state, seat)
        if seat == "doctor":
            brief = brief or view.brief
            _hear(view, heard, desk)
        elif isinstance(view.known, Mapping) and isinstance(view.known.get("order"), Mapping):
            orders[event.seq] = view.known["order"]
        state = scenario.apply(state, event)
    return desk, orders, brief


def _hear(view: View, heard: set[tuple[int, str, str]], desk: dict[int, list[Said]]) -> None:
    """Record what the desk has said since the doctor's last turn."""
    for said in view.heard:
        mark = (said.seq, said.verb, said.text)
        if said.seat == DESK and mark not in heard:
            heard.add(mark)
            desk.setdefault(said.seq, []).append(said)


def _acts(
    event: Acted, trajectory: Trajectory, order: Mapping[str, Json] | None, own: frozenset[str]
) -> tuple[Act, ...]:
    if tells_a_story(event.seat, event.action, examined="examiner" in trajectory.header.get("seats", ())):
        return ()
    by_request: dict[str, list[Mapping[str, Json]]] = {}
    for answer in answers_of(event.action):
        by_request.setdefault(str(answer.get("asked") or ""), []).append(answer)
    performed = [_act(asked, rows) for asked, rows in by_request.items()]
    wanted = (order.get("items") or order.get("text") or "") if order else ""
    withheld = understand(wanted, catalogue(), own).withheld if wanted else ()
    return (*performed, *(Act(one.asked, 0, 0.0, one.why) for one in withheld))


def _act(asked: str, rows: Sequence[Mapping[str, Json]]) -> Act:
    had = [row for row in rows if row.get("state") in RESULT_STATES]
    points = sum(float(row["points"]) for row in rows if isinstance(row.get("points"), int | float))
    if any(row.get("invented") not in (None, "normal-default") for row in rows):
        return Act(asked, len(had), points, "invented")
    if any(row.get("assumed") for row in rows):
        return Act(asked, len(had), points, "assumed")
    if had:
        return Act(asked, len(had), points)
    rule = str(rows[0].get("rule") or "")
    return Act(asked, 0, points, rule if rule in ("broad", "ambiguous") else str(rows[0].get("state") or "unknown"))


def _cited_results(event: Acted, names: Mapping[str, str]) -> list[str]:
    """Return the names of the results that an answer cites."""
    if event.seat not in ANSWERING:
        return []
    refs = [str(ref) for answer in answers_of(event.action) for ref in answer.get("refs") or ()]
    return [names[ref] for ref in refs if ref in names]


def _costs(trajectory: Trajectory) -> dict[int, dict[str, Spent]]:
    """Return the cost of the calls before each action, by the action's event number: of all (""), and of each role."""
    by_event: dict[int, dict[str, Spent]] = {}
    pending: dict[str, Spent] = {}
    for event in trajectory:
        if isinstance(event, Called) and event.reply is not None:
            lead, _, role = event.purpose.partition("/")
            for name in dict.fromkeys(("", role if lead == "team" else "")):
                pending[name] = _with(pending.get(name, Spent()), event.reply.usage)
        elif isinstance(event, Acted):
            by_event[event.seq], pending = pending, {}
    return by_event


def _notes(event: Acted) -> Iterator[str]:
    """Yield in words what the log marks in an answer of the patient or the examiner."""
    args = event.action.args
    if event.seat == "patient" and isinstance(wrong := args.get("misstated"), Mapping):
        yield f"misstated on purpose: {wrong.get('said')} in place of {wrong.get('true')}"
    if event.seat == "patient" and isinstance(right := args.get("corrected"), Mapping):
        yield f"corrected what was misstated before: {right.get('said')}"
    for row in answers_of(event.action) if event.seat == "examiner" else ():
        if row.get("read_as"):
            yield f"{row.get('asked')}: the examiner's model read it as {row['read_as']}"
        if row.get("declined"):
            yield f"{row.get('asked')}: an invented result was not passed on ({row['declined']})"


def _silent_roles(event: Acted) -> Mapping[str, Json]:
    """Return the roles of a team that said nothing in an action, each with its reason."""
    failed = event.action.args.get("failed") if event.seat == "doctor" else None
    return failed if isinstance(failed, Mapping) else {}


def _with(spent: Spent, usage: Usage) -> Spent:
    """Add one call."""
    cost = None if spent.cost is None or usage.cost is None else spent.cost + usage.cost
    return Spent(spent.calls + 1, spent.tokens + usage.prompt + usage.completion, cost)


def _in_words(args: Mapping[str, Json]) -> str:
    """Put a typed action in words: `complete blood count, urinalysis`; other values as JSON."""
    kind = str(args.get("kind") or "")
    things = args.get("items")
    if isinstance(things, list | tuple):
        named = ", ".join(str(one) for one in things)
        head = "" if kind in ("", "any") else f"{kind}: "
        return f"{head}{named}" if named else f"{kind}, all of it" if kind else ""
    texts = list(dict.fromkeys(value for value in args.values() if isinstance(value, str) and value.strip()))
    return "\n".join(texts) if texts else msgspec.json.encode(dict(args)).decode() if args else ""


def format_points(value: float) -> str:
    """Write the cost of tests in points."""
    return f"{value:g} cost {'point' if value == 1 else 'points'}"
