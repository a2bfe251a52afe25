"""The streams of services of every format: events, of which only the data is used, and tool calls in pieces of JSON."""

from __future__ import annotations

import asyncio
import json
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

import httpx2
import msgspec

from assay.core.errors import ModelError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.messages import CallDelta, CallDone, ToolCall
from assay.core.remote_services import tls_context
from assay.core.text import estimate_tokens

MEDIA_TYPE = "text/event-stream"
_FIELD = b"data:"
CONNECTION_LIMITS = httpx2.Limits(max_connections=2_000, max_keepalive_connections=200, keepalive_expiry=30.0)
"""Concurrent streams, and idle connections: a new connection to a distant service costs the time of some ten tokens."""


class EventStreamReader:
    """Parses events from bytes, however they are cut. The format is WHATWG's "Server-sent events"."""

    def __init__(self, max_bytes: int) -> None:
        """Events of more than `max_bytes` bytes are refused."""
        self._max_bytes = max_bytes
        self._unread = bytearray()
        self._after_return = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """Take more bytes, and yield the data of each complete event. An event without data is ignored.

        Raises:
            ModelError: an event is too large.
        """
        piece = self._with_newlines(piece)
        if not self._unread:  # most pieces are whole events
            *events, piece = piece.split(b"\n\n")
            for event in events:
                self._check(len(event))
                if (data := _event_data(event)) is not None:
                    yield data
        unread, start, event_start = self._unread, max(0, len(self._unread) - 1), 0
        unread += piece
        while (end := unread.find(b"\n\n", start)) >= 0:
            self._check(end - event_start)
            data = _event_data(bytes(unread[event_start:end]))
            event_start = start = end + 2
            if data is not None:
                yield data
        del unread[:event_start]
        self._check(len(unread))

    def _with_newlines(self, piece: bytes) -> bytes:
        """Normalise line ends: LF, CR or CRLF, which may arrive in two pieces."""
        if self._after_return and piece.startswith(b"\n"):
            piece, self._after_return = piece[1:], False
        if piece:
            self._after_return = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece

    def _check(self, size: int) -> None:
        if size > self._max_bytes:
            raise ModelError(
                f"an event of its stream has more than {self._max_bytes:,} bytes, the most that is read of one"
            )


def _event_data(event: bytes) -> str | None:
    event = event.removeprefix(BOM_UTF8)
    if event.startswith(_FIELD) and b"\n" not in event:
        return event[len(_FIELD) :].removeprefix(b" ").decode(errors="replace")
    fields = (line.partition(b":") for line in event.split(b"\n"))
    data = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
    return b"\n".join(data).decode(errors="replace") if data else None


@asynccontextmanager
async def brief_client(headers: Mapping[str, str], seconds: float) -> AsyncIterator[httpx2.AsyncClient]:
    """A client for some requests that may take so many seconds together; it ignores the environment's proxies."""
    async with (
        asyncio.timeout(seconds),
        httpx2.AsyncClient(headers=dict(headers), trust_env=False, verify=tls_context(), timeout=seconds) as client,
    ):
        yield client


async def first_bytes(response: httpx2.Response, max_bytes: int) -> bytes:
    """The first `max_bytes` bytes of a response's body; the rest is not read."""
    data = bytearray()
    async for piece in response.aiter_bytes():
        data += piece
        if len(data) >= max_bytes:
            break
    return bytes(data[:max_bytes])


async def event_data(response: httpx2.Response, max_bytes: int) -> AsyncGenerator[str, None]:
    """Yield the data of a response's events as they arrive.

    Raises:
        httpx2.SSEError: it is not a stream of events.
        ModelError: it has an event of more than `max_bytes` bytes.
        httpx2.HTTPError: it broke off.
    """
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()
    if media_type.lower() != MEDIA_TYPE:
        raise httpx2.SSEError(f"Expected response with content type {MEDIA_TYPE!r}, got {media_type!r}.")
    reader = EventStreamReader(max_bytes)
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            for data in reader.feed(piece):
                yield data


# Tool calls as they arrive, several at once.

# Characters outside the Basic Multilingual Plane that a service cut in two.

T = TypeVar("T")
_HALF = regex("[\ud800-\udfff]")


class SurrogateJoiner:
    """Takes pieces of one text: a first half of a pair waits for its second; a half left alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._pending_half = ""

    def feed(self, piece: str) -> str:
        """Return what is certain after `piece`."""
        if not self._pending_half and (piece.isascii() or _HALF.search(piece) is None):
            return piece
        text = self._pending_half + piece
        self._pending_half = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        complete = text[: len(text) - len(self._pending_half)]
        return complete.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decode(data: str, type: type[T]) -> T:
    """Decode the JSON `data` as `type`; halves of surrogate pairs stay in it.

    Raises:
        ValueError: it is not JSON, or not of that type (msgspec's own errors are ValueErrors too).
        RecursionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), type)  # only msgspec's decoder refuses halves


