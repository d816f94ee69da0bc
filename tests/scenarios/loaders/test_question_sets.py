"""Question sets: what their loaders read, what they refuse by row and field, and what folding the shared sets gives."""

import asyncio
import json
from pathlib import Path

import pytest

from wardround.agents.dialogue import dialogue
from wardround.agents.gold import AlwaysFirst, RandomAnswers
from wardround.engine.events import Acted
from wardround.engine.protocols import Agent
from wardround.engine.records import Action, Message
from wardround.engine.seat import Seat
from wardround.evaluators.metrics.question_answer import is_right
from wardround.runs.settings import load_prompts
from wardround.scenarios.encounters.questions import Questions, QuestionSettings
from wardround.scenarios.loaders.load import load_playable
from wardround.scenarios.loaders.question_sets import checklist
from wardround.scenarios.loaders.source import Problem
from wardround.scenarios.question_item import QuestionItem, asked_lines, solution

STEM = "Question: Which vitamin prevents scurvy?\nOptions: A: Retinol\tB: Thiamine\tC: Ascorbic acid"
ALICE = ". Alice's answer: {}. Please determine whether her answer is correct, and if it's incorrect, provide it."
HALF = ". There is a 50% chance that the correct answer is not included in the options. Respond with yes or no."
TRUE = 'Question: A sailor bleeds. Statement: "He lacks ascorbic acid.", is the statement above true or false?'


def read(path: Path) -> tuple[list[QuestionItem], list[Problem]]:
    left_out: list[Problem] = []
    items = [item for item in load_playable(path, left_out) if isinstance(item, QuestionItem)]
    return items, left_out


def written(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


def test_the_four_tasks_of_multicogeval_are_told_apart(tmp_path: Path) -> None:
    rows = {
        "choice": [7, STEM, "C"],
        "statement": [7, TRUE, TRUE, "T", "F"],
        "rectification": [7, STEM + ALICE.format("C"), STEM + ALICE.format("A"), ["T", "C"], ["F", "C"]],
        "existence": [7, STEM + HALF, STEM.replace("Ascorbic", "Folic") + HALF, 1, 0],
    }
    for form, row in rows.items():
        items, left_out = read(written(tmp_path / f"{form}.json", [row]))
        assert not left_out
        assert {item.form for item in items} == {form}
        assert {item.source_group for item in items} == {"7"}
    items, _ = read(tmp_path / "rectification.json")
    assert [(item.offered, item.truth.option, item.truth.holds) for item in items] == [(2, 2, True), (0, 2, False)]
    assert items[0].question == "Which vitamin prevents scurvy?"


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ([7, STEM, "D"], "[2]"),
        ([7, STEM, None], "[2]"),
        ([7, "Question: no options", "A"], "[1]"),
        ([7, STEM.replace("C:", "D:"), "A"], "[1]"),
        ([7, STEM, STEM, "yes", "F"], "[3]"),
        ([7, STEM, "C", "extra"], ""),
    ],
)
def test_a_row_that_is_none_is_left_out_by_line_and_field(tmp_path: Path, row: object, field: str) -> None:
    items, left_out = read(written(tmp_path / "rows.json", [[6, STEM, "C"], row, [8, STEM, "B"]]))
    assert [item.id for item in items] == ["MCQ-6", "MCQ-8"]
    assert [problem.field for problem in left_out] == [f"[1]{field}"]
    assert left_out[0].line > 2


def test_rounds_of_a_group_are_turns_and_a_missing_checklist_is_empty(tmp_path: Path) -> None:
    text = "核心需求：\n1. 说明病因\n2. 给出剂量\n\n次要需求：\n1. 语气友好"
    rounds = [
        {"problem": f"问题{n}", "groupCode": 3, "round": n, "sanswer": f"答{n}", "category2": "x"} for n in (1, 2)
    ]
    path = tmp_path / "open.json"
    other = {"problem": "q", "groupCode": 4, "round": 1, "checklist": text}
    path.write_text(json.dumps({"医疗知识": [*rounds, other]}).replace('"round": 2', '"checklist": NaN, "round": 2'))
    items, left_out = read(path)
    assert not left_out
    assert [turn.reference for turn in items[0].turns] == ["答2"]
    assert items[0].checklist.empty
    assert items[1].checklist.core == ("说明病因", "给出剂量")
    assert items[1].checklist.secondary == ("语气友好",)


def test_rounds_out_of_order_are_refused_by_group(tmp_path: Path) -> None:
    rows = [{"problem": "a", "groupCode": 3, "round": n, "sanswer": "b"} for n in (2, 1)]
    items, left_out = read(written(tmp_path / "open.json", {"x": rows}))
    assert not items
    assert "group 3 has the rounds [2, 1]" in str(left_out[0])


