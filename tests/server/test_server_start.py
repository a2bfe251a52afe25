"""The start of the server."""

from __future__ import annotations

import re
import time
from pathlib import Path

import httpx
from serving import WAIT, served

LATE = """
import asyncio

listen = asyncio.BaseEventLoop.create_server

async def late(*given, **named):
    await asyncio.sleep(0.5)
    return await listen(*given, **named)

asyncio.BaseEventLoop.create_server = late
"""
"""A program in which a socket listens half a second after it is asked to, as under load."""


def test_the_server_names_its_address_once_it_can_be_reached(tmp_path: Path) -> None:
    with served(tmp_path / "home", ready=False, program=LATE) as server:
        while not (found := re.search(r"serves (http://\S+)", server.output())):
            assert server.process.poll() is None, server.output()
            time.sleep(0.02)
        assert httpx.get(f"{found[1]}/livez", trust_env=False, timeout=WAIT).status_code == 200
