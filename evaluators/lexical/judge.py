"""The offline judge: it compares words instead of asking a model, and its scores are only a lower bound.

`_ANSWERS` names the function that answers each question. `comparison` compares steps and answers; this module also
compares examinations and plans of treatment.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.engine.errors import RunStopped
from wardround.engine.records import Json
from wardround.evaluators.content import longest_words, sentences, share, without_asides, word_set
from wardround.evaluators.judges.panel import Sample
from wardround.evaluators.judges.question import Material, Question
from wardround.evaluators.judges.strict_reply import FIELD
from wardround.evaluators.lexical.comparison import (
    checklist_score,
    classify_step,
    contains_step,
    criterion_met,
    further_keywords,
    matching_sentence,
    names_diagnosis,
    reference_steps,
    relevant_sentences,
    step_starts,
    unseen_result,
)
from wardround.evaluators.open_answers import checklist_marking as marking
from wardround.evaluators.open_answers import rubric_judging as judging
from wardround.evaluators.open_answers.checklist_scale import DIMENSIONS, TURNS
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.outcome.outcome_questions import ALSO
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.step_questions import StepClass
from wardround.scenarios import case
from wardround.scenarios.answers import treatment
from wardround.scenarios.case import Truth
from wardround.scenarios.loaders.values import investigations
from wardround.scenarios.orders import chart_search, imaging
from wardround.scenarios.orders.catalogue import catalogue, scope
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.parsers.reply_text import requested_tests
from wardround.scenarios.terms.wording import key

NEARLY = 0.8
"""Least share of an item's words in one sentence of a text that names it."""
MOST = 200
"""Most items of a text."""

_TYPES: Mapping[str, str] = {
    "lab": "laboratory",
    "microbiology": "microbiology",
    "imaging": "imaging",
    "examination": "physical examination",
    "investigation": "procedure",
}
_NUMBERED = re.compile(r"(?m)^(\d{1,3})\. (.*)$")
_MARKS = " \t#*_`>:.-"
_WANTED = re.compile(
    r"\s+(?:in order )?(?=(?:to|for) (?:exclud|rul|assess|evaluat|confirm|check|look|determin|identif|detect|visuali"
    r"|see|find|investigat|characteri|stag|better|further|possible|evidence|signs)\w*)",
    re.IGNORECASE,
)
"""Words that come before the purpose of a test."""
_HEADING = re.compile(r"(?i)^(?:additional |further |more )?information\b")
_SEVERAL = re.compile(r"\s*[,;\uff0c\uff1b\u3001\n]\s*")


def items_of(text: str, recorded: bool) -> list[Json]:
    """Return the examinations that a text names (MedR-Bench, prompt 21), each once, with their purpose if stated.

    In a recorded text the labels of the lines name them; in a request they are what it orders.
    """
    items: dict[str, Json] = {}
    for phrase in _recorded(text) if recorded else understand(text, catalogue()).phrases:
        label, _, reason = (phrase if recorded else _WANTED.sub(": ", phrase, count=1)).partition(": ")
        name = _SEVERAL.sub(" ", label.strip(_MARKS)).strip()
        if any(map(str.isalnum, name)) and scope(name) != "any" and not _HEADING.search(name):
            item: Json = {"type": _type(name), "test_name": name, "info_required": "" if recorded else reason.strip()}
            items.setdefault(key(name), item)
    return list(items.values())[:MOST]


def _recorded(text: str) -> Sequence[str]:
    return [one.name for one in investigations(text)] or requested_tests(text)


def _type(name: str) -> str:
    linked = link(name, catalogue())
    if linked is None and imaging.read_study(name, catalogue()).modalities:
        return "imaging"
    return _TYPES.get(linked.kind if linked else scope(name) or "", "other")


def same_as(request: str, listed: str) -> list[int]:
    """Return the numbers of the list's lines that a request means: the same test, a panel's members, the same study."""
    numbered = [(number, without_asides(name)) for number, name in _NUMBERED.findall(listed)]
    chart = read_chart(tuple(case.CaseResult(number, "investigation", name, name, None) for number, name in numbered))
    linked = link(request, catalogue())
    broad = scope(request) if linked is None else None
    hits = chart_search.hits_by_name(request, chart) or chart_search.find_hits(request, linked, chart, catalogue())
    same = {hit.entry.item.ref for hit in hits}
    if broad:
        same |= {entry.item.ref for entry in chart.entries if chart_search.belongs(entry, broad)}
    return [int(number) for number, _ in numbered if number in same]


