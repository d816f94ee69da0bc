"""The export to Inspect: what its header counts, and when the run began and ended."""

import io
import json
import zipfile
from pathlib import Path

from clinic import WORKUP, case_file

from wardround.engine.records import Action
from wardround.exchange.inspect_log import write_inspect_log
from wardround.faces.driven_run import DrivenRun
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore


async def test_an_open_episode_is_not_complete_and_the_run_ends_with_the_last_of_all(tmp_path: Path) -> None:
    """Of three episodes that are played at once the first ends last, and the third stays open."""
    cases = str(case_file(tmp_path / "c.jsonl", 3))
    driven = await DrivenRun.begin(RunSettings(cases=cases, preflight=False), MemoryStore())
    first, second, _ = [await driven.start() for _ in range(3)]
    for episode in (second, first):
        for line in WORKUP:
            await episode.act(Action("reply", line))
    await driven.aclose()
    file = io.BytesIO()
    assert await write_inspect_log(driven.run, "doctor", file) == 3
    with zipfile.ZipFile(file) as archive:
        header, summaries = (json.loads(archive.read(name)) for name in ("header.json", "summaries.json"))
        samples = [json.loads(archive.read(f"samples/case-00{n}_epoch_1.json")) for n in range(3)]
    assert (header["results"]["total_samples"], header["results"]["completed_samples"]) == (3, 2)
    assert [one["completed"] for one in summaries] == [True, True, False]
    assert summaries[2]["error"] == "the episode is open"
    stamps = {name: [one[name] for one in samples] for name in ("started_at", "completed_at")}
    assert header["stats"]["started_at"] == min(stamps["started_at"])
    assert header["stats"]["completed_at"] == max(stamps["completed_at"]) == samples[0]["completed_at"]


async def test_a_run_of_which_nothing_was_played_has_no_times(tmp_path: Path) -> None:
    cases = str(case_file(tmp_path / "c.jsonl", 1))
    driven = await DrivenRun.begin(RunSettings(cases=cases, preflight=False), MemoryStore())
    await driven.aclose()
    file = io.BytesIO()
    assert await write_inspect_log(driven.run, "doctor", file) == 0
    with zipfile.ZipFile(file) as archive:
        stats = json.loads(archive.read("header.json"))["stats"]
    assert (stats["started_at"], stats["completed_at"]) == ("", "")
