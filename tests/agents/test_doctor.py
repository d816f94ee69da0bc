"""The LLM doctor: its messages, its notes when the context is full, its one repair."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import pytest
from seats import AGENT_PROMPTS, a_seat, a_view

from wardround.agents.check import AgentTrial, try_agent
from wardround.agents.dialogue import SILENCE, dialogue, token_pieces, token_size
from wardround.agents.doctor import LLMDoctor
from wardround.agents.examiner import Examiner
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.scripted import Reply, Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, Message, Said
from wardround.engine.seat import Seat
from wardround.scenarios.encounters.workup import Workup
from wardround.scenarios.loaders.load import bundled, load

LONG = "potassium 4.1 mmol/L was told. " * 100  # about 780 tokens


def roles(messages: Sequence[Message]) -> list[str]:
    return [message.role for message in messages]


async def test_answer_and_thinking_come_apart_as_the_model_gave_them() -> None:
    model = Scripted([Completion(" PE\n", thinking="let me see")])
    action = await LLMDoctor(a_seat(model)).act(a_view())
    assert (action.verb, action.text, action.thinking, action.memo) == ("reply", " PE\n", "let me see", None)
    messages, purpose, _ = model.calls[0]
    assert purpose == "act"
    assert roles(messages) == ["system", "user"]
    assert messages[1].content == "The brief."


async def test_the_messages_of_a_turn_continue_those_of_the_turn_before() -> None:
    model = Scripted(lambda messages, purpose: f"reply {len(messages)}")
    doctor, heard = LLMDoctor(a_seat(model)), [("desk", "choose")]
    for turn in range(4):
        action = await doctor.act(a_view(heard))
        heard += [("doctor", action.text), ("patient", f"answer {turn}"), ("desk", "your turn")]
        if turn == 2:
            heard += [("doctor", "an extra word of mine"), ("doctor", "and another")]
    sent = [messages for messages, _, _ in model.calls]
    for before, after in pairwise(sent):
        assert after[: len(before)] == before
        assert after[len(before)] == Message("assistant", f"reply {len(before)}")
    assert sent[1][-1].content == "answer 0\n\nyour turn"
    assert sent[0][-1].content == "The brief.\n\nchoose"
    assert roles(sent[-1]) == ["system", *["user", "assistant"] * 5, "user"]


async def test_an_empty_system_prompt_is_no_message() -> None:
    texts = {**Prompts.load([AGENT_PROMPTS]).texts(), "doctor/system": ""}
    model = Scripted(["x"])
    await LLMDoctor(a_seat(model, prompts=Prompts(texts))).act(a_view([("desk", "choose")]))
    assert roles(model.calls[0][0]) == ["user"]


async def test_an_empty_reply_is_asked_for_once_more() -> None:
    model = Scripted(["<think>only thought</think>", Completion("the answer", thinking="second thought")])
    action = await LLMDoctor(a_seat(model)).act(a_view())
    assert (action.text, action.thinking) == ("the answer", "second thought")
    first, second = model.calls
    assert [first[1], second[1]] == ["act", "repair"]
    assert second[0][: len(first[0])] == first[0]
    assert second[0][-2] == Message("assistant", SILENCE)


async def test_two_empty_replies_are_an_empty_reply() -> None:
    model = Scripted([" \n", ""])
    action = await LLMDoctor(a_seat(model)).act(a_view())
    assert (action.verb, action.text, model.count) == ("reply", "", 2)


async def test_an_own_empty_reply_is_never_sent_as_an_empty_message() -> None:
    model = Scripted(["x"])
    await LLMDoctor(a_seat(model)).act(a_view([("doctor", ""), ("desk", "warning")]))
    assert [message.content for message in model.calls[0][0]][2:] == [SILENCE, "warning"]


def notes_or_reply(messages: Sequence[Message], purpose: str) -> Reply:
    return "NOTES" if purpose == "summarise" else f"reply {len(messages)}"


async def test_a_full_context_becomes_notes_that_come_back_in_the_memo() -> None:
    model = Scripted(notes_or_reply)
    doctor = LLMDoctor(a_seat(model, {"context": 2000}))
    heard = [("doctor", "one"), ("examiner", LONG), ("doctor", "two"), ("examiner", LONG), ("desk", "and now?")]
    action = await doctor.act(a_view(heard))
    assert action.memo == {"summary": "NOTES", "upto": 3}
    assert [purpose for _, purpose, _ in model.calls][-1] == "act"
    told = "".join(messages[0].content for messages, purpose, _ in model.calls if purpose == "summarise")
    assert "examiner: potassium" in told
    assert "you: two" in told
    last = model.calls[-1][0]
    assert roles(last) == ["system", "user"]
    assert "NOTES" in last[1].content
    assert last[1].content.startswith("The brief.")
    assert last[1].content.endswith(f"{LONG}\n\nand now?")

    heard += [("doctor", action.text), ("examiner", "short")]
    fresh = LLMDoctor(a_seat(model, {"context": 2000}))
    count = model.count
    again = await fresh.act(a_view(heard, memo=action.memo))
    assert model.count == count + 1, "the notes are not made twice"
    assert model.calls[-1][0][: len(last)] == last
    assert again.memo == action.memo


async def test_notes_are_made_of_the_notes_before() -> None:
    model = Scripted(notes_or_reply)
    heard = [("doctor", "one"), ("examiner", LONG), ("doctor", "two"), ("examiner", LONG), ("doctor", "three")]
    memo = {"summary": "EARLIER", "upto": 1}
    action = await LLMDoctor(a_seat(model, {"context": 1500})).act(a_view(heard, memo=memo))
    assert action.memo == {"summary": "NOTES", "upto": 5}
    first = model.calls[0][0][0].content
    assert "EARLIER" in first
    assert "you: one" not in first, "covered by the notes already"


async def test_what_follows_is_covered_too_if_it_alone_is_too_long() -> None:
    model = Scripted(notes_or_reply)
    action = await LLMDoctor(a_seat(model, {"context": 1000})).act(
        a_view([("doctor", "a"), ("examiner", "x" * 40_000)])
    )
    assert action.memo == {"summary": "NOTES", "upto": 2}
    sent = [messages for messages, purpose, _ in model.calls if purpose == "summarise"]
    assert sum(messages[0].content.count("x" * 50) for messages in sent) >= 40_000 // 50 - 2 * len(sent)
    assert all(token_size(messages[0].content) <= 1000 for messages in sent)
    assert roles(model.calls[-1][0]) == ["system", "user"]


async def test_long_notes_are_cut() -> None:
    model = Scripted(lambda messages, purpose: "N" * 50_000 if purpose == "summarise" else "reply")
    action = await LLMDoctor(a_seat(model, {"context": 2000})).act(a_view([("doctor", "a"), ("examiner", LONG * 3)]))
    assert token_size(action.memo["summary"]) <= 2000 // 4


async def test_an_endpoint_that_says_the_context_is_full_is_asked_again_after_one_summary() -> None:
    overflow = ProviderError("context_overflow", "too long")
    purposes: list[str] = []

    def replies(messages: Sequence[Message], purpose: str) -> Reply:
        purposes.append(purpose)
        if purpose == "summarise":
            return "NOTES"
        return overflow if purposes.count("act") == 1 else "reply"

    action = await LLMDoctor(a_seat(Scripted(replies))).act(a_view([("doctor", "a"), ("examiner", LONG)]))
    assert purposes == ["act", *["summarise"] * (len(purposes) - 2), "act"]
    assert len(purposes) > 2
    assert action.text == "reply"
    assert action.memo["summary"] == "NOTES"


@pytest.mark.parametrize("heard", [[], [("doctor", "a"), ("examiner", "b")]])
async def test_an_overflow_that_stays_ends_by_the_provider(heard: list[tuple[str, str]]) -> None:
    model = Scripted(
        lambda _, purpose: "N" if purpose == "summarise" else ProviderError("context_overflow", "too long")
    )
    with pytest.raises(ProviderError, match="too long"):
        await LLMDoctor(a_seat(model)).act(a_view(heard))
    assert [purpose for _, purpose, _ in model.calls].count("act") == (2 if heard else 1)


async def test_another_error_is_not_tried_again() -> None:
    model = Scripted([ProviderError("quota", "no money")])
    with pytest.raises(ProviderError, match="no money"):
        await LLMDoctor(a_seat(model)).act(a_view([("doctor", "a"), ("examiner", "b")]))
    assert model.count == 1


async def test_an_empty_summary_leaves_the_conversation_whole() -> None:
    model = Scripted(lambda _, purpose: "" if purpose == "summarise" else "Gout.")
    action = await LLMDoctor(a_seat(model, {"context": 500})).act(a_view([("doctor", "a"), ("examiner", LONG)]))
    assert (action.text, action.memo) == ("Gout.", None)
    assert any(LONG in message.content for message in model.calls[-1][0])


@pytest.mark.parametrize("kind", ["refusal", "content_filter"])
async def test_what_a_filter_took_is_asked_for_once_more_and_then_is_silence(kind: str) -> None:
    model = Scripted([ProviderError(kind, "no"), "Gout.", ProviderError(kind, "no"), ProviderError(kind, "no")])
    doctor = LLMDoctor(a_seat(model))
    assert [(await doctor.act(a_view())).text for _ in range(2)] == ["Gout.", ""]
    assert [purpose for _, purpose, _ in model.calls] == ["act", "repair"] * 2


@pytest.mark.parametrize("memo", [{"ordered": True}, [1, 2], "text", {"summary": 3, "upto": 1}, 7])
async def test_a_memo_of_another_agent_is_passed_over(memo: object) -> None:
    model = Scripted(["x"])
    action = await LLMDoctor(a_seat(model)).act(a_view([("doctor", "a"), ("desk", "b")], memo=memo))
    assert action.memo is None
    assert len(model.calls[0][0]) == 4


def test_own_verbs_of_another_agent_are_told_in_words() -> None:
    said = [
        Said(1, "doctor", "order", "", {"kind": "lab", "items": ["CBC", "troponin T"]}),
        Said(2, "doctor", "conclude", "", {"diagnosis": "gout"}),
    ]
    told = dialogue([Message("user", "b")], said, "doctor", "go on")
    assert [message.content for message in told] == [
        "b",
        "order: lab; CBC, troponin T",
        "go on",
        "conclude: gout",
        "go on",
    ]


@pytest.mark.parametrize(
    "options", [{"contxt": 5}, {"context": "many"}, {"context": 0}, {"context": 10, "reserve": 10}]
)
def test_wrong_options_are_named(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="doctor"):
        LLMDoctor(a_seat(Scripted([]), options))


def test_without_a_model_it_says_what_to_write() -> None:
    with pytest.raises(UsageError, match="provider/model"):
        LLMDoctor(a_seat())


def test_pieces_keep_everything_in_order_and_within_size() -> None:
    texts = ["a" * 100, "疾病" * 500, "b", "c" * 3000]
    cut = token_pieces(texts, 100)
    assert "".join(cut).replace("\n", "") == "".join(texts)
    assert max(token_size(piece) for piece in cut) <= 100


async def test_the_memo_is_json() -> None:
    model = Scripted(notes_or_reply)
    action = await LLMDoctor(a_seat(model, {"context": 500})).act(a_view([("doctor", "a"), ("examiner", LONG)]))
    assert msgspec.json.decode(msgspec.json.encode(action.memo)) == action.memo


async def test_a_whole_work_up_with_notes_and_repairs_comes_out_the_same_after_every_resume() -> None:
    plan = iter(
        ["Action: PE", "", "Action: LAB", "nonsense", "Lab Tests: CBC, lipase", "Action: OUTPUT", "Diagnosis: gout"]
    )
    purposes: list[str] = []

    def replies(messages: Sequence[Message], purpose: str) -> Reply:
        purposes.append(purpose)
        return "the notes" if purpose == "summarise" else next(plan)

    prompts = Prompts.load([AGENT_PROMPTS, AGENT_PROMPTS.parents[1] / "scenarios" / "prompts"])
    model, case = Scripted(replies), next(iter(load(bundled("admissions")[0])))
    trial = AgentTrial(
        Workup(Workup.Settings(), prompts),
        case,
        "doctor",
        lambda name: Seat(name, case.id, 1, prompts, {"context": 700} if name == "doctor" else {}, model),
        {"examiner": lambda seat: Examiner()},
    )
    checked = await try_agent(LLMDoctor, trial)
    assert checked.findings == []
    assert checked.ending is not None
    assert checked.ending.facts["answer"] == {"diagnosis": "gout"}
    assert {"act", "repair", "summarise"} == set(purposes)