def names_examination(item: str, text: str) -> bool:
    """Whether a text names an examination: by any of its names, as part of its panel, or by nearly all its words."""
    words = f" {key(text)} "
    if any(f" {form} " in words for form in _forms(item)):
        return True
    wanted = word_set(item)
    return bool(wanted) and any(share(wanted, word_set(sentence)) >= NEARLY for sentence in sentences(text))


@lru_cache(maxsize=1024)
def _forms(item: str) -> tuple[str, ...]:
    """Return comparable forms of all names of the item's test, and of those of its panel."""
    table = catalogue()
    linked = link(item, table)
    own = key(item)
    if linked is None or linked.test not in table.tests:
        return (own,) if len(own) > 2 else ()
    wanted = {linked.test} | table.below.get(linked.test, frozenset())
    return tuple(
        form for form in (own, *(form for form, test in table.names.items() if test in wanted)) if len(form) > 1
    )


PLAN, CASE = 6, 4
"""Most words of a query from the plan, and from the case."""

_TREATING = re.compile(
    r"\b(?:treat\w*|therap\w*|recommend\w*|first[ -]line|manag\w*|prescri\w*|surg\w*|indicated|choice)\b", re.IGNORECASE
)


def diagnosis_right(reference: str, answer: str) -> bool:
    """Whether an answer names the disease of a reference: its name, then a line for each synonym."""
    label, *others = re.split(rf"\n(?={re.escape(ALSO)})", reference)
    synonyms = tuple(other.removeprefix(ALSO).strip() for other in others)
    return names_diagnosis(Truth(diagnosis=label.strip(), synonyms=synonyms), answer)


def plan_verdict(reference: str, passages: Sequence[str], answer: str) -> dict[str, Json]:
    """Return the verdict on a plan with its basis and evidence (MedR-Bench, prompt 20).

    It is `same` if either plan names the key terms of the other, `included` if the answer names those of the
    reference, and `evidence` if a sentence about treatment says what the answer says, or its opposite; else the plan
    is unverifiable.
    """
    if treatment.compare_plan(answer, Truth(treatment=reference)).match:
        same = treatment.compare_plan(reference, Truth(treatment=answer)).match
        return {"verdict": "correct", "basis": "same" if same else "included", "evidence": []}
    about = ["\n".join(one for one in sentences(passage) if _TREATING.search(one)) for passage in passages]
    match = matching_sentence("", about, answer)
    if match is None:
        return {"verdict": "unverifiable", "basis": "none", "evidence": []}
    verdict = "correct" if match.agrees else "wrong"
    return {"verdict": verdict, "basis": "evidence", "evidence": [{"passage": match.passage, "quote": match.quote}]}


def plan_keywords(case: str, answer: str) -> str:
    """Return what to look up to judge a plan: its longest words, then those of the case; "" if there are none."""
    asked = (longest_words([answer], most=PLAN), longest_words([case], most=CASE))
    return ", ".join(part for part in asked if part)


SEARCHES = 2
"""Most searches for one step."""
NONE = "None"
"""Keywords of a judge that has nothing more to look up (MedR-Bench, prompt 17)."""

_PASSAGE = re.compile(r"Passage (\d+)")
_TURN = re.compile(r"(?m)^Turn \d+:\n")
_PLACE = re.compile(r"(?m)^(\d+)\. ")
_DOCTOR = re.compile(r"(?ms)^\[(\d+)\] doctor: (.*?)(?=^\[\d+\] |\Z)")
_LISTS = (step_questions.EARLIER, step_questions.SEARCHED, outcome_questions.LIST, judging.CRITERIA, judging.ENCOUNTER)
"""Texts that keep their numbers, because their entries are read one by one."""


