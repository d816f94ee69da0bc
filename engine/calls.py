"""The calls of an episode: recorded, answered from the record or the cache, and who is to blame for a failed one."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from hashlib import blake2b
from typing import Protocol

import msgspec
from anyio.lowlevel import checkpoint

from wardround.engine.budget import Size, Spending, spending_of
from wardround.engine.errors import (
    EgressError,
    LeaseLost,
    LimitReached,
    LogError,
    ProviderError,
    ReplayError,
    RunStopped,
    StoreError,
    UsageError,
    storable,
)
from wardround.engine.events import Acted, Called, Event, effective
from wardround.engine.limits import LimitAccount
from wardround.engine.misbehaviour import ActCalls
from wardround.engine.openai_client import FAILED
from wardround.engine.protocols import Cache, Model, Store
from wardround.engine.records import Completion, Ending, Json, Message, View
from wardround.engine.trajectory import CANCELLED, EpisodeLog, RecordedCalls, messages_of

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

    If an agent raises one of these very errors, or another `from` one of them, the failure counts as its model's. An
    error of the same type that the agent made itself does not. `cancellations` has a function for each cancelled call,
    which records it. They are called when the act ends, since only then is it known that the agent gave the calls up.
    """

    __slots__ = ("_noted", "cancellations")

    def __init__(self) -> None:
        self._noted: list[tuple[Exception, Called | None]] = []
        self.cancellations: list[Callable[[], object]] = []

    def note(self, error: Exception, call: Called | None = None) -> None:
        """Note an error that a model of this episode raised."""
        self._noted.append((error, call))

    def clear(self) -> None:
        """Forget all errors, because another act begins."""
        self._noted.clear()
        self.cancellations.clear()

    def record_cancelled(self) -> None:
        """Add the calls that the agent gave up to the log."""
        for record in self.cancellations:
            record()
        self.cancellations.clear()

    def behind(self, error: BaseException) -> tuple[Exception, Called | None] | None:
        """The model's error that `error` is or was raised from, with its call; None if the error is the agent's own."""
        seen: BaseException | None = error
        for _ in range(100):  # a chain of causes may be a ring
            if seen is None:
                return None
            stands_for = _stands_for(seen)
            for met in self._noted:
                if met[0] is seen or met[0] is stands_for:
                    return met
            seen = seen.__cause__
        return None

    def passing(self) -> Exception | None:
        """The first error of this act that concerns the whole run, even if the agent swallowed it."""
        return next((error for error, _ in self._noted if isinstance(error, PASSING)), None) if self._noted else None


def _stands_for(error: BaseException) -> Exception | None:
    """The model's error behind an error of the openai client: the response of the client's error carries it."""
    # An error of another library may have a `response` of any kind.
    extensions = getattr(getattr(error, "response", None), "extensions", None)
    failed = extensions.get(FAILED) if isinstance(extensions, dict) else None
    return failed if isinstance(failed, ProviderError) else None


def deciding_error(error: BaseException, errors: ModelErrors | None) -> tuple[BaseException, Called | None]:
    """Of several errors raised by concurrent calls, the one that decides, with its call if there is one.

    A stop of the run comes first, then a limit, then a provider's error, then the rest. With
    `errors`, those of the models, an error counts as one of these only if a model raised it.
    """
    if isinstance(error, BaseExceptionGroup) and (errors is None or errors.behind(error) is None):
        leaves = [deciding_error(inner, errors) for inner in error.exceptions]
        return min(leaves, key=lambda leaf: _rank(leaf[0], errors))
    met = errors.behind(error) if errors else None
    return met or (error, None)


def _rank(error: BaseException, errors: ModelErrors | None) -> int:
    ranked = (*PASSING, LimitReached, ProviderError)
    if errors is not None and errors.behind(error) is None:
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


_encode = msgspec.json.Encoder(order="deterministic").encode


class RunWatch(Protocol):
    """Decides when acts and calls may begin, can stop the run before them, and books what each call spent."""

    async def before_act(self) -> None:
        """Return when a new action may begin; raise RunStopped if none may."""

    async def before_call(self, seat: str) -> Size:
        """Return the size set aside for a new call once it may be made; raise RunStopped if none may."""

    def after_call(self, seat: str, spent: Spending | None, size: Size | None) -> None:
        """Book a call that ended; `size` was set aside for it, None if that was released before.

        `spent` is None if the call was dropped and is not recorded yet.
        """

    def drain(self, why: str) -> None:
        """Begin no further action in the whole run."""


class _Conversation:
    """The messages and reply of a seat's last call, so that the next call stores and hashes only new messages.

    `hasher` covers the messages sent, without the reply.
    """

    __slots__ = ("hasher", "messages", "reply", "seq")

    def __init__(self, seq: int, messages: Sequence[Message], reply: Completion, hasher: blake2b) -> None:
        self.seq, self.messages, self.reply, self.hasher = seq, list(messages), reply.as_message(), hasher


