"""A small MCP server over standard input, for tests: `python tool_server_script.py COUNTS`.

It speaks the protocol's lines by itself: a process that imports the library takes a second of CPU in each test.
`test_a_server_of_the_library_is_used_alike` plays the same against a server of the library.
"""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

COUNTS = Path(sys.argv[1])
WORD = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


def look_up(word: str) -> dict[str, Any]:
    """Look a finding up; the first look for `crash` ends the process."""
    with COUNTS.open("a") as file:
        file.write(f"{word}\n")
    if word == "crash" and COUNTS.read_text().count("crash") == 1:
        os._exit(9)
    known = word != "nothing"
    text = f"{word}: think of influenza" if known else "there is no such finding"
    return {"content": [{"type": "text", "text": text}], "isError": not known}


def result(method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """The result of a request; None for one that this server does not know."""
    if method == "initialize":
        server = {"name": "guidelines", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": [{"name": "look_up", "description": "Look a finding up.", "inputSchema": WORD}]}
    return look_up(params["arguments"]["word"]) if method == "tools/call" else None


if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:  # a notification has none
            said = result(request["method"], request.get("params") or {})
            answer = {"result": said} if said else {"error": {"code": -32601, "message": "there is no such method"}}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
