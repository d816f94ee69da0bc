"""MultiCogEval's own rules for questions: reading, guesses, examples and accuracy."""

import random
from pathlib import Path

import pytest

from conformance import question_accuracy
from wardround import run, score_run
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action
from wardround.evaluators.metrics.question_answer import QuestionAnswer
from wardround.runs.settings import load_prompts
from wardround.scenarios.encounters.questions import Questions, QuestionSettings, QuestionState
from wardround.scenarios.published import question_tasks as published
from wardround.scenarios.published.imaging_words import Absent
from wardround.scenarios.question_item import QuestionItem
from wardround.testing.memory_store import MemoryStore

TEXTS = {"Gout": "A", "Septic arthritis": "B", "Pseudogout": "C", "Psoriasis": "D"}


def item(form: str = "choice", **fields: object) -> QuestionItem:
    truth = {"option": 1} if form == "choice" else {"holds": False}
    made = {
        "id": "q7",
        "form": form,
        "question": "Which joint disease needs a drain at once?",
        "options": [] if form == "statement" else list(TEXTS),
        "truth": truth,
        "provenance": {"source": "test"},
        "data_class": "public",
    }
    return QuestionItem.model_validate(made | fields)


def game(pool: str = "", **settings: object) -> Questions:
    texts = load_prompts(None).texts()
    return Questions(
        QuestionSettings.model_validate({"rules": "published", **settings}),
        Prompts({**texts, "questions/pool": pool} if pool else texts),
    )


def answered(rules: Questions, asked: QuestionItem, reply: str) -> QuestionState:
    state = rules.start(asked)
    return rules.apply(state, Acted(seq=1, at=0.0, seat="doctor", action=Action("reply", text=reply)))


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("B", "B"),
        (" B.", "B"),
        ("Option B", "B"),
        ("Septic arthritis, since it is hot", "B"),
        ("B because\n\nAnswer: C", "B"),
        ('"C" it is', "C"),
        ("I think. Answer: D", "D"),
        ("The correct answer for this joint is: C", "C"),
        ("", None),
    ],
)
def test_an_option_is_read_in_the_published_forms(reply: str, letter: str | None) -> None:
    read = published.read_published_choice(reply, TEXTS, random.Random(1))
    assert (read.option, read.guessed) == (letter, False)


@pytest.mark.parametrize("reply", ["The answer is B", "b", " ", "Between A and B"])
def test_an_option_in_another_form_is_drawn_from_five(reply: str) -> None:
    reads = [published.read_published_choice(reply, TEXTS, random.Random(seed)) for seed in range(100)]
    assert all(read.guessed for read in reads)
    assert {read.option for read in reads} == set("ABCDE")


@pytest.mark.parametrize(
    ("reply", "holds"),
    [("True", True), ("falsehood", False), ("It is incorrect", False), ("Noted: true", False), ("not sure", None)],
)
def test_a_statement_is_read_by_words_and_never_drawn(reply: str, holds: bool | None) -> None:
    assert published.read_statement(reply) == published.PublishedReading(holds=holds)


def test_a_rectification_needs_its_exact_words() -> None:
    def read(text: str) -> published.PublishedReading:
        return published.read_published_rectification(text, "A", random.Random(3))

    assert read("correct") == published.PublishedReading(holds=True)
    assert read("Thinking. Answer: incorrect, the correct answer is C.") == published.PublishedReading("C", holds=False)
    for text in ("Correct", "incorrect; C", "ANSWER: INCORRECT, THE CORRECT ANSWER IS B"):
        assert read(text).guessed
    drawn = {published.read_published_rectification("?", "A", random.Random(seed)).option for seed in range(200)}
    assert drawn == set("ABCDE")


def test_existence_is_read_by_the_first_letters() -> None:
    draw = random.Random(1)
    assert published.read_existence("None of them", draw).holds is False
    assert published.read_existence("I say answer: yes", draw).holds is True
    assert {published.read_existence("perhaps", draw).holds for _ in range(50)} == {True, False}


