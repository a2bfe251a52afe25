"""Decoding JSON: what can go wrong with it, and types which are made ready before there are threads.

msgspec (0.22 and before) makes a struct ready when it is first decoded, and the struct can be seen half made: where two
threads decode one type for the first time at the same moment, the process ends with a segmentation fault.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final
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


# The text of one field of a JSON object which arrives in pieces, decoded while it arrives.

_HEX = "[0-9a-fA-F]"
_TOKEN = re.compile(
    rf"""(?P<plain>[^"\\]+)
    |(?P<end>")
    |\\(?P<pair>u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})
    |\\u[dD][89abAB]{_HEX}{{2}}(?P<lone>(?=[^\\]|\\[^u]|\\u(?:[^dD]|[dD](?:[^c-fC-F]|.(?:[^0-9a-fA-F]|.[^0-9a-fA-F])))))
    |\\u(?P<code>(?![dD][89abAB]){_HEX}{{4}})
    |\\u{_HEX}{{0,3}}(?P<wrong>(?=[^0-9a-fA-F]))
    |\\(?P<sign>[^u])""",
    re.VERBOSE | re.DOTALL,
)
"""A part of a string's inside, or its closing quote. What may yet become another part matches nothing."""
_SIGNS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = re.compile("[\ud800-\udfff]")
_LOST = "\ufffd"
_BEGIN, _KEY, _COLON = re.compile('[{"]'), re.compile('["}]'), re.compile(":")
_SIGN, _PRIMITIVE, _NESTED = re.compile(r"\S"), re.compile("[,}]"), re.compile(r'["{}\[\]]')


class FieldText:
    """The string at `field` of a JSON object: what each piece of the object's text adds to it.

    Keys come in any order, other values are passed over, and an object which stands in a string (encoded twice) is read
    too. Of a field which comes several times the first counts. Halves of surrogate pairs become U+FFFD, as nothing
    that is stored or sent can hold them. Text which is no JSON gives what can be made of it, and never an error.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._held = ""
        self._key: list[str] = []
        self._text: list[str] = []
        self._depth = 0
        self._inner: FieldText | None = None
        self._state: Callable[[str, int], int] = self._begin

    def feed(self, piece: str) -> str:
        """What `piece` adds to the text."""
        text, at = self._held + piece, 0
        self._held = ""
        while at < len(text):
            state, after = self._state, self._state(text, at)
            if after == at and self._state == state:
                self._held = text[at:]  # an escape which is not whole yet: at most 11 signs
                break
            at = after
        added, self._text = "".join(self._text), []
        return added

    # Each reads from a place on, and says how far it came.

    def _begin(self, text: str, at: int) -> int:
        found = _BEGIN.search(text, at)
        if found is None:
            return len(text)
        if found[0] == "{":
            self._state = self._object
        else:
            self._inner, self._state = FieldText(self._field), self._encoded
        return found.end()

    def _object(self, text: str, at: int) -> int:
        found = _KEY.search(text, at)
        if found is None:
            return len(text)
        self._key, self._state = [], (self._name if found[0] == '"' else self._done)
        return found.end()

    def _name(self, text: str, at: int) -> int:
        return self._string(text, at, self._key, self._colon)

    def _colon(self, text: str, at: int) -> int:
        found = _COLON.search(text, at)
        if found is None:
            return len(text)
        self._state = self._value
        return found.end()

    def _value(self, text: str, at: int) -> int:
        found = _SIGN.search(text, at)
        if found is None:
            return len(text)
        if found[0] == '"':
            self._state = self._wanted if "".join(self._key) == self._field else self._unwanted
        elif found[0] in "{[":
            self._depth, self._state = 1, self._nested
        else:
            self._state = self._primitive
            return found.start()
        return found.end()

    def _wanted(self, text: str, at: int) -> int:
        return self._string(text, at, self._text, self._done)

    def _unwanted(self, text: str, at: int) -> int:
        return self._string(text, at, [], self._object)

    def _primitive(self, text: str, at: int) -> int:
        found = _PRIMITIVE.search(text, at)
        if found is None:
            return len(text)
        self._state = self._object
        return found.start()

    def _nested(self, text: str, at: int) -> int:
        found = _NESTED.search(text, at)
        if found is None:
            return len(text)
        if found[0] == '"':
            self._state = self._inside
        else:
            self._depth += 1 if found[0] in "{[" else -1
            self._state = self._nested if self._depth else self._object
        return found.end()

    def _inside(self, text: str, at: int) -> int:
        return self._string(text, at, [], self._nested)

    def _encoded(self, text: str, at: int) -> int:
        decoded: list[str] = []
        after = self._string(text, at, decoded, self._done)
        if self._inner is not None:
            self._text.append(self._inner.feed("".join(decoded)))
        return after

    def _done(self, text: str, at: int) -> int:
        return len(text)

    def _string(self, text: str, at: int, into: list[str], then: Callable[[str, int], int]) -> int:
        """Read a string's inside as far as it is certain; at its end go over to `then`."""
        while found := _TOKEN.match(text, at):
            at = found.end()
            if found.lastgroup == "end":
                self._state = then
                break
            into.append(_decoded(found))
        return at


def _decoded(found: re.Match[str]) -> str:
    kind, said = found.lastgroup or "", found[found.lastgroup or 0]
    match kind:
        case "plain":
            return _SURROGATES.sub(_LOST, said)
        case "sign":
            return _SIGNS.get(said, said)
        case "pair":
            high, low = int(said[1:5], 16), int(said[7:], 16)
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        case "code":
            return _SURROGATES.sub(_LOST, chr(int(said, 16)))
        case _:
            return _LOST


def field_text(text: str, field: str) -> str:
    """The string at `field` of the JSON object `text`, as far as it goes; empty when there is none."""
    return FieldText(field).feed(text)
