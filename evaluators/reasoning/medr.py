"""Stored step labels of MedR-Bench's evaluator (paper 002) as a judged reply, upstream spelling and all."""

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.engine.errors import UsageError
from wardround.evaluators.reasoning.judged_reply import JudgedReply, JudgedStep, ReferenceStep, StepClass, Verdict


def judged_reply(row: Mapping[str, Any], where: str = "a stored evaluation") -> JudgedReply:
    """The formal part as judged: `reasoning_eval` and `gt_reasoning_eval` of one case.

    A step that is not factual is wrong if its last judgment is Wrong, and unverifiable if the judge still wanted to
    search. The last reference step is the final answer (prompt 14). Raises UsageError naming `where`.
    """
    steps = [_step(held, where) for held in _rows(row, "reasoning_eval", where)]
    # examination reasoning is stored without a reference
    held = _rows(row, "gt_reasoning_eval", where) if "gt_reasoning_eval" in row else None
    reference = (
        None if held is None else tuple(_reference(one, place == len(held) - 1) for place, one in enumerate(held))
    )
    return JudgedReply("formal", tuple(steps), reference, "" if steps else "no_steps")


def _rows(row: Mapping[str, Any], name: str, where: str) -> Sequence[Mapping[str, Any]]:
    held = row.get(name)
    if not isinstance(held, list) or not all(isinstance(one, Mapping) for one in held):
        raise UsageError(f"{where}: `{name}` is no list of judged steps")
    return held


def _step(held: Mapping[str, Any], where: str) -> JudgedStep:
    text, label = str(held.get("step", "")), str(held.get("efficiency", "")).casefold()
    if label not in set(StepClass):
        raise UsageError(f"{where}: a step is labelled {label!r}; the classes are {', '.join(StepClass)}")
    if label != StepClass.REASONING:
        return JudgedStep(text, StepClass(label))
    return JudgedStep(text, StepClass.REASONING, _verdict(held))


def _verdict(held: Mapping[str, Any]) -> Verdict:
    if _true(held.get("factulity")):
        return Verdict.CORRECT
    path = held.get("judgment_path") or [{}]
    return Verdict.UNVERIFIABLE if str(path[-1].get("judgment")).casefold() == "search" else Verdict.WRONG


def _reference(held: Mapping[str, Any], last: bool) -> ReferenceStep:
    return ReferenceStep(str(held.get("step", "")), {"reasoning": _true(held.get("hit"))}, last)


def _true(value: Any) -> bool:
    return str(value) == "True"
