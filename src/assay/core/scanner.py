"""The state machine that finds citation markers in Markdown; other modules use `core.markers`.

A marker names passages or sources: `[S2003.17]`, `[S2003.17, S4.2]`, `[S3]`. Variants that models write are read too:
`[[S3.17]]`, `【S3.17】`, `［S3.17］`, `[S3.17-S3.19]`, `[S3.17; S4.2]`, `[^S3.17]`. Whether an id exists is not checked
here. Code spans, fences, links, LaTeX and reference definitions contain no markers; a bare number is not a marker.

The reader is a state machine over Markdown's inline syntax (CommonMark 0.31, with pandoc's rule for `$`). It looks for
a closing delimiter at most `LOOK_AHEAD` characters ahead and within the block. So the meaning of a piece of text never
depends on how the stream was cut, and a pass takes linear time.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Literal

import msgspec

from assay.core.lazy import regex

LOOK_AHEAD = 1000
"""How far ahead, in characters, the end of a link, code span or formula may be."""
RANGE_CAP = 50
"""The most ids in a range such as `[S3.17-S3.19]`."""


class Marker(msgspec.Struct, frozen=True):
    """A citation at code points `[start, end)` of the text: passage ids and source ids, in order, each once.

    `implied` are ids that only a range implies: they need not exist.
    """

    start: int
    end: int
    passages: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    implied: frozenset[str] = frozenset()

    @property
    def ids(self) -> tuple[str, ...]:
        """Passages, then sources."""
        return self.passages + self.sources


# The content of a marker. There is only one way to read a run of spaces: with several, 500 of them took hours.

_ID = r"[sS][0-9]{1,7}(?:\.[0-9]{1,6})?"
_DASH = r"\s*+(?:[-\u2010-\u2015~]|\.\.)\s*+"
_ITEM = rf"\^?{_ID}(?:{_DASH}(?:{_ID}|[0-9]{{1,6}}))?"
_BETWEEN = r"(?:\s*+(?:\]\s*+)?(?:[,;，；、&|/+]\s*+)?(?:\[\s*+)?|\s+and\s+)"
_CONTENT = regex(rf"\s*{_ITEM}(?:{_BETWEEN}{_ITEM})*+\s*")
_ITEMS = regex(rf"({_ID})(?:{_DASH}(?:({_ID})|([0-9]{{1,6}})))?")
_ONE, _MAX_MARKER_CHARS = regex(_ID), 512


def _marker(content: str, start: int, end: int) -> Marker | None:
    """The marker whose brackets contain `content`, if it is one."""
    if _ONE.fullmatch(content):  # as are nearly all
        single = (content.upper(),)
        return Marker(start, end, single) if "." in content else Marker(start, end, (), single)
    content = unicodedata.normalize("NFKC", content) if len(content) <= _MAX_MARKER_CHARS else ""
    if content.startswith("[") and content.endswith("]"):
        content = content[1:-1]
    elif "[" in content or "]" in content:
        return None
    if not _CONTENT.fullmatch(content):
        return None
    ordered_ids: dict[str, None] = {}
    implied: set[str] = set()
    for match in _ITEMS.finditer(content):
        first = match[1].upper()
        last = match[2].upper() if match[2] else _short_range_end(first, match[3])
        range_ids = _range_ids(first, last) if last else [first]
        ordered_ids.update(dict.fromkeys(range_ids))
        implied.update(range_ids[1:-1])
    ids = tuple(ordered_ids)
    return Marker(
        start,
        end,
        tuple(name for name in ids if "." in name),
        tuple(name for name in ids if "." not in name),
        frozenset(implied),
    )


def _short_range_end(first: str, ordinal: str | None) -> str:
    """The end of a short range: `S3.17-19` ends at S3.19, `S3-5` at S5."""
    if ordinal is None:
        return ""
    source, point, _ = first.partition(".")
    return f"{source}.{ordinal}" if point else f"S{ordinal}"


def _range_ids(first: str, last: str) -> list[str]:
    """Both ends and, if they are of one source and ascend, what is between them; at most `RANGE_CAP` ids."""
    stem, point, low = first.rpartition(".") if "." in first else ("S", "", first[1:])
    last_stem, last_point, high = last.rpartition(".") if "." in last else ("S", "", last[1:])
    if (stem, point) != (last_stem, last_point) or int(low) >= int(high):
        return [first, last]
    inner = range(int(low) + 1, min(int(high), int(low) + RANGE_CAP))
    names = [first, *(f"{stem}{point}{ordinal}" for ordinal in inner)]
    return [*names, last] if len(names) < RANGE_CAP else names


# the grammar around markers

_SPECIAL = regex(r"\n+|[\\`$<\[【［]")
_FENCE_SIGNS = frozenset(" \t>*+-.)0123456789`~")  # the beginning of a line that opens a fence
_BLOCK = regex(r"\n(?=[ \t\r]{0,60}(?:\n|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|>|\||```|~~~))")
_BLOCK_LENGTH = 80
_PREFIX = r"[ \t>*+\-0-9.)]{0,60}"
_FENCE = regex(rf"{_PREFIX}(`{{3,100}}(?!`)[^`\n]{{0,100}}|~{{3,100}}(?!~)[^\n]{{0,100}})(?:\n|\Z)")
_FENCE_BEGUN = regex(rf"{_PREFIX}(?:`{{0,2}}|`{{3,100}}[^`\n]{{0,100}}|~{{0,2}}|~{{3,100}}[^\n]{{0,100}})\Z")
_CLOSING = regex(r"[ \t>]{0,60}(`{3,200}|~{3,200})[ \t\r]{0,20}(?:\n|\Z)")
_CLOSING_BEGUN = regex(r"[ \t>]{0,60}(?:`{0,200}|~{0,200})[ \t\r]{0,20}\Z")
_TICKS = regex(r"`+")
_AUTOLINK = regex(r"<[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*>")
_AUTOLINK_BEGUN = regex(r"<(?:[A-Za-z][A-Za-z0-9+.-]{0,31}(?::[^\s<>]*)?)?\Z")
_AMOUNT = regex(r"\$[0-9][0-9.,]{0,30}")
_AFTER_AMOUNT = regex(
    r"[ \t]*\Z|[ \t]*\n|[ \t]?[\[【［(]|[;:!?)\"'”]|[ \t]+[A-Za-z]{2}|[–—]|-\$|(?:[kKmMbBtT]|bn|mn|tn)(?![A-Za-z$^_\\])"
)
_MATH_END = regex(r"\n|(?<=[^\s\\$(\"“„«‘])\$(?![0-9$])")
_FULL_WIDTH = regex(r"[【［]([^\[\]【】［］\n]{1,512})[】］]")
_FULL_WIDTH_BEGUN = regex(r"[【［][^\[\]【】［］\n]{0,512}\Z")
_WHOLE = regex(rf"\[[^\[\]\\\n]{{0,{LOOK_AHEAD - 2}}}\]")  # with nothing inside that opens, escapes or ends a line
_BRACKETS, _MAX_BRACKET_DEPTH = regex(r"[\[\]\\]"), 3

# a link's tail, after its text: ( destination "title" )
_GAP = r"[ \t\r]*+(?:\n[ \t\r]*+)?+"
_TAIL = regex(
    rf"\({_GAP}(?:<[^<>\n]*+>|(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.)*+\))(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+)?+"
    rf"{_GAP}(?:\"[^\"\n]*+\"|'[^'\n]*+'|\([^()\n]*+\))?+{_GAP}\)"
)
_TAIL_BEGUN = regex(
    rf"\({_GAP}(?:<[^<>\n]*+(?:>|\Z)|(?:[^\s()\\<]|\\(?:.|\Z)|\((?:[^\s()\\]|\\(?:.|\Z))*+(?:\)|\Z))"
    rf"(?:[^\s()\\]|\\(?:.|\Z)|\((?:[^\s()\\]|\\(?:.|\Z))*+(?:\)|\Z))*+)?+"
    rf"{_GAP}(?:\"[^\"\n]*+(?:\"|\Z)|'[^'\n]*+(?:'|\Z)|\([^()\n]*+(?:\)|\Z))?+{_GAP}\Z"
)
_MARGIN = regex(r"(?: {0,3}>){0,5} {0,3}")

TokenKind = Literal["text", "link", "verbatim", "marker"]


class Token(msgspec.Struct, frozen=True):
    """A piece `[start, end)` of the text: prose, a link, code or LaTeX, or a marker."""

    start: int
    end: int
    kind: TokenKind
    marker: Marker | None = None


class _NeedsMoreText(Exception):
    """The following text decides; raised only while more may come."""


class Scanner:
    """The state machine. Add text with `add`, and read what is decided from `tokens`."""

    def __init__(self) -> None:
        self.text = ""  # what is not decided yet, with everything after it
        self.base = 0  # code points decided and dropped
        self._position = 0  # in self.text
        self._final = False
        self.fence = ""  # the opening delimiter of the current fence
        self._line_start = True  # the next character begins a line whose first character was not examined yet
        self._previous = ""
        self._lead: str | None = ""  # the line so far, while it is only indentation
        self._edge = (0, 0, -1)  # absolute: searched from, searched to, the block edge found (or -1)

    def add(self, chunk: str) -> None:
        self.text = self.text[self._position :] + chunk
        self.base += self._position
        self._position = 0

    @property
    def decided_length(self) -> int:
        """How many code points of the whole text are decided."""
        return self.base + self._position

    def tokens(self, final: bool) -> Iterator[Token]:
        """Yield what can be decided now; with `final`, everything."""
        self._final = final
        while self._position < len(self.text):
            try:
                end, kind, marker = self._next()
            except _NeedsMoreText:
                return
            start, self._position = self._position, end
            self._remember(start, end)
            yield Token(self.base + start, self.base + end, kind, marker)

    def _remember(self, start: int, end: int) -> None:
        self._previous = self.text[end - 1]
        newline = self.text.rfind("\n", start, end)
        if newline >= 0:
            self._lead, start, self._line_start = "", newline + 1, newline + 1 == end
        if self._lead is not None:
            lead = self._lead + self.text[start : min(end, start + 40)]
            self._lead = lead if _MARGIN.fullmatch(lead) else None

    def _require_more(self, have: int) -> None:
        """Wait for more text, unless none comes or the construct is already `have` >= LOOK_AHEAD characters long."""
        if not self._final and have < LOOK_AHEAD:
            raise _NeedsMoreText

    def _next(self) -> tuple[int, TokenKind, Marker | None]:
        """Decide the next piece: its end, its kind, and its marker."""
        if self.fence:
            return self._fence_content_end(), "verbatim", None
        if self._line_start:
            end = self._fence_line() if self.text[self._position] in _FENCE_SIGNS else 0
            self._line_start = False
            if end:
                return end, "verbatim", None
        special = _SPECIAL.search(self.text, self._position)
        if special is None or special[0][0] == "\n":
            return special.end() if special else len(self.text), "text", None
        if special.start() > self._position:
            return special.start(), "text", None
        match special[0]:
            case "[":
                return self._bracket()
            case "【" | "［":
                return self._full_width()
        end = {"\\": self._backslash, "`": self._code, "$": self._math, "<": self._autolink}[special[0]]()
        return (end, "verbatim", None) if end else (self._position + 1, "text", None)

    # fences

    def _fence_line(self) -> int:
        """The end of the line if it opens a fence, else 0."""
        opening = _FENCE.match(self.text, self._position)
        if opening and (self._final or opening[0].endswith("\n")):
            sign = opening[1][0]
            self.fence = sign * (len(opening[1]) - len(opening[1].lstrip(sign)))
            return opening.end()
        if not self._final and _FENCE_BEGUN.match(self.text, self._position):
            raise _NeedsMoreText
        return 0

    def _fence_content_end(self) -> int:
        if self._line_start:
            closing = _CLOSING.match(self.text, self._position)
            if closing and (self._final or closing[0].endswith("\n")):
                if closing[1].startswith(self.fence):
                    self.fence = ""
                return closing.end()
            if not self._final and _CLOSING_BEGUN.match(self.text, self._position):
                raise _NeedsMoreText
            self._line_start = False
        newline = self.text.find("\n", self._position)
        return len(self.text) if newline < 0 else newline + 1

    # constructs without markers; each returns its end, 0 if it is something else

    def _block_edge(self) -> int:
        """The latest end of the block: its first edge within LOOK_AHEAD, else that far ahead."""
        position = self.base + self._position
        begin, end, edge = self._edge
        if not (begin <= position and (edge < 0 or position <= edge)):
            begin, end, edge = position, position, -1
        limit = self._position + LOOK_AHEAD
        if edge < 0:
            match = _BLOCK.search(self.text, max(self._position, end - self.base), limit)
            edge = match.start() + self.base if match else -1
            certain_end = min(limit, len(self.text))  # an edge before it is certain if the text after it was seen too
            certain_end -= 0 if self._final and certain_end == len(self.text) else _BLOCK_LENGTH
            self._edge = (begin, max(end, certain_end + self.base), edge)
        return min(limit, len(self.text), edge - self.base if edge >= 0 else limit)

    def _end_unclosed(self, edge: int) -> int:
        """There is no closing delimiter before `edge`: return 0, or wait if the text only ends there so far."""
        if edge == len(self.text):
            self._require_more(edge - self._position)
        return 0

    def _backslash(self) -> int:
        if self._position + 1 == len(self.text):
            self._require_more(1)
            return 0
        closing = {"(": "\\)", "[": "\\]"}.get(self.text[self._position + 1])
        if closing:
            edge, start = self._block_edge(), self._position + 2
            end = self.text.find(closing, start, edge)
            if end < 0:
                self._end_unclosed(edge)
            elif self.text.find(self.text[self._position : start], start, end) < 0:  # formulas are not nested
                return end + 2
        return self._position + 2 if self.text[self._position + 1] != "\n" else 0

    def _code(self) -> int:
        opening = _TICKS.match(self.text, self._position, self._position + LOOK_AHEAD)
        assert opening
        length, edge = len(opening[0]), self._block_edge()
        for run in _TICKS.finditer(self.text, opening.end(), edge):
            is_complete = run.end() < len(self.text) or self._final or run.end() == self._position + LOOK_AHEAD
            if is_complete and run.end() - run.start() == length:
                return run.end()
        self._end_unclosed(edge)
        return opening.end()

    def _math(self) -> int:
        ahead = self.text[self._position : self._position + 40]
        if len(ahead) < 40 and not self._final and self._short_amount(ahead):
            raise _NeedsMoreText
        double = ahead.startswith("$$")
        if (amount := _AMOUNT.match(ahead)) and (amount[0][-1] in ".," or _AFTER_AMOUNT.match(ahead, amount.end())):
            return 0
        if self._previous.isalnum() or (not double and ahead[1:2].strip() == ""):
            return 0
        edge = self._block_edge()
        if double:
            end = self.text.find("$$", self._position + 2, edge)
            return end + 2 if end >= 0 else self._end_unclosed(edge)
        for closing in _MATH_END.finditer(self.text, self._position + 2, edge):
            end, names = closing.end(), self.text[closing.end() : closing.end() + 1].isalpha()
            if end == len(self.text):
                self._require_more(0)
            if closing[0] == "\n" or not names or self.text.find(" ", self._position, end) < 0:
                return 0 if closing[0] == "\n" else end  # `$x$th` is a formula, `$PATH or /$HOME` is none
        return self._end_unclosed(edge)

    @staticmethod
    def _short_amount(text: str) -> bool:
        """True if `text` ends before it shows what a `$` at its start means."""
        amount = _AMOUNT.match(text)
        return len(text) < 2 or (amount is not None and len(text) - amount.end() < 4)

    def _autolink(self) -> int:
        limit = self._position + LOOK_AHEAD
        link = _AUTOLINK.match(self.text, self._position, limit)
        if link:
            return link.end()
        if _AUTOLINK_BEGUN.match(self.text, self._position, limit):
            self._require_more(len(self.text) - self._position)
        return 0

    def _full_width(self) -> tuple[int, TokenKind, Marker | None]:
        match = _FULL_WIDTH.match(self.text, self._position)
        if match is None:
            if not self._final and _FULL_WIDTH_BEGUN.match(self.text, self._position):
                raise _NeedsMoreText
            return self._position + 1, "text", None
        marker = _marker(match[1].partition("†")[0], self.base + self._position, self.base + match.end())
        return (match.end(), "marker", marker) if marker else (self._position + 1, "text", None)

    def _bracket(self) -> tuple[int, TokenKind, Marker | None]:
        end = self._closing_bracket()
        if not end:
            return self._position + 1, "text", None
        if end == len(self.text):
            self._require_more(0)
        follows = self.text[end : end + 1]
        tail = self._link_tail(end) if follows == "(" else 0
        if tail:
            return tail, "link", None
        if follows == ":" and self._lead is not None:
            return end, "text", None
        marker = _marker(self.text[self._position + 1 : end - 1], self.base + self._position, self.base + end)
        return (end, "marker", marker) if marker else (self._position + 1, "text", None)

    def _closing_bracket(self) -> int:
        """The end of the bracket that opens here, 0 if it does not close within its block."""
        if match := _WHOLE.match(self.text, self._position):
            return match.end()  # as most brackets do
        edge, depth, escaped_position = self._block_edge(), 0, -1
        if self._final and self.text.find("]", self._position + 1, edge) < 0:
            return 0
        for sign in _BRACKETS.finditer(self.text, self._position, edge):
            if sign.start() == escaped_position:
                continue
            if sign[0] == "\\":
                escaped_position = sign.start() + 1
                continue
            depth += 1 if sign[0] == "[" else -1
            if depth == 0:
                return sign.end()
            if depth > _MAX_BRACKET_DEPTH:
                return 0
        return self._end_unclosed(edge)

    def _link_tail(self, start: int) -> int:
        """The end of the `(destination "title")` at `start`, 0 if there is none."""
        limit = start + LOOK_AHEAD
        tail = _TAIL.match(self.text, start, limit)
        if tail:
            return tail.end()
        if _TAIL_BEGUN.match(self.text, start, limit):
            self._require_more(len(self.text) - start)
        return 0


def scan(text: str) -> Iterator[Token]:
    """The pieces of a whole text."""
    scanner = Scanner()
    scanner.add(text)
    return scanner.tokens(final=True)
