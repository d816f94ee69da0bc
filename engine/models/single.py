"""Asks the same question once, however many ask it, and at whatever time."""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec

from wardround.engine.calls import Cache, feed
from wardround.engine.errors import ProviderError
from wardround.engine.models.bound import Wrapped
from wardround.engine.once import Once
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

_encode = msgspec.json.Encoder(order="deterministic").encode


class Single(Wrapped):
    """A model that is asked each question once by all who share it.

    A question is the messages, the purpose, the options, and the role that asks (`bound`): two roles are two voices,
    and have answers of their own. Who asks while the question is under way waits for its answer and gets it marked
    `recalled`, with its usage, the time of its own waiting as `latency`, and nothing spent; or gets the ProviderError,
    which came after all retries. If the one that asked is cancelled, or ends by anything else, the next of them asks.

    With a `cache` an answer is looked up there before it is asked for, and kept there before it is handed out, so that
    no question of all that share the cache goes out twice. Without one only questions at the same time are joined.
    Nothing is held in memory but the questions under way.
    """

    def __init__(self, model: Model, cache: Cache | None = None) -> None:
        super().__init__(model)
        self.cache, self.role = cache, ""
        self._once = Once[Completion](ProviderError)

    def bound(self, role: str, episode: str) -> "Single":
        """For one seat and episode; what is under way is known to all that are bound from one."""
        made = copy.copy(self)
        made.role, made.model = role, self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The answer, whoever asked for it; raises ProviderError."""
        key, asked = _key(messages, (self.role, purpose), options), False

        async def ask() -> Completion:
            nonlocal asked
            asked = True
            answer = await self.cache.recall(key, 0) if self.cache else None
            if answer is None:
                answer = await self.model.complete(messages, purpose=purpose, **options)
                if self.cache and not answer.recalled:
                    await self.cache.keep(key, 0, answer)
            return answer

        now = asyncio.get_running_loop().time
        start = now()
        answer = await self._once.ask(key, ask)
        if asked:
            return answer
        return msgspec.structs.replace(answer, recalled=True, latency=now() - start, waited=0.0, attempts=0)

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


def _key(messages: Sequence[Message], who: tuple[str, str], options: Mapping[str, Json]) -> str:
    hasher = blake2b(_encode([*who, options]), digest_size=16)
    for message in messages:
        feed(hasher, message)
    return hasher.hexdigest()
