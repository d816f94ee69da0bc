"""Plain chat completions against the loopback server: every path of a reply, every fault."""

import asyncio
import json
import socket
import time
from collections.abc import Mapping, Sequence

import pytest
from steady import steadily
from until import dropped, until

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.chat import ChatModel, Endpoint, encode_body
from wardround.engine.models.prices import Price
from wardround.engine.models.reply import read_reply
from wardround.engine.models.transport import Timeouts
from wardround.engine.records import Completion, Json, Message, Usage
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

KEY = "sk-loopback-0123456789"
PROMPT = "A long and private account of seven purple umbrellas."
MESSAGES = [Message("system", "Be brief."), Message("user", PROMPT)]


async def ask(server: Loopback, timeouts: Timeouts | None = None, **options: Json) -> Completion:
    model = ChatModel("m", Endpoint(server.base_url, key=KEY, timeouts=timeouts))
    try:
        return await model.complete(MESSAGES, purpose="test", **options)
    finally:
        await model.aclose()


async def failing(fault: Fault | str, timeouts: Timeouts | None = None) -> ProviderError:
    async with Loopback(faults=[fault]) as server:
        with pytest.raises(ProviderError) as caught:
            await ask(server, timeouts)
    return caught.value


async def test_the_request_and_the_reply() -> None:
    start = time.perf_counter()
    async with Loopback(key=KEY, latency=0.02) as server:
        reply = await ask(server, temperature=0.8, max_tokens=9, seed=3, stop=None)
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json() == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": PROMPT}],
        "temperature": 0.8,
        "max_tokens": 9,
        "seed": 3,
    }
    assert (reply.text, reply.thinking, reply.finish, reply.model, reply.attempts) == (PROMPT, "", "stop", "m", 1)
    assert reply.usage == Usage(prompt=(len(PROMPT) + 9) // 4, completion=len(PROMPT) // 4)
    assert 0.02 <= reply.latency <= time.perf_counter() - start


@pytest.mark.parametrize(
    ("answer", "text", "thinking"),
    [
        ("<think>hm</think>yes", "yes", "hm"),
        ({"content": "yes", "reasoning_content": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": {"odd": 1}}, "yes", ""),
        ({"content": "<think>b</think>yes", "reasoning_content": "a"}, "yes", "a\n\nb"),
        ({"content": None, "reasoning_content": "cut short"}, "", "cut short"),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "yes"},
                ]
            },
            "yes",
            "hm",
        ),
        ("", "", ""),
        ("x" * 1_000_000, "x" * 1_000_000, ""),
        ("ответ 答え 🙂 \u2028", "ответ 答え 🙂 \u2028", ""),
    ],
)
async def test_answer_and_thinking_are_kept_apart(answer: str | Mapping[str, Json], text: str, thinking: str) -> None:
    def reply(messages: Sequence[Message], model: str) -> str | Mapping[str, Json]:
        return answer

    async with Loopback(reply) as server:
        got = await ask(server)
    assert (got.text, got.thinking) == (text, thinking)


@pytest.mark.parametrize(
    ("fault", "kind", "status"),
    [
        ("rate_limit", "rate_limit", 429),
        ("quota", "quota", 429),
        ("server_error", "server", 500),
        ("reset", "connection", None),
        ("truncated", "connection", None),
        ("malformed", "malformed", 200),
        ("web_page", "malformed", 200),
        ("no_choices", "empty", 200),
        ("refusal", "refusal", 200),
        ("filtered", "refused", 400),
        ("context_overflow", "context_overflow", 400),
        ("unknown_model", "unknown_model", 404),
        ("expired_key", "auth", 401),
    ],
)
async def test_each_fault_has_its_kind(fault: str, kind: str, status: int | None) -> None:
    error = await failing(fault)
    assert (error.kind, error.status) == (kind, status)
    assert str(error).startswith("m at http://127.0.0.1:")
    assert KEY not in str(error)
    assert PROMPT not in str(error)


async def test_an_empty_reply_is_a_reply() -> None:
    async with Loopback(faults=["empty"]) as server:
        assert (await ask(server)).text == ""


async def test_retry_after_comes_with_the_error() -> None:
    assert (await failing(Fault("rate_limit", retry_after=7))).retry_after == 7


@pytest.mark.parametrize(
    ("timeouts", "says"),
    [(Timeouts(first_byte=0.1), "no byte for 0.1 s"), (Timeouts(total=0.1), "no whole reply within 0.1 s")],
)
def test_a_stalled_endpoint_is_given_up(timeouts: Timeouts, says: str) -> None:
    error = steadily(failing("stall", timeouts))
    assert error.kind == "timeout"
    assert says in str(error)


async def test_a_redirect_carries_nothing_away() -> None:
    async with Loopback() as other:
        error = await failing(Fault("redirect", location=f"{other.base_url}/chat/completions"))
        assert other.total == 0
    assert (error.kind, error.status) == ("bad_request", 307)


async def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Loopback() as proxy, Loopback() as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await ask(server)).text == PROMPT
        assert proxy.total == 0


