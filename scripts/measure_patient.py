"""Ask the record patient the questions of `tests/data/patient_questions.csv` and label its answers.

    python -m scripts.measure_patient [--part PART] [--show] [--data ../shared/data]
    python -m scripts.measure_patient --ask QUESTIONS.csv --out ANSWERS.csv [--model SPEC]

The second form asks the questions of a file (case, question, answerable) and writes each with its answer, for people
who judge them. With `--model` it asks the model patient; SPEC names the model (`openai/gpt-4o`, `local/smollm2`).

The cases are AgentClinic's, CRAFT-MD's and MedR-Bench's, in the folder of shared data. `tests/data/patient_quotes.csv`
has seven more authors' questions (`--part eighth` to `fourteenth`) with the stretches of the story that answer them, as
`section:start-end`; `|` stands between stretches that are all needed, `/` between those that say the same.

The record answers a question with `expects` or stretches. The answer is apt if the pattern is found in it and it speaks
as a patient, evasive if it is a don't-know, else wrong. With stretches it is apt if the sentences that it cites contain
all of them, and evasive if they contain some. A don't-know after the answer ("More than that I don't know") does not
count against it. For any other question a don't-know is honest; it is hedged if a sentence stands before it, and any
other answer is invented.
"""

import argparse
import asyncio
import csv
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from wardround.agents.history.facts import COMPLAINT, Fact
from wardround.agents.history.figures import Weights
from wardround.agents.history.interview import PatientReply, answer_from_story
from wardround.agents.history.speech import REST_UNKNOWN
from wardround.agents.patient import LLMPatient, Patient
from wardround.engine.models.reach import reach
from wardround.engine.prompts import Prompts
from wardround.engine.records import Said, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load

