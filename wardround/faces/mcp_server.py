"""The seat as tools of an MCP server, over stdio or HTTP: any MCP client plays it (extra `mcp`).

The tools `start`, `reply`, `ask`, `order`, `conclude`, `turn` and `leave` return a `ClientTurn`. Its `verbs` say
which of them the scenario takes now; every scenario takes `reply`, a text that its own parser reads.
"""

from collections.abc import Awaitable, Callable, Mapping
from secrets import token_hex
from typing import Annotated, Literal

import msgspec
from pydantic import Field

from wardround.engine.errors import WardroundError
from wardround.engine.logs import redact
from wardround.engine.records import Json, json_object
from wardround.faces.client_format import missing_extra
from wardround.faces.open_episodes import ClientTurn, OpenEpisodes

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent
except ImportError as error:
    raise missing_extra("mcp", error) from error

INSTRUCTIONS = (
    "You play the {seat} in simulated encounters. Call `start`, read `text`, and act by the tools whose names are in "
    "`verbs` (`reply` takes any words) until `done` is true."
)
Kind = Literal["examination", "lab", "microbiology", "imaging", "any"]
Episode = Annotated[str, Field(description="The id that `start` returned.")]


def _result(turn: ClientTurn) -> Json:
    """A turn as JSON; where it has images, the client's model gets them as images and not as text."""
    if not turn.images:
        return json_object(turn)
    fields = json_object(msgspec.structs.replace(turn, images=()))
    content: list[ContentBlock] = [TextContent(type="text", text=msgspec.json.encode(fields).decode())]
    for image in turn.images:
        kind, _, data = image.removeprefix("data:").partition(";base64,")
        if data:
            content.append(ImageContent(type="image", data=data, mime_type=kind))
        else:
            content.append(TextContent(type="text", text=f"Image: {image}"))
    return CallToolResult(content=content, structured_content=fields)


def guarded_mcp_server(episodes: OpenEpisodes, *, any_host: bool) -> tuple[MCPServer, TransportSecuritySettings | None]:
    """The server and its guard over HTTP, which lets only local names pass unless `any_host`."""
    return mcp_server(episodes), TransportSecuritySettings(enable_dns_rebinding_protection=False) if any_host else None


async def _shown(handle: str, ask: Callable[[str, str], Awaitable[ClientTurn]]) -> dict[str, Json]:
    """The turn for (id, client's token), with the handle of its episode; an error's text reaches the client.

    The handle carries the token because MCP has no sessions; the token of an id alone is "".
    """
    episode, _, client = handle.partition("~")
    try:
        made = await ask(episode, client)
        result: dict[str, Json] = _result(msgspec.structs.replace(made, episode=f"{made.episode}~{client}"))
        return result
    except WardroundError as error:  # only a ToolError's text reaches the client
        raise ToolError(redact(str(error))) from error


def mcp_server(episodes: OpenEpisodes) -> MCPServer:
    """The server; `run()` serves stdio, `run("streamable-http", ...)` HTTP."""
    server = MCPServer("wardround", instructions=INSTRUCTIONS.format(seat=episodes.driven.seat), log_level="WARNING")

    async def acted(episode: str, verb: str, text: str, args: Mapping[str, Json] | None = None) -> dict[str, Json]:
        action: dict[str, Json] = {"verb": verb, "text": text} | ({"args": args} if args else {})
        return await _shown(episode, lambda name, client: episodes.act(name, action, client))

    @server.tool()
    async def start(
        case: Annotated[str, Field(description="A case or an id; empty: the next.")] = "",
    ) -> dict[str, Json]:
        """Begin an encounter, or take up one that was left."""
        return await _shown(f"{case.partition('~')[0]}~{token_hex(4)}", episodes.start)

    @server.tool()
    async def reply(episode: Episode, text: str) -> dict[str, Json]:
        """Say anything in the scenario's own protocol."""
        return await acted(episode, "reply", text)

    @server.tool()
    async def ask(episode: Episode, question: str) -> dict[str, Json]:
        """Ask the patient."""
        return await acted(episode, "ask", question)

    @server.tool()
    async def order(episode: Episode, kind: Kind, items: list[str]) -> dict[str, Json]:
        """Read the record: examine the patient or order tests; `items` may be empty for the whole examination."""
        text, args = f"{kind}: {', '.join(items)}", {"kind": kind, "items": items}
        return await acted(episode, "order", text, args)

    @server.tool()
    async def conclude(episode: Episode, answer: str) -> dict[str, Json]:
        """Give the final answer: the diagnosis, or the treatment where the scenario asks for one."""
        return await acted(episode, "conclude", answer, {"diagnosis": answer, "treatment": answer})

    @server.tool()
    async def turn(episode: Episode) -> dict[str, Json]:
        """Show the present turn again."""
        return await _shown(episode, episodes.turn)

    @server.tool()
    async def leave(episode: Episode) -> dict[str, Json]:
        """Leave an encounter before its end; `start` with its id takes it up again."""
        return await _shown(episode, episodes.leave)

    return server
