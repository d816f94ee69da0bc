"""Scores what the other seats did besides answering: results that a model invented, facts that a patient misstated."""

from collections.abc import Iterator, Mapping
from math import fsum

from wardround.engine.events import Acted
from wardround.engine.records import Json, Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.measures import NOTHING_REPORTED
from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Case
from wardround.scenarios.parsers.moves import RESULT_STATES, answers_of


def invented_scores(case: Case, trajectory: Trajectory) -> list[Score]:
    """`invented_answers`, `invented_leaks`, `declined_answers`; no score if no model plays the examiner.

    `invented_answers`: of the results that the doctor saw, the share that the record does not hold (None, reason
    `nothing_reported`, if it saw none). `invented_leaks`: invented results that name the diagnosis. `declined_answers`:
    results that the model invented and that were not passed on, such as one that contradicts the record. The evidence
    of each score is the examiner's actions that hold such a result.
    """
    if not _of(trajectory, "examiner").get("model"):
        return []
    names = ("invented_answers", "invented_leaks", "declined_answers")
    if trajectory.ending is None:
        return [Score(name, None, "open") for name in names]
    seen = [(event, row) for event, row in _rows(trajectory) if row.get("state") in RESULT_STATES]
    invented = [(event, row) for event, row in seen if row.get("invented") or row.get("assumed")]
    leaks = [event for event, row in invented if opening_contains(case.truth, str(row.get("text", "")))]
    declined = [event for event, row in _rows(trajectory) if row.get("declined")]
    share = len(invented) / len(seen) if seen else None
    return [
        Score(names[0], share, "" if seen else NOTHING_REPORTED, _numbers(event for event, _ in invented)),
        Score(names[1], float(len(leaks)), "", _numbers(iter(leaks))),
        Score(names[2], float(len(declined)), "", _numbers(iter(declined))),
    ]


def misstated_scores(trajectory: Trajectory) -> list[Score]:
    """`misstated_facts` and `corrected_facts`: how many answers do so; no score if the patient has no persona."""
    if not _of(trajectory, "patient").get("options", {}).get("persona"):
        return []
    marks = {"misstated_facts": "misstated", "corrected_facts": "corrected"}
    if trajectory.ending is None:
        return [Score(name, None, "open") for name in marks]
    scores = []
    for name, mark in marks.items():
        events = [event for event in trajectory.acted("patient") if event.action.args.get(mark)]
        scores.append(Score(name, float(len(events)), "", _numbers(iter(events))))
    return scores


def team_scores(trajectory: Trajectory) -> list[Score]:
    """`role_calls_ROLE`, `role_tokens_ROLE` and `role_cost_ROLE` of each role, if a team plays the doctor.

    `failed_roles` counts how often a role said nothing, refused or was filtered, also when it was asked again. A cost
    is None, reason `unknown_price`, if the price of a call is unknown.
    """
    team = _of(trajectory, "doctor").get("options", {}).get("team")
    if not isinstance(team, Mapping):
        return []
    roles = list(team.get("roles") or ())
    names = [f"role_{what}_{role}" for role in roles for what in ("calls", "tokens", "cost")]
    if trajectory.ending is None:
        return [Score(name, None, "open") for name in ("failed_roles", *names)]
    failed = [event for event in trajectory.acted("doctor") if event.action.args.get("failed")]
    count = sum(len(event.action.args["failed"]) for event in failed)
    scores = [Score("failed_roles", float(count), "", _numbers(iter(failed)))]
    for role in roles:
        calls = [call for call in trajectory.called("doctor") if call.purpose == f"team/{role}"]
        used = [call.reply.usage for call in calls if call.reply]
        costs = [usage.cost for usage in used]
        cost = None if None in costs else fsum(cost for cost in costs if cost is not None)
        scores += [
            Score(f"role_calls_{role}", float(len(calls))),
            Score(f"role_tokens_{role}", float(sum(usage.prompt + usage.completion for usage in used))),
            Score(f"role_cost_{role}", cost, "unknown_price" if cost is None else ""),
        ]
    return scores


def _of(trajectory: Trajectory, seat: str) -> Mapping[str, Json]:
    """The header's description of a seat."""
    seats = trajectory.header.get("seats", {})
    described = seats.get(seat) if isinstance(seats, Mapping) else None
    return described if isinstance(described, Mapping) else {}


def _rows(trajectory: Trajectory) -> Iterator[tuple[Acted, Mapping[str, Json]]]:
    """Each answer of the examiner, with the event that holds it."""
    return ((event, row) for event in trajectory.acted("examiner") for row in answers_of(event.action))


def _numbers(events: Iterator[Acted]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(event.seq for event in events))
