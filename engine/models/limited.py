"""A model whose calls pass the gate of their endpoint."""

import copy
from collections.abc import Sequence

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.bound import Wrapped
from wardround.engine.models.gate import Gate, Outcome
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

REPLY = 500
"""Tokens expected of a reply as long as nothing better is known."""
CHARS = 4
"""Characters of a prompt that are taken for a token."""
MEMORY = 0.1
"""Weight of the latest reply in the mean length of replies."""


class _Replies:
    """How long replies are, in tokens, by role; shared by all that are bound from one Limited."""

    def __init__(self) -> None:
        self._mean: dict[str, float] = {}

    def add(self, role: str, tokens: int) -> None:
        mean = self._mean.get(role)
        self._mean[role] = tokens if mean is None else mean + MEMORY * (tokens - mean)

    def expected(self, role: str, most: object) -> int:
        """Tokens of the next one, of which at most `most` may come."""
        limit = most if isinstance(most, int) else None
        mean = self._mean.get(role)
        expected = int(mean) + 1 if mean is not None else limit or REPLY
        return min(expected, limit) if limit else expected


class Limited(Wrapped):
    """A model behind the gate of its endpoint and key; time spent waiting there is `waited`, not the endpoint's own.

    Tokens are reserved as a quarter of the prompt's characters and the mean length of the role's replies (before
    there is one: `max_tokens`, else REPLY).
    """

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self.gate = gate
        self.role = ""
        self._replies = _Replies()

    def bound(self, role: str, episode: str) -> "Limited":
        """For one role."""
        del episode
        made = copy.copy(self)
        made.role = role
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion when it is this call's turn; raises ProviderError, or RunStopped at a daily quota."""
        gate = self.gate
        ticket = await gate.enter(self.role, self._tokens(messages, options) if gate.counts_tokens else 0)
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            gate.leave(ticket, Outcome(error.kind, status=error.status, retry_after=error.retry_after))
            error.waited = ticket.waited
            raise
        except BaseException:
            gate.leave(ticket, Outcome("cancelled"))
            raise
        usage = reply.usage
        counted = usage.prompt or usage.completion  # not every endpoint counts tokens
        gate.leave(ticket, Outcome("ok", usage=usage if counted else None))
        if counted and gate.counts_tokens:
            self._replies.add(self.role, usage.completion)
        if ticket.waited:
            waited = reply.waited + ticket.waited
            return msgspec.structs.replace(reply, latency=reply.latency + ticket.waited, waited=waited)
        return reply

    def _tokens(self, messages: Sequence[Message], options: dict[str, Json]) -> int:
        prompt = sum(len(message.content) for message in messages) // CHARS
        return prompt + self._replies.expected(self.role, options.get("max_tokens"))
