"""A doctor that names the truth and another disease in one encounter: the answer is the one that it ends with."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import wardround
from wardround.engine.records import Message
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.summary import summarise
from wardround.scenarios.loaders.load import bundled, case_line, load
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

TRUTH, OTHER = "Acute appendicitis", "Gout"
THOUGHT = "### Chain of Thought:\n<step 1> It is so.\n\n"
ASKS = "### Additional Information Required:\nWhite blood cells?\n\n"
ENOUGH = "### Additional Information Required:\nNot required.\n\n"
ENOUGH_REPLIES = 30
"""More than any scenario has turns, so that no recording ends early."""


def ends(answer: str) -> str:
    return f"### Conclusion:\n{answer}"


TURNS: Mapping[str, tuple[str, Sequence[str], float]] = {
    "free-turn: the truth, then another": (
        "free-turn",
        [THOUGHT + ASKS + ends(TRUTH), THOUGHT + ENOUGH + ends(OTHER)],
        0,
    ),
    "free-turn: another, then the truth": (
        "free-turn",
        [THOUGHT + ASKS + ends(OTHER), THOUGHT + ENOUGH + ends(TRUTH)],
        1,
    ),
    "free-turn: the truth, then nothing": ("free-turn", [THOUGHT + ASKS + ends(TRUTH), THOUGHT + ENOUGH + ends("")], 0),
    "free-turn: the truth, then noise": ("free-turn", [THOUGHT + ASKS + ends(TRUTH), "hm"], 0),
    "free-turn: the truth, then a pointer to it": (
        "free-turn",
        [THOUGHT + ASKS + ends(TRUTH), THOUGHT + ENOUGH + ends("As before")],
        0,
    ),
    "free-turn: both in one reply": ("free-turn", [f"{THOUGHT}{ENOUGH}{ends(TRUTH)}\n\n{ends(OTHER)}"], 0),
    "one-turn: the truth, then another": (
        "one-turn",
        [THOUGHT + ASKS + ends(TRUTH), THOUGHT + ENOUGH + ends(OTHER)],
        0,
    ),
    "one-turn: another, then the truth": (
        "one-turn",
        [THOUGHT + ASKS + ends(OTHER), THOUGHT + ENOUGH + ends(TRUTH)],
        1,
    ),
    "workup: the truth as the reason": (
        "workup",
        [f"Rationale: it is {TRUTH}\nAction: OUTPUT", f"Diagnosis: {OTHER}"],
        0,
    ),
    "workup: the truth beside an order": (
        "workup",
        [
            f"Rationale: so\nDiagnosis: {TRUTH}\nAction: LAB",
            "Rationale: so\nLab Tests: Hemoglobin",
            "Rationale: so\nAction: OUTPUT",
            f"Diagnosis: {OTHER}",
        ],
        0,
    ),
    "workup: both in one reply": (
        "workup",
        ["Rationale: so\nAction: OUTPUT", f"Diagnosis: {TRUTH}\nDiagnosis: {OTHER}"],
        0,
    ),
    "consultation: the truth as a question": ("consultation", [f"ASK: could it be {TRUTH}?", f"DIAGNOSIS: {OTHER}"], 0),
    "consultation: both in one reply": ("consultation", [f"DIAGNOSIS: {TRUTH}\nDIAGNOSIS: {OTHER}"], 0),
    "oracle: two answers": (
        "oracle",
        [f"### Reasoning:\n<step 1> So.\n\n### Answer:\n{TRUTH}\n\n### Answer:\n{OTHER}"],
        0,
    ),
}


@pytest.fixture(name="cases")
def _cases(tmp_path: Path) -> Path:
    """A file of the bundled case whose diagnosis is the truth of this module."""
    case = next(case for path in bundled() for case in load(path) if case.truth.diagnosis == TRUTH)
    written = tmp_path / "cases.jsonl"
    written.write_text(case_line(case) + "\n", encoding="utf-8")
    return written


async def accuracy(cases: Path, scenario: str, doctor: str) -> float | None:
    store = MemoryStore()
    run = await wardround.run(cases, scenario, doctor=doctor, store=store, preflight=False, repeats=1)
    found = summarise((await score_run(run, [Standard()])).episodes).score("diagnosis_accuracy")
    await store.aclose()
    assert found is not None
    return found.mean


@pytest.mark.parametrize("turns", TURNS)
async def test_the_last_answer_counts(turns: str, cases: Path, tmp_path: Path) -> None:
    scenario, replies, right = TURNS[turns]
    recorded = tmp_path / "replies.json"
    every = [*replies, *[replies[-1]] * ENOUGH_REPLIES]
    recorded.write_text(json.dumps({case.id: every for case in load(cases)}), encoding="utf-8")
    assert await accuracy(cases, scenario, f"replies:{recorded}") == right


def say(messages: Sequence[Message], purpose: str) -> str:
    """What the role's prompt tells it to say."""
    return messages[0].content.partition("Say: ")[2].partition("\n")[0]


@pytest.mark.parametrize(
    ("roles", "last", "right"),
    [(TRUTH, OTHER, 0), (OTHER, TRUTH, 1), (TRUTH, "as my colleague says", 0), (TRUTH, "see above", 0)],
)
async def test_a_team_answers_by_its_last_role(
    roles: str, last: str, right: float, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    team = tmp_path / "team.toml"
    team.write_text(
        "".join(
            f'[roles.{name}]\nprompt = """Say: DIAGNOSIS: {said}\n"""\nmodel = "scripted/test_last_answer:say"\n'
            for name, said in (("one", roles), ("two", roles), ("writer", last))
        )
        + '[[steps]]\nroles = ["one", "two"]\n[[steps]]\nroles = ["writer"]\n',
        encoding="utf-8",
    )
    assert await accuracy(cases, "consultation", f"team:{team}") == right
