"""An agent in a container: how it is run, what ends it, and where there is no runtime.

A stand-in runs the command; where docker or podman runs containers, a real one does too.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import pytest
from shell import Shell

AGENT = """
import json, sys
json.loads(sys.stdin.readline())
for line in sys.stdin:
    print(json.dumps({"text": "Action: OUTPUT\\nDiagnosis: gout"}), flush=True)
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that notes its arguments and, for `run`, starts what stands behind the image."""
    monkeypatch.chdir(tmp_path)
    runtime, noted = tmp_path / "runtime", tmp_path / "calls"
    runtime.write_text(
        f'#!/bin/sh\necho "$@" >> {noted}\n[ "$1" = run ] || exit 0\n'
        'while [ "$1" != image:1 ]; do shift; done\nshift\nexec "$@"\n'
    )
    runtime.chmod(0o755)
    monkeypatch.setenv("WARDROUND_CONTAINER_RUNTIME", str(runtime))
    (tmp_path / "agent.py").write_text(AGENT)
    return noted


def spec() -> str:
    return f"container:image:1 {shlex.quote(sys.executable)} agent.py"


def test_a_container_has_no_network_and_is_removed(shell: Shell, calls: Path) -> None:
    before = {*threading.enumerate()}
    assert shell("run", "--doctor", spec(), "--limit", "2", "--name", "c") == 0, shell.err
    for removal in {*threading.enumerate()} - before:  # the run does not wait for the runtime to remove a container
        removal.join(30)
    lines = [line.split() for line in calls.read_text().splitlines()]
    begun = [words for words in lines if words[0] == "run" and "agent.py" in words]
    assert len(begun) == 3, "a trial and two episodes"
    for words in begun:
        assert {"--network=none", "--read-only", "--cap-drop=ALL", "--rm", "--pull=never"} <= {*words}
        [name] = [word.partition("=")[2] for word in words if word.startswith("--name=")]
        assert ["rm", "--force", name] in lines
    assert shell("replay", "c") == 0, shell.out


def test_a_container_may_see_restricted_cases(shell: Shell, calls: Path) -> None:
    from wardround.runs.plan import cases_of
    from wardround.runs.settings import RunSettings

    case = next(iter(cases_of(RunSettings(limit=1)))).model_copy(update={"data_class": "restricted"})
    Path("restricted.jsonl").write_text(case.model_dump_json() + "\n")
    assert shell("run", "--doctor", spec(), "--cases", "restricted.jsonl", "--name", "c") == 0, shell.err
    process = f"exec:{shlex.quote(sys.executable)} agent.py"
    assert shell("run", "--doctor", process, "--cases", "restricted.jsonl") == 2


def test_without_a_runtime_the_run_is_refused(shell: Shell, calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARDROUND_CONTAINER_RUNTIME", "no-such-runtime")
    assert shell("run", "--doctor", spec().replace("image:1", "image:2"), "--limit", "1") == 2
    assert "no-such-runtime is not there" in shell.err


@pytest.mark.parametrize(
    ("code", "verb", "said"),
    [(1, "image", "no program that runs containers has the image"), (125, "run", "does not start: no more room")],
)
def test_a_container_that_cannot_start_ends_no_episode_by_the_doctor(
    shell: Shell, calls: Path, code: int, verb: str, said: str
) -> None:
    runtime = Path(os.environ["WARDROUND_CONTAINER_RUNTIME"])
    runtime.write_text(f'#!/bin/sh\n[ "$1" = {verb} ] || exit 0\necho no more room >&2\nexit {code}\n')
    assert shell("run", "--doctor", f"container:{verb}:3 true", "--limit", "1") == 2
    assert said in shell.err
    assert "no more room" in shell.err


SHELL_AGENT = """#!/bin/sh
read -r seat
while read -r view; do
    devices=$(grep -c : /proc/net/dev)
    rights=$(grep CapEff /proc/self/status)
    rights=${rights##*[!0-9a-f]}
    (echo x > /here) 2>/dev/null && wrote=yes || wrote=no
    [ "$1" = hang ] && while :; do :; done
    echo "{\\"text\\": \\"Diagnosis: gout\\", \\"thinking\\": \\"$devices $wrote $rights\\"}"
done
"""
NAME = "localhost/wardround-test:1"


def imported(runtime: str, folder: Path) -> str:
    """Make an image of this machine's shell and grep by `runtime` and try it; returns why that cannot be had, or ""."""
    (folder / "agent.sh").write_text(SHELL_AGENT)
    (folder / "agent.sh").chmod(0o755)
    inside = {"/agent.sh": str(folder / "agent.sh"), "/tmp": str(folder / "empty"), "/proc": str(folder / "empty")}
    (folder / "empty").mkdir()
    for program in ("sh", "grep"):
        inside[f"/bin/{program}"] = found = shutil.which(program) or program
        needed = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        inside |= {library: library for library in re.findall(r"(/\S+) \(0x", needed)}
    with tarfile.open(folder / "image.tar", "w", dereference=True) as tar:
        for place, file in inside.items():
            tar.add(file, place)
    steps = (["import", str(folder / "image.tar"), NAME], ["run", "--rm", "--network=none", NAME, "/bin/sh", "-c", ":"])
    for words in steps:
        done = subprocess.run([runtime, *words], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode:
            return f"{runtime}: {done.stderr.strip()[-200:]}"
    return ""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first of docker and podman that runs a container here; the image is made of this machine's own files."""
    faults = ["neither docker nor podman is there"]
    for name in ("docker", "podman"):
        if program := shutil.which(name):
            if not (fault := imported(program, tmp_path_factory.mktemp(name))):
                return program
            faults = [*faults[1:], fault]
    pytest.skip("; ".join(faults))


@pytest.fixture
def real(runtime: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARDROUND_CONTAINER_RUNTIME", runtime)
    return runtime


@pytest.mark.containers
def test_a_real_container_plays_with_no_network_no_rights_and_nothing_to_write_to(shell: Shell, real: str) -> None:
    doctor = f"container:{NAME} /bin/sh /agent.sh"
    assert shell("run", "--doctor", doctor, "--limit", "2", "--repeats", "1", "--name", "c") == 0, shell.err
    assert shell("replay", "c") == 0, shell.out
    assert shell("export", "c", "--to", "jsonl") == 0
    rows = [json.loads(line) for line in Path("c.jsonl").read_text().splitlines()]
    seen = [turn["thinking"] for row in rows for turn in row["turns"] if turn["seat"] == "doctor"]
    assert len(seen) >= 2
    assert {*seen} == {"1 no 0000000000000000"}
    assert left_over(real) == ""


@pytest.mark.containers
def test_a_real_container_that_hangs_is_ended_and_removed(shell: Shell, real: str) -> None:
    doctor = f"container:{NAME} /bin/sh /agent.sh hang"
    assert shell("run", "--doctor", doctor, "--limit", "1", "--repeats", "1", "--max-act-seconds", "2") == 3
    assert "no reply in time" in shell.err + shell.out
    assert left_over(real) == ""


@pytest.mark.containers
def test_an_image_without_the_program_is_refused_before_the_run(shell: Shell, real: str) -> None:
    assert shell("run", "--doctor", f"container:{NAME} /bin/nothing", "--limit", "1") == 2
    assert "does not start" in shell.err


def left_over(runtime: str) -> str:
    """The names of this package's containers that are still there after a while."""
    for _ in range(100):
        words = [runtime, "ps", "--all", "--filter=name=wardround-", "--format={{.Names}}"]
        names = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        if not names:
            return ""
        time.sleep(0.2)
    return names
