"""The offline judge answers every question, in a form that the strict readers read, and always the same."""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from wardround.engine.errors import RunStopped
from wardround.evaluators.judges.panel import Judge, Panel, Sample, ask_judge
from wardround.evaluators.judges.question import Question
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.outcome.items import read_items
from wardround.evaluators.outcome.outcome_record import plan_reader
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.evidence import locate, read_quotes
from wardround.evaluators.reasoning.inquiry import Inquiry
from wardround.evaluators.reasoning.part import cut_at_starts, read_starts
from wardround.evaluators.reasoning.step_questions import (
    StepClass,
    StepVerdict,
    read_class,
    read_judgment,
    read_outcome,
    read_presence,
    read_reference,
)
from wardround.scenarios.case import Truth

CASE = (
    "A 41-year-old gardener has had a painless ulcer on the left forearm for three weeks, with nodules along the lymph "
    "vessels. He is afebrile. Culture of a swab grew Sporothrix schenckii."
)
FACT = "Sporotrichosis is an infection of the skin with the fungus Sporothrix, which lives on plants and in soil."
STEP = "Sporotrichosis is a skin infection with a fungus that lives in soil and on plants, so gardening explains it."
PASSAGES = [
    "Ulcers have many causes. They may take weeks to heal.",
    f"What is it? {FACT} It is treated with itraconazole.",
]
REASONING = f"{CASE} {STEP} Cutaneous leishmaniasis is unlikely without travel."
GOAL = "to find the diagnosis"
Reading = Callable[[str], Any]

EVERY: list[tuple[Question, Reading]] = [
    (step_questions.step_class(CASE, GOAL, ["He is a gardener."], STEP), read_class),
    (step_questions.keywords(STEP), lambda text: text),
    (step_questions.judgment(CASE, PASSAGES, STEP), read_judgment),
    (step_questions.extract("\n".join(PASSAGES), STEP), read_quotes),
    (step_questions.split_reference(f"- {STEP}\n- No travel.\nThe final diagnosis: sporotrichosis"), read_reference),
    (step_questions.step_in_text("Gardening exposes the skin to a soil fungus.", REASONING), read_presence),
    (step_questions.starts(REASONING), read_starts),
    (outcome_questions.diagnosis(Truth(diagnosis="Sporotrichosis"), "Lymphocutaneous sporotrichosis"), read_outcome),
    (outcome_questions.treatment(CASE, "Itraconazole for six months", PASSAGES, "Oral itraconazole"), plan_reader(2)),
    (outcome_questions.treatment_keywords(CASE, "Oral itraconazole"), lambda text: text),
    (
        outcome_questions.examination_items("1. Labs: CBC, CRP\n2. Biopsy of the ulcer to exclude malignancy", "reply"),
        read_items,
    ),
    (
        outcome_questions.same_items("complete blood count", ["Chest X-ray", "CBC"]),
        lambda text: tuple(json.loads(text)["same"]),
    ),
    (outcome_questions.item_in_text("chest radiograph", "CBC normal. Chest X-ray clear.", asked=True), read_presence),
]
by_name = pytest.mark.parametrize(("question", "read"), EVERY, ids=lambda value: getattr(value, "name", ""))


async def say(question: Question) -> str:
    return await LexicalJudge().say(question, Sample())


async def told(question: Question) -> Any:
    return json.loads(await say(question))


@by_name
async def test_every_question_is_answered_readably_and_the_same_in_any_order(question: Question, read: Reading) -> None:
    judge: Judge = LexicalJudge("judge-2")
    reply = await judge.say(question, Sample())
    assert not isinstance(read(reply), Unread)
    assert reply == await judge.say(question.swapped(), Sample(swapped=True, repeat=3), ["unreadable"])
    assert (judge.seat, judge.spec, judge.floor) == ("judge-2", "lexical", True)


@by_name
async def test_a_reply_has_exactly_the_shape_that_is_asked_for(question: Question, read: Reading) -> None:
    reply = await say(question)
    if not question.shape:
        assert reply
        assert not reply.startswith("{")
        return
    properties: Any = question.shape["properties"]
    assert list(json.loads(reply)) == list(properties)


@by_name
@pytest.mark.parametrize(
    "text",
    ["", " \n", "?", "|a|b|\n|-|-|\n|1|2|", "\u60a3\u8005\u53d1\u70ed\u4e09\u5929\u3002", "a" * 100_000, "\ud800 x"],
)
async def test_any_text_is_answered(question: Question, read: Reading, text: str) -> None:
    materials = tuple(type(one)(one.label, text, one.origin) for one in question.materials)
    reply = await say(Question(question.name, materials, question.said, question.shape))
    assert reply
    if question.shape:
        assert set(json.loads(reply)) == set(question.shape["properties"])


