"""The contracts: what an agent, a model, a scenario, an evaluator and a store must do."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from wardround.engine.budget import SpendRow
from wardround.engine.events import Acted, Row
from wardround.engine.records import Action, Completion, Ending, EpisodeRow, Json, Message, RunRow, Score, Scored, View
from wardround.engine.sessions import RunControl, Session, SessionRow
from wardround.engine.trajectory import Trajectory


class Agent(Protocol):
    """One who acts in a seat, made fresh for each episode.

    A class attribute `sealed = True` promises that the agent's only way out of the process is its seat's model; without
    it every event so far is made durable before `act` is called. An agent with state of its own also has
    `recall(view, action) -> None`, by which resume and replay show it each recorded turn.
    """

    async def act(self, view: View) -> Action:
        """Decide what to do; any exception ends the episode by this seat."""
        ...


@runtime_checkable
class Remembers(Protocol):
    """An agent with state of its own."""

    def recall(self, view: View, action: Action) -> None:
        """Be shown a recorded turn instead of being asked."""
        ...


class Model(Protocol):
    """A way to reach a language model; a class of your own derives from it and has what has no body here.

    `name` is what the endpoint calls the model; `host` where its bytes go: a host name, `localhost`, or a provider's
    name where the library chooses the host; `""` if they go nowhere (scripted, recorded). `key_env` is the environment
    variable that its key is read from, for messages; "" where there is none.
    """

    name: str
    host: str
    key_env: str = ""

    @property
    def hosts(self) -> Sequence[str]:
        """Every host that its bytes may go to: one, but for a fleet."""
        return (self.host,)

    @property
    def address(self) -> str:
        """Where it is reached, as a message may show it."""
        return self.host

    def bound(self, role: str, episode: str) -> "Model":
        """The model for one seat and episode; itself where it makes no difference. Only what was not bound is closed.

        A model that treats its callers differently gives the same model for one of them, with `role`'s share, which
        keeps to one endpoint for `episode`.
        """
        del role, episode
        return self

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Answer; raises ProviderError after its own retries. Options: temperature, top_p, max_tokens, seed, stop."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


CaseT_contra = TypeVar("CaseT_contra", contravariant=True)
StateT = TypeVar("StateT")


class Scenario(Protocol[CaseT_contra, StateT]):
    """The rules of an encounter: a pure state machine, no model, no clock, no randomness."""

    name: str
    seats: Sequence[str]

    def start(self, case: CaseT_contra) -> StateT:
        """The state before the first action."""
        ...

    def turn(self, state: StateT) -> str:
        """The seat that acts now."""
        ...

    def view(self, state: StateT, seat: str) -> View:
        """What `seat` may see: the only door between a case and an agent. The engine fills in `memo` and `seq`."""
        ...

    def apply(self, state: StateT, event: Acted) -> StateT:
        """The state after an action."""
        ...

    def ending(self, state: StateT) -> Ending | None:
        """How the episode ended, or None while it goes on."""
        ...


class Evaluator(Protocol):
    """A judge of stored episodes; plain metrics ignore the seat."""

    name: str

    async def score(self, case: Any, trajectory: Trajectory, seat: Any) -> Sequence[Score] | Scored:
        """The figures of one episode; with an account of them where a reader will want one."""
        ...


@runtime_checkable
class Versioned(Protocol):
    """An evaluator that says which version of its rules this is; one that does not has version 1.

    Raise it whenever a figure of an episode can come out otherwise than before: figures by two versions are never put
    together.
    """

    VERSION: int | str


class StoreOpener(Protocol):
    """What an entry point of the group `wardround.stores` stands for; its name is the scheme of the address."""

    def __call__(self, address: str, /) -> "Store":
        """The store at an address such as `SCHEME://HOST/NAME`, as the user wrote it; raises UsageError."""
        ...


class Store(Protocol):
    """Where runs live. Writes are durable when the awaited call returns; reads are ordered and streamed."""

    async def create_run(
        self,
        name: str,
        header: Mapping[str, Json],
        episodes: Iterable[EpisodeRow] = (),
        orders: RunControl | None = None,
    ) -> None:
        """Start a run, with its episodes and orders, all or nothing; raises UsageError if the name is taken.

        `episodes` may be made as they are asked for, but the same each time: a store may have to begin anew.
        """
        ...

    async def runs(self) -> Sequence[RunRow]:
        """All runs, oldest first."""
        ...

    async def run(self, name: str) -> RunRow:
        """One run; raises UsageError naming those there are."""
        ...

    async def put(self, texts: Iterable[bytes]) -> Sequence[str]:
        """Keep texts by their content; returns their hashes (32 hex digits)."""
        ...

    async def get(self, digest: str) -> bytes:
        """The text with this digest; raises TextLost if it is missing or was altered."""
        ...

    async def plan(self, run: str, episodes: Sequence[EpisodeRow]) -> None:
        """Add episodes that are to be run."""
        ...

    async def begin(self, run: str, *, host: str, pid: int) -> Session:
        """Begin to work on a run (engine/sessions.py)."""
        ...

    async def sessions(self, run: str) -> Sequence[SessionRow]:
        """All sessions of a run, oldest first."""
        ...

    async def release(self, session: int) -> None:
        """Declare a session dead: what it holds is free."""
        ...

    async def orders(self, run: str) -> RunControl:
        """What the operator wants of the run."""
        ...

    async def order(self, run: str, orders: RunControl) -> None:
        """Replace the orders."""
        ...

    async def append(self, run: str, episode: str, rows: Sequence[Row], *, ending: Ending | None = None) -> None:
        """Append events in one write, durable on return; `ending` closes (cause `open` reopens) the episode's row.

        For imports, forks and judges, which no session holds; a session has an append of its own.
        """
        ...

    async def reopen(self, run: str, causes: Sequence[str]) -> int:
        """Make the episodes that closed by one of `causes` open again; returns how many. Their events stay."""
        ...

    def read(self, run: str, episode: str, *, after: int = -1) -> AsyncIterator[Row]:
        """The events of one episode in order, from number `after` + 1."""
        ...

    def episodes(
        self, run: str, *, causes: Sequence[str] | None = None, after: int = -1, limit: int | None = None
    ) -> AsyncIterator[EpisodeRow]:
        """The episodes of a run in their order, from number `after` + 1; read by index, a page at a time.

        `causes` filters, with `open` for those still open; at most `limit`, None is all.
        """
        ...

    async def episode(self, run: str, name: str) -> EpisodeRow | None:
        """One episode by its id."""
        ...

    async def find(self, run: str, name: str, limit: int) -> Sequence[EpisodeRow]:
        """The episode with this id, else the one with this number, else the first `limit` of this case."""
        ...

    async def endings(self, run: str) -> Mapping[str, int]:
        """Number of episodes by cause, in order of cause; those still open under `open`."""
        ...

    async def spending(self, run: str | None = None, *, day: str | None = None, besides: int = 0) -> Sequence[SpendRow]:
        """What was spent by seat and day: of one run or all, on one day or all; in order of run, day, seat.

        `besides` leaves out what the session of that number spent.
        """
        ...

    async def recall(self, key: str) -> bytes | None:
        """The answer kept under this key in the call cache."""
        ...

    async def keep(self, key: str, answer: bytes) -> None:
        """Keep an answer in the call cache; the first one stays."""
        ...

    async def put_scores(self, run: str, episode: str, evaluator: str, scores: Sequence[Score]) -> None:
        """Replace an evaluator's scores of one episode. `evaluator` may be any name of a scoring (scorings.py)."""
        ...

    async def scorings(self, run: str) -> Mapping[str, int]:
        """Number of episodes that have scores, by the name that they were put under; in order of name."""
        ...

    def scores(self, run: str) -> AsyncIterator[tuple[str, str, Score]]:
        """(episode, evaluator, score) in order of episode, evaluator, and as given."""
        ...

    async def aclose(self) -> None:
        """Write what is pending and close."""
        ...


class Wrapped(Model):
    """A model that asks another one, `model`, and is it in name and place; a subclass says what it does besides."""

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
    """A class of a user's as the contract was before it had `hosts`, `address`, `key_env` and `bound`.

    What it has of them is used. Read for one version.
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

    def bound(self, role: str, episode: str) -> Model:
        """Its own for one seat and episode, if it makes a difference."""
        return whole(self.model.bound(role, episode)) if isinstance(self.model, _Binding) else self


_MEMBERS = ("key_env", "hosts", "address", "bound")


def whole(model: Model) -> Model:
    """`model` with the whole contract: itself, unless it is of a class that was written before the contract grew."""
    return model if all(hasattr(model, name) for name in _MEMBERS) else _Older(model)
