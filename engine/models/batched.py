"""A model that is asked in batches: calls are gathered, sent as one file, and answered when the batch has ended."""

import asyncio
import json
import secrets
from collections import Counter
from collections.abc import Coroutine, Mapping, Sequence
from hashlib import blake2b
from time import perf_counter
from typing import NamedTuple, Self

import msgspec

from wardround.engine.errors import ProviderError, WardroundError
from wardround.engine.logs import log
from wardround.engine.models.batch_api import BatchApi, BatchLine
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.models.reply import chat_options, read_reply, turns
from wardround.engine.protocols import Model, Store, Wrapped
from wardround.engine.records import Completion, Json, Message

_encode = msgspec.json.Encoder(order="deterministic").encode
DISCOUNT = 0.5
"""The price of a call in a batch, as a share of its usual price."""
TRIES = 3
"""The number of batches into which a request is put before it counts as unanswered."""
LOST = 60
"""Failed requests in a row for the status of a batch, after which its calls fail."""
MALFORMED = 5
"""The same for replies without a readable status."""


class Pace(NamedTuple):
    """When batches are sent and how often they are asked about, in seconds.

    A batch is sent when no call has come for `quiet` seconds; it has at most `most` requests and `size` bytes. Its
    status is asked for at once, after `first` seconds, and then after waits that double up to `longest`.
    """

    quiet: float = 1.0
    first: float = 2.0
    longest: float = 60.0
    most: int = 50_000
    size: int = 150_000_000


PACE = Pace()
"""The pace at OpenAI, whose limits of a batch are 50,000 requests and 200 MB."""


class _Request(NamedTuple):
    key: str
    body: Mapping[str, Json]