async def test_an_unknown_question_is_an_error_that_names_it() -> None:
    with pytest.raises(RunStopped, match="'prognosis'"):
        await say(Question("prognosis", ()))


async def test_it_sits_in_a_panel() -> None:
    panel = Panel([LexicalJudge("judge"), LexicalJudge("judge-2")], repeats=2, swap=True)
    ruling = await panel.ask(step_questions.step_in_text(STEP, REASONING), read_presence, swappable=True)
    assert panel.floor
    assert ruling.value is True
    assert ruling.steady
    assert len(ruling.votes) == 8


COPIED = CASE.split(". ", maxsplit=1)[0].strip() + "."
"""The first sentence of the case."""


@pytest.mark.parametrize(
    ("step", "earlier", "kind"),
    [
        ("A gardener has had a painless ulcer on his left forearm for three weeks.", [], StepClass.CITATION),
        ("Step 1: Review the history", [], StepClass.CITATION),
        (STEP, [], StepClass.REASONING),
        (
            "Nodules along lymph vessels suggest lymphangitic spread, typical of sporotrichosis.",
            [],
            StepClass.REASONING,
        ),
        (STEP, ["Culture is decisive.", STEP.replace("so gardening", "so the gardening")], StepClass.REPETITION),
        ("So now it might be that I need to consider this as well, because it could be.", [], StepClass.REDUNDANCY),
        ("A careful history is important in clinical practice.", [], StepClass.REDUNDANCY),
        ("The patient deserves the attention of the team.", [], StepClass.REDUNDANCY),
        (f"{COPIED} This suggests the diagnosis.", [], StepClass.CITATION),
        (f'"{COPIED}", therefore it is relevant.', [], StepClass.CITATION),
        (f"{COPIED} This suggests sporotrichosis.", [], StepClass.REASONING),
    ],
)
async def test_what_a_step_does(step: str, earlier: list[str], kind: StepClass) -> None:
    assert read_class(await say(step_questions.step_class(CASE, GOAL, earlier, step))) == kind


async def test_a_verdict_quotes_the_passage_word_for_word() -> None:
    reply = await told(step_questions.judgment(CASE, PASSAGES, STEP))
    assert reply == {
        "judgment": "correct",
        "keywords_to_search": "None",
        "evidence": [{"passage": 2, "quote": FACT}],
        "addressed": False,
    }
    place = locate(PASSAGES[1], FACT)
    assert place is not None
    assert place.how == "exact"


async def test_a_sentence_that_says_the_opposite_makes_the_step_wrong() -> None:
    step = "Sporotrichosis is not an infection of the skin with the fungus Sporothrix."
    reply = await told(step_questions.judgment(CASE, PASSAGES, step))
    assert reply["judgment"] == "wrong"
    assert reply["evidence"] == [{"passage": 2, "quote": FACT}]


@pytest.mark.parametrize(
    ("passage", "step"),
    [
        (
            "Serum ferritin is increased in haemochromatosis of adults.",
            "Serum ferritin is decreased in haemochromatosis.",
        ),
        ("Hyponatraemia below 120 mmol causes seizures.", "Hyponatraemia below 135 mmol causes seizures and coma."),
        (
            "Is sporotrichosis an infection with the fungus Sporothrix?",
            "Sporotrichosis is an infection with Sporothrix fungus.",
        ),
        (
            "Copper is not excreted into bile and builds up in the liver, then in the brain and the cornea.",
            "In Wilson disease copper builds up in the liver, in the brain and in the cornea.",
        ),
        ("Migraine is a headache.", STEP),
        ("", STEP),
    ],
)
async def test_directions_numbers_questions_and_other_matters_settle_nothing(passage: str, step: str) -> None:
    reply = await told(step_questions.judgment(CASE, [passage], step))
    assert (reply["judgment"], reply["evidence"]) == ("search", [])


async def test_what_restates_the_case_is_not_settled_by_a_page() -> None:
    step = "He has a painless ulcer on the left forearm with nodules along the lymph vessels."
    assert (await told(step_questions.judgment(CASE, [step], step)))["judgment"] == "search"
    assert (await told(step_questions.judgment("", [step], step)))["judgment"] == "correct"


