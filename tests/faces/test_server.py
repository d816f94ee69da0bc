"""The HTTP face: an openai client, streaming included, plays an encounter; so does plain JSON; clients do not mix."""

import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from clinic import WORKUP, case

from wardround.faces.driven_run import DrivenRun
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore

pytest.importorskip("starlette", reason="the extra `serve` is not installed")
from wardround.faces.open_episodes import OpenEpisodes
from wardround.faces.server import serve_app


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
    client = chatting(driven)
    text = await said(client, [], user="me")
    assert await said(client, [], user="me") == text
    history: list[Any] = [{"role": "assistant", "content": text}, {"role": "user", "content": WORKUP[0]}]
    assert await said(client, history, user="me") == await said(client, history, user="me")
    changed = [history[0], {"role": "user", "content": "something else"}]
    with pytest.raises(openai.ConflictError, match="has had 2 replies"):
        await said(client, changed, user="me")


async def test_two_clients_with_one_history_must_say_who_they_are(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(case(1).model_dump_json() + "\n")
    driven = await DrivenRun.begin(RunSettings(cases=str(path), repeats=2, preflight=False), MemoryStore())
    client = chatting(driven)
    text = await said(client, [])
    assert await said(client, []) == text
    with pytest.raises(openai.ConflictError, match="X-Session-ID"):
        await said(client, [{"role": "assistant", "content": text}, {"role": "user", "content": "PE"}])
    await driven.aclose()


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
        assert left["rewards"]["diagnosis_accuracy"] == 0.0
        again = (await client.post("/episodes", json={"case": turn["episode"]})).json()
        assert not again["done"]
        for line in WORKUP[1:]:
            again = (await client.post(act, json={"text": line})).json()
        assert again["rewards"]["diagnosis_accuracy"] == 1.0
        assert (await client.post(act, json={"text": "PE"})).status_code == 409
        assert (await client.get("/episodes/nobody")).status_code == 400


async def test_only_those_with_the_key_and_the_name_come_in(driven: DrivenRun) -> None:
    async with http(driven, key="sesame") as client:
        assert (await client.get("/v1/models")).status_code == 401
        assert (await client.get("/v1/models", headers={"authorization": "Bearer sesame"})).status_code == 200
        evil = {"authorization": "Bearer sesame", "host": "evil.example"}
        assert (await client.get("/v1/models", headers=evil)).status_code == 400


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
                turn = httpx.post(f"{address}/episodes", json={"case": "wa-001"}, timeout=20).json()
                texts.append(turn["text"])
                if not resumed:
                    acted = httpx.post(f"{address}/episodes/{turn['episode']}/act", json={"text": WORKUP[0]}).json()
                    texts.append(acted["text"])
                    resumed = ["--resume", name]
                server.send_signal(signal.SIGINT)
                assert f"--resume {name}" in server.stderr.read()
            finally:
                server.kill()
    assert texts[0] != texts[1] == texts[2]  # it goes on where it was
