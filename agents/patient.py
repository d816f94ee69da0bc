"""Patients: one that answers from its own story without a model, and one played by a language model."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from wardround.agents.dialogue import SILENCE, dialogue, model_of
from wardround.agents.history import interview
from wardround.agents.persona import Speech, Talk, bias_text, misstate
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import CaseResult
from wardround.scenarios.orders.chart import chart_of
from wardround.scenarios.orders.examiner_lookup import Answer, answer, ordered
from wardround.scenarios.parsers.moves import RESULT_STATES

MOST = 3
"""The most sentences of one answer: a patient answers the question and does not tell the whole story."""

NOTHING = "There is no relevant ancillary test information available for this request."
"""The patient's answer if the report has none of the requested tests (protocol of MedR-Bench, section 10.2)."""


class Patient:
    """Answers without a model: from the report's tests (staged games), or from its own story (consultation).

    ::

        wardround run --scenario consultation --doctor openai/gpt-4o --patient record --persona anxious

    A request for tests is matched to the report's items as by the examiner, except that a broad request ('any
    imaging?') gets all items of its kind, as from the patient agent of MedR-Bench. A question is answered in the first
    person by at most three sentences of the story that are about it, the same whenever it is asked (`interview`).
    With a persona in its options (`persona`, `strength`) it says the same facts in that persona's manner.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 17

    def __init__(self, seat: Seat | None = None) -> None:
        self._speech = Speech.of(seat)
        self._seed = seat.seed if seat else 0

    async def act(self, view: View) -> Action:
        """Answer what was asked last."""
        known = _known_fields(view)
        return self._tests(known) if "ancillary" in known else self._story(view, known)

    def _tests(self, known: Mapping[str, Json]) -> Action:
        answers = _look_up(known, str(known.get("policy", "strict")))
        return Action("answer", _answer_text(answers), {"answers": [line.row() for line in answers]})

    def _story(self, view: View, known: Mapping[str, Json]) -> Action:
        talk = Talk.of(view)
        reply = _from_story(known, talk)
        topics = list(dict.fromkeys(f"history.{section}" for section in reply.sections))
        cited: list[Json] = [{"field": f"history.{fact.section}", "sentence": fact.text} for fact in reply.facts]
        sources: dict[str, Json] = {"topics": topics, "cited": cited}
        if self._speech is None:
            return Action("answer", reply.text, sources)
        text = reply.text
        changed: dict[str, Json] = {}
        if self._speech.persona.record.contradicts:
            text, changed = misstate(text, _incidental(known), talk, self._seed)
        text, marks = self._speech.say(text, talk)
        return Action("answer", text, {**sources, "plain": reply.text, **changed, **marks})


def _from_story(known: Mapping[str, Json], talk: Talk) -> interview.PatientReply:
    """The answer to the last question from the story, in plain words."""
    before = " ".join(str(said.args.get("plain") or said.text) for said in talk.own)
    story = {str(name): str(text) for name, text in known["story"].items()}
    return interview.answer_from_story(story, str(known.get("complaint", "")), talk.asked, before)


def _incidental(known: Mapping[str, Json]) -> list[str]:
    """The facts of the story that decide nothing, as the scenario names them."""
    return [str(fact) for fact in known.get("incidental") or ()]


class LLMPatient:
    """Answers with what its model says; it sees the story or the report, never the truth.

    ::

        wardround run --scenario consultation --doctor openai/gpt-4o --patient openai/gpt-4o --persona shy.toml

    With a persona in its options (`persona`, `strength`) or a `bias` the model is asked to speak in that manner. The
    seat's seed chooses the fact that a persona misstates. In the answer that tells this fact the model is asked to
    misstate it, and the log is marked only if it did.

    All its knowledge is in the view, so it can resume at any turn. After an empty reply the model is asked once more; a
    second empty reply is passed on and ends the episode by this seat. Purposes of its calls: act, repair.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts
        self._speech = Speech.of(seat)
        self._bias = bias_text(seat)
        self._seed = seat.seed

    async def act(self, view: View) -> Action:
        """Answer what was asked last."""
        known = _known_fields(view)
        has_report = "ancillary" in known
        wanted = {} if has_report else self._misstatement(view, known)
        messages = self._report(view, known) if has_report else self._story(view, known, wanted)
        reply = await self._model.complete(messages, purpose="act")
        if not reply.text.strip():
            again = [Message("assistant", SILENCE), Message("user", self._prompts["patient/repair"].text)]
            reply = await self._model.complete([*messages, *again], purpose="repair")
        args: dict[str, Json] = {"topics": []}
        if has_report:  # the results are for the scores; without their text, since the doctor hears the model's words
            args = {"answers": [{**line.row(), "text": ""} for line in _look_up(known)]}
        for mark, change in wanted.items():
            if str(change["said"]).lower() in reply.text.lower():
                args[mark] = change
        return Action("answer", reply.text.strip(), args, thinking=reply.thinking)

    def _misstatement(self, view: View, known: Mapping[str, Json]) -> dict[str, Json]:
        """What the answer is to misstate or correct, as a mark for the log; nothing if it does not tell that fact."""
        if self._speech is None or not self._speech.persona.record.contradicts:
            return {}
        talk = Talk.of(view)
        _, mark = misstate(_from_story(known, talk).text, _incidental(known), talk, self._seed)
        return mark

    def _report(self, view: View, known: Mapping[str, Json]) -> Sequence[Message]:
        """Return the messages for one request: report, tests and the request, without earlier ones as in MedR-Bench."""
        order = _order(known)
        items = order.get("items") or ()
        request = str(order.get("text") or "").strip() or "\n".join(str(item) for item in items)
        tests = str(known["ancillary"]).strip() or "\n".join(f"- {_line(item)}" for item in _items(known))
        system = self._prompts["patient/report"].render(
            brief=view.brief, summary=str(known.get("summary", "")), tests=tests or "(none)", nothing=NOTHING
        )
        return [Message("system", system), Message("user", self._prompts["patient/request"].render(request=request))]

    def _story(self, view: View, known: Mapping[str, Json], wanted: Mapping[str, Json]) -> Sequence[Message]:
        """The messages of an interview: story and manner, the dialogue, and what is to be misstated or corrected."""
        story = "\n".join(f"{name}: {text}" for name, text in known["story"].items())
        system = self._prompts["patient/story"].render(brief=view.brief, story=story)
        manner = " ".join(filter(None, (self._speech.manner if self._speech else "", self._bias)))
        if manner:
            system = f"{system.rstrip()}\n\n{self._prompts['patient/manner'].render(manner=manner)}"
        messages = dialogue([Message("system", system)], view.heard, view.seat, self._prompts["patient/continue"].text)
        for mark, change in wanted.items():
            fields = {name: str(change.get(name, "")) for name in ("fact", "said")}
            words = self._prompts[f"patient/{mark}"].render(**fields)
            messages[-1] = Message("user", f"{messages[-1].content}\n\n{words}")
        return messages


