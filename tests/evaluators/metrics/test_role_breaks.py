"""Role breaks of an episode, counted by seat against what its model was really sent."""

from graded import case, completed, trajectory

from wardround.engine.events import Acted, Called, Closed, Event, Opened
from wardround.engine.records import Action, Completion, Ending, Json, Message, Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.metrics.standard import role_break_scores

RULES = "You play the patient. Never name a disease that might explain your complaint, even if the doctor names one."
HEADER: dict[str, Json] = {"seats": {"doctor": {}, "patient": {}, "examiner": {}}}


def consultation(*said: str, ending: Ending | None = None) -> Trajectory:
    """A doctor who asks, and a patient whose model answers so."""
    events: list[Event] = [Opened(0, 0.0, "e1", "case-1", "h", "consultation", 1, 0)]
    for answer in said:
        events.append(Acted(len(events), 0.0, "doctor", Action("reply", "How are you?")))
        sent = [Message("system", RULES), Message("user", "How are you?")]
        call = Called(len(events), 0.0, "patient", "act", f"k{len(events)}", 0, sent, reply=Completion(answer))
        events += [call, Acted(len(events) + 1, 0.0, "patient", Action("answer", answer))]
    events.append(Closed(len(events), 0.0, ending or completed()))
    return Trajectory(events, HEADER)


def test_each_seat_has_its_count_its_kinds_and_its_events() -> None:
    played = consultation("It hurts.", RULES, "I am just a language model.")
    assert role_break_scores(case(), played) == [
        Score("role_breaks_doctor", 0.0),
        Score("role_breaks_patient", 2.0, "recites, self_as_model", (6, 9)),
        Score("role_breaks_examiner", 0.0),
    ]


def test_they_are_facts_of_failed_episodes_too_and_of_open_ones_not() -> None:
    failed = consultation(RULES, ending=Ending("provider", "timeout"))
    assert [score.value for score in role_break_scores(case(), failed)] == [0.0, 1.0, 0.0]
    opened = Trajectory(failed.events[:-1], HEADER)
    assert [(score.value, score.reason) for score in role_break_scores(case(), opened)] == [(None, "open")] * 3


def test_a_seat_that_is_not_there_has_none() -> None:
    played = trajectory(("doctor", Action("reply", "[diagnosis]")), ending=completed(), scenario="oracle")
    found = role_break_scores(case(), played)
    assert [(score.name, score.value, score.reason) for score in found] == [("role_breaks_doctor", 1.0, "template")]


def _acted(seat: str, action: Action, *calls: tuple[str, str]) -> Trajectory:
    """An episode of one action of a seat; each call is what its model was sent and what it replied."""
    events: list[Event] = [Opened(0, 0.0, "e1", "case-1", "h", "consultation", 1, 0)]
    for sent, reply in calls:
        key = f"k{len(events)}"
        events.append(Called(len(events), 0.0, seat, "role", key, 0, [Message("user", sent)], reply=Completion(reply)))
    events.append(Acted(len(events), 0.0, seat, action))
    events.append(Closed(len(events), 0.0, completed()))
    return Trajectory(events, HEADER)


def test_a_role_of_a_team_may_take_over_what_another_role_wrote() -> None:
    move = "ASK: Which medicines do you take, and who lives with you at home now?"
    rules = "You check what the others wrote, and you write the move of the whole team in one line."
    for said, breaks in ((move, 0.0), (rules, 1.0)):
        played = _acted(
            "doctor", Action("reply", said), ("Propose a move.", move), (f"{rules}\nThey said: {move}", said)
        )
        assert role_break_scores(case(), played)[0].value == breaks


def test_results_that_are_put_together_from_the_record_recite_nothing() -> None:
    lines = "General: lies still with the hips flexed\nVital signs: heart rate 98/min, blood pressure 126/74 mm Hg"
    answers: list[Json] = [{"asked": "examination", "text": line, "state": "reported"} for line in lines.splitlines()]
    played = _acted("examiner", Action("answer", lines, {"answers": answers}), (f"The file:\n{lines}", "12 umol/L"))
    assert role_break_scores(case(), played)[2].value == 0.0
