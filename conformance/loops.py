"""Adapters that play recorded dialogues of MedR-Bench and AgentClinic through our scenarios."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import wardround.scenarios
from conformance.staged import split_ancillary
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, View
from wardround.scenarios.case import Case, Provenance, Truth
from wardround.scenarios.encounters.consultation import Consultation, ConsultationSettings
from wardround.scenarios.encounters.staged import FreeTurn, OneTurn, Oracle, Treatment
from wardround.scenarios.parsers import published
from wardround.scenarios.published.imaging_words import Absent

_SPEAKERS = {"doctor": "doctor", "patient": "patient", "examiner": "measurement"}
_GAMES: Mapping[str, Any] = {"one": OneTurn, "free": FreeTurn, "oracle": Oracle, "treat": Treatment}
_SILENT = re.compile(
    r"(?i)patient (?:agent )?(?:dies|fails|(?:is )?silent|(?:returns? |says? |replies )?(?:none|nothing))"
)
_RESULT = re.compile(r"Result \d+")
_FREE_TURNS = 5


class Played:
    """A scenario driven by hand with recorded replies: what the doctor saw at each call, who spoke, how it ended.

    `answers` says what the n-th answer of a patient or examiner is. Raises Absent where the doctor is asked again and
    has no more recorded replies.
    """

    def __init__(self, scenario: Any, case: Case, replies: Sequence[Any], answers: Callable[[int], str]) -> None:
        self.speakers: list[str] = []
        self.views: list[View] = []
        self.asked: list[str] = []
        state, left, seq = scenario.start(case), iter(replies), 0
        while scenario.ending(state) is None:
            seat, seq = scenario.turn(state), seq + 1
            view = scenario.view(state, seat)
            self.speakers.append(seat)
            if seat == "doctor":
                self.views.append(view)
                action = Action("reply", _reply(left))
            else:
                self.asked.append(view.heard[-1].text)
                action = Action("answer", answers(len(self.speakers)))
            state = scenario.apply(state, Acted(seq, 0.0, seat, action))
        self.ending: Ending = scenario.ending(state)
        self.heard = scenario.view(state, "doctor").heard


def consultation(row: Vector, tables: Tables) -> Any:
    """agentclinic_loop: who spoke when, and what the moderator's reply makes of the diagnosis."""
    del tables
    turns, moderator = row.input.get("total_inferences", 20), iter(_list(row.input.get("moderator_replies", [])))
    if not isinstance(turns, int) or turns < 1:
        raise Absent("no_turn", f"a budget of {turns!r} questions")
    scenario = Consultation(ConsultationSettings(rules="published", max_turns=turns), _prompts())
    case = _case("A patient.", "")
    played = Played(scenario, case, _list(row.input["doctor_replies"]), lambda number: f"Answer {number}.")
    speakers, correct = [_SPEAKERS[seat] for seat in played.speakers], None
    if played.ending.cause == "completed":
        speakers, correct = [*speakers, "moderator"], _reply(moderator).lower() == "yes"
    return {"speakers": speakers, "correct": correct}


def consulted(recorded: Mapping[str, Any], row: Vector) -> Any:
    """The same for the recorded dialogue; a verdict that was not printed counts as none."""
    del row
    printed = " ".join(_list(recorded.get("printed_verdict") or []))
    correct = None if not printed else "INCORRECT" not in printed
    return {"speakers": recorded["speaker_order"], "correct": correct}


def staged(row: Vector, tables: Tables) -> Any:
    """medr_inference_loops: calls, requests, results and the ending, as far as the row records them."""
    del tables
    dialogue = _dialogue(row)
    kept = {name: dialogue[name] for name in _recorded(row.expected) if name in dialogue}
    if not kept:
        raise Absent("nothing_recorded", "the row records no decision")
    return kept


