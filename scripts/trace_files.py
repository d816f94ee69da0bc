"""Trace the files of the product that run in a doctor's turn and when a reply is judged.

    python -m scripts.trace_files [--json]

A case is played under `workup` with a model over HTTP and an SQLite store. Three replies of one step each are scored,
one after the other, by `reasoning` with a judge over HTTP and a search in a corpus. A file counts if one of its
functions runs, in any thread, during one of these times:

- `turn`: from the examiner's answer, through the doctor's call, until the examiner's next order is stored, in each of
  six episodes.
- `judged`, `judged_again`: from the first call about a reply's step to the first about the next reply's. By then the
  verdict and its scores are stored, and the next reply is read. The first judged reply of a process also reads the
  tables of diseases (`judged`); every later one finds them read (`judged_again`).
- `judged_step`: from the first call about a step to the last, which asks the judge's own opinion. By then the judge has
  classed the step, looked it up and decided on it, and its quotation was compared with the passage.

The thread of the server does not count, nor does code that runs when a module is imported. The script names only the
command line, the loopback server and the entry points, so that modules can move without it.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path
from types import FrameType

from wardround.cli import main as wardround
from wardround.engine.plugins import load_plugin, maker
from wardround.engine.records import Action, Message, View
from wardround.engine.seat import Seat
from wardround.testing.loopback import Loopback

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("agents", "engine", "evaluators", "scenarios", "wardround")
SETTLED = 0.3
"""Seconds after which the store has written everything."""
PASSAGE = "Pain of acute appendicitis moves to the right lower side of the abdomen."
BESIDE = "Fever and a coated tongue often come later."
"""Words of the same passage that say nothing about the step."""
PATIENTS = ("man", "woman", "child")
CASE = {
    "examination": [{"section": "Abdomen", "text": "Tender on the right."}],
    "labs": [{"name": "White Blood Cells", "value": "15", "unit": "K/uL"}],
    "truth": {"diagnosis": "Acute appendicitis"},
    "provenance": {"source": "made up"},
    "data_class": "public",
}
TURNS = (
    "Rationale: I examine him.\nAction: PE",
    "Rationale: I look for an inflammation.\nAction: LAB",
    "Rationale: I look for an inflammation.\nLab Tests: White Blood Cells",
    "Rationale: I know enough.\nAction: OUTPUT",
    "Diagnosis: Acute appendicitis",
)
_STEP = re.compile(r"begin The step (\S+) -----\s*(.*?)\s*----- end", re.DOTALL)


class Trace:
    """The files of which functions run every time that the trace is `on`.

    A file that runs only some of the times does not count, since a heartbeat may fall into one of them.
    """

    def __init__(self) -> None:
        self.on = False
        self._codes: set[str] = set()
        self._before: list[set[str]] = []

    def again(self) -> None:
        """End one time of the trace and begin another."""
        self._before.append(self._codes)
        self._codes = set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """Note the file of a function that is called; this is a profile function."""
        del argument
        if self.on and event == "call" and frame.f_code.co_name != "<module>":
            self._codes.add(frame.f_code.co_filename)

    def files(self) -> list[str]:
        """Return the product's files by their paths in the tree."""
        files = set()
        times = [codes for codes in (*self._before, self._codes) if codes]
        for name in set.intersection(*times) if times else ():
            path = Path(name).resolve()
            if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in PACKAGES:
                files.add(path.relative_to(ROOT).as_posix())
        return sorted(files)


turn, judged_reply, judged_again, judged_step = Trace(), Trace(), Trace(), Trace()


class Examiner:
    """The record examiner; it ends the traced turn when it is asked, and begins the next when it has answered."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._examiner = maker(load_plugin("wardround.seats.examiner", "record"), "record")(seat)
        self._asked = 0

    async def act(self, view: View) -> Action:
        """Answer as the record does."""
        self._asked += 1
        if turn.on:
            await asyncio.sleep(SETTLED)
            turn.on = False
            turn.again()
        action: Action = await self._examiner.act(view)
        turn.on = self._asked == 1
        return action


def doctor(messages: Sequence[Message], model: str) -> str:
    """Return the doctor's reply, the next of TURNS."""
    del model
    return TURNS[min(sum(message.role == "assistant" for message in messages), len(TURNS) - 1)]


def answering(step: str) -> Callable[[Sequence[Message], str], str]:
    """Make a doctor whose reply is this one step, which names the patient, and an answer."""

    def answer(messages: Sequence[Message], model: str) -> str:
        del model
        who = next((one for one in reversed(PATIENTS) if f"{one} has pain" in messages[-1].content), PATIENTS[0])
        return f"### Reasoning:\n<step 1> {step} of this {who}.\n\n### Answer:\nAcute appendicitis"

    return answer


def judge(messages: Sequence[Message], model: str) -> str:
    """Return the judge's reply in the form that the question shows; begin and end the trace of a reply."""
    del model
    who = patient(messages)
    if who:
        judged_reply.on, judged_again.on = who == PATIENTS[0], who == PATIENTS[1]
    return verdict(messages, who, PASSAGE)


