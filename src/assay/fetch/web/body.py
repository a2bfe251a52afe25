"""The body of a response: never more bytes than allowed, on the wire or unpacked, and what kind of content it is."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterable, Callable

from assay.core.errors import FetchFailed

MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
)
ENCODINGS = "gzip, deflate"
"""What is asked for: both can be unpacked piece by piece, with a limit."""
BEGINS = 1_024


async def read_body(parts: AsyncIterable[bytes], encoding: str, most: int, *, cut: bool = False) -> bytes:
    """The whole body, unpacked; with `cut`, of a larger one its first lines.

    Raises:
        FetchFailed: more than `most` bytes, sent or unpacked; damaged, or packed in a way nobody asked for.
    """
    unpack = _unpacker(encoding)
    body = bytearray()
    received = 0
    async for part in parts:
        received += len(part)
        body += unpack(part, most - len(body) + 1)
        if max(received, len(body)) > most:
            if cut:
                return bytes(body[:most]).rpartition(b"\n")[0]
            raise _too_large(most)
    return bytes(body)


def _too_large(most: int) -> FetchFailed:
    return FetchFailed(f"too large: more than {most / 1_000_000:g} MB (the setting web.max_mb)")


class _Inflate:
    """Unpacks gzip, zlib, and the bare deflate some servers send in its stead."""

    def __init__(self) -> None:
        self._packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        self._started = False

    def __call__(self, part: bytes, most: int) -> bytes:
        if self._packed.eof:
            return b""  # what follows the end is no content, and zlib would copy it anew with each part
        try:
            data = self._packed.decompress(part, most)
        except zlib.error as error:
            if self._started:
                raise FetchFailed("damaged: its compression is broken") from error
            self._packed = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
            try:
                data = self._packed.decompress(part, most)
            except zlib.error as again:
                raise FetchFailed("damaged: its compression is broken") from again
        self._started = True
        return data


def _plain(part: bytes, _: int) -> bytes:
    return part


def _unpacker(encoding: str) -> Callable[[bytes, int], bytes]:
    match encoding.strip().lower():
        case "" | "identity":
            return _plain
        case "gzip" | "x-gzip" | "deflate":
            return _Inflate()
        case other:
            raise FetchFailed(f"damaged: packed as {other[:40]!r}, which was not asked for")


def media_type(declared: str, body: bytes) -> str:
    """What the body is: by its first bytes where they say, else as declared; `text/html` for what reads like it."""
    start = body[:BEGINS].lstrip()
    for mark, kind in MAGIC:
        if start.startswith(mark):
            return kind
    told = declared.partition(";")[0].strip().lower()
    if start[:14].lower().startswith((b"<!doctype html", b"<html")):
        return told if told == "application/xhtml+xml" else "text/html"
    if told in ("", "application/octet-stream", "binary/octet-stream"):
        return "application/octet-stream" if b"\0" in body[:BEGINS] else "text/plain"
    return told
