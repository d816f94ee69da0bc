"""The scripted model, which ships for users' own tests."""

import pytest

from wardround.engine.errors import ProviderError
from wardround.engine.models.scripted import Scripted
from wardround.engine.records import Completion, Message

ASKED = [Message("user", "hello")]


async def test_a_list_is_played_in_order_and_runs_out_loudly() -> None:
    model = Scripted(["one", Completion("two", model="x"), ProviderError("server", "three")])
    assert (await model.complete(ASKED, purpose="a", seed=1)).text == "one"
    assert await model.complete(ASKED, purpose="b") == Completion("two", model="x")
    with pytest.raises(ProviderError, match="three"):
        await model.complete(ASKED, purpose="c")
    with pytest.raises(ProviderError, match=r"3 replies and this is call 4 \(purpose 'd'\)") as caught:
        await model.complete(ASKED, purpose="d")
    assert caught.value.kind == "empty"
    assert model.count == 4
    assert model.calls[0] == (tuple(ASKED), "a", {"seed": 1})


async def test_a_function_sees_messages_and_purpose() -> None:
    model = Scripted(lambda messages, purpose: f"{purpose}: {messages[-1].content}")
    assert (await model.complete(ASKED, purpose="turn")).text == "turn: hello"


async def test_a_thinking_block_is_taken_off() -> None:
    reply = await Scripted(["<think>hm</think>yes"]).complete(ASKED, purpose="test")
    assert (reply.text, reply.thinking, reply.finish) == ("yes", "hm", "stop")


def test_a_text_is_no_list_of_replies() -> None:
    with pytest.raises(TypeError, match="a list of replies"):
        Scripted("hello")
