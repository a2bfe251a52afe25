"""Server-sent events as models stream them: of each event only its data."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing

import httpx2

MEDIA_TYPE = "text/event-stream"
_FIELD = b"data:"


class EventStreamReader:
    """Reads events out of bytes, however these are cut; the format is WHATWG's, "Server-sent events"."""

    def __init__(self, most: int) -> None:
        """An event of more than `most` bytes is refused."""
        self._most = most
        self._unread = bytearray()
        self._returned = False

    def feed(self, piece: bytes) -> Iterator[str]:
        """Take more bytes: the data of each event which is whole now. One without data is none.

        Raises:
            httpx2.SSEError: an event is too large.
        """
        unread, start, begun = self._unread, max(0, len(self._unread) - 1), 0
        unread += self._with_newlines(piece)
        while (end := unread.find(b"\n\n", start)) >= 0:
            self._check(end - begun)
            data = _data(bytes(unread[begun:end]))
            begun = start = end + 2
            if data is not None:
                yield data
        del unread[:begun]
        self._check(len(unread))

    def _with_newlines(self, piece: bytes) -> bytes:
        """Lines end with LF, CR or both, and both may come in two pieces."""
        if self._returned and piece.startswith(b"\n"):
            piece, self._returned = piece[1:], False
        if piece:
            self._returned = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece

    def _check(self, size: int) -> None:
        if size > self._most:
            raise httpx2.SSEError(f"Server-sent event exceeded the {self._most} byte limit.")


def _data(event: bytes) -> str | None:
    if event.startswith(_FIELD) and b"\n" not in event:
        return event[len(_FIELD) :].removeprefix(b" ").decode(errors="replace")
    fields = (line.partition(b":") for line in event.split(b"\n"))
    data = [value.removeprefix(b" ") for name, _, value in fields if name == b"data"]
    return b"\n".join(data).decode(errors="replace") if data else None


async def events(response: httpx2.Response, most: int) -> AsyncGenerator[str, None]:
    """The data of the events of a response, as they come.

    Raises:
        httpx2.SSEError: it is no stream of events, or has one of more than `most` bytes.
        httpx2.HTTPError: it broke off.
    """
    media_type = response.headers.get("content-type", "").partition(";")[0].strip()
    if media_type.lower() != MEDIA_TYPE:
        raise httpx2.SSEError(f"Expected response with content type {MEDIA_TYPE!r}, got {media_type!r}.")
    reader = EventStreamReader(most)
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            for data in reader.feed(piece):
                yield data
