"""The protocols that an agent, a model, a scenario, an evaluator and a store must implement."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Protocol, Self, TypeVar, cast, runtime_checkable

from anyio.lowlevel import checkpoint

from wardround.engine.budget import SpendRow
from wardround.engine.events import Acted, Row
from wardround.engine.records import Action, Completion, Ending, EpisodeRow, Json, Message, RunRow, Score, Scored, View
from wardround.engine.seat import Seat
from wardround.engine.sessions import RunControl, Session, SessionRow
from wardround.engine.trajectory import Trajectory


def has_methods(thing: object, protocol: type) -> bool:
    """Whether `thing` has all methods of a runtime protocol: `isinstance`, which takes twenty times as long."""
    return all(getattr(thing, name, None) is not None for name in _methods(protocol))


@cache
def _methods(protocol: type) -> tuple[str, ...]:
    return tuple(name for name, value in vars(protocol).items() if callable(value) and not name.startswith("_"))


class Agent(Protocol):
    """An agent acts in a seat; a new one is made for each episode.

    ::

        class Polite:
            async def act(self, view: View) -> Action:
                return Action("reply", "Good morning. Shall we begin?")

    A class attribute `sealed = True` promises that the agent reaches the outside only through its seat's model; without
    it, all events so far are made durable before each call of `act`. An agent with state of its own also has
    `recall(view, action) -> None`, by which resume and replay show it each recorded turn.
    """

    async def act(self, view: View) -> Action:
        """Decide what to do; any exception ends the episode by this seat."""


@runtime_checkable
class Remembers(Protocol):
    """An agent with state of its own."""

    def recall(self, view: View, action: Action) -> None:
        """Take note of a recorded turn, in place of a call of `act`."""


@runtime_checkable
class Ends(Protocol):
    """An agent that holds something beyond its episode, such as a process of its own."""

    def end(self) -> None:
        """Release it; no act follows. May be called for an agent that never acted."""


class Model(Protocol):
    """A language model. Derive your own class from it and define the members that have no body here.

    ::

        class Echo(Model):
            name, host = "echo", ""

            async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
                return Completion(messages[-1].content)

    `name` is the endpoint's name for the model. `host` says where its bytes go: a host name, `localhost`, a provider's
    name if a library chooses the host, or `""` if nothing is sent (scripted, recorded). `key_env` is the environment
    variable of its key, for messages; "" if there is none.
    """

    name: str
    host: str
    key_env: str = ""

    @property
    def hosts(self) -> Sequence[str]:
        """Every host that its bytes may go to: one, or several for a fleet."""
        return (self.host,)

    @property
    def address(self) -> str:
        """Its address in a form that messages may show."""
        return self.host

    def bound(self, role: str, episode: str) -> "Model":
        """The model for one seat and episode; the model itself if it treats all callers alike.

        A bound model takes `role`'s share of the endpoint and keeps to one endpoint for `episode`. Close only the
        model that was not bound.
        """
        return self

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Answer; raises ProviderError after its own retries. Options: temperature, top_p, max_tokens, seed, stop."""

    async def aclose(self) -> None:
        """Close its connections; a model without any inherits this."""
        await checkpoint()


CaseT = TypeVar("CaseT")
CaseT_contra = TypeVar("CaseT_contra", contravariant=True)
StateT = TypeVar("StateT")


class Scenario(Protocol[CaseT_contra, StateT]):
    """The rules of an encounter: a pure state machine without model, clock or randomness.

    `seats` are the seats that take turns; the first is the seat under test.
    """

    name: str
    seats: Sequence[str]

    def start(self, case: CaseT_contra) -> StateT:
        """The state before the first action."""

    def turn(self, state: StateT) -> str:
        """The seat that acts now."""

    def view(self, state: StateT, seat: str) -> View:
        """What `seat` may see; an agent learns of the case in no other way. The engine fills in `memo` and `seq`."""

    def apply(self, state: StateT, event: Acted) -> StateT:
        """The state after an action."""

    def ending(self, state: StateT) -> Ending | None:
        """How the episode ended, or None while it goes on."""


AnyScenario = Scenario[Any, Any]
"""A scenario whose cases and states only it knows."""


@runtime_checkable
class Deals(Protocol[CaseT]):
    """A scenario that shows a case differently in each repeat, such as options in another order."""

    def deal(self, item: CaseT, repeat: int) -> CaseT:
        """The case as repeat number `repeat` (from 1) shows it; a pure function of both."""


