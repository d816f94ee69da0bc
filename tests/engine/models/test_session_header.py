"""Calls of an own endpoint name their conversation, so that a router can keep its prefix where it is cached."""

from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from examples import first_rows
from serving import serving
from shell import Shell

from wardround import run
from wardround.engine.errors import UsageError
from wardround.engine.models.chat import ChatModel, Endpoint, checked_header, session_of
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import Limited, Retrying
from wardround.engine.protocols import Model
from wardround.engine.records import Message
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore

ASKED = [Message("user", "hello")]


async def test_each_seat_of_each_episode_has_a_session_of_its_own() -> None:
    async with Loopback() as server:
        model = reach("openai/m", base_url=server.base_url, env={}, session_header="X-Session-ID")
        for role, episode in (("doctor", "a@1"), ("doctor", "a@1"), ("patient", "a@1"), ("doctor", "a@2"), ("", "")):
            await model.bound(role, episode).complete(ASKED, purpose="act")
        await model.aclose()
    sent = [asked.headers.get("x-session-id") for asked in server.asked]
    assert sent[0] == sent[1] == session_of("doctor", "a@1")
    assert len({*sent[1:]}) == 4
    assert sent[-1] is None
    assert "a@1" not in str(sent)


async def test_a_member_of_a_fleet_gets_the_session() -> None:
    async with Loopback() as server, Loopback() as other:
        members = []
        for one in (server, other):
            inner = ChatModel("m", Endpoint(one.base_url), session_header="X-Route")
            members.append(Limited(inner, Gates().of(one.base_url, "")))
        bound: Model = Retrying(Fleet(members)).bound("doctor", "a@1")
        for _ in range(3):
            await bound.complete(ASKED, purpose="act")
        sent = [asked.headers["x-route"] for asked in (*server.asked, *other.asked)]
        for member in members:
            await member.aclose()
    assert sent == [session_of("doctor", "a@1")] * 3
    assert {server.total, other.total} == {0, 3}


def test_openai_itself_is_told_no_session() -> None:
    model = reach("openai/m", env={"OPENAI_API_KEY": "sk-0123456789"}, session_header="X-Session-ID")
    assert isinstance(model, Retrying)
    assert isinstance(model.model, Limited)
    assert isinstance(model.model.model, ChatModel)
    assert model.model.model.session_header == ""


@pytest.mark.parametrize("name", ["Authorization", "content-length", "Host", "a b", "x\r\ny", "", "naïve", "Cookie"])
def test_a_header_that_can_be_none_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="X-Session-ID"):
        checked_header(name)


@pytest.mark.parametrize(
    ("words", "header"), first_rows([((), "x-session-id"), (("--session-header", "X-Route"), "x-route")], 1)
)
def test_a_run_sends_it_and_none_leaves_it_out(
    words: tuple[str, ...], header: str, shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server = Loopback(lambda messages, model: "Diagnosis: gout")
    with serving(server) as url:
        seat = ("--scenario", "oracle", "--doctor", "openai/m", "--base-url", url, "--limit", "2", "--repeats", "1")
        assert shell("run", *seat, *words, "--name", "a") == 0, shell.err
        first = [asked.headers.get(header) for asked in server.asked]
        assert shell("run", *seat, "--session-header", "none", "--name", "b") == 0, shell.err
    assert first[0] is None  # the preflight belongs to no episode
    assert len({*first[1:]}) == len(first) - 1 == 2
    assert not any(header in asked.headers for asked in list(server.asked)[len(first) :])
    assert shell("run", *seat, "--session-header", "Host") == 2
    assert "X-Session-ID" in shell.err


@pytest.mark.parametrize(
    ("scenario", "interface"),
    [
        pytest.param(scenario, interface, marks=() if scenario == usual else pytest.mark.long)
        for interface, usual in (("text", "workup"), ("tools", "consultation"), ("json", "free-turn"))
        for scenario in ("workup", "consultation", "free-turn")
    ],
)
async def test_the_prefix_of_an_episode_is_stable_to_the_byte(scenario: str, interface: str) -> None:
    async with Loopback(lambda messages, model: f"Please go on. ({len(messages)})") as server:
        seat = {"spec": "openai/m", "base_url": server.base_url, "options": {"interface": interface}}
        await run("bundled", scenario, store=MemoryStore(), doctor=seat, repeats=1, limit=3)
        bodies: dict[str, list[bytes]] = {}
        for asked in server.asked:
            if "x-session-id" in asked.headers:
                bodies.setdefault(asked.headers["x-session-id"], []).append(asked.body)
    assert len(bodies) == 3
    for sent in bodies.values():
        assert len(sent) >= 2
        for before, after in pairwise(sent):
            messages = msgspec.json.encode(msgspec.json.decode(before)["messages"])
            start = b'{"model":"m","messages":' + messages[:-1]
            assert before.startswith(start)
            assert after.startswith(start)
            assert after.rpartition(b"]")[2] == before.rpartition(b"]")[2]


def test_a_model_without_an_endpoint_is_bound_to_itself() -> None:
    model = Scripted(["x"])
    assert model.bound("doctor", "a@1") is model
