"""Counts the encounters that a model doctor loses by malformed replies when it acts in text, by tools or as JSON.

The same scripted doctor plays `consultation` in each interface. A share of its replies, drawn by seed, is malformed in
one of the ways in which models' replies are. Faults are drawn alike in every interface, so the three differ only in how
a fault is noticed and the reply asked for again. The figures hold for these faults and this share; they say nothing
about any model.
"""

import json
import random
from collections.abc import Callable, Mapping, Sequence

import anyio

from benchmarks.figure import Figure
from wardround import run
from wardround.engine.records import Completion, Json, Message
from wardround.engine.seat import seed_of
from wardround.testing.memory_store import MemoryStore

RATE = 0.2
"""The share of replies that are malformed."""
Act = tuple[str, Mapping[str, Json]]
ACTS: Sequence[Act] = (
    ("ask", {"text": "When did it begin?"}),
    ("order", {"kind": "any", "items": ["CBC", "Lipase"]}),
    ("order", {"kind": "examination", "items": []}),
    ("ask", {"text": "Does anything run in the family?"}),
    ("conclude", {"diagnosis": "Gout"}),
)
_TEXT: Mapping[str, Callable[[Mapping[str, Json]], str]] = {
    "ask": lambda arguments: f"ASK: {arguments['text']}",
    "order": lambda arguments: f"ORDER: {', '.join(arguments['items']) or 'physical examination'}",
    "conclude": lambda arguments: f"DIAGNOSIS READY: {arguments['diagnosis']}",
}
FAULTS = ("empty", "cut", "unknown", "no_arguments", "template", "refusal")


def written(interface: str, act: Act, fault: str) -> str | Completion:
    """Write an act in one of the interfaces, with a fault; "" is no fault."""
    verb, arguments = act
    if fault == "empty":
        return ""
    if fault == "refusal":
        return "I'm sorry, but I cannot help with that."
    if fault == "unknown":
        verb = "dance"
    if fault == "no_arguments":
        arguments = {}
    if fault == "template":
        arguments = {name: f"<{name}>" for name in arguments}
    if interface == "tools":
        body = json.dumps(arguments)
        return _call(verb, body[: len(body) // 2] if fault == "cut" else body)
    if interface == "json":
        body = json.dumps({"verb": verb, **arguments})
    elif verb == "dance":
        body = "DANCE: once around the bed"
    else:
        body = _TEXT[verb]({"text": "", "items": [], "diagnosis": "", **arguments})
    return body[: len(body) // 2] if fault == "cut" else body


def _call(verb: str, arguments: str) -> Completion:
    function = {"name": verb, "arguments": arguments}
    return Completion("", more={"tool_calls": [{"id": "c", "type": "function", "function": function}]})


class Faulty:
    """A model that takes the acts in turn; the case and the number of a reply decide whether it is malformed."""

    def __init__(self, interface: str) -> None:
        self.interface, self.salt = interface, 0

    def __call__(self, messages: Sequence[Message], purpose: str) -> str | Completion:
        """Return the next act, malformed or not."""
        taken = sum(message.role == "assistant" for message in messages)
        draw = random.Random(seed_of(self.salt, messages[1].content, taken, purpose))
        fault = draw.choice(FAULTS) if draw.random() < RATE else ""
        done = sum(_said(message, self.interface) for message in messages)
        return written(self.interface, ACTS[min(done, len(ACTS) - 1)], fault)


def _said(message: Message, interface: str) -> bool:
    """Whether a message is an own act that was well formed, as far as the model can see."""
    if message.role != "assistant":
        return False
    if interface == "tools":
        return bool(message.more and message.more.get("tool_calls"))
    return message.content.startswith("{" if interface == "json" else ("ASK:", "ORDER:", "DIAGNOSIS"))


text, tools, as_json = Faulty("text"), Faulty("tools"), Faulty("json")
_SCRIPTS = {"text": text, "tools": tools, "as_json": as_json}


async def _counts(name: str, salt: int) -> tuple[int, int, int, int]:
    """Count (encounters, those that ended without an answer, unusable replies, calls of the doctor's model)."""
    script = _SCRIPTS[name]
    script.salt = salt
    seat = {"spec": f"scripted/{__name__}:{name}", "options": {"interface": script.interface}}
    played = await run("bundled", "consultation", store=MemoryStore(), doctor=seat, repeats=1)
    unusable = calls = lost = 0
    rows = await played.episodes()
    for row in rows:
        trajectory = await played.trajectory(row)
        unusable += trajectory.ending.facts.get("unusable", 0) if trajectory.ending else 0
        calls += sum(1 for _ in trajectory.called("doctor"))
        lost += row.cause != "completed"
    return len(rows), lost, unusable, calls


def interfaces(quick: bool) -> Sequence[Figure]:
    """Measure the encounters lost, the unusable replies and the calls in each interface."""
    figures = []
    for name, script in _SCRIPTS.items():
        counts = [anyio.run(_counts, name, salt) for salt in range(1 if quick else 20)]
        played, lost, unusable, calls = (sum(column) for column in zip(*counts, strict=True))
        said = f"of {played}; {unusable / played:.2f} unusable replies, {calls / played:.2f} calls each; "
        note = f"{said}{RATE:.0%} of the replies malformed"
        figures.append(Figure(f"encounters lost, {script.interface}", 100 * lost / played, "%", note=note))
    return figures
