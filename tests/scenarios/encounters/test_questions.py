"""The scenario of questions: dealing by seed, examples from other items, endings, and the doctors without knowledge."""

import json
from pathlib import Path

import pytest

from wardround import run, score_run
from wardround.agents.dialogue import system_text
from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompt, Prompts
from wardround.engine.records import Action
from wardround.evaluators.metrics.grade import Grade
from wardround.evaluators.metrics.question_answer import QuestionAnswer
from wardround.runs.settings import load_prompts
from wardround.scenarios.encounters.questions import POOL, Questions, QuestionSettings
from wardround.scenarios.question_item import QuestionItem
from wardround.testing.memory_store import MemoryStore

SIDES = {"statement": {"holds": True}, "existence": {"holds": False}, "choice": {"option": 2}}


def item(name: str = "q1", form: str = "choice", **fields: object) -> QuestionItem:
    made = {
        "id": name,
        "form": form,
        "question": f"Which vitamin prevents scurvy ({name})?",
        "options": [] if form in ("statement", "short", "free") else ["Retinol", "Thiamine", "Ascorbic acid", "Niacin"],
        "truth": SIDES.get(form, {}),
        "provenance": {"source": "test"},
        "data_class": "public",
    }
    return QuestionItem.model_validate(made | fields)


def game(**settings: object) -> Questions:
    return Questions(QuestionSettings.model_validate(settings), load_prompts(None))


def reply(text: str, seq: int = 1) -> Acted:
    return Acted(seq=seq, at=0.0, seat="doctor", action=Action("reply", text=text))


def test_an_option_is_stored_by_the_order_of_the_source() -> None:
    rules = game(permute=True, seed=3)
    for repeat in range(1, 9):
        shown = rules.deal(item(), repeat)
        letter = "ABCD"[shown.options.index("Ascorbic acid")]
        state = rules.apply(rules.start(shown), reply(f"Answer: {letter}"))
        assert state.ending is not None
        assert state.ending.facts["reading"] == {"option": 2}


def test_the_order_is_drawn_anew_in_each_repeat_and_again_the_same() -> None:
    rules = game(permute=True)
    orders = [rules.deal(item(), repeat).order for repeat in range(1, 9)]
    assert len(set(orders)) > 1
    assert orders == [rules.deal(item(), repeat).order for repeat in range(1, 9)]


def test_examples_come_from_other_questions_and_alternate_in_their_answers() -> None:
    rules = game(shots=4)
    pool = rules.pool()
    for number in range(20):
        holds = {"holds": number % 2 == 0}
        pool.add(item(f"q{number}", "statement", truth=holds, source_group=f"g{number // 2}"))
    prompts = Prompts({**load_prompts(None).texts(), **pool.texts()})
    dealing = Questions(QuestionSettings(shots=4), prompts)
    for repeat in range(1, 6):
        shown = dealing.deal(item("q6", "statement", source_group="g3"), repeat)
        assert len(shown.examples) == 4
        assert not any("(q6)" in example or "(q7)" in example for example in shown.examples)
        assert sum(example.endswith("true") for example in shown.examples) == 2
    assert dealing.deal(item("q6"), 1).examples == ()


def test_the_pool_does_not_depend_on_the_order_of_the_items() -> None:
    texts = []
    for numbers in (range(900), reversed(range(900))):
        pool = game(shots=1).pool()
        for number in numbers:
            pool.add(item(f"q{number}", "statement"))
        texts.append(pool.texts()[POOL])
    assert texts[0] == texts[1]
    assert len(json.loads(texts[0])) == 400


def test_an_unreadable_answer_is_warned_once_and_then_counts_against_the_model() -> None:
    rules = game()
    state = rules.apply(rules.start(item()), reply("A or C"))
    assert state.ending is None
    assert "several options" in rules.view(state, "doctor").heard[-1].text
    ending = rules.apply(state, reply("A or C", 2)).ending
    assert ending is not None
    assert (ending.cause, ending.reason) == ("parser", "unreadable")


