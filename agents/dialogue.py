"""The messages of a chat model: what a seat has heard, and the ways in which a doctor acts, by text, tools or JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.prompts import Prompts
from wardround.engine.records import (
    Action,
    Completion,
    Json,
    Message,
    Said,
    View,
    images_of,
    object_schema,
    user_message,
)
from wardround.engine.seat import Seat, Voice


def model_of(seat: Seat) -> Voice:
    """The seat's model. Raises UsageError if it has none."""
    if seat.model is None:
        raise UsageError(f"{seat.name}: this agent needs a model; write provider/model, for instance openai/gpt-4o")
    return seat.model


SILENCE = "(no reply)"
"""Replaces an empty message, because several endpoints refuse one."""
DECLINED = frozenset({"refusal", "content_filter"})
"""The kinds of ProviderError by which a model declines to answer."""


def dialogue(opening: Sequence[Message], heard: Iterable[Said], seat: str, go_on: str) -> list[Message]:
    """`opening`, then the words heard: the seat's own in the role assistant, all others in the role user.

    The roles alternate: consecutive user messages are joined, and `go_on` separates two messages of the seat itself.
    The last message is always the user's. The messages of a turn therefore begin with those of the turn before.
    """
    messages = list(opening)
    for said in heard:
        if said.seat == seat:
            if messages and messages[-1].role == "assistant":
                messages.append(Message("user", go_on))
            messages.append(Message("assistant", said_text(said)))
        else:
            _add_heard(messages, said)
    if not messages or messages[-1].role != "user":
        messages.append(Message("user", go_on))
    return messages


def _add_heard(messages: list[Message], said: Said) -> None:
    """Add what another seat said to the messages; it joins a message of the user before it."""
    if messages and messages[-1].role == "user":
        images = [*images_of(messages[-1]), *said_images(said)]
        messages[-1] = user_message(f"{messages[-1].content}\n\n{said_text(said)}", images)
    else:
        messages.append(user_message(said_text(said), said_images(said)))


def system_text(view: View, prompts: Prompts) -> str:
    """The system message of a doctor: the scenario's own (`view.known["system"]`), or that of encounters."""
    own = view.known.get("system") if isinstance(view.known, dict) else None
    return own if isinstance(own, str) else prompts["doctor/system"].text


def said_images(said: Said) -> list[str]:
    """The images of the results in an answer, by reference."""
    rows = said.args.get("answers") or ()
    return [str(image) for row in rows if isinstance(row, Mapping) for image in row.get("images") or ()]


def said_text(said: Said) -> str:
    """The text of what was said; an action without text is rendered as its verb and arguments."""
    if said.text.strip():
        return said.text
    if not said.args:
        return SILENCE
    return f"{said.verb}: " + "; ".join(_value_text(value) for value in said.args.values() if value)


def _value_text(value: Json) -> str:
    return ", ".join(str(part) for part in value) if isinstance(value, list | tuple) else str(value)


def token_estimate(messages: Iterable[Message]) -> int:
    """The approximate tokens of messages: a quarter of their UTF-8 bytes, plus four for each message."""
    return sum(4 + token_size(message.content) for message in messages)


def token_size(text: str) -> int:
    """The approximate tokens of a text; an overestimate for English, and still enough for Chinese."""
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def token_pieces(texts: Iterable[str], most: int) -> list[str]:
    """Join texts by blank lines, in order, into as few pieces of at most about `most` tokens as possible.

    A single text that is longer is cut.
    """
    joined: list[str] = []
    for text in texts:
        for part in _cut(text, most):
            if joined and token_size(joined[-1]) + token_size(part) <= most:
                joined[-1] = f"{joined[-1]}\n\n{part}"
            else:
                joined.append(part)
    return joined


