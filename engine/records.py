"""Defines the small immutable values that seats, scenarios, models and stores exchange."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

Json = Any
"""A JSON value: None, bool, int, float, str, list, dict with string keys."""
Clock = Callable[[], float]
"""A clock: seconds since the epoch."""


def json_object(struct: object) -> dict[str, Json]:
    """A struct or dataclass as a JSON object."""
    fields: dict[str, Json] = msgspec.to_builtins(struct)
    return fields


def object_schema(**fields: Json) -> dict[str, Json]:
    """The JSON schema of an object with exactly these fields, in the form that strict endpoints want."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


class Message(msgspec.Struct, frozen=True, array_like=True):
    """One chat message. `role` is system, user, assistant or tool; `content` is its text.

    ::

        Message("user", "Shall we begin?")

    `more` has the other fields of a chat message as they are sent: `tool_calls`, `tool_call_id`, `name`, and `content`
    if the message consists of parts, whose text alone is then in `content`.
    """

    role: str
    content: str
    more: Mapping[str, Json] | None = None


def user_message(text: str, images: Sequence[str] = ()) -> Message:
    """A user's message with its text and then its images, each by reference."""
    if not images:
        return Message("user", text)
    parts = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    return Message("user", text, {"content": [{"type": "text", "text": text}, *parts]})


def images_of(message: Message) -> list[str]:
    """The images of a message, by reference."""
    parts = (message.more or {}).get("content")
    return [url for part in parts if (url := _image_url(part))] if isinstance(parts, list) else []


def with_whole_images(message: Message, images: Mapping[str, str]) -> Message:
    """The message with whole images in place of their references; `images` has each image by its reference."""
    parts = (message.more or {}).get("content")
    if not isinstance(parts, list) or not any(_image_url(part) in images for part in parts):
        return message
    whole = [
        {**part, "image_url": {**part["image_url"], "url": images[url]}}
        if (url := _image_url(part)) in images
        else part
        for part in parts
    ]
    return Message(message.role, message.content, {**(message.more or {}), "content": whole})


def _image_url(part: Json) -> str:
    """The image of a part of a message; "" if it is another part."""
    image = part.get("image_url") if isinstance(part, Mapping) and part.get("type") == "image_url" else None
    url = image.get("url") if isinstance(image, Mapping) else None
    return url if isinstance(url, str) else ""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one call, as counted by the endpoint; `cost` is in US dollars, None if no price is known.

    `reasoning` is the part of `completion` that is thinking, `cached` the part of `prompt` that the endpoint had
    cached.
    """

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0
    cost: float | None = None

    def __add__(self, other: "Usage") -> "Usage":
        """Both together; the cost is None if that of either is unknown."""
        return Usage(
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
            self.cached + other.cached,
            None if self.cost is None or other.cost is None else self.cost + other.cost,
        )


class Completion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's reply to one call.

    ::

        Completion("Yes.", finish="stop", model="mine")

    `text` is the answer and `thinking` the model's thinking, kept apart. `finish` is the endpoint's reason to stop.
    `more` has other fields of the reply that were asked for: `tool_calls`, `logprobs`.
    `latency` is in seconds over all `attempts`; `waited` is the part of it spent waiting (for a free place, a rate
    limit, between attempts). `recalled` says that the reply came from the call cache: nothing was sent or spent.
    """

    text: str
    thinking: str = ""
    finish: str = ""
    model: str = ""
    usage: Usage = Usage()
    latency: float = 0.0
    attempts: int = 1
    waited: float = 0.0
    recalled: bool = False
    more: Mapping[str, Json] = {}

    def as_message(self) -> Message:
        """The reply as the assistant's message of a conversation that goes on."""
        calls = self.more.get("tool_calls")
        return Message("assistant", self.text, {"tool_calls": calls} if calls else None)


LONGEST_REPLY = 2_000_000
"""The most characters of a model's reply with its thinking, or of an agent's action; no real one is this long."""


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a seat does in its turn.

    ::

        Action("conclude", args={"answer": "Yes"})
        Action("reply", "Since when?", memo={"asked": 1})

    `verb` is one of the view's verbs, or `reply`: raw text that the scenario's own parser reads. `args` are the verb's
    arguments (JSON). No other seat hears `thinking`. `memo` is private JSON that the seat gets back in its next view.
    """

    verb: str
    text: str = ""
    args: Mapping[str, Json] = {}
    thinking: str = ""
    memo: Json = None


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """The part of an action that other seats may hear, with fields as in Action; `seq` is the number of its event."""

    seq: int
    seat: str
    verb: str
    text: str
    args: Mapping[str, Json] = {}


class View(msgspec.Struct, frozen=True):
    """All that a seat may know at its turn.

    ::

        async def act(self, view: View) -> Action:
            heard = [said.text for said in view.heard if said.seat != view.seat]
            return Action("conclude" if "conclude" in view.verbs else "reply", heard[-1] if heard else view.brief)

    `brief` describes the task, `heard` is what was said so far (its own words included), `verbs` is what it may do now.
    `known` is structured knowledge (a record, a history; None for most seats), `memo` its own private JSON. `seq` is
    the number of the last action's event, so that an agent can draw random numbers from (seed, seq). `schemas` maps
    each verb that the seat has in this episode, possible now or not, to its `description` and the JSON schema of its
    arguments (`parameters`); an argument `text` is the action's text.
    """

    seat: str
    brief: str
    heard: Sequence[Said]
    verbs: Sequence[str]
    known: Json = None
    memo: Json = None
    seq: int = 0
    schemas: Mapping[str, Json] = {}


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an episode ended.

    `cause` is `completed`, a seat's name, `parser`, `provider`, `rules` or `limit`; `reason` is a short stable word;
    `detail` is a sentence for people. `facts` (JSON) is what the rules read from the whole episode: tallies, and the
    answer, if there is one, as `answer` {goal: text}.
    """

    cause: str
    reason: str = ""
    detail: str = ""
    facts: Mapping[str, Json] = {}


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """One score of one episode; `value` is None with a `reason` if it is undefined or could not be obtained.

    ::

        Score("answer_is_brief", 1.0, evidence=(7,))
        Score("answer_is_brief", None, "provider/timeout")

    `evidence` lists the numbers of the events that the score rests on.
    """

    name: str
    value: float | None
    reason: str = ""
    evidence: Sequence[int] = ()


class Scored(msgspec.Struct, frozen=True):
    """Scores with an account (JSON) of how they came about, stored beside them for readers who inspect a verdict."""

    scores: Sequence[Score]
    account: Json = None


class EpisodeRow(msgspec.Struct, frozen=True):
    """An episode as a store lists it.

    `id` names it within its run, `number` is its place in the run (from 0), and `repeat` counts from 1. `cause` and
    `reason` are those of its ending; `cause` is None while it is open. `events` is the number of its stored events,
    `at` the time of the last one.
    """

    id: str
    number: int
    case: str
    repeat: int
    cause: str | None
    reason: str
    events: int
    at: float


class RunRow(msgspec.Struct, frozen=True):
    """A run as a store lists it; `header` is the JSON object that describes it.

    `damage` says what is wrong with a damaged header; `header` is empty then.
    """

    name: str
    created: float
    header: Mapping[str, Json]
    damage: str = ""