async def test_no_query_is_asked_twice_and_the_inquiry_ends_unverifiable() -> None:
    step = (
        "Leishmaniasis, tularaemia, nocardiosis and chromoblastomycosis spread along lymphatics like sporotrichosis; "
    )
    step += "atypical mycobacteria, cat scratch fever, glanders and anthrax are mimics after inoculation injuries."
    inquiry, queries = Inquiry(step), list[str]()
    while inquiry.wants != "done":
        if inquiry.wants == "search":
            queries.append(inquiry.query)
            inquiry = inquiry.with_results("Nothing of the kind.")
            continue
        asked = step_questions.keywords(step) if inquiry.wants == "keywords" else _judgment(step, queries)
        inquiry = inquiry.with_reply(await say(asked))
    assert inquiry.verdict == StepVerdict.UNVERIFIABLE
    assert inquiry.reason == "unresolved"
    assert len(queries) == 2
    words = [set(query.split(", ")) for query in queries]
    assert not words[0] & words[1]


def _judgment(step: str, searched: list[str]) -> Question:
    return step_questions.judgment("", ["Nothing of the kind."], step, searched)


async def test_without_being_told_the_queries_it_does_not_search_again() -> None:
    assert (await told(step_questions.judgment("", ["Nothing of the kind."], STEP)))["keywords_to_search"] == "None"


async def test_keywords_are_the_longest_words_in_their_order() -> None:
    assert (await say(step_questions.keywords(STEP))).split(", ")[:2] == ["sporotrichosis", "skin"]
    assert await say(step_questions.keywords("It is so, 12 of 14.")) == "None"


async def test_a_reference_keeps_its_last_line_as_last_step_and_ten_at_most() -> None:
    lines = [f"- Consideration number {n} was {'long ' * n}weighed." for n in range(1, 25)]
    steps = read_reference(await say(step_questions.split_reference("\n".join([*lines, "The final diagnosis: gout"]))))
    assert isinstance(steps, tuple)
    assert len(steps) == 10
    assert steps[-1] == "The final diagnosis: gout"
    joined = " ".join(steps)
    assert [joined.index(f"number {n} ") for n in range(1, 25)] == sorted(
        joined.index(f"number {n} ") for n in range(1, 25)
    )


async def test_a_heading_stands_with_its_line_and_a_paragraph_is_cut_into_sentences() -> None:
    headed = read_reference(
        await say(step_questions.split_reference("1. **Causes:**\n   - Adhesions.\nThe final diagnosis: x"))
    )
    assert headed == ("Causes: Adhesions.", "The final diagnosis: x")
    paragraph = " ".join(
        f"Sentence {n} weighs the alternatives of the case with care and for long enough." for n in range(6)
    )
    steps = read_reference(await say(step_questions.split_reference(f"{paragraph}\nThe final diagnosis: x")))
    assert len(steps) == 7 if isinstance(steps, tuple) else False


async def test_starts_stand_in_the_text_and_cut_it_where_it_turns() -> None:
    starts = read_starts(
        await say(step_questions.starts(f"{REASONING} However, culture decides. Therefore it is settled."))
    )
    assert isinstance(starts, tuple)
    pieces = cut_at_starts(f"{REASONING} However, culture decides. Therefore it is settled.", starts)
    assert [piece.split()[0] for piece in pieces] == ["A", "Sporotrichosis", "However,", "Therefore"]


async def test_what_is_copied_out_of_a_page_stands_in_it_in_order() -> None:
    page = "Gardens are green. " + " ".join(PASSAGES) + " The fungus lives in soil and on rose plants."
    quotes = (await told(step_questions.extract(page, STEP)))["quotes"]
    assert FACT in quotes
    assert [page.index(quote) for quote in quotes] == sorted(page.index(quote) for quote in quotes)
    assert "Gardens are green." not in quotes


async def test_a_final_diagnosis_is_found_by_its_name() -> None:
    asked = step_questions.step_in_text(
        "The final diagnosis: myocardial infarction", "This is a heart attack, so aspirin is due."
    )
    assert (await told(asked))["found"] is True
    asked = step_questions.step_in_text(
        "The final diagnosis: myocardial infarction", "Not a heart attack: pericarditis."
    )
    assert (await told(asked))["found"] is False


@pytest.mark.long
def test_the_same_reply_in_every_process() -> None:
    code = """if True:
        import asyncio, sys
        from wardround.evaluators.judges.panel import Sample
        from wardround.evaluators.lexical.judge import LexicalJudge
        from wardround.evaluators.reasoning import step_questions as q
        case, step = sys.argv[1:]
        asked = q.keywords(step), q.judgment("", [case, step[:60]], step), q.step_in_text(step, case)
        asked = (*asked, q.extract(case, step))
        print([asyncio.run(LexicalJudge().say(question, Sample())) for question in asked])
    """
    replies = [
        subprocess.run(
            [sys.executable, "-c", code, REASONING, STEP], capture_output=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    ]
    assert replies[0] == replies[1] != b""


async def test_an_answer_is_typed_like_any_judges() -> None:
    assert (await ask_judge(LexicalJudge(), EVERY[0][0], read_class)).value == StepClass.REASONING
