"""The work-up under the published rules."""

from game import PROMPTS, Game
from patients import ADMISSION

from wardround.scenarios.encounters.workup import Workup, WorkupSettings

EMPTY = ADMISSION.model_copy(update={"examination": (), "labs": (), "microbiology": (), "imaging": ()})


def game(case: object = ADMISSION) -> Game:
    return Game(Workup(WorkupSettings(rules="published"), PROMPTS), case)  # type: ignore[arg-type]  # a Case


def pick(name: str) -> str:
    return f"Rationale: next.\nAction: {name}"


def last(played: Game) -> str:
    return played.view().heard[-1].text


def test_published_passes_over_what_matches_nothing() -> None:
    played = game().play(["Lab Tests: dragon titre, lipase"])
    assert "LAB-LIPASE" in last(played)
    assert "dragon" not in last(played)
    assert [row["test"] for row in played.view().heard[-1].args["answers"]] == ["Lipase"]


def test_published_has_a_type_once() -> None:
    played = game().play([pick("PE"), pick("PE")])
    assert played.heard[-1] == ("desk", "refusal")
    assert "LAB, IMAGE, MICRO, OUTPUT" in last(played)
    played.play([pick("LAB"), "Lab Tests: lipase", pick("LAB")])
    assert played.heard[-1] == ("desk", "refusal")
    played.play(["Lab Tests: sodium"])
    assert played.heard[-1] == ("desk", "warning")
    assert "LAB-SODIUM" not in str(played.view())
    assert played.state.tally.unusable == 1


def test_published_may_repeat_a_list_of_which_nothing_was_found() -> None:
    played = game().play([pick("LAB"), "Lab Tests: dragon titre"])
    assert played.heard[-1] == ("desk", "refusal")
    assert "PE, IMAGE, MICRO, OUTPUT" in last(played)
    assert "LAB-LIPASE" in last(played.play(["Lab Tests: lipase"]))


def test_published_says_that_a_type_is_not_in_the_record() -> None:
    played = game(EMPTY).play([pick("PE")])
    assert played.heard[-1] == ("desk", "refusal")
    assert "no Physical Examination" in last(played)
    assert "no Microbiology Test" in last(played.play([pick("MICRO")]))


def test_published_demands_the_diagnosis_when_all_types_are_used() -> None:
    played = game(EMPTY).play([pick(name) for name in ("PE", "LAB", "IMAGE", "MICRO", "LAB")])
    assert played.heard[-1] == ("desk", "demand")