def doubting_judge(messages: Sequence[Message], model: str) -> str:
    """Reply with a quotation that supports no verdict, so that an opinion is asked; begin and end a step's trace."""
    del model
    who = patient(messages)
    if who:
        judged_step.on = who == PATIENTS[1] and '"unsure"' not in messages[-1].content
    return verdict(messages, who, BESIDE)


def patient(messages: Sequence[Message]) -> str:
    """Return the patient of the step that a question shows, or "" if it shows none."""
    about = _STEP.search(messages[-1].content)
    return about[2].rpartition(" ")[2].removesuffix(".") if about else ""


def verdict(messages: Sequence[Message], who: str, quoted: str) -> str:
    """Return the reply that a question's form asks for, with this quotation."""
    text = "\n".join(message.content for message in messages)
    quote = {"passage": 1, "quote": quoted, "bearing": "supports"}
    forms: dict[str, object] = {
        '{"classification"': {"classification": "reasoning", "finding": ""},
        '{"judgment"': {"judgment": "correct", "keywords_to_search": "", "evidence": [quote]},
        '{"found"': {"found": True},
        '{"steps"': {"steps": ["Pain moves to the right.", "Appendicitis."]},
        '{"starts"': {"starts": []},
    }
    return next((json.dumps(reply) for form, reply in forms.items() if form in text), f"appendicitis, abdomen, {who}")


@contextmanager
def served(reply: Callable[[Sequence[Message], str], str]) -> Iterator[str]:
    """Run a server that gives these replies in a thread that is not traced, and yield its address."""
    server, ready, over = Loopback(reply), threading.Event(), threading.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await asyncio.to_thread(over.wait)

    def untraced() -> None:
        sys.setprofile(None)
        asyncio.run(serve())

    thread = threading.Thread(target=untraced)
    thread.start()
    if not ready.wait(60):
        raise RuntimeError("the server did not start")
    try:
        yield server.base_url
    finally:
        over.set()
        thread.join()


def ran(*words: str) -> None:
    """Run a command; raises RuntimeError if it fails."""
    said = StringIO()
    try:
        with redirect_stdout(said):
            wardround(words)
    except SystemExit as ended:
        if ended.code:
            raise RuntimeError(f"wardround {' '.join(words)} ended with {ended.code}: {said.getvalue()}") from ended


def traced(*words: str) -> None:
    """Run a command and trace it in all of its threads."""

    def profile(frame: FrameType, event: str, argument: object) -> None:
        for trace in (turn, judged_reply, judged_again, judged_step):
            trace(frame, event, argument)

    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        ran(*words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def measure() -> dict[str, list[str]]:
    """Return the files of a turn, of two judged replies and of a judged step."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opening = "A 20-year-old {} has pain in the abdomen since yesterday."
        lines = [json.dumps({"id": who, "opening": opening.format(who), **CASE}) for who in PATIENTS]
        (folder / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        document = {"title": "Appendicitis", "text": f"{PASSAGE} {BESIDE}"}
        (folder / "texts.jsonl").write_text(json.dumps(document) + "\n", "utf-8")
        kept = ("--store", str(folder / "trace.db"), "--concurrency", "1")
        apart = ("--store", str(folder / "step.db"), "--concurrency", "1")  # no search was recorded there
        cases = ("--cases", str(folder / "cases.jsonl"))
        with served(doctor) as url:
            by = ("--doctor", "openai/traced", "--base-url", url, "--repeats", "3")
            desk = ("--examiner", "scripts.trace_files:Examiner")
            traced("run", *cases, "--scenario", "workup", *by, *desk, "--name", "played", *kept)
        with served(answering("Pain moves to the right lower side of the abdomen")) as url:
            replies = ("--doctor", "openai/traced", "--base-url", url, "--repeats", "1")
            ran("run", *cases, "--scenario", "oracle", *replies, "--name", "traced", *kept)
        with served(judge) as url:
            judged = ("--evaluators", "reasoning", "--judge", "openai/traced", "--judge-base-url", url)
            search = ("--search", f"corpus:{folder / 'texts.jsonl'}")
            traced("score", "traced", *judged, *search, *kept)
        with served(answering("Pain went to the right lower quadrant of the belly")) as url:
            ran("run", *cases, "--scenario", "oracle", *replies, "--base-url", url, "--name", "doubted", *apart)
        with served(doubting_judge) as url:
            judged = ("--evaluators", "reasoning", "--judge", "openai/traced", "--judge-base-url", url)
            traced("score", "doubted", *judged, *search, "--knowledge", "both", *apart)
    times = {"turn": turn, "judged": judged_reply, "judged_again": judged_again, "judged_step": judged_step}
    return {name: trace.files() for name, trace in times.items()}


def main(arguments: Sequence[str]) -> None:
    """Print the files, or their number."""
    parser = argparse.ArgumentParser(description="Trace which files a doctor's turn and a judged reply pass.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    asked = parser.parse_args(arguments)
    traces = measure()
    if asked.json:
        print(json.dumps({name: {"count": len(files), "files": files} for name, files in traces.items()}, indent=2))
        return
    for name, files in traces.items():
        print(f"{name}: {len(files)} files\n  " + "\n  ".join(files))


if __name__ == "__main__":
    # The run imports the examiner from this module by its name, so the traces have to be those of that module.
    from scripts.trace_files import main as named_main

    named_main(sys.argv[1:])
