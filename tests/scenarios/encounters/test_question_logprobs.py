"""Options compared by the log-probability of their first token, and answers by the typed verb."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from pydantic import ValidationError
from serving import serving
from shell import Shell

from wardround.agents.doctor import _first_token
from wardround.engine.events import Acted
from wardround.engine.models.reply import read_reply
from wardround.engine.records import Action, Json, Message
from wardround.runs.settings import load_prompts
from wardround.scenarios.encounters.questions import Questions, QuestionSettings
from wardround.scenarios.parsers.choices import NO_LOGPROBS, NO_OPTION, option_logprobs, probability
from wardround.scenarios.question_item import QuestionItem
from wardround.testing.loopback import Loopback

LETTERS = {letter: letter for letter in "ABCD"}


def item(form: str = "choice", **fields: object) -> QuestionItem:
    options = [] if form in ("statement", "short") else ["Retinol", "Thiamine", "Ascorbic acid", "Niacin"]
    truth = {"statement": {"holds": True}, "choice": {"option": 2}, "existence": {"holds": True}}.get(form, {})
    made = {"id": "q1", "form": form, "question": "Which vitamin prevents scurvy?", "options": options, "truth": truth}
    return QuestionItem.model_validate(made | {"provenance": {"source": "test"}, "data_class": "public"} | fields)


def ended(one: QuestionItem, action: Action, **settings: object) -> Mapping[str, Json]:
    rules = Questions(QuestionSettings.model_validate(settings), load_prompts(None))
    state = rules.apply(rules.start(rules.deal(one, 1)), Acted(seq=1, at=0.0, seat="doctor", action=action))
    return state.ending.facts if state.ending else {"warned": state.heard[-1].args["reason"]}


def scored(rows: Json, candidates: Mapping[str, str] = LETTERS) -> dict[str, float] | str:
    return option_logprobs(Action("reply", "C", {"logprobs": rows}), candidates)


def test_tokens_of_one_letter_are_added_whatever_space_stands_before_them() -> None:
    found = scored([["C", math.log(0.4)], [" C", math.log(0.2)], ["\u0120A", math.log(0.1)], ["The", math.log(0.2)]])
    assert isinstance(found, dict)
    assert {name: round(math.exp(value), 6) for name, value in found.items()} == {"A": 0.1, "C": 0.6}
    assert probability(found, "C") == pytest.approx(6 / 7)
    assert probability(found, "D") == 0.0


@pytest.mark.parametrize("rows", [None, [], "C", 3, {}])
def test_without_alternatives_there_is_a_reason(rows: Json) -> None:
    assert scored(rows) == NO_LOGPROBS


@pytest.mark.parametrize(
    "rows", [[["The", -0.1]], [["c", -0.1]], [["C", 0.5]], [["C", math.nan]], [["C"]], [3], [["C", True]]]
)
def test_alternatives_without_an_option_have_a_reason(rows: Json) -> None:
    assert scored(rows) == NO_OPTION


def test_the_beginning_of_one_word_counts_and_that_of_two_does_not() -> None:
    assert set(scored([["Tr", -0.5], ["false", -1.0]], {"true": "true", "false": "false"})) == {"true", "false"}
    assert scored([["y", -0.5]], {"true": "yes", "false": "yesterday"}) == NO_OPTION


def test_the_likeliest_option_is_kept_by_the_order_of_the_source() -> None:
    for seed in range(5):
        rules = Questions(QuestionSettings(options="logprobs", permute=True, seed=seed), load_prompts(None))
        dealt = rules.deal(item(), 1)
        letter = "ABCD"[dealt.options.index("Ascorbic acid")]
        other = "ABCD"[dealt.options.index("Niacin")]
        action = Action("reply", other, {"logprobs": [[letter, -0.2], [other, -1.9]]})
        state = rules.apply(rules.start(dealt), Acted(seq=1, at=0.0, seat="doctor", action=action))
        assert state.ending is not None
        assert state.ending.facts["reading"] == {"option": 2}
        assert state.ending.facts["option_logprobs"] == {"2": -0.2, "3": -1.9}


def test_verdicts_are_compared_too() -> None:
    tokens = {"logprobs": [["false", -0.1], ["true", -3.0]]}
    assert ended(item("statement"), Action("reply", "true", tokens), options="logprobs")["reading"] == {"holds": False}
    tokens = {"logprobs": [["Yes", -0.1], ["no", -3.0]]}
    assert ended(item("existence"), Action("reply", "no", tokens), options="logprobs")["reading"] == {"holds": True}


def test_two_options_as_likely_are_no_answer() -> None:
    facts = ended(item(), Action("reply", "A", {"logprobs": [["A", -0.7], ["B", -0.7]]}), options="logprobs")
    assert facts["unscored"] == "tied_options"
    assert "reading" not in facts


def test_a_doctor_without_a_model_is_read_by_its_words() -> None:
    assert ended(item(), Action("reply", "Answer: C"), options="logprobs")["reading"] == {"option": 2}


@pytest.mark.parametrize("fields", [{"thinking": True}, {"rules": "published"}])
def test_what_does_not_go_together_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="first token"):
        QuestionSettings.model_validate({"options": "logprobs", **fields})


TYPED: list[tuple[QuestionItem, dict[str, Json], Json]] = [
    (item(), {"option": "C"}, {"option": 2}),
    (item(), {"option": " c "}, {"option": 2}),
    (item(), {"option": "E"}, None),
    (item(), {"option": ""}, None),
    (item(), {"option": 3}, None),
    (item(), {"option": "CD"}, None),
    (item(), {"option": "C."}, {"option": 2}),
    (item(), {"option": "C, D"}, None),
    (item(), {"option": ["C"]}, None),
    (item("statement"), {"holds": False}, {"holds": False}),
    (item("statement"), {"holds": "false"}, None),
    (item("existence"), {"holds": True}, {"holds": True}),
    (
        item("rectification", offered=0, truth={"option": 2, "holds": False}),
        {"holds": True, "option": ""},
        {"holds": True},
    ),
    (
        item("rectification", offered=0, truth={"option": 2, "holds": False}),
        {"holds": False, "option": "C"},
        {"option": 2, "holds": False},
    ),
    (item("rectification", offered=0, truth={"option": 2, "holds": False}), {"holds": False}, {"holds": False}),
    (item("rectification", offered=0, truth={"option": 2, "holds": False}), {"option": "C"}, None),
]


@pytest.mark.parametrize(("one", "arguments", "reading"), TYPED)
def test_a_typed_answer_is_read_or_warned_of(one: QuestionItem, arguments: dict[str, Json], reading: Json) -> None:
    facts = ended(one, Action("answer", args=arguments))
    assert facts.get("reading") == reading
    assert (facts.get("warned") == "unreadable") is (reading is None)


def _alternatives(*rows: tuple[str, float]) -> Json:
    first = [{"token": token, "logprob": value, "bytes": None} for token, value in rows]
    return {"content": [{**first[0], "top_logprobs": first}]}


def answering(messages: Sequence[Message], model: str) -> Mapping[str, Json]:
    del messages
    return {"content": "A", **({"logprobs": _alternatives(("C", -0.1), ("A", -2.5))} if model == "open" else {})}


@pytest.mark.parametrize(
    ("model", "refuses", "accuracy", "reason"),
    [
        ("open", (), 1.0, {}),
        ("closed", (), None, {"no_logprobs": 1}),
        ("open", ("logprobs",), None, {"no_logprobs": 1}),
    ],
)
def test_a_run_is_scored_by_log_probabilities_or_says_why_not(
    model: str,
    refuses: tuple[str, ...],
    accuracy: float | None,
    reason: dict[str, int],
    shell: Shell,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text(item().model_dump_json() + "\n")
    reply = answering if not refuses else (lambda messages, model: {"content": "C"})
    server = Loopback(reply, refuses=refuses)
    with serving(server) as url:
        words = ("--scenario", "questions", "--cases", "q.jsonl", "--set", "options=logprobs", "--base-url", url)
        assert shell("run", *words, "--doctor", f"openai/{model}", "--name", "r") == 0, shell.err
    assert {"logprobs": True, "top_logprobs": 20}.items() <= server.asked[1].json().items()
    assert shell("replay", "r") == 0, shell.out
    score = next(one for one in shell.json("score", "r")["scores"] if one["name"] == "question_accuracy")
    assert (score["mean"], score["reasons"]) == (accuracy, reason)


LOGS = {"C": -0.2, " A": -2.0}
TOP: list[Json] = [{"token": token, "logprob": value} for token, value in LOGS.items()]
CONTENT: list[Json] = [{"token": "C", "logprob": -0.2, "top_logprobs": TOP}]
THOUGHT: list[Json] = [
    {"token": piece, "logprob": 0.0, "top_logprobs": []} for piece in ("<think>", " B", "</think>", "\n")
]
SHAPES: dict[str, Json] = {
    "of chat completions": {"content": CONTENT, "refusal": None},
    "with a space before": {"content": [{"token": " ", "logprob": 0.0, "top_logprobs": []}, *CONTENT]},
    "bare rows": CONTENT,
    "of plain completions": {"tokens": ["C"], "token_logprobs": [-0.2], "top_logprobs": [LOGS]},
    "of an older llama.cpp": [
        {"content": "C", "probs": [{"tok_str": token, "prob": math.exp(value)} for token, value in LOGS.items()]}
    ],
    "after thoughts": {"content": [*THOUGHT, *CONTENT]},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", ["choice", "body"])
def test_the_shapes_in_which_servers_give_log_probabilities(shape: str, place: str) -> None:
    text = "<think> B</think>\nC" if shape == "after thoughts" else "C"
    choice: dict[str, Json] = {"message": {"content": text}, "finish_reason": "stop"}
    body = {"choices": [choice]} | ({"completion_probabilities": SHAPES[shape]} if place == "body" else {})
    if place == "choice":
        choice["logprobs"] = SHAPES[shape]
    rows = _first_token(read_reply(json.dumps(body).encode(), "here", "m"))
    found = scored(rows)
    assert isinstance(found, dict)
    assert {name: round(value, 6) for name, value in found.items()} == {"A": -2.0, "C": -0.2}


@pytest.mark.parametrize("given", [3, "C", [], [3], {}, {"content": None}, {"tokens": "C"}, {"tokens": [None]}, [{}]])
def test_log_probabilities_in_no_known_shape_do_not_spoil_the_reply(given: Json) -> None:
    body = {"choices": [{"message": {"content": "C"}, "logprobs": given}]}
    reply = read_reply(json.dumps(body).encode(), "here", "m")
    assert reply.text == "C"
    assert scored(_first_token(reply)) in (NO_LOGPROBS, NO_OPTION)
