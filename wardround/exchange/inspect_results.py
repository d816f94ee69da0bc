"""Reads logs of Inspect: `.eval` files, which are zip files of JSON, and logs of one JSON object."""

import math
import re
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.records import Json, Score
from wardround.engine.text import file_text, read_json
from wardround.exchange.result_record import (
    Result,
    chat_turns,
    content_parts,
    origin_name,
    read_all,
)
from wardround.scenarios.case import Provenance
from wardround.scenarios.question_item import LETTERS, QuestionItem, QuestionTruth

if sys.version_info >= (3, 14):
    import zipfile
else:  # current logs of Inspect are compressed by zstandard
    from backports.zstd import zipfile

_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""Inspect's own values of its letters: correct, incorrect, partial, no answer."""
_ATTACHED = "attachment://"
_UNFIT = re.compile(r"[^A-Za-z0-9_.-]+")


def is_inspect_log(value: Json) -> bool:
    """Whether a JSON value is a log of Inspect."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "samples" in value


def inspect_results(path: Path, model: str) -> Iterator[Result]:
    """The samples of a log: dialogues, or questions where every sample has choices and a letter as target."""
    spec, samples = _read_zip(path) if zipfile.is_zipfile(path) else _whole(path)
    named = model or str(spec.get("model") or path.stem).removeprefix("imported:")
    places = [f"sample {one.get('id', n) if isinstance(one, dict) else n}" for n, one in enumerate(samples, 1)]
    read = read_all(
        path,
        (
            (place, partial(_result, path, place, number, sample, named))
            for number, (place, sample) in enumerate(zip(places, samples, strict=True), 1)
        ),
    )
    asked = all(one.item is not None for one in read if not one.lost)
    for one in read:
        yield one if asked or one.lost or one.item is None else _without_item(one)


def _without_item(one: Result) -> Result:
    return Result(one.where, one.case, one.turns, one.repeat, opening=one.opening, model=one.model, scores=one.scores)


def _whole(path: Path) -> tuple[Mapping[str, Json], list[Json]]:
    value = read_json(path, file_text(path))
    if not is_inspect_log(value):
        raise UsageError(f"{path}: is not a log of Inspect: it has no `eval` and `samples`")
    return value["eval"], value["samples"] or []


def _read_zip(path: Path) -> tuple[Mapping[str, Json], list[Json]]:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        start = next((name for name in ("header.json", "_journal/start.json") if name in names), "")
        wanted = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
        if not start:
            raise UsageError(f"{path}: is a zip file, but no log of Inspect: it holds no header.json")
        try:
            header = read_json(path, archive.read(start).decode(), start)
            samples = [read_json(path, archive.read(name).decode(), name) for name in wanted]
        except (NotImplementedError, RuntimeError) as error:
            raise UsageError(
                f"{path}: is compressed in a way that this Python cannot read ({error}); "
                "write it as JSON first: inspect log convert --to json --output-dir DIR FILE"
            ) from error
        except (zipfile.BadZipFile, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: is damaged: {error}") from error
    return header.get("eval", {}), samples


def _result(path: Path, place: str, number: int, sample: Json, model: str) -> Result:
    if not isinstance(sample, dict):
        raise ValueError("is not an object")
    messages = sample.get("messages")
    if not isinstance(messages, list):
        raise ValueError("`messages` is not a list")
    attached = sample.get("attachments") or {}
    opening, turns = chat_turns([_resolve_texts(message, attached) for message in messages])
    if not any(turn.seat == "doctor" for turn in turns):
        if sample.get("error"):
            return Result(f"{path}, {place}", str(sample.get("id", number)), lost="it ended by an error")
        raise ValueError("`messages` holds no word of the assistant")
    case, repeat = str(sample.get("id", number)), sample.get("epoch")
    prompt = sample.get("input")
    asked = prompt if isinstance(prompt, str) else chat_turns(prompt)[0] if isinstance(prompt, list) else ""
    target = sample.get("target")
    right = target if isinstance(target, str) else "; ".join(map(str, target or ()))
    item = _question(case, asked, sample.get("choices"), right)
    return Result(
        f"{path}, {place}",
        case,
        turns,
        repeat if isinstance(repeat, int) else 0,
        opening=opening or asked,
        diagnosis="" if item else right,
        model=model,
        scores=list(_scores(sample.get("scores") or {})),
        item=item,
    )


def _resolve_texts(message: Json, attached: Mapping[str, Json]) -> Json:
    """A message whose long texts, which the log keeps apart, stand in their place."""
    if not isinstance(message, dict):
        return message
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": _text(content, attached)}
    if isinstance(content, list):
        parts = [
            {name: _text(value, attached) if isinstance(value, str) else value for name, value in part.items()}
            for part in content
            if isinstance(part, dict)
        ]
        return {**message, "content": parts}
    return message


def _text(text: str, attached: Mapping[str, Json]) -> str:
    if not text.startswith(_ATTACHED):
        return text
    name = text.removeprefix(_ATTACHED)
    if name not in attached:
        raise ValueError(f"the attachment {name} is missing")
    return str(attached[name])


def _question(case: str, asked: str, choices: Json, target: str) -> QuestionItem | None:
    if not isinstance(choices, list) or len(choices) < 2 or len(target) != 1 or target not in LETTERS:
        return None
    place = LETTERS.index(target)
    if place >= len(choices) or not asked.strip():
        return None
    return QuestionItem(
        id=case,
        form="choice",
        question=asked,
        options=tuple(content_parts(one)[0] for one in choices),
        truth=QuestionTruth(option=place),
        provenance=Provenance(source="Inspect log", record=case),
        data_class="restricted",
    )


def _scores(scores: Mapping[str, Json]) -> Iterator[Score]:
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts = value.items() if isinstance(value, dict) else [("", value)]
        for part, one in parts:
            full = origin_name(_UNFIT.sub("_", f"{name}{f'.{part}' if part else ''}"))
            number = _GRADES.get(one) if isinstance(one, str) else one
            if isinstance(number, bool | int | float) and math.isfinite(number):
                yield Score(full, float(number))
            else:
                yield Score(full, None, "not_a_number")
