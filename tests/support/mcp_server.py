"""A server of the Model Context Protocol made with its SDK; as a program: `mcp_server.py stdio`, or `http PORT`."""

from __future__ import annotations

import json
import os
import sys
import time

from mcp.server import MCPServer

NOTES = {
    "n 1": ("The Harbor log", "The harbor was built in 1843. Ada Byron kept its log for eleven years."),
    "n/2": ("Tides", "The highest tide on record was 5.2 metres, in March 1838."),
}


def server() -> MCPServer:
    """Finds and reads two notes; and tools which misbehave."""
    made = MCPServer("notes")

    @made.tool()
    def search(query: str) -> str:
        """Find notes."""
        found = [{"id": id, "title": title, "url": "", "text": text[:20]} for id, (title, text) in NOTES.items()]
        return json.dumps({"results": found})

    @made.tool()
    def fetch(id: str) -> str:
        """Read a note."""
        title, text = NOTES[id]
        return json.dumps({"id": id, "title": title, "text": text, "url": "", "metadata": {}})

    @made.tool()
    def slow(query: str) -> str:
        """Take longer than anybody waits."""
        time.sleep(3)
        return "late"

    @made.tool()
    def large(query: str) -> str:
        """Say more than anybody reads."""
        return "x" * 3_000_000

    @made.tool()
    def broken(query: str) -> str:
        """Fail."""
        raise ValueError("it is broken")

    @made.tool()
    def nonsense(query: str) -> str:
        """Say what is no list of results."""
        return "[1, {"

    @made.tool()
    def odd(query: str) -> str:
        """Say results of which one is as it should be."""
        found = [5, {"id": None, "url": None}, {"id": "n 1", "title": None, "url": None, "snippet": None, "text": "x"}]
        return json.dumps({"results": found})

    @made.tool()
    def unreadable(query: str) -> str:
        """Say results which are none."""
        return "[1, 2]"

    @made.tool()
    def environment(id: str) -> str:
        """What the process can see."""
        return json.dumps({"id": id, "title": "Environment", "text": " ".join(os.environ), "url": ""})

    return made


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server().run("stdio")
    else:
        server().run("streamable-http", port=int(sys.argv[2]))