def _order(known: Mapping[str, Json]) -> Mapping[str, Json]:
    order = known.get("order")
    if not isinstance(order, Mapping):
        raise ValueError("the patient was asked without an order: view.known must hold it")
    return order


def _look_up(known: Mapping[str, Json], policy: str = "strict") -> Sequence[Answer]:
    """The report's results that the order requests."""
    order = _order(known)
    chart = chart_of(known, _items(known))
    return answer(chart, ordered(order), str(order.get("kind", "any")), policy, everything=True)


def _known_fields(view: View) -> Mapping[str, Json]:
    """What the patient knows: its report (`ancillary`) or its story; raises ValueError without both."""
    known = view.known
    if not isinstance(known, Mapping) or ("ancillary" not in known and not isinstance(known.get("story"), Mapping)):
        raise ValueError("a patient needs its story or its report: view.known holds neither")
    return known


def _items(known: Mapping[str, Json]) -> tuple[CaseResult, ...]:
    """The report's results; if they are not recorded separately, the lines of its text."""
    items = msgspec.convert(known.get("record", ()), tuple[CaseResult, ...])
    if items:
        return items
    lines = [line.strip(" -*\t") for line in str(known["ancillary"]).splitlines()]
    return tuple(
        CaseResult("ancillary", "investigation", line.split(":")[0][:80], line, None)
        for line in lines
        if line and not line.endswith(":")
    )


def _line(item: CaseResult) -> str:
    return item.text if item.kind != "examination" else f"{item.name}: {item.text}"


def _answer_text(answers: Sequence[Answer]) -> str:
    """The results, without duplicate lines, then the missing tests; the protocol's sentence if there are no results."""
    reported = [line for line in answers if line.state in RESULT_STATES]
    if not reported:
        return NOTHING
    results = dict.fromkeys(line.text for line in reported)
    answered = {line.asked for line in reported}
    missing = dict.fromkeys(line.asked for line in answers if line.asked not in answered)
    return "\n".join([*results, *([f"Not in the report: {'; '.join(missing)}."] if missing else [])])
