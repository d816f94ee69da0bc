"""Small cases and a doctor's lines for tests that play real scenarios through a model."""

from collections.abc import Sequence
from pathlib import Path

from wardround.engine.records import Message
from wardround.scenarios.case import Case, Finding, Investigation, Lab, Provenance, Study, Truth

WORKUP = (
    "Rationale: I want to examine first.\nAction: PE",
    "Rationale: and blood.\nAction: LAB",
    "Rationale: these.\nLab Tests: White Blood Cells, Lipase",
    "Rationale: enough.\nAction: OUTPUT",
    "Diagnosis: Acute appendicitis",
)
STAGED = (
    "### Chain of Thought:\n<step 1> pain in the right lower quadrant\n\n### Conclusion:\nunclear\n\n"
    "### Additional Information Required:\n1. White Blood Cells\n2. CT of the abdomen\n",
    "### Chain of Thought:\n<step 1> it fits\n\n### Additional Information Required:\nNot required.\n\n"
    "### Conclusion:\nAcute appendicitis\n",
)
ORACLE = ("### Reasoning:\n<step 1> it fits\n\n### Answer:\nAcute appendicitis",)
CONSULTATION = (
    "ASK: Since when does it hurt?",
    "ORDER: White Blood Cells",
    "ASK: Any allergies?",
    "DIAGNOSIS: Acute appendicitis",
)
LINES = {
    "workup": WORKUP,
    "one-turn": STAGED,
    "free-turn": STAGED,
    "oracle": ORACLE,
    "treatment": ("### Chain of Thought:\n<step 1> operate\n\n### Answer:\nLaparoscopic appendicectomy",),
    "consultation": CONSULTATION,
    "sequential": CONSULTATION,
}


def lines(scenario: str, messages: Sequence[Message]) -> str:
    """The doctor's next line: it depends on the conversation alone."""
    said = LINES[scenario]
    return said[min(sum(message.role == "assistant" for message in messages), len(said) - 1)]


def case(number: int) -> Case:
    """One of many like cases; the opening differs, so that no two conversations are the same."""
    return Case(
        id=f"case-{number:03}",
        opening=f"A {20 + number % 60}-year-old, seen as number {number}, has had belly pain for {number} hours.",
        history={
            "History": f"It has hurt for {number} hours. It began around the navel.",
            "Allergies": "No allergies that I know of.",
            "Medications": "None.",
        },
        examination=(Finding(section="Abdomen", text=f"Tender in the right lower quadrant ({number})."),),
        labs=(
            Lab(name="White Blood Cells", item_id=51301, value="14.2", unit="K/uL", low=4, high=11, flag="high"),
            Lab(name="Lipase", item_id=50956, value="22", unit="IU/L", low=0, high=60, flag="normal"),
        ),
        imaging=(
            Study(exam="CT of the abdomen", modality="CT", region="Abdomen", report="A thick, blind tube of 11 mm."),
        ),
        investigations=(Investigation(name="Urine dipstick", text="Negative."),),
        truth=Truth(
            diagnosis="Acute appendicitis" if number % 2 else "Ureteric stone",
            treatment="Laparoscopic appendicectomy",
        ),
        group="appendicitis" if number % 2 else "stone",
        provenance=Provenance(source="tests"),
        data_class="public",
    )


def case_file(path: Path, count: int) -> Path:
    """A file of cases."""
    path.write_text("".join(case(number).model_dump_json() + "\n" for number in range(count)))
    return path
