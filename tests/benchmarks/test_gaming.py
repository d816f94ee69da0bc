"""No doctor gets a better score without being a better one: abstaining, listing, hedging, denying, copying, begging."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.gaming import LEAST, Ground, constant, everything, forms, grounds, tried, truth_of
from wardround.engine.logs import configure
from wardround.scenarios.bundled import bundled
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.detect import load
from wardround.scenarios.reading import answer
from wardround.scenarios.records import items
from wardround.scenarios.terms.catalogue import catalogue

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
JOINED = ("{} and {}", "{} due to {}", "{} with {}", "{}, {}", "{}; {}", "{} secondary to {}", "{} complicated by {}")
GAIN = 0.02
"""What chaining one's two best answers may gain."""


def _places() -> Iterator[object]:
    for ground in everything(None, limit=100):
        yield pytest.param(ground, id=f"bundled-{ground.scenario}")
    if not SHARED.is_dir():
        yield pytest.param(None, id="shared", marks=[pytest.mark.shared, pytest.mark.skip("no data folder beside")])
        return
    for ground in everything(SHARED, limit=20):
        if ground.name != "bundled":
            yield pytest.param(ground, id=f"{ground.name}-{ground.scenario}", marks=pytest.mark.shared)


PLACES = list(_places())


@pytest.fixture(autouse=True)
def _quiet() -> None:
    configure("error")


@pytest.mark.gaming
@pytest.mark.timeout(900)
@pytest.mark.parametrize("judged", [False, True], ids=["word match", "judged"])
@pytest.mark.parametrize("ground", PLACES)
async def test_no_trick_beats_the_best_constant_answer(ground: Ground, judged: bool) -> None:
    allowed = max(LEAST, await constant(ground))
    beaten = []
    for name, form in forms(ground.goal).items():
        answers = {case.id: form(ground.told(case)) for case in ground.cases}
        scored = (await tried(ground, answers, judged=judged)).accuracy
        if scored.none or scored.mean is None or scored.mean > allowed:
            beaten.append((name, scored.mean, scored.none, scored.reasons))
    assert beaten == [], f"the best constant answer has {allowed:.3f}"


@pytest.mark.gaming
@pytest.mark.parametrize("judged", [False, True], ids=["word match", "judged"])
@pytest.mark.parametrize("ground", PLACES)
async def test_the_truth_is_right_and_silence_is_not(ground: Ground, judged: bool) -> None:
    gold = await tried(ground, {case.id: truth_of(case, ground.goal) for case in ground.cases}, judged=judged)
    assert (gold.accuracy.mean, gold.accuracy.none) == (1.0, 0)
    silent = await tried(ground, {case.id: "" for case in ground.cases}, judged=judged)
    assert (silent.accuracy.mean, silent.accuracy.none) == (0.0, 0)


@pytest.mark.gaming
async def test_ordering_everything_lowers_the_combined_figure() -> None:
    """Of two doctors that are told the diagnosis, the one that orders every test there is has the lower figure."""
    (ground,) = grounds("bundled", bundled(), ["workup"], limit=31)
    truths = {case.id: truth_of(case, ground.goal) for case in ground.cases}
    names = ", ".join(test.name for test in catalogue().tests.values() if test.kind == "lab")
    recorded = {case.id: ", ".join(item.name for item in items(case) if item.kind == "lab") for case in ground.cases}
    shotgun = (await tried(ground, truths, orders=dict.fromkeys(truths, names))).figure("full_path_f1")
    aimed = (await tried(ground, truths, orders=recorded)).figure("full_path_f1")
    assert shotgun.mean is not None
    assert aimed.mean is not None
    assert shotgun.mean < aimed.mean


def stored() -> tuple[list[Case], list[dict[str, str]]]:
    """The cases that three models answered, and what each of them answered."""
    folder = SHARED / "medrbench"
    given = []
    for model in ("deepseek-r1", "o3-mini", "qwen3-14b-thinking"):
        path = folder / "results" / f"oracle_diagnosis__{model}__accuracy_judge_gpt.json"
        replies = json.loads(path.read_text(encoding="utf-8"))
        given.append({case: answer(reply["results"]["content"]) for case, reply in replies.items()})
    cases = [case for case in load(folder / "diagnosis_cases.json") if all(one.get(case.id) for one in given)]
    return cases, given


@pytest.mark.gaming
@pytest.mark.shared
@pytest.mark.skipif(not SHARED.is_dir(), reason="no data folder beside the project")
@pytest.mark.parametrize("joined", JOINED)
async def test_chaining_two_answers_gains_next_to_nothing(joined: str) -> None:
    cases, given = stored()
    ground = Ground("MedR-Bench", "oracle", cases)
    for first, second in ((given[0], given[1]), (given[2], given[1]), (given[1], given[0])):
        alone = (await tried(ground, {case.id: first[case.id] for case in cases})).accuracy.mean
        chained = {case.id: joined.format(first[case.id].rstrip("."), second[case.id]) for case in cases}
        both = (await tried(ground, chained)).accuracy.mean
        assert alone is not None
        assert both is not None
        assert both <= alone + GAIN
