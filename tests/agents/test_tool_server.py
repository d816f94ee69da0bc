"""An own agent uses tools of an MCP server: recorded, replayed without the server, refused for restricted cases."""

import shlex
import sys
from pathlib import Path

import pytest
from shell import Shell

from wardround.engine.records import Action, View
from wardround.engine.seat import Seat

HERE = "test_tool_server"
SCRIPT = Path(__file__).parent.parent / "support" / "tool_server_script.py"


class Using:
    """Lists the tools, uses one, and says what came back."""

    def __init__(self, seat: Seat, *, word: str = "fever", server: str = "guidelines") -> None:
        self.tools, self.word = seat.tools(server), word

    async def act(self, view: View) -> Action:
        listed = await self.tools.tools()
        text = await self.tools.call("look_up", {"word": self.word})
        names = [tool["function"]["name"] for tool in listed]
        required = listed[0]["function"]["parameters"]["required"]
        return Action("reply", f"Diagnosis: influenza\n({names} {required} {text})")


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("SECRET_API_KEY", "sk-not-for-tools")
    return tmp_path / "counts"


def server(counts: Path) -> str:
    return f"guidelines=mcp/{shlex.join([sys.executable, str(SCRIPT), str(counts)])}"


LIBRARY = """
import sys
from pathlib import Path
from mcp.server.mcpserver import MCPServer

server = MCPServer("guidelines")

@server.tool()
def look_up(word: str) -> str:
    with Path(sys.argv[1]).open("a") as file:
        file.write(f"{word}\\n")
    return f"{word}: think of influenza"

server.run()
"""
WORDS = ("run", "--limit", "2", "--repeats", "1", "--doctor", f"{HERE}:Using", "--name", "r")


def test_calls_of_tools_are_recorded_and_replayed_without_the_server(shell: Shell, counts: Path) -> None:
    assert shell(*WORDS, "--doctor-model", server(counts)) == 0, shell.err
    assert counts.read_text() == "fever\nfever\n"
    counts.unlink()
    assert shell("replay", "r") == 0, shell.out
    assert not counts.exists()
    events = shell.json("show", "r", "0")["events"]
    called = [event for event in events if event["kind"] == "called"]
    assert [event["purpose"] for event in called] == ["tool", "tool"]
    assert called[1]["reply"]["text"] == "fever: think of influenza"
    [acted] = [event for event in events if event["kind"] == "acted" and event["seat"] == "doctor"]
    assert "['look_up'] ['word'] fever: think of influenza" in acted["action"]["text"]


@pytest.mark.long
def test_a_server_of_the_library_is_used_alike(shell: Shell, counts: Path) -> None:
    Path("guidelines.py").write_text(LIBRARY)
    command = shlex.join([sys.executable, "guidelines.py", str(counts)])
    assert shell(*WORDS, "--doctor-model", f"guidelines=mcp/{command}") == 0, shell.err
    assert counts.read_text() == "fever\nfever\n"
    assert shell("show", "r", "0") == 0
    assert "['look_up'] ['word'] fever: think of influenza" in shell.out


@pytest.mark.long
def test_an_error_of_a_tool_is_told_to_the_agent(shell: Shell, counts: Path) -> None:
    assert shell(*WORDS, "--doctor-model", server(counts), "--options", '{"word": "nothing"}') == 0, shell.err
    assert shell("show", "r", "0") == 0
    assert "there is no such finding" in shell.out
    assert shell("replay", "r") == 0, shell.out


@pytest.mark.long
def test_a_server_that_is_not_there_is_reported_before_the_run(shell: Shell, counts: Path) -> None:
    assert shell(*WORDS, "--doctor-model", "guidelines=mcp/false") == 2
    assert "no MCP server" in shell.err
    assert shell(*WORDS, "--doctor-model", "guidelines=mcp/http://127.0.0.1:9/mcp") == 2
    assert "no MCP server" in shell.err


def test_a_name_that_no_server_has_is_an_error(shell: Shell, counts: Path) -> None:
    assert shell(*WORDS, "--doctor-model", server(counts), "--options", '{"server": "notes"}') == 2
    assert "no server is called 'notes' (there are: guidelines)" in shell.err


def test_restricted_cases_do_not_reach_a_process_that_is_not_allowed(shell: Shell, counts: Path) -> None:
    from wardround.runs.plan import cases_of
    from wardround.runs.settings import RunSettings

    case = next(iter(cases_of(RunSettings(limit=1)))).model_copy(update={"data_class": "restricted"})
    Path("restricted.jsonl").write_text(case.model_dump_json() + "\n")
    words = (*WORDS, "--cases", "restricted.jsonl", "--allow-agent", f"{HERE}:Using", "--doctor-model", server(counts))
    assert shell(*words) == 2
    assert "mcp-process" in shell.err
    assert not counts.exists()
    assert shell(*words, "--allow-host", "mcp-process") == 0, shell.err


@pytest.mark.long
def test_a_server_that_dies_is_asked_again_and_no_answer(shell: Shell, counts: Path) -> None:
    """Its end is no result of a tool, and the calls after it need another process."""
    words = (*WORDS, "--doctor-model", server(counts), "--options", '{"word": "crash"}')
    assert shell(*words) == 0, shell.err
    assert counts.read_text() == "crash\ncrash\ncrash\n"
    assert shell("show", "r", "0") == 0
    assert "crash: think of influenza" in shell.out
    assert "Connection closed" not in shell.out


def test_a_server_that_cannot_begin_says_why(shell: Shell, counts: Path) -> None:
    assert shell(*WORDS, "--doctor-model", "guidelines=mcp/python no_such_server.py") == 2
    assert "can't open file" in shell.err
    assert shell(*WORDS, "--doctor-model", "guidelines=mcp/http://127.0.0.1:9/mcp") == 2
    assert "ConnectError" in shell.err
    assert shell(*WORDS, "--doctor-model", 'guidelines=mcp/python "half') == 2
    assert "cannot be read" in shell.err
    assert "Traceback" not in shell.err


@pytest.mark.long
def test_python_is_the_one_that_runs_this_and_a_process_gets_no_password(
    shell: Shell, counts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "not-for-tools")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    seen = counts.parent / "env"
    Path("leaky.py").write_text(
        f"import os, runpy, sys\nopen({str(seen)!r}, 'w').write(repr(dict(os.environ)))\n"
        f"sys.argv[1:] = [{str(counts)!r}]\nrunpy.run_path({str(SCRIPT)!r}, run_name='__main__')\n"
    )
    assert shell(*WORDS, "--doctor-model", "guidelines=mcp/python leaky.py") == 0, shell.err
    assert "not-for-tools" not in seen.read_text()
    assert "PATH" in seen.read_text()
