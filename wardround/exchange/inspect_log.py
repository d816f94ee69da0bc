"""The export to Inspect: a log that `inspect view` opens and `read_eval_log` reads, a zip file of JSON."""

import shutil
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from typing import IO

import msgspec

from wardround.engine.events import Acted, digest_of
from wardround.engine.records import Json, Usage
from wardround.exchange.encounters import (
    Encounter,
    action_text,
    chats,
    encounters,
    model_name,
    opening_and_target,
    utc_stamp,
)
from wardround.runs.header import RunHeader, utc_now
from wardround.runs.stored_run import Run

_JOINED = 100_000
"""The most ids of samples that the header of the log lists; those of later samples are left out."""


async def write_inspect_log(run: Run, seat: str, file: IO[bytes]) -> int:
    """Write the run, seen from `seat`; returns the number of samples.

    A sample is an episode: its id is the case, its epoch the repeat, its messages the last conversation of the seat. A
    score without a value stands in the sample's metadata with its reason, because Inspect has no missing values; the
    means count only what has a value.
    """
    spec = _spec(run, seat)
    plan = {"name": "plan", "steps": [], "config": {}}
    tallies: dict[str, _Tally] = {}
    spent, count, completed, began, ended = Usage(), 0, 0, inf, 0.0
    ids: dict[str, None] = {}
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive,
        tempfile.TemporaryFile() as summaries,
    ):
        async for one in encounters(run):
            sample = await _sample(run, seat, one)
            archive.writestr(f"samples/{one.row.case}_epoch_{one.row.repeat}.json", msgspec.json.encode(sample))
            summary = msgspec.json.encode({**_summary(sample), "completed": one.row.cause is not None})
            summaries.write((b"," if count else b"[") + summary)
            count, completed = count + 1, completed + ("error" not in sample)
            began, ended = min(began, one.trajectory.events[0].at), max(ended, one.trajectory.events[-1].at)
            if len(ids) < _JOINED:
                ids[one.row.case] = None
            for name, score in one.scores.items():
                tallies.setdefault(name, _Tally()).add(score.value)
            spent += one.trajectory.usage(seat)
        spec["dataset"] |= {"samples": len(await run.index()), "sample_ids": list(ids)}
        archive.writestr("_journal/start.json", msgspec.json.encode({"version": 2, "eval": spec, "plan": plan}))
        summaries.write(b"]" if count else b"[]")
        summaries.seek(0)
        with archive.open("summaries.json", "w") as place:
            shutil.copyfileobj(summaries, place)
        header = {
            "version": 2,
            "status": "success" if "open" not in await run.endings() else "cancelled",
            "eval": spec,
            "plan": plan,
            "results": {
                "total_samples": count,
                "completed_samples": completed,
                "scores": [tally.as_json(name) for name, tally in tallies.items()],
            },
            "stats": {
                "started_at": utc_stamp(began) if count else "",
                "completed_at": utc_stamp(ended) if count else "",
                "model_usage": {spec["model"]: _tokens(spent)},
            },
        }
        archive.writestr("header.json", msgspec.json.encode(header))
    return count


def _spec(run: Run, seat: str) -> dict[str, Json]:
    header = run.header
    digest = digest_of(f"{run.name} {header.begun}")
    return {
        "created": header.begun or utc_now(),
        "task": f"wardround/{header.scenario.name}",
        "task_id": digest[:22],
        "eval_id": digest[10:32],
        "run_id": run.name,
        "task_version": 0,
        "task_args": {},
        "dataset": {"name": str(header.cases.source), "shuffled": False},
        "model": model_name(header.seats.get(seat)),
        "model_args": {},
        "model_generate_config": {},
        "config": {"epochs": header.repeats if isinstance(header, RunHeader) else 1},
        "packages": {"wardround": version("wardround")},
        "metadata": {"wardround": {"run": run.name, "seat": seat, "seed": header.seed}},
    }


async def _sample(run: Run, seat: str, one: Encounter) -> dict[str, Json]:
    opening, target = await opening_and_target(run, one.row.case)
    chat = (await chats(run, one.trajectory, seat))[-1]
    model = model_name(run.header.seats.get(seat))
    sample_id = digest_of(f"{run.name}/{one.row.id}")
    messages = [_message(message, f"{sample_id[:16]}{place}", model) for place, message in enumerate(chat)]
    answers = [message for message in messages if message["role"] == "assistant"]
    first, last = one.trajectory.events[0], one.trajectory.events[-1]
    answer = (one.trajectory.ending.facts.get("answer") if one.trajectory.ending else None) or {}
    answer_text = "; ".join(map(str, answer.values())) if isinstance(answer, Mapping) else str(answer)
    usage = one.trajectory.usage(seat)
    sample: dict[str, Json] = {
        "id": one.row.case,
        "epoch": one.row.repeat,
        "uuid": sample_id,
        "input": opening or (_text(messages[0]["content"]) if messages else ""),
        "target": target,
        "messages": messages,
        "output": _output(model, answers, usage),
        "scores": {
            name: {"value": score.value, "answer": answer_text or None, "explanation": score.reason or None}
            for name, score in one.scores.items()
            if score.value is not None
        },
        "metadata": {
            "episode": one.row.id,
            "ending": one.ending,
            "unscored": {name: score.reason for name, score in one.scores.items() if score.value is None},
        },
        "store": {},
        "events": [_info(event, first.at) for event in one.trajectory.acted()],
        "model_usage": {model: _tokens(usage)},
        "attachments": {},
        "started_at": utc_stamp(first.at),
        "completed_at": utc_stamp(last.at),
        "total_time": max(0.0, last.at - first.at),
    }
    if one.row.cause in ("provider", "limit", None):
        sample["error"] = {
            "message": f"the episode {'ended by ' if one.row.cause else 'is '}{one.ending}",
            "traceback": "",
            "traceback_ansi": "",
        }
    return sample