def deal_case(scenario: AnyScenario, item: CaseT, repeat: int) -> CaseT:
    """The case as a repeat shows it: the case itself, unless the scenario deals."""
    return cast(Deals[CaseT], scenario).deal(item, repeat) if has_methods(scenario, Deals) else item


@runtime_checkable
class Pools(Protocol):
    """A scenario that learns from all items of a run before it begins, such as a pool of examples."""

    def pool(self) -> "Pool":
        """A new pool, which sees each item once."""


class Pool(Protocol):
    """What a scenario keeps from all items of a run."""

    def add(self, item: Any) -> None:
        """Consider an item."""

    def texts(self) -> Mapping[str, str]:
        """The texts to keep with the prompts of the run, by name."""


class Evaluator(Protocol):
    """Scores stored episodes. A judged evaluator asks through its seat; a plain metric has none.

    ::

        class Turns:
            name = "turns-only"

            async def score(self, case: Case, trajectory: Trajectory, seat: Seat | None = None) -> Sequence[Score]:
                return [Score("turns_taken", float(len(list(trajectory.acted("player")))))]
    """

    name: str

    async def score(self, case: Any, trajectory: Trajectory, seat: Seat | None) -> Sequence[Score] | Scored:
        """The scores of one episode, with an account of how they came about if a reader will want one."""


@runtime_checkable
class Versioned(Protocol):
    """An evaluator that states the version of its rules; an evaluator without a version has version 1.

    Raise the version whenever any score of an episode may change: scores by two versions are never combined.
    """

    VERSION: int | str


class StoreOpener(Protocol):
    """The target of an entry point of the group `wardround.stores`, whose name is the scheme of the address."""

    def __call__(self, address: str, /) -> "Store":
        """The store at an address such as `SCHEME://HOST/NAME`, as the user wrote it; raises UsageError."""


class Store(Protocol):
    """Keeps runs. A write is durable when its awaited call returns; reads are ordered and streamed."""

    async def create_run(
        self,
        name: str,
        header: Mapping[str, Json],
        episodes: Iterable[EpisodeRow] = (),
        orders: RunControl | None = None,
    ) -> None:
        """Create a run with its episodes and orders, all or nothing; raises UsageError if the name is taken.

        `episodes` may be lazy, but must give the same episodes each time, because a store may have to begin again.
        """

    async def runs(self) -> Sequence[RunRow]:
        """All runs, oldest first."""

    async def run(self, name: str) -> RunRow:
        """One run; raises UsageError that lists the existing runs."""

    async def put(self, texts: Iterable[bytes]) -> Sequence[str]:
        """Store texts by content; returns their hashes (32 hex digits)."""

    async def get(self, digest: str) -> bytes:
        """The text with this digest; raises TextLost if it is missing or was altered."""

    async def begin(self, run: str, *, host: str, pid: int) -> Session:
        """Begin to work on a run (engine/sessions.py)."""

    async def sessions(self, run: str) -> Sequence[SessionRow]:
        """All sessions of a run, oldest first."""

    async def release(self, session: int) -> None:
        """Declare a session dead and free the episodes that it holds."""

    async def orders(self, run: str) -> RunControl:
        """The operator's orders for the run."""

    async def order(self, run: str, orders: RunControl) -> None:
        """Replace the orders."""

    async def append(self, run: str, episode: str, rows: Sequence[Row], *, ending: Ending | None = None) -> None:
        """Append events in one write, durable on return; `ending` closes the episode's row.

        Use this for episodes that no session holds (imports, forks, judgements); sessions have their own `append`.
        """

    async def reopen(self, run: str, episodes: Sequence[str]) -> None:
        """Open the closed ones of these episodes (ids) again, keeping their events.

        The next session that plays one adds its `Reopened` event, which says from which event it goes on.
        """

    def read(self, run: str, episode: str, *, after: int = -1) -> AsyncIterator[Row]:
        """The events of one episode in order, from number `after` + 1."""

    def episodes(
        self, run: str, *, causes: Sequence[str] | None = None, after: int = -1, limit: int | None = None
    ) -> AsyncIterator[EpisodeRow]:
        """The episodes of a run in order, from number `after` + 1; read by index, one page at a time.

        `causes` filters by cause, with `open` for open episodes. `limit` is the largest number of rows, None for all.
        """

    async def episode(self, run: str, name: str) -> EpisodeRow | None:
        """One episode by its id."""

    async def find(self, run: str, name: str, limit: int) -> Sequence[EpisodeRow]:
        """The episode with this id, else the one with this number, else the first `limit` episodes of this case."""

    async def endings(self, run: str) -> Mapping[str, int]:
        """Number of episodes by cause, in order of cause; open episodes count under `open`."""

    async def spending(self, run: str | None = None, *, day: str | None = None, besides: int = 0) -> Sequence[SpendRow]:
        """Spending by seat and day, of one run or all, on one day or all; in order of run, day, seat.

        The spending of session number `besides` is left out.
        """

    async def recall(self, key: str) -> bytes | None:
        """The answer under this key in the call cache, or None."""

    async def keep(self, key: str, answer: bytes) -> None:
        """Add an answer to the call cache; an earlier answer under the same key stays."""

    async def put_scores(self, run: str, episode: str, evaluator: str, scores: Sequence[Score]) -> None:
        """Replace an evaluator's scores of one episode; `evaluator` may be any name of a scoring (scorings.py)."""

    async def scorings(self, run: str) -> Mapping[str, int]:
        """Number of episodes with scores, by the name under which the scores were stored; in order of name."""

    def scores(self, run: str) -> AsyncIterator[tuple[str, str, Score]]:
        """(episode, evaluator, score), sorted by episode and evaluator, then in the order in which they were stored."""

    async def aclose(self) -> None:
        """Finish pending writes and close."""


