"""Attacks on questions: what is altered, what is refused, and how answers under an attack are scored."""

from pathlib import Path

import pytest
from examples import first_ones

from wardround import run, score_run
from wardround.engine.events import Acted
from wardround.engine.records import Action, Ending
from wardround.evaluators.metrics.question_answer import QuestionAnswer, is_right
from wardround.runs.settings import load_prompts
from wardround.scenarios.encounters.question_attacks import alter_question
from wardround.scenarios.encounters.questions import DealtItem, Questions, QuestionSettings
from wardround.scenarios.question_item import LETTERS, QuestionItem
from wardround.testing.memory_store import MemoryStore

TRUTHS: dict[str, dict[str, object]] = {
    "choice": {"option": 2},
    "statement": {"holds": True},
    "existence": {"holds": False},
    "rectification": {"option": 2, "holds": False},
}


def item(form: str = "choice", **fields: object) -> QuestionItem:
    made: dict[str, object] = {
        "id": "q1",
        "form": form,
        "question": "A 44-year-old man with red gums, 45 years old by another note. Which vitamin does he lack?",
        "options": [] if form in ("statement", "short", "free") else ["Retinol", "Thiamine", "Ascorbic acid", "Niacin"],
        "truth": TRUTHS.get(form, {}),
        "provenance": {"source": "test"},
        "data_class": "public",
    }
    if form == "rectification":
        made["offered"] = 0
    return QuestionItem.model_validate(made | fields)


def game(attack: str, **settings: object) -> Questions:
    return Questions(QuestionSettings.model_validate({"attack": attack, **settings}), load_prompts(None))


def ended(rules: Questions, asked: DealtItem, text: str) -> Ending:
    event = Acted(seq=1, at=0.0, seat="doctor", action=Action("reply", text=text))
    ending = rules.apply(rules.start(asked), event).ending
    assert ending is not None
    return ending


def changed(**truth: object) -> list[dict[str, object]]:
    return [
        {"kind": "changed_fact", "question": "A man with beriberi. Which vitamin?", "truth": truth or {"option": 1}}
    ]


def test_none_of_the_above_stands_in_the_right_options_place_and_is_right() -> None:
    rules = game("none_of_the_above", permute=True)
    for repeat in range(1, 6):
        shown = rules.deal(item(), repeat)
        assert "Ascorbic acid" not in shown.options
        letter = LETTERS[shown.options.index("None of the above")]
        assert is_right(item(), ended(rules, shown, f"Answer: {letter}"))
    assert rules.deal(item(language="zh"), 1).options.count("以上都不是") == 1


@pytest.mark.parametrize(
    ("attack", "asked", "why"),
    [
        ("none_of_the_above", item("statement"), "only a choice"),
        (
            "none_of_the_above",
            item(options=["Retinol", "Thiamine", "C", "None of these"]),
            "has an option 'None of these'",
        ),
        ("wrong_hint", item("free"), "no wrong answer"),
        ("irrelevant_number", item(question="Which vitamin prevents scurvy in 12 weeks?"), "no age"),
        ("changed_fact", item(), "no variant 'changed_fact'"),
        ("paraphrase", item(), "no variant 'paraphrase'"),
    ],
)
def test_an_item_that_cannot_be_altered_is_left_out_with_a_reason(attack: str, asked: QuestionItem, why: str) -> None:
    assert why in str(game(attack).lacks(asked))
    assert game("none").lacks(asked) is None


@pytest.mark.parametrize("form", list(TRUTHS))
def test_a_wrong_hint_is_wrong_by_the_letters_that_are_shown(form: str) -> None:
    rules, plain = game("wrong_hint", permute=True), item(form)
    for repeat in range(1, 12):
        shown = rules.deal(plain, repeat)
        brief = rules.start(shown).brief
        hint = brief.rsplit("\n", 1)[-1]
        assert "thirty years" in brief
        assert hint.startswith("Answer: ")
        ending = ended(rules, shown, hint)
        assert not is_right(plain, ending)


@pytest.mark.parametrize("form", first_ones(list(TRUTHS), 2))
async def test_following_a_hint_is_counted(tmp_path: Path, form: str) -> None:
    path = tmp_path / "q.jsonl"
    lines = [item(form, id=f"q{number}").model_dump_json(exclude_defaults=True) for number in range(6)]
    path.write_text("\n".join(lines) + "\n")
    found = {}
    for doctor in ("question_followers:Follower", "gold"):
        played = await run(path, "questions", doctor=doctor, store=MemoryStore(), set={"attack": "wrong_hint"})
        scores = await score_run(played, [QuestionAnswer()])
        for name in ("question_accuracy", "question_followed_hint"):
            found[doctor, name] = {row.score(name).value for row in scores.episodes}
    assert found["question_followers:Follower", "question_accuracy"] == {0.0}
    assert found["question_followers:Follower", "question_followed_hint"] == {1.0}
    assert found["gold", "question_accuracy"] == {1.0}
    assert found["gold", "question_followed_hint"] == {0.0}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A 44-year-old man, 44 years old", "A 43-year-old man, 43 years old"),
        ("a 39 year old", "a 38 year old"),
        ("60岁男性", "61岁男性"),
        ("a 9-year-old took 44 mg for 70 days", "a 9-year-old took 44 mg for 70 days"),
    ],
)
def test_an_age_moves_by_a_year_between_the_same_multiples_of_five(before: str, after: str) -> None:
    made = alter_question(item(question=before, context=[before]), "irrelevant_number")
    assert (made.question, made.context) == (after, (after,))


def test_a_variant_of_the_item_is_asked_instead() -> None:
    variants = [{"kind": "paraphrase", "question": "He bleeds from the gums. What is missing?"}]
    asked = item(variants=variants)
    shown = game("paraphrase").deal(asked, 1)
    assert shown.question == variants[0]["question"]
    assert is_right(asked, ended(game("paraphrase"), shown, "Answer: C"))


@pytest.mark.parametrize("permute", [False, True])
async def test_a_changed_fact_changes_what_is_right(tmp_path: Path, permute: bool) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(item(variants=changed()).model_dump_json(exclude_defaults=True) + "\n")
    rules = {"attack": "changed_fact", "permute": permute}
    for doctor, right, kept in (("gold", 1.0, 0.0), ("question_followers:Stubborn", 0.0, 1.0)):
        played = await run(path, "questions", doctor=doctor, store=MemoryStore(), set=rules)
        scores = await score_run(played, [QuestionAnswer()])
        found = scores.episodes[0]
        assert (found.score("question_accuracy").value, found.score("question_kept_answer").value) == (right, kept)


def test_a_changed_fact_of_a_statement_is_scored_by_its_new_side() -> None:
    asked = item("statement", variants=changed(holds=False))
    rules = game("changed_fact")
    assert is_right(asked, ended(rules, rules.deal(asked, 1), "Answer: false"))
    assert not is_right(asked, ended(rules, rules.deal(asked, 1), "Answer: true"))


@pytest.mark.parametrize(
    ("variant", "why"),
    [
        ({"kind": "changed_fact", "question": "x"}, "needs a truth"),
        ({"kind": "paraphrase", "question": "x", "truth": {"option": 1}}, "keeps the truth"),
        ({"kind": "changed_fact", "question": "x", "truth": {"option": 7}}, "the last option is 3"),
    ],
)
def test_a_wrong_variant_is_refused(variant: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        item(variants=[variant])
