"""Agents in a process of their own: played, failing in every way, and sealed off from every network."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from clinic import WORKUP, case

from wardround import run
from wardround.agents.process import ProcessMaker, sealed_command, sealing_obstacle
from wardround.engine.errors import EgressError, UsageError
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, View
from wardround.engine.seat import Seat
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run
from wardround.testing.memory_store import MemoryStore

AGENT = f"""
import json, sys
seat = json.loads(sys.stdin.readline())
lines = {list(WORKUP)!r}
for line in sys.stdin:
    view = json.loads(line)["view"]
    said = sum(one["seat"] == "doctor" for one in view["heard"])
    print(json.dumps({{"text": lines[min(said, len(lines) - 1)]}}), flush=True)
"""
PROBE = """
import json, os, socket, sys
def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    return "CONNECTED"
def udp(family, address):
    socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", address)
results = {
    "tcp4": tried(lambda: socket.create_connection((sys.argv[1], int(sys.argv[2])), 0.2)),
    "outside4": tried(lambda: socket.create_connection(("192.0.2.1", 80), 0.2)),
    "tcp6": tried(lambda: socket.create_connection(("::1", int(sys.argv[2])), 0.2)),
    "outside6": tried(lambda: socket.create_connection(("2001:db8::1", 80), 0.2)),
    "udp4": tried(lambda: udp(socket.AF_INET, ("192.0.2.1", 53))),
    "udp6": tried(lambda: udp(socket.AF_INET6, ("2001:db8::1", 53))),
    "dns": tried(lambda: socket.getaddrinfo("example.org", 80)),
    "raw4": tried(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)),
    "raw6": tried(lambda: socket.socket(socket.AF_INET6, socket.SOCK_RAW, 58)),
    "packet": tried(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
    "unix": tried(lambda: socket.socket(socket.AF_UNIX)),
    "vm": tried(lambda: socket.socket(socket.AF_VSOCK)),
    "write": tried(lambda: open("written.txt", "w")),
    "parent": tried(lambda: os.kill(os.getppid() or 2, 0)),
}
print(json.dumps({
    "results": results,
    "processes": [name for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else [],
    "keys": [name for name in os.environ if "KEY" in name],
    "secret": os.path.exists(sys.argv[3]),
}))
"""


@contextmanager
def listener() -> Iterator[tuple[str, int]]:
    """A port of this machine that takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def written(folder: Path, text: str) -> str:
    path = folder / "agent.py"
    path.write_text(text)
    return f"python {path}"


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2)) + "\n")
    return str(path)


async def ending_of(played: Run) -> Ending:
    ending = await played.ending(await played.episode("case-001"))
    assert ending is not None
    return ending


async def test_it_plays_and_replays(cases: str, tmp_path: Path) -> None:
    played = await run(cases, "workup", doctor=f"exec:{written(tmp_path, AGENT)}", store=MemoryStore())
    assert (await played.endings()) == {"completed": 2}
    said = [acted.action.text for acted in (await played.trajectory("case-001")).acted("doctor")]
    assert said == list(WORKUP)
    assert [outcome.error async for outcome in replay_run(played)] == ["", ""]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import sys; sys.exit('my key is lost')", "exit code 1.*my key is lost"),
        ("import time; input(); print('hello'); time.sleep(9)", "'hello', which is not an action"),
        ("import time; input(); print('{\"verb\": 3}'); time.sleep(9)", "which is not an action"),
        ('import time; input(); print(\'{"txt": "x"}\'); time.sleep(9)', "txt"),
        ("import time; input(); print('{}', flush=True); time.sleep(9)", "without `text` and `args`"),
        ("import time; input(); print('x' * 17 * 2**20); time.sleep(9)", "a line of more than"),
        ('input(); print(\'{"verb": "dance", "text": "x"}\', flush=True); input()', "none of"),
    ],
)
async def test_whatever_it_does_wrong_ends_its_episode_by_its_seat(
    cases: str, tmp_path: Path, text: str, said: str
) -> None:
    played = await run(cases, "workup", doctor=f"exec:{written(tmp_path, text)}", store=MemoryStore(), limit=1)
    ending = await ending_of(played)
    assert ending.cause == "doctor"
    assert re.search(said, ending.detail), ending.detail


