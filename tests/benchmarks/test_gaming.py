"""No doctor gets a better score without being a better one: abstaining, listing, hedging, denying, copying, begging."""

import json
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchmarks.gaming import (
    LEAST,
    SCENARIOS_OF,
    Doctor,
    Setting,
    Trial,
    constant,
    doctors_of,
    goals,
    play,
    play_each_case_once,
    setting_of,
)
from benchmarks.tricks import truth_of
from wardround.engine.logs import configure
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.loaders.load import load
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.parsers.reply_text import final_answer

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
JOINED = (
    "{} and {}", "{} due to {}", "{} with {}", "{}, {}", "{}; {}", "{} secondary to {}", "{} complicated by {}",
    "{} ({})", "{}, also called {}",
)  # fmt: skip
SAMPLED = 8
"""Doctors that a scenario plays on all its cases."""
GAIN = 0.02
"""What chaining one's two best answers may gain."""


BESIDE = (
    pytest.mark.shared,
    pytest.mark.skipif(not SHARED.is_dir(), reason="no data folder beside the project"),
)
PLACED = [
    pytest.param((name, scenario), id=f"{name}-{scenario}", marks=() if name == "bundled" else BESIDE)
    for name, scenarios in SCENARIOS_OF.items()
    for scenario in scenarios
]
GOALS = [
    pytest.param((name, scenarios), id=f"{name}-{scenarios[-1]}", marks=() if name == "bundled" else BESIDE)
    for name in SCENARIOS_OF
    for scenarios in goals(name)
]


def _setting_of(name: str, scenario: str) -> Setting:
    return setting_of(name, scenario, SHARED, limit=100 if name == "bundled" else 20)


@pytest.fixture(name="setting", params=PLACED)
def _setting(request: pytest.FixtureRequest) -> Setting:
    """A setting of each set and scenario; its cases are loaded when a test is run, not when tests are collected."""
    name, scenario = request.param
    return _setting_of(name, scenario)


@pytest.fixture(name="settings", params=GOALS)
def _settings(request: pytest.FixtureRequest) -> list[Setting]:
    """The settings of a set whose scenarios ask for the same goal: the same cases in each."""
    name, scenarios = request.param
    return [_setting_of(name, scenario) for scenario in scenarios]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    configure("error")


@pytest.mark.gaming
@pytest.mark.timeout(1200)
async def test_no_trick_beats_the_best_constant_answer(settings: list[Setting]) -> None:
    _assert_none_beats(settings[0], await play_each_case_once(settings))


@pytest.mark.gaming
@pytest.mark.timeout(600)
async def test_no_trick_of_a_sample_does_in_one_scenario_alone(setting: Setting) -> None:
    """Each scenario plays some of the doctors on all its cases; which ones, its seed says."""
    doctors = doctors_of(setting)
    chosen = random.Random(f"{setting.name} {setting.scenario}").sample(sorted(doctors), SAMPLED)
    _assert_none_beats(setting, await play(setting, {name: doctors[name] for name in chosen}))


def _assert_none_beats(setting: Setting, scored: Mapping[str, Trial]) -> None:
    allowed = max(LEAST, constant(setting))
    beaten = []
    for name, one in scored.items():
        for way, outcome in (("word match", one.words), ("judged", one.judged)):
            assert outcome is not None
            found = outcome.accuracy
            # a plan that is none of the reference's may be neither right nor wrong: then as if it were right
            none = found.none if setting.goal == "diagnosis" or way == "word match" else 0
            assert len(outcome.episodes) == len(setting.cases)
            if none or found.bounds is None or found.bounds[1] > allowed:
                beaten.append((name, way, found.mean, found.none, found.reasons))
    assert beaten == [], f"the best constant answer has {allowed:.3f}"


@pytest.mark.gaming
@pytest.mark.timeout(300)
async def test_the_truth_is_right_and_silence_is_not(setting: Setting) -> None:
    gold = Doctor({case.id: truth_of(case, setting.goal) for case in setting.cases})
    silent = Doctor({case.id: "" for case in setting.cases})
    scored = await play(setting, {"gold": gold, "silent": silent})
    for name, right in (("gold", 1.0), ("silent", 0.0)):
        for outcome in (scored[name].words, scored[name].judged):
            assert outcome is not None
            assert (outcome.accuracy.mean, outcome.accuracy.none) == (right, 0)


@pytest.mark.gaming
async def test_ordering_everything_lowers_the_combined_figure() -> None:
    """Of two doctors that are told the diagnosis, the one that orders every test there is has the lower figure."""
    workup = setting_of("bundled", "workup", SHARED, limit=31)
    truths = {case.id: truth_of(case, workup.goal) for case in workup.cases}
    names = ", ".join(test.name for test in catalogue().tests.values() if test.kind == "lab")
    recorded = {
        case.id: ", ".join(item.name for item in case_results(case) if item.kind == "lab") for case in workup.cases
    }
    doctors = {"shotgun": Doctor(truths, dict.fromkeys(truths, names)), "aimed": Doctor(truths, recorded)}
    scored = await play(workup, doctors, judged=False)
    shotgun, aimed = (scored[name].words.figure("full_path_f1").mean for name in ("shotgun", "aimed"))
    assert shotgun is not None
    assert aimed is not None
    assert shotgun < aimed


def stored() -> tuple[list[Case], list[dict[str, str]]]:
    """The cases that three models answered, and what each of them answered."""
    folder = SHARED / "medrbench"
    given = []
    for model in ("deepseek-r1", "o3-mini", "qwen3-14b-thinking"):
        path = folder / "results" / f"oracle_diagnosis__{model}__accuracy_judge_gpt.json"
        replies = json.loads(path.read_text(encoding="utf-8"))
        given.append({case: final_answer(reply["results"]["content"]) for case, reply in replies.items()})
    cases = [case for case in load(folder / "diagnosis_cases.json") if all(one.get(case.id) for one in given)]
    return cases, given


@pytest.mark.gaming
@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="no data folder beside the project")
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("first", "second"), [(0, 1), (2, 1), (1, 0)])
async def test_chaining_two_answers_gains_next_to_nothing(first: int, second: int) -> None:
    cases, given = stored()
    answered = Setting("MedR-Bench", "oracle", cases)
    top, next_ = given[first], given[second]
    doctors = {"alone": Doctor(top)}
    for joined in JOINED:
        doctors[joined] = Doctor({case.id: joined.format(top[case.id].rstrip("."), next_[case.id]) for case in cases})
    scored = {name: one.words.accuracy.mean for name, one in (await play(answered, doctors, judged=False)).items()}
    alone = scored.pop("alone")
    assert alone is not None
    assert {name: mean for name, mean in scored.items() if mean is None or mean > alone + GAIN} == {}
