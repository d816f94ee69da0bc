"""What an agent gets when it is made: its name, its seed, its options, and a model that records every call."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple, Protocol

from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, Json, Message


class Traits(NamedTuple):
    """What an agent's class says of itself, each by an attribute of that name that it may leave out.

    `sealed` promises that its only way out of the process is its seat's model, `outside` that a person or another
    process answers, who cannot be asked the same again.
    """

    sealed: bool = False
    outside: bool = False


def traits_of(agent: object) -> Traits:
    """The traits of an agent, or of the class or function that makes one."""
    # Any class with `act` is an agent and derives from nothing: what it leaves out has its usual value.
    return Traits(bool(getattr(agent, "sealed", False)), bool(getattr(agent, "outside", False)))


def told_to(factory: object) -> str:
    """What the agents that a class or function makes are told besides their view, by its attribute `told`.

    "truth" (the case), "cases" (the other cases), or "" (nothing), as it is where the attribute is left out.
    """
    return str(getattr(factory, "told", ""))


class Voice(Protocol):
    """A seat's own way to a model: calls are recorded in the episode's log and answered from it on resume."""

    name: str

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Answer, with the seat's sampling settings under `options`; raises ProviderError or LimitReached."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in one episode.

    `told` is None but for the agents whose class says `told = "truth"` (the case) or `told = "cases"` (the other
    cases, the case itself left out); the run's header lists them.
    """

    name: str
    case_id: str
    seed: int
    prompts: Prompts
    options: Mapping[str, Json] = field(default_factory=dict)
    model: Voice | None = None
    told: object = None

    def draw(self, seq: int) -> random.Random:
        """Random numbers for the act after event `seq`: the same on resume and replay."""
        return random.Random(seed_of(self.seed, seq))


def seed_of(*parts: str | int) -> int:
    """A 53-bit seed from the parts, the same on every machine."""
    joined = "\x1f".join(str(part) for part in parts).encode()
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big") >> 11