def test_an_unheaded_checklist_is_core() -> None:
    assert checklist("1. one\n2) two").core == ("one", "two")


def test_a_letter_and_a_text_that_disagree_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "medqa.jsonl"
    record = {"question": "?", "options": {"A": "x", "B": "y"}, "answer_idx": "A", "answer": "y"}
    path.write_text(f"{json.dumps(record)}\n{json.dumps(record | {'answer': 'x'})}\n")
    items, left_out = read(path)
    assert [item.truth.option for item in items] == [0]
    assert left_out[0].field == "answer"


def test_a_rubric_without_points_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "healthbench.jsonl"
    record = {"prompt": [{"role": "user", "content": "hello"}], "rubrics": [{"criterion": "greets", "points": 0}]}
    good = record | {"rubrics": [{"criterion": "greets", "points": 3, "tags": ["axis:tone"]}]}
    path.write_text(f"{json.dumps(record)}\n{json.dumps(good)}\n")
    items, left_out = read(path)
    assert [criterion.points for criterion in items[0].rubric] == [3]
    assert left_out[0].field == "rubrics[0].points" or left_out[0].field == "rubric[0].points"


def test_a_row_of_healthbench_keeps_its_conversation_its_tags_and_the_physicians_answer(tmp_path: Path) -> None:
    said = [("user", "What is ferritin?"), ("assistant", "A store of iron. Why?"), ("user", "Mine is high.")]
    row = {
        "example_tags": ["theme:context_seeking", "physician_agreed_category:not-enough-context"],
        "ideal_completions_data": {
            "ideal_completion": "Ask your doctor for a transferrin saturation.",
            "ideal_completions_group": "Group 2",
            "ideal_completions_ref_completions": ["Do nothing.", "See a doctor."],
        },
        "prompt": [{"content": content, "role": role} for role, content in said],
        "prompt_id": "7f0c",
        "rubrics": [
            {"criterion": "Asks for symptoms", "points": 7, "tags": ["level:example", "axis:context_awareness"]},
            {"criterion": "Says to take iron", "points": -9, "tags": ["level:example", "axis:accuracy"]},
        ],
        "canary": "healthbench:0",
    }
    path = tmp_path / "2025-05-07-06-14-12_oss_eval.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"prompt_id": "7f0d", "ideal_completions_data": None}))
    items, left_out = read(path)
    assert left_out == []
    assert [(one.role, one.content) for one in items[0].before] == said[:-1]
    assert [one.truth.answers for one in items] == [("Ask your doctor for a transferrin saturation.",), ()]
    assert items[0].kind == tuple(row["example_tags"])
    assert [one.tags[1] for one in items[0].rubric] == ["axis:context_awareness", "axis:accuracy"]
    rules = Questions(QuestionSettings(), load_prompts(None))
    view = rules.view(rules.start(items[0]), "doctor")
    messages = dialogue([Message("user", view.brief)], view.heard, "doctor", "")
    assert [(one.role, one.content) for one in messages] == said, "a model gets each message in its own role"
    assert asked_lines(items[0]) == [f"{role}: {content}" for role, content in said]


CLOSED = [
    f"multicogeval/{source}/{task}.test.json" for source in ("medqa", "medmcqa") for task in ("MCQ", "SV", "MR", "AE")
]
CLOSED += ["mediq/all_craft_md.jsonl", "pubmedqa/ori_pqal.json"]


