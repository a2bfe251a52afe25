"""Lines and the patterns which tell what a line is."""

from __future__ import annotations

import re

import msgspec


class Line(msgspec.Struct, frozen=True, gc=False):
    """A line without its ending, at code points `start` to `end`; `body` is without the white space around it."""

    start: int
    end: int
    text: str
    body: str

    @property
    def indent(self) -> int:
        """White space before the first character; a tab counts four."""
        lead = self.text[: len(self.text) - len(self.text.lstrip())]
        return len(lead.expandtabs(4))


ENDING = re.compile(r"\r\n|\n|\r")

FENCE = re.compile(r"(`{3,}|~{3,})[^`]*$")
ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?$")
UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_<>])\1{2,}$")
DECORATION = re.compile(r"[|+:=\-*_\s─-╿]+$")
SIMPLE_TABLE = re.compile(r"={2,}(?:\s+={2,})+$")
BULLET = re.compile(r"[-*+•‣◦](?:[ \t]+|$)")
NUMBERED = re.compile(r"(?:\d{1,3}|[a-zA-Z#])[.)][ \t]+")
DIRECTIVE = re.compile(r"\.\.[ \t]+([\w-]+)::")
CODE_DIRECTIVES = frozenset(("code-block", "code", "sourcecode", "parsed-literal", "literalinclude", "doctest"))
CODE_SIGNS = re.compile(
    r"^(?:>>>|\.\.\.|\$ |%|//|/\*|#include|@\w)|[{};]\s*$|=>|->|==|\w\(.*\)\s*[:;]?$|^\w[\w.\[\]]* = "
    r"|^(?:def|class|import|from|return|fn|let|var|func) "
)

# A key has at most four words, starts with a letter, and its colon is followed by a space or the line's end. A word of
# it is no longer than any line a person writes: one word of megabytes is not looked through.
KEY = r"[^\W\d_][^\s:|*`\[\]()<>\"]{0,500}(?:[ ][^\s:|*`\[\]()<>\"]{1,500}){0,3}"
FIELD = re.compile(rf":?(?P<key>{KEY}):(?:[ \t]|$)")
ITEM_FIELD = re.compile(
    rf"(?P<mark>\*\*|__|\*|_)?(?P<key>{KEY})(?:(?(mark)(?P=mark):|:)|(?(mark):(?P=mark)|(?!)))(?:[ \t]|$)"
)
SENTENCE = re.compile(r"[a-z]{3}[.!?]\s+[A-Z]")


def lines(text: str) -> list[Line]:
    """The lines of `text`; only LF, CRLF and CR end one."""
    found = []
    start = 0
    if "\r" not in text:
        for piece in text.split("\n"):
            end = start + len(piece)
            found.append(Line(start, end, piece, piece.strip()))
            start = end + 1
        return found
    for match in ENDING.finditer(text):
        piece = text[start : match.start()]
        found.append(Line(start, match.start(), piece, piece.strip()))
        start = match.end()
    found.append(Line(start, len(text), text[start:], text[start:].strip()))
    return found
