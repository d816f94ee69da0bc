"""One doctor with its runs: a row of a table."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.rows import RunScores
from wardround.evaluators.tables.cell import Taken

_REPLIES = "replies:"


class Played(msgspec.Struct, frozen=True):
    """A run with the scores of its closed episodes by name; `judged` says that a model found answers right or wrong."""

    name: str
    setting: str
    doctor: str
    taken: Taken
    open: int
    judge: str
    judged: bool = False


class Player(msgspec.Struct, frozen=True):
    """One doctor with one run of each setting."""

    label: str
    runs: Mapping[str, Played]


def played(run: RunScores) -> Played:
    """The run as tables need it. Scores of the same name: the last one counts."""
    closed = [row for row in run.episodes if row.cause is not None]
    return Played(
        name=run.name,
        setting=setting_of(run.header),
        doctor=doctor_of(run.header) or run.name,
        taken=[(row, {score.name: score for score in row.scores}) for row in closed],
        open=len(run.episodes) - len(closed),
        judge=msgspec.json.encode(run.scoring.get("judge")).decode(),
        judged=_judged(run),
    )


def _judged(run: RunScores) -> bool:
    """A judge leaves the lexical verdict beside its own; where every judge is lexical, its own is one too."""
    beside = any(score.name == "lexical_match" for row in run.episodes for score in row.scores)
    judges = run.answer_judges
    return beside and not (judges and set(judges) <= {"lexical"})


def doctor_of(header: Mapping[str, Json]) -> str:
    """What a doctor is called in a table: the SPEC of its seat, and its model where the SPEC does not name it.

    Of a file of replies its folder is left out: a long path would push the model's name out of the line.
    """
    seat = inside(inside(header, "seats"), "doctor")
    spec, model = str(seat.get("spec") or ""), str(seat.get("model") or "")
    if spec.startswith(_REPLIES):
        path, mark, name = spec.removeprefix(_REPLIES).partition("#")
        spec = f"{_REPLIES}{PurePath(path).name}{mark}{name}"
    return f"{spec} ({model})" if spec and model and model not in spec else spec or model


def players(runs: Sequence[RunScores]) -> list[Player]:
    """Runs of one doctor together, one of each setting; a second run of the same setting is a row of its own.

    Doctors are the same if their seats are, sampling and options included. Rows whose labels would be alike are told
    apart by number.
    """
    rows: list[tuple[bytes, str, dict[str, Played]]] = []
    for run in runs:
        seat = inside(inside(run.header, "seats"), "doctor")
        key = msgspec.json.encode(seat or run.name, order="sorted")
        one = played(run)
        for held, _, settings in rows:
            if held == key and one.setting not in settings:
                settings[one.setting] = one
                break
        else:
            rows.append((key, one.doctor, {one.setting: one}))
    found: list[Player] = []
    for _, label, settings in rows:
        number = 1 + sum(before == label for _, before, _ in rows[: len(found)])
        found.append(Player(f"{label} #{number}" if number > 1 else label, settings))
    return found


def setting_of(header: Mapping[str, Json]) -> str:
    """The name of the scenario that was played."""
    return str(inside(header, "scenario").get("name") or "")


def inside(fields: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    """An object within a header; empty if it is none."""
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}
