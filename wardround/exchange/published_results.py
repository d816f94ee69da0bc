"""Reads the results that published code writes: MedR-Bench, HealthBench, AgentClinic."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from wardround.agents.recorded import split_reply
from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, Score
from wardround.engine.text import file_text, read_json
from wardround.evaluators.open_answers.rubric_points import rubric_score
from wardround.evaluators.reasoning.reasoning_record import (
    PartAccount,
    ReferenceAccount,
    StepAccount,
    combined_part,
    scores,
)
from wardround.evaluators.reasoning.step_questions import StepClass, StepVerdict
from wardround.exchange.result_record import Result, Turn, UnreadableField, read_all
from wardround.scenarios.loaders.question_sets import HealthBench
from wardround.scenarios.question_item import QuestionItem

_JUDGE = re.compile(r"accuracy_judge_(?P<judge>[A-Za-z0-9._-]+)$")


def is_medrbench(value: Json) -> bool:
    """Whether a JSON value is an object of cases with replies or verdicts of MedR-Bench."""
    if not isinstance(value, dict) or not value:
        return False
    first = next(iter(value.values()))
    return isinstance(first, dict) and (
        "results" in first
        or isinstance(first.get("accuracy"), bool)
        or all(isinstance(one, dict) and "content" in one for one in first.values())
    )


def medrbench(path: Path, model: str) -> Iterator[Result]:
    """The replies and judgements of a MedR-Bench result file; `model` chooses where it has several.

    `origin_accuracy` is the stored verdict, named after its judge where the file holds nothing else. The three scores
    of the reasoning are computed from the stored steps by the published rules. Raises UsageError that lists the cases
    which cannot be read, or says that the file is of another kind.
    """
    value = read_json(path, file_text(path))
    if not is_medrbench(value):
        raise UsageError(f"{path}: no case has `results`, `accuracy` or models with `content`")
    judge = _JUDGE.search(path.stem)
    by = judge["judge"] if judge else ""
    cases = ((f"case {case}", partial(_medrbench_case, path, case, row, model, by)) for case, row in value.items())
    yield from read_all(path, cases)


def _medrbench_case(path: Path, case: str, row: Json, model: str, judge: str) -> Result:
    if not isinstance(row, dict):
        raise ValueError("is not an object")
    reply = row.get("results")
    if reply is None and "accuracy" not in row and "reasoning_eval" not in row:
        if len(row) > 1 and not model:
            raise UsageError(f"{path}, case {case}: holds several models; name one by --model: {', '.join(row)}")
        if (chosen := model or next(iter(row), "")) not in row:
            raise ValueError(f"has no model {chosen!r}; it has: {', '.join(row)}")
        reply, named = row[chosen], chosen
    else:
        named = model or _model_of(path)
    origin_scores: list[Score] = []
    if "accuracy" in row:
        name = "origin_accuracy" if reply is not None or not judge else f"origin_accuracy_{judge}"
        origin_scores.append(_verdict(name, row["accuracy"]))
    if "reasoning_eval" in row:
        try:
            computed = scores(judged_reply(row, "its steps"), "published")
        except UsageError as error:
            raise ValueError(str(error)) from error
        origin_scores += [Score(f"origin_{_short(one.name)}", one.value, one.reason) for one in computed]
    if reply is None:
        return Result(str(path), case, model=named, scores=origin_scores)
    if not isinstance(reply, dict) or "content" not in reply:
        raise ValueError("`results` is not an object with `content`")
    if reply["content"] is None:
        return Result(str(path), case, model=named, scores=origin_scores)
    text, thinking = reply["content"], reply.get("thinking_process") or ""
    if not isinstance(text, str) or not isinstance(thinking, str):
        raise ValueError("`content` and `thinking_process` must be text")
    text, thinking = split_reply(text, thinking)
    return Result(
        str(path), case, [Turn("doctor", Action("reply", text, thinking=thinking))], model=named, scores=origin_scores
    )


def _short(name: str) -> str:
    return name.removeprefix("published_").removesuffix("_formal")


def _verdict(name: str, value: Json) -> Score:
    return Score(name, float(value)) if isinstance(value, bool) else Score(name, None, "no_verdict")


def _model_of(path: Path) -> str:
    """The model, which published files name between double underscores of the file's name."""
    parts = path.stem.split("__")
    return parts[1] if len(parts) > 1 else path.stem


def healthbench_rows(value: Json) -> list[Json] | None:
    """The graded examples in a HealthBench result; None for anything else."""
    if isinstance(value, dict):
        inside = value.get("metadata")
        value = value.get("example_level_metadata") or (
            inside.get("example_level_metadata") if isinstance(inside, dict) else None
        )
    if isinstance(value, list) and value and isinstance(value[0], dict) and "rubric_items" in value[0]:
        return value
    return None


def healthbench(path: Path, model: str) -> Iterator[Result]:
    """The answers of a HealthBench result file (`..._allresults.json`), with their rubrics and verdicts.

    `origin_score` is the stored score, `origin_rubric` the same computed from the stored verdicts by our formula.
    Raises UsageError as `medrbench` does.
    """
    rows = healthbench_rows(read_json(path, file_text(path)))
    if rows is None:
        raise UsageError(f"{path}: no list `example_level_metadata` of examples with `rubric_items`")
    examples = ((f"example {n}", partial(_healthbench_row, path, n, row, model)) for n, row in enumerate(rows, 1))
    yield from read_all(path, examples)


