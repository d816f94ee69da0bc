"""Decides which seat or provider is to blame for a failed act: what its models raised, and whose words caused it."""

from collections import Counter
from collections.abc import Sequence

from wardround.engine.errors import (
    EgressError,
    LeaseLost,
    LimitReached,
    LogError,
    ProviderError,
    RunStopped,
    StoreError,
    storable,
)
from wardround.engine.events import Acted, Called, Event, effective
from wardround.engine.openai_client import FAILED
from wardround.engine.records import Ending, View
from wardround.engine.trajectory import messages_of

PASSING = (RunStopped, StoreError, LeaseLost, LogError, EgressError)
"""Errors that concern the whole run or the log. They end no episode and pass through every boundary."""
OWN_REPLY = frozenset(("refusal", "content_filter", "unsendable", "too_long"))
"""Kinds of failed calls caused by the reply of the seat's own model, or by what the seat wanted to send."""
TEXTUAL = frozenset((400, 413, 422))
"""HTTP statuses by which an endpoint refuses a request because of its content."""
FLOODED = "flooded"
"""The reason of an ending caused by a seat whose words made the model of another seat fail."""
ALLOWED = 20_000
"""Characters (instructions, notes) that a seat may add to what it was shown, before it is blamed for a first call."""


class ModelErrors:
    """Keeps the errors that the models of an episode raised in the present act, each with its call if there is one.

    If an agent raises one of these very errors, or another error `from` one of them, the failure counts as its
    model's. An error of the same type that the agent made itself does not.
    """

    __slots__ = ("_met",)

    def __init__(self) -> None:
        self._met: list[tuple[Exception, Called | None]] = []

    def note(self, error: Exception, call: Called | None = None) -> None:
        """Note an error that a model of this episode raised."""
        self._met.append((error, call))

    def clear(self) -> None:
        """Forget all errors, because another act begins."""
        self._met.clear()

    def behind(self, error: BaseException) -> tuple[Exception, Called | None] | None:
        """The model's error that `error` is or was raised from, with its call; None if the error is the agent's own."""
        seen: BaseException | None = error
        for _ in range(100):  # a chain of causes may be a ring
            if seen is None:
                return None
            stands_for = _stands_for(seen)
            for met in self._met:
                if met[0] is seen or met[0] is stands_for:
                    return met
            seen = seen.__cause__
        return None

    def passing(self) -> Exception | None:
        """The first error of this act that concerns the whole run, even if the agent swallowed it."""
        return next((error for error, _ in self._met if isinstance(error, PASSING)), None) if self._met else None


def _stands_for(error: BaseException) -> Exception | None:
    """The model's error that an error of the openai client stands for, which has the response to its request."""
    # any library's error may have a response of any kind
    extensions = getattr(getattr(error, "response", None), "extensions", None)
    failed = extensions.get(FAILED) if isinstance(extensions, dict) else None
    return failed if isinstance(failed, ProviderError) else None


def deciding_error(error: BaseException, door: ModelErrors | None) -> tuple[BaseException, Called | None]:
    """Of several errors raised by concurrent calls, the one that decides, with its call if there is one.

    A stop of the run comes first, then a limit, then a provider's error, then the rest. With a `door`, an error counts
    as one of these only if a model raised it.
    """
    if isinstance(error, BaseExceptionGroup) and (door is None or door.behind(error) is None):
        leaves = [deciding_error(inner, door) for inner in error.exceptions]
        return min(leaves, key=lambda leaf: _rank(leaf[0], door))
    met = door.behind(error) if door else None
    return met or (error, None)


def _rank(error: BaseException, door: ModelErrors | None) -> int:
    ranked = (*PASSING, LimitReached, ProviderError)
    if door is not None and door.behind(error) is None:
        return len(ranked)
    return next((place for place, kind in enumerate(ranked) if isinstance(error, kind)), len(ranked))


def failed_call(seat: str, error: ProviderError, call: Called | None, view: View, events: Sequence[Event]) -> Ending:
    """The ending of an episode in which a call of `seat` failed: by the provider, or by the seat at fault."""
    detail = str(error)
    if error.kind in OWN_REPLY:
        return Ending(seat, error.kind, detail)
    if call is None or not _for_its_text(call):
        return Ending("provider", error.kind, detail)
    other = _flooding(call, view, events)
    if other and (error.kind == "context_overflow" or call.status == 413 or _answered_before(call, events)):
        return Ending(other, FLOODED, storable(f"{seat} could not answer what {other} said: {detail}"))
    if _answered_before(call, events) or _by_own_words(call, view, events):
        return Ending(seat, error.kind, detail)
    return Ending("provider", error.kind, detail)


def _for_its_text(call: Called) -> bool:
    """Whether a call was refused because of its content; False for a bad request stored without its status."""
    kind = call.error[0] if call.error else ""
    return kind == "context_overflow" or (kind == "bad_request" and call.status in TEXTUAL)


def _answered_before(call: Called, events: Sequence[Event]) -> bool:
    """Whether the same model had answered in this episode, so that its name, key and settings must be right."""
    earlier = (event for event in effective(events) if isinstance(event, Called) and event.seq < call.seq)
    return any(event.seat == call.seat and event.reply is not None for event in earlier)


def _by_own_words(call: Called, view: View, events: Sequence[Event]) -> bool:
    """Whether most of a first request is neither what the seat was shown nor instructions of a usual length."""
    sent = sum(len(message.content) for message in messages_of(call, events))
    shown = len(view.brief) + sum(len(said.text) for said in view.heard) + len(str(view.known or ""))
    return sent - shown > max(shown, ALLOWED)


def _flooding(call: Called, view: View, events: Sequence[Event]) -> str:
    """The other seat whose words make up at least half of what was sent; "" if there is none.

    Only seats that have acted count: a scenario's own announcements flood nothing.
    """
    sent = "\n".join(message.content for message in messages_of(call, events))
    players = {event.seat for event in events if isinstance(event, Acted) and event.seq < call.seq}
    words = Counter((said.seat, text) for said in view.heard if (text := said.text.strip()))
    amounts: Counter[str] = Counter()
    for (seat, text), times in words.items():
        if seat != view.seat and seat in players:
            amounts[seat] += len(text) * min(times, sent.count(text))
    most = max(amounts, key=lambda seat: amounts[seat], default="")
    return most if most and 2 * amounts[most] >= len(sent) else ""
