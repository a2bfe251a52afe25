"""Events of a stream: the same however the bytes are cut, and the same as the HTTP client's own reader finds."""

from __future__ import annotations

import codecs
from collections.abc import AsyncIterator

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ModelError
from assay.models.streams import EventStreamReader, event_data

LINES = ("data: {}", "data:x", "data", "data: é", ": ping", "event: delta", "id: 7", "retry: 5", "other: y", "", "")
STREAMS = st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from(("\n", "\r\n", "\r"))), max_size=20).map(
    lambda lines: "".join(map("".join, lines)).encode()
)


def read(data: bytes, size: int, most: int = 1_000) -> list[str]:
    """The data of the events, fed `size` bytes at a time."""
    reader = EventStreamReader(most)
    return [found for at in range(0, len(data), size) for found in reader.feed(data[at : at + size])]


class Body(httpx2.AsyncByteStream):
    """A body which comes in two pieces."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> AsyncIterator[bytes]:
        half = len(self._data) // 2
        yield self._data[:half]
        yield self._data[half:]


def response(data: bytes, media_type: str = "text/event-stream; charset=utf-8") -> httpx2.Response:
    """A service's answer."""
    request = httpx2.Request("POST", "http://127.0.0.1/")
    return httpx2.Response(200, headers={"content-type": media_type}, stream=Body(data), request=request)


@given(STREAMS, st.integers(1, 12))
def test_cuts_do_not_matter(data: bytes, size: int) -> None:
    """One byte at a time or all at once."""
    assert read(data, size) == read(data, len(data) or 1)


@given(STREAMS)
async def test_as_the_client_reads_them(data: bytes) -> None:
    """Its reader also tells of events without data, which are none."""
    data += b"\n\n"  # it does not take a return at the end for the end of an event
    theirs = [event.data async for event in httpx2.EventSource(response(data)) if event.data]
    ours = [found async for found in event_data(response(data), 1_000) if found]
    assert ours == theirs


def test_what_is_data() -> None:
    """Several lines are joined; comments and other fields are left out; an unfinished event is none."""
    sent = b": hello\n\nevent: a\ndata: 1\ndata:2\n\nid: 7\n\ndata: \xff\n\ndata: rest\n"
    assert read(sent, 5) == ["1\n2", "�"]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_byte_order_mark_is_not_part_of_the_first_field(size: int) -> None:
    assert read(codecs.BOM_UTF8 + b"data: 1\n\ndata: 2\n\n", size) == ["1", "2"]


def test_too_large() -> None:
    """Whole or unfinished."""
    with pytest.raises(ModelError, match="40 byte"):
        read(b"data: " + b"x" * 50 + b"\n\n", 200, most=40)
    with pytest.raises(ModelError, match="40 byte"):
        read(b"data: " + b"x" * 50, 7, most=40)
    assert len(read(b"data: 12345\n\n" * 20, 300, most=40)) == 20


async def test_no_stream() -> None:
    """A page is none."""
    with pytest.raises(httpx2.SSEError, match="text/html"):
        [found async for found in event_data(response(b"<html>", "text/html"), 1_000)]