def _healthbench_row(path: Path, number: int, row: Json, model: str) -> Result:
    if not isinstance(row, dict):
        raise UnreadableField("", "is not an object")
    graded = row.get("rubric_items")
    if not isinstance(graded, list) or not all(isinstance(one, dict) for one in graded):
        raise UnreadableField("rubric_items", "is not a list of criteria")
    if not isinstance(row.get("prompt"), list):
        raise UnreadableField("prompt", "is not a list of messages")
    answer = row.get("completion")
    if isinstance(answer, list):
        answer = answer[-1].get("content") if answer and isinstance(answer[-1], dict) else None
    if not isinstance(answer, str):
        raise UnreadableField("completion", "has no text")
    try:
        [item] = HealthBench().cases(number, "", {**row, "rubrics": graded})
    except ValidationError as error:
        raise UnreadableField("rubric_items", str(error).splitlines()[0]) from error
    assert isinstance(item, QuestionItem), "the set has questions only"
    met = [one.get("criteria_met") for one in graded]
    if not all(isinstance(one, bool) for one in met):
        raise UnreadableField("criteria_met", "must be true or false in each of the rubric's items")
    stored = row.get("score")
    origin_scores = [Score("origin_rubric", rubric_score(item.rubric, met))]
    if isinstance(stored, int | float) and not isinstance(stored, bool):
        origin_scores.insert(0, Score("origin_score", float(stored)))
    turns = [Turn("doctor", Action("reply", answer))]
    return Result(
        f"{path}, example {number}", item.id, turns, model=model or path.stem, scores=origin_scores, item=item
    )


_SPEAKER = re.compile(r"^(?P<who>Doctor|Patient|Measurement) \[(?P<part>\d+)%\]: ?", re.MULTILINE)
_TRUTH = re.compile(r"^Correct answer: *(?P<said>.*)$", re.MULTILINE)
_SCENE = re.compile(r"^Scene (?P<number>\d+), The diagnosis was +(?P<verdict>CORRECT|INCORRECT)\b.*$", re.MULTILINE)


def is_agentclinic(text: str) -> bool:
    """Whether a text is what AgentClinic prints."""
    return _SPEAKER.search(text[:100_000]) is not None


def agentclinic(path: Path, model: str) -> Iterator[Result]:
    """The dialogues that AgentClinic printed, with the truth and its moderator's verdict (`origin_accuracy`).

    A scene ends with its verdict; one that reached no diagnosis has none, and ends where the next one begins. Raises
    UsageError for a text in which no doctor speaks.
    """
    text = file_text(path)
    marks = list(_SPEAKER.finditer(text))
    if not marks:
        raise UsageError(f"{path}: no line begins with `Doctor [5%]:`, as AgentClinic prints it")
    scenes: list[list[re.Match[str]]] = []
    reached = 101
    for place, mark in enumerate(marks):
        begins = mark["who"] == "Doctor" and int(mark["part"]) <= reached
        ended = place > 0 and _SCENE.search(text, marks[place - 1].end(), mark.start())
        if not scenes or ended or (begins and place > 0):
            scenes.append([])
        scenes[-1].append(mark)
        reached = int(mark["part"]) if mark["who"] == "Doctor" else reached
    number = -1
    for place, scene in enumerate(scenes):
        end = scenes[place + 1][0].start() if place + 1 < len(scenes) else len(text)
        scene_end, truth = _SCENE.search(text, scene[-1].end(), end), _TRUTH.search(text, scene[-1].end(), end)
        number = int(scene_end["number"]) if scene_end else number + 1
        stop = min([mark.start() for mark in (scene_end, truth) if mark] or [end])
        ends = [mark.start() for mark in scene[1:]] + [stop]
        turns = [
            Turn(_WHO[mark["who"]], Action("reply", text[mark.end() : until].strip()))
            for mark, until in zip(scene, ends, strict=True)
        ]
        verdict = Score("origin_accuracy", float(scene_end["verdict"] == "CORRECT")) if scene_end else None
        yield Result(
            f"{path}, line {text.count(chr(10), 0, scene[0].start()) + 1}",
            f"scene-{number:03d}",
            turns,
            ordinal=number,
            diagnosis=truth["said"].strip() if truth else "",
            model=model or path.stem,
            scores=[verdict or Score("origin_accuracy", None, "no_verdict")],
        )


_WHO: Mapping[str, str] = {"Doctor": "doctor", "Patient": "patient", "Measurement": "examiner"}


def judged_reply(row: Mapping[str, Json], where: str = "a stored evaluation") -> PartAccount:
    """The judged reasoning of one case of MedR-Bench, from its fields `reasoning_eval` and `gt_reasoning_eval`.

    A step that is not factual is unverifiable if the judge still wanted to search at its last judgment, and wrong
    otherwise. The last reference step is the final answer (prompt 14 of MedR-Bench). Raises UsageError naming `where`.
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
    return StepAccount(text, StepClass.REASONING, _step_verdict(fields))


def _step_verdict(fields: Mapping[str, Json]) -> StepVerdict:
    if _true(fields.get("factulity")):
        return StepVerdict.CORRECT
    path = fields.get("judgment_path") or [{}]
    return StepVerdict.UNVERIFIABLE if str(path[-1].get("judgment")).casefold() == "search" else StepVerdict.WRONG


def _reference(fields: Mapping[str, Json], last: bool) -> ReferenceAccount:
    return ReferenceAccount(str(fields.get("step", "")), _true(fields.get("hit")), final=last)


def _true(value: Json) -> bool:
    return str(value) == "True"
