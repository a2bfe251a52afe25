"""Lines, the patterns for their kinds, and records: lines with a key and a value."""

from __future__ import annotations

import re

import msgspec

from assay.core.lazy import regex


class TextLine(msgspec.Struct, frozen=True, gc=False):
    """A line without its ending, at code points `start` to `end`; `body` is without surrounding white space."""

    start: int
    end: int
    text: str
    body: str

    @property
    def indent(self) -> int:
        """White space before the first character; a tab counts four."""
        if self.body and self.text[0] == self.body[0]:
            return 0
        lead = self.text[: len(self.text) - len(self.text.lstrip())]
        return len(lead.expandtabs(4))


LONG_KEY = 40
LONG_VALUE = 60
ENDING = regex(r"\r\n|\n|\r")

FENCE = regex(r"(`{3,}|~{3,})[^`]*$")
ATX = regex(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#*)?$")
UNDERLINE = regex(r"([=\-~^\"'`#*+.:_<>])\1{2,}$")
DECORATION = regex(r"[|+:=\-*_\s─-╿]+$")
SIMPLE_TABLE = regex(r"={2,}(?:\s+={2,})+$")
BULLET = regex(r"[-*+•‣◦](?:[ \t]+|$)")
NUMBERED = regex(r"(?:\d{1,3}|[a-zA-Z#])[.)][ \t]+")
DIRECTIVE = regex(r"\.\.[ \t]+([\w-]+)::")
CODE_DIRECTIVES = frozenset(("code-block", "code", "sourcecode", "parsed-literal", "literalinclude", "doctest"))
CONTENTS_DIRECTIVES = frozenset(("toctree", "contents", "sectnum", "tableofcontents"))
CODE_SIGNS = regex(
    r"^(?:>>>|\.\.\.|\$ |%|//|/\*|#include|@\w)|[{};]\s*$|=>|->|==|\w\(.*\)\s*[:;]?$|^\w[\w.\[\]]* = "
    r"|^(?:def|class|import|from|return|fn|let|var|func) "
)

# A key has at most four words, starts with a letter, and its colon is followed by a space or the line's end. The length
# of its words is limited: one word of megabytes is not scanned.
KEY = r"[^\W\d_][^\s:|*`\[\]()<>\"]{0,500}(?:[ ][^\s:|*`\[\]()<>\"]{1,500}){0,3}"
FIELD = regex(rf":?(?P<key>{KEY}):(?:[ \t]|$)")
ITEM_FIELD = regex(
    rf"(?P<mark>\*\*|__|\*|_)?(?P<key>{KEY})(?:(?(mark)(?P=mark):|:)|(?(mark):(?P=mark)|(?!)))(?:[ \t]|$)"
)
RECORD = regex(r"(?P<key>[^\W_](?:[^\s:：|\"`={};]{0,40}[ ]){0,9}[^\s:：|\"`={};.!?]{0,40})(?::[ \t]+|：[ \t]*)[^\s:/]")
"""A line with a key of at most ten words, possibly with brackets and symbols, and a value."""
LEADER = regex(r"(?:\.{4,}|(?:\. ){3,}\.?|…{2,}|·{4,}|_{5,})\s*(?:\d{1,4}|[ivxlc]{1,7})?$", re.IGNORECASE)
"""The end of an entry in a printed table of contents."""
LEADERS = ("....", ". . .", "……", "····", "_____")
"""One of these is in every match of `LEADER`."""
MAX_ENTRY_LINE_CHARS = 200
LONE = regex(r"(?!(?:\d{1,3}|[a-zA-Z])[.)][ \t])[^\W_](?:[^:：…·_.]|\.(?!\s?\.))*$")
"""A line that is only text: no key, no number of an item, no leaders of a table of contents."""
SENTENCE_BOUNDARY = regex(r"[a-z]{3}[.!?]\s+[A-Z]")


def lines(text: str) -> list[TextLine]:
    """The lines of `text`; only LF, CRLF and CR end one."""
    text_lines = []
    start = 0
    if "\r" not in text:
        for piece in text.split("\n"):
            end = start + len(piece)
            text_lines.append(TextLine(start, end, piece, piece.strip()))
            start = end + 1
        return text_lines
    for match in ENDING.finditer(text):
        piece = text[start : match.start()]
        text_lines.append(TextLine(start, match.start(), piece, piece.strip()))
        start = match.end()
    text_lines.append(TextLine(start, len(text), text[start:], text[start:].strip()))
    return text_lines


def has_word(text: str) -> bool:
    """True if a text has a letter or a digit."""
    return any(map(str.isalnum, text))


def is_underline(below: TextLine, line: TextLine) -> bool:
    """True if `below` makes `line` a heading: a run of one character, as long as the title unless `===` or `---`."""
    if not UNDERLINE.match(below.body) or BULLET.match(line.body):
        return False
    if len(line.body) > 200 or line.text[0] in " \t" or not has_word(line.body) or line.body[0] == "|":
        return False
    return below.body[0] in "=-" or len(below.body) >= len(line.body)


def closes_fence(line: TextLine, fence: str) -> bool:
    """True if a line ends the code that `fence` began."""
    return line.body.startswith(fence) and not line.body.strip(fence[0])


def is_record(body: str) -> bool:
    """True if a line has a key and a value."""
    match = RECORD.match(body)
    return match is not None and match["key"].count("(") == match["key"].count(")")


def is_leader(body: str) -> bool:
    """True if a line is an entry of a printed table of contents: a title, leaders, mostly a page."""
    if len(body) > MAX_ENTRY_LINE_CHARS or not body[0].isalnum() or not has_leaders(body):
        return False
    return LEADER.search(body) is not None


def has_leaders(text: str) -> bool:
    """True if a text may end with leaders, which takes a tenth of the time that looking for them takes."""
    return any(map(text.__contains__, LEADERS))


# Records: the header of a document, and lines with a key and a value elsewhere.

LONG_LINE = 4_000
"""Code points of a line that are examined to see whether it is prose."""
MIN_RECORDS, MIN_RECORDS_BEFORE_OTHERS = 2, 3
"""The least lines with keys that are records: in a paragraph of nothing else, and if other lines follow."""


def record_run(lines: list[TextLine], index: int) -> tuple[int, int]:
    """The end of the lines with keys that begin at a line, and their number."""
    first, keys = index, 0
    while index < len(lines) and (body := lines[index].body):
        deeper = index > first and lines[index].indent > lines[first].indent
        if not deeper:
            if not is_record(body) or (index == first and SENTENCE_BOUNDARY.search(body, 0, LONG_LINE)):
                break
            keys += 1
        index += 1
    return index, keys


def is_header(group: list[TextLine]) -> bool:
    """True if all lines are `key: value` or continue the value above: several, or a single short one.

    If the first continues with another sentence it is prose.
    """
    if SENTENCE_BOUNDARY.search(group[0].body, 0, LONG_LINE):
        return False
    keys = 0
    for number, line in enumerate(group):
        if line.text[0] in " \t" and number:
            continue
        match = FIELD.match(line.body)
        if match is None or len(match["key"]) > LONG_KEY:
            return False
        keys += 1
    if keys > 1:
        return True
    return len(group) == 1 and len(group[0].body) <= LONG_VALUE and group[0].body[-1] not in ".!?:;,。！？"
