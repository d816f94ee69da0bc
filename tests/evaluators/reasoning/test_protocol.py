"""The lines of a game's protocol are told from what a doctor says beside them."""

import pytest
from clinic import LINES

from wardround.evaluators.reasoning.conclusion import gives_reasons, without_protocol
from wardround.evaluators.reasoning.steps import ReplyContext, split

ANSWERS = {"treatment": "Laparoscopic appendicectomy"}
ANSWER = "Acute appendicitis"


@pytest.mark.parametrize("rules", ["default", "published"])
@pytest.mark.parametrize(
    ("scenario", "text", "asking", "steps"),
    [
        ("workup", "Rationale: fever.\nAction: LAB", True, ("fever.",)),
        ("workup", "**Rationale:** fever.\n\n**Action:** LAB", True, ("fever.",)),
        ("workup", "### Rationale\nfever.\n### Action\nLAB", True, ("fever.",)),
        ("workup", "The fever is high. Action: PE", True, ("The fever is high.",)),
        ("workup", "Action: OUTPUT", True, ()),
        ("workup", "Rationale: these.\nLab Tests: White Blood Cells, Lipase", True, ("these.",)),
        ("workup", "Rationale: these.\n**Lab Tests:**\n- WBC\n- Lipase\n\nThey tell.", True, ("these.", "They tell.")),
        ("workup", "Labs: CBC, CMP", True, ()),
        ("workup", "Imaging scans: CT of the abdomen", True, ()),
        ("workup", "Rationale: high.\nLab Tests: WBC 15\nAction: IMAGE", True, ("high.", "Lab Tests: WBC 15")),
        ("workup", "Diagnosis: Acute appendicitis", False, ()),
        ("workup", "Rationale: it fits.\nDiagnosis: Acute appendicitis\nTreatment: an operation", False, ("it fits.",)),
        ("workup", "Diagnosis:\nAcute appendicitis", False, ()),
        ("consultation", "REQUEST TEST: CT_Abdomen", True, ()),
        ("consultation", "I suspect it. REQUEST TEST: CT_Abdomen", True, ("I suspect it.",)),
        ("consultation", "The pain moved.\nORDER: CT, CBC", True, ("The pain moved.",)),
        ("consultation", "order: CT", True, ()),
        ("consultation", "ASK: Since when does it hurt?", True, ()),
        ("consultation", "How long have you had the pain?", True, ()),
        ("consultation", "DIAGNOSIS READY: Acute appendicitis", False, ()),
        ("consultation", "The pain moved. DIAGNOSIS READY: Acute appendicitis", False, ("The pain moved.",)),
        ("consultation", "DIAGNOSIS: Acute appendicitis\n\na\n\nb", False, ("a", "b")),
        ("oracle", "Acute appendicitis", False, ()),
        ("oracle", "**Acute appendicitis.**", False, ()),
        ("oracle", "### Answer:\nAcute appendicitis", False, ()),
        ("one-turn", "### Conclusion:\nunclear\n\n### Additional Information Required:\n1. CT", True, ()),
        ("free-turn", "### Additional Information Required:\nNot required.\n\n### Conclusion:\nGout", False, ()),
        ("treatment", "### Answer:\nRest", False, ()),
        ("treatment", "The mechanism of action: it inhibits.", False, ("The mechanism of action: it inhibits.",)),
    ],
)
def test_what_is_left_of_a_reply(rules: str, scenario: str, text: str, asking: bool, steps: tuple[str, ...]) -> None:
    found = split(
        text, rules="published" if rules == "published" else "default", played=ReplyContext(scenario, asking, ANSWER)
    )
    assert found.steps == steps
    assert found.reason == ("" if steps else "no_reasoning")


@pytest.mark.parametrize("scenario", LINES)
def test_the_formats_of_all_games(scenario: str) -> None:
    """No step of a reply in the format that the game asks for is a request or an answer."""
    lines = LINES[scenario]
    for place, text in enumerate(lines):
        played = ReplyContext(scenario, place < len(lines) - 1, ANSWERS.get(scenario, ANSWER))
        for step in split(text, played=played).steps:
            assert step.casefold() not in {played.answer.casefold(), "lab", "pe"}
            assert not any(word in step for word in ("Action", "Diagnosis", "ORDER", "ASK", "Lab Tests", "###"))


@pytest.mark.parametrize(
    "line",
    [
        "Diagnosis: gout, because the joint is red.",
        "Action: LAB, since the cells may be raised",
        "ORDER: CT because the belly is hard",
        "DIAGNOSIS READY: gout, as evidenced by the crystals",
    ],
)
def test_a_line_that_says_why_stays(line: str) -> None:
    assert gives_reasons(line)
    assert without_protocol(line, "workup") == line


def test_a_list_in_the_reasoning_is_no_order() -> None:
    said = "Lab tests: WBC 15.2 and CRP 80.\nImaging: a thick appendix."
    assert without_protocol(said, "oracle") == without_protocol(said, "workup") == said
