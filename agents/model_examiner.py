"""An examiner that looks results up in the record, and lets a model answer only what the record does not hold."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from wardround.agents.dialogue import SILENCE, model_of
from wardround.agents.examiner import reported
from wardround.agents.invention import LONGEST, Objection, objection
from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import CaseResult
from wardround.scenarios.terms.chart import Chart, read_chart
from wardround.scenarios.terms.examiner_lookup import Answer, answer, near_tests, ordered
from wardround.scenarios.terms.subject import subject_of

MOST = 12
"""Most results that are invented for one order; the others are answered as in the record."""
_DECLINED = ("content_filter", "refusal")


@dataclass(frozen=True, slots=True)
class _Request:
    """What one order is answered from."""

    chart: Chart
    record: Sequence[str]
    policy: str
    subject: str


class LLMExaminer:
    """Answers from the record as `Examiner` does, and asks its model about what is not in the record.

    A result that the record holds is reported in the record's own words; the model is not asked about it. For the rest
    the scenario's `policy` decides. `strict`: nothing is invented. `normal-default`: the table's normal value, else a
    normal result in the model's words. `synthesise`: a result in the model's words that suits the record. Nothing is
    invented where the record has a result of the same substance or the same part of the body. An order that the table
    of tests does not know is first read by the model, which names the test that is meant and sees nothing else.

    Each invented result is checked (agents/invention.py). After an objection the model is asked once more; after a
    second one the answer is the record's, with the objection beside it. The log marks each answer: `invented` (the
    policy), `declined` (the objection), `read_as` (the test that the model read). Purposes of its calls: read, invent,
    repair.
    """

    sealed: ClassVar[bool] = True
    VERSION: ClassVar[int] = 1

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts

    async def act(self, view: View) -> Action:
        """Look the order up, and invent what policy allows."""
        known = view.known
        if not isinstance(known, Mapping) or not isinstance(known.get("order"), Mapping):
            raise ValueError("the examiner was asked without an order: view.known must hold record, policy and order")
        items = msgspec.convert(known.get("record", ()), tuple[CaseResult, ...])
        policy = str(known.get("policy", "strict"))
        subject = subject_of(known.get("subject"))
        chart = read_chart(items, subject)
        years = "" if subject.years is None else f"{subject.years:g} years old"
        whose = ", ".join(filter(None, (years, subject.sex, "pregnant" if subject.pregnant else "")))
        asked = _Request(chart, [item.text for item in items], policy, whose or "an adult of whom nothing is known")
        kind = str(known["order"].get("kind", "any"))
        lines = answer(chart, ordered(known["order"]), kind, _table_policy(policy), reported=reported(view))
        earlier = {str(row["asked"]).casefold(): row for row in _rows(view) if row.get("invented")}
        rows: list[dict[str, Json]] = []
        for line in lines:
            if line.state in ("reported", "normal"):
                rows.append(_marked(line.row()))
            elif before := earlier.get(line.asked.casefold()):
                rows.append({**before, "points": line.points})
            else:
                room = sum("invented" in row for row in rows) < MOST
                rows += await self._missing(line, asked, kind, may_invent=room)
        texts = list(dict.fromkeys(str(row["text"]) for row in rows))
        said = "\n".join(texts) or "No test was named; please say which results you want."
        return Action("answer", said, {"answers": rows})

    async def _missing(self, line: Answer, asked: _Request, kind: str, *, may_invent: bool) -> list[dict[str, Json]]:
        """The answers to a request that the record does not hold as it stands."""
        beside: dict[str, Json] = {}
        if line.state == "unknown":
            read_as = await self._read(line.asked) if line.rule == "none" else ""
            again = answer(asked.chart, [read_as], kind, _table_policy(asked.policy)) if read_as else ()
            if not again or any(one.state == "unknown" for one in again):
                return [line.row()]
            beside = {"asked": line.asked, "rule": "model", "read_as": read_as}
            if again[0].state != "not_performed":
                return [{**_marked(one.row()), **beside} for one in again]
            line = again[0]
        row = {**line.row(), **beside}
        if asked.policy == "strict" or not may_invent or near_tests(line.asked, asked.chart):
            return [row]
        text, refused = await self._invented(line, asked)
        if refused:
            return [{**row, "declined": refused}]
        state = "normal" if asked.policy == "normal-default" else "reported"
        return [{**row, "state": state, "text": text, "assumed": True, "invented": asked.policy}]

    async def _read(self, phrase: str) -> str:
        """The test that an unknown phrase means, by the model; "" if it names none."""
        messages = [Message("user", self._prompts["examiner/read"].render(order=phrase[:LONGEST]))]
        named = await self._reply(messages, "read")
        test = named.get("test") if named else None
        return test.strip() if isinstance(test, str) and len(test) < 120 else ""

    async def _invented(self, line: Answer, asked: _Request) -> tuple[str, Objection]:
        """A result that the record lacks, or why there is none."""
        prompt = "normal" if asked.policy == "normal-default" else "synthesise"
        record = "\n".join(f"- {text}" for text in asked.record) or "(nothing)"
        name = line.test or line.asked
        text = self._prompts[f"examiner/{prompt}"].render(test=name, subject=asked.subject, record=record)
        messages = [Message("system", self._prompts["examiner/system"].text), Message("user", text)]
        refused: Objection = ""
        for purpose in ("invent", "repair"):
            reply = await self._reply(messages, purpose)
            result = reply.get("result") if reply else None
            said = result.strip() if isinstance(result, str) else ""
            refused = objection(said, name, asked.record, asked.chart, normal=asked.policy == "normal-default")
            if not refused:
                shown = said if name.casefold() in said.casefold() else f"{name}: {said}"
                return shown, ""
            words = self._prompts["examiner/repair"].render(why=self._prompts[f"examiner/why/{refused}"].text.strip())
            messages += [Message("assistant", said or SILENCE), Message("user", words)]
        return "", refused

    async def _reply(self, messages: Sequence[Message], purpose: str) -> Mapping[str, Json] | None:
        """The object in the model's reply; None if there is none, or if the model declined."""
        try:
            text = (await self._model.complete(messages, purpose=purpose)).text
        except ProviderError as error:
            if error.kind not in _DECLINED:
                raise
            return None
        try:
            read = json.loads(text[text.index("{") : text.rindex("}") + 1])
        except (ValueError, RecursionError):
            return None
        return read if isinstance(read, dict) else None


def _table_policy(policy: str) -> str:
    """The policy for the look-up: a result is synthesised by the model, never from the table."""
    return "strict" if policy == "synthesise" else policy


def _marked(row: dict[str, Json]) -> dict[str, Json]:
    """The row of an answer; a normal value from the table counts as invented too."""
    return {**row, "invented": "normal-default"} if row["assumed"] else row


def _rows(view: View) -> list[Mapping[str, Json]]:
    """The answers that this seat gave before."""
    rows = [row for said in view.heard if said.seat == view.seat for row in said.args.get("answers") or ()]
    return [row for row in rows if isinstance(row, Mapping)]
