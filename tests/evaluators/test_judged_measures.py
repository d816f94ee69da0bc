"""What the scores of judges are called, and in which order they stand."""

from typing import get_args

import pytest

from wardround.engine.records import Score
from wardround.evaluators.measures import JUDGED_UNDEFINED, UNDEFINED, Part, measure_of, place_of
from wardround.evaluators.reasoning.reasoning_record import combined_part, scores
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.terminal import score_lines, score_remark

STAGES = ("", "examination_", "turn_1_", "turn_12_")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("rules", get_args(Rules))
@pytest.mark.parametrize("part", get_args(Part))
def test_every_figure_of_the_reasoning_has_a_label_and_a_unit(stage: str, rules: Rules, part: Part) -> None:
    for score in scores(combined_part(part, reason="no_reasoning"), rules):
        measure = measure_of(stage + score.name)
        assert measure.unit in ("share", "count"), score.name
        assert {"formal": "reply"}.get(part, part) in measure.label, measure.label
        assert "_" not in measure.label


def test_labels_tell_stage_and_rules() -> None:
    assert measure_of("efficiency_formal").label == "Efficiency, reply"
    assert measure_of("turn_3_factuality_thinking").label == "Turn 3: factuality, thinking"
    assert measure_of("examination_efficiency_formal").label == "Examination requests: efficiency, reply"
    assert measure_of("published_completeness_formal").label == "Completeness, reply, published rules"
    for name in ("turn_0_efficiency_formal", "turn_x_efficiency_formal", "turn_1_my_own", "examination_turns"):
        assert measure_of(name).unit == ""


def test_turns_stand_in_their_order_behind_the_answer_and_before_plug_ins() -> None:
    names = ["my_own", "turn_10_efficiency_formal", "turn_2_factuality_formal", "turn_2_efficiency_formal"]
    names += ["examination_efficiency_formal", "completeness_formal", "diagnosis_accuracy", "efficiency_formal"]
    assert sorted(names, key=place_of) == [
        "diagnosis_accuracy",
        "efficiency_formal",
        "completeness_formal",
        "examination_efficiency_formal",
        "turn_2_efficiency_formal",
        "turn_2_factuality_formal",
        "turn_10_efficiency_formal",
        "my_own",
    ]


def test_a_doctor_that_gave_nothing_is_not_undefined() -> None:
    assert JUDGED_UNDEFINED <= UNDEFINED
    assert {"no_reference", "no_thinking", "no_reasoning_step"} <= UNDEFINED
    assert UNDEFINED.isdisjoint({"no_reasoning", "empty_reply", "nothing_verified", "unverifiable", "judges_divided"})


def row(case: str, **values: float) -> EpisodeScores:
    held = [Score(name, value) for name, value in values.items()]
    return EpisodeScores(episode=f"{case}@1", case=case, cause="completed", scores=held)


def test_an_episode_of_fewer_turns_says_so() -> None:
    longer = row("a", efficiency_formal=1.0, turn_2_efficiency_formal=0.5)
    found = summarise([longer, row("b", efficiency_formal=1.0), row("c", turns=1.0)]).score("turn_2_efficiency_formal")
    assert found is not None
    assert found.reasons == {"no_such_turn": 1, "not_scored": 1}
    assert (found.mean, found.scored, found.n) == (0.5, 1, 3)


def test_the_thinking_part_stands_beside_the_formal_one_and_bounds_beside_factuality() -> None:
    low = {"factuality_low_formal": 0.25, "factuality_high_formal": 0.75}
    summary = summarise([row("a", efficiency_formal=0.5, efficiency_thinking=0.75, factuality_formal=0.5, **low)])
    lines = {line.score.name: (line.label, line.mean) for line in score_lines(summary)}
    assert lines["efficiency_formal"] == ("Efficiency, reply / thinking", "0.500 / 0.750")
    assert lines["factuality_formal"] == ("Factuality, reply", "0.500")
    assert score_remark(summary, "factuality_formal").startswith("0.250 to 0.750 with unverified steps")
    assert score_remark(summary, "efficiency_formal") == ""
