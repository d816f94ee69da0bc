"""Agents in a process of their own: played, failing in every way, and sealed off from every network."""

import asyncio
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
from wardround.agents.process import ProcessFailed, ProcessMaker, sealed_command, sealing_obstacle
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
        ('input(); print(\'{"verb": "dance", "text": "x"}\', flush=True); input()', "not one of"),
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


FLOOD = """
import json, sys, time
sys.stdin.readline()
sys.stdin.readline()
print(json.dumps({"text": "x" * 200_000}), flush=True)
time.sleep(600)
"""


async def test_one_that_reads_no_more_is_ended_with_its_act(cases: str, tmp_path: Path) -> None:
    """Its pipe is full while the engine writes the next view."""
    played = await asyncio.wait_for(
        run(cases, "consultation", doctor=f"exec:{written(tmp_path, FLOOD)}", store=MemoryStore(), limits={"act": 1.0}),
        timeout=240,
    )
    assert (await ending_of(played)).reason == "timeout"


FORKS = """
import json, subprocess, sys
sys.stdin.readline()
left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(left.pid))
for line in sys.stdin if len(sys.argv) == 2 else ():
    print(json.dumps({"text": "Diagnosis: gout"}), flush=True)
sys.exit("its main part is over")
"""


def is_running(process: int) -> bool:
    """Whether a process is there and not only waits to be collected."""
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("dies", [False, True], ids=["it plays on", "it dies"])
async def test_what_it_leaves_behind_ends_with_it(cases: str, tmp_path: Path, *, dies: bool) -> None:
    left = tmp_path / "left"
    command = f"exec:{written(tmp_path, FORKS)} {left}{' dies' * dies}"
    played = await run(cases, "workup", doctor=command, store=MemoryStore(), limit=1, limits={"act": 20})
    ending = await ending_of(played)
    assert ("exit code 1" in ending.detail and "its main part is over" in ending.detail) is dies, ending
    async with asyncio.timeout(200):
        while is_running(int(left.read_text())):  # noqa: ASYNC110 - nobody tells of its end
            await asyncio.sleep(0.01)


async def test_some_that_write_garbage_do_not_block_the_others(tmp_path: Path) -> None:
    """Each of them is given a moment to end by itself; the loop goes round many times meanwhile, not once for each."""
    command = written(tmp_path, "import time; input(); print('hello', flush=True); time.sleep(60)")
    agents = [ProcessMaker(f"exec:{command}")(Seat("doctor", "c", 1, Prompts({}))) for _ in range(6)]
    rounds = 0

    async def go_round() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0.005)
            rounds += 1

    going = asyncio.create_task(go_round())
    ended = await asyncio.gather(
        *(agent.act(View("doctor", "brief", (), ("reply",))) for agent in agents), return_exceptions=True
    )
    going.cancel()
    for agent in agents:
        agent.end()
    assert all(isinstance(one, ProcessFailed) for one in ended)
    assert rounds > len(agents) + 2


async def test_one_that_cannot_be_started(cases: str) -> None:
    with pytest.raises(UsageError, match="is not there, or is no program"):
        await run(cases, "workup", doctor="exec:no-such-program-here", store=MemoryStore(), limit=1)
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


PEEK = """
import json, os, sys
sys.stdin.readline()
for line in sys.stdin:
    seen = []
    for folder, _, names in os.walk("."):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                seen.append([name, len(file.read())])
    print(json.dumps({"text": json.dumps(sorted(seen))}), flush=True)
"""


@pytest.mark.skipif(bool(sealing_obstacle()), reason=f"no process can be sealed here: {sealing_obstacle()}")
async def test_a_sealed_process_sees_neither_cases_nor_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By default both lie in the working directory, which it sees, and both have the answers."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ward").mkdir()
    for number, place in ((1, "ward/r1.jsonl"), (2, "r2.jsonl")):
        restricted = case(number).model_copy(update={"data_class": "restricted"})
        (tmp_path / place).write_text(restricted.model_dump_json() + "\n")
    (tmp_path / "agent.py").write_text(PEEK)
    (tmp_path / "notes.txt").write_text("seen")
    played = await run(["ward", "r2.jsonl"], "workup", doctor="sealed:python agent.py", store="wardround.db")
    seen = dict(json.loads(next((await played.trajectory("case-001")).acted("doctor")).action.text))
    assert {"agent.py", "notes.txt", "wardround.db", "r2.jsonl"} <= seen.keys()
    assert "r1.jsonl" not in seen
    assert {name for name, size in seen.items() if size} == {"agent.py", "notes.txt"}
    await played.store.aclose()
    with pytest.raises(UsageError, match=r"the cases of .* lie in it"):
        await run(str(tmp_path), "workup", doctor="sealed:python agent.py", store=MemoryStore())


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")
def test_whether_processes_can_be_sealed_does_not_hang_on_the_working_directory(tmp_path: Path) -> None:
    asked = [sys.executable, "-c", "from wardround.agents.process import sealing_obstacle; print(sealing_obstacle())"]
    elsewhere = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=tmp_path).stdout.strip()
    assert elsewhere == sealing_obstacle()


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