def test_a_guess_is_marked_and_is_the_same_on_replay() -> None:
    endings = [answered(game(), item(), "The answer is B").ending for _ in range(2)]
    assert endings[0] == endings[1]
    assert endings[0] is not None
    assert endings[0].cause == "completed"
    assert endings[0].facts["guessed"] is True
    read = answered(game(), item(), "B").ending
    assert read is not None
    assert (read.facts["guessed"], read.facts["reading"]) == (False, {"option": 1})


def test_a_letter_that_no_option_has_is_wrong() -> None:
    ending = answered(game(), item(), "E").ending
    assert ending is not None
    assert "reading" not in ending.facts


def test_another_repeat_guesses_anew() -> None:
    rules, drawn = game(), set()
    for repeat in range(1, 30):
        ending = answered(rules, rules.deal(item(), repeat), "I cannot say").ending
        assert ending is not None
        drawn.add(str(ending.facts.get("reading")))
    assert len(drawn) > 2


def test_examples_leave_out_the_place_that_equals_the_number() -> None:
    def statement(number: int, side: int) -> QuestionItem:
        fields = {"id": f"SV-{number}{'ab'[side]}", "source_group": str(number), "truth": {"holds": side == 0}}
        return item("statement", question=f"Statement {number}{'ab'[side]}", **fields)

    by_place = [statement(number, side) for number in range(6) for side in (0, 1)]
    collected = game(shots=5).pool()
    for one in by_place:
        collected.add(one)
    playing = game(collected.texts()["questions/pool"], shots=5)
    for repeat in range(1, 20):
        shown = playing.deal(by_place[4], repeat).examples
        assert len(shown) == 5
        assert not any("Statement 2" in example for example in shown)
        assert sum(example.endswith("true") for example in shown) in (2, 3)
    shifted = [one.model_copy(update={"source_group": str(int(one.source_group) + 5)}) for one in by_place]
    collected = game(shots=5).pool()
    for one in shifted:
        collected.add(one)
    playing = game(collected.texts()["questions/pool"], shots=5)
    drawn = [example for repeat in range(1, 20) for example in playing.deal(shifted[4], repeat).examples]
    assert any("Statement 2" in example for example in drawn), "ids beyond the places exclude nothing"


def test_accuracy_is_a_mean_over_repeats_normalised_by_chance() -> None:
    found = question_accuracy.accuracy([(1, 1, 0, 0), (1, 1, 1, 0)], question_accuracy.chance_accuracy("MCQ", 5))
    assert found.repeats == (0.5, 0.75)
    assert found.mean == 0.625
    assert found.error == pytest.approx(0.125)
    assert found.normalised == pytest.approx((0.625 - 0.2) / 0.8)
    assert found.normalised_error == pytest.approx(0.125 / 0.8)
    assert question_accuracy.accuracy([(1, 0)], 0.5).error is None
    with pytest.raises(Absent):
        question_accuracy.accuracy([()], 0.5)


def test_always_correct_has_the_accuracy_of_chance_in_rectification() -> None:
    found = question_accuracy.accuracy(
        [[question_accuracy.rectified(True, False, 5)] * 8], question_accuracy.chance_accuracy("MR", 5)
    )
    assert found.normalised == pytest.approx(0)


async def test_a_run_scores_its_guesses_by_a_name_of_their_own(tmp_path: Path) -> None:
    lines = [item(id=f"q{number}", question=f"Question {number}?").model_dump_json() for number in range(4)]
    path = tmp_path / "items.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rules = {"rules": "published"}
    played = await run(path, "questions", doctor="scripted/The answer is B", store=MemoryStore(), set=rules)
    scores = await score_run(played, [QuestionAnswer()])
    guessed = [one.value for row in scores.episodes for one in row.scores if one.name == "question_guessed"]
    assert guessed == [1.0] * 4


@pytest.mark.parametrize("rows", [6, 9, 2_000])
@pytest.mark.parametrize("excluded", [0, 3, 5, 10_000])
def test_demonstrations_are_drawn_from_the_rows_in_their_order(rows: int, excluded: int) -> None:
    left = [place for place in range(rows) if place != excluded]
    assert published.sample(rows, excluded, 5, random.Random(7)).places == tuple(random.Random(7).sample(left, 5))
