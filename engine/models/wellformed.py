"""A model whose replies are valid text, whatever a model in this process or a library between makes of them."""

from collections.abc import Sequence

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.bound import Wrapped
from wardround.engine.records import Completion, Json, Message

LONGEST = 2_000_000
"""Characters of a reply and its thinking together: more than any model writes in its longest reply."""
TOO_LONG = "too_long"
"""Kind of the failed call whose reply is longer: it lies in the model that wrote it, and its seat's is the fault."""


class WellFormed(Wrapped):
    """Half of a surrogate pair, which no store takes, becomes U+FFFD; what cannot be made out is `malformed`.

    A reply longer than `LONGEST` is `too_long` and kept by nobody: no model should fill the memory.
    """

    def bound(self, role: str, episode: str) -> "WellFormed":
        """For one seat and episode."""
        return WellFormed(self.model.bound(role, episode))

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except (UnicodeError, RecursionError) as error:
            raise ProviderError(
                "malformed", f"{self.name}: what it replied is no valid text ({type(error).__name__})"
            ) from None
        if (length := len(reply.text) + len(reply.thinking)) > LONGEST:
            raise ProviderError(TOO_LONG, f"{self.name}: its reply has {length:,} characters, of at most {LONGEST:,}")
        text, thinking = _valid(reply.text), _valid(reply.thinking)
        if (text, thinking) == (reply.text, reply.thinking):
            return reply
        return msgspec.structs.replace(reply, text=text, thinking=thinking)


def _valid(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