def _cut(text: str, most: int) -> list[str]:
    if token_size(text) <= most:
        return [text]
    step = max(1, len(text) * most // (token_size(text) + 1))
    return [text[start : start + step] for start in range(0, len(text), step)]


InterfaceName = Literal["text", "tools", "json"]
_encode = msgspec.json.Encoder().encode
_LONGEST = 200_000
"""The most characters of a JSON reply that are read."""
_MOST_OBJECTS = 50
"""The most opening braces of a JSON reply that are tried as the beginning of an object."""
_REPEATABLE = frozenset({"order", "ask"})
"""Verbs that a model may call several times at once; the first call counts. Two calls of others are two answers."""


class UnreadableReply(Exception):
    """A reply that is no action in this interface; the message says why."""


class Interface:
    """How verbs are offered to a model, how its own acts are shown to it, and how its replies are read.

    Whatever the interface, the scenario gets an action and reads it by the same rules. What the model is offered does
    not change within an episode, so that the messages of a turn begin with those of the turn before. This class is the
    scenario's own protocol, text in and text out; its subclasses override the methods in which they differ.
    """

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    def instructions(self, view: View) -> str:
        """What the system message says besides; "" if the brief says what to write."""
        return ""

    def options(self, view: View) -> Mapping[str, Json]:
        """The options of each call."""
        return {}

    def messages(self, opening: Sequence[Message], heard: Sequence[Said], view: View, go_on: str) -> list[Message]:
        """The conversation so far."""
        return dialogue(opening, heard, view.seat, go_on)

    def action(self, reply: Completion, view: View) -> Action:
        """The action of a reply; raises UnreadableReply if it is none."""
        return Action("reply", reply.text)

    def correction(self, reply: Completion, why: str) -> list[Message]:
        """The messages that ask again after a reply that was no action; none here, because every text is an action."""
        return []

    def unread(self, reply: Completion) -> Action:
        """The action for a reply that cannot be read even after a correction: text for the scenario to judge."""
        return Action("reply", reply.text)


class ToolInterface(Interface):
    """Each verb is a tool; a reply without a call of a tool is read as text by the scenario's parser."""

    def instructions(self, view: View) -> str:
        """The instruction to call a tool."""
        return self._prompts["doctor/tools"].text if offered_verbs(view) else ""

    def options(self, view: View) -> Mapping[str, Json]:
        """The tools."""
        tools = [
            {"type": "function", "function": {"name": verb, **schema}} for verb, schema in offered_verbs(view).items()
        ]
        return {"tools": tools}

    def messages(self, opening: Sequence[Message], heard: Sequence[Said], view: View, go_on: str) -> list[Message]:
        """Own acts as calls of tools; what was said after one is its result."""
        messages = list(opening)
        for said in _in_form(heard, self._prompts, "tools"):
            last = messages[-1].role if messages else ""
            call = _call_id(messages)
            if said.seat == view.seat:
                if last == "assistant":
                    messages.append(_result(call, go_on) if call else Message("user", go_on))
                messages.append(_own_message(said, view))
            elif call:
                messages.append(_result(call, said_text(said)))
                if images := said_images(said):  # the result of a tool is text alone
                    messages.append(user_message(self._prompts["doctor/images"].text, images))
            elif last == "tool":
                messages[-1] = _result(_answered_call(messages[-1]), f"{messages[-1].content}\n\n{said_text(said)}")
            else:
                _add_heard(messages, said)
        if call := _call_id(messages):
            messages.append(_result(call, go_on))
        elif not messages or messages[-1].role == "assistant":
            messages.append(Message("user", go_on))
        return messages

    def action(self, reply: Completion, view: View) -> Action:
        """The first call of a tool; others in the same reply were made without its result, and do not count."""
        calls = list(_calls(reply))
        if not calls:
            return Action("reply", reply.text)
        name, written = calls[0]
        if name not in view.schemas:
            raise UnreadableReply(f"there is no tool {name[:40]!r}; there are: {', '.join(offered_verbs(view))}")
        what = f"the arguments of {name} are"
        arguments = _object(written, what)
        others = (other for called, other in calls[1:] if called == name and name not in _REPEATABLE)
        if any(_object(other, what) != arguments for other in others):
            raise UnreadableReply(f"{name} is called more than once, each time with other arguments; call it once")
        return _typed_action(name, arguments, view, reply.text)

    def correction(self, reply: Completion, why: str) -> list[Message]:
        """The reply, and why it could not be used as the result of each call."""
        said = self._prompts["doctor/repair_form"].render(why=why)
        calls = reply.more.get("tool_calls") or ()
        ids = [str(call.get("id") or "") for call in calls if isinstance(call, Mapping)]
        return [reply.as_message(), *(Message("tool", said, {"tool_call_id": call}) for call in ids)]

    def unread(self, reply: Completion) -> Action:
        """The call as text: the scenario counts it as a call of a tool in place of an action."""
        name, written = next(_calls(reply), ("", ""))
        return Action("reply", f"<tool_call>{name} {written}</tool_call>\n{reply.text}".strip())


class JsonInterface(Interface):
    """Each act is a JSON object with `verb` and the arguments of all verbs, of which only those of its verb count.

    The shape is asked of the endpoint, which may enforce it, and stands in the instructions. A reply that is no JSON at
    all is read as text by the scenario's parser.
    """

    def instructions(self, view: View) -> str:
        """The verbs with their arguments."""
        lines = []
        for verb, schema in offered_verbs(view).items():
            fields = schema["parameters"]["properties"].items()
            said = "; ".join(f'"{name}": {_in_words(field)}' for name, field in fields)
            lines.append(f'- "{verb}": {schema["description"]} {said}')
        return self._prompts["doctor/json"].render(verbs="\n".join(lines)) if lines else ""

    def options(self, view: View) -> Mapping[str, Json]:
        """The shape of an act."""
        return {"shape": shape_of(view.schemas)} if offered_verbs(view) else {}

    def messages(self, opening: Sequence[Message], heard: Sequence[Said], view: View, go_on: str) -> list[Message]:
        """Own acts as JSON objects."""
        every = _in_form(heard, self._prompts, "json")
        shown = [_as_json(said, view) if said.seat == view.seat else said for said in every]
        return dialogue(opening, shown, view.seat, go_on)

    def action(self, reply: Completion, view: View) -> Action:
        """The JSON object of the reply."""
        text = _without_fence(reply.text)
        acts = _acts_in(text) if len(text) <= _LONGEST else []
        if len(acts) > 1 and any(act != acts[0] for act in acts):
            raise UnreadableReply("the reply holds several actions; write one")
        if not acts and (not text.startswith("{") or len(text) > _LONGEST):
            return Action("reply", reply.text)
        fields = acts[0] if acts else _object(text, "the reply is")
        if not isinstance(verb := fields.get("verb"), str) or verb not in view.schemas:
            what = "missing" if verb is None else repr(str(verb)[:40])
            raise UnreadableReply(f'"verb" is {what}, and must be one of: {", ".join(offered_verbs(view))}')
        return _typed_action(verb, fields, view, "")

    def correction(self, reply: Completion, why: str) -> list[Message]:
        """The reply, and why it could not be used."""
        return [Message("assistant", reply.text), Message("user", self._prompts["doctor/repair_form"].render(why=why))]

    def unread(self, reply: Completion) -> Action:
        """The reply as text; an object with a verb is marked as a call of a tool, since its arguments are no text."""
        return Action("reply", f"<tool_call>{reply.text}</tool_call>" if '"verb"' in reply.text else reply.text)


def _in_form(heard: Sequence[Said], prompts: Prompts, form: Literal["tools", "json"]) -> list[Said]:
    """What was said, with the desk's corrections in the words of an interface and not of the scenario's protocol.

    A warning is replaced by the interface's own prompt, with what was wrong. A demand or a refusal may also tell
    something, so it stays, and a reminder is added. Runs that were begun before these prompts were written keep the
    scenario's words.
    """
    warning, reminder = f"doctor/warning_{form}", f"doctor/remind_{form}"
    if warning not in prompts or reminder not in prompts:
        return list(heard)
    shown: list[Said] = []
    for said in heard:
        text = said.text
        if said.seat == "desk" and said.verb == "warning" and isinstance(why := said.args.get("why"), str):
            text = prompts[warning].render(why=why)
        elif said.seat == "desk" and said.verb in ("demand", "refusal"):
            text = f"{text}\n\n{prompts[reminder].text}"
        shown.append(said if text is said.text else msgspec.structs.replace(said, text=text))
    return shown


INTERFACES: Mapping[InterfaceName, type[Interface]] = {"text": Interface, "tools": ToolInterface, "json": JsonInterface}
"""The ways in which a model may take its turn, by name."""


def offered_verbs(view: View) -> Mapping[str, Json]:
    """The verbs that the model is offered; raises UsageError if the scenario describes none."""
    if not view.schemas:
        raise UsageError("this scenario describes no verbs, so its doctor can only write text: use --interface text")
    return view.schemas


def shape_of(schemas: Mapping[str, Json]) -> dict[str, Json]:
    """One closed object for all verbs, since strict endpoints take no choice of objects at the top."""
    properties: dict[str, Json] = {"verb": {"type": "string", "enum": list(schemas)}}
    for schema in schemas.values():
        for name, field in schema["parameters"]["properties"].items():
            several = len(schemas) > 1
            properties[name] = {**field, "enum": ["", *field["enum"]]} if several and "enum" in field else field
    return object_schema(**properties)


def _typed_action(verb: str, arguments: Mapping[str, Json], view: View, text: str) -> Action:
    """The typed action; raises UnreadableReply for a verb that is not possible in this turn."""
    if verb not in view.verbs:
        possible = [name for name in view.schemas if name in view.verbs]
        raise UnreadableReply(f"{verb} is not possible now; possible: {', '.join(possible)}")
    names = view.schemas[verb]["parameters"]["properties"]
    inner = arguments.get("arguments")
    arguments = inner if isinstance(inner, Mapping) and not any(name in arguments for name in names) else arguments
    own = {name: arguments[name] for name in names if name in arguments}
    said = own.pop("text", text)
    if verb == "order" and own.get("kind") == "":
        own["kind"] = "any"
    return Action(verb, said if isinstance(said, str) else "", own)


def _arguments(said: Said, view: View) -> dict[str, Json]:
    """The arguments by which the seat took an act."""
    names: Iterable[str] = view.schemas.get(said.verb, {}).get("parameters", {}).get("properties", {})
    return {**said.args, **({"text": said.text} if "text" in names else {})}


def _own_message(said: Said, view: View) -> Message:
    """The message of an act of the seat itself: a call of a tool if its verb has one."""
    if said.verb not in view.schemas:
        return Message("assistant", said_text(said))
    arguments = _arguments(said, view)
    function = {"name": said.verb, "arguments": _encode(arguments).decode()}
    call = {"id": f"call_{said.seq}", "type": "function", "function": function}
    return Message("assistant", "" if "text" in arguments else said.text, {"tool_calls": [call]})


def _as_json(said: Said, view: View) -> Said:
    if said.verb not in view.schemas:
        return said
    return Said(said.seq, said.seat, "reply", _encode({"verb": said.verb, **_arguments(said, view)}).decode())


def _call_id(messages: Sequence[Message]) -> str:
    """The id of the call that the last message makes; "" if it makes none."""
    more = messages[-1].more if messages else None
    calls = (more or {}).get("tool_calls")
    return str(calls[0]["id"]) if calls else ""


def _answered_call(message: Message) -> str:
    """The call that a tool's message answers."""
    return str((message.more or {}).get("tool_call_id", ""))


def _result(call: str, text: str) -> Message:
    return Message("tool", text, {"tool_call_id": call})


def _calls(reply: Completion) -> Iterator[tuple[str, Json]]:
    """(name, arguments as they were written) of each call of a tool."""
    for call in reply.more.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            yield str(function.get("name") or ""), function.get("arguments")


def _object(written: Json, what: str) -> dict[str, Json]:
    """The object that a model wrote, even as JSON of JSON; raises UnreadableReply, which begins with `what`."""
    for _ in range(2):
        if isinstance(written, str):
            try:
                written = _decoder.decode(written or "{}")
            except (ValueError, RecursionError) as error:
                raise UnreadableReply(f"{what} no JSON ({error})") from None
    if not isinstance(written, dict):
        raise UnreadableReply(f"{what} no JSON object")
    return written


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """The object of these pairs; raises ValueError for a key with two values: JSON does not say which counts."""
    made: dict[str, Json] = {}
    for name, value in pairs:
        if name in made and made[name] != value:
            raise ValueError(f"the key {name[:40]!r} stands twice")
        made[name] = value
    return made


_decoder = json.JSONDecoder(object_pairs_hook=_unique_keys)


def _acts_in(text: str) -> list[dict[str, Json]]:
    """The objects with a verb in a text, whatever prose is around them; [] if there are none, or too many."""
    acts: list[dict[str, Json]] = []
    at = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if at < 0:
            return acts
        try:
            value, end = _decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end, value = at + 1, None
        if isinstance(value, dict) and "verb" in value:
            acts.append(value)
        at = text.find("{", end)
    return []


def _without_fence(text: str) -> str:
    """The text without the fence of a code block around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.partition("\n")[2][:-3].strip()
    return text


def _in_words(field: Mapping[str, Json]) -> str:
    kinds = field.get("enum")
    kind = "one of " + ", ".join(f'"{one}"' for one in kinds) if kinds else f"a {_KINDS.get(field['type'], 'value')}"
    return f"{kind}. {field.get('description', '')}".strip()


_KINDS = {"string": "text", "array": "list of texts", "boolean": "true or false"}
