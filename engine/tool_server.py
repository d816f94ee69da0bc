"""The tools of an MCP server as a seat uses them: listed, called, recorded with the episode, and replayed from it."""

import json
from collections.abc import Sequence
from typing import Protocol

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.records import Completion, Json, Message

LIST = "tools/list"
"""What stands for the list of all tools, in place of the name of one."""


class Speaking(Protocol):
    """A seat's access to the server: a `Voice`."""

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The result of a call."""


class ToolServer:
    """The tools of one server.

    ::

        guidelines = seat.tools("guidelines")           # --SEAT-model guidelines=mcp/https://host/mcp
        tools = await guidelines.tools()                # as `tools` of a chat completion
        text = await guidelines.call("look_up", {"word": "fever"})
    """

    def __init__(self, voice: Speaking) -> None:
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
