"""The replies of an episode, and what their author knew by then."""

from pathlib import Path
from typing import Any

import pytest
from clinic import LINES, case_file
from examples import first_rows
from graded import case, completed, trajectory

import wardround
from wardround import Action, View
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.reasoning.doctor_replies import can_ask, replies
from wardround.scenarios.case import Finding
from wardround.testing.memory_store import MemoryStore


def told(seat: str, text: str, **args: Any) -> tuple[str, Action]:
    return seat, Action("answer", text, args)


async def test_what_is_told_is_known_from_then_on() -> None:
    played = trajectory(
        ("doctor", Action("reply", "Order: WBC", thinking="Hm.")),
        told("examiner", "WBC: 15"),
        ("doctor", Action("reply", "Order: CT")),
        told("examiner", "", answers=[{"text": "CT: thick"}, {"text": "CT: thick"}, {"text": "US: nothing"}]),
        ("doctor", Action("reply", "Appendicitis")),
        ending=completed(),
    )
    found = replies(case(), played)
    assert [(reply.turn, reply.seq, reply.stage, reply.text) for reply in found] == [
        (1, 1, "examination", "Order: WBC"),
        (2, 3, "examination", "Order: CT"),
        (3, 5, "conclusion", "Appendicitis"),
    ]
    assert [reply.thinking for reply in found] == ["Hm.", "", ""]
    opening = found[0].known
    assert "Pain in the right lower belly." in opening
    assert "15.2" not in opening
    assert [reply.known.removeprefix(opening) for reply in found] == [
        "",
        "\nWBC: 15",
        "\nWBC: 15\nCT: thick\nUS: nothing",
    ]


async def test_where_nobody_can_be_asked_the_whole_report_is_known() -> None:
    played = trajectory(("doctor", Action("reply", "Gout")), scenario="oracle", ending=completed())
    (reply,) = replies(case(examination=(Finding(section="Abdomen", text="Tender."),)), played)
    assert reply.stage == "conclusion"
    for words in ("Pain in the right lower belly.", "Tender.", "15.2", "Thick appendix."):
        assert words in reply.known
    assert "Appendicitis" not in reply.known
    assert not can_ask(played)


async def test_an_answer_in_arguments_alone_has_no_words_and_no_request_is_taken_for_it() -> None:
    conclude = Action("conclude", args={"diagnosis": "Appendicitis"})
    asked = ("doctor", Action("order", "I want a CT."))
    played = trajectory(asked, told("examiner", "It is thick."), ("doctor", conclude), ending=completed())
    found = replies(case(), played)
    assert [(reply.stage, reply.text, reply.typed) for reply in found] == [
        ("examination", "I want a CT.", False),
        ("conclusion", "", True),
    ]


async def test_silence_after_an_answer_is_an_empty_conclusion() -> None:
    asked, silent = ("doctor", Action("reply", "A CT.")), ("doctor", Action("reply", " "))
    found = replies(case(), trajectory(asked, told("patient", "It is thick."), silent, ending=completed()))
    assert [(reply.stage, reply.text) for reply in found] == [("examination", "A CT."), ("conclusion", " ")]


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (("",), [("conclusion", "")]),
        (("A CT.", " \n"), [("conclusion", "A CT.")]),
        (("", "A CT.", "", "Gout."), [("conclusion", "Gout.")]),
        (("", "Action: LAB", "", "Gout."), [("examination", "Action: LAB"), ("conclusion", "Gout.")]),
    ],
)
async def test_silence_counts_at_the_end_alone(texts: tuple[str, ...], found: list[tuple[str, str]]) -> None:
    played = trajectory(*(("doctor", Action("reply", text)) for text in texts), ending=completed())
    assert [(reply.stage, reply.text) for reply in replies(case(), played)] == found


async def test_without_a_doctor_s_action_there_are_none() -> None:
    assert replies(case(), trajectory(told("patient", "It hurts."), scenario="one-turn", ending=completed())) == []


SENT_BACK = "I think about the fever, and about the CT, and forget the form."