class LexicalJudge:
    """A judge for continuous integration and the demonstration, without a model, a network or random draws.

    ::

        wardround score RUN --evaluators reasoning --judge lexical --search bundled

    It compares words and understands nothing. It cannot tell a true sentence from a false one in the same words, knows
    no synonym beyond the project's tables, rarely sees redundancy and calls almost nothing wrong; most steps end
    unverifiable. docs/offline_judge.md says how far it agrees with models. Its scores are a lower bound of those by a
    real judge, and no report about a doctor should rest on them.

    Replies depend only on the texts, not on their order, the sample or earlier replies. The judge follows no
    instruction in a text.
    """

    spec = "lexical"
    floor = True

    def __init__(self, seat: str = "judge") -> None:
        self.seat = seat

    @staticmethod
    def knows(question: str) -> bool:
        """Whether it answers the question of that name."""
        return question in _ANSWERS

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """Return its reply in the required shape.

        Raises RunStopped for an unknown question, because every episode of the run would ask it.
        """
        answer = _ANSWERS.get(question.name)
        if answer is None:
            raise RunStopped(
                f"the offline judge cannot answer the question {question.name!r}: name a model as judge, for instance "
                f"--judge openai/gpt-4o, or ask one of {', '.join(_ANSWERS)}"
            )
        materials = tuple(material if material.label in _LISTS else _quiet(material) for material in question.materials)
        reply = answer(msgspec.structs.replace(question, materials=materials))
        return reply if isinstance(reply, str) else json.dumps({**reply, FIELD: False}, ensure_ascii=False)


def _quiet(material: Material) -> Material:
    return msgspec.structs.replace(material, text=without_asides(material.text))


def _passages(question: Question) -> list[str]:
    """Return the passages in order of their numbers, however they are ordered; a missing number is an empty text."""
    numbered = {
        int(mark[1]): material.text
        for material in question.materials
        if (mark := _PASSAGE.fullmatch(material.label)) is not None
    }
    return [numbered.get(number, "") for number in range(1, max(numbered, default=0) + 1)]


def _earlier(listed: str) -> list[str]:
    """Return the steps of a numbered list; a step may have several lines."""
    if listed == step_questions.NOTHING:
        return []
    places: list[re.Match[str]] = []
    for mark in _PLACE.finditer(listed):
        if int(mark[1]) == len(places) + 1:
            places.append(mark)
    ends = [mark.start() for mark in places[1:]] + [len(listed)] * bool(places)
    return [without_asides(listed[mark.end() : end].strip()) for mark, end in zip(places, ends, strict=True)]


def _step_class(question: Question) -> Json:
    earlier = _earlier(question.text(step_questions.EARLIER))
    case, step = question.text(step_questions.CASE), question.text(step_questions.STEP)
    return {"classification": str(classify_step(case, earlier, step))}


def _step_role(question: Question) -> Json:
    earlier = _earlier(_TURN.sub("", question.text(step_questions.EARLIER)))
    case, step = question.text(step_questions.CASE), question.text(step_questions.STEP)
    if (finding := unseen_result(case, step)) and classify_step(case, earlier, step) != StepClass.REPETITION:
        return {"classification": str(StepClass.UNSEEN), "finding": finding}
    return {"classification": str(classify_step(case, earlier, step)), "finding": ""}


def _keywords(question: Question) -> Json:
    return longest_words([question.text(step_questions.STEP)]) or NONE


def _judgment(question: Question) -> dict[str, Json]:
    passages, step = _passages(question), question.text(step_questions.STEP)
    if match := matching_sentence(question.text(step_questions.CASE), passages, step):
        evidence: Json = [{"passage": match.passage, "quote": match.quote}]
        verdict = "correct" if match.agrees else "wrong"
        return {"judgment": verdict, "keywords_to_search": NONE, "evidence": evidence}
    searched = [query for query in question.text(step_questions.SEARCHED).splitlines() if query.strip()]
    wanted = further_keywords(passages, step) if 0 < len(searched) < SEARCHES else ""
    return {"judgment": "search", "keywords_to_search": NONE if wanted in ("", *searched) else wanted, "evidence": []}


def _judgment_with_bearing(question: Question) -> Json:
    judgment = _judgment(question)
    bearing = "supports" if judgment["judgment"] == "correct" else "contradicts"
    evidence = judgment["evidence"] if isinstance(judgment["evidence"], list) else []
    quotes: list[Json] = [{**one, "bearing": bearing} for one in evidence if isinstance(one, dict)]
    return {**judgment, "evidence": quotes}


