"""Restricted text stays here or goes to a named host: refused before the first byte."""

import pytest

from wardround.engine.errors import EgressError, UsageError
from wardround.engine.models.chat import ChatModel, Endpoint
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import EgressGuard, may_receive
from wardround.engine.records import Message
from wardround.testing.loopback import Loopback

ASKED = [Message("user", "hello")]


class At(Scripted):
    """A scripted model that says its bytes go to `host`."""

    def __init__(self, host: str) -> None:
        super().__init__(lambda messages, purpose: "sent")
        self.host = host


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "::1", "", "llm.example.org"])
async def test_may_be_sent(host: str) -> None:
    model = EgressGuard(At(host), ["LLM.example.org."], restricted=True)
    assert (await model.complete(ASKED, purpose="test")).text == "sent"


@pytest.mark.parametrize(
    "host",
    [
        "api.openai.com",
        "localhost.evil.example",
        "evil-llm.example.org",
        "a.llm.example.org",
        "llm.example.org.evil.example",
        "example.org",
        "::ffff:10.0.0.1",
        "anthropic",
    ],
)
async def test_is_refused_before_the_first_byte(host: str) -> None:
    inner = At(host)
    model = EgressGuard(inner, ["llm.example.org"], restricted=True)
    with pytest.raises(EgressError, match=f"--allow-host {host}$"):
        await model.complete(ASKED, purpose="test")
    assert inner.count == 0


async def test_public_text_may_go_anywhere() -> None:
    assert (await EgressGuard(At("api.openai.com"), restricted=False).complete(ASKED, purpose="test")).text == "sent"


async def test_a_name_that_resolves_to_this_machine_is_not_this_machine() -> None:
    async with Loopback() as server:
        # Any name under .localhost resolves to loopback on most machines, and so may a name of anybody's.
        endpoint = Endpoint(server.base_url.replace("127.0.0.1", "here.localhost"))
        model = EgressGuard(ChatModel("m", endpoint), restricted=True)
        with pytest.raises(EgressError):
            await model.complete(ASKED, purpose="test")
        await model.aclose()
        assert not server.connections
        assert server.total == 0


async def test_the_error_holds_nothing_of_the_text() -> None:
    with pytest.raises(EgressError) as caught:
        await EgressGuard(At("x.example"), restricted=True).complete([Message("user", "umbrella")], purpose="test")
    assert "umbrella" not in str(caught.value)


def test_a_wrong_entry_is_told() -> None:
    with pytest.raises(UsageError, match="without scheme, port, path or wildcard"):
        may_receive("h", ["*.example.org"])