def token_count(count: int | None) -> int:
    """A service's count; less than nothing is none, or a budget would grow by it."""
    return max(0, count or 0)


MAX_CALLS = 64
"""Calls in one reply; a model that makes more has gone astray."""


MAX_NAME_CHARS = 200
"""The most characters of a call's name and id; services allow 64."""


class WrittenCall(msgspec.Struct, frozen=True):
    """A call that a model wrote as text; `arguments` are the JSON as written."""

    name: str
    arguments: str


class _Form(msgspec.Struct, frozen=True):
    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")
    parameters: msgspec.Raw = msgspec.Raw(b"")


def written_calls(text: str) -> tuple[WrittenCall, ...]:
    """The calls in `text`: `{"name": …, "arguments": {…}}`, or a list of these; empty if it is anything else."""
    try:
        forms = msgspec.json.decode(text.strip(), type=_Form | list[_Form])
    except DECODE_ERRORS:
        return ()
    return tuple(
        WrittenCall(form.name, bytes(form.parameters or form.arguments).decode())
        for form in (forms if isinstance(forms, list) else [forms])
    )


class PartialCall:
    """An unfinished call: its name comes once, its arguments in pieces.

    `key` is the service's number for it, `index` its position among the reply's calls.
    """

    def __init__(self, key: int, index: int) -> None:
        self.key, self.index, self.id, self.name = key, index, "", ""
        self.pieces: list[str] = []
        self._size = self._reported_size = 0
        self._halves = SurrogateJoiner()

    def add(self, id: str = "", name: str = "", arguments: str = "") -> CallDelta:
        """Add more of this call, and return the new part as a delta."""
        arguments, id, name = self._halves.feed(arguments), id[:MAX_NAME_CHARS], name[:MAX_NAME_CHARS]
        news = CallDelta(
            index=self.index,
            text=arguments[max(0, self._reported_size - self._size) :],
            name="" if self.name else name,
            id=id if id != self.id else "",
        )
        self.id = id or self.id
        self.name = self.name or name
        self.pieces.append(arguments)
        self._size += len(arguments)
        self._reported_size = max(self._reported_size, self._size)
        return news

    def restart(self) -> None:
        """Start the arguments again from their beginning, without repeating the deltas already yielded."""
        self.pieces.clear()
        self._size = 0

    def is_complete(self) -> bool:
        """True if the arguments are a complete JSON object: only white space can follow one."""
        return bool(self.pieces) and self.pieces[-1].rstrip().endswith("}") and _parse_object(self._text()) is not None

    def call(self) -> ToolCall:
        """The call as it is now; arguments that are not a JSON object become `malformed` text."""
        text = self._text()
        arguments = _parse_object(text) if text.strip() else {}
        id = self.id or f"call-{self.index}"
        if arguments is None:
            return ToolCall(id=id, name=self.name, malformed=text)
        return ToolCall(id=id, name=self.name, arguments=arguments)

    def _text(self) -> str:
        return "".join(self.pieces)


class PartialCalls:
    """The calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self.calls: list[PartialCall] = []
        self._yielded_count = 0

    def begin(self, key: int | None = None) -> PartialCall:
        """Begin a call; without a key, its position is its key.

        Raises:
            ModelError: there are `MAX_CALLS` already.
        """
        if len(self.calls) >= MAX_CALLS:
            raise ModelError(f"more than {MAX_CALLS} tool calls in one reply")
        index = len(self.calls)
        self.calls.append(PartialCall(index if key is None else key, index))
        return self.calls[-1]

    def take_complete(self, *, final: bool) -> Iterator[CallDone]:
        """Yield the calls with complete arguments, in order and each once; with `final`, all calls."""
        while self._yielded_count < len(self.calls):
            call = self.calls[self._yielded_count]
            if not (final or self._yielded_count < len(self.calls) - 1 or call.is_complete()):
                return
            yield CallDone(self._yielded_count, call.call())
            self._yielded_count += 1

    def tool_calls(self) -> tuple[ToolCall, ...]:
        """All calls as they are now."""
        return tuple(call.call() for call in self.calls)

    def estimate(self, *texts: str) -> int:
        """An estimate, on the safe side, of the tokens of a reply with these texts and calls."""
        return sum(map(estimate_tokens, (*texts, *("".join(call.pieces) for call in self.calls))))


def _parse_object(text: str) -> dict[str, object] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except DECODE_ERRORS:
        return None
