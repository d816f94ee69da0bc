"""A judge without a model: it answers every question by lexical similarity, offline and always the same."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.judging.judge import Sample
from wardround.evaluators.judging.noticing import FIELD
from wardround.evaluators.judging.question import Material, Question
from wardround.evaluators.lexical.asides import without_asides
from wardround.evaluators.lexical.covering import covered
from wardround.evaluators.lexical.division import bearing, reference_steps, step_starts
from wardround.evaluators.lexical.judgment import further, settled
from wardround.evaluators.lexical.keywords import keywords
from wardround.evaluators.lexical.listed import items_of, names, same_as
from wardround.evaluators.lexical.outcomes import diagnosis_right, plan_keywords, plan_verdict
from wardround.evaluators.lexical.step_class import step_class, untold
from wardround.evaluators.outcome import questions as outcome
from wardround.evaluators.reasoning import questions
from wardround.evaluators.reasoning.judged import StepClass

SEARCHES = 2
"""Searches for one step."""
NONE = "None"
"""Keywords of a judge that has nothing more to look up (paper 002, prompt 17)."""

_PASSAGE = re.compile(r"Passage (\d+)")
_TURN = re.compile(r"(?m)^Turn \d+:\n")
_PLACE = re.compile(r"(?m)^(\d+)\. ")
_LISTS = (questions.EARLIER, questions.SEARCHED, outcome.LIST)
"""Texts whose numbers must stay: their entries are read one by one."""


class LexicalJudge:
    """A floor for continuous integration and the demonstration: no model, no network, no chance.

    It compares words. It does not understand: it cannot tell a true sentence from a false one in the same words, knows
    no synonym beyond the project's tables, sees redundancy hardly ever and calls almost nothing wrong; most steps end
    unverifiable. docs/offline_judge.md says how far it agrees with models. Figures by it are a lower bound of what a
    judge is worth and say nothing of a doctor that a report could rest on.

    Replies depend on the texts alone, not on their order, the sample or what was said before. Nothing in a text is
    ever an instruction to it.
    """

    spec = "lexical"
    floor = True

    def __init__(self, seat: str = "judge") -> None:
        self.seat = seat

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """Its reply, in the shape that is asked for. Raises UsageError for a question that it does not know."""
        del sample, said
        answer = _ANSWERS.get(question.name)
        if answer is None:
            raise UsageError(
                f"the offline judge does not know the question {question.name!r}: name a model as judge, or ask one of "
                f"{', '.join(_ANSWERS)}"
            )
        materials = tuple(material if material.label in _LISTS else _quiet(material) for material in question.materials)
        reply = answer(msgspec.structs.replace(question, materials=materials))
        return reply if isinstance(reply, str) else json.dumps({**reply, FIELD: False}, ensure_ascii=False)


def _quiet(material: Material) -> Material:
    return msgspec.structs.replace(material, text=without_asides(material.text))


def _passages(question: Question) -> list[str]:
    """The passages in order of their numbers, in whatever order they were given; a number left out is an empty one."""
    numbered = {
        int(found[1]): material.text
        for material in question.materials
        if (found := _PASSAGE.fullmatch(material.label)) is not None
    }
    return [numbered.get(number, "") for number in range(1, max(numbered, default=0) + 1)]


def _earlier(listed: str) -> list[str]:
    """The steps of a numbered list, each of any number of lines."""
    if listed == questions.NOTHING:
        return []
    places: list[re.Match[str]] = []
    for mark in _PLACE.finditer(listed):
        if int(mark[1]) == len(places) + 1:
            places.append(mark)
    ends = [mark.start() for mark in places[1:]] + [len(listed)] * bool(places)
    return [without_asides(listed[mark.end() : end].strip()) for mark, end in zip(places, ends, strict=True)]


def _step_class(question: Question) -> Json:
    earlier = _earlier(question.text(questions.EARLIER))
    case, step = question.text(questions.CASE), question.text(questions.STEP)
    return {"classification": str(step_class(case, earlier, step))}


def _step_role(question: Question) -> Json:
    earlier = _in_turns(question.text(questions.EARLIER))
    case, step = question.text(questions.CASE), question.text(questions.STEP)
    if (finding := untold(case, step)) and step_class(case, earlier, step) != StepClass.REPETITION:
        return {"classification": str(StepClass.UNSEEN), "finding": finding}
    return {"classification": str(step_class(case, earlier, step)), "finding": ""}


def _in_turns(listed: str) -> list[str]:
    """The steps of a numbered list without the lines that say of which turn they are."""
    return _earlier(_TURN.sub("", listed))


def _keywords(question: Question) -> Json:
    return keywords([question.text(questions.STEP)]) or NONE


def _judgment(question: Question) -> Json:
    passages, step = _passages(question), question.text(questions.STEP)
    if match := settled(question.text(questions.CASE), passages, step):
        evidence: Json = [{"passage": match.passage, "quote": match.quote}]
        verdict = "correct" if match.agrees else "wrong"
        return {"judgment": verdict, "keywords_to_search": NONE, "evidence": evidence}
    searched = [query for query in question.text(questions.SEARCHED).splitlines() if query.strip()]
    wanted = further(passages, step) if 0 < len(searched) < SEARCHES else ""
    return {"judgment": "search", "keywords_to_search": NONE if wanted in ("", *searched) else wanted, "evidence": []}


def _bearing(question: Question) -> Json:
    found = _judgment(question)
    assert isinstance(found, dict)
    bearing = "supports" if found["judgment"] == "correct" else "contradicts"
    evidence = found["evidence"] if isinstance(found["evidence"], list) else []
    quotes: list[Json] = [{**one, "bearing": bearing} for one in evidence if isinstance(one, dict)]
    return {**found, "evidence": quotes}


def _opinion(question: Question) -> Json:
    """It knows nothing of medicine."""
    del question
    return {"judgment": "unsure"}


def _extract(question: Question) -> Json:
    return {"quotes": list(bearing(question.text(questions.PAGE), question.text(questions.STEP)))}


def _reference(question: Question) -> Json:
    return {"steps": list(reference_steps(question.text(questions.REFERENCE)))}


def _found(question: Question) -> Json:
    return {"found": covered(question.text(questions.REFERENCE_STEP), question.text(questions.PREDICTION))}


def _starts(question: Question) -> Json:
    return {"starts": list(step_starts(question.text(questions.REPLY)))}


def _diagnosis(question: Question) -> Json:
    right = diagnosis_right(question.text(outcome.REFERENCE), question.text(outcome.ANSWER))
    return {"verdict": "correct" if right else "wrong"}


def _treatment(question: Question) -> Json:
    return plan_verdict(question.text(outcome.REFERENCE), _passages(question), question.text(outcome.ANSWER))


def _treatment_keywords(question: Question) -> Json:
    return plan_keywords(question.text(outcome.CASE), question.text(outcome.ANSWER)) or NONE


def _items(question: Question) -> Json:
    recorded = any(material.origin in ("case", "reference") for material in question.materials)
    return {"items": items_of(question.text(outcome.TEXT), recorded)}


def _same_items(question: Question) -> Json:
    return {"same": list(same_as(question.text(outcome.REQUEST), question.text(outcome.LIST)))}


def _item_found(question: Question) -> Json:
    return {"found": names(question.text(outcome.ITEM), question.text(outcome.TEXT))}


_ANSWERS: Mapping[str, Callable[[Question], Json]] = {
    "step_class": _step_class,
    "step_role": _step_role,
    "keywords": _keywords,
    "judgment": _judgment,
    "bearing": _bearing,
    "opinion": _opinion,
    "extract": _extract,
    "reference": _reference,
    "found": _found,
    "starts": _starts,
    "diagnosis": _diagnosis,
    "treatment": _treatment,
    "treatment_keywords": _treatment_keywords,
    "items": _items,
    "same_items": _same_items,
    "item_found": _item_found,
}
"""How each question is answered: with an object of its shape, or with plain text."""