class _Continuation:
    """Which earlier call of the same seat a call's messages continue, which messages are new, and the call's key."""

    __slots__ = ("echo", "hasher", "key", "new", "since")

    def __init__(self, messages: Sequence[Message], known: Iterable[_Conversation], suffix: bytes) -> None:
        self.since, self.echo, self.hasher = -1, False, blake2b(digest_size=16)
        start = 0
        for earlier in known:
            sent = len(earlier.messages)
            if sent > start and list(messages[:sent]) == earlier.messages:
                self.since, self.hasher, start, self.echo = earlier.seq, earlier.hasher.copy(), sent, False
                if len(messages) > sent and messages[sent] == earlier.reply:
                    self.echo, start = True, sent + 1
                    feed(self.hasher, earlier.reply)
        self.new = list(messages[start:])
        for message in self.new:
            feed(self.hasher, message)
        keyed = self.hasher.copy()
        keyed.update(suffix)
        self.key = keyed.hexdigest()


def feed(hasher: blake2b, message: Message) -> None:
    """Hash one message; the length of each keeps two messages from being read as one."""
    content = message.content.encode("utf-8", "surrogatepass")
    hasher.update(f"{message.role}\x1f{len(content)}\x1f".encode())
    hasher.update(content)
    if message.more:
        more = _encode(message.more)
        hasher.update(b"\x1e%d\x1f%b" % (len(more), more))