def accuracy(items: list[QuestionItem], doctor: Agent | None, *, permute: bool = False, said: str | None = None) -> int:
    """Right answers of a doctor without a model, of gold (None), or of one that says the same text to everything."""
    rules = Questions(QuestionSettings(permute=permute), load_prompts(None))
    right = 0
    for item in items:
        shown = rules.deal(item, 1)
        state = rules.start(shown)
        text = said if said is not None else solution(shown)
        if doctor is not None:
            text = asyncio.run(doctor.act(rules.view(state, "doctor"))).text
        for seq in (1, 2):
            if rules.ending(state) is None:
                state = rules.apply(state, Acted(seq=seq, at=0.0, seat="doctor", action=Action("reply", text=text)))
        right += is_right(item, rules.ending(state)) is True
    return right


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("played", [60, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if "/medmcqa/" in name else ()) for name in CLOSED]
)
def test_gold_chance_and_silence_on_the_shared_sets(shared: Path, name: str, played: int) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # SciPy ships no types

    items, left_out = read(shared / "data" / name)
    assert len(left_out) < 0.02 * len(items)
    items = items[:: -(-len(items) // played)]
    assert accuracy(items, None) == len(items)
    assert accuracy(items[:200], None, permute=True) == len(items[:200])
    assert accuracy(items[:50], None, said="") == 0
    some = items[:: max(len(items) // 400, 1)]
    chance = sum(item.chance or 0 for item in some) / len(some)
    drawn = RandomAnswers(Seat("doctor", "", 5, load_prompts(None)))
    lucky = binomtest(accuracy(some, drawn, permute=True), len(some), chance)
    assert lucky.pvalue > 0.001
    if items[0].form in ("choice", "rectification"):
        first = binomtest(accuracy(some, AlwaysFirst(), permute=True), len(some), chance)
        assert first.pvalue > 0.001


@pytest.mark.shared
def test_the_open_questions_of_llmeval_med_are_all_read(shared: Path) -> None:
    items, left_out = read(shared / "data/llmeval-med/dataset.json")
    assert not left_out
    assert sum(1 + len(item.turns) for item in items) == 406
    lists = [one for item in items for one in (item.checklist, *(turn.checklist for turn in item.turns))]
    assert sum(not one.empty for one in lists) == 127
    assert all(one.core for one in lists if not one.empty)


@pytest.mark.parametrize("heading", ["核心需求", "一、核心需求", "1. 核心需求：", "**Core requirements**"])
def test_a_heading_of_a_checklist_is_no_requirement(heading: str) -> None:
    read = checklist(f"{heading}\n1. names the drug\n二、次要需求\n- names the dose")
    assert (read.core, read.secondary) == (("names the drug",), ("names the dose",))


def test_a_sign_in_place_of_a_reference_is_no_reference(tmp_path: Path) -> None:
    row = {"problem": "?", "sanswer": "/", "groupCode": 1, "round": 1, "category2": "x"}
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"Medical knowledge": [row]}), encoding="utf-8")
    items, _ = read(path)
    assert [item.truth.answers for item in items] == [()]


@pytest.mark.parametrize("field", ["options", "context", "meta_info", "answer_idx", "question"])
@pytest.mark.parametrize("value", [None, 1, [1], {"a": 1}, True])
def test_a_field_of_another_type_is_a_problem_and_no_crash(tmp_path: Path, field: str, value: object) -> None:
    record = {"question": "?", "options": {"A": "x", "B": "y"}, "answer_idx": "A", "context": [], "meta_info": "step1"}
    path = tmp_path / "medqa.jsonl"
    path.write_text(f"{json.dumps(record)}\n{json.dumps(record | {field: value})}\n")
    items, left_out = read(path)
    assert len(items) + len({problem.line for problem in left_out}) == 2


@pytest.mark.parametrize(
    ("records", "right"),
    [
        ([{"options": {"A": "x", "B": "y"}, "answer": "B"}], [1]),
        ([{"options": ["x", "y"], "answer": "B"}], [1]),
        ([{"options": ["x", "y"], "answer": "Y "}], [1]),
        ([{"choices": ["x", "y"], "answer": 1}, {"choices": ["x", "y"], "answer": 0}], [1, 0]),
        ([{"choices": ["x", "y"], "answer_index": 1}, {"choices": ["x", "y"], "answer_index": 2}], [0, 1]),
        ([{"choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"}], [1]),
        ([{"choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}], "correct": "A"}], [0]),
        ([{"options": {"a": "x", "b": "y"}, "label": "b"}], [1]),
    ],
)
def test_the_right_option_is_told_by_its_letter_its_place_or_its_text(
    tmp_path: Path, records: list[dict[str, object]], right: list[int]
) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text("".join(json.dumps({"question": "?"} | record) + "\n" for record in records))
    items, left_out = read(path)
    assert ([item.truth.option for item in items], left_out) == (right, [])


@pytest.mark.parametrize(
    "record",
    [
        {"choices": ["x", "y"], "answer": 1},  # from 0 or from 1?
        {"options": ["B", "A"], "answer": "A"},  # the letter of one, the text of another
        {"options": ["x", "y"], "answer": "z"},
        {"options": ["x", "y"], "answer": None},
        {"options": {"A": "x", "C": "y"}, "answer": "A"},
        {"options": ["x", "y"], "answer": True},
    ],
)
def test_a_right_option_is_never_guessed(tmp_path: Path, record: dict[str, object]) -> None:
    path = tmp_path / "choices.jsonl"
    path.write_text(json.dumps({"question": "?"} | record) + "\n")
    items, left_out = read(path)
    assert (items, len(left_out)) == ([], 1)
