"""Server-sent events: frames, the response that carries them, and the log of a run as frames."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from starlette.requests import HTTPConnection
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from assay.core.errors import Cancelled, StoreError, UnknownName
from assay.core.events import Envelope
from assay.server.problems import refusal, whole_number

log = logging.getLogger(__name__)

# Connections below HTTP: for bytes that go to many clients and are framed once for all of them.

OUTLET = "assay.outlet"
"""The key in a request's state under which the outlet of its connection is stored."""


class Flow(Protocol):
    """True if the client accepts more bytes."""

    write_paused: bool


class Chunk:
    """A part of a response, ready for every connection."""

    __slots__ = ("framed", "plain")

    def __init__(self, data: bytes) -> None:
        self.plain = data
        self.framed = b"%x\r\n%b\r\n" % (len(data), data)
        """A chunk of HTTP/1.1, for responses of unknown length (RFC 9112, 7.1)."""


class Outlet:
    """The connection of one client: written to without a task of its own and without waiting.

    Write only between the head and the end of a response of unknown length.
    """

    def __init__(self, transport: asyncio.Transport, flow: Flow) -> None:
        self._transport, self._flow = transport, flow
        self._lost_listener: Callable[[], None] | None = None

    @property
    def is_disconnected(self) -> bool:
        """True if the client has gone."""
        return self._transport.is_closing()

    def write(self, chunk: Chunk, *, chunked: bool) -> bool:
        """Send a part; False, and nothing is sent, if the client has not received the earlier ones or has gone."""
        if self._flow.write_paused or self._transport.is_closing():
            return False
        self._transport.write(chunk.framed if chunked else chunk.plain)
        return True

    def close(self) -> None:
        """Drop a client that no longer reads."""
        self._transport.abort()

    def on_lost(self, listener: Callable[[], None] | None) -> None:
        """Call `listener` when the connection is lost; None: call nothing."""
        self._lost_listener = listener

    def mark_lost(self) -> None:
        """Note that the connection is lost."""
        if self._lost_listener is not None:
            self._lost_listener()


def outlet_of(scope: Mapping[str, Any]) -> Outlet | None:
    """The outlet of a request's connection; None on servers other than `assay serve`, which have none."""
    outlet = scope.get("state", {}).get(OUTLET)
    return outlet if isinstance(outlet, Outlet) else None


# Server-sent events.

HEARTBEAT = 15.0
"""Seconds without an event after which a comment is sent, so that no proxy takes the connection for dead."""
RETRY_MS = 2_000
RETRY_AFTER_SECONDS = 10
"""Seconds after which a client may retry when the server has no free stream."""
STREAM = "text/event-stream"
HEADERS = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}

RETRY_FRAME = f"retry: {RETRY_MS}\n\n".encode()
HEARTBEAT_FRAME = b": still here\n\n"

EventFilter = Callable[[str], bool]
"""A test: events of this type are wanted."""

_encode = msgspec.json.Encoder().encode


class Tickets:
    """The open streams of each user and of all together, with their limits."""

    def __init__(self, per_user: int, total: int) -> None:
        self._per_user, self._total, self._open = per_user, total, Counter[str]()
        self._files: int | None = None

    def set_file_limit(self, files: int | None) -> None:
        """Lower the limit to the number of files that the process may open; None: only the settings count."""
        self._files = files

    @property
    def total(self) -> int:
        """How many streams are open, for all users."""
        return self._open.total()

    def ticket(self, owner: str) -> Ticket:
        """The right to open one more stream; close it afterwards.

        Raises:
            Refusal: the user, or the server, has too many.
        """
        if self._open[owner] >= self._per_user:
            raise refusal("too-many", f"{self._per_user} streams are open already: close one (setting server.streams)")
        going = self._open.total()
        if self._files is not None and going >= self._files < self._total:
            reason = "the limit of open files of its process allows (ulimit -n)"
            raise refusal(
                "away", f"{going} streams are open at this server, as many as {reason}", retry_after=RETRY_AFTER_SECONDS
            )
        if going >= self._total:
            reason = "it is set up for (setting server.all_streams)"
            raise refusal(
                "away", f"{going} streams are open at this server, as many as {reason}", retry_after=RETRY_AFTER_SECONDS
            )
        self._open[owner] += 1
        return Ticket(self._open, owner)


