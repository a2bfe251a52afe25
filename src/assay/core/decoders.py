"""Decoding JSON: what can go wrong with it, and types which are made ready before there are threads.

msgspec (0.22 and before) makes a struct ready when it is first decoded, and the struct can be seen half made: where two
threads decode one type for the first time at the same moment, the process ends with a segmentation fault.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from weakref import WeakSet

import msgspec

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding JSON which others wrote can end with: it is none, is not UTF-8, or is nested too deep."""

_LOCK = threading.Lock()
_DONE: WeakSet[type] = WeakSet()


def ready_types() -> None:
    """Make all of Assay's structs ready which are loaded by now; at once where nothing was loaded since the last time.

    For who is about to begin threads.
    """
    with _LOCK:
        for each in set(_below(msgspec.Struct)).difference(_DONE):
            _DONE.add(each)
            if each.__module__.startswith("assay."):
                with suppress(TypeError, NameError):  # one which holds what JSON does not, and is never decoded
                    msgspec.json.Decoder(each)


def _below(kind: type[object]) -> Iterator[type[object]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)
