"""A doctor that says the same lines to everyone: as a class for the engine, as a process, and as lines for clients."""

import json
import sys

from wardround.engine.records import Action, View

LINES = (
    "Rationale: I want to examine first.\nAction: PE",
    "Rationale: and blood.\nAction: LAB",
    "Rationale: these.\nLab Tests: White Blood Cells, Lipase, CRP",
    "Rationale: enough.\nAction: OUTPUT",
    "Diagnosis: Acute appendicitis",
)


def line(taken: int) -> str:
    """Return the line after `taken` turns."""
    return LINES[min(taken, len(LINES) - 1)]


class Lines:
    """The doctor within the engine."""

    async def act(self, view: View) -> Action:
        """Say the next line."""
        return Action("reply", line(sum(said.seat == view.seat for said in view.heard)))


def main() -> None:
    """Run the doctor as a process."""
    sys.stdin.readline()
    for text in sys.stdin:
        view = json.loads(text)["view"]
        taken = sum(said["seat"] == view["seat"] for said in view["heard"])
        print(json.dumps({"text": line(taken)}), flush=True)


if __name__ == "__main__":
    main()
