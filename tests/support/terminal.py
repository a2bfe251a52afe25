"""A small terminal: what a person sees after the bytes a program wrote."""

from __future__ import annotations

import re

from rich.cells import cell_len

_PART = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n])|(.)", re.DOTALL)
_BEGUN = re.compile(r"\x1b(?:\[\??[\d;]*)?\Z")
"""A command whose rest has not been read yet."""


class Terminal:
    """Lines of at most `width` cells, endless downwards; what it does not know it refuses."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = [""]
        self.row = self.column = 0
        self.wraps = self.cursor = True
        self.modes: set[str] = set()
        self.highest = 0
        self._begun = ""

    def feed(self, text: str) -> None:
        """Do what `text` says; it may end within a command."""
        text = self._begun + text
        begun = _BEGUN.search(text)
        self._begun = begun[0] if begun else ""
        text = text[: len(text) - len(self._begun)]
        for match in _PART.finditer(text):
            private, number, command, home, down, char, unknown = match.groups()
            if unknown:
                raise AssertionError(f"not understood: {text[match.start() : match.start() + 20]!r}")
            if command:
                self._command(private, number, command)
            elif home:
                self.column = 0
            elif down:
                self._down()
            elif char:
                self._put(char)

    @property
    def shown(self) -> list[str]:
        """The lines, without empty ones at the end."""
        lines = [line.rstrip() for line in self.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _command(self, private: str, number: str, command: str) -> None:
        if private and command in "hl":
            self._mode(number, command == "h")
        elif command == "A":
            self.row = max(0, self.row - int(number or 1))
        elif command == "K":
            self.lines[self.row] = self.lines[self.row][: self.column]
        elif command == "J":
            self.lines[self.row :] = [self.lines[self.row][: self.column]]
        elif command != "m":
            raise AssertionError(f"not understood: {private}{number}{command}")

    def _mode(self, number: str, on: bool) -> None:
        if number == "7":
            self.wraps = on
        elif number == "25":
            self.cursor = on
        elif on:
            self.modes.add(number)
        else:
            self.modes.discard(number)

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")
        self.highest = max(self.highest, len(self.lines))

    def _put(self, char: str) -> None:
        assert char >= " ", f"a control character reached the terminal: {char!r}"
        if self.column + cell_len(char) > self.width:
            if not self.wraps:
                return
            self._down()
            self.column = 0
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + char + line[self.column + 1 :]
        self.column += 1
