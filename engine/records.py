"""The small immutable values that seats, scenarios, models and stores hand to each other."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

Json = Any
"""What JSON can hold: None, bool, int, float, str, list, dict with string keys."""


class Message(msgspec.Struct, frozen=True, array_like=True):
    """One chat message. `role` is system, user or assistant."""

    role: str
    content: str


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one call, as the endpoint counted them; `cost` in US dollars, None where no price is known."""

    prompt: int = 0
    completion: int = 0
    reasoning: int = 0
    cached: int = 0
    cost: float | None = None


class Completion(msgspec.Struct, frozen=True, omit_defaults=True):
    """A model's answer to one call.

    `text` is the answer part, `thinking` the thinking part, kept apart; `finish` is the endpoint's reason to stop;
    `latency` in seconds over all `attempts`, `waited` the part of it spent waiting (for a free place, a rate limit,
    between attempts). `recalled` says that it came from the call cache: nothing was sent or spent.
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


class Action(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a seat does in its turn.

    `verb` is one of the view's verbs, or `reply`: raw text that the scenario's own parser reads. `args` are the verb's
    arguments (JSON). `thinking` is heard by nobody. `memo` is private JSON that comes back in the seat's next view.
    """

    verb: str
    text: str = ""
    args: Mapping[str, Json] = {}
    thinking: str = ""
    memo: Json = None


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """What others may hear of an action: `seq` is the number of the event it came from."""

    seq: int
    seat: str
    verb: str
    text: str
    args: Mapping[str, Json] = {}


class View(msgspec.Struct, frozen=True):
    """All that a seat may know when it is its turn.

    `brief` says what the game is, `heard` what was said so far (its own words included), `verbs` what it may do now,
    `known` is structured knowledge (a record, a story; None for most seats), `memo` its own private JSON.
    `seq` is the number of the last action's event, so that an agent can draw from (seed, seq).
    """

    seat: str
    brief: str
    heard: Sequence[Said]
    verbs: Sequence[str]
    known: Json = None
    memo: Json = None
    seq: int = 0


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """How an episode ended.

    `cause` is `completed`, a seat's name, `parser`, `provider`, `rules` or `limit`; `reason` a short stable word;
    `detail` a sentence for people; `facts` what the rules read from the whole episode (JSON): tallies, and in `answer`,
    where there is one, what was answered as {goal: text}.
    `open` is the one cause that ends nothing: by it a store is told to open the row of an episode again.
    """

    cause: str
    reason: str = ""
    detail: str = ""
    facts: Mapping[str, Json] = {}


class Score(msgspec.Struct, frozen=True, omit_defaults=True):
    """One figure about one episode: `value` is None with a `reason` where it is not defined or could not be had.

    `evidence` lists the numbers of the events it rests on.
    """

    name: str
    value: float | None
    reason: str = ""
    evidence: Sequence[int] = ()


class Scored(msgspec.Struct, frozen=True):
    """Scores with the account of how they came about (JSON), which is kept beside them for whoever opens a verdict."""

    scores: Sequence[Score]
    account: Json = None


class EpisodeRow(msgspec.Struct, frozen=True):
    """An episode as a store lists it: `number` in its run, `cause` None while open, `at` the time of its last event."""

    id: str
    number: int
    case: str
    repeat: int
    cause: str | None
    reason: str
    events: int
    at: float


class RunRow(msgspec.Struct, frozen=True):
    """A run as a store lists it; `header` is the JSON object that says all about it.

    `damage` says what is wrong with a stored header that cannot be trusted; the header is empty then.
    """

    name: str
    created: float
    header: Mapping[str, Json]
    damage: str = ""
