"""Invented runs of several doctors under several scenarios, judged, with strata: for tables."""

from functools import cache
from typing import Any

from wardround.engine.records import Score
from wardround.evaluators.report.paper_tables import extended_tables
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.score_tables import Table

SYSTEMS = ("Respiratory", "Digestive", "Nervous")
PARTS = ("formal", "thinking")


def values(number: int, doctor: int) -> dict[str, float | None]:
    """The scores of one episode: varied, and the same at each call."""
    steady = 0.5 + 0.05 * ((number + doctor) % 5)
    found: dict[str, float | None] = {
        "diagnosis_accuracy": float((number + doctor) % 3 > 0),
        "assessment_precision": steady - 0.2,
        "assessment_recall": steady - 0.1,
    }
    for part in PARTS:
        lower = 0.1 * (part == "thinking")
        found |= {
            f"efficiency_{part}": steady + 0.2 - lower,
            f"factuality_{part}": None if number == 2 else steady + 0.25,
            f"factuality_low_{part}": steady + 0.1,
            f"factuality_high_{part}": steady + 0.3,
            f"unverifiable_{part}": 0.2 + lower,
            f"completeness_{part}": steady + lower,
        }
    return found


def episode(number: int, doctor: int, scenario: str, *, thinks: bool = True, **fields: Any) -> EpisodeScores:
    """One episode; the doctors of an even number have no thinking part unless `thinks`."""
    made = values(number, doctor)
    if scenario == "treatment":
        made["treatment_accuracy"] = made.pop("diagnosis_accuracy")
    if scenario in ("one-turn", "free-turn"):
        stages = ["examination_"] + [f"turn_{turn}_" for turn in range(1, 2 + number % 3) if scenario == "free-turn"]
        made |= {
            f"{stage}{name}": value
            for stage in stages
            for name, value in values(number, doctor).items()
            if name.startswith(("efficiency", "factuality", "unverifiable"))
        }
    else:
        made = {name: value for name, value in made.items() if not name.startswith("assessment")}
    scores = [
        Score(name, None, "no_thinking")
        if name.endswith("thinking") and not thinks
        else Score(name, value, "" if value is not None else "nothing_verified")
        for name, value in made.items()
    ]
    whole: dict[str, Any] = {
        "episode": f"case-{number}@1",
        "case": f"case-{number}",
        "repeat": 1,
        "cause": "completed",
        "scores": scores,
        "body_systems": (SYSTEMS[number % 3], "Whole body") if number % 4 == 0 else (SYSTEMS[number % 3],),
        "disorders": ("Infection",) if number % 2 else (),
        "rare": number % 2 == 0,
    }
    return EpisodeScores(**(whole | fields))


def run(doctor: str, scenario: str, size: int = 12, **more: Any) -> RunScores:
    """One run: a doctor, named by letter, under a scenario."""
    thinks = more.pop("thinks", doctor == "R1")
    place = sum(map(ord, doctor))
    header = {
        "scenario": {"name": scenario, "goal": "treatment" if scenario == "treatment" else "diagnosis", "settings": {}},
        "seats": {"doctor": {"spec": f"maker/{doctor}", "model": doctor, "host": "", "told": None}},
        "seed": 1,
    }
    episodes = [episode(number, place, scenario, thinks=thinks) for number in range(size)]
    fields: dict[str, Any] = {"name": f"{doctor}-{scenario}", "header": header, "episodes": episodes}
    return RunScores(**(fields | {"scoring": {"judge": "maker/judge"}} | more))


def runs() -> list[RunScores]:
    """Two doctors, one with a thinking part, under the paper's settings and another game."""
    settings = ("one-turn", "free-turn", "oracle", "treatment", "workup")
    return [run(doctor, scenario) for doctor in ("R1", "mini") for scenario in settings]


@cache
def tables_of_all() -> list[Table]:
    """The extended tables of `runs`, made once for all tests that read them."""
    return extended_tables(runs())