@pytest.mark.parametrize(
    ("scenario", "said", "kept"),
    first_rows(
        [
            ("oracle", (SENT_BACK, LINES["oracle"][0]), [1]),
            ("treatment", (SENT_BACK, LINES["treatment"][0]), [1]),
            ("free-turn", (SENT_BACK, *LINES["free-turn"]), [1, 2]),
            ("one-turn", (LINES["one-turn"][0], SENT_BACK, LINES["one-turn"][1]), [0, 2]),
            (
                "one-turn",
                ("### Chain of Thought:\na\n\n### Conclusion:\nGout", SENT_BACK, LINES["one-turn"][1]),
                [0, 2],
            ),
            ("workup", (SENT_BACK, *LINES["workup"][:2], "Hm.", *LINES["workup"][2:]), [1, 2, 4, 5, 6]),
            ("workup", (*LINES["workup"][:4], "Action: LAB", LINES["workup"][4]), [0, 1, 2, 3, 5]),
            ("consultation", ("ASK:", *LINES["consultation"]), [1, 2, 3, 4]),
            ("oracle", (SENT_BACK, SENT_BACK), [1]),
        ],
        6,
    ),
)
async def test_what_was_sent_back_is_no_turn(
    scenario: str, said: tuple[str, ...], kept: list[int], tmp_path: Path
) -> None:
    doctor = type("Lines", (Says,), {"lines": said})
    run = await wardround.run(case_file(tmp_path / "c.jsonl", 1), scenario, doctor=doctor, store=MemoryStore())
    async for played in run:
        found = replies(await run.case(played.opened.case), played)
        assert [reply.text for reply in found] == [said[place] for place in kept]
        assert [reply.turn for reply in found] == list(range(1, len(kept) + 1))
        assert [reply.stage for reply in found] == ["examination"] * (len(kept) - 1) + ["conclusion"]


async def test_a_choice_is_read_as_the_game_read_it() -> None:
    turns = [("doctor", Action("reply", text)) for text in ("LABEL the tubes", "Lab Tests: CRP")]
    told_last = (*turns, told("examiner", "CRP: 80"), ("doctor", Action("reply", "Diagnosis: x\nTreatment: y")))
    played = trajectory(*told_last, ending=completed())
    assert len(replies(case(), played)) == 2
    settings = {"scenario": {"name": "workup", "settings": {"reading": "published"}}}
    as_published = Trajectory(played.events, {**played.header, **settings})
    assert replies(case(), as_published)[0].text == "LABEL the tubes"


class Says:
    """A doctor that says the lines of a scenario."""

    lines: tuple[str, ...] = ()

    async def act(self, view: View) -> Action:
        turn = view.memo or 0
        return Action("reply", self.lines[min(turn, len(self.lines) - 1)], thinking=f"Turn {turn}.", memo=turn + 1)


@pytest.mark.parametrize(
    ("scenario", "turns"),
    [("workup", 5), ("one-turn", 2), ("free-turn", 2), ("oracle", 1), ("treatment", 1), ("consultation", 4)],
)
async def test_replies_of_real_episodes(scenario: str, turns: int, tmp_path: Path) -> None:
    doctor = type("Lines", (Says,), {"lines": tuple(LINES[scenario])})
    run = await wardround.run(case_file(tmp_path / "c.jsonl", 1), scenario, doctor=doctor, store=MemoryStore())
    async for played in run:
        of = await run.case(played.opened.case)
        found = replies(of, played)
        assert [reply.turn for reply in found] == list(range(1, turns + 1))
        assert [reply.stage for reply in found] == ["examination"] * (turns - 1) + ["conclusion"]
        assert [reply.text for reply in found] == list(LINES[scenario][:turns])
        assert [reply.thinking for reply in found] == [f"Turn {turn}." for turn in range(turns)]
        assert [event.seq for event in played.acted("doctor")] == [reply.seq for reply in found]
        assert can_ask(played) == (turns > 1)
        assert ("14.2" in found[0].known) == (turns == 1)
        assert "14.2" in found[-1].known
        assert of.truth.treatment not in found[-1].known
