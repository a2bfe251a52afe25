"""Server-sent events: frames, the answer they travel in, and the log of a run as one."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from assay.core.errors import Cancelled, UnknownName
from assay.core.events import Envelope
from assay.server.problems import refusal

# Connections below HTTP: for bytes which go to many clients, and are framed once for all of them.

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


# Server-sent events.

HEARTBEAT = 15.0
"""Seconds without an event after which a comment is sent, so that nobody between takes the connection for dead."""
RETRY_MS = 2_000
COME_BACK = 10
"""Seconds after which a client may ask again whom the server has no stream for."""
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

BEGIN = f"retry: {RETRY_MS}\n\n".encode()
BEAT = b": still here\n\n"

Picked = Callable[[str], bool]
"""Whether events of a type are wanted."""

_encode = msgspec.json.Encoder().encode


class Tickets:
    """How many streams each user, and all together, may have open, and have."""

    def __init__(self, most: int, most_of_all: int) -> None:
        self._most, self._most_of_all, self._open = most, most_of_all, Counter[str]()
        self._files: int | None = None

    def within(self, files: int | None) -> None:
        """Have no more streams than the process may have files open; None: as many as the settings say."""
        self._files = files

    @property
    def total(self) -> int:
        """How many streams are open, of all users."""
        return self._open.total()

    def ticket(self, owner: str) -> Ticket:
        """The right to one more stream; to be closed.

        Raises:
            Refusal: the user, or the server, has too many.
        """
        if self._open[owner] >= self._most:
            raise refusal("too-many", f"{self._most} streams are open already: close one (setting server.streams)")
        going = self._open.total()
        if self._files is not None and going >= self._files < self._most_of_all:
            why = "the limit of open files of its process allows (ulimit -n)"
            raise refusal("away", f"{going} streams are open at this server, as many as {why}", retry_after=COME_BACK)
        if going >= self._most_of_all:
            why = "it is set up for (setting server.all_streams)"
            raise refusal("away", f"{going} streams are open at this server, as many as {why}", retry_after=COME_BACK)
        self._open[owner] += 1
        return Ticket(self._open, owner)


class Ticket:
    """The right to one stream."""

    def __init__(self, counted: Counter[str], owner: str) -> None:
        self._counted, self._owner, self._closed = counted, owner, False

    def close(self) -> None:
        """The stream has ended."""
        if not self._closed:
            self._closed = True
            self._counted[self._owner] -= 1
            if not self._counted[self._owner]:
                del self._counted[self._owner]


class EventStream(StreamingResponse):
    """An answer of server-sent events, for which its user has a ticket."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncIterator[bytes], ticket: Ticket, headers: dict[str, str] | None = None) -> None:
        super().__init__(chunks, headers={**HEADERS, **(headers or {})})
        self._ticket = ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, until it ends or nobody is there any more."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.close()

    def close(self) -> None:
        """The stream has ended: its user may open another."""
        self._ticket.close()


def frame(data: bytes, *, event: str = "", id: str = "") -> bytes:
    """One event: `data` is one line."""
    head = (f"id: {id}\n" if id else "") + (f"event: {event}\n" if event else "")
    return b"%bdata: %b\n\n" % (head.encode(), data)


def told(envelope: Envelope) -> bytes:
    """An event of a run's log: its number is the frame's id."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (envelope.seq, envelope.type.encode(), _encode(envelope))


def picked(types: Sequence[str]) -> Picked:
    """What is wanted by names of types, and by groups of them (`report.*`); all, where none is named."""
    if not types:
        return lambda _name: True
    names = frozenset(types)
    groups = tuple(each[:-1] for each in types if each.endswith(".*"))
    return lambda name: name in names or name.startswith(groups)


async def run_frames(groups: AsyncIterator[Sequence[Envelope]], wanted: Picked) -> AsyncIterator[bytes]:
    """The log of a run as frames, until it ends.

    When the server stops, or the run is deleted, the stream ends and its reader comes back by itself: to another
    server, or to be told that there is no such run.
    """
    yield BEGIN
    try:
        async for group in groups:
            chunk = b"".join(told(envelope) for envelope in group if wanted(envelope.type))
            if chunk or not group:
                yield chunk or BEAT
    except (Cancelled, UnknownName):
        yield BEGIN