QUESTIONS = Path("tests/data/patient_questions.csv")
QUOTED = Path("tests/data/patient_quotes.csv")
QUOTED_AUTHORS = ("eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth")
SILENT = re.compile(
    r"\bI (?:really )?(?:don't|do not|couldn't|can't) (?:know|say|tell|remember)|\bI have told you"
    r"|\bnot that I(?:'ve| have)? (?:noticed|know|am aware)",
    re.IGNORECASE,
)
VOICE = re.compile(r"\b(?:the patient|denies|patient's|reports)\b|^[A-Z][a-z]+ symptoms?:", re.IGNORECASE)
_EXAMINED = re.compile(r"^(?:on )?(?:physical )?examination\b|^there (?:is|are|were) no\b|^diffuse\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of the file; `after` is the question asked before it, if any."""

    case: str
    part: str
    after: str
    question: str
    expects: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """One question with the places of the stretches of the story that answer it (`quoted`)."""

    case: str
    author: str
    voice: str
    after: str
    question: str
    answerable: str
    expected: str
    quoted: str


def quoted_questions(author: str) -> tuple[Quoted, ...]:
    """Return one author's questions with stretches."""
    with QUOTED.open(newline="") as lines:
        rows = [Quoted(**row) for row in csv.DictReader(lines)]
    return tuple(row for row in rows if row.author == author)


def holding(asked: Quoted, story: tuple[Mapping[str, str], str], facts: Sequence[Fact]) -> list[frozenset[int]]:
    """Return, for each stretch that is needed, the places of the facts that contain it."""
    texts = {**story[0], COMPLAINT: story[1]}
    holders: list[frozenset[int]] = []
    for needed in asked.quoted.split(" | ") if asked.quoted else ():
        places: set[int] = set()
        for stretch in needed.split(" / "):
            section, _, span = stretch.rpartition(":")
            start, _, end = span.partition("-")
            text = texts[section][int(start) : int(end)]
            words = re.findall(r"[a-z0-9]+", text.lower())
            shares = [_share(words, fact) for fact in facts]
            own = max((shares[place] for place, fact in enumerate(facts) if fact.section == section), default=0.0)
            for place, fact in enumerate(facts):
                if shares[place] >= (max(_HOLDS, own) if fact.section == section else _AGAIN):
                    places.add(place)
        holders.append(frozenset(places))
    return holders


_HOLDS = 0.5
"""The least share of a stretch's words that a sentence of the stretch's section has to contain."""
_AGAIN = 0.99
"""The same share for a sentence of another section, which repeats the fact."""


def _share(words: Sequence[str], fact: Fact) -> float:
    holders = frozenset(re.findall(r"[a-z0-9]+", fact.text.lower()))
    return sum(word in holders for word in words) / max(1, len(words))


def label_quoted(asked: Quoted, reply: PatientReply, story: tuple[Mapping[str, str], str]) -> str:
    """Return apt, evasive or wrong if the record answers, and honest, hedged or invented if it does not."""
    silent = SILENT.search(reply.text) is not None
    if asked.answerable == "no":
        return _where_silent(reply.text)
    holders = holding(asked, story, reply.facts)
    if reply.facts and all(holders) and not VOICE.search(reply.text):
        return "apt"
    return "evasive" if silent or any(holders) else "wrong"


def _where_silent(said: str) -> str:
    """Return honest for a bare don't-know, hedged for one after a sentence of the story, else invented."""
    if not SILENT.search(said):
        return "invented"
    return "hedged" if said.removesuffix(REST_UNKNOWN) != said else "honest"


def reply_to(
    asked: Asked | Quoted, story: tuple[Mapping[str, str], str], weights: Weights | None = None
) -> PatientReply:
    """Return the reply of a patient with these weights, who has answered the question before as well."""
    said = PatientReply("", ())
    talk = [one for one in (asked.after, asked.question) if one]
    for number in range(1, len(talk) + 1):
        said = answer_from_story(story[0], story[1], talk[:number], said.text, weights)
    return said


def questions(part: str) -> tuple[Asked, ...]:
    """Return the questions of one part of the file."""
    with QUESTIONS.open(newline="") as lines:
        rows = [Asked(**row) for row in csv.DictReader(lines)]
    return tuple(row for row in rows if row.part == part)


def stories(data: Path) -> dict[str, tuple[Mapping[str, str], str]]:
    """Return the story and complaint of every case by its name in the file."""
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


@cache
def _brief() -> str:
    return Path("scenarios/prompts/consultation/patient.md").read_text(encoding="utf-8").strip()


def model_patient(spec: str) -> LLMPatient:
    """Return the patient that a consultation would seat for the model of a specification."""
    prompts = Prompts.load([Path("agents/prompts")])
    return LLMPatient(Seat("patient", "measured", 0, prompts, {}, reach(spec, env=os.environ)))


async def answer(
    asked: Asked, story: tuple[Mapping[str, str], str], patient: Patient | LLMPatient | None = None
) -> str:
    """Return what the patient says in a talk in which the question before was asked too.

    It is the record patient unless another is passed.
    """
    patient = patient or Patient()
    heard: list[Said] = []
    said = ""
    for question in filter(None, (asked.after, asked.question)):
        heard.append(Said(len(heard), "doctor", "ask", question))
        known = {"story": dict(story[0]), "complaint": story[1]}
        said = (await patient.act(View("patient", _brief(), tuple(heard), ("answer",), known))).text
        heard.append(Said(len(heard), "patient", "answer", said))
    return said


def label(asked: Asked, said: str) -> str:
    """Return apt, evasive or wrong if the record answers, and honest, hedged or invented if it does not."""
    if not asked.expects:
        return _where_silent(said)
    bare = said.removesuffix(REST_UNKNOWN)
    if not SILENT.search(bare) and re.search(asked.expects, bare, re.IGNORECASE) and not VOICE.search(bare):
        return "apt"
    return "evasive" if SILENT.search(said) else "wrong"


def shares(counts: Mapping[str, int]) -> str:
    """Return the shares of the labels, for questions that the record answers and for those that it does not."""
    lines: list[str] = []
    for kinds in (("apt", "evasive", "wrong"), ("honest", "hedged", "invented")):
        total = sum(counts.get(kind, 0) for kind in kinds)
        listed = ", ".join(f"{kind} {counts.get(kind, 0) / (total or 1):.1%}" for kind in kinds)
        lines.append(f"n {total}: {listed}")
    return "; ".join(lines)


async def ask(asked: Path, out: Path, by_case: Mapping[str, tuple[Mapping[str, str], str]], model: str = "") -> None:
    """Write the file's questions with the answers of the record patient, or of the model patient."""
    patient = model_patient(model) if model else Patient()
    with asked.open(newline="") as lines, out.open("w", newline="") as written:
        table = csv.writer(written, lineterminator="\n")
        table.writerow(("case", "question", "answerable", "answer"))
        for row in csv.DictReader(lines):
            question = Asked(row["case"], "", row.get("after") or "", row["question"], "")
            said = await answer(question, by_case[row["case"]], patient)
            table.writerow((row["case"], row["question"], row["answerable"], said))


async def main(arguments: Sequence[str]) -> None:
    """Print the shares, and with `--show` every answer with its label."""
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
            *QUOTED_AUTHORS,
        ),
        default="check",
    )
    parser.add_argument("--show", action="store_true", help="print every answer")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--ask", type=Path, help="a file of questions: case, question, answerable")
    parser.add_argument("--out", type=Path, help="where --ask writes them with the answers")
    parser.add_argument("--model", default="", metavar="SPEC", help="with --ask: the model of the model patient")
    options = parser.parse_args(arguments)
    if (options.ask is None) != (options.out is None):
        parser.error("--ask and --out belong together: give both")
    by_case = stories(options.data)
    if options.ask is not None:
        await ask(options.ask, options.out, by_case, options.model)
        return
    counts: Counter[str] = Counter()
    for quoted in quoted_questions(options.part):
        reply = reply_to(quoted, by_case[quoted.case])
        mark = label_quoted(quoted, reply, by_case[quoted.case])
        counts[mark] += 1
        if options.show:
            print(f"{mark:9}{quoted.case} | {quoted.after} | {quoted.question} | {quoted.expected} | {reply.text}")
    for asked in questions(options.part):
        said = await answer(asked, by_case[asked.case])
        counts[label(asked, said)] += 1
        if options.show:
            print(f"{label(asked, said):9}{asked.case} | {asked.question} | {said}")
    print(shares(counts))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
