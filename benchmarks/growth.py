"""Measures how processor time grows: a reader's with its text, a conversation's with its turns, taking's with the run.

A reader of linear time takes twice as long for twice the text, one of quadratic time four times. Each reader gets texts
that repeat one piece: a bracket, a space, "or", a heading, a list. Its figure is that of the piece that grows most.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import median

import anyio

from benchmarks.figure import Figure, table
from wardround.agents.baseline_knowledge import affirmed_findings
from wardround.agents.history.interview import memory_of
from wardround.agents.history.question_kinds import parse_question, split_questions
from wardround.engine.calls import RecordingModel
from wardround.engine.events import Row
from wardround.engine.logs import redact
from wardround.engine.models.scripted import Scripted
from wardround.engine.records import Ending, EpisodeRow, Message
from wardround.engine.trajectory import EpisodeLog, RecordedCalls
from wardround.evaluators.content import without_asides
from wardround.evaluators.injection.detect import signs
from wardround.evaluators.judges.question import Material, fenced
from wardround.evaluators.judges.strict_reply import payload
from wardround.evaluators.reasoning.evidence import locate, named_concepts
from wardround.evaluators.reasoning.step_questions import read_judgment, read_keywords, read_reference
from wardround.evaluators.reasoning.steps import ReplyContext, split
from wardround.scenarios.answers.diagnosis import compare, rank_in_list
from wardround.scenarios.answers.taken_back import affixed, standing
from wardround.scenarios.answers.treatment import compare_plan
from wardround.scenarios.case import Truth, case_results
from wardround.scenarios.diseases.giveaway import giveaways
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.encounters.consultation import read_consultation
from wardround.scenarios.encounters.staged import read_staged
from wardround.scenarios.encounters.workup import read_workup
from wardround.scenarios.loaders.load import bundled, load
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import answer
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.parsers.choices import read_choice, read_rectification, read_verdict
from wardround.scenarios.parsers.nonanswers import Passages, breaks, refuses
from wardround.scenarios.parsers.reply_text import final_answer, reply_sections, reply_steps
from wardround.testing.memory_store import MemoryStore

MOST = 2.8
"""The aim; it lies between 2, the ratio of linear time, and 4, that of quadratic time."""
FIRST, LONGEST, SEEN = 2_000, 64_000, 0.005
"""The characters at which doubling begins, the most characters, and the fewest seconds that give a reliable ratio."""
PIECES = (
    "a", " ", "\n", "-", "(", "[", "{", "*", "#", "?", "<", "\\", "\u200b", "7", "a: ", ", ", "and ", "not ", "is ",
    "1. a\n", "- a\n", "|a|\n", "### ", "```\n", "\u6211",
)  # fmt: skip
"""Pieces that are repeated into a text for every reader."""
ANSWERS = (
    "/* ", "<a hidden ", "[x]", "[ ] gout ", "P(", "gout or ", "gout (", "gout due to ", "gout 50%, ", "1, gout ",
    "or nothing ", "says ", "like ", "is the the the ", "between a and b ", "either way: ", "a is more likely than ",
    "I cannot, ", "if so, ", "A or B? ", "Candida albicans ", "a/b ", "avoid ", "stop x, start y; ", "\u4e0d\u662f",
)  # fmt: skip
TURNS = (
    "<think>", "### Answer:\n", "**Answer:**\n", "Action: ", "Lab Tests: \n", "Diagnosis:\n", "diagnosis is ",
    "ORDER: x\n", "DIAGNOSIS READY: x\n", "### Additional Information Required:\nCT\n", "<step 1: a", "[Step 1] a\n",
    "1. CT: a\n", "Therefore, the diagnosis is x. ", "Conclusion: x\n", "Doctor:\n", "Patient: I ", "je ne peux ",
    "\u53d1\u70ed",
)  # fmt: skip
CHOICES = ("the best ", "so it is ", "the statement is not ", "I think ", "[(*", "A. foo. ", "\u7b54\u6848", "\u9009")
ORDERS = ("CBC and ", '["a",', "a should be ", "in 3 ", "if x, ", "no ", "(a)", "a. A", "serum sodium 7, MRI of toe ")
TALK = ("What do you do for work? ", "Any pain, fever or rash? ", "fever and rash and ", "She has no cough. ", "or ")
CLUES = (*ANSWERS, "lung opacity CT mm, ")
JUDGES = (
    "ignore ", "to the ", "mark this ", "verdict: ", "answer as ", "system ", "you are a ", '{"a": ', "correct ", "<|",
    "a.", "a0 ", "%41", "+a", "&#", "=", ". - ", "a\u200b", "mike ", "- -- ---\n", "begin the case ", "<Step 1> a",
)  # fmt: skip
SECRETS = ("a:", "://", "://a:", "token ", "sk-", "bearer ", "api_key='", "x@", "passwor")
"""Pieces, here and above, that are hostile to readers of one kind."""
OPTIONS = ("Aspirin", "Colchicine", "Prednisolone", "Allopurinol")


@dataclass(frozen=True)
class Reader:
    """A function that reads a text.

    The text follows `before` if `read` reads only texts that begin so. `pieces` are hostile to readers of its kind.
    """

    name: str
    read: Callable[[str], object]
    pieces: Sequence[str] = ()
    before: str = ""


@dataclass(frozen=True)
class Growth:
    """How the time of a reader grows on one piece.

    `ratio` is the CPU for twice the text over the `seconds` for a text of `length` characters that repeats `piece`.
    """

    piece: str
    length: int
    seconds: float
    ratio: float


def _several(*reads: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: [read(text) for read in reads]


def readers() -> Iterator[Reader]:
    """Return all readers of what a doctor, a judge, a patient, a page or a user's case says."""
    albicans, rest = Truth(diagnosis="Candida albicans fungemia"), Truth(treatment="nintedanib, oxygen and rest")
    orders, played = catalogue(), ReplyContext("workup", asking=True, answer="x")
    chart = read_chart(case_results(next(iter(load(bundled("stations")[0])))))
    names = ("Granulomatosis with polyangiitis", "GPA")
    heading = "### Additional Information Required:\n"
    yield Reader("a diagnosis", lambda text: (compare(text, albicans), rank_in_list(text, albicans)), ANSWERS)
    yield Reader("a plan", lambda text: compare_plan(text, rest), ANSWERS)
    yield Reader(
        "what stands of an answer", _several(standing, lambda text: standing(text, plan=True), affixed), ANSWERS
    )
    yield Reader("a turn of workup", _several(read_workup, lambda text: read_workup(text, "output")), TURNS)
    yield Reader("a turn of consultation", lambda text: read_consultation(text, last=True), TURNS)
    yield Reader("a turn of free-turn", lambda text: read_staged(text, last=False), TURNS, heading)
    yield Reader("a choice", lambda text: read_choice(text, OPTIONS, "ABCD"), CHOICES)
    yield Reader("a correction", lambda text: read_rectification(text, OPTIONS, "ABCD"), CHOICES, "Incorrect. ")
    yield Reader("a true or false", read_verdict, CHOICES)
    yield Reader("parts of a reply", _several(final_answer, reply_steps, reply_sections), TURNS)
    yield Reader(
        "refusals and other roles", _several(refuses, lambda text: breaks(text, "doctor", "", Passages([]))), TURNS
    )
    yield Reader("orders", lambda text: understand(text, orders), ORDERS)
    yield Reader("orders of a record", lambda text: answer(chart, text), ORDERS)
    yield Reader("findings of the baseline", affirmed_findings, TALK)
    yield Reader("questions to the patient", _several(parse_question, split_questions), TALK)
    yield Reader("a patient's story", lambda text: memory_of((("history", text),), "fever"), TALK)
    yield Reader("mentions of diseases", lambda text: linker().mentions(text), ANSWERS)
    yield Reader("words that give the diagnosis away", lambda text: giveaways(names).hits(text), CLUES)
    yield Reader("steps of a reasoning", _several(split, named_concepts), TURNS)
    yield Reader("steps with conclusions", lambda text: split(text, played=played), TURNS)
    yield Reader("replies of a judge", _several(payload, read_judgment, read_keywords, read_reference), JUDGES)
    yield Reader(
        "a quotation", lambda text: locate(text, "the fever of three days was gone on the morning after"), TALK
    )
    yield Reader("signs of words to the judge", lambda text: signs(text, "page"), JUDGES)
    yield Reader("text without words to the judge", without_asides, JUDGES)
    yield Reader("text shown to a judge", lambda text: fenced([Material("The case", text, "case")]), JUDGES)
    yield Reader("secrets in a log", redact, SECRETS, "://")


