"""Ask the record patient the questions of `tests/data/patient_questions.csv` and label its answers.

    python -m scripts.measure_patient [--part PART] [--show] [--data ../shared/data]
    python -m scripts.measure_patient --ask QUESTIONS.csv --out ANSWERS.csv

The second form asks the questions of a file (case, question, answerable) and writes each with its answer, for readers.

The cases are AgentClinic's, CRAFT-MD's and MedR-Bench's, read where they lie. Rubric: a question with `expects` is
answered by the record; its answer is apt if the pattern is found in it and it speaks as a patient, evasive if it is a
don't-know, else wrong. A question without `expects` is not answered by the record; its answer is honest if it is a
don't-know and says nothing else.
"""

import argparse
import asyncio
import csv
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wardround.agents.patient import Patient
from wardround.engine.records import Said, View
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load

QUESTIONS = Path("tests/data/patient_questions.csv")
SILENT = re.compile(
    r"\bI (?:really )?(?:don't|do not|couldn't|can't) (?:know|say|tell|remember)|\bI have told you"
    r"|\bnot that I(?:'ve| have)? (?:noticed|know|am aware)",
    re.IGNORECASE,
)
VOICE = re.compile(r"\b(?:the patient|denies|patient's|reports)\b|^[A-Z][a-z]+ symptoms?:", re.IGNORECASE)
_EXAMINED = re.compile(r"^(?:on )?(?:physical )?examination\b|^there (?:is|are|were) no\b|^diffuse\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the file; `after` is the question that was asked before it, if any."""

    case: str
    part: str
    after: str
    question: str
    expects: str


def questions(part: str) -> tuple[Asked, ...]:
    """The questions of one part of the file."""
    with QUESTIONS.open(newline="") as lines:
        rows = [Asked(**row) for row in csv.DictReader(lines)]
    return tuple(row for row in rows if row.part == part)


def stories(data: Path) -> dict[str, tuple[Mapping[str, str], str]]:
    """Story and complaint of every case by its name in the file."""
    by_case: dict[str, tuple[Mapping[str, str], str]] = {}
    for number, case in enumerate(load(data / "agentclinic/agentclinic_medqa.jsonl"), 1):
        by_case[f"agentclinic-{number:03}"] = _story(case)
    for number, line in enumerate((data / "mediq/all_craft_md.jsonl").read_text().splitlines(), 1):
        context = [text for text in json.loads(line)["context"] if not _EXAMINED.search(text)]
        by_case[f"mediq-{number:03}"] = ({"History": ". ".join(text.rstrip(".") for text in context) + "."}, "")
    by_case |= {case.id: _story(case) for case in load(data / "medrbench/diagnosis_cases.json")}
    return by_case


def _story(case: Case) -> tuple[Mapping[str, str], str]:
    return case.history or {"History": case.opening}, case.complaint or case.opening


async def answer(asked: Asked, story: tuple[Mapping[str, str], str]) -> str:
    """What the patient says to the question, in a talk that holds the one before it."""
    heard: list[Said] = []
    said = ""
    for question in filter(None, (asked.after, asked.question)):
        heard.append(Said(len(heard), "doctor", "ask", question))
        known = {"story": dict(story[0]), "complaint": story[1]}
        said = (await Patient().act(View("patient", "", tuple(heard), ("answer",), known))).text
        heard.append(Said(len(heard), "patient", "answer", said))
    return said


def label(asked: Asked, said: str) -> str:
    """apt, evasive or wrong where the record answers; honest or invented where it does not."""
    if not asked.expects:
        return "honest" if SILENT.search(said) else "invented"
    if SILENT.search(said):
        return "evasive"
    return "apt" if re.search(asked.expects, said, re.IGNORECASE) and not VOICE.search(said) else "wrong"


def shares(counts: Mapping[str, int]) -> str:
    """The shares of the labels, where the record answers and where it is silent."""
    lines: list[str] = []
    for kinds in (("apt", "evasive", "wrong"), ("honest", "invented")):
        total = sum(counts.get(kind, 0) for kind in kinds)
        listed = ", ".join(f"{kind} {counts.get(kind, 0) / (total or 1):.1%}" for kind in kinds)
        lines.append(f"n {total}: {listed}")
    return "; ".join(lines)


async def ask(asked: Path, out: Path, by_case: Mapping[str, tuple[Mapping[str, str], str]]) -> None:
    """Write the file's questions with the patient's answers."""
    with asked.open(newline="") as lines, out.open("w", newline="") as written:
        table = csv.writer(written, lineterminator="\n")
        table.writerow(("case", "question", "answerable", "answer"))
        for row in csv.DictReader(lines):
            question = Asked(row["case"], "", row.get("after") or "", row["question"], "")
            said = await answer(question, by_case[row["case"]])
            table.writerow((row["case"], row["question"], row["answerable"], said))


async def main(arguments: Sequence[str]) -> None:
    """Print the shares, and every answer with its label if asked."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--part",
        choices=(
            "tune",
            "check",
            "fresh",
            "blind",
            "battery",
            "guide",
            "blind2",
            "stranger",
            "blind3",
            "blind4",
            "blind5",
            "blind6",
            "blind7",
        ),
        default="check",
    )
    parser.add_argument("--show", action="store_true", help="print every answer")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--ask", type=Path, help="a file of questions: case, question, answerable")
    parser.add_argument("--out", type=Path, help="where --ask writes them with the answers")
    options = parser.parse_args(arguments)
    if (options.ask is None) != (options.out is None):
        parser.error("--ask and --out belong together: give both")
    by_case = stories(options.data)
    if options.ask is not None:
        await ask(options.ask, options.out, by_case)
        return
    counts: Counter[str] = Counter()
    for asked in questions(options.part):
        said = await answer(asked, by_case[asked.case])
        counts[label(asked, said)] += 1
        if options.show:
            print(f"{label(asked, said):9}{asked.case} | {asked.question} | {said}")
    print(shares(counts))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
