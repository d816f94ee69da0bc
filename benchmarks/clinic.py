"""Measures the CPU of a doctor's call in a real work-up: bundled cases, the record examiner, a scripted model."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import anyio

import wardround
from benchmarks.bare import bare
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured, measuring
from benchmarks.server import served
from wardround.engine.records import Message

AT_ONCE = 200
DOCTOR, OTHER = f"scripted/{__name__}:reply", f"scripted/{__name__}:other_reply"
REPLIES = (
    "Rationale: the examination comes first.\nAction: PE",
    "Rationale: look for inflammation and the organs' function.\nAction: LAB",
    "Rationale: inflammation and organ function.\nLab Tests: complete blood count, CRP, creatinine, sodium, potassium, "
    "ALT, AST, total bilirubin, lipase, troponin T, lactate, INR",
    "Rationale: look at the belly and the chest.\nAction: IMAGE",
    "Rationale: the belly and the chest.\nImaging scans: CT abdomen and pelvis with contrast, chest x-ray, ultrasound "
    "of the right upper quadrant",
    "Rationale: look for an infection.\nMicrobiology tests: blood culture, urine culture",
    "Rationale: what is left of the blood work.\nLab Tests: urinalysis, TSH, albumin, D-dimer",
    "Rationale: sure enough.\nAction: OUTPUT",
    "Diagnosis: acute appendicitis",
)
"""The doctor's replies, one for each of its turns; each is one call."""


def reply(messages: Sequence[Message], purpose: str) -> str:
    """The doctor's next reply, by the number of replies so far."""
    del purpose
    return REPLIES[sum(message.role == "assistant" for message in messages)]


def other_reply(messages: Sequence[Message], purpose: str) -> str:
    """The same replies with another diagnosis, so that no cache knows the texts of the measured episodes."""
    return reply(messages, purpose).replace("acute appendicitis", "severe bilateral pneumonia")


def real(quick: bool) -> Sequence[Figure]:
    """The CPU of a doctor's call, in milliseconds and as a ratio to a call of the bare loop without latency."""
    repeats, turns = (12, 2) if quick else (70, 5)
    load = Load(episodes=400, latency=0.0)
    pairs = []
    with served(0.0) as server:
        for _ in range(turns):
            pairs.append((anyio.run(bare, load, server.url), anyio.run(clinic, repeats)))
    each = [played.cpu / played.more["calls"] * 1000 for _, played in pairs]
    beside = [one / (loop.cpu / load.total * 1000) for one, (loop, _) in zip(each, pairs, strict=True)]
    note = f"{pairs[0][1].more['calls']:,.0f} calls; {median(beside):.2f} of a call of the bare loop"
    return (of_runs("real: CPU a doctor's call of workup", each, unit="ms", at_most=0.45, note=note),)


async def clinic(repeats: int) -> Measured:
    """Play `repeats` episodes of each bundled case; raises RuntimeError if one does not end as it should."""
    with tempfile.TemporaryDirectory() as folder:
        store = wardround.open_store(Path(folder) / "bench.db")
        # The vocabulary of the look-ups is read once in a process, however long a run is.
        await wardround.run("bundled", store=store, name="warm", concurrency=AT_ONCE, preflight=False, doctor=DOCTOR)
        with measuring() as measured:
            run = await wardround.run(
                "bundled", store=store, name="r", repeats=repeats, concurrency=AT_ONCE, preflight=False, doctor=DOCTOR
            )
        rows = await run.episodes()
        if ends := {row.cause for row in rows} - {"completed"}:
            raise RuntimeError(f"episodes ended by {', '.join(sorted(map(str, ends)))}")
        measured.more["calls"] = float(len(rows) * len(REPLIES))
        await store.aclose()
    return measured