def _message(message: Mapping[str, Json], name: str, model: str) -> dict[str, Json]:
    role = message["role"] if message["role"] in ("system", "user", "assistant", "tool") else "user"
    content: Json = message["content"]
    if isinstance(content, list):
        content = [_part(part) for part in content if isinstance(part, dict)]
    made: dict[str, Json] = {"id": name, "role": role, "content": content or ""}
    if role == "assistant":
        made |= {"source": "generate", "model": model}
        if thinking := message.get("reasoning_content"):
            said = content if isinstance(content, list) else [{"type": "text", "text": content or ""}]
            made["content"] = [{"type": "reasoning", "reasoning": thinking}, *said]
        if calls := message.get("tool_calls"):
            made["tool_calls"] = [_tool_call(call) for call in calls]
    if role == "tool":
        made["tool_call_id"] = message.get("tool_call_id", "")
    return made


def _text(content: Json) -> str:
    return "\n".join(part.get("text", "") for part in content) if isinstance(content, list) else str(content)


def _part(part: Mapping[str, Json]) -> dict[str, Json]:
    """A part of a chat message as Inspect has it; an image that is only known by reference stays a text."""
    image = part.get("image_url")
    url = image.get("url", "") if isinstance(image, Mapping) else ""
    if part.get("type") == "image_url" and url.startswith(("data:", "https:")):
        return {"type": "image", "image": url, "detail": "auto"}
    return {"type": "text", "text": str(part.get("text", f"[{url or part.get('type')}]"))}


def _tool_call(call: Mapping[str, Json]) -> dict[str, Json]:
    function = call.get("function", {})
    try:
        arguments = msgspec.json.decode(function.get("arguments") or "{}")
    except msgspec.DecodeError:
        arguments = {"arguments": function.get("arguments")}
    arguments = arguments if isinstance(arguments, dict) else {"arguments": arguments}
    return {"id": call.get("id", ""), "function": function.get("name", ""), "arguments": arguments, "type": "function"}


def _output(model: str, answers: Sequence[Mapping[str, Json]], usage: Usage) -> dict[str, Json]:
    choices = [{"message": answers[-1], "stop_reason": "stop"}] if answers else []
    return {"model": model, "choices": choices, "usage": _tokens(usage)}


def _info(event: Acted, began: float) -> dict[str, Json]:
    action = event.action
    data = {"seat": event.seat, "verb": action.verb, "text": action_text(event), "args": action.args, "seq": event.seq}
    at = {"timestamp": utc_stamp(event.at), "working_start": max(0.0, event.at - began)}
    return {"event": "info", "source": "wardround", "data": data, **at}


def _summary(sample: Mapping[str, Json]) -> dict[str, Json]:
    kept = ("id", "epoch", "input", "target", "scores", "metadata", "uuid", "model_usage", "total_time")
    failed = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {
        **{name: sample[name] for name in kept},
        "input": sample["input"][:1000],
        "message_count": len(sample["messages"]),
    } | failed


@dataclass
class _Tally:
    """The scores of one name: their sum and number, and the number of those without a value."""

    total: float = 0.0
    scored: int = 0
    missing: int = 0

    def add(self, value: float | None) -> None:
        if value is None:
            self.missing += 1
        else:
            self.total, self.scored = self.total + value, self.scored + 1

    def as_json(self, name: str) -> dict[str, Json]:
        mean = {"mean": {"name": "mean", "value": self.total / self.scored, "params": {}}} if self.scored else {}
        counts = {"scored_samples": self.scored, "unscored_samples": self.missing}
        return {"name": name, "scorer": "wardround", "params": {}, **counts, "metrics": mean}


def _tokens(usage: Usage) -> dict[str, Json]:
    total = usage.prompt + usage.completion
    counts = {"input_tokens": usage.prompt, "output_tokens": usage.completion, "total_tokens": total}
    return {**counts, "reasoning_tokens": usage.reasoning, "input_tokens_cache_read": usage.cached}