_NUMBERS = count()


def growth(
    reader: Reader, piece: str, *, seen: float = SEEN, clock: Callable[[], float] = time.process_time, runs: int = 1
) -> Growth:
    """Double the text until it takes `seen` seconds of `clock` or has `LONGEST` characters; then double it again."""
    length = FIRST
    seconds = _seconds(reader, piece, length, clock)
    while seconds < seen and length < LONGEST:
        length *= 2
        seconds = _seconds(reader, piece, length, clock)
    once = [seconds, *(_seconds(reader, piece, length, clock) for _ in range(runs - 1))]
    twice = [_seconds(reader, piece, 2 * length, clock) for _ in range(runs)]
    # Where even the long text takes no time that can be told, nothing grows that anybody would notice.
    ratio = median(twice) / median(once) if median(twice) >= seen / 2 else 1.0
    return Growth(piece, length, median(once), ratio)


def _seconds(reader: Reader, piece: str, length: int, clock: Callable[[], float]) -> float:
    # A text begins with a number of its own: some readings are kept.
    text = f"{reader.before}{next(_NUMBERS)} {piece * (length // len(piece))}"
    began = clock()
    reader.read(text)
    return clock() - began


def worst(reader: Reader, pieces: Sequence[str], clock: Callable[[], float] = time.process_time) -> Growth:
    """Return the growth on the piece with the greatest ratio.

    All pieces are tried, then those with the three greatest ratios and the slowest ones again, in longer texts.
    """
    reader.read(f"{reader.before}gout, fever and CT")  # the tables are read
    tried = sorted((growth(reader, piece, clock=clock) for piece in pieces), key=lambda one: -one.ratio)
    slowest = max(tried, key=lambda one: one.seconds / one.length)
    picked = dict.fromkeys(one.piece for one in (*tried[:3], slowest))
    again = [growth(reader, piece, seen=10 * SEEN, clock=clock, runs=3) for piece in picked]
    return max(again, key=lambda one: one.ratio)


