"""Replies nobody can read, replies without end, and a key that is refused in the middle of a run."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from clinic import case_file, lines

from wardround import resume, run
from wardround.engine.batch import Progress
from wardround.engine.errors import ProviderError
from wardround.engine.models.failure import failure
from wardround.engine.models.reply import read_object, read_reply
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import WellFormed
from wardround.engine.records import LONGEST_REPLY, Message
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore

DEEP = 200_000


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": ' + "[" * DEEP + "]" * DEEP + "}",
        '{"choices": [{"message": {"content": ' + "[" * DEEP + "]" * DEEP + "}}]}",
        '{"choices": [{"message": {"content": "x", "reasoning": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}}]}",
        '{"usage": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}",
        "[" * DEEP,
    ],
)
def test_deeply_nested_json_is_the_providers_malformed(body: str) -> None:
    with pytest.raises(ProviderError) as raised:
        read_reply(body.encode(), "m at h", "m")
    assert raised.value.kind == "malformed"
    assert failure("m at h", 500, {}, body.encode()).kind == "server"


def test_what_a_library_decoded_too_deeply_is_malformed() -> None:
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"message": deep}
    with pytest.raises(ProviderError) as raised:
        read_object({"choices": [{"message": {"content": 5, "deep": deep}}]}, "m at h", "m")
    assert raised.value.kind == "malformed"


async def test_a_reply_without_end_is_kept_by_nobody() -> None:
    model = WellFormed(Scripted(["x" * (LONGEST_REPLY + 1), "x" * LONGEST_REPLY]))
    with pytest.raises(ProviderError, match="2,000,001 characters") as raised:
        await model.complete([Message("user", "go")], purpose="act")
    assert raised.value.kind == "too_long"
    assert len((await model.complete([Message("user", "go")], purpose="act")).text) == LONGEST_REPLY


async def test_such_a_reply_of_the_doctor_is_the_doctors_fault(tmp_path: Path) -> None:
    async with Loopback(lambda messages, model: "word " * (LONGEST_REPLY // 4)) as server:
        played = await run(
            case_file(tmp_path / "c.jsonl", 1),
            "oracle",
            doctor={"spec": "openai/m", "base_url": server.base_url},
            store=MemoryStore(),
            preflight=False,
            repeats=1,
        )
    [row] = await played.episodes()
    assert (row.cause, row.reason) == ("doctor", "too_long")
    assert sum(len(line.body) for line in await played.rows(row)) < 10_000


@pytest.mark.parametrize("concurrency", [1, 8])
async def test_a_key_that_is_refused_in_mid_run_stops_it_and_leaves_the_episodes_open(
    tmp_path: Path, concurrency: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "old-key-of-the-test")
    store, progress = MemoryStore(), Progress()
    async with Loopback(lambda messages, model: _answer(server, messages)) as server:
        played = await run(
            case_file(tmp_path / "c.jsonl", 20),
            "oracle",
            doctor={"spec": "openai/m", "base_url": server.base_url},
            store=store,
            name="r",
            concurrency=concurrency,
            repeats=1,
            progress=progress,
        )
        endings = await played.endings()
        assert endings["open"] >= 20 - 4 - 2 - concurrency
        assert endings.get("provider", 0) <= 2
        assert "refused 3 calls in a row" in progress.why
        assert "HTTP 401" in progress.why
        monkeypatch.setenv("OPENAI_API_KEY", "new-key")
        again = await resume("r", store=store, retry=["provider"])
        assert await again.endings() == {"completed": 20}


def _answer(server: Loopback, messages: Sequence[Message]) -> str:
    """After four answers the key is another."""
    if server.total >= 4:
        server.key = "new-key"
    return lines("oracle", messages)