class Batched(Wrapped):
    """A model whose calls go out in batches; `model` is the same model asked directly, for trials before a run.

    `api` is the batch interface of its endpoint, `price` the price of a direct call, of which a batch costs half.

    A call waits until no other has come for `pace.quiet` seconds; then all waiting calls go out as one batch. The store
    notes what is sent before it is paid: after a kill at any moment the same batch answers the same calls. After
    `begin`, runs and episodes are kept apart; without it all callers of the store share the answer to a question.
    """

    def __init__(
        self,
        model: Model,
        api: BatchApi,
        store: Store,
        *,
        price: Price | None = None,
        pace: Pace | None = None,
    ) -> None:
        super().__init__(model)
        self.queue = _Queue(api, store, f"{model.name}\x1f{model.address}", pace or PACE)
        self._price, self._who = price, ("", "")
        self._asked: Counter[str] = Counter()

    def begin(self, scope: str) -> None:
        """Note batches under this name from now on, and look there for those under way."""
        self.queue.scope = scope

    def bound(self, role: str, episode: str) -> Self:
        """The model for one seat and episode."""
        made = self.twin()
        made._who, made._asked = (role, episode if self.queue.scope else ""), Counter()
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion, when its batch has ended; raises ProviderError."""
        start = perf_counter()
        body = {"model": self.name, "messages": turns(messages), **chat_options(options)}
        try:
            key = blake2b(_encode([self._who, purpose, body]), digest_size=16).hexdigest()
        except UnicodeEncodeError:
            raise ProviderError("unsendable", f"{self.name}: the messages are not valid text") from None
        nth = self._asked[key]
        self._asked[key] += 1
        line = await self.queue.answer(_Request(f"{key}-{nth}" if nth else key, body))
        where = f"{self.name} at {self.queue.where}"
        if line.status != 200:
            raise failure(where, line.status or 504, {}, line.body, messages=messages)
        reply = read_reply(line.body, where, self.name, self._price)
        cost = None if reply.usage.cost is None else reply.usage.cost * DISCOUNT
        took = perf_counter() - start
        return msgspec.structs.replace(
            reply, usage=msgspec.structs.replace(reply.usage, cost=cost), latency=took, waited=took
        )

    async def aclose(self) -> None:
        """Stop waiting: batches under way go on at the endpoint, and a resume finds them."""
        await self.queue.aclose()
        await self.model.aclose()


class _Group(NamedTuple):
    number: int
    tag: str
    keys: Sequence[str]


class _Queue:
    """The requests that wait, and the batches under way; shared by all that ask one model.

    Each request has a key. `_futures` has those that a caller waits for, with `_bodies` to send them again. `_fresh`
    are in no batch yet; `_known` are in one, or about to be. `_lines` keeps the answers of an earlier process's batches
    until somebody asks for them.
    """

    def __init__(self, api: BatchApi, store: Store, name: str, pace: Pace) -> None:
        self.scope = ""
        self._api, self._store, self._name, self._pace = api, store, name, pace
        self._loading, self._loaded = asyncio.Lock(), False
        self._groups = 0
        self._known: set[str] = set()
        self._lines: dict[str, BatchLine] = {}
        self._futures: dict[str, asyncio.Future[BatchLine]] = {}
        self._fresh: list[_Request] = []
        self._bodies: dict[str, Mapping[str, Json]] = {}
        self._tries: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = False

    @property
    def where(self) -> str:
        """The endpoint, for messages."""
        return self._api.where

    async def answer(self, request: _Request) -> BatchLine:
        """The outcome of a request; raises ProviderError."""
        if not self._loaded:
            await self._load()
        key = request.key
        if key in self._lines:
            return self._lines.pop(key)
        future = self._futures.get(key)
        if future is None:
            future = self._futures[key] = asyncio.get_running_loop().create_future()
            self._bodies[key] = request.body
            if key not in self._known:
                self._add(request)
        return await asyncio.shield(future)

    def _add(self, request: _Request) -> None:
        self._known.add(request.key)
        self._fresh.append(request)
        if not self._sending:
            self._sending = True
            self._run(self._send())

    def _run(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self) -> None:
        """Send the waiting requests in batches, once no further one comes."""
        seen = -1
        while seen != len(self._fresh) and len(self._fresh) < self._pace.most:
            seen = len(self._fresh)
            await asyncio.sleep(self._pace.quiet)
        self._sending = False
        fresh, self._fresh = self._fresh, []
        for part in _parts(fresh, self._pace):
            group = _Group(self._groups, secrets.token_hex(12), [request.key for request in part])
            self._groups += 1
            self._run(self._or_fail(group, self._begin(group, part)))

    async def _or_fail(self, group: _Group, work: Coroutine[object, object, None]) -> None:
        """Await the `work` of a group; if it fails, each call that waits for the group gets the error."""
        try:
            await work
        except WardroundError as error:
            self._fail_all(group, error)
        except (AttributeError, LookupError, OSError, TypeError, ValueError) as error:
            log.error("a batch could not be read", endpoint=self.where, error=type(error).__name__)
            why = f"{self.where}: the batch could not be read ({type(error).__name__})"
            self._fail_all(group, ProviderError("malformed", why))

    async def _begin(self, group: _Group, part: Sequence[_Request]) -> None:
        """Note a group, upload its requests and begin its batch: each step is noted before the next."""
        await self._note(group.number, "", json.dumps([group.tag, *group.keys]))
        file = await self._api.upload(part)
        batch = await self._api.create(file, group.tag)
        await self._note(group.number, "batch", batch)
        log.info("a batch was begun", endpoint=self.where, batch=batch, requests=len(part))
        await self._follow(group, batch)

    async def _follow(self, group: _Group, batch: str) -> None:
        """Wait for the end of a batch and give out its answers."""
        wait, failed = self._pace.first, 0
        while True:
            try:
                state = await self._api.state(batch)
                failed = 0
            except ProviderError as error:
                failed += 1
                most = MALFORMED if error.kind == "malformed" else LOST
                if failed == most or error.kind not in ("connection", "rate_limit", "server", "timeout", "malformed"):
                    raise
            else:
                if state.status != "running":
                    break
            await asyncio.sleep(wait)
            wait = min(2 * wait, self._pace.longest)
        if state.status == "failed":
            await self._note(group.number, "dead", json.dumps(list(group.keys)))
            raise ProviderError("bad_request", f"{self.where}: the batch {batch} failed: {state.why[:300]}")
        lines: dict[str, BatchLine] = {}
        for file in state.files:
            lines |= {line.name: line for line in await self._api.lines(file)}
        await self._give(group, lines, cancelled=state.status == "cancelled")

    async def _give(self, group: _Group, lines: Mapping[str, BatchLine], *, cancelled: bool) -> None:
        """Give out the answers. A request without one goes into another batch, unless this batch was cancelled."""
        dead = [key for key in group.keys if key not in lines or lines[key].status != 200]
        if dead:
            await self._note(group.number, "dead", json.dumps(dead))
        for key in group.keys:
            line = lines.get(key, BatchLine(key, 0, b'{"error": {"message": "the batch ended without an answer"}}'))
            temporary = line.status in (0, 408, 429) or line.status >= 500
            self._tries[key] += 1
            if temporary and not cancelled and key in self._bodies and self._tries[key] < TRIES:
                self._add(_Request(key, self._bodies[key]))
            elif (future := self._futures.pop(key, None)) is not None:
                future.set_result(line)
                self._bodies.pop(key, None)
                if line.status != 200:
                    self._known.discard(key)
            elif line.status == 200:
                self._lines[key] = line
            else:
                self._known.discard(key)

    def _fail_all(self, group: _Group, error: WardroundError) -> None:
        for key in group.keys:
            self._known.discard(key)
            self._bodies.pop(key, None)
            if (future := self._futures.pop(key, None)) is not None:
                future.set_exception(error)
                future.exception()  # whoever asked may have been cancelled

    async def _load(self) -> None:
        """Find the batches of an earlier process, once; one that was never begun is forgotten."""
        async with self._loading:
            while not self._loaded:
                kept = await self._recall(self._groups, "")
                if kept is None:
                    self._loaded = True
                    break
                tag, *keys = json.loads(kept)
                group = _Group(self._groups, tag, keys)
                batch = await self._recall(group.number, "batch") or await self._api.find(tag)
                dead = set(json.loads(await self._recall(group.number, "dead") or "[]"))
                self._groups += 1
                living = group._replace(keys=[key for key in keys if key not in dead])
                if batch and living.keys:
                    await self._note(group.number, "batch", batch)
                    self._known.update(living.keys)
                    self._run(self._or_fail(living, self._follow(living, batch)))

    async def _note(self, number: int, what: str, text: str) -> None:
        await self._store.keep(self._place(number, what), text.encode())

    async def _recall(self, number: int, what: str) -> str | None:
        body = await self._store.recall(self._place(number, what))
        return None if body is None else body.decode()

    def _place(self, number: int, what: str) -> str:
        parts = "\x1f".join(("batch", self.scope, self._name, str(number), what))
        return blake2b(parts.encode(), digest_size=16).hexdigest()

    async def aclose(self) -> None:
        """Stop waiting."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for future in self._futures.values():
            future.cancel()
        self._futures.clear()
        self._loaded, self._groups = False, 0
        await self._api.aclose()


def _parts(fresh: Sequence[_Request], pace: Pace) -> list[list[_Request]]:
    """The requests in parts that an endpoint takes as one batch."""
    parts: list[list[_Request]] = []
    size = 0
    for request in fresh:
        own = len(_encode(request.body)) + 200
        if not parts or len(parts[-1]) == pace.most or size + own > pace.size:
            parts.append([])
            size = 0
        parts[-1].append(request)
        size += own
    return parts
