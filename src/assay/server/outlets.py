"""Connections below HTTP: for bytes which go to many clients, and are framed once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol

OUTLET = "assay.outlet"
"""Where the state of a request has the outlet of its connection."""


class Flow(Protocol):
    """How far the other side takes what is sent."""

    write_paused: bool


class Chunk:
    """A part of an answer, ready for every connection."""

    __slots__ = ("framed", "plain")

    def __init__(self, data: bytes) -> None:
        self.plain = data
        self.framed = b"%x\r\n%b\r\n" % (len(data), data)
        """As HTTP/1.1 sends it where the length of the whole is not known (RFC 9112, 7.1)."""


class Outlet:
    """The connection of one client, written to without a task of its own and without waiting.

    Only what stands between the head of an answer of unknown length and its end may be written here.
    """

    def __init__(self, transport: asyncio.Transport, flow: Flow) -> None:
        self._transport, self._flow = transport, flow
        self._lost: Callable[[], None] | None = None

    @property
    def gone(self) -> bool:
        """Whether the client is there no more."""
        return self._transport.is_closing()

    def write(self, chunk: Chunk, *, chunked: bool) -> bool:
        """Send a part; False where the client has not taken what was sent before, or is gone: nothing is sent then."""
        if self._flow.write_paused or self._transport.is_closing():
            return False
        self._transport.write(chunk.framed if chunked else chunk.plain)
        return True

    def close(self) -> None:
        """Have done with a client which takes nothing any more."""
        self._transport.abort()

    def on_lost(self, told: Callable[[], None] | None) -> None:
        """Call `told` when the connection is lost; None: nobody."""
        self._lost = told

    def lose(self) -> None:
        """The connection is lost."""
        if self._lost is not None:
            self._lost()


def outlet_of(scope: Mapping[str, Any]) -> Outlet | None:
    """The outlet of the connection a request came by; None where the server has none (another than `assay serve`)."""
    found = scope.get("state", {}).get(OUTLET)
    return found if isinstance(found, Outlet) else None