class RecordingModel:
    """The `Voice` of a seat in one episode: it answers a call from the log, the cache or the model, and records it.

    `label` tells apart the models of a seat that has several; it is "" for an only model. The episode sets the other
    attributes: `spent` (the account of its limits), `watch` (the run's budget and pauses), `cache`, `errors`, `owner`
    (the seat whose act makes the calls), `act` (the calls of that act), and `away`, which stops the act's timer.
    """

    def __init__(
        self,
        seat: str,
        model: Model,
        options: Mapping[str, Json],
        *,
        log: EpisodeLog,
        recorded: RecordedCalls,
        label: str = "",
    ) -> None:
        self.name = model.name
        self._seat, self._model, self._options, self._label = seat, model, dict(options), label
        self._suffix = _encode(self._options)
        self._log, self._recorded = log, recorded
        # The last conversation of each purpose, so that the next act continues its own after a repair or a summary.
        self._known: dict[str, _Conversation] | None = None
        self.spent: LimitAccount | None = None
        self.watch: RunWatch | None = None
        self.cache: Cache | None = None
        self.errors = ModelErrors()
        self.owner, self.act = "", ActCalls(recorded.has_cancelled)
        self.away: Callable[[], AbstractContextManager[None]] = nullcontext

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Return the recorded reply of this call; if there is none, make the call and record its reply or error.

        Raises ProviderError if the call fails or failed when it was recorded, LimitReached, RunStopped, and
        UsageError outside of the seat's act.
        """
        self.act.begin(self.owner)
        try:
            return await self._complete(messages, purpose, options)
        finally:
            self.act.end()

    async def _complete(self, messages: Sequence[Message], purpose: str, options: Mapping[str, Json]) -> Completion:
        if self._known is None:
            self._known = _latest(self._seat, self._label, self._log.events)
        settings = {**self._options, **options} if options else self._options
        suffix = self._suffix if not options else _encode(settings)
        labelled = (self._label.encode(),) if self._label else ()
        suffix = b"\x1e".join((self._seat.encode(), purpose.encode(), suffix, *labelled))
        continuation = _Continuation(messages, self._known.values(), suffix)
        nth = self._recorded.occurrence(continuation.key)
        call = self._recorded.take(continuation.key, nth)
        if call is None:
            try:
                reply, error = await self._get_reply(continuation.key, nth, messages, purpose, settings)
                call = self._record(continuation, nth, purpose, options, (reply, error))
                if self.cache and reply and not reply.recalled:
                    await self.cache.keep(continuation.key, nth, reply)
            except asyncio.CancelledError:
                if call is not None:  # it was only being cached
                    raise
                self.errors.cancellations.append(partial(self._give_up, continuation, nth, purpose, options))
                if self.spent:
                    self.spent.failed(self._seat)
                raise
            except Exception as raised:
                if isinstance(raised, EgressError) or not isinstance(raised, UsageError):  # a UsageError is the agent's
                    self.errors.note(raised)
                raise
        if call.reply is None:
            kind, message = call.error or ("malformed", "the log has neither reply nor error")
            if kind == CANCELLED:  # the agent gives this call up again, so it gets no reply
                await asyncio.Event().wait()
            failed = ProviderError(kind, message, status=call.status or None)
            self.errors.note(failed, call)
            raise failed
        self._known[purpose] = _Conversation(call.seq, messages, call.reply, continuation.hasher)
        return call.reply

    def _record(
        self, continuation: _Continuation, nth: int, purpose: str, options: Mapping[str, Json], came: "_Outcome"
    ) -> Called:
        """Add the call to the log before anything is awaited, so that no paid call is lost."""
        (reply, error), log = came, self._log
        call = Called(
            seq=log.next,
            at=log.clock(),
            seat=self._seat,
            purpose=purpose,
            key=continuation.key,
            nth=nth,
            new=continuation.new,
            since=continuation.since,
            echo=continuation.echo,
            options=options,
            reply=reply,
            error=(error.kind, str(error)) if error else None,
            status=(error.status or 0) if error else 0,
            label=self._label,
        )
        log.add(call)
        return call

    def _give_up(self, continuation: _Continuation, nth: int, purpose: str, options: Mapping[str, Json]) -> None:
        """Add a call that the agent gave up to the log, and book it."""
        error = ProviderError(CANCELLED, "the agent did not wait for the reply")
        self._record(continuation, nth, purpose, options, (None, error))
        if self.watch:
            self.watch.after_call(self._seat, spending_of(None), None)

    async def _get_reply(
        self, key: str, nth: int, messages: Sequence[Message], purpose: str, settings: Mapping[str, Json]
    ) -> "_Outcome":
        """The reply or error of a call that was not recorded, from the cache or from the model."""
        if self._recorded.replaying:
            seq = self._log.next
            raise ReplayError(f"seat {self._seat} makes a call ({purpose}) that the log does not have", seq=seq)
        with self.away():
            reply = await self.cache.recall(key, nth) if self.cache else None
            if reply is None:
                return await self._ask(messages, purpose, settings)
        if self.spent:
            self.spent.call(self._seat, reply.usage)
        return reply, None

    async def _ask(self, messages: Sequence[Message], purpose: str, settings: Mapping[str, Json]) -> "_Outcome":
        """Make the call once it is allowed and all earlier events are durable."""
        spent = self.spent
        if spent:
            try:
                spent.check()
            except LimitReached:
                await checkpoint()  # an agent that swallows this and asks again must not block all others
                raise
        size = await self.watch.before_call(self._seat) if self.watch else None
        reply, error, booked = None, None, None
        try:
            if self._log.begun:
                await self._log.flush()
            reply = await self._model.complete(messages, purpose=purpose, **settings)
            booked = spending_of(reply)
        except ProviderError as failure:
            error = failure
            booked = spending_of(None)
        finally:
            if self.watch and size is not None:
                self.watch.after_call(self._seat, booked, size)
        if spent and reply:
            spent.call(self._seat, reply.usage)
        elif spent:
            spent.failed(self._seat)
        return reply, error


_Outcome = tuple[Completion | None, ProviderError | None]
"""The outcome of a call: a reply or an error."""


def _latest(seat: str, label: str, events: Sequence[Event]) -> dict[str, _Conversation]:
    last: dict[str, tuple[Called, Completion]] = {}
    for event in effective(events):
        if isinstance(event, Called) and (event.seat, event.label) == (seat, label) and event.reply is not None:
            last[event.purpose] = event, event.reply
    known: dict[str, _Conversation] = {}
    for purpose, (event, reply) in last.items():
        messages, hasher = messages_of(event, events), blake2b(digest_size=16)
        for message in messages:
            feed(hasher, message)
        known[purpose] = _Conversation(event.seq, messages, reply, hasher)
    return known


_decode = msgspec.json.Decoder(Completion).decode


class StoreCache:
    """Caches answers in a store under `model` (the model and its address), the repeat, the call's key and occurrence.

    The key of a call hashes its seat, purpose, messages and options (engine/events.py), so a call at another
    temperature is another question. The repeat is part of the key because repeats measure how much answers vary.

    If `repeat` is None, neither it nor the occurrence counts: a question has one answer for all callers and episodes.
    A caller that wants another answer must then ask in another role.
    """

    def __init__(self, store: Store, model: str, repeat: int | None) -> None:
        self._store, self._model, self._repeat = store, model, repeat

    async def recall(self, key: str, nth: int) -> Completion | None:
        """The cached answer, marked as recalled, with the usage of the original call and no latency; None if absent."""
        body = await self._store.recall(self._name(key, nth))
        if body is None:
            return None
        return msgspec.structs.replace(_decode(body), recalled=True, latency=0.0, waited=0.0, attempts=0)

    async def keep(self, key: str, nth: int, reply: Completion) -> None:
        """Cache an answer."""
        await self._store.keep(self._name(key, nth), msgspec.json.encode(reply))

    def _name(self, key: str, nth: int) -> str:
        which = ("shared", key) if self._repeat is None else (str(self._repeat), key, str(nth))
        return blake2b("\x1f".join((self._model, *which)).encode(), digest_size=16).hexdigest()
