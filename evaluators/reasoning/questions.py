"""What the Reasoning Evaluator asks (paper 002, prompts 14 to 18): one function for each question."""

from collections.abc import Sequence

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judging.question import Material, Question, reply, shape

CASE, GOAL, EARLIER, STEP = "The case", "The goal", "Earlier steps", "The step"
REFERENCE, REFERENCE_STEP, PREDICTION = "The reference", "The reference step", "The text"
PAGE, REPLY = "The page", "The reply"
SEARCHED = "Looked up so far"
NOTHING = "(none)"

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_QUOTES = {"type": "array", "items": shape(passage={"type": "integer"}, quote=_TEXT)}


def passage(number: int) -> str:
    """The label of the passage with this number (1 is the first)."""
    return f"Passage {number}"


def step_class(case: str, goal: str, earlier: Sequence[str], step: str) -> Question:
    """What a step does (prompt 15)."""
    before = "\n".join(f"{place}. {one}" for place, one in enumerate(earlier, 1)) or NOTHING
    materials = (
        Material(CASE, case, "case"),
        Material(EARLIER, before, "reply"),
        Material(STEP, step, "reply"),
    )
    kinds = ["citation", "repetition", "reasoning", "redundancy"]
    return Question("step_class", materials, {"goal": goal}, reply(classification={"type": "string", "enum": kinds}))


def step_role(case: str, goal: str, earlier: Sequence[tuple[int, str]], step: str, turn: int) -> Question:
    """What a step of this turn does: as prompt 15, by what was known at that turn, all (turn, step) before it at hand.

    `case` is what its author had been told by then, and nothing that was told later.
    """
    lines: list[str] = []
    last = 0
    for place, (of, one) in enumerate(earlier, 1):
        if of != last:
            lines.append(f"Turn {of}:")
            last = of
        lines.append(f"{place}. {one}")
    materials = (
        Material(CASE, case, "case"),
        Material(EARLIER, "\n".join(lines) or NOTHING, "reply"),
        Material(STEP, step, "reply"),
    )
    kinds = ["citation", "repetition", "reasoning", "redundancy", "unseen"]
    fields = reply(classification={"type": "string", "enum": kinds}, finding=_TEXT)
    return Question("step_role", materials, {"goal": goal, "turn": str(turn)}, fields)


def keywords(step: str) -> Question:
    """What to look up to check a step (prompt 16); the reply is plain text."""
    return Question("keywords", (Material(STEP, step, "reply"),))


def judgment(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """Whether a step holds, by numbered passages (prompt 17); `searched`: what they were found by, a line each.

    The default asks for words of a passage; `published` takes the judge's own knowledge too, as the paper does.
    """
    found = [Material(passage(number), text, "page") for number, text in enumerate(passages, 1)]
    queries = Material(SEARCHED, "\n".join(searched) or NOTHING, "reply")
    materials = (Material(CASE, case, "case"), queries, *found, Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply(judgment=verdicts, keywords_to_search=_TEXT, evidence=_QUOTES)
    return Question("judgment", materials, {"count": str(len(found))}, fields)


def bearing(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """The same where each quoted sentence also says how it bears on the step: it supports, contradicts, or neither."""
    asked = judgment(case, passages, step, searched)
    bears = {"type": "string", "enum": ["supports", "contradicts", "neither"]}
    quotes: dict[str, Json] = {
        "type": "array",
        "items": shape(passage={"type": "integer"}, quote=_TEXT, bearing=bears),
    }
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply(judgment=verdicts, keywords_to_search=_TEXT, evidence=quotes)
    return msgspec.structs.replace(asked, name="bearing", shape=fields)


def opinion(case: str, step: str) -> Question:
    """Whether a step holds by what the judge knows itself, with nothing looked up."""
    materials = (Material(CASE, case, "case"), Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "unsure"]}
    return Question("opinion", materials, shape=reply(judgment=verdicts))


def extract(page: str, step: str) -> Question:
    """The sentences of a long page that bear on a step, word for word: the summary of section 4.3, open to checking."""
    materials = (Material(PAGE, page, "page"), Material(STEP, step, "reply"))
    return Question("extract", materials, shape=reply(quotes=_TEXTS))


def reference(text: str) -> Question:
    """The reference reasoning as at most ten atomic steps, the last being the final answer (prompt 14)."""
    return Question("reference", (Material(REFERENCE, text, "reference"),), shape=reply(steps=_TEXTS))


def found(step: str, prediction: str) -> Question:
    """Whether a reference step is in a prediction (prompt 18); to `published` what is akin to it is enough."""
    materials = (Material(REFERENCE_STEP, step, "reference"), Material(PREDICTION, prediction, "reply"))
    return Question("found", materials, shape=reply(found={"type": "boolean"}))


def published(question: Question) -> Question:
    """The same question by the criteria of the paper's prompt, in our words."""
    return msgspec.structs.replace(question, rules="published")


def starts(text: str) -> Question:
    """Where the steps of a text without marks begin: the first words of each, word for word."""
    return Question("starts", (Material(REPLY, text, "reply"),), shape=reply(starts=_TEXTS))
