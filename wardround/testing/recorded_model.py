"""A model that answers from the recorded calls of a stored episode."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence

import msgspec

from wardround.engine.errors import ProviderError, ReplayError
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.engine.trajectory import Trajectory

_encode = msgspec.json.Encoder(order="deterministic").encode


class RecordedModel(Model):
    """A model that answers each call with the recorded reply to the same call (purpose, messages and options).

    ::

        model = RecordedModel(await run.trajectory("c1@1"), "doctor")
        reply = await model.complete(messages, purpose="act")

    The n-th call of the same content gets the n-th reply. `options` are those that the seat added to every call (its
    sampling settings), which are not stored with each call. A recorded failure is raised again with its kind. A call
    that was never recorded raises ReplayError, because no reply is better than a wrong one.
    """

    host = ""

    def __init__(self, trajectory: Trajectory, seat: str, options: Mapping[str, Json] | None = None) -> None:
        self.name = f"recorded:{trajectory.opened.episode}"
        self._seat, self._end = seat, len(trajectory)
        self._left: dict[bytes, deque[Completion | ProviderError]] = defaultdict(deque)
        for call in trajectory.called(seat):
            key = _key(trajectory.messages(call), call.purpose, {**(options or {}), **call.options})
            kind, message = call.error or ("malformed", "neither reply nor error was recorded")
            self._left[key].append(call.reply or ProviderError(kind, message))

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The recorded reply; raises a recorded ProviderError, or ReplayError if no such call is left."""
        left = self._left.get(_key(messages, purpose, options))
        if not left:
            raise ReplayError(f"{self.name} has no call like this of seat {self._seat} ({purpose}) left", seq=self._end)
        answer = left.popleft()
        if isinstance(answer, ProviderError):
            raise answer
        return answer


def _key(messages: Sequence[Message], purpose: str, options: Mapping[str, Json]) -> bytes:
    return _encode([purpose, list(messages), options])