class Cache(Protocol):
    """Keeps earlier answers by the key of a call and its occurrence."""

    async def recall(self, key: str, nth: int) -> Completion | None:
        """The cached answer, or None."""

    async def keep(self, key: str, nth: int, reply: Completion) -> None:
        """Cache an answer."""


@runtime_checkable
class ReadsTogether(Protocol):
    """A store that reads many texts or logs at once, for less than as many calls of `get` or `read`."""

    async def texts(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        """The texts with these digests; one that is missing or was altered is left out."""

    async def logs(self, run: str, episodes: Sequence[str]) -> Mapping[str, Sequence[Row]]:
        """The events of these episodes (ids), each in order; an episode without events is left out."""


@runtime_checkable
class KeptInFiles(Protocol):
    """A store in files of this machine: a sealed process of an agent does not see them, since they hold the truth."""

    def files(self) -> Sequence[str]:
        """The paths of the files, and of those that may come beside them while the store is open."""


class Wrapped(Model):
    """A wrapper round `model` with the same name and address; subclasses add behaviour."""

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.host, self.key_env = model, model.name, model.host, model.key_env

    @property
    def hosts(self) -> Sequence[str]:
        """Every host that the model's bytes may go to."""
        return self.model.hosts

    @property
    def address(self) -> str:
        """Where the model is reached."""
        return self.model.address

    def bound(self, role: str, episode: str) -> Self:
        """The same wrapper round the model for one seat and episode."""
        inner = self.model.bound(role, episode)
        if inner is self.model:
            return self
        made = self.twin()
        made.model = inner
        return made

    def twin(self) -> Self:
        """A shallow copy; `copy.copy` takes ten times as long, and each episode makes several."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        return await self.model.complete(messages, purpose=purpose, **options)

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


@runtime_checkable
class _Binding(Protocol):
    """An older model that has a `bound` of its own."""

    def bound(self, role: str, episode: str) -> Model: ...


class _Older(Wrapped):
    """Wraps a user's model written before the protocol had `hosts`, `address`, `key_env` and `bound`.

    Any of these that the model has are used. Supported for one version.
    """

    def __init__(self, model: Model) -> None:
        self.model, self.name, self.host = model, model.name, model.host
        self.key_env = str(getattr(model, "key_env", ""))
        self._hosts: Sequence[str] = tuple(getattr(model, "hosts", (model.host,)))
        self._address = str(getattr(model, "address", model.host))

    @property
    def hosts(self) -> Sequence[str]:
        """Its hosts, or its one host."""
        return self._hosts

    @property
    def address(self) -> str:
        """Its address, or its host."""
        return self._address

    def bound(self, role: str, episode: str) -> "_Older":
        """The model's own for one seat and episode, if it has `bound`."""
        return _Older(self.model.bound(role, episode)) if isinstance(self.model, _Binding) else self


_MEMBERS = ("key_env", "hosts", "address", "bound")


def with_all_members(model: Model) -> Model:
    """`model` with the whole protocol: the model itself, or a wrapper if its class lacks the newer members."""
    if Wrapped in type(model).__mro__:  # the quick test first: each seat of each episode asks
        return model
    return model if all(hasattr(model, name) for name in _MEMBERS) else _Older(model)
