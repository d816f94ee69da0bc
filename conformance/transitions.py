"""Adapter: one step of the full-path loop, played by the work-up under its published settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

import wardround.scenarios
from conformance.vector import Vector
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action
from wardround.scenarios.case import Case, Culture, Finding, Lab, Provenance, Study, Truth
from wardround.scenarios.published import actions, desk, imaging, replies
from wardround.scenarios.published.tables import Tables
from wardround.scenarios.records import items
from wardround.scenarios.workup import NAMES, State, Workup, WorkupSettings

Kind = Literal["examination", "lab", "microbiology", "imaging"]
_KINDS: dict[str, Kind] = {name: kind for kind, name in NAMES.items()}  # type: ignore[misc]  # the four of NAMES
# The decision that a published message tells, by words that no other has.
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
_MANY = 1000


def transition(row: Vector, tables: Tables) -> Any:
    """multicog_transition: what was decided. The recorded side is put in the same words by `decided`."""
    if row.input.get("summarized_failed_ids"):  # the doctor's context could not be cut down: no reply was had
        ours: dict[str, Any] = {"finish": True, "result": ["failed", "failed"]}
        return ours if row.expected["finish"] else {"finish": False}
    prompts = Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])
    settings = WorkupSettings(rules="published", reading="published", max_turns=_MANY, max_warnings=_MANY)
    scenario, case = Workup(settings, prompts), _case(row.input["record"])
    before = _state(scenario.start(case), row.input)
    after = scenario.apply(before, Acted(1, 0.0, "doctor", Action("reply", row.input["reply"])))
    told: Sequence[str] = ()
    if scenario.ending(after) is None and scenario.turn(after) == "examiner":
        assert after.order is not None
        given = desk.answer(items(case), after.order.text, after.order.kind, tables)
        told = [line.text for line in given]
        answered = Action("answer", "\n".join(told) or "Nothing was found.", {"answers": [g.row() for g in given]})
        after = scenario.apply(after, Acted(2, 0.0, "examiner", answered))
    ours = _ours(scenario, before, after, told) | _asked(row.input["reply"], tables, ended="finish")
    theirs = [decided(one, row.input) for one in (row.expected, *row.alternatives)]
    return row.expected if ours in theirs else ours


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
            for name, s in studies.items()
        ),
        truth=Truth(diagnosis=disease),
        provenance=Provenance(source="vectors"),
        data_class="public",
    )


def _state(start: State, given: Mapping[str, Any]) -> State:
    """The work-up where the row begins: what was chosen, and what has been answered already."""
    chosen = [name for name in given["action_history"] if name in _KINDS]
    answered = [kind for name, kind in _KINDS.items() if name not in given["resources"]]
    stage = "diagnose" if "OUTPUT" in given["action_history"] else "choose"
    used = tuple(_KINDS[name] for name in chosen)
    asked = "output" if stage == "diagnose" else ""
    return msgspec.structs.replace(start, used=used, answered=tuple(answered), stage=stage, asked=asked)


def _ours(scenario: Workup, before: State, after: State, told: Sequence[str]) -> dict[str, Any]:
    ending = scenario.ending(after)
    if ending is not None:
        return {"finish": True, "what": "", "told": [], "chosen": _chosen(before), "offered": None}
    last = after.heard[-1]
    what = {"warning": "warned", "question": "question", "answer": "told"}.get(last.verb, "")
    if last.verb == "refusal":
        reason = str(last.args["reason"])
        what = "warned" if reason == "none_found" else reason
    elif last.verb == "demand":
        what = "output" if "OUTPUT" in last.text.partition(".")[0] else "enforced"
    return {
        "finish": False,
        "what": what,
        "told": sorted(text.partition(": ")[2] for text in told) if what == "told" else [],
        "chosen": _chosen(after),
        "answered": sorted(NAMES[kind] for kind in after.answered if kind in NAMES and kind != "examination"),
    }


def _chosen(state: State) -> list[str]:
    return [NAMES[kind] for kind in state.used] + (["OUTPUT"] if state.stage == "diagnose" else [])
