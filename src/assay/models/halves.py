"""Signs outside the Basic Multilingual Plane which a service cut in two.

Services written in languages with UTF-16 strings cut a text between the halves of a surrogate pair and send each as an
escape of its own. Joined they are one sign again; alone neither can be stored or sent.
"""

from __future__ import annotations

import json
import re
from typing import TypeVar

import msgspec

T = TypeVar("T")

_HALF = re.compile("[\ud800-\udfff]")


class Halves:
    """Pieces of one text in order: a first half waits for its second, what stays alone becomes U+FFFD."""

    def __init__(self) -> None:
        self._held = ""

    def take(self, piece: str) -> str:
        """What is certain after `piece`."""
        if not self._held and (piece.isascii() or _HALF.search(piece) is None):
            return piece
        text = self._held + piece
        self._held = text[-1] if text and "\ud800" <= text[-1] <= "\udbff" else ""
        whole = text[: len(text) - len(self._held)]
        return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def decode(data: str, type: type[T]) -> T:
    """`data`, JSON, as `type`; halves of pairs stay in it.

    Raises:
        ValueError: it is no JSON, or not of that type (msgspec's own errors are ValueErrors too).
        RecursionError: it is nested too deeply.
    """
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(json.loads(data), type)  # strict about halves is msgspec alone
