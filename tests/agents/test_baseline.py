"""The doctor without a model: what it asks, orders, concludes, and whom it learns from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from examples import first_ones
from game import Game

from wardround.agents.baseline import QUESTIONS, Baseline, case_text, neighbours
from wardround.agents.baseline_knowledge import disease_index, disease_key, disease_table
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Json, Said, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import Case, Lab, Provenance, Truth
from wardround.scenarios.encounters.workup import Workup
from wardround.scenarios.loaders.load import bundled, load

INFARCT = "Crushing chest pain radiating to the left arm, diaphoresis. ECG with ST elevation. Elevated troponin."
CROUP = "A child with barking cough and stridor. Radiograph of the neck: steeple sign."
ZORP = "Purple elbows, glowing fingernails and a humming sound since Tuesday."


def case(name: str, opening: str, disease: str = "", treatment: str = "") -> Case:
    return Case(
        id=name,
        opening=opening,
        labs=(Lab(name="Zorptin", value="90"),),
        truth=Truth(diagnosis=disease, treatment=treatment),
        provenance=Provenance(source="test"),
        data_class="public",
    )


def seat(others: Sequence[Case] = (), case_id: str = "me") -> Seat:
    return Seat("doctor", case_id, 1, Prompts({}), knowledge=others)


def view(brief: str, *heard: Said, verbs: Sequence[str] = ("reply", "conclude")) -> View:
    return View("doctor", brief, heard, verbs, seq=len(heard))


async def answer(brief: str, others: Sequence[Case] = (), case_id: str = "me") -> dict[str, Json]:
    action = await Baseline(seat(others, case_id)).act(view(brief))
    assert action.verb == "conclude"
    return dict(action.args)


@pytest.mark.long
async def test_a_disease_is_named_by_its_findings() -> None:
    assert (await answer(INFARCT))["diagnosis"] == "Myocardial infarction"
    denied = "No crushing chest pain. No diaphoresis. No ST elevation. No elevated troponin. Cough."
    assert "infarction" not in str(await answer(denied))


async def test_a_rare_disease_comes_from_the_ontology() -> None:
    known = {disease.name: disease for disease in disease_index().diseases}
    assert known["Wilson disease"].source == "hpo"
    text = "Kayser-Fleischer ring, tremor, dysarthria, hepatic failure, decreased circulating ceruloplasmin."
    assert (await answer(text))["diagnosis"] == "Wilson disease"


async def test_another_case_of_the_disease_is_recognised_and_its_treatment_taken() -> None:
    others = [case("o1", ZORP, "Zorp syndrome", "Sit in the dark"), case("o2", INFARCT, "Myocardial infarction")]
    found = await answer(f"{ZORP} Also cough.", others)
    assert found == {"diagnosis": "Zorp syndrome", "treatment": "Sit in the dark"}


async def test_the_patient_himself_is_left_out_whichever_way_the_cases_are_handed_over() -> None:
    me, other = case("me", ZORP, "Zorp syndrome", "Sit in the dark"), case("o", INFARCT, "Myocardial infarction")

    class Others(tuple[Case, ...]):
        all: tuple[Case, ...]

    handed = Others((other,))
    handed.all = (me, other)
    brief = f"{ZORP} Fever."
    alone = await answer(brief, [other])
    assert "Zorp" not in str(alone)
    assert alone == await answer(brief, handed) == await answer(brief, [me, other])
    everyone = neighbours([me, other, case("x", "Purple elbows and fever")])
    without = neighbours([other, case("x", "Purple elbows and fever")])
    words = {"purpl": 1, "fever": 2}
    assert [(n.case.id, n.likeness) for n in everyone.like(words, "me")] == [
        (n.case.id, n.likeness) for n in without.like(words, "me")
    ]


async def test_a_treatment_comes_from_the_table_or_is_a_plain_statement() -> None:
    assert "reperfusion" in (await answer(INFARCT))["treatment"]
    assert (await answer("qwxz"))["treatment"].startswith("Treat the symptoms")
    assert (await answer("qwxz"))["diagnosis"].startswith("No diagnosis")


def said(seq: int, who: str, action: Action) -> Said:
    return Said(seq, who, action.verb, action.text, action.args)


async def test_a_consultation_is_asked_examined_tested_and_ended() -> None:
    heard: list[Said] = []
    verbs = ("reply", "ask", "order", "conclude")
    steps: list[tuple[str, Json]] = []
    while len(steps) < 20:
        action = await Baseline(seat()).act(view("A man with pain.", *heard, verbs=verbs))
        steps.append((action.verb, action.args.get("kind")))
        heard += [said(len(heard), "doctor", action), Said(len(heard) + 1, "patient", "answer", "It just hurts.")]
        if action.verb == "conclude":
            break
    assert steps == [
        *[("ask", None)] * len(QUESTIONS),
        ("order", "examination"),
        ("order", "any"),
        ("order", "any"),
        ("conclude", None),
    ]
    named = [disease_key(name) for said in heard for name in said.args.get("items", ())]
    assert len(named) > 10
    assert len(named) == len(set(named))
    assert {said.text for said in heard if said.verb == "ask"} == set(QUESTIONS)


async def test_it_concludes_when_nothing_else_is_possible_and_when_the_matter_is_clear() -> None:
    first = Action("order", args={"kind": "any", "items": ["neck radiograph"]})
    heard = [said(1, "doctor", first), Said(2, "patient", "answer", CROUP)]
    clear = await Baseline(seat()).act(view("Barking cough.", *heard, verbs=("reply", "order", "conclude")))
    assert (clear.verb, clear.args) == ("conclude", {"diagnosis": "Croup"})
    assert (await Baseline(seat()).act(view("Pain.", verbs=("conclude",)))).verb == "conclude"


async def test_it_orders_what_separates_the_candidates_and_what_like_cases_had() -> None:
    brief = "Right lower quadrant pain with anorexia, nausea and fever; periumbilical pain migrating."
    other = case("o", brief, "Appendicitis")
    action = await Baseline(seat([other])).act(view(brief, verbs=("reply", "order", "conclude")))
    assert action.args["kind"] == "any"
    assert {"complete blood count", "Zorptin"} <= set(action.args["items"])
    assert {"CT abdomen", "abdominal ultrasound"} & set(action.args["items"])


async def test_only_results_are_evidence() -> None:
    rows = [
        {"state": "unknown", "text": "Myocardial infarction: not a test"},
        {"state": "not_performed", "text": "Crushing chest pain: not done"},
    ]
    heard = [
        Said(1, "desk", "say", INFARCT),
        Said(2, "doctor", "ask", INFARCT),
        Said(3, "examiner", "answer", INFARCT, {"answers": rows}),
    ]
    action = await Baseline(seat()).act(view(CROUP, *heard))
    assert action.args["diagnosis"] == "Croup"
    rows.append({"state": "reported", "text": INFARCT + INFARCT})
    action = await Baseline(seat()).act(view("Cough.", *heard))
    assert action.args["diagnosis"] == "Myocardial infarction"


def admissions() -> Iterator[Case]:
    for path in bundled("admissions"):
        yield from load(path)


async def played(case: Case, others: Sequence[Case], scenario: Workup) -> tuple[Game, list[Action]]:
    game, actions = Game(scenario, case), []
    while game.turn:
        action = await Baseline(seat(others, case.id)).act(game.view())
        actions.append(action)
        game.play([action])
    return game, actions


@pytest.mark.parametrize("rules", first_ones(["default", "published"], 1))
async def test_it_plays_a_work_up_to_its_end_the_same_each_time(prompts: Prompts, rules: str) -> None:
    scenario = Workup(Workup.Settings.model_validate({"rules": rules}), prompts)
    cases = list(admissions())
    right = 0
    for one in cases:
        others = [other for other in cases if other.id != one.id]
        game, actions = await played(one, others, scenario)
        assert game.ending is not None
        assert game.ending.cause == "completed"
        assert game.ending.facts["unusable"] == (0 if rules == "default" else game.ending.facts["unusable"])
        assert len(actions) <= 5
        right += one.truth.diagnosis == game.ending.facts["answer"]["diagnosis"]
    assert (await played(cases[0], cases[1:], scenario))[1] == (await played(cases[0], cases[1:], scenario))[1]
    assert right >= 3


@pytest.fixture
def prompts() -> Prompts:
    import wardround.scenarios

    return Prompts.load([Path(wardround.scenarios.__file__).parent / "prompts"])


def test_the_table_is_whole() -> None:
    diseases = disease_table()
    assert len(diseases) >= 120
    assert len({disease_key(disease.name) for disease in diseases}) == len(diseases)
    for disease in diseases:
        assert disease.treatment, disease.name
        assert len(disease.words) >= 4, disease.name
        assert all(1 <= weight <= 3 for weight in disease.words.values())
        assert all(test.kind in ("lab", "imaging", "microbiology", "other") for test in disease.tests)


@pytest.mark.long
@pytest.mark.shared
async def test_the_floor_on_shared_cases(shared: Path) -> None:
    cases = list(load(shared / "data/agentclinic/agentclinic_medqa.jsonl"))
    right = 0
    for one in cases:
        handed = [other for other in cases if other.id != one.id]
        right += disease_key(one.truth.diagnosis) == disease_key(
            str((await answer(case_text(one), handed, one.id))["diagnosis"])
        )
    assert right >= 55
