"""Adapter: one step of the full-path loop, played by the work-up under its published settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

import wardround.scenarios
from conformance import imaging
from conformance import published as desk
from conformance import published as replies
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action
from wardround.scenarios.case import Case, Culture, Finding, Lab, Provenance, Study, Truth, case_results
from wardround.scenarios.encounters.workup import NAMES, Workup, WorkupSettings, WorkupState
from wardround.scenarios.orders.examiner_lookup import Answer
from wardround.scenarios.parsers import published

Kind = Literal["examination", "lab", "microbiology", "imaging"]
_KINDS: dict[str, Kind] = {name: kind for kind, name in NAMES.items()}  # type: ignore[misc]  # the four of NAMES
# The decision in a published message, by words that no other message has.
_SAYINGS = (
    ("NO VALID TESTS FOUND", "warned"),
    ("not available or used the wrong format", "warned"),
    ("treatment plan NOT FOUND", "warned"),
    ("have already performed", "repeated"),
    ("Please choose another action.", "none"),
    ("provide the specific list", "question"),
    ("choose OUTPUT as the next action", "output"),
    ("accessed all the available information", "enforced"),
    ("Physical Examination of this patient", "told"),
    ("Here are the", "told"),
)
_REQUESTS: dict[published.Listed, str] = {
    "lab": "lab_request",
    "imaging": "image_request",
    "microbiology": "micro_request",
}
_LISTS = ("LAB", "IMAGE", "MICRO")
_MANY = 1000


def transition(row: Vector, tables: Tables) -> Any:
    """multicog_transition: what the work-up decides on one reply."""
    if row.input.get("summarized_failed_ids"):  # there was no reply: the conversation did not fit into the context
        return {"finish": True, "result": ["failed", "failed"]}
    prompts = Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])
    settings = WorkupSettings(rules="published", reading="published", max_turns=_MANY, max_warnings=_MANY)
    scenario, case = Workup(settings, prompts), _case(row.input["record"])
    state = _state(scenario.start(case), row.input)
    state = scenario.apply(state, Acted(1, 0.0, "doctor", Action("reply", row.input["reply"])))
    answers: tuple[Answer, ...] = ()
    if scenario.ending(state) is None and scenario.turn(state) == "examiner":
        assert state.order is not None
        record = case_results(case)
        answers = desk.answer(record, state.order.text, state.order.kind, tables)
        rows = [line.row() for line in answers]
        state = scenario.apply(state, Acted(2, 0.0, "examiner", Action("answer", "Told.", {"answers": rows})))
        names = {item.ref: item.code or item.name for item in record}
        return _decision(state, [names[ref] for line in answers for ref in line.refs]) | _asked(row, tables)
    ending = scenario.ending(state)
    if ending is not None:
        said = published.action(row.input["reply"])
        assert said.answers is not None
        assert ending.facts["answer"] == {"diagnosis": said.answers.diagnosis}
        return {"finish": True, "result": list(said.answers)}
    return _decision(state, []) | _asked(row, tables)


def episodes(row: Vector, tables: Tables) -> Any:
    """multicog_episodes: what each patient's scripted doctor concludes, and after how many replies.

    The doctor without an end in the script has failed, after as many replies as the published loop allowed.
    """
    prompts = Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])
    settings = WorkupSettings(rules="published", reading="published", max_turns=_MANY, max_warnings=_MANY)
    scenario = Workup(settings, prompts)
    played: dict[str, Any] = {}
    for disease, admissions in row.input["records"].items():
        for number, one in admissions.items():
            parts = (one["Patient History"], one["Physical Examination"], one["Laboratory Tests"], one["Microbiology"])
            studies = [(study["Exam Name"], study) for study in one["Radiology"]]
            case = _case([disease, number, *parts, studies])
            played[number] = _played(scenario, case, row.input["scripts"][number], tables)
    return played


def _played(scenario: Workup, case: Case, replies: Sequence[str], tables: Tables) -> list[Any]:
    """The conclusion of a scripted doctor with the number of its replies; two `failed` where it does not conclude."""
    state, record = scenario.start(case), case_results(case)
    for place, reply in enumerate(replies, 1):
        state = scenario.apply(state, Acted(2 * place, 0.0, "doctor", Action("reply", reply)))
        if scenario.ending(state) is not None:
            return [*(published.action(reply).answers or ()), place]
        if scenario.turn(state) == "examiner":
            assert state.order is not None
            lines = [line.row() for line in desk.answer(record, state.order.text, state.order.kind, tables)]
            answered = Action("answer", "Told.", {"answers": lines})
            state = scenario.apply(state, Acted(2 * place + 1, 0.0, "examiner", answered))
    return ["failed", "failed", 0]


def concluded(recorded: Mapping[str, Any], row: Vector) -> Any:
    """The same for the recorded run: results, and the calls of the doctors that concluded."""
    del row
    calls = Counter(str(number) for kind, number, _ in recorded["llm_calls"] if kind == "reply")
    return {
        number: [*result, 0 if result == ["failed", "failed"] else calls[number]]
        for number, result in recorded["results"].items()
    }


def decided(recorded: Mapping[str, Any], row: Vector) -> Any:
    """The same for the recorded step: its action, its requests and results, and the state after it; not its words."""
    if recorded["finish"]:
        return {"finish": True, "result": recorded["result"]}
    message = recorded["chat_history"][-1]["content"]
    what = next((name for words, name in _SAYINGS if words in message), "?")
    asked = {name: recorded[name][0] if recorded[name] else [] for name in _REQUESTS.values()}
    return {
        "finish": False,
        "what": what,
        "told": _reported(message, row.input["record"]) if what == "told" else [],
        "chosen": [name for name in recorded["action_history"] if name != "WRONG"],
        "answered": sorted({*_LISTS} - {*recorded["resources"]}),
        "result": recorded["result"],
        **{name: sorted(map(str, value)) for name, value in asked.items() if name != "image_request"},
        "image_request": sorted(_study(one) for one in asked["image_request"]),
    }


def _reported(message: str, record: Sequence[Any]) -> list[str]:
    """The recorded items in a message: item numbers, exam names, or the examination."""
    if message.startswith("Physical Examination"):
        return ["Examination"]
    lines = message.split("\n")
    if any(line.startswith("Exam Name: ") for line in lines):
        return sorted(line.removeprefix("Exam Name: ") for line in lines if line.startswith("Exam Name: "))
    values = record[5] if "microbiology" in lines[0] else record[4]
    return sorted(item for item, value in values.items() if any(line.endswith(f": {value}") for line in lines))


def _study(one: Mapping[str, Any]) -> str:
    return f"{one['Exam Name']} {sorted(one['Region'])} {sorted(one['Modality'])}"


def _asked(row: Vector, tables: Tables) -> dict[str, Any]:
    """What the published parser makes of the reply: the action and, if it is a list, what it asks for."""
    said = published.action(row.input["reply"])
    asked: dict[str, Any] = {"result": said.result, **{name: [] for name in _REQUESTS.values()}}
    in_force = "OUTPUT" not in row.input["action_history"]
    kind = next((kind for kind, code in published.CODES.items() if code == said.choice), None)
    if kind == "imaging" and in_force:
        wanted = [imaging.widened(one, tables) for one in replies.studies(said.kept, tables)]
        asked["image_request"] = sorted(f"{one.name} {sorted(one.regions)} {sorted(one.modalities)}" for one in wanted)
    elif kind is not None and in_force:
        asked[_REQUESTS[kind]] = sorted(str(number) for number in replies.item_ids(kind, said.kept, tables))
    return asked


def _case(record: Sequence[Any]) -> Case:
    disease, number, opening, body, labs, cultures, studies = record
    return Case(
        id=str(number),
        opening=opening or "-",
        examination=(Finding(section="Examination", text=body),) if body else (),
        labs=tuple(Lab(name=item, item_id=int(item), value=str(value)) for item, value in labs.items()),
        microbiology=tuple(Culture(test=i, item_id=int(i), comment=str(value)) for i, value in cultures.items()),
        imaging=tuple(
            Study(exam=name, modality=s["Modality"], region=s["Region"], report=s["Report"] or "-")
            for name, s in (studies.items() if isinstance(studies, Mapping) else studies)
        ),
        truth=Truth(diagnosis=disease),
        provenance=Provenance(source="vectors"),
        data_class="public",
    )


def _state(start: WorkupState, fields: Mapping[str, Any]) -> WorkupState:
    """The work-up where the row begins: what was chosen, and what has been answered already."""
    chosen = [name for name in fields["action_history"] if name in _KINDS]
    answered = [kind for name, kind in _KINDS.items() if name not in fields["resources"]]
    stage = "diagnose" if "OUTPUT" in fields["action_history"] else "choose"
    used = tuple(_KINDS[name] for name in chosen)
    asked = "output" if stage == "diagnose" else ""
    return msgspec.structs.replace(start, used=used, answered=tuple(answered), stage=stage, asked=asked)


def _decision(state: WorkupState, reported: Sequence[str]) -> dict[str, Any]:
    last = state.heard[-1]
    what = {"warning": "warned", "question": "question", "answer": "told"}.get(last.verb, "")
    if last.verb == "refusal":
        reason = str(last.args["reason"])
        what = "warned" if reason == "none_found" else reason
    elif last.verb == "demand":
        what = "output" if "OUTPUT" in last.text else "enforced"
    return {
        "finish": False,
        "what": what,
        "told": sorted(reported) if what == "told" else [],
        "chosen": [NAMES[kind] for kind in state.used] + (["OUTPUT"] if state.stage == "diagnose" else []),
        "answered": sorted(NAMES[kind] for kind in state.answered if kind != "examination"),
    }