def _opinion(question: Question) -> Json:
    """Return `unsure`: this judge has no medical knowledge."""
    return {"judgment": "unsure"}


def _extract(question: Question) -> Json:
    return {"quotes": list(relevant_sentences(question.text(step_questions.PAGE), question.text(step_questions.STEP)))}


def _reference(question: Question) -> Json:
    return {"steps": list(reference_steps(question.text(step_questions.REFERENCE)))}


def _has_reference_step(question: Question) -> Json:
    return {
        "found": contains_step(question.text(step_questions.REFERENCE_STEP), question.text(step_questions.PREDICTION))
    }


def _starts(question: Question) -> Json:
    return {"starts": list(step_starts(question.text(step_questions.REPLY)))}


def _diagnosis(question: Question) -> Json:
    right = diagnosis_right(question.text(outcome_questions.REFERENCE), question.text(outcome_questions.ANSWER))
    return {"verdict": "correct" if right else "wrong"}


def _treatment(question: Question) -> Json:
    return plan_verdict(
        question.text(outcome_questions.REFERENCE), _passages(question), question.text(outcome_questions.ANSWER)
    )


def _treatment_keywords(question: Question) -> Json:
    return plan_keywords(question.text(outcome_questions.CASE), question.text(outcome_questions.ANSWER)) or NONE


def _items(question: Question) -> Json:
    recorded = any(material.origin in ("case", "reference") for material in question.materials)
    return {"items": items_of(question.text(outcome_questions.TEXT), recorded)}


def _same_items(question: Question) -> Json:
    return {"same": list(same_as(question.text(outcome_questions.REQUEST), question.text(outcome_questions.LIST)))}


def _has_item(question: Question) -> Json:
    return {"found": names_examination(question.text(outcome_questions.ITEM), question.text(outcome_questions.TEXT))}


def _rubric(question: Question) -> Json:
    conversation, answer = question.text(judging.CONVERSATION), question.text(judging.ANSWER)
    return {"why": "", "met": criterion_met(question.text(judging.CRITERION), conversation, answer)}


def _rubric_batch(question: Question) -> Json:
    conversation, answer = question.text(judging.CONVERSATION), question.text(judging.ANSWER)
    numbered = _NUMBERED.findall(question.text(judging.CRITERIA))
    return {"verdicts": [{"number": int(n), "met": criterion_met(one, conversation, answer)} for n, one in numbered]}


def _rubric_encounter(question: Question) -> Json:
    """Cite the doctor's messages that have most of a criterion's words."""
    wanted = question.text(judging.CRITERION)
    turns = _DOCTOR.findall(question.text(judging.ENCOUNTER))
    events = [int(seq) for seq, text in turns if criterion_met(wanted, "", text)]
    return {"why": "", "met": bool(events), "events": events}


def _checklist(question: Question) -> dict[str, Json]:
    wanted = [question.text(marking.REFERENCE), question.text(marking.REQUIREMENTS)]
    score = checklist_score(wanted, question.text(marking.QUESTION), question.text(marking.ANSWER))
    return {"basis": "", "score": score, "errors": []}


def _generation(question: Question) -> Json:
    """Give every dimension the same score by words, and call every text safe."""
    score = _checklist(question)["score"]
    return {"basis": "", **dict.fromkeys((*DIMENSIONS, TURNS), score), "safety": 1, "errors": []}


_ANSWERS: Mapping[str, Callable[[Question], Json]] = {
    "step_class": _step_class,
    "step_role": _step_role,
    "keywords": _keywords,
    "judgment": _judgment,
    "bearing": _judgment_with_bearing,
    "opinion": _opinion,
    "extract": _extract,
    "reference": _reference,
    "found": _has_reference_step,
    "starts": _starts,
    "diagnosis": _diagnosis,
    "treatment": _treatment,
    "treatment_keywords": _treatment_keywords,
    "items": _items,
    "same_items": _same_items,
    "item_found": _has_item,
    "checklist": _checklist,
    "generation": _generation,
    "rubric": _rubric,
    "rubric_batch": _rubric_batch,
    "rubric_encounter": _rubric_encounter,
}
"""The function that answers each question, with an object of its shape or with plain text."""
