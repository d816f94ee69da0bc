"""A doctor, a judge and a curator who answer as in `oldstores`, but not while `down`: then their endpoint is away."""

from collections.abc import Sequence

import oldstores

from wardround.engine.errors import ProviderError
from wardround.engine.records import Message

down: list[bool] = []
"""Not empty while the endpoint is away."""


def _away() -> ProviderError | None:
    return ProviderError("server", "the endpoint answers 503") if down else None


def doctor(messages: Sequence[Message], purpose: str) -> str | ProviderError:
    """A doctor in `oracle`."""
    return _away() or oldstores.oracle(messages, purpose)


def judge(messages: Sequence[Message], purpose: str) -> str | ProviderError:
    """Finds every answer wrong."""
    return _away() or oldstores.judge(messages, purpose)


def curator(messages: Sequence[Message], purpose: str) -> str | ProviderError:
    """Takes sentences out of the article."""
    return _away() or oldstores.curator(messages, purpose)
