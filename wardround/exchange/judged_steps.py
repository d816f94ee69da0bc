"""The stored judgements of the published results of MedR-Bench, as accounts of our own evaluator."""

from collections.abc import Mapping, Sequence

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.reasoning.evaluator import combined_part
from wardround.evaluators.reasoning.reasoning_record import PartAccount, ReferenceAccount, StepAccount
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict


def judged_reply(row: Mapping[str, Json], where: str = "a stored evaluation") -> PartAccount:
    """The formal part as judged: `reasoning_eval` and `gt_reasoning_eval` of one case.

    A step that is not factual is wrong if its last judgment is Wrong, and unverifiable if the judge still wanted to
    search. The last reference step is the final answer (prompt 14). Raises UsageError naming `where`.
    """
    steps = [_step(fields, where) for fields in _rows(row, "reasoning_eval", where)]
    # examination reasoning is stored without a reference
    fields = _rows(row, "gt_reasoning_eval", where) if "gt_reasoning_eval" in row else None
    reference = (
        None if fields is None else tuple(_reference(one, place == len(fields) - 1) for place, one in enumerate(fields))
    )
    return combined_part("formal", tuple(steps), "" if steps else "no_steps", reference)


def _rows(row: Mapping[str, Json], name: str, where: str) -> Sequence[Mapping[str, Json]]:
    fields = row.get(name)
    if not isinstance(fields, list) or not all(isinstance(one, Mapping) for one in fields):
        raise UsageError(f"{where}: `{name}` is not a list of judged steps")
    return fields


def _step(fields: Mapping[str, Json], where: str) -> StepAccount:
    text, label = str(fields.get("step", "")), str(fields.get("efficiency", "")).casefold()
    if label not in set(StepClass):
        raise UsageError(f"{where}: a step is labelled {label!r}; the classes are {', '.join(StepClass)}")
    if label != StepClass.REASONING:
        return StepAccount(text, StepClass(label))
    return StepAccount(text, StepClass.REASONING, _verdict(fields))


def _verdict(fields: Mapping[str, Json]) -> StepVerdict:
    if _true(fields.get("factulity")):
        return StepVerdict.CORRECT
    path = fields.get("judgment_path") or [{}]
    return StepVerdict.UNVERIFIABLE if str(path[-1].get("judgment")).casefold() == "search" else StepVerdict.WRONG


def _reference(fields: Mapping[str, Json], last: bool) -> ReferenceAccount:
    return ReferenceAccount(str(fields.get("step", "")), _true(fields.get("hit")), final=last)


def _true(value: Json) -> bool:
    return str(value) == "True"