def _dialogue(row: Vector) -> dict[str, Any]:
    game, case = _game(row.input["protocol"]), _report(row)
    scenario = game(game.Settings(rules="published"), _prompts())
    if scenario.lacks(case):
        return {"calls": 0, "asked": [], "messages": [], "lost": True}
    silent = bool(_SILENT.search(str(row.input.get("case", ""))))
    answers = iter(range(1, 1_000))
    played = Played(scenario, case, _list(row.input["doctor_replies"]), lambda _: "" if silent else _result(answers))
    said = [text for said in played.heard if said.seat == "doctor" and (text := _plain(said.text))]
    answer = played.ending.facts.get("answer")
    return {
        "calls": len(played.views),
        "asked": played.asked,
        "messages": [2 + len(view.heard) for view in played.views],
        "told": [one for said in played.heard if said.seat == "patient" for one in _RESULT.findall(said.text)],
        "said": said,
        "turns": len(played.views),
        "answer": answer["diagnosis"] if game is FreeTurn and isinstance(answer, Mapping) else None,
        "lost": played.ending.cause != "completed",
    }


def decided(recorded: Mapping[str, Any], row: Vector) -> Any:
    """The same for the recorded dialogue."""
    del row
    return _recorded(recorded)


def _recorded(recorded: Any) -> dict[str, Any]:
    """The recorded decisions of a row: its calls, its requests, and the dialogue in the written file."""
    decisions: dict[str, Any] = {}
    if not isinstance(recorded, Mapping):
        return decisions
    if "model_calls" in recorded:
        decisions["calls"] = recorded["model_calls"]
    if "patient_inputs" in recorded:
        decisions["asked"] = [text.partition("\n")[2] for text in recorded["patient_inputs"]]
    if "message_counts" in recorded:
        decisions["messages"] = recorded["message_counts"]
    written = recorded.get("output_file")
    if not isinstance(written, Mapping):
        return decisions | ({"lost": True} if "output_file" in recorded else {})
    messages = written.get("output_messages") or written.get("deepseek_messages") or ()
    replies = [text for message in messages if message["role"] == "assistant" and (text := _plain(_content(message)))]
    others = [_content(message) for message in messages if message["role"] == "user"][1:]
    if messages:
        decisions |= {"said": replies, "told": [one for text in others for one in _RESULT.findall(text)]}
    if "turns" not in written:
        return decisions | {"lost": False}
    return decisions | {"turns": written["turns"], "answer": _answered(replies)}


def _answered(replies: Sequence[str]) -> str | None:
    """The conclusion that ended a free-turn dialogue; None where it broke off."""
    try:
        conclusion, wanted = published.published_sections(replies[-1] if replies else "", "free_turn")
    except Absent:
        return None
    return conclusion or None if published.stops(wanted) or len(replies) == _FREE_TURNS else None


def _game(protocol: str) -> Any:
    for name, game in _GAMES.items():
        if name in protocol.lower():
            return game
    raise Absent("unknown_protocol", f"no scenario plays {protocol!r}")


def _report(row: Vector) -> Case:
    """The case of a row, with only the parts that the row has."""
    made = row.input.get("instance", {}).get("generate_case", {})
    summary = made.get("case_summary")
    if not isinstance(summary, str):
        raise Absent("no_summary", "the case has no summary")
    try:
        opening, tests = split_ancillary(summary)
    except Absent:
        opening, tests = summary, ""
    return _case(opening, tests)


def _case(opening: str, tests: str) -> Case:
    return Case(
        id="vector",
        opening=opening.strip() or "-",
        ancillary=tests,
        truth=Truth(diagnosis="-", treatment="-"),
        provenance=Provenance(source="vectors"),
        data_class="public",
    )


def _prompts() -> Prompts:
    return Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])


def _reply(left: Iterator[Any]) -> str:
    """The next recorded reply; a reply that is no text counts as none. Raises Absent where there are no more."""
    for reply in left:
        return reply if isinstance(reply, str) else ""
    raise Absent("no_reply", "asked again, and there are no more recorded replies")


def _result(numbers: Iterator[int]) -> str:
    return f"Result {next(numbers)}"


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else [value]


def _plain(text: str) -> str:
    return text.replace("```", "").strip()


def _content(message: Mapping[str, Any]) -> str:
    """A message's text: a doctor's is kept with the thinking beside it."""
    content = message["content"]
    return str((content.get("answer") if isinstance(content, Mapping) else content) or "")