def test_an_open_question_goes_on_through_its_turns() -> None:
    turns = [{"question": "And in what dose?"}, {"question": "For how long?"}]
    rules = game()
    state = rules.start(item(form="free", turns=turns))
    for seq, text in enumerate(("Ascorbic acid.", "1 g a day.", "Four weeks."), 1):
        assert state.ending is None
        state = rules.apply(state, reply(text, seq))
    assert state.ending is not None
    assert state.ending.facts["answer"] == {"answer": "Four weeks."}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"truth": {}}, "truth.option is missing"),
        ({"truth": {"option": 4}}, "the last option is 3"),
        ({"options": ["one"], "truth": {"option": 0}}, "options must be 2 to 26"),
        ({"options": ["x", "X ", "y"], "truth": {"option": 0}}, "two options are the right one"),
        ({"form": "statement", "truth": {}}, "truth.holds is missing"),
        ({"form": "rectification", "truth": {"option": 1, "holds": True}}, "offered must be"),
        ({"form": "rectification", "offered": 1, "truth": {"option": 2, "holds": True}}, "disagree"),
        ({"turns": [{"question": "and?"}]}, "turns belong to open questions"),
    ],
)
def test_an_inconsistent_item_is_refused(fields: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        item("q1", str(fields.pop("form", "choice")), **fields)


def questions(path: Path) -> Path:
    forms = ("choice", "statement", "existence")
    lines = [item(f"q{number}", forms[number % 3]).model_dump_json(exclude_defaults=True) for number in range(30)]
    rectified = item("r1", "rectification", offered=0, truth={"option": 2, "holds": False})
    path.write_text("\n".join([*lines, rectified.model_dump_json(exclude_defaults=True)]) + "\n")
    return path


@pytest.mark.parametrize(("doctor", "expected"), [("gold", 1.0), ("silent", 0.0)])
async def test_gold_is_right_and_silence_is_not(tmp_path: Path, doctor: str, expected: float) -> None:
    rules = {"permute": True, "shots": 2}
    played = await run(questions(tmp_path / "q.jsonl"), "questions", doctor=doctor, store=MemoryStore(), set=rules)
    scores = await score_run(played, [QuestionAnswer()])
    values = [one.value for row in scores.episodes for one in row.scores if one.name == "question_accuracy"]
    assert values == [expected] * 31


async def test_a_patient_and_a_question_are_not_played_by_each_others_rules(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it is a question"):
        await run(questions(tmp_path / "q.jsonl"), "workup", store=MemoryStore())
    with pytest.raises(UsageError, match="it is a patient"):
        await run("bundled", "questions", doctor="gold", store=MemoryStore())


async def test_a_row_that_cannot_be_read_is_left_out_and_the_rest_is_played(tmp_path: Path) -> None:
    path = questions(tmp_path / "q.jsonl")
    path.write_text(path.read_text() + '{"form": "choice", "question": "?", "truth": {"option": 9}}\n')
    played = await run(path, "questions", doctor="gold", store=MemoryStore())
    assert len(await played.episodes()) == 31


def test_every_prompt_of_a_question_is_used() -> None:
    used = set[str]()

    class Watched(Prompts):
        def __getitem__(self, name: str) -> Prompt:
            used.add(name)
            return super().__getitem__(name)

    texts = load_prompts(None).texts()
    rules = Questions(QuestionSettings(shots=1, thinking=True), Watched(texts))
    pool = rules.pool()
    pool.add(item("q0"))
    playing = Questions(QuestionSettings(shots=1, thinking=True), Watched({**texts, **pool.texts()}))
    for form in ("choice", "statement", "existence", "short", "free"):
        playing.apply(playing.start(playing.deal(item("q1", form, context=["A text."]), 1)), reply(""))
    playing.start(item("q1", "rectification", offered=0, truth={"option": 2, "holds": False}))
    Questions(QuestionSettings(attack="wrong_hint"), Watched(texts)).start(item("q1"))
    for form in ("choice", "statement", "existence"):
        Questions(QuestionSettings(options="logprobs"), Watched(texts)).start(item("q1", form))
    assert used == {name for name in texts if name.startswith("questions/")}


def test_the_words_of_encounters_do_not_introduce_a_question() -> None:
    prompts = load_prompts(None)
    view = game().view(game().start(item()), "doctor")
    assert system_text(view, prompts) == prompts["questions/system"].text
    before = Prompts({name: text for name, text in prompts.texts().items() if name != "questions/system"})
    rules = Questions(QuestionSettings(), before)
    assert system_text(rules.view(rules.start(item()), "doctor"), before) == before["doctor/system"].text


async def test_the_standard_scores_of_questions_are_theirs_and_those_of_patients_are_refused(tmp_path: Path) -> None:
    played = await run(questions(tmp_path / "q.jsonl"), "questions", doctor="gold", store=MemoryStore())
    scores = await score_run(played)
    assert {one.name for row in scores.episodes for one in row.scores} == {"question_accuracy"}
    with pytest.raises(UsageError, match="grade scores patients' cases"):
        await score_run(played, [Grade()])
