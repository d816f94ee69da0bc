"""AgentClinic OSCE stations (JSONL, one `OSCE_Examination` a line) as cases.

Layout: AgentClinic's agentclinic_medqa.jsonl. The objective is the complaint at the door, the actor's sheet is the
history and, as one text, the opening of games without a dialogue; examination and tests are looked up.
"""

from collections.abc import Iterable, Mapping

from pydantic import ValidationError

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Finding, Provenance, Truth
from wardround.scenarios.loaders.measured import normal, not_done
from wardround.scenarios.loaders.names import group, names
from wardround.scenarios.loaders.oddities import Oddity, in_record, in_station
from wardround.scenarios.loaders.problem import Refused, faults
from wardround.scenarios.loaders.results import readable, results, told
from wardround.scenarios.loaders.source import Loader

SOURCE = "AgentClinic"
LICENCE = "MIT"
KEY = "OSCE_Examination"

_ACTOR_FIRST = ("Demographics", "History", "Symptoms")


def case(number: int, record: Json) -> Case:
    """The case of the `number`th station (the file has no ids: 'osce-001'); raises Refused with every fault."""
    wrong: list[tuple[str, str]] = []
    station = record.get(KEY) if isinstance(record, dict) else None
    if not isinstance(station, dict):
        raise Refused([(KEY, "is missing, or no object")])
    objective = _text(station, "Objective_for_Doctor", wrong)
    correct = _text(station, "Correct_Diagnosis", wrong)
    actor = _object(station, "Patient_Actor", wrong, needed=True)
    body = _object(station, "Physical_Examination_Findings", wrong)
    tests = _object(station, "Test_Results", wrong)
    history = _history(actor)
    if actor and not history:
        wrong.append((f"{KEY}.Patient_Actor", "says nothing"))
    if wrong:
        raise Refused(wrong)
    diagnosis, synonyms = names(correct)
    try:
        found = results(tests)
        return Case(
            id=f"osce-{number:03d}",
            opening="\n".join(f"{name}: {text}" for name, text in history.items()),
            complaint=objective,
            opening_source="composed",
            history=history,
            examination=(*_examination(body), *found.examination),
            labs=found.labs,
            microbiology=found.microbiology,
            imaging=found.imaging,
            investigations=found.investigations,
            truth=Truth(diagnosis=diagnosis, synonyms=synonyms),
            group=group(diagnosis),
            provenance=Provenance(source=SOURCE, record=str(number), licence=LICENCE),
            data_class="public",
        )
    except ValidationError as error:
        raise Refused(faults(error)) from error


class Osce(Loader):
    """AgentClinic's OSCE stations."""

    TITLE = "AgentClinic OSCE JSONL, one object with OSCE_Examination a line"

    def knows(self, record: Json) -> float:
        """An object with the station."""
        return float(isinstance(record, dict) and KEY in record)

    def case(self, number: int, name: str, record: Json) -> Case:
        """As `case`."""
        return case(number, record)

    def odd(self, record: Json) -> Iterable[Oddity]:
        """What is odd in any record, and in a station."""
        station = record.get(KEY) if isinstance(record, dict) else None
        return (*in_record(record), *in_station(station))


def _history(actor: Mapping[str, Json]) -> dict[str, str]:
    """The actor's sheet section by section, under readable names, the presenting part first."""
    order = [name for name in _ACTOR_FIRST if name in actor] + [name for name in actor if name not in _ACTOR_FIRST]
    found = {}
    for name in order:
        if text := told(actor[name]):
            found[readable(name)] = text
    return found


def _examination(body: Mapping[str, Json]) -> tuple[Finding, ...]:
    """One finding a section; its `normal` is true where every line says no more than that it is."""
    found = []
    for name, value in body.items():
        text = told(value)
        if text and not not_done(text):
            parts = list(value.values()) if isinstance(value, dict) else [value]
            plain = all(isinstance(part, str) and normal(part) for part in parts)
            found.append(Finding(section=readable(name), text=text, normal=True if plain else None))
    return tuple(found)


def _text(station: Mapping[str, Json], name: str, wrong: list[tuple[str, str]]) -> str:
    value = station.get(name)
    if isinstance(value, str) and value.strip():
        return value.strip()
    said = "is missing" if value is None else "must be a text" if not isinstance(value, str) else "must not be blank"
    wrong.append((f"{KEY}.{name}", said))
    return ""


def _object(
    station: Mapping[str, Json], name: str, wrong: list[tuple[str, str]], *, needed: bool = False
) -> Mapping[str, Json]:
    value = station.get(name)
    if isinstance(value, dict):
        return value
    if value is not None:
        wrong.append((f"{KEY}.{name}", f"must be an object, is {type(value).__name__}"))
    elif needed:
        wrong.append((f"{KEY}.{name}", "is missing"))
    return {}
