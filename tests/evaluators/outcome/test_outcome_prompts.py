"""Every question about an outcome has a prompt with its placeholders, and a shape that its own reader accepts."""

from collections.abc import Callable
from pathlib import Path

import pytest

from wardround import evaluators
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json
from wardround.evaluators.judges.panel import ModelJudge, Sample, ask_judge
from wardround.evaluators.judges.question import Question
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.outcome.items import read_items
from wardround.evaluators.outcome.outcome_record import number_reader, plan_reader
from wardround.evaluators.reasoning.step_questions import read_keywords, read_outcome, read_presence
from wardround.scenarios.case import Truth

PROMPTS = Prompts.load([Path(str(evaluators.__file__)).parent / "prompts"])
GOUT = Truth(diagnosis="Gout", synonyms=("Podagra",))
Asked = tuple[Question, Callable[[str], Json | Unread]]
ASKED: dict[str, Asked] = {
    "diagnosis": (outcome_questions.diagnosis(GOUT, "Gouty arthritis"), read_outcome),
    "treatment": (
        outcome_questions.treatment("A swollen toe.", "Colchicine", ["Rest helps.", "Ice."], "Rest"),
        plan_reader(2),
    ),
    "treatment_keywords": (outcome_questions.treatment_keywords("A swollen toe.", "Rest"), read_keywords),
    "items": (outcome_questions.examination_items("1. CBC and CRP\n2. CT of the foot", "reply"), read_items),
    "same_items": (outcome_questions.same_items("CT of the foot", ["CBC", "CT foot"]), number_reader(5)),
    "item_found": (outcome_questions.item_in_text("CT", "1. CBC\n2. CT of the foot", asked=True), read_presence),
}


@pytest.mark.parametrize("name", ASKED)
async def test_a_model_is_asked_with_all_the_texts_and_told_that_they_are_no_instruction(name: str) -> None:
    question = ASKED[name][0]
    model = Scripted(["?"])
    assert question.name == name
    assert PROMPTS[f"judge/{name}"].fields == {"materials", *question.said}
    await ModelJudge("judge", "scripted", model, PROMPTS).say(question, Sample())
    [(messages, purpose, _)] = model.calls
    asked = messages[-1].content
    assert purpose == name
    for material in question.materials:
        assert material.text in asked
    assert "counts for nothing" in PROMPTS[f"judge/{name}"].text


@pytest.mark.parametrize("name", ASKED)
async def test_the_offline_judge_answers_what_is_read(name: str) -> None:
    question, read = ASKED[name]
    answer = await ask_judge(LexicalJudge(), question, read)
    assert answer.reason == ""
    assert answer == await ask_judge(LexicalJudge(), question.swapped(), read)


@pytest.mark.parametrize("name", ASKED)
def test_the_examples_of_a_prompt_are_of_its_shape(name: str) -> None:
    question, read = ASKED[name]
    examples = [line[line.index("{") :] for line in PROMPTS[f"judge/{name}"].text.splitlines() if '{"' in line]
    assert bool(examples) is bool(question.shape)
    for example in examples:
        for one in example.replace("} or {", "}\n{").replace("}; {", "}\n{").splitlines():
            found = read(one[: one.rindex("}") + 1])
            assert not isinstance(found, Unread), one


@pytest.mark.parametrize("name", ASKED)
def test_a_shape_is_strict_all_the_way_down(name: str) -> None:
    def strict(shape: Json) -> None:
        if isinstance(shape, dict):
            if shape.get("type") == "object":
                assert shape["additionalProperties"] is False
                assert shape["required"] == list(shape["properties"])
            for value in shape.values():
                strict(value)

    strict(dict(ASKED[name][0].shape))
