"""A server of tools (MCP) as a model of a seat: each use of a tool is a call that is recorded, limited and replayed."""

import asyncio
import json
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, TextIO

import anyio

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.logs import names_secret, redact
from wardround.engine.misbehaviour import error_text
from wardround.engine.models.hosts import endpoint_url, host_of, printable_url
from wardround.engine.models.provider import MODEL_KEY, ModelRequest, Provider
from wardround.engine.models.transport import Timeouts
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.engine.seat import LIST
from wardround.engine.text import printable

if TYPE_CHECKING:
    import mcp
    import mcp_types
    from mcp.client import Transport

PROCESS = "mcp-process"
"""The host of a server that is a process of this machine: restricted cases reach it by `--allow-host mcp-process`."""


class ToolModel(Model):
    """An MCP server at a URL or behind a command; the last message of a call is JSON: `tool` and `arguments`.

    The reply's text is what the tool returned: its text, or its structured content as JSON. The connection is opened
    at the first call and kept for all episodes.
    """

    def __init__(self, target: str, env: Mapping[str, str], timeouts: Timeouts) -> None:
        self._url = endpoint_url(target) if "://" in target else None
        self._command = [] if self._url else _words_of(target)
        self._last_words = ""
        self._env, self._timeouts = env, timeouts
        self.name = printable_url(self._url) if self._url else self._command[0].rpartition("/")[2]
        self.host = host_of(self._url) if self._url else PROCESS
        self._client: mcp.Client | None = None
        self._opening = asyncio.Lock()
        self._closing = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        """Where the server is."""
        return self.name

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """What a tool returned; raises ProviderError, bad_request for an error of the tool."""
        start = perf_counter()
        client = await self._open()
        try:
            with anyio.fail_after(self._timeouts.total):
                asked: Json = {"tool": LIST} if purpose == "preflight" else json.loads(messages[-1].content)
                text = await self._use(client, asked["tool"], asked.get("arguments") or {})
        except TimeoutError:
            raise ProviderError("timeout", f"{self.name}: no result within {self._timeouts.total:g} s") from None
        except (ValueError, KeyError, TypeError):
            raise ProviderError("bad_request", f"{self.name}: a call is JSON with `tool` and `arguments`") from None
        return Completion(text, model=self.name, finish="stop", latency=perf_counter() - start)

    async def _use(self, client: "mcp.Client", tool: str, arguments: Mapping[str, Json]) -> str:
        from mcp import MCPError  # noqa: PLC0415 a run without tools does not pay for the import
        from mcp_types import CONNECTION_CLOSED  # noqa: PLC0415 see above

        try:
            if tool == LIST:
                return json.dumps([_as_chat_tool(one) for one in (await client.list_tools()).tools], ensure_ascii=False)
            result = await client.call_tool(tool, dict(arguments))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise self._lost_connection(client, error) from None
            raise ProviderError("bad_request", f"{self.name}: {tool}: {error}") from None
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise self._lost_connection(client, error) from None
        texts = "\n".join(part.text for part in result.content if part.type == "text")
        if result.is_error:
            raise ProviderError("bad_request", f"{self.name}: {tool}: {texts[:300]}")
        if texts or result.structured_content is None:
            return texts
        return json.dumps(result.structured_content, ensure_ascii=False)

    def _lost_connection(self, client: "mcp.Client", error: Exception) -> ProviderError:
        """The error for a server that ended during a call; the next call opens another connection."""
        if self._client is client:
            self._closing.set()
            self._client = None
        return ProviderError("connection", f"{self.name}: the server is gone ({type(error).__name__})")

    async def _open(self) -> "mcp.Client":
        """The connection, which a task of its own keeps open until `aclose`; raises ProviderError."""
        async with self._opening:
            if self._client is not None and self._keeper is not None and not self._keeper.done():
                return self._client
            ready: asyncio.Future[mcp.Client] = asyncio.get_running_loop().create_future()
            self._closing = asyncio.Event()
            self._keeper = keeper = asyncio.get_running_loop().create_task(self._keep_open(ready))
            await asyncio.wait((keeper, ready), timeout=self._timeouts.connect, return_when=asyncio.FIRST_COMPLETED)
            if keeper.done():
                error = None if keeper.cancelled() else keeper.exception()
                raise ProviderError("connection", f"{self.name}: no MCP server{self._reason(error)}")
            if not ready.done():
                keeper.cancel()
                late = f"no MCP server within {self._timeouts.connect:g} s{self._reason(None)}"
                raise ProviderError("timeout", f"{self.name}: {late}")
            self._client = ready.result()
            return self._client

    def _reason(self, error: BaseException | None) -> str:
        """Why there is no server: the first error of a group, and the last words of a process."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        said = f" ({error_text(error)[:200]})" if error is not None else ""
        return f"{said}; its last words: {self._last_words}" if self._last_words else said

    def _target(self, errors: TextIO) -> "str | Transport":
        from mcp import StdioServerParameters  # noqa: PLC0415 see above
        from mcp.client.stdio import stdio_client  # noqa: PLC0415 see above

        if self._url is not None:
            return str(self._url)
        words = StdioServerParameters(command=self._command[0], args=self._command[1:], env=dict(self._env))
        return stdio_client(words, errlog=errors)

    async def _keep_open(self, ready: "asyncio.Future[mcp.Client]") -> None:
        """Connect, and hold the connection open until `aclose`."""
        import mcp  # noqa: PLC0415 see above

        self._last_words = ""
        with tempfile.TemporaryFile("a+", encoding="utf-8", errors="replace") as errors:
            try:
                async with mcp.Client(self._target(errors)) as client:
                    errors.truncate(0)  # what it logs while it runs well would fill the disk
                    ready.set_result(client)
                    await self._closing.wait()
            finally:
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
                self._last_words = redact(printable(errors.read().strip()[-300:]))

    async def aclose(self) -> None:
        """Close the connection, and end the process."""
        self._closing.set()
        self._client, keeper = None, self._keeper
        if keeper is not None:
            await asyncio.wait([keeper], timeout=10)


def _words_of(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"'mcp/{command}': the command cannot be read: {error}") from error
    if words[0] in ("python", "python3"):  # the Python of this process, as for `exec:`
        words[0] = sys.executable
    return words


def _as_chat_tool(tool: "mcp_types.Tool") -> Json:
    """A tool in the form of chat completions."""
    function = {"name": tool.name, "description": tool.description or "", "parameters": tool.input_schema}
    return {"type": "function", "function": function}


class ToolServers(Provider):
    """MCP servers: `mcp/URL`, or `mcp/COMMAND` for one that speaks over standard input and output."""

    def model(self, wanted: ModelRequest) -> Model:
        """The server; a process gets this environment without its keys.

        Raises UsageError without the extra `mcp`, for --base-url, and for an address or a command that is wrong.
        """
        try:
            import mcp  # noqa: PLC0415 an extra, needed only here

            del mcp
        except ImportError as error:
            raise UsageError(f"{wanted.spec!r} needs the extra `mcp`: pip install 'wardround[mcp]'") from error
        if wanted.address:
            raise UsageError(f"{wanted.spec!r} names its own address: leave --base-url out")
        env = {name: value for name, value in os.environ.items() if not names_secret(name) and name != MODEL_KEY}
        return ToolModel(wanted.name, env, wanted.timeouts or Timeouts(total=120.0))
