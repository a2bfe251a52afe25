"""The steps of a plan while it is written: the title of each, once it is whole.

A planner writes JSON: `{"steps": [{"title": …}, …]}`, the list alone, or texts in place of objects. Each sign is read
once. What is no JSON gives what can be made of it, and never an error.
"""

from __future__ import annotations

import msgspec

from assay.core.decoders import UNREADABLE

TITLE_LENGTH = 200
STEPS = "steps"
TITLE = "title"


class _Open:
    """An object or a list that is not closed yet; of an object the key whose value comes, None before a key."""

    def __init__(self, sign: str, within: str | None) -> None:
        self.is_list, self.within = sign == "[", within
        self.key: str | None = None


class StepTitles:
    """Reads the titles of steps out of a text which arrives in pieces."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._string: list[str] | None = None
        self._escaped = self._done = False

    def feed(self, piece: str) -> list[str]:
        """The titles which `piece` makes whole."""
        found: list[str] = []
        for sign in piece:
            if self._done:
                break
            if self._string is not None:
                self._inside(self._string, sign, found)
            elif sign == '"' and self._open:
                self._string = []
            elif sign in "{[":
                self._open.append(_Open(sign, self._field()))
            elif sign in "}]" and self._open:
                self._open.pop()
                self._done = not self._open
            elif sign == "," and self._open:
                self._open[-1].key = None
        return found

    def _field(self) -> str | None:
        """The field of the nearest object whose value is what begins here; None in a list which stands alone."""
        if not self._open:
            return None
        last = self._open[-1]
        return last.within if last.is_list else last.key

    def _inside(self, string: list[str], sign: str, found: list[str]) -> None:
        if sign == '"' and not self._escaped:
            self._string = None
            self._whole(_decoded("".join(string)), found)
            return
        self._escaped = sign == "\\" and not self._escaped
        string.append(sign)

    def _whole(self, text: str, found: list[str]) -> None:
        last = self._open[-1]
        if not last.is_list and last.key is None:
            last.key = text
            return
        title = " ".join(text.split())[:TITLE_LENGTH]
        if title and self._is_title(last):
            found.append(title)

    def _is_title(self, last: _Open) -> bool:
        """Whether a text which ends in `last` is a step's title: its field, or an item of the list itself."""
        if last.is_list:
            return len(self._open) == 1 or last.within == STEPS
        above = self._open[-2] if len(self._open) > 1 else None
        return last.key == TITLE and above is not None and above.is_list and last.within in (STEPS, None)


def _decoded(text: str) -> str:
    try:
        return msgspec.json.decode(f'"{text}"'.encode(errors="replace"), type=str, strict=False)
    except UNREADABLE:
        return text