def grown(quick: bool) -> Sequence[Figure]:
    """Measure the growth of each reader on its worst piece, of a conversation and of a run."""
    figures = []
    gc.collect()
    gc.freeze()
    for reader in readers():
        pieces = PIECES[:1] if quick else (*PIECES, *reader.pieces)
        found = worst(reader, pieces)
        note = f"{found.piece!r}, {found.length:,} characters, {1000 * found.seconds:.0f} ms; of {len(pieces)} pieces"
        name = f"hostile text, {reader.name}: CPU for twice the text"
        figures.append(Figure(name, found.ratio, at_most=MOST, note=note))
    turns, episodes = 200, 400
    conversation = _taken_up(8 * turns) / _taken_up(turns)
    taking = anyio.run(_taking, 100 * episodes) / anyio.run(_taking, episodes)
    gc.unfreeze()
    name = "a conversation taken up again: CPU for eight times the turns"
    figures.append(Figure(name, conversation, at_most=4 * MOST, note=f"{8 * turns} turns over {turns}"))
    name = "an episode taken from memory: CPU in a run a hundred times as large"
    figures.append(Figure(name, taking, at_most=20, note=f"{100 * episodes:,} episodes over {episodes}"))
    return figures


def _taken_up(turns: int) -> float:
    """Return the seconds of the first call after a conversation of `turns` was read back, less those of the next."""
    return min(anyio.run(_first_call, turns) for _ in range(3))


async def _first_call(turns: int) -> float:
    said, rows = list[Message](), list[Row]()

    async def keep(added: Sequence[Row], ending: Ending | None, spent: object) -> None:
        rows.extend(added)

    log = EpisodeLog(keep)
    await _talk(_caller(log), said, turns)
    await log.flush()
    again = _caller(EpisodeLog(keep, tuple(rows)))
    began = time.process_time()
    await _talk(again, said, 1)
    first = time.process_time()
    await _talk(again, said, 1)
    return first - began - (time.process_time() - first)


def _caller(log: EpisodeLog) -> RecordingModel:
    return RecordingModel(
        "doctor", Scripted(lambda messages, purpose: "x" * 500), {}, log=log, recorded=RecordedCalls()
    )


async def _talk(model: RecordingModel, said: list[Message], turns: int) -> None:
    for _ in range(turns):
        said.append(Message("user", f"{len(said)} {'x' * 500}"))
        said.append(Message("assistant", (await model.complete(said, purpose="act")).text))


async def _taking(count: int) -> float:
    """Return the fewest seconds in which a session takes four of `count` episodes that wait in memory."""
    store, took = MemoryStore(), list[float]()
    await store.create_run("r", {}, [EpisodeRow(f"e{n}", n, "c", 1, None, "", 0, 0.0) for n in range(count)])
    session = await store.begin("r", host="h", pid=1)
    for _ in range(20):
        began = time.process_time()
        await session.take(4)
        took.append(time.process_time() - began)
    await store.aclose()
    return min(took)


if __name__ == "__main__":
    print(table(grown(quick=False)))
