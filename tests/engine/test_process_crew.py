"""A crew of workers that are processes of this machine: what is reported of each, and that none is left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from until import until_there

from wardround.engine.cluster import WorkerReport
from wardround.engine.errors import UsageError
from wardround.engine.process_crew import ProcessCrew, process_crew


def runs(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def until(crew: ProcessCrew, kind: str) -> WorkerReport:
    """The next report of one kind."""
    while (report := await crew.next()).kind != kind:
        pass
    return report


@pytest.mark.long
async def test_what_becomes_of_workers_is_reported(capfd: pytest.CaptureFixture[str]) -> None:
    whats = {1: "greet", 2: "refuse", 3: "vanish"}
    handler = signal.getsignal(signal.SIGTERM)
    async with process_crew("errands:errand") as crew:
        for place, what in whats.items():
            await crew.start(place, {"what": what, "secret": "hunter2-and-more"})
        ended: dict[str, WorkerReport] = {}
        while len(ended) < len(whats):
            report = await crew.next()
            if report.kind != "started":
                ended[whats[report.place]] = report
        await crew.start(2, {"what": "wait"})
        waiting = await until(crew, "started")
        assert runs(waiting.pid)
    assert not runs(waiting.pid), "leaving the block ends what still runs"
    assert ended["greet"].kind == "finished"
    assert ended["greet"].result["letters"] == len("hunter2-and-more")
    assert (ended["refuse"].kind, ended["refuse"].error) == ("failed", "UsageError")
    assert ended["refuse"].text == "this errand is refused, key [hidden]"
    assert (ended["vanish"].kind, ended["vanish"].text) == ("died", "its process ended with code 4")
    assert signal.getsignal(signal.SIGTERM) == handler
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
async def test_a_killed_worker_has_died_and_its_place_can_be_taken() -> None:
    async with process_crew("errands:errand") as crew:
        await crew.start(1, {"what": "wait"})
        os.kill((await until(crew, "started")).pid, signal.SIGKILL)
        assert (await crew.next()).text == "its process ended with code -9"
        await crew.start(1, {"what": "greet"})
        assert (await until(crew, "finished")).place == 1


@pytest.mark.long
async def test_an_error_of_the_block_is_raised_as_itself() -> None:
    async def fail() -> None:
        async with process_crew("errands:errand") as crew:
            await crew.start(1, {"what": "wait"})
            raise UsageError("as itself")

    with pytest.raises(UsageError, match="as itself"):
        await fail()


@pytest.mark.long
def test_workers_end_with_the_process_that_started_them() -> None:
    code = """if True:
        import anyio
        from wardround.engine.process_crew import process_crew
        async def main():
            async with process_crew("errands:errand") as crew:
                await crew.start(1, {"what": "wait"})
                print((await crew.next()).pid, flush=True)
                await anyio.sleep(600)
        anyio.run(main)
    """
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=_environment()) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert runs(worker)
        parent.kill()
        until_there(lambda: not runs(worker))


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1] / "support")}
