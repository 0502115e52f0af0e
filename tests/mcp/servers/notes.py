"""A small MCP server in Python, by the official SDK: for tests of `cove mcp --wrap`."""
import os
import sys
import time

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

server = MCPServer("notes")
notes: dict[str, str] = {}


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def count() -> int:
    """How many notes there are."""
    return len(notes)


@server.tool()
def put(name: str, text: str) -> dict[str, str]:
    """Keep a note under a name."""
    notes[name] = text
    return {"name": name, "text": text}


@server.tool(annotations=ToolAnnotations(destructive_hint=True))
def remove(name: str) -> bool:
    """Remove a note for good."""
    with open(os.environ["NOTES_LOG"], "a") as log:
        log.write(f"remove {name}\n")
    return notes.pop(name, None) is not None


@server.tool()
def die() -> str:
    """End this server at once."""
    print("dying as I was told", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
def sleep(seconds: float) -> str:
    """Answer late."""
    time.sleep(seconds)
    return "slept"


server.run("stdio")