async def test_one_that_hangs_is_ended_with_its_act(cases: str, tmp_path: Path) -> None:
    command = f"exec:{written(tmp_path, 'import time; time.sleep(60)')}"
    played = await run(cases, "workup", doctor=command, store=MemoryStore(), limit=1, limits={"act": 0.5})
    assert (await ending_of(played)).reason == "timeout"


async def test_one_that_cannot_be_started(cases: str) -> None:
    played = await run(cases, "workup", doctor="exec:no-such-program-here", store=MemoryStore(), limit=1)
    assert "cannot be started" in (await ending_of(played)).detail
    with pytest.raises(UsageError, match="names no command"):
        await run(cases, "workup", doctor="exec:", store=MemoryStore())


async def test_it_asks_its_seat_s_model_over_the_same_pipe(tmp_path: Path) -> None:
    agent = """
import json, sys
seat = json.loads(sys.stdin.readline())
json.loads(sys.stdin.readline())
print(json.dumps({"model": {"messages": [{"role": "user", "content": "what now?"}]}}), flush=True)
said = json.loads(sys.stdin.readline())["completion"]["text"]
print(json.dumps({"text": said + "!", "memo": seat["past"]}), flush=True)
"""
    seat = Seat("doctor", "c", 1, Prompts({}), model=Scripted(["PE"]))
    made = ProcessMaker(f"exec:{written(tmp_path, agent)}")(seat)
    made.recall(View("doctor", "", (), ("reply",)), Action("reply", "before"))
    action = await made.act(View("doctor", "brief", (), ("reply",)))
    made.end()
    assert action.text == "PE!"
    assert action.memo[0]["text"] == "before"


async def test_a_restricted_case_goes_to_a_process_only_with_permission_or_sealed(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(case(1).model_copy(update={"data_class": "restricted"}).model_dump_json() + "\n")
    spec = f"exec:{written(tmp_path, AGENT)}"
    store = MemoryStore()
    with pytest.raises(EgressError, match="--allow-agent"):
        await run(str(path), "workup", doctor=spec, store=store)
    with pytest.raises(EgressError):
        await run(str(path), "workup", doctor=spec, store=store, allow_agents=["another"])
    played = await run(str(path), "workup", doctor=spec, store=store, allow_agents=[spec])
    assert (await played.endings()) == {"completed": 1}
    assert played.json["settings"]["allow_agents"] == [spec]


@pytest.mark.skipif(bool(sealing_obstacle()), reason=f"no process can be sealed here: {sealing_obstacle()}")
async def test_a_sealed_process_plays_a_restricted_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    restricted = case(1).model_copy(update={"data_class": "restricted"})
    (tmp_path / "r.jsonl").write_text(restricted.model_dump_json() + "\n")
    (tmp_path / "agent.py").write_text(AGENT)
    played = await run("r.jsonl", "workup", doctor="sealed:python agent.py", store=MemoryStore())
    assert (await played.endings()) == {"completed": 1}, await ending_of(played)


@pytest.mark.skipif(bool(sealing_obstacle()), reason=f"no process can be sealed here: {sealing_obstacle()}")
def test_a_sealed_process_makes_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, secret = tmp_path / "work", tmp_path / "secret.txt"
    inside.mkdir()
    secret.write_text("not to be seen")
    monkeypatch.chdir(inside)
    monkeypatch.setenv("MY_API_KEY", "sk-not-to-be-seen")
    (inside / "probe.py").write_text(PROBE)
    with listener() as (host, port):
        words = [sys.executable, "probe.py", host, str(port), str(secret)]
        open_ = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
        assert open_["results"]["tcp4"] == "CONNECTED"  # the probe itself works
        (inside / "written.txt").unlink()
        done = subprocess.run(sealed_command(words), capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)
    assert {name: how for name, how in found["results"].items() if how == "CONNECTED"} == {}
    assert found["processes"] in ([], ["1"])
    assert found["keys"] == []
    assert not found["secret"]
