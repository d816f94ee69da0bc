"""What an agent gets when it is made: its name, its seed, its options, and a model that records every call."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, Json, Message


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
