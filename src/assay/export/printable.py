"""JSON which can be printed: what a terminal would obey, or what reorders text, is written as an escape."""

from __future__ import annotations

import re

_UNPRINTABLE = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c")


def printable(json: bytes) -> bytes:
    """The same JSON, with DEL, C1 and bidi controls as escapes of four digits (the other controls always are)."""
    return _UNPRINTABLE.sub(lambda match: b"\\u%04x" % ord(match[0].decode()), json)
