"""The questions to a judge about an outcome (MedR-Bench, prompts 16 and 18 to 21), one function for each."""

from collections.abc import Sequence

from wardround.engine.records import object_schema
from wardround.evaluators.judges.question import Material, Origin, Question, reply_shape
from wardround.evaluators.reasoning.step_questions import passage
from wardround.scenarios.case import Truth

CASE, REFERENCE, ANSWER = "The case", "The reference", "The answer"
TEXT, REQUEST, LIST, ITEM = "The text", "The request", "The list", "The item"
ALSO = "Also called: "
"""Prefix of each line of a reference diagnosis after the first: a synonym."""

LONGEST = 8000
"""Number of characters of an answer or a case that a judge sees; a longer text keeps its beginning and end."""
LISTED = 20_000
"""The same for a text that names examinations."""

_TEXT = {"type": "string"}
_OUTCOME = {"type": "string", "enum": ["correct", "wrong"]}
_PLAN = {"type": "string", "enum": ["correct", "wrong", "unverifiable"]}
_BASIS = {"type": "string", "enum": ["same", "included", "evidence", "none", "no plan"]}


def diagnosis(truth: Truth, answer: str) -> Question:
    """Ask whether an answer names the reference's disease (prompt 19)."""
    reference = "\n".join((truth.diagnosis, *(ALSO + name for name in truth.synonyms)))
    materials = (Material(REFERENCE, reference, "reference"), Material(ANSWER, answer, "reply", LONGEST))
    return Question("diagnosis", materials, shape=reply_shape(verdict=_OUTCOME))


def treatment(case: str, reference: str, passages: Sequence[str], plan: str) -> Question:
    """Ask whether a plan is right, by the reference treatment and by numbered passages (prompt 20)."""
    pages = [Material(passage(number), text, "page") for number, text in enumerate(passages, 1)]
    materials = (
        Material(CASE, case, "case", LONGEST),
        Material(REFERENCE, reference, "reference"),
        *pages,
        Material(ANSWER, plan, "reply", LONGEST),
    )
    quotes = {"type": "array", "items": object_schema(passage={"type": "integer"}, quote=_TEXT)}
    fields = reply_shape(verdict=_PLAN, basis=_BASIS, evidence=quotes)
    return Question("treatment", materials, {"count": str(len(pages))}, fields)


def treatment_keywords(case: str, plan: str) -> Question:
    """Ask what to look up to judge a plan (prompt 16), without the reference; the reply is plain text."""
    materials = (Material(CASE, case, "case", LONGEST), Material(ANSWER, plan, "reply", LONGEST))
    return Question("treatment_keywords", materials)


def examination_items(text: str, origin: Origin) -> Question:
    """Ask for the examinations that a text names, as structured items (prompt 21)."""
    fields = reply_shape(
        items={"type": "array", "items": object_schema(type=_TEXT, test_name=_TEXT, info_required=_TEXT)}
    )
    return Question("items", (Material(TEXT, text, origin, LISTED),), shape=fields)


def same_items(request: str, listed: Sequence[str]) -> Question:
    """Ask which entries of a numbered list a request means, by default one to one (prompt 18 for examinations)."""
    numbered = "\n".join(f"{number}. {one}" for number, one in enumerate(listed, 1))
    materials = (Material(REQUEST, request, "reply"), Material(LIST, numbered, "reference"))
    return Question("same_items", materials, shape=reply_shape(same={"type": "array", "items": {"type": "integer"}}))


def item_in_text(item: str, text: str, *, asked: bool) -> Question:
    """Ask whether a text names an item (prompt 18); `asked`: the item is a request and the text is the record."""
    sides: tuple[Origin, Origin] = ("reply", "reference") if asked else ("reference", "reply")
    materials = (Material(ITEM, item, sides[0]), Material(TEXT, text, sides[1], LISTED))
    return Question("item_found", materials, shape=reply_shape(found={"type": "boolean"}))
