"""Reads a response's body within limits and determines its type, and decides whether its page may be kept."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterable, Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

import msgspec

from assay.core.errors import FetchFailed
from assay.core.sources import Fetched

MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x89PNG", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"\x1f\x8b", "application/gzip"),
)
ENCODINGS = "gzip, deflate"
"""The encodings requested: both can be unpacked piece by piece, with a limit."""
BEGINS = 1_024


async def read_body(parts: AsyncIterable[bytes], encoding: str, most: int, *, cut: bool = False) -> bytes:
    """Return the whole body, unpacked; with `cut`, the first lines of a larger one.

    Raises:
        FetchFailed: more than `most` bytes, sent or unpacked; damaged, or in an encoding that was not requested.
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
    """Unpacks gzip, zlib, and the bare deflate that some servers send instead."""

    def __init__(self) -> None:
        self._packed = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        self._started = False

    def __call__(self, part: bytes, most: int) -> bytes:
        if self._packed.eof:
            return b""  # what follows the end is not content, and zlib would copy it again with each part
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
    """The body's type: by its first bytes if they show it, else as declared; `text/html` for what reads like it."""
    start = body[:BEGINS].lstrip()
    for mark, kind in MAGIC:
        if start.startswith(mark):
            return kind
    declared_type = declared.partition(";")[0].strip().lower()
    if start[:14].lower().startswith((b"<!doctype html", b"<html")):
        return declared_type if declared_type == "application/xhtml+xml" else "text/html"
    if declared_type in ("", "application/octet-stream", "binary/octet-stream"):
        return "application/octet-stream" if b"\0" in body[:BEGINS] else "text/plain"
    return declared_type


# Kept pages, and the conditions with which a request asks whether they changed (RFC 9110, RFC 9111).

MOST = 86_400.0
"""The most seconds for which a page counts as fresh, whatever its server says: users expect today's page."""
MOMENT = 60.0
"""Seconds for which a page counts as fresh if its server says nothing (RFC 9111, 4.2.2): two addresses that lead to one
page, and two agents that find it, need one request.
"""
_DIRECTIVE = re.compile(r"([a-z-]{1,40})(?:\s*=\s*\"?([^\",]{0,40}))?")


def seconds(at: str) -> float:
    """A time (ISO 8601) as seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()


def fresh_for(headers: Mapping[str, str]) -> float | None:
    """The seconds for which a page need not be requested again; None if it may not be kept.

    The cache is private, so `private` and `s-maxage` do not matter. If the server does not say how long, the page is
    fresh for a moment. A page that is not fresh and cannot be requested conditionally is not kept.
    """
    directives = {
        found[1]: found[2] or "" for found in _DIRECTIVE.finditer(headers.get("cache-control", "").lower()[:500])
    }
    if "no-store" in directives or headers.get("vary", "").strip() == "*":
        return None
    fresh = 0.0 if "no-cache" in directives else _lifetime(directives, headers) - _number(headers.get("age", ""))
    if fresh > 0:
        return min(fresh, MOST)
    return 0.0 if conditions(headers) else None


def _lifetime(directives: Mapping[str, str], headers: Mapping[str, str]) -> float:
    if "max-age" in directives:
        return _number(directives["max-age"])
    if "expires" not in headers:
        return MOMENT
    try:
        expires = parsedate_to_datetime(headers["expires"][:64])
        return (expires - parsedate_to_datetime(headers["date"][:64])).total_seconds()
    except (KeyError, ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def _number(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0.0


def conditions(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers of a request for a page only if it differs from the one with these headers."""
    asked = {"If-None-Match": headers.get("etag", ""), "If-Modified-Since": headers.get("last-modified", "")}
    return {name: value for name, value in asked.items() if value and value.isascii() and value.isprintable()}


def unchanged(page: Fetched, headers: Mapping[str, str], at: str) -> Fetched:
    """A kept page whose server confirmed at this time that it is unchanged; newer headers replace older ones."""
    newer = {name: value for name, value in headers.items() if name in page.headers}
    return msgspec.structs.replace(page, headers={**page.headers, **newer}, fetched_at=at, kept="unchanged")