class Ticket:
    """The right to one stream."""

    def __init__(self, open_counts: Counter[str], owner: str) -> None:
        self._open_counts, self._owner, self._closed = open_counts, owner, False

    def close(self) -> None:
        """Note that the stream has ended."""
        if not self._closed:
            self._closed = True
            self._open_counts[self._owner] -= 1
            if not self._open_counts[self._owner]:
                del self._open_counts[self._owner]


ACCESS = "access"
"""The key in a request's state under which the check stands whether its user may still send it, if there are users."""
ACCESS_SECONDS = 60.0
"""Seconds after which an open stream asks that check again."""


async def has_access(scope: Mapping[str, Any]) -> bool:
    """True if the user of a request may still send it: their token or session holds."""
    check = scope.get("state", {}).get(ACCESS)
    return check is None or bool(await check())


async def while_allowed(chunks: AsyncIterator[bytes], scope: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """The parts of a stream, which ends when its user may no longer read it. There is a part every `HEARTBEAT`."""
    now = asyncio.get_running_loop().time
    due = now() + ACCESS_SECONDS
    async for chunk in chunks:
        if now() >= due:
            if not await has_access(scope):
                return
            due = now() + ACCESS_SECONDS
        yield chunk


class EventStream(StreamingResponse):
    """A response of server-sent events, for which its user has a ticket; it ends when their access does."""

    media_type = STREAM

    def __init__(self, chunks: AsyncIterator[bytes], ticket: Ticket, headers: dict[str, str] | None = None) -> None:
        super().__init__(chunks, headers={**HEADERS, **(headers or {})})
        self._chunks, self._ticket = chunks, ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.body_iterator = end_on_failure(while_allowed(self._chunks, scope))
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.close()

    def close(self) -> None:
        """Free the ticket: the user may open another stream."""
        self._ticket.close()


async def end_on_failure(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The parts of a stream, which ends like any other if it cannot go on: its reader comes back by itself.

    The server stops, the store is away for a moment, or what the stream is about was deleted: a later request is told.
    """
    try:
        async for chunk in chunks:
            yield chunk
    except (Cancelled, UnknownName):
        yield RETRY_FRAME
    except StoreError as error:
        log.warning("who follows a stream is told to come back: %s", error)
        yield RETRY_FRAME


def last_event_of(request: HTTPConnection) -> int | None:
    """The number of the last event that a client has, which a browser that reconnects sends by itself; None if it says
    none.

    Raises:
        Refusal: it is no number.
    """
    value = request.headers.get("last-event-id", "").strip()
    number = whole_number(value)
    if value and number is None:
        raise refusal("invalid", f"Last-Event-ID is the number of an event, not {value[:40]!r}")
    return number


async def wait_for_news(news: asyncio.Event) -> bool:
    """True if there was news before a heartbeat was due."""
    try:
        async with asyncio.timeout(HEARTBEAT):
            return await news.wait()
    except TimeoutError:
        return False


def frame(data: bytes, *, event: str = "", id: str = "") -> bytes:
    """One event; its data may have several lines."""
    head = (f"id: {id}\n" if id else "") + (f"event: {event}\n" if event else "")
    lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return head.encode() + b"".join(b"data: %b\n" % line for line in lines) + b"\n"


def event_frame(envelope: Envelope) -> bytes:
    """An event of a run's log as a frame; the frame's id is the event's number."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (envelope.seq, envelope.type.encode(), _encode(envelope))


def type_filter(types: Sequence[str]) -> EventFilter:
    """A filter by names of types and of groups (`report.*`); without names everything passes."""
    if not types:
        return lambda _name: True
    names = frozenset(types)
    groups = tuple(type_name[:-1] for type_name in types if type_name.endswith(".*"))
    return lambda name: name in names or name.startswith(groups)


async def run_frames(groups: AsyncIterator[Sequence[Envelope]], event_filter: EventFilter) -> AsyncIterator[bytes]:
    """The log of a run as frames, until the run ends."""
    yield RETRY_FRAME
    async for group in groups:
        chunk = b"".join(event_frame(envelope) for envelope in group if event_filter(envelope.type))
        if chunk or not group:
            yield chunk or HEARTBEAT_FRAME
