"""Cursors of paged lists: opaque to clients, and stable while the list grows at its head."""

from __future__ import annotations

import base64
import binascii
from typing import TypeVar

import msgspec

from assay.core.errors import UsageError

T = TypeVar("T")

LONGEST = 500
MOST = 1_000
"""The most entries of one page."""


def written(place: object) -> str:
    """A place as text."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).rstrip(b"=").decode()


def read(cursor: str, kind: type[T]) -> T | None:
    """The place of a cursor; None if it is empty, which is the head of the list.

    Raises:
        UsageError: it is not a cursor of such a list.
    """
    if not cursor:
        return None
    try:
        if len(cursor) > LONGEST:
            raise ValueError
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        return msgspec.json.decode(data, type=kind)
    except (ValueError, binascii.Error, msgspec.DecodeError, RecursionError):
        raise UsageError(f"{cursor[:40]!r} is not a cursor of this list: use the one from the previous page") from None


def bounded(limit: int) -> int:
    """Check the number of entries of a page.

    Raises:
        UsageError: it is not valid, or too large.
    """
    if not 0 < limit <= MOST:
        raise UsageError(f"a page has 1 to {MOST} entries, not {limit}")
    return limit
