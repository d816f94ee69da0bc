"""A doctor that says the same lines to everyone: a class of the engine, a process, and the words of clients."""

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
    """The line after `taken` turns."""
    return LINES[min(taken, len(LINES) - 1)]


class Lines:
    """The doctor within the engine."""

    async def act(self, view: View) -> Action:
        """The next line."""
        return Action("reply", line(sum(said.seat == view.seat for said in view.heard)))


def main() -> None:
    """The doctor as a process."""
    sys.stdin.readline()
    for text in sys.stdin:
        view = json.loads(text)["view"]
        taken = sum(said["seat"] == view["seat"] for said in view["heard"])
        print(json.dumps({"text": line(taken)}), flush=True)


if __name__ == "__main__":
    main()
