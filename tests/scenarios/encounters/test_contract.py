"""Every scenario fulfils the engine's contract, and can be won: the truth is completed, silence is not."""

from typing import Any

import pytest
from examples import first_ones, sampled
from game import PROMPTS, Game
from patients import ADMISSION

from wardround.engine.prompts import Prompt, Prompts
from wardround.engine.protocols import Scenario
from wardround.engine.records import Action
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.encounters import consultation, sequential, staged, workup
from wardround.scenarios.loaders.load import bundled, load

KINDS: list[Any] = [
    workup.Workup,
    staged.OneTurn,
    staged.FreeTurn,
    staged.Oracle,
    staged.Treatment,
    consultation.Consultation,
    sequential.Sequential,
]


def test_the_contract() -> None:
    first: Scenario[Case, workup.WorkupState] = workup.Workup(workup.WorkupSettings(), PROMPTS)
    second: Scenario[Case, staged.StagedState] = staged.FreeTurn(staged.FreeTurnSettings(), PROMPTS)
    third: Scenario[Case, consultation.ConsultationState] = consultation.Consultation(
        consultation.ConsultationSettings(), PROMPTS
    )
    assert [scenario.name for scenario in (first, second, third)] == ["workup", "free-turn", "consultation"]
    for kind in KINDS:
        assert kind.seats[0] == "doctor"
        assert kind.goal in ("diagnosis", "treatment")
        assert kind.REPEATS >= 1
        assert "::" in (kind.__doc__ or ""), "a diagram of its states"
        for name, field in kind.Settings.model_fields.items():
            assert field.description, name
            assert "metadata" not in name
    assert workup.Workup.SAMPLING == {"temperature": 0.8}
    assert workup.Workup.REPEATS == 3


class Watched(Prompts):
    """Prompts that remember which were asked for."""

    def __init__(self) -> None:
        super().__init__(PROMPTS.texts())
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Prompt:
        self.used.add(name)
        return super().__getitem__(name)


PE, LAB, MICRO, IMAGE = (f"Action: {name}" for name in ("PE", "LAB", "MICRO", "IMAGE"))
LISTS = ["Lab Tests: Lipase", "Microbiology tests: Blood culture", "Imaging scans: CT abdomen"]
ASK, DONE = "### Additional Information Required:\nLipase", "### Conclusion:\nGout"
BIOPSY = Action("order", args={"kind": "any", "items": ["Biopsy"]})
PLAYS: list[tuple[Any, dict[str, Any], list[Any]]] = [
    (KINDS[0], {"max_warnings": 9}, [PE, LAB, "?", LISTS[0], MICRO, "?", LISTS[1], IMAGE, "?", LISTS[2], BIOPSY, "?"]),
    (KINDS[0], {}, ["Action: OUTPUT", "?"]),
    (KINDS[0], {"max_turns": 2}, [PE]),
    (KINDS[0], {"rules": "published"}, [PE, PE, "Lab Tests: dragon titre"]),
    (KINDS[0], {"rules": "published"}, ["bare", PE]),
    (KINDS[1], {}, ["?", ASK, "?"]),
    (KINDS[1], {}, [DONE, DONE]),
    (KINDS[1], {}, [ASK, "?"]),
    (KINDS[2], {"max_turns": 3}, ["?", ASK, ASK]),
    (KINDS[2], {"max_turns": 1}, ["?"]),
    (KINDS[3], {}, ["?"]),
    (KINDS[3], {"answers": 3}, ["?"]),
    (KINDS[4], {}, ["?"]),
    (KINDS[5], {"max_turns": 3}, ["", "Why?", "ORDER: Lipase", ""]),
    (KINDS[6], {"max_turns": 4, "budget": 400}, ["", "Why?", "ORDER: Lipase", "ORDER: MRI brain", ""]),
]


def test_every_prompt_of_a_patient_is_used() -> None:
    prompts = Watched()
    for kind, settings, moves in PLAYS:
        bare = moves[0] == "bare"
        case = ADMISSION.model_copy(update={"examination": ()}) if bare else ADMISSION
        Game(kind(kind.Settings(**settings), prompts), case).play(moves[1:] if bare else moves)
    assert prompts.used == {name for name in PROMPTS.texts() if not name.startswith("questions/")}


@sampled(3)
@pytest.mark.parametrize("kind", first_ones(KINDS, 2), ids=lambda kind: kind.name)
def test_the_truth_completes_every_bundled_case(kind: Any, every: int) -> None:
    played = 0
    for path in bundled():
        for case in list(load(path))[::every]:
            scenario = kind(kind.Settings(), PROMPTS)
            if scenario.lacks(case):
                continue
            played += 1
            truth = {"diagnosis": case.truth.diagnosis, "treatment": case.truth.treatment}
            names = list(dict.fromkeys(item.name for item in case_results(case)))
            order = Action("order", args={"kind": "any", "items": names})
            moves = [order] if "order" in Game(scenario, case).view().verbs and names else []
            ending = Game(scenario, case).play([*moves, Action("conclude", args=truth)]).ending
            assert ending is not None
            assert ending.facts["answer"] == {kind.goal: truth[kind.goal].strip()}
            silent = Game(scenario, case).play([""] * 50).ending
            assert silent is not None
            assert (silent.cause, silent.reason) == ("doctor", "no_answer")
    assert played >= 12
