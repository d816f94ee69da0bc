"""Defines the seat that an agent is made with: its name, seed, options, models that record every call, and tools."""

import asyncio
import json
import random
from collections.abc import ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, overload

import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.openai_client import http_client, openai_client
from wardround.engine.prompts import Prompts
from wardround.engine.records import Completion, Json, Message

if TYPE_CHECKING:
    import httpx
    import openai


class Traits(NamedTuple):
    """What an agent's class declares by optional attributes of the same names.

    `sealed` promises that the agent reaches the outside only through its seat's model. `outside` says that a person or
    another process answers, and cannot be asked the same again. `version` (attribute VERSION) is the version of the
    agent's rules: raise it whenever the agent may act otherwise in the same view.
    """

    sealed: bool = False
    outside: bool = False
    version: int = 1


def traits_of(agent: object) -> Traits:
    """The traits of an agent, or of the class or function that makes one."""
    # Any class with `act` is an agent, without a base class: an attribute that it leaves out has its default.
    return Traits(
        bool(getattr(agent, "sealed", False)), bool(getattr(agent, "outside", False)), int(getattr(agent, "VERSION", 1))
    )


def knowledge_of(factory: object) -> str:
    """What the agents of a class or factory learn besides their view, as declared by its attribute `knows`.

    "truth" (the case), "cases" (the other cases), or "" (nothing), which is the default.
    """
    return str(getattr(factory, "knows", ""))


class Voice(Protocol):
    """A seat's access to a model: calls are recorded in the episode's log and answered from it on resume."""

    name: str

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Answer, with the seat's sampling settings under `options`; raises ProviderError or LimitReached."""


LIST = "tools/list"
"""What stands for the list of all tools, in place of the name of one."""


class ToolServer:
    """The tools of one server.

    ::

        guidelines = seat.tools("guidelines")           # --SEAT-model guidelines=mcp/https://host/mcp
        tools = await guidelines.tools()                # as `tools` of a chat completion
        text = await guidelines.call("look_up", {"word": "fever"})
    """

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    async def tools(self) -> list[Json]:
        """All tools, in the form of chat completions."""
        listed: list[Json] = json.loads(await self._use(LIST, {}))
        return listed

    async def call(self, tool: str, arguments: Json) -> str:
        """What a tool returns, as text. An error of the tool is a text too, for the model to read.

        Raises ProviderError if the server cannot be reached.
        """
        try:
            return await self._use(tool, arguments)
        except ProviderError as error:
            if error.kind != "bad_request":
                raise
            return f"error: {error}"

    async def _use(self, tool: str, arguments: Json) -> str:
        asked = msgspec.json.encode({"tool": tool, "arguments": arguments}, order="deterministic").decode()
        return (await self._voice.complete([Message("user", asked)], purpose="tool")).text


def _loop_here() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


@dataclass(frozen=True, slots=True)
class Seat:
    """A place in one episode.

    ::

        class Mine:
            def __init__(self, seat: Seat) -> None:
                self.seat = seat

            async def act(self, view: View) -> Action:
                reply = await self.seat.model.complete([Message("user", view.brief)], purpose="act")
                return Action("reply", reply.text)

    `seed` is the number for this seat in this episode (see `draw`), `options` are the user's settings of the agent, and
    `prompts` are all prompts of the run. `loop` is the event loop in which the calls of its models are made.

    `model` is the seat's model; if it has several, with names, they are in `models`, and `model` is the first.
    `knowledge` is None, except for agents whose class says `knows = "truth"` (then it is the case) or `knows = "cases"`
    (then the other cases, without this one); the run's header lists these agents.
    """

    name: str
    case_id: str
    seed: int
    prompts: Prompts
    options: Mapping[str, Json] = field(default_factory=dict)
    model: Voice | None = None
    knowledge: object = None
    models: Mapping[str, Voice] = field(default_factory=dict)
    loop: asyncio.AbstractEventLoop | None = field(default_factory=_loop_here, repr=False, compare=False)

    @overload
    def openai(self, *, sync: Literal[False] = False) -> "openai.AsyncOpenAI": ...

    @overload
    def openai(self, *, sync: Literal[True]) -> "openai.OpenAI": ...

    def openai(self, *, sync: bool = False) -> "openai.AsyncOpenAI | openai.OpenAI":
        """A client of the openai package whose requests are calls of the seat's model.

        Chat completions and Responses, streamed or not, with tools; nothing else is sent anywhere. The `model` of a
        request chooses among the seat's models by name; any other name stands for `seat.model`. A `sync` client is for
        code in a thread (`await asyncio.to_thread(...)`). Raises UsageError if the seat has no model.
        """
        return openai_client(self._named_models(), self.loop, sync=sync)

    @overload
    def http_client(self, *, sync: Literal[False] = False) -> "httpx.AsyncClient": ...

    @overload
    def http_client(self, *, sync: Literal[True]) -> "httpx.Client": ...

    def http_client(self, *, sync: bool = False) -> "httpx.AsyncClient | httpx.Client":
        """The same as an httpx client, for a framework that makes its openai client itself (at `http://wardround.invalid/v1`)."""
        return http_client(self._named_models(), self.loop, sync=sync)

    def tools(self, name: str) -> ToolServer:
        """The tools of an MCP server among the seat's models (`--SEAT-model NAME=mcp/URL`); raises UsageError."""
        if name not in self.models:
            there = ", ".join(self.models) or "none"
            raise UsageError(f"{self.name}: no server is called {name!r} (there are: {there}); write {name}=mcp/URL")
        return ToolServer(self.models[name])

    def _named_models(self) -> dict[str, Voice]:
        if self.model is None:
            raise UsageError(
                f"{self.name}: this agent needs a model; name one, for instance --{self.name}-model openai/gpt-4o"
            )
        return {"": self.model, **self.models}

    def draw(self, seq: int) -> random.Random:
        """Random numbers for the act after event `seq`: the same on resume and replay."""
        return random.Random(seed_of(self.seed, seq))


class WatchedOptions(dict[str, Json]):
    """Options that note which of them were read, so that an option that nobody takes is reported before a run."""

    def __init__(self, options: Mapping[str, Json]) -> None:
        super().__init__(options)
        self.unread = list(options)

    def __getitem__(self, name: str) -> Json:
        self._read(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Json = None) -> Json:
        """The option, or the default."""
        self._read(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._read(name)
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        self.unread.clear()
        return super().__iter__()

    def keys(self) -> KeysView[str]:  # type: ignore[override]
        """All names."""
        self.unread.clear()
        return super().keys()

    def items(self) -> ItemsView[str, Json]:  # type: ignore[override]
        """All options."""
        self.unread.clear()
        return super().items()

    def values(self) -> ValuesView[Json]:  # type: ignore[override]
        """All values."""
        self.unread.clear()
        return super().values()

    def _read(self, name: object) -> None:
        self.unread = [other for other in self.unread if other != name]


def seed_of(*parts: str | int) -> int:
    """A 53-bit seed from the parts, the same on every machine."""
    joined = "\x1f".join(str(part) for part in parts).encode()
    return int.from_bytes(blake2b(joined, digest_size=8).digest(), "big") >> 11
