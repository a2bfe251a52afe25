"""A response: its body, never more than allowed and of a known kind; and whether its page may be kept."""

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


# Pages kept, and how a request asks whether they changed (RFC 9110, RFC 9111).

MOST = 86_400.0
"""Seconds a page is believed to be fresh at most, whatever its server says: who asks today wants today's page."""
MOMENT = 60.0
"""Seconds a page is fresh of which its server says nothing (RFC 9111, 4.2.2): two addresses which lead to one page, and
two agents who find it, are one request.
"""
_DIRECTIVE = re.compile(r"([a-z-]{1,40})(?:\s*=\s*\"?([^\",]{0,40}))?")


def seconds(at: str) -> float:
    """A time (ISO 8601) as seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()


def fresh_for(headers: Mapping[str, str]) -> float | None:
    """For how many seconds a page need not be asked for again; None when it is not to be kept.

    It is kept for us alone, so that `private` and `s-maxage` say nothing. Where the server does not say how long, it is
    fresh for a moment. A page which is not fresh and cannot be asked for by a condition is not kept.
    """
    told = {found[1]: found[2] or "" for found in _DIRECTIVE.finditer(headers.get("cache-control", "").lower()[:500])}
    if "no-store" in told or headers.get("vary", "").strip() == "*":
        return None
    fresh = 0.0 if "no-cache" in told else _lifetime(told, headers) - _number(headers.get("age", ""))
    if fresh > 0:
        return min(fresh, MOST)
    return 0.0 if conditions(headers) else None


def _lifetime(told: Mapping[str, str], headers: Mapping[str, str]) -> float:
    if "max-age" in told:
        return _number(told["max-age"])
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
    """What a request says so that a page is only sent when it is another than the one with these headers."""
    asked = {"If-None-Match": headers.get("etag", ""), "If-Modified-Since": headers.get("last-modified", "")}
    return {name: value for name, value in asked.items() if value and value.isascii() and value.isprintable()}


def unchanged(page: Fetched, headers: Mapping[str, str], at: str) -> Fetched:
    """A kept page of which its server said at this time that it is still the same; newer headers replace older ones."""
    newer = {name: value for name, value in headers.items() if name in page.headers}
    return msgspec.structs.replace(page, headers={**page.headers, **newer}, fetched_at=at, kept="unchanged")
