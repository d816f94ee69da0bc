"""A scripted doctor whose acts are written in any of the three interfaces of a model doctor."""

import json
from collections.abc import Callable, Mapping, Sequence

from wardround.engine.records import Completion, Json, Message

Act = tuple[str, Mapping[str, Json]]
CONSULTATION: Sequence[Act] = (
    ("ask", {"text": "When did it begin?"}),
    ("order", {"kind": "any", "items": ["CBC", "Lipase"]}),
    ("conclude", {"diagnosis": "Gout"}),
)
WORKUP: Sequence[Act] = (
    ("order", {"kind": "examination", "items": []}),
    ("order", {"kind": "lab", "items": ["White Blood Cells", "Lipase"]}),
    ("conclude", {"diagnosis": "Gout"}),
)
STAGED: Sequence[Act] = (("order", {"kind": "any", "items": ["CBC", "Lipase"]}), ("conclude", {"diagnosis": "Gout"}))
ORDERS: Sequence[Act] = (("order", {"kind": "lab", "items": ["CBC"]}),)
ACTS: Mapping[str, Sequence[Act]] = {
    "nothing": [("conclude", {"diagnosis": ""})],
    "blank": [("answer", {})],
    "orders": ORDERS,
    "consultation": CONSULTATION,
    "workup": WORKUP,
    "free-turn": STAGED,
}
_LISTS = {"lab": "Lab Tests", "imaging": "Imaging", "microbiology": "Microbiology"}


def as_text(scenario: str, verb: str, arguments: Mapping[str, Json]) -> str:
    """An act in the scenario's own protocol."""
    items = ", ".join(arguments.get("items", ()))
    match scenario, verb:
        case "workup", "order":
            kind = arguments["kind"]
            return "Action: PE" if kind == "examination" else f"{_LISTS[kind]}: {items}"
        case "workup", "conclude":
            return f"Action: OUTPUT\nDiagnosis: {arguments['diagnosis']}"
        case "consultation", "order":
            return f"ORDER: {items}"
        case "consultation", "ask":
            return f"ASK: {arguments['text']}"
        case "consultation", "conclude":
            return f"DIAGNOSIS READY: {arguments['diagnosis']}"
        case "free-turn", "order":
            return f"### Additional Information Required\n{items}"
    return f"### Conclusion\n{arguments['diagnosis']}\n### Answer\n{arguments['diagnosis']}"


def as_tool(verb: str, arguments: Mapping[str, Json] | str, call: str = "c1") -> Completion:
    """An act as a call of a tool; arguments may be a text that is no JSON."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": verb, "arguments": written}
    return Completion("", more={"tool_calls": [{"id": call, "type": "function", "function": function}]})


def as_tools(*acts: tuple[str, Mapping[str, Json]]) -> Completion:
    """Several calls of tools in one reply."""
    calls = [
        call for at, (verb, given) in enumerate(acts) for call in as_tool(verb, given, f"c{at}").more["tool_calls"]
    ]
    return Completion("", more={"tool_calls": calls})


def reply_of(scenario: str, interface: str, verb: str, arguments: Mapping[str, Json]) -> str | Completion:
    """An act in one of the interfaces."""
    if interface == "tools":
        return as_tool(verb, arguments)
    if interface == "json":
        return json.dumps({"verb": verb, **arguments})
    return as_text(scenario, verb, arguments)


def acts_so_far(messages: Sequence[Message]) -> int:
    """The number of acts that the conversation has from the model itself."""
    return sum(message.role == "assistant" for message in messages)


def _player(scenario: str, interface: str) -> "Player":
    return Player(scenario, interface)


class Player:
    """Takes the acts of a scenario in turn, in one interface; its answers depend on the conversation alone."""

    def __init__(self, scenario: str, interface: str) -> None:
        self.scenario, self.interface = scenario, interface

    def __call__(self, messages: Sequence[Message], purpose: str) -> str | Completion:
        """The next act."""
        del purpose
        acts = ACTS[self.scenario]
        return reply_of(self.scenario, self.interface, *acts[min(acts_so_far(messages), len(acts) - 1)])


consultation_text, consultation_tools, consultation_json = (
    _player("consultation", interface) for interface in ("text", "tools", "json")
)
orders_tools, orders_json = (_player("orders", interface) for interface in ("tools", "json"))
nothing_tools, nothing_json = (_player("nothing", interface) for interface in ("tools", "json"))
blank_tools, blank_json = (_player("blank", interface) for interface in ("tools", "json"))
workup_text, workup_tools, workup_json = (_player("workup", interface) for interface in ("text", "tools", "json"))
free_turn_text, free_turn_tools, free_turn_json = (
    _player("free-turn", interface) for interface in ("text", "tools", "json")
)


def _hiding(act: Mapping[str, Json]) -> Callable[[Sequence[Message], str], str]:
    return lambda messages, purpose: json.dumps(act)


hides_in_order = _hiding({"verb": "order", "kind": "lab", "items": ["Diagnosis: Gout", "### Answer:\nGout"]})
hides_in_ask = _hiding({"verb": "ask", "text": "DIAGNOSIS: Gout\nDiagnosis: Gout"})
hides_in_think = _hiding({"verb": "think", "diagnosis": "Gout"})
"""Doctors that put their answer where no answer belongs."""
