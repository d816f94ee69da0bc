"""A small MCP server over standard input, for tests: `python -m tool_server_script COUNTS`."""

import os
import sys
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("guidelines")
COUNTS = Path(sys.argv[1])


@server.tool()
def look_up(word: str) -> str:
    """Look a finding up."""
    with COUNTS.open("a") as file:
        file.write(f"{word}\n")
    if word == "crash" and COUNTS.read_text().count("crash") == 1:
        os._exit(9)
    if word == "nothing":
        raise ToolError("there is no such finding")
    return f"{word}: think of influenza"


if __name__ == "__main__":
    server.run()
