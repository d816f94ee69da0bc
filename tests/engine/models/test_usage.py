"""What endpoints say they counted: every figure is read as a count or as not told, whatever stands there."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from timed import planned, rows

from wardround.engine.budget import spending_of
from wardround.engine.models.chat import ChatModel, Endpoint
from wardround.engine.models.prices import Price
from wardround.engine.models.providers import ProviderModel
from wardround.engine.models.reply import read_reply
from wardround.engine.models.sdk import ResponsesModel, read_response
from wardround.engine.records import Message, Usage
from wardround.engine.stores.sqlite import SqliteStore

PRICE = Price(1.0, 1.0)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
ODD = [1e21, 10**30, -5, -1, "12", True, [], {}, 2**53 + 1]
SAID = {"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}
SPOKEN = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "yes"}]}], "status": "completed"}


def read(into: Any, out: Any, cached: Any = 0, thought: Any = 0) -> Usage:
    """The usage in a chat completion, which must be that in a reply of the Responses API."""
    found = []
    for one, other, said in (("prompt", "completion", SAID), ("input", "output", SPOKEN)):
        usage = {
            f"{one}_tokens": into,
            f"{other}_tokens": out,
            f"{one}_tokens_details": {"cached_tokens": cached},
            f"{other}_tokens_details": {"reasoning_tokens": thought},
        }
        body = json.dumps({**said, "usage": usage}).encode()
        got = read_reply(body, "w", "m", PRICE) if said is SAID else read_response(body, "w", "m", PRICE)
        assert got.text == "yes"
        found.append(got.usage)
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_count_is_as_one_that_is_not_told(odd: Any) -> None:
    assert read(odd, 7) == Usage(0, 7) == read(None, 7)
    assert read(7, odd) == Usage(7, 0)
    assert read(9, 7, odd, odd) == Usage(9, 7, 0, 0, 16e-6)


def test_what_is_a_count_is_read() -> None:
    assert read(9, 7, 4, 3) == Usage(9, 7, 3, 4, 16e-6)
    assert read(9.0, 7) == Usage(9, 7, 0, 0, 16e-6)
    assert read(0, 2**53) == Usage(0, 2**53, 0, 0, 2**53 / 1e6)


@given(into=JSON, out=JSON, cached=JSON, thought=JSON)
def test_whatever_stands_there_it_can_be_booked(into: Any, out: Any, cached: Any, thought: Any) -> None:
    got = read(into, out, cached, thought)
    for count in (got.prompt, got.completion, got.cached, got.reasoning):
        assert type(count) is int
        assert 0 <= count <= 2**53
    assert got.cost is None or 0 <= got.cost < 1e12


@given(usage=JSON)
def test_a_usage_that_is_none_spoils_no_answer(usage: Any) -> None:
    for said, reader in ((SAID, read_reply), (SPOKEN, read_response)):
        got = reader(json.dumps({**said, "usage": usage}).encode(), "w", "m", PRICE)
        assert (got.text, got.usage) == ("yes", Usage())


@asynccontextmanager
async def telling(usage: Any, said: dict[str, Any] = SAID) -> AsyncIterator[str]:
    """The base URL of an endpoint that says this of every call."""
    body = json.dumps({"id": "x", "object": "chat.completion", "created": 0, "model": "m", **said, "usage": usage})
    reply = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0]))
                writer.write(reply.encode())
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:
        server.close()
        await anyio.sleep(0.01)


@pytest.mark.parametrize("odd", [1e21, -5])
@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_what_an_endpoint_tells_never_breaks_the_account(tmp_path: Path, api: str, odd: float) -> None:
    chat = api == "chat"
    usage = {"prompt_tokens": odd, "completion_tokens": odd} if chat else {"input_tokens": odd, "output_tokens": odd}
    async with telling(usage, SAID if chat else SPOKEN) as url:
        model = ChatModel("m", Endpoint(url), price=PRICE) if chat else ResponsesModel("m", url, price=PRICE)
        got = await model.complete([Message("user", "hi")], purpose="test")
        await model.aclose()
    store = SqliteStore(tmp_path / "a.db")
    await store.create_run("r", {}, planned("a"))
    session = await store.begin("r", host="h", pid=1)
    await session.take(1)
    await session.append("a", rows(0, 1), spent={"x": spending_of(got)})
    [account] = await store.spending("r")
    assert (account.spent.calls, account.spent.tokens, account.spent.unpriced) == (1, 0, 1)
    await store.aclose()


@pytest.mark.live
@pytest.mark.skipif(find_spec("litellm") is None, reason="needs wardround[litellm]")
@pytest.mark.filterwarnings("ignore")  # litellm and what it imports warn of their own affairs
@pytest.mark.parametrize("odd", [10**30, -5, 7])
async def test_what_litellm_hands_on_is_read_the_same_way(odd: Any) -> None:
    async with telling({"prompt_tokens": odd, "completion_tokens": 3, "total_tokens": odd}) as url:
        model = ProviderModel("openai/gpt-4o", base_url=url, key="sk-loopback-0123456789")
        model.elsewhere = False  # as if the bytes had gone to the provider: then litellm's own figure is taken
        got = await model.complete([Message("user", "hi")], purpose="test")
        await model.aclose()
    assert (got.text, got.usage.prompt, got.usage.completion) == ("yes", odd if odd == 7 else 0, 3)
    assert (got.usage.cost is None) == (odd != 7)
