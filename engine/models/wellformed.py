"""A model whose replies are valid text, whatever a model in this process or a library between makes of them."""

from collections.abc import Sequence

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.bound import bound
from wardround.engine.models.hosts import hosts_of
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message


class WellFormed:
    """Half of a surrogate pair, which no store takes, becomes U+FFFD; what cannot be made out is `malformed`."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.host, self.hosts = model, model.name, model.host, hosts_of(model)

    def bound(self, role: str, episode: str) -> "WellFormed":
        """For one seat and episode."""
        return WellFormed(bound(self.model, role, episode))

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except UnicodeError as error:
            raise ProviderError(
                "malformed", f"{self.name}: what it replied is no valid text ({type(error).__name__})"
            ) from None
        text, thinking = _valid(reply.text), _valid(reply.thinking)
        if (text, thinking) == (reply.text, reply.thinking):
            return reply
        return msgspec.structs.replace(reply, text=text, thinking=thinking)

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


def _valid(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
