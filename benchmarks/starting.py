"""Measures what the command line costs before it does anything large: `--help`, and the verbs on a one-episode run."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.figure import Figure, of_runs

VERBS: dict[str, Sequence[str]] = {
    "run": ("run", "--scenario", "workup", "--doctor", "gold", "--limit", "1"),
    "score": ("score", "r0"),
    "report": ("report", "r0"),
}


def start(quick: bool) -> Sequence[Figure]:
    """Measure the CPU of new processes, with their threads, compared with that of a Python that does nothing."""
    turns = 2 if quick else 5
    spent: dict[str, list[float]] = {"python": [], "--help": [], **{verb: [] for verb in VERBS}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for turn in range(-1, turns):  # once before, so that the bytecode is written
            commands = {
                "python": ["-c", "pass"],
                "--help": ["-m", "wardround", "--help"],
                **{
                    verb: ["-m", "wardround", *words, *(["--name", f"r{turn + 1}"] if verb == "run" else [])]
                    for verb, words in VERBS.items()
                },
            }
            for what, words in commands.items():
                cpu = _cpu([*words, *(["--store", str(folder / "bench.db")] if what in VERBS else [])], folder)
                if turn >= 0:
                    spent[what].append(cpu)
    bare = median(spent["python"])
    note = f"{median(spent['--help']) * 1000:.0f} ms beside {bare * 1000:.0f}"
    helped = [one / bare for one in spent["--help"]]
    figures = [of_runs("wardround --help, CPU", helped, unit="of a bare Python start", at_most=6.0, note=note)]
    for verb in VERBS:
        note = f"{median(spent[verb]) / bare:.0f} of a bare Python start"
        figures.append(of_runs(f"wardround {verb}, one episode, CPU", spent[verb], unit="s", at_most=0.6, note=note))
    return figures


def _cpu(words: Sequence[str], folder: Path) -> float:
    """Return the seconds of CPU that a new process takes."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, env=environment, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime
