"""The HTTP face: an openai client, streaming included, plays an encounter; so does plain JSON; clients do not mix."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from clinic import WORKUP, case
from shell import Shell

from wardround.agents.examiner import Examiner
from wardround.engine.errors import RunStopped, UsageError
from wardround.engine.records import Action, View
from wardround.faces.driven_run import DrivenRun
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore

pytest.importorskip("starlette", reason="the extra `serve` is not installed")
from wardround.faces.open_episodes import OpenEpisodes
from wardround.faces.server import Chat, ChatError, bound_socket, reply_text, serve, serve_app

if TYPE_CHECKING:  # loaded by the tests that need it; every worker of the suite reads this file
    import openai


@pytest.fixture
async def driven(tmp_path: Path) -> AsyncIterator[DrivenRun]:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2, 3)) + "\n")
    made = await DrivenRun.begin(RunSettings(cases=str(path), seed=7, preflight=False), MemoryStore())
    yield made
    await made.aclose()


def http(driven: DrivenRun, **more: Any) -> httpx.AsyncClient:
    app = serve_app(OpenEpisodes(driven), **more)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://localhost")


def chatting(driven: DrivenRun) -> openai.AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(api_key="x", base_url="http://localhost/v1", max_retries=0, http_client=http(driven))


async def said(client: openai.AsyncOpenAI, messages: list[Any], **more: Any) -> str:
    """The text of one reply."""
    done = await client.chat.completions.create(model="wardround", messages=messages, **more)
    return done.choices[0].message.content or ""


async def chat(client: openai.AsyncOpenAI, model: str, **more: Any) -> Any:
    """Play WORKUP by chat; returns the last completion."""
    messages: list[Any] = []
    done = await client.chat.completions.create(model=model, messages=messages, **more)
    for line in WORKUP:
        messages += [
            {"role": "assistant", "content": done.choices[0].message.content},
            {"role": "user", "content": line},
        ]
        done = await client.chat.completions.create(model=model, messages=messages, **more)
    return done


async def test_an_openai_client_plays_an_encounter(driven: DrivenRun) -> None:
    import openai

    client = chatting(driven)
    assert [one.id async for one in client.models.list()][:2] == ["wardround", "wardround/case-001"]
    done = await chat(client, "wardround/case-001")
    assert done.choices[0].message.content == "The encounter is over. It ended by completed."
    facts = done.model_extra["wardround"]
    assert facts["rewards"]["diagnosis_accuracy"] == 1.0
    assert set(facts["missing"]) == {name for name, value in facts["rewards"].items() if value is None}
    other = await chat(client, "wardround", extra_headers={"X-Session-ID": "a"})
    assert other.model_extra["wardround"]["episode"] == "case-002@1"
    with pytest.raises(openai.NotFoundError, match="no model 'gpt'"):
        await client.chat.completions.create(model="gpt", messages=[])


async def test_its_replies_stream(driven: DrivenRun) -> None:
    client = chatting(driven)
    stream = await client.chat.completions.create(
        model="wardround", messages=[], stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    assert "belly pain" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert chunks[-1].usage is not None


async def test_a_request_that_comes_again_acts_once(driven: DrivenRun) -> None:
    import openai

    client = chatting(driven)
    text = await said(client, [], user="me")
    assert await said(client, [], user="me") == text
    history: list[Any] = [{"role": "assistant", "content": text}, {"role": "user", "content": WORKUP[0]}]
    assert await said(client, history, user="me") == await said(client, history, user="me")
    changed = [history[0], {"role": "user", "content": "something else"}]
    with pytest.raises(openai.ConflictError, match="has had 2 replies"):
        await said(client, changed, user="me")


async def test_two_clients_with_one_history_must_say_who_they_are(tmp_path: Path) -> None:
    import openai

    path = tmp_path / "c.jsonl"
    path.write_text(case(1).model_dump_json() + "\n")
    driven = await DrivenRun.begin(RunSettings(cases=str(path), repeats=2, preflight=False), MemoryStore())
    client = chatting(driven)
    text = await said(client, [])
    assert await said(client, []) == text
    with pytest.raises(openai.ConflictError, match="X-Session-ID"):
        await said(client, [{"role": "assistant", "content": text}, {"role": "user", "content": "PE"}])
    await driven.aclose()


async def repeated(tmp_path: Path, repeats: int) -> DrivenRun:
    """A run of one case that is played several times, so that its conversations are the same."""
    path = tmp_path / "c.jsonl"
    path.write_text(case(1).model_dump_json() + "\n")
    return await DrivenRun.begin(RunSettings(cases=str(path), repeats=repeats, preflight=False), MemoryStore())


async def test_a_client_without_a_session_plays_each_repeat_of_a_case(tmp_path: Path) -> None:
    driven = await repeated(tmp_path, 3)
    client = chatting(driven)
    ends = [await chat(client, "wardround") for _ in range(3)]
    assert [end.model_extra["wardround"]["episode"] for end in ends] == [f"case-001@{n}" for n in (1, 2, 3)]
    assert await driven.run.endings() == {"completed": 3}
    await driven.aclose()


async def test_the_last_request_that_comes_again_gets_the_end_again(tmp_path: Path) -> None:
    driven = await repeated(tmp_path, 2)
    client, messages = chatting(driven), list[Any]()
    for line in WORKUP:
        messages += [{"role": "assistant", "content": await said(client, messages)}, {"role": "user", "content": line}]
    ends = [await said(client, messages) for _ in range(2)]
    await said(client, [])
    ends.append(await said(client, messages))
    assert ends == ["The encounter is over. It ended by completed."] * 3
    acted = (await driven.run.trajectory("case-001@1")).acted("doctor")
    assert [one.action.text for one in acted] == list(WORKUP)
    await driven.aclose()


async def test_who_was_left_for_silence_begins_the_next_episode(tmp_path: Path) -> None:
    driven = await repeated(tmp_path, 4)
    episodes = OpenEpisodes(driven)
    named, unnamed = Chat(episodes), Chat(episodes)
    for number in (1, 3):
        text = reply_text((await named.reply("wardround", [], "me"))[0])
        await unnamed.reply("wardround", [], "")
        for one, session in ((named, "me"), (unnamed, "")):
            line = [{"role": "assistant", "content": text}, {"role": "user", "content": WORKUP[0]}]
            _, name = await one.reply("wardround", line, session)
            assert name == f"case-001@{number + (one is unnamed)}"
        assert len(await episodes.leave_idle(-1)) == 2
    await driven.aclose()


async def test_only_the_last_episodes_that_are_over_are_remembered(driven: DrivenRun) -> None:
    episodes = OpenEpisodes(driven, remembered=1)
    chats = Chat(episodes)
    for session in ("a", "b", "c"):
        messages: list[Any] = []
        turn, _ = await chats.reply("wardround", messages, session)
        for line in WORKUP[: 2 if session == "c" else 5]:
            messages += [{"role": "assistant", "content": reply_text(turn)}, {"role": "user", "content": line}]
            turn, _ = await chats.reply("wardround", messages, session)
    assert [f"case-00{n}@1" in episodes for n in (1, 2, 3)] == [False, True, True]
    with pytest.raises(UsageError, match="start it first"):
        await episodes.turn("case-001@1", "a")
    with pytest.raises(ChatError, match="the session 'a' has no episode"):
        await chats.reply("wardround", messages, "a")
    assert (await episodes.turn("case-002@1", "b")).done
    assert not (await episodes.turn("case-003@1", "c")).done


async def test_an_episode_that_a_stopped_run_leaves_open_says_so(driven: DrivenRun) -> None:
    episodes = OpenEpisodes(driven)
    turn = await episodes.start()
    driven.progress.drain()
    for _ in range(2):
        with pytest.raises(RunStopped, match=r"case-001@1 stays open; resume the run"):
            await episodes.act(turn.episode, WORKUP[0])
        with pytest.raises(RunStopped, match=r"case-001@1 stays open; resume the run"):
            await episodes.turn(turn.episode)
    assert not episodes.is_playing(turn.episode)


async def test_plain_json_plays_leaves_and_takes_up_again(driven: DrivenRun) -> None:
    async with http(driven) as client:
        turn = (await client.post("/episodes", json={"case": "case-001"})).json()
        assert turn["verbs"] == ["reply", *turn["verbs"][1:]]
        act = f"/episodes/{turn['episode']}/act"
        assert (
            (await client.post(act, json={"verb": "dance", "text": "x"})).json()["error"]["message"].count("not a verb")
        )
        assert (await client.post(act, content=b"{half")).status_code == 400
        assert (await client.post(act, content=b"[" * 100_000)).status_code == 400
        assert "neither" in (await client.post(act, json={})).json()["error"]["message"]
        await client.post(act, json={"text": WORKUP[0]})
        left = (await client.delete(f"/episodes/{turn['episode']}")).json()
        assert left["ending"] == {"cause": "doctor", "reason": "left", "detail": "the client left before the end"}
        assert (left["rewards"], left["missing"]) == ({}, {}), "the recall of its orders would tell it which were right"
        again = (await client.post("/episodes", json={"case": turn["episode"]})).json()
        assert not again["done"]
        for line in WORKUP[1:]:
            again = (await client.post(act, json={"text": line})).json()
        assert again["rewards"]["diagnosis_accuracy"] == 1.0
        assert (await client.post(act, json={"text": "PE"})).status_code == 409
        assert (await client.get("/episodes/nobody")).status_code == 404


async def test_only_those_with_the_key_and_the_name_come_in(driven: DrivenRun) -> None:
    async with http(driven, key="sesame") as client:
        assert (await client.get("/v1/models")).status_code == 401
        assert (await client.get("/v1/models", headers={"authorization": "Bearer sesame"})).status_code == 200
        evil = {"authorization": "Bearer sesame", "host": "evil.example"}
        assert (await client.get("/v1/models", headers=evil)).status_code == 400


async def test_a_client_is_told_no_score_where_the_user_says_so(driven: DrivenRun) -> None:
    episodes = OpenEpisodes(driven, rewards=False)
    turn = await episodes.start("case-001")
    for line in WORKUP:
        turn = await episodes.act(turn.episode, line)
    assert turn.ending is not None
    assert turn.ending["cause"] == "completed"
    assert (turn.rewards, turn.missing) == ({}, {})


async def test_a_client_that_falls_silent_is_left(driven: DrivenRun) -> None:
    episodes = OpenEpisodes(driven)
    turn = await episodes.start()
    assert await episodes.leave_idle(60) == []
    assert await episodes.leave_idle(-1) == [turn.episode]
    assert (await episodes.turn(turn.episode)).ending == {
        "cause": "doctor",
        "reason": "left",
        "detail": "the client did nothing for -1 s",
    }


@pytest.mark.long
def test_the_command_serves_stops_and_goes_on(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "wardround", "serve", "--port", "0", "--store", str(tmp_path / "s.db")]
    resumed: list[str] = []
    texts: list[str] = []
    for _ in range(2):
        with subprocess.Popen([*words, *resumed], stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            try:
                _, name, _, address = server.stderr.readline().split()
                turn = httpx.post(f"{address}/episodes", json={"case": "wa-001"}, timeout=240).json()
                texts.append(turn["text"])
                if not resumed:
                    acted = httpx.post(
                        f"{address}/episodes/{turn['episode']}/act", json={"text": WORKUP[0]}, timeout=240
                    ).json()
                    texts.append(acted["text"])
                    resumed = ["--resume", name]
                server.send_signal(signal.SIGINT)
                assert f"--resume {name}" in server.stderr.read()
            finally:
                server.kill()
    assert texts[0] != texts[1] == texts[2]  # it goes on where it was


class Slow:
    """An examiner that takes its time."""

    def __init__(self) -> None:
        self.inner = Examiner()

    async def act(self, view: View) -> Action:
        await asyncio.sleep(0.1)
        return await self.inner.act(view)


async def test_a_request_that_comes_again_too_early_acts_once(tmp_path: Path) -> None:
    """A client that waits no longer sends it again while the first is under way."""
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2, 3)) + "\n")
    settings = RunSettings(cases=str(path), preflight=False)
    driven = await DrivenRun.begin(settings, MemoryStore(), seats={"examiner": Slow})
    client, named = chatting(driven), {"extra_headers": {"X-Session-ID": "a"}}
    begun = await asyncio.gather(*(said(client, [], **named) for _ in range(3)))
    assert len(set(begun)) == 1
    words = [{"role": "assistant", "content": begun[0]}, {"role": "user", "content": WORKUP[0]}]
    again = await asyncio.gather(*(said(client, words, **named) for _ in range(3)))
    assert len(set(again)) == 1
    assert "no action" not in again[0]
    acted = (await driven.run.trajectory("case-001@1")).acted("doctor")
    assert [one.action.text for one in acted] == [WORKUP[0]]
    assert len(driven.live) == 1
    await driven.aclose()


async def test_clients_that_begin_one_case_at_the_same_time_get_an_episode_each(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(case(1).model_dump_json() + "\n")
    driven = await DrivenRun.begin(RunSettings(cases=str(path), repeats=8, preflight=False), MemoryStore())
    client = chatting(driven)
    await asyncio.gather(
        *(chat(client, "wardround/case-001", extra_headers={"X-Session-ID": str(n)}) for n in range(8))
    )
    assert await driven.run.endings() == {"completed": 8}
    await driven.aclose()


async def test_a_session_begins_anew_when_its_encounter_is_over(driven: DrivenRun) -> None:
    client, named = chatting(driven), {"extra_headers": {"X-Session-ID": "worker-1"}}
    episodes = [(await chat(client, "wardround", **named)).model_extra["wardround"]["episode"] for _ in range(3)]
    assert episodes == ["case-001@1", "case-002@1", "case-003@1"]


async def test_a_conversation_without_new_words_costs_no_turn(driven: DrivenRun) -> None:
    import openai

    client, named = chatting(driven), {"extra_headers": {"X-Session-ID": "a"}}
    first = {"role": "assistant", "content": await said(client, [], **named)}
    begin: Any = {"role": "user", "content": "Please begin."}
    for words in ([first], [begin, first]):
        with pytest.raises(openai.BadRequestError, match="the last message must be the user's"):
            await said(client, words, **named)
    with pytest.raises(openai.BadRequestError, match="`n` must be 1"):
        await said(client, [], n=3)
    await said(client, [begin, first, {"role": "user", "content": "Action: PE"}, begin], **named)
    acted = (await driven.run.trajectory("case-001@1")).acted("doctor")
    assert [one.action.text for one in acted] == ["Action: PE\n\nPlease begin."]


async def test_what_cannot_be_answered_is_refused_in_words(driven: DrivenRun) -> None:
    client = http(driven, key="sesame")
    named = {"Authorization": "bearer sesame"}
    assert (await client.post("/episodes", json={"case": "case-001"}, headers=named)).status_code == 200
    refused = [
        (404, "start it first", "/episodes/case-002@1/act", b'{"text": "PE"}'),
        (400, "no field 'cas'", "/episodes", b'{"cas": "case-002"}'),
        (400, "`text` of the action holds U+D800", "/episodes/case-001@1/act", b'{"text": "\\ud800"}'),
        (413, "more than", "/episodes/case-001@1/act", b'{"text": "' + b"x" * 2**26 + b'"}'),
    ]
    for status, words, path, content in refused:
        reply = await client.post(path, content=content, headers=named)
        assert reply.status_code == status, reply.text
        assert words in reply.text
        assert "case-001@1" not in reply.text


async def test_a_server_with_a_key_answers_by_any_of_its_names(driven: DrivenRun) -> None:
    """Under 0.0.0.0 a client names it by an address that the server does not know."""
    bound = bound_socket("127.0.0.1", 0)
    port = bound.getsockname()[1]
    serving = asyncio.create_task(serve(OpenEpisodes(driven), "sesame", bound, 60))
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=240) as client:
            client.headers.update({"accept": "application/json, text/event-stream", "host": f"ward.example.org:{port}"})
            assert (await client.get("/v1/models")).status_code == 401
            client.headers["authorization"] = "Bearer sesame"
            assert (await client.get("/v1/models")).status_code == 200
            assert (await client.post("/mcp/", json=hello)).status_code != 421
    finally:
        serving.cancel()
        with suppress(asyncio.CancelledError):
            await serving


async def test_an_episode_is_known_to_its_own_session_alone(driven: DrivenRun) -> None:
    client = http(driven)
    mine, theirs = {"X-Session-ID": "mine"}, {"X-Session-ID": "theirs"}
    name = (await client.post("/episodes", json={"case": "case-001"}, headers=mine)).json()["episode"]
    act = {"verb": "order", "text": "lab: CBC", "args": {"kind": "lab", "items": ["CBC"]}}
    for headers in (theirs, {}):
        for refused in (
            await client.post(f"/episodes/{name}/act", json=act, headers=headers),
            await client.get(f"/episodes/{name}", headers=headers),
            await client.delete(f"/episodes/{name}", headers=headers),
        ):
            assert refused.status_code == 404, refused.text
    assert (await client.post(f"/episodes/{name}/act", json=act, headers=mine)).status_code == 200
    taken = await client.post("/episodes", json={"episode": name}, headers=theirs)
    assert not taken.json()["done"], "a client that lost its session takes its episode up by the id"
    assert (await client.get(f"/episodes/{name}", headers=mine)).status_code == 404


def test_an_address_that_is_taken_is_named_before_a_run_begins(shell: Shell, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert shell("serve", "--port", port, "--store", str(tmp_path / "s.db")) == 2
    assert f"--port {port}" in shell.err
    assert "in use" in shell.err
    assert not (tmp_path / "s.db").exists()