async def test_an_endpoint_that_is_not_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets the port meanwhile
        model = ChatModel("m", Endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", key=KEY))
        with pytest.raises(ProviderError, match="nothing listens there") as caught:
            await model.complete(MESSAGES, purpose="test")
        await model.aclose()
    assert caught.value.kind == "connection"


async def test_an_error_that_quotes_key_and_prompt_is_cleaned() -> None:
    def reply(messages: Sequence[Message], model: str) -> str:
        raise ValueError(f"{KEY} {messages[-1].content}")

    async with Loopback(reply) as server:
        with pytest.raises(ProviderError) as caught:
            await ask(server)
    shown = f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
    assert caught.value.kind == "server"
    assert KEY not in shown
    assert "purple" not in shown


async def test_many_calls_at_once_are_not_held_back() -> None:
    async with Loopback(latency=3600) as server:
        model = ChatModel("m", Endpoint(server.base_url))

        def calls() -> "list[asyncio.Task[Completion]]":
            asked = [model.complete([Message("user", str(n))], purpose="test") for n in range(300)]
            return [asyncio.create_task(call) for call in asked]

        held = calls()
        await until(lambda: server.waiting == 300)
        await dropped(*held)
        server.latency = 0.1
        replies = await asyncio.gather(*calls())
        await model.aclose()
    assert [reply.text for reply in replies] == [str(n) for n in range(300)]


async def test_connections_are_kept_and_a_closed_model_opens_again() -> None:
    async with Loopback() as server:
        model = ChatModel("m", Endpoint(server.base_url))
        for _ in range(3):
            await model.complete(MESSAGES, purpose="test")
            assert len(server.connections) == 1
        await model.aclose()
        await model.aclose()
        assert (await model.complete(MESSAGES, purpose="test")).text == PROMPT
        await model.aclose()


async def test_the_cost_is_known_only_with_a_price() -> None:
    async with Loopback() as server:
        assert (await ask(server)).usage.cost is None
        model = ChatModel("m", Endpoint(server.base_url), price=Price(input=2.0, output=10.0))
        usage = (await model.complete(MESSAGES, purpose="test")).usage
        await model.aclose()
    assert usage.cost == pytest.approx((usage.prompt * 2 + usage.completion * 10) / 1e6)


def test_usage_and_finish_are_read_whatever_is_missing() -> None:
    details = {"completion_tokens_details": {"reasoning_tokens": 5}, "prompt_tokens_details": {"cached_tokens": 64}}
    body: dict[str, Json] = {
        "choices": [{"finish_reason": "length", "message": {"content": "a", "new_field": [1]}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 7.0, **details},
        "model": "m-2026",
    }
    reply = read_reply(json.dumps(body).encode(), "w", "m")
    assert (reply.finish, reply.model, reply.usage) == ("length", "m-2026", Usage(100, 7, 5, 64))
    body = {"choices": [{"finish_reason": None, "message": {"content": "a"}}], "usage": None, "model": None}
    assert read_reply(json.dumps(body).encode(), "w", "m") == Completion("a", model="m")


def test_an_error_under_http_200_is_an_error() -> None:
    for code, kind in ((429, "rate_limit"), (503, "server"), ("odd", "server")):
        with pytest.raises(ProviderError) as caught:
            read_reply(json.dumps({"error": {"code": code, "message": "secret"}}).encode(), "w", "m")
        assert caught.value.kind == kind
    for body in (b"[]", b"{}", b"null", b'"hello"', b'{"choices": 3}', b"\xff"):
        with pytest.raises(ProviderError) as caught:
            read_reply(body, "w", "m")
        assert caught.value.kind == "malformed"


def test_text_that_is_cut_by_a_filter_stands_and_nothing_is_a_refusal() -> None:
    body = {"choices": [{"finish_reason": "content_filter", "message": {"content": "so far"}}]}
    assert read_reply(json.dumps(body).encode(), "w", "m").finish == "content_filter"
    with pytest.raises(ProviderError, match="took the whole reply"):
        read_reply(json.dumps(body).replace("so far", "").encode(), "w", "m")


def test_openai_itself_is_told_the_newer_name_of_max_tokens() -> None:
    body = json.loads(encode_body("m", MESSAGES, {"max_tokens": 5}, new_name=True))
    assert body["max_completion_tokens"] == 5
    assert "max_tokens" not in body


def test_what_cannot_be_sent() -> None:
    with pytest.raises(UsageError, match="stream"):
        encode_body("m", MESSAGES, {"stream": True}, new_name=False)
    with pytest.raises(ProviderError) as caught:
        encode_body("m", [Message("user", "\ud800")], {}, new_name=False)
    assert caught.value.kind == "unsendable"


@pytest.mark.parametrize("key", ["sk-\nabc", "kéy", "a\x00b"])
def test_a_broken_key_is_named_and_not_shown(key: str) -> None:
    with pytest.raises(UsageError) as caught:
        Endpoint("http://localhost/v1", key=key)
    assert key not in str(caught.value)
    assert Endpoint("http://localhost/v1", key=" sk-abc\n").key == "sk-abc"
