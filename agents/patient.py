"""Patients: one that looks its answers up without a model, and one that is a language model."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from wardround.agents import story
from wardround.agents.dialogue import SILENCE, dialogue
from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat, Voice
from wardround.scenarios.case import Item
from wardround.scenarios.terms.examiner_lookup import Answer, answer, record, wanted

NOTHING = "There is no relevant ancillary test information available for this request."
"""What a patient agent says when the report has nothing that was asked for: protocol of paper 002, section 10.2."""

UNKNOWN = "I don't know anything about that."
TOLD = "I have told you all I know about that."


class Patient:
    """Answers without a model: from the report's tests (staged games), or from its own story (consultation).

    A request for tests is linked to the report's items as the examiner links an order, except that a broad one ('any
    imaging?') gets all of its kind, as the patient agent of paper 002 gives it. A question gets the sentences of the
    story that are about it, in the story's words, at most three, none twice.
    """

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Answer what was asked last."""
        known = _known(view)
        return self._tests(known) if "ancillary" in known else self._story(view, known)

    def _tests(self, known: Mapping[str, Json]) -> Action:
        order = known.get("order")
        if not isinstance(order, Mapping):
            raise ValueError("the patient was asked without an order: view.known must hold it")
        given = answer(
            _items(known),
            wanted(order),
            str(order.get("kind", "any")),
            str(known.get("policy", "strict")),
            everything=True,
        )
        return Action("answer", _told(given), {"answers": [line.row() for line in given]})

    def _story(self, view: View, known: Mapping[str, Json]) -> Action:
        question = next((said.text for said in reversed(view.heard) if said.seat != view.seat), "")
        said_before = [said.text for said in view.heard if said.seat == view.seat]
        sheet = story.sentences({str(name): str(text) for name, text in known["story"].items()})
        fitting = story.fitting(question, sheet)
        fresh = [part for part in fitting if not any(part.text in text for text in said_before)][: story.MOST]
        if not fresh:
            return Action("answer", TOLD if fitting else UNKNOWN, {"topics": []})
        fresh.sort(key=lambda part: part.place)
        topics = list(dict.fromkeys(f"history.{part.section}" for part in fresh))
        return Action("answer", " ".join(_ended(part.text) for part in fresh), {"topics": topics})


class LLMPatient:
    """Answers with what its model says; it is told the story or the report, and never the truth.

    All it knows is in the view, so it resumes anywhere. An empty reply is asked for once more; a second one is handed
    on as it is, and ends the episode by this seat. Purposes of its calls: act, repair.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        if seat.model is None:
            raise UsageError(f"{seat.name}: this agent needs a model; write provider/model, for instance openai/gpt-4o")
        self._model: Voice = seat.model
        self._prompts = seat.prompts

    async def act(self, view: View) -> Action:
        """Answer what was asked last."""
        known = _known(view)
        messages = self._report(view, known) if "ancillary" in known else self._story(view, known)
        reply = await self._model.complete(messages, purpose="act")
        if not reply.text.strip():
            again = [Message("assistant", SILENCE), Message("user", self._prompts["patient/repair"].text)]
            reply = await self._model.complete([*messages, *again], purpose="repair")
        args = {"answers": _asked_for(known)} if "ancillary" in known else {"topics": []}
        return Action("answer", reply.text.strip(), args, thinking=reply.thinking)

    def _report(self, view: View, known: Mapping[str, Json]) -> Sequence[Message]:
        """Each request stands alone, as in paper 002: the report, the withheld tests, and what is asked for now."""
        order = known.get("order")
        if not isinstance(order, Mapping):
            raise ValueError("the patient was asked without an order: view.known must hold it")
        items = order.get("items") or ()
        request = str(order.get("text") or "").strip() or "\n".join(str(item) for item in items)
        tests = str(known["ancillary"]).strip() or "\n".join(f"- {_line(item)}" for item in _items(known))
        system = self._prompts["patient/report"].render(
            brief=view.brief, summary=str(known.get("summary", "")), tests=tests or "(none)", nothing=NOTHING
        )
        asked = self._prompts["patient/request"].render(request=request)
        return [Message("system", system), Message("user", asked)]

    def _story(self, view: View, known: Mapping[str, Json]) -> Sequence[Message]:
        told = "\n".join(f"{name}: {text}" for name, text in known["story"].items())
        system = self._prompts["patient/story"].render(brief=view.brief, story=told)
        return dialogue([Message("system", system)], view.heard, view.seat, self._prompts["patient/continue"].text)


def _asked_for(known: Mapping[str, Json]) -> list[Json]:
    """Which recorded results the request named, for the scores: what was asked is the doctor's, however it is told.

    Without the results' text: the doctor hears the model's words only.
    """
    order = known["order"]
    given = answer(_items(known), wanted(order), str(order.get("kind", "any")), "strict", everything=True)
    return [{**line.row(), "text": ""} for line in given]


def _known(view: View) -> Mapping[str, Json]:
    known = view.known
    if not isinstance(known, Mapping) or ("ancillary" not in known and not isinstance(known.get("story"), Mapping)):
        raise ValueError("a patient must be told its story or its report: view.known holds neither")
    return known


def _items(known: Mapping[str, Json]) -> tuple[Item, ...]:
    """The report's results; where none is recorded by itself, the lines of its text."""
    items = record(known.get("record", ()))
    if items:
        return items
    lines = [line.strip(" -*\t") for line in str(known["ancillary"]).splitlines()]
    return tuple(
        Item("ancillary", "investigation", line.split(":")[0][:80], line, None)
        for line in lines
        if line and not line.endswith(":")
    )


def _line(item: Item) -> str:
    return item.text if item.kind != "examination" else f"{item.name}: {item.text}"


def _told(given: Sequence[Answer]) -> str:
    """What was found, each line once, and what was not; the protocol's sentence if nothing was."""
    found = list(dict.fromkeys(line.text for line in given if line.state in ("reported", "normal")))
    if not found:
        return NOTHING
    asked = {line.asked for line in given if line.state in ("reported", "normal")}
    missing = [line.asked for line in given if line.asked not in asked]
    return "\n".join(found + ([f"Not in the report: {'; '.join(dict.fromkeys(missing))}."] if missing else []))


def _ended(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."
