"""Plays a scenario without the engine: doctor actions given in a list, the other seats answered from the record."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import wardround.scenarios
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, View
from wardround.scenarios.case import Case

PROMPTS = Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])


class Game:
    """One episode, by hand: `scenario` is any of the project's, its state is `state`."""

    def __init__(self, scenario: Any, case: Case) -> None:
        self.scenario = scenario
        self.state = scenario.start(case)
        self.seq = 0

    @property
    def turn(self) -> str:
        """Whose turn it is, empty when it is over."""
        return "" if self.scenario.ending(self.state) else str(self.scenario.turn(self.state))

    @property
    def ending(self) -> Ending | None:
        ending = self.scenario.ending(self.state)
        assert ending is None or isinstance(ending, Ending)
        return ending

    def view(self, seat: str = "doctor") -> View:
        view = self.scenario.view(self.state, seat)
        assert isinstance(view, View)
        return view

    def act(self, action: Action) -> None:
        """The seat whose turn it is acts."""
        self.seq += 1
        self.state = self.scenario.apply(self.state, Acted(self.seq, 0.0, self.turn, action))

    def play(self, replies: Iterable[str | Action]) -> "Game":
        """The doctor's replies one by one; whoever else has a turn answers from the record; stops when it is over."""
        for reply in replies:
            if not self.turn:
                break
            self.act(Action("reply", text=reply) if isinstance(reply, str) else reply)
            while self.turn not in ("", "doctor"):
                self.act(answer(self.view(self.turn)))
        return self

    @property
    def heard(self) -> list[tuple[str, str]]:
        """(seat, verb) of all that the doctor has heard."""
        return [(said.seat, said.verb) for said in self.view().heard]


def answer(view: View) -> Action:
    """Answers an order by exact names; an examination without items is all of it; a question by the whole story."""
    known = view.known
    if "story" in known:
        return Action("answer", text=" ".join(known["story"].values()) or "I do not know.")
    order = known["order"]
    told = []
    for item in known["record"]:
        asked = [name for name in order["items"] if name.lower() == item["name"].lower()]
        if asked or (item["kind"] == order["kind"] == "examination" and not order["items"]):
            told.append(_answer(item["name"], item["kind"], "reported", item["text"], [item["ref"]]))
    names = {row["asked"].lower() for row in told}
    told += [
        _answer(name, order["kind"], "unknown", f"{name}: not known", [])
        for name in order["items"]
        if name.lower() not in names
    ]
    text = "\n".join(row["text"] for row in told) or "Nothing is recorded."
    return Action("answer", text=text, args={"answers": told})


def _answer(asked: str, kind: str, state: str, text: str, refs: Sequence[str]) -> dict[str, Any]:
    return {
        "asked": asked,
        "kind": kind,
        "state": state,
        "test": asked,
        "text": text,
        "refs": list(refs),
        "points": 1.0,
    }
