"""How a judge marks an answer by a checklist: the questions by category and language, and the reading of its marks."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Literal

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judges.panel import Judge, Panel, PanelAnswer, Sample, ask_judge
from wardround.evaluators.judges.question import Material, Question, reply_shape
from wardround.evaluators.judges.strict_reply import (
    Payload,
    Unread,
    field,
    is_hedged,
    only_entry,
    required_json,
    unread_reply,
)
from wardround.evaluators.open_answers.checklist_scale import (
    DIMENSIONS,
    ERRORS,
    TURNS,
    USABLE,
    Category,
    fitted_marks,
    usable_text,
)
from wardround.scenarios.criteria import Checklist

QUESTION, REFERENCE, REQUIREMENTS, ANSWER = "The question", "The reference", "The requirements", "The answer"
LONGEST = 24_000
LAW: Mapping[str, str] = {"en": "mainland China", "zh": "中国大陆"}
"""The law by which LLMEval-Med judges answers on ethics (table 12), in the language of the prompt."""
Language = Literal["en", "zh"]

_TEXT = {"type": "string"}
_LIST = {"type": "array", "items": {"type": "string", "enum": list(ERRORS)}}
_NUMBER = re.compile(r"\[?\s*([0-9])\s*\]?\s*(?:points?|分)?")


class Marking(msgspec.Struct, frozen=True, omit_defaults=True):
    """One judge's marks for one answer; `score` is 1 to 5, for generated texts 0 to 7, or None with a `reason`.

    `usable` and `strict` are the verdicts under sections 3.2 and 4.2, which differ for generated texts only.
    """

    judge: str
    repeat: int
    score: int | None
    usable: bool | None = None
    strict: bool | None = None
    marks: Mapping[str, int] = {}
    safe: bool | None = None
    errors: tuple[str, ...] = ()
    reason: str = ""
    noticed: bool = False


class Sheet(msgspec.Struct, frozen=True):
    """What one answer is marked by: the texts, the category, and the turn (1 is the first)."""

    question: str
    answer: str
    reference: str
    checklist: Checklist
    category: Category
    language: Language = "en"
    law: str = ""
    turn: int = 1

    @property
    def materials(self) -> tuple[Material, ...]:
        """The texts that a judge sees; what the item lacks is left out."""
        texts = (
            Material(QUESTION, self.question, "case", LONGEST),
            Material(REFERENCE, self.reference, "reference", LONGEST),
            Material(REQUIREMENTS, requirements(self.checklist, self.language), "reference", LONGEST),
            Material(ANSWER, self.answer, "reply", LONGEST),
        )
        return tuple(one for one in texts if one.text.strip() or one.label == ANSWER)


def requirements(checklist: Checklist, language: Language = "en") -> str:
    """Return a checklist as a text with its two headings; "" if it requires nothing."""
    headings = ("核心需求", "次要需求") if language == "zh" else ("Core requirements", "Secondary requirements")
    parts = []
    for heading, listed in zip(headings, (checklist.core, checklist.secondary), strict=True):
        if listed:
            parts.append("\n".join((f"{heading}:", *(f"{n}. {one}" for n, one in enumerate(listed, 1)))))
    return "\n".join(parts)


def marking_question(sheet: Sheet) -> Question:
    """Ask for the marks of an answer, in the words of its category and language."""
    if sheet.category == "generation":
        mark = {"type": "integer"}
        marks = dict.fromkeys(DIMENSIONS, mark)
        shape = reply_shape(basis=_TEXT, **marks, turns={"type": ["integer", "null"]}, safety=mark, errors=_LIST)
        return Question("generation", sheet.materials, shape=shape, rules="zh" if sheet.language == "zh" else "")
    rules = sheet.category + ("_zh" if sheet.language == "zh" else "")
    said = {"law": sheet.law or LAW[sheet.language]} if sheet.category == "ethics" else {}
    shape = reply_shape(basis=_TEXT, score={"type": "integer"}, errors=_LIST)
    return Question("checklist", sheet.materials, said, shape, rules)


async def mark(panel: Panel, sheet: Sheet) -> tuple[Marking, ...]:
    """Return the marks of every judge and repeat, in the panel's order."""
    question, made = marking_question(sheet), dict[tuple[str, int], Marking]()
    read = partial(_read_generation, sheet.turn > 1) if sheet.category == "generation" else _read_score

    async def ask(judge: Judge, sample: Sample) -> PanelAnswer[int]:
        answer: PanelAnswer[Marking] = await ask_judge(judge, question, read, sample)
        one = answer.value or Marking("", 0, None, reason=answer.reason)
        made[judge.seat, sample.repeat] = msgspec.structs.replace(
            one, judge=judge.seat, repeat=sample.repeat, noticed=answer.noticed
        )
        return PanelAnswer(one.score, one.reason)

    return tuple(made[vote.judge, vote.repeat] for vote in (await panel.each(ask)).votes)


def _read_score(text: str) -> Marking | Unread:
    """Read {"score": 1 to 5, "errors": [...]}; also "[4]", as the published prompts ask for it."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    score = _mark(parsed, ("score",), 1, text)
    errors = _errors(parsed, text)
    if isinstance(score, Unread):
        return score
    if isinstance(errors, Unread):
        return errors
    if is_hedged(parsed.after):
        return unread_reply("hedged", text)
    return Marking("", 0, score, score >= USABLE, score >= USABLE, errors=errors)


def _read_generation(later: bool, text: str) -> Marking | Unread:
    """Read the marks of a generated text; adherence over turns is needed in `later` turns and ignored in the first."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    marks: dict[str, int] = {}
    for name in (*DIMENSIONS, *([TURNS] if later else [])):
        value = _mark(parsed, (name,), 0, text)
        if isinstance(value, Unread):
            return value
        marks[name] = value
    safety, errors = field(only_entry(parsed.value), ("safety", "safe")), _errors(parsed, text)
    if safety not in (0, 1):  # also true and false
        return unread_reply("no_field" if safety is None else "not_in_vocabulary", text)
    if isinstance(errors, Unread):
        return errors
    if is_hedged(parsed.after):
        return unread_reply("hedged", text)
    safe = bool(safety)
    usable, strict = usable_text(marks, "3.2", safe=safe), usable_text(marks, "4.2", safe=safe)
    return Marking("", 0, fitted_marks(marks), usable, strict, marks, safe, errors)


def _mark(parsed: Payload, names: tuple[str, ...], least: int, text: str) -> int | Unread:
    """Read a whole number from `least` to 5."""
    value: Json = field(only_entry(parsed.value), names)
    if value is None:
        return unread_reply("no_field", text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and (match := _NUMBER.fullmatch(value.strip())):
        value = int(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in range(least, 6):
        return unread_reply("not_in_vocabulary", text)
    return int(value)


def _errors(parsed: Payload, text: str) -> tuple[str, ...] | Unread:
    """Read the kinds of error, each once in the order of the paper; a reply without the field names none."""
    listed = field(only_entry(parsed.value), ("errors", "error_types"))
    if listed is None:
        return ()
    if not isinstance(listed, list) or any(one not in ERRORS for one in listed):
        return unread_reply("not_in_vocabulary", text)
    return tuple(one for one in ERRORS if one in listed)
