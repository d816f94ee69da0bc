"""The adapters of whole dialogues: our scenarios decide as the published loops do, on recorded and on made-up rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny import TABLES

from conformance.compare import agrees, same
from conformance.loops import consultation, consulted, decided, staged
from conformance.vector import Vector, vectors
from wardround.scenarios.parsers import published
from wardround.scenarios.published.imaging_words import Absent

SUMMARY = "- Complaint: pain\n- Ancillary Tests:\n  - CT: dilated appendix"


def clinic(replies: list[Any], moderator: list[Any] | None = None, total: int = 5) -> Any:
    given = {"doctor_replies": replies, "moderator_replies": ["Yes"] if moderator is None else moderator}
    return consultation(Vector(0, "decision", {**given, "total_inferences": total}, None), TABLES)


def spoken(replies: list[str], moderator: str, total: int) -> dict[str, Any]:
    """What the published loop does, written down from its description: the oracle of the tests below."""
    speakers: list[str] = []
    for reply in replies[:total]:
        speakers.append("doctor")
        if "DIAGNOSIS READY" in reply:
            return {"speakers": [*speakers, "moderator"], "correct": moderator.lower() == "yes"}
        speakers.append("measurement" if "REQUEST TEST" in reply else "patient")
    return {"speakers": speakers, "correct": None}


CLINIC = [
    "How long?",
    "REQUEST TEST: Chest_CT",
    "request test: EMG",
    "Request Test: EMG",
    "DIAGNOSIS READY: gout",
    "diagnosis ready: gout",
    "DIAGNOSIS READY",
    "REQUEST TEST: EMG then DIAGNOSIS READY: MG",
    "REQUEST TEST",
    "REQUEST IMAGES",
    "It is gout. DIAGNOSIS: gout",
    "ORDER: CT\nASK: why?",
    "",
    "  ",
    "你好",
]


@given(
    st.lists(st.sampled_from(CLINIC), min_size=6, max_size=6),
    st.sampled_from(["Yes", "yes", "YES", "Yes.", "No", "yes, the same", "", " yes"]),
    st.integers(1, 6),
)
def test_a_consultation_is_decided_as_published(replies: list[str], moderator: str, total: int) -> None:
    assert clinic(replies, [moderator], total) == spoken(replies, moderator, total)


@pytest.mark.parametrize(
    ("told", "speakers", "correct"),
    [
        (clinic(["a", "b"], total=2), ["doctor", "patient"] * 2, None),
        (clinic(["a", "REQUEST TEST: CT"], total=2), ["doctor", "patient", "doctor", "measurement"], None),
        (clinic(["x DIAGNOSIS READY: y"], ["Yes."], 1), ["doctor", "moderator"], False),
        (clinic([None, "DIAGNOSIS READY: y"]), ["doctor", "patient", "doctor", "moderator"], True),
    ],
)
def test_turns_of_a_consultation(told: Any, speakers: list[str], correct: bool | None) -> None:
    assert told == {"speakers": speakers, "correct": correct}


def test_what_a_consultation_lacks_is_a_typed_reason() -> None:
    for replies, moderator, total, reason in [
        (["a"], ["Yes"], 5, "no_reply"),
        (["DIAGNOSIS READY: y"], [], 5, "no_reply"),
        (["a"], ["Yes"], 0, "no_turn"),
    ]:
        with pytest.raises(Absent) as absent:
            clinic(list(replies), list(moderator), total)
        assert absent.value.reason == reason


def test_a_verdict_that_was_not_printed_is_none() -> None:
    row = Vector(0, "decision", {}, None)
    for printed, correct in [([], None), (["was  CORRECT 100"], True), (["was  INCORRECT 0"], False)]:
        told = consulted({"speaker_order": ["doctor"], "printed_verdict": printed}, row)
        assert told == {"speakers": ["doctor"], "correct": correct}


def ask(wanted: str, conclusion: str = "u") -> str:
    return f"### Additional Information Required:\n{wanted}\n\n### Conclusion:\n{conclusion}"


def first(wanted: str) -> str:
    return f"### Conclusion:\nu\n\n### Additional Information Required:\n{wanted}"


REPORTS = [
    ask("1. CT"),
    ask("Not required.", "Appendicitis"),
    ask("not required", "Appendicitis"),
    ask("CT. An X-ray is Not required."),
    ask("", "x"),
    ask("Not required.", ""),
    f"```\n{ask('CBC')}\n```",
    first("1. CT"),
    first("Not required."),
    "### Conclusion:\nAppendicitis",
    "no heading at all",
    "```",
    "",
    "## Additional information required\nCT\n## Conclusion\nx",
    "<think>\nhm\n</think>\n" + ask("Ultrasound"),
]


def report(protocol: str, replies: list[Any], instance: Any = None, **expected: Any) -> Any:
    instance = {"generate_case": {"case_summary": SUMMARY}} if instance is None else instance
    given = {"protocol": protocol, "instance": instance, "doctor_replies": replies, "case": expected.pop("case", "")}
    return staged(Vector(0, "decision", given, expected or EVERY[protocol]), TABLES)


EVERY: dict[str, dict[str, Any]] = {
    "free_turn": {
        "model_calls": 0,
        "patient_inputs": [],
        "message_counts": [],
        "output_file": {"deepseek_messages": [{"role": "assistant", "content": ""}], "turns": 1},
    },
    "one_turn": {
        "model_calls": 0,
        "patient_inputs": [],
        "message_counts": [],
        "output_file": {"output_messages": [{"role": "assistant", "content": ""}]},
    },
}


def behind(reply: str) -> str:
    return reply.rpartition("</think>")[2].replace("```", "").strip()


def free(replies: Iterator[str]) -> dict[str, Any]:
    """The published free-turn loop, written down from its description."""
    calls, asked, said, messages, answer = 0, list[str](), list[str](), list[int](), None
    while calls < 5:
        calls += 1
        messages.append(2 * calls)
        reply = behind(next(replies))
        if not reply:
            break
        said.append(reply)
        try:
            conclusion, wanted = published.published_sections(reply, "free_turn")
        except Absent:
            break
        if "Not required" in wanted or calls == 5:
            answer = conclusion or None
            break
        asked.append(wanted)
    told = [f"Result {number}" for number in range(1, len(messages))]
    return {"calls": calls, "asked": asked, "messages": messages, "told": told, "turns": calls, "answer": answer}


def one(replies: Iterator[str]) -> dict[str, Any]:
    """The published one-turn loop: up to three times all over."""
    calls, asked, messages, told = 0, list[str](), list[int](), list[str]()
    for _ in range(3):
        calls += 1
        messages.append(2)
        reply = behind(next(replies))
        try:
            _, wanted = published.published_sections(reply, "one_turn")
        except Absent:
            continue
        asked.append(wanted)
        calls += 1
        messages.append(4)
        if behind(next(replies)):
            told = [f"Result {len(asked)}"]
            return {"calls": calls, "asked": asked, "messages": messages, "told": told, "lost": False}
    return {"calls": calls, "asked": asked, "messages": messages, "lost": True}


@given(st.lists(st.sampled_from(REPORTS), min_size=6, max_size=6))
def test_free_turns_are_decided_as_published(replies: list[str]) -> None:
    assert same(free(iter(replies)), report("free_turn", replies))


@given(st.lists(st.sampled_from(REPORTS), min_size=6, max_size=6))
def test_one_turn_is_decided_as_published(replies: list[str]) -> None:
    assert same(one(iter(replies)), report("one_turn", replies))


def test_what_the_row_does_not_record_is_not_compared() -> None:
    assert report("one_turn", ["x"] * 3, model_calls=9) == {"calls": 3}
    assert report("one_turn", ["x"] * 3, output_file=None) == {"lost": True}


def test_a_patient_that_fails_ends_the_dialogue() -> None:
    told = report("free_turn", [ask("CT"), ask("Not required.", "x")], case="patient dies", **EVERY["free_turn"])
    assert (told["calls"], told["asked"], told["turns"], told["answer"]) == (1, ["CT"], 1, None)


def test_a_report_without_tests_is_not_played() -> None:
    for protocol in ("one_turn", "free_turn"):
        told = report(protocol, [], {"generate_case": {"case_summary": "- Complaint: pain"}}, model_calls=0)
        assert told == {"calls": 0}


def test_the_games_of_one_reply_take_it_as_it_is() -> None:
    assert report("oracle", ["no heading"], model_calls=1, output_file={}) == {"calls": 1, "lost": False}
    assert report("treatment", ["### Answer:\nrest"], model_calls=1, output_file={}) == {"calls": 1, "lost": False}
    assert report("oracle", [""], model_calls=1, output_file=None) == {"calls": 1, "lost": True}


@pytest.mark.parametrize(
    ("protocol", "replies", "instance", "reason"),
    [
        ("two_turn", ["x"], None, "unknown_protocol"),
        ("free_turn", ["x"], {}, "no_summary"),
        ("free_turn", [ask("CT")], None, "no_reply"),
        ("one_turn", [], None, "no_reply"),
    ],
)
def test_what_cannot_be_played_is_a_typed_reason(protocol: str, replies: list[str], instance: Any, reason: str) -> None:
    with pytest.raises(Absent) as absent:
        report(protocol, replies, instance, model_calls=1)
    assert absent.value.reason == reason
    with pytest.raises(Absent) as absent:
        staged(Vector(0, "defect", {"protocol": "oracle", "instance": {}}, "nothing"), TABLES)
    assert absent.value.reason == "no_summary"


@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [("agentclinic_loop", consultation, consulted), ("medr_inference_loops", staged, decided)],
)
def test_recorded_dialogues_agree_those_of_defects_too(shared: Path, name: str, ours: Any, theirs: Any) -> None:
    rows = vectors(shared / "vectors" / f"{name}.json")
    assert rows
    for row in rows:
        recorded = Vector(row.number, "decision", row.input, theirs(row.expected, row))
        told = ours(row, TABLES)
        assert told
        assert agrees(told, recorded), row.number
