"""The MCP face: a client plays by tools, in process and over standard input; its errors are said in words."""

import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from clinic import WORKUP, case

from wardround.faces.driven_run import DrivenRun
from wardround.faces.open_episodes import OpenEpisodes
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra `mcp` is not installed")


# `mcp` is loaded by the tests that run, not by every worker of the suite that reads this file.


def face_of(driven: DrivenRun) -> Any:
    from wardround.faces.mcp_server import mcp_server

    return mcp_server(OpenEpisodes(driven))


def client_of(server: Any) -> Any:
    import mcp

    return mcp.Client(server)


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2, 3)) + "\n")
    return str(path)


@pytest.fixture
async def driven(cases: str) -> AsyncIterator[DrivenRun]:
    made = await DrivenRun.begin(RunSettings(cases=cases, seed=7, preflight=False), MemoryStore())
    yield made
    await made.aclose()


async def called(client: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    turn: dict[str, Any] = result.structured_content
    return turn


async def test_a_client_plays_by_the_words_of_the_scenario(driven: DrivenRun) -> None:
    async with client_of(face_of(driven)) as client:
        turn = await called(client, "start", case="case-001")
        for line in WORKUP:
            turn = await called(client, "reply", episode=turn["episode"], text=line)
    assert turn["done"]
    assert turn["rewards"]["diagnosis_accuracy"] == 1.0


async def test_a_client_reads_the_record_by_tools(driven: DrivenRun) -> None:
    async with client_of(face_of(driven)) as client:
        turn = await called(client, "start", case="case-001")
        name = turn["episode"]
        found = await called(client, "order", episode=name, kind="lab", items=["White Blood Cells"])
        assert "14.2" in found["text"]
        turn = await called(client, "conclude", episode=name, answer="Acute appendicitis")
    assert turn["ending"]["cause"] == "completed"
    assert turn["rewards"]["diagnosis_accuracy"] == 1.0


async def test_what_is_impossible_is_said_and_the_episode_goes_on(driven: DrivenRun) -> None:
    async with client_of(face_of(driven)) as client:
        turn = await called(client, "start", case="case-002")
        for tool, arguments, said in (
            ("reply", {"episode": "nobody", "text": "x"}, "no episode 'nobody'"),
            ("start", {"case": "no-such-case"}, "no-such-case"),
            ("order", {"episode": turn["episode"], "kind": "magic", "items": []}, "kind"),
        ):
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert said in result.content[0].text
        left = await called(client, "leave", episode=turn["episode"])
        assert left["ending"]["reason"] == "left"
        again = await called(client, "start", case=turn["episode"])
        assert not again["done"]


async def test_a_client_acts_only_in_the_episode_that_it_began(driven: DrivenRun) -> None:
    server = face_of(driven)
    async with client_of(server) as client, client_of(server) as other:
        mine = (await called(client, "start", case="case-001"))["episode"]
        theirs = (await called(other, "start", case="case-002"))["episode"]
        for guess in ("case-001@1", mine.partition("~")[0] + "~" + theirs.partition("~")[2]):
            for tool, more in (("order", {"kind": "lab", "items": ["CBC"]}), ("turn", {}), ("leave", {})):
                refused = await other.call_tool(tool, {"episode": guess, **more})
                assert refused.is_error
                assert f"no episode {guess.partition('~')[0]!r} under way" in refused.content[0].text
        again = await called(other, "start", case=mine)
        assert again["episode"] != mine, "a client that lost its connection takes its episode up by what it got"
        assert (await client.call_tool("turn", {"episode": mine})).is_error


@pytest.mark.long
async def test_a_client_plays_over_standard_input(cases: str, tmp_path: Path) -> None:
    words = ["-m", "wardround", "serve", "--stdio", "--cases", cases, "--store", str(tmp_path / "m.db")]
    import mcp
    from mcp.client.stdio import stdio_client

    # Without `errlog` the server gets what standard error was when `mcp` was loaded, which may be a test's capture.
    with (tmp_path / "errors.txt").open("w") as errors:
        server = stdio_client(mcp.StdioServerParameters(command=sys.executable, args=words), errlog=errors)
        async with client_of(server) as client:
            turn = await called(client, "start", case="case-001")
            for line in WORKUP:
                turn = await called(client, "reply", episode=turn["episode"], text=line)
    assert turn["rewards"]["diagnosis_accuracy"] == 1.0


async def test_a_client_gets_images_as_images() -> None:
    settings = RunSettings(cases="bundled:stations", scenario="consultation", set={"images": "shown"}, preflight=False)
    driven = await DrivenRun.begin(settings, MemoryStore())
    async with client_of(face_of(driven)) as client:
        turn = await called(client, "start", case="ws-007")
        result = await client.call_tool("reply", {"episode": turn["episode"], "text": "Order: rhythm strip"})
    await driven.aclose()
    assert [part.type for part in result.content] == ["text", "image"]
    assert result.content[1].mime_type == "image/png"
    assert result.structured_content["images"] == []
    assert len(result.content[0].text) < 5000
