"""JSON decoding: the errors it may raise, and types prepared before threads start.

msgspec (0.22 and before) prepares a struct when it is first decoded, and another thread can see it half prepared: if
two threads decode one type for the first time at the same moment, the process ends with a segmentation fault.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final
from weakref import WeakSet

import msgspec

from assay.core.lazy import regex

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of decoding foreign JSON: it is invalid, not UTF-8, or nested too deeply."""

_LOCK = threading.Lock()
_DONE: WeakSet[type] = WeakSet()


def ready_types() -> None:
    """Prepare all of Assay's structs that are loaded by now; returns at once if nothing was loaded since the last call.

    Call it before starting threads. Settings, which have a metaclass and a reader of their own, are never decoded.
    """
    with _LOCK:
        for struct_type in _subclasses(msgspec.Struct).difference(_DONE):
            _DONE.add(struct_type)
            if struct_type.__module__.startswith("assay.") and type(struct_type) is msgspec.StructMeta:
                with suppress(TypeError, NameError):  # a type that JSON cannot represent, and that is never decoded
                    msgspec.json.Decoder(struct_type)


def _subclasses(kind: type[object]) -> set[type[object]]:
    subclasses = kind.__subclasses__()
    for subclass in subclasses:
        subclasses += subclass.__subclasses__()
    return set(subclasses)


# The text of one field of a JSON object, decoded while it arrives in pieces.

_HEX = "[0-9a-fA-F]"
_TOKEN = regex(
    rf"""(?P<plain>[^"\\]+)
    |(?P<end>")
    |\\(?P<pair>u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})
    |\\u[dD][89abAB]{_HEX}{{2}}(?P<lone>(?=[^\\]|\\[^u]|\\u(?:[^dD]|[dD](?:[^c-fC-F]|.(?:[^0-9a-fA-F]|.[^0-9a-fA-F])))))
    |\\u(?P<code>(?![dD][89abAB]){_HEX}{{4}})
    |\\u{_HEX}{{0,3}}(?P<wrong>(?=[^0-9a-fA-F]))
    |\\(?P<sign>[^u])""",
    re.VERBOSE | re.DOTALL,
)
"""A part of a string's content, or its closing quote. Text that may become another part matches nothing."""
_SIGNS: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SURROGATES = regex("[\ud800-\udfff]")
_LOST = "\ufffd"
_BEGIN, _KEY, _COLON = regex('[{"]'), regex('["}]'), regex(":")
_SIGN, _PRIMITIVE, _NESTED = regex(r"\S"), regex("[,}]"), regex(r'["{}\[\]]')


class FieldText:
    """The string at `field` of a JSON object: what each piece of the object's text adds to it.

    Keys may come in any order, other values are skipped, and an object inside a string (encoded twice) is read too. If
    a field comes several times, the first counts. Halves of surrogate pairs become U+FFFD, since they cannot be stored
    or sent. Invalid JSON gives what can be made of it, never an error.
    """

    def __init__(self, field: str) -> None:
        self._field = field
        self._buffer = ""
        self._key: list[str] = []
        self._text: list[str] = []
        self._depth = 0
        self._inner: FieldText | None = None
        self._state: Callable[[str, int], int] = self._begin

    def feed(self, piece: str) -> str:
        """The text that `piece` adds."""
        text, position = self._buffer + piece, 0
        self._buffer = ""
        while position < len(text):
            state, after = self._state, self._state(text, position)
            if after == position and self._state == state:
                self._buffer = text[position:]  # an incomplete escape: at most 11 characters
                break
            position = after
        added, self._text = "".join(self._text), []
        return added

    # Each reads from a place on, and returns where it stopped.

    def _begin(self, text: str, position: int) -> int:
        match = _BEGIN.search(text, position)
        if match is None:
            return len(text)
        if match[0] == "{":
            self._state = self._object
        else:
            self._inner, self._state = FieldText(self._field), self._take_encoded
        return match.end()

    def _object(self, text: str, position: int) -> int:
        match = _KEY.search(text, position)
        if match is None:
            return len(text)
        self._key, self._state = [], (self._name if match[0] == '"' else self._end_text)
        return match.end()

    def _name(self, text: str, position: int) -> int:
        return self._read_string(text, position, self._key, self._colon)

    def _colon(self, text: str, position: int) -> int:
        match = _COLON.search(text, position)
        if match is None:
            return len(text)
        self._state = self._value
        return match.end()

    def _value(self, text: str, position: int) -> int:
        match = _SIGN.search(text, position)
        if match is None:
            return len(text)
        if match[0] == '"':
            self._state = self._take_text if "".join(self._key) == self._field else self._skip_text
        elif match[0] in "{[":
            self._depth, self._state = 1, self._skip_nested
        else:
            self._state = self._primitive
            return match.start()
        return match.end()

    def _take_text(self, text: str, position: int) -> int:
        return self._read_string(text, position, self._text, self._end_text)

    def _skip_text(self, text: str, position: int) -> int:
        return self._read_string(text, position, [], self._object)

    def _primitive(self, text: str, position: int) -> int:
        match = _PRIMITIVE.search(text, position)
        if match is None:
            return len(text)
        self._state = self._object
        return match.start()

    def _skip_nested(self, text: str, position: int) -> int:
        match = _NESTED.search(text, position)
        if match is None:
            return len(text)
        if match[0] == '"':
            self._state = self._skip_nested_text
        else:
            self._depth += 1 if match[0] in "{[" else -1
            self._state = self._skip_nested if self._depth else self._object
        return match.end()

    def _skip_nested_text(self, text: str, position: int) -> int:
        return self._read_string(text, position, [], self._skip_nested)

    def _take_encoded(self, text: str, position: int) -> int:
        decoded: list[str] = []
        after = self._read_string(text, position, decoded, self._end_text)
        if self._inner is not None:
            self._text.append(self._inner.feed("".join(decoded)))
        return after

    def _end_text(self, text: str, position: int) -> int:
        return len(text)

    def _read_string(self, text: str, position: int, parts: list[str], next_state: Callable[[str, int], int]) -> int:
        """Read a string's content as far as it is certain; at its end continue with `next_state`."""
        while match := _TOKEN.match(text, position):
            position = match.end()
            if match.lastgroup == "end":
                self._state = next_state
                break
            parts.append(_decode_escape(match))
        return position


def _decode_escape(escape: re.Match[str]) -> str:
    kind, token = escape.lastgroup or "", escape[escape.lastgroup or 0]
    match kind:
        case "plain":
            return _SURROGATES.sub(_LOST, token)
        case "sign":
            return _SIGNS.get(token, token)
        case "pair":
            high, low = int(token[1:5], 16), int(token[7:], 16)
            return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
        case "code":
            return _SURROGATES.sub(_LOST, chr(int(token, 16)))
        case _:
            return _LOST


def field_text(text: str, field: str) -> str:
    """The string at `field` of the JSON object `text`, as far as it goes; empty if there is none."""
    return FieldText(field).feed(text)
