"""Blocks: which lines belong together and what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from assay.core.sources import BlockKind, Syntax
from assay.evidence.segment import lines as shape
from assay.evidence.segment.lines import Line

FRONT_MATTER_LINES = 400
LONG_LINE = 4_000
"""What of a line is looked at to tell whether it is prose."""
LONG_KEY = 40
LONG_VALUE = 60
TITLE = 120
LONGEST_HEADING = 1_000
"""A longer line is no heading, whatever it begins with; it would also take long to match."""


Takers = tuple[Callable[[Line], bool], ...]


class Block(msgspec.Struct, frozen=True, gc=False):
    """Code points `start` to `end` of the text, under the headings `heading`, on `page` (from 1; 0: no pages)."""

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...]
    page: int = 0


def blocks(text: str, syntax: Syntax) -> list[Block]:
    """The blocks of `text`, ascending; for syntaxes which need more than a look at each line."""
    if syntax == "code":
        return [Block("code", 0, len(text), ())]
    return _Reader(shape.lines(text), marked=syntax == "markdown").read()


class _Reader:
    """Reads blocks top down; each `_take` method is given a line which may open its kind of block.

    `header` holds until the first prose: there, `key: value` lines are facts about the document. `worded` methods
    are for lines which begin with a letter or digit, `signed` ones for all others.
    """

    def __init__(self, lines: list[Line], marked: bool) -> None:
        self.lines, self.marked = lines, marked
        self.at = 0
        self.found: list[Block] = []
        self.headings: list[tuple[int, str]] = []
        self.styles: list[str] = []
        self.path: tuple[str, ...] = ()
        self.header = True
        self.listed = -1
        self.literal = False
        self.titles = 0
        self.unclosed = False
        worded: Takers = (self._take_underlined, self._take_item)
        signed: Takers = (self._take_underlined, self._take_table, self._take_item)
        if marked:
            worded = (*worded, self._take_indented)
            signed = (self._take_fence, self._take_comment, self._take_atx, *signed, self._take_directive)
            signed = (*signed, self._take_indented)
        rest: Takers = (self._take_fields, self._take_title, self._take_paragraph)
        self.worded, self.signed = (*worded, *rest), (*signed, *rest)

    def read(self) -> list[Block]:
        if self.marked:
            self._front_matter()
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.body:
                self.at += 1
                continue
            for take in self.worded if line.body[0].isalnum() else self.signed:
                if take(line):
                    break
        return self.found

    def _add(self, kind: BlockKind, start: int, end: int) -> None:
        if start < end:
            self.found.append(Block(kind, start, end, self.path))

    def _next(self, ahead: int = 1) -> Line | None:
        index = self.at + ahead
        return self.lines[index] if index < len(self.lines) else None

    def _run(self, belongs: Callable[[Line], bool]) -> Iterator[Line]:
        """The following lines as long as they belong; `at` moves behind them."""
        while self.at < len(self.lines) and belongs(self.lines[self.at]):
            self.at += 1
            yield self.lines[self.at - 1]

    # front matter and fields

    def _front_matter(self) -> None:
        first = self.lines[0].body
        if first not in ("---", "+++") or self.lines[0].text.lstrip("\ufeff") != first:
            return
        for index in range(1, min(len(self.lines), FRONT_MATTER_LINES)):
            if self.lines[index].body in (first, "..."):
                self._fields(self.lines[1:index])
                self.at = index + 1
                return

    def _fields(self, lines: list[Line]) -> None:
        """Each key with its value is a block; indented lines and `- ` lines go on with the value above."""
        start = end = -1
        for line in lines:
            if not line.body:
                continue
            if start >= 0 and (line.text[0] in " \t" or line.body.startswith(("- ", "#"))):
                end = line.end
                continue
            if start >= 0:
                self._add("field", start, end)
            start, end = line.start, line.end
        if start >= 0:
            self._add("field", start, end)

    def _take_fields(self, line: Line) -> bool:
        if not self.header:
            return False
        end = self.at
        while end < len(self.lines) and self.lines[end].body:
            end += 1
        group = self.lines[self.at : end]
        if not _is_header(group):
            return False
        self._fields(group)
        self.at = end
        return True

    # headings

    def _take_atx(self, line: Line) -> bool:
        match = shape.ATX.match(line.body) if line.body[0] == "#" and len(line.body) <= LONGEST_HEADING else None
        if match is None:
            return False
        title = match[2] or ""
        if title:
            start = line.text.index(title, len(match[1])) + line.start
            self._heading(len(match[1]), title, start)
        self.at += 1
        return True

    def _take_underlined(self, line: Line) -> bool:
        below, second = self._next(), self._next(2)
        if below is None or not below.body:
            return False
        if _underlines(below, line):
            self._heading(self._level(below.body[0]), line.body, line.start + line.text.index(line.body))
            self.at += 2
            return True
        if shape.UNDERLINE.match(line.body) and second is not None and second.body == line.body and _alnum(below.body):
            start = below.start + below.text.index(below.body)
            self._heading(self._level(line.body[0] * 2), below.body, start)
            self.at += 3
            return True
        return False

    def _level(self, style: str) -> int:
        """The level of an underline: styles nest in the order in which they first appear."""
        if style not in self.styles:
            self.styles.append(style)
        return self.styles.index(style) + 1

    def _heading(self, level: int, title: str, start: int) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.path = tuple(name for _, name in self.headings)
        self._add("heading", start, start + len(title))
        self.headings.append((level, title[:200]))
        self.path = tuple(name for _, name in self.headings)
        self.listed = -1
        self.titles += 1
        if self.titles > 1:
            self.header = False

    def _take_title(self, line: Line) -> bool:
        """The first line is a title when a much longer line follows which starts a sentence of its own."""
        below = self._next()
        if self.found or below is None or len(line.body) > TITLE or line.body[-1] in ".,;:!?。，；：":
            return False
        if len(below.body) < max(80, 1.5 * len(line.body)) or not (below.body[0].isupper() or below.body[0].isdigit()):
            return False
        self._heading(1, line.body, line.start + line.text.index(line.body))
        self.at += 1
        return True

    # code

    def _take_fence(self, line: Line) -> bool:
        match = shape.FENCE.match(line.body) if line.body[0] in "`~" else None
        if match is None:
            return False
        fence = match[1]
        self.at += 1
        inside = list(self._run(lambda other: not _closes(other, fence)))
        self.at += 1
        if inside:
            self._add("code", inside[0].start, inside[-1].end)
        self.header = False
        return True

    def _take_comment(self, line: Line) -> bool:
        """A comment which starts a line is not shown to a reader and no passage; one that never ends is text."""
        if self.unclosed or not line.body.startswith("<!--"):
            return False
        for index in range(self.at, len(self.lines)):
            if "-->" in self.lines[index].body:
                break
        else:
            self.unclosed = True
            return False
        last = self.lines[index]
        self.at = index + 1
        rest = last.start + last.text.index("-->") + 3
        self._add("paragraph", rest, last.end)
        return True

    def _take_directive(self, line: Line) -> bool:
        match = shape.DIRECTIVE.match(line.body) if line.body[0] == "." else None
        if match is None:
            return False
        self.literal = match[1] in shape.CODE_DIRECTIVES
        if not self.literal:
            return False
        self.at += 1
        return True

    def _take_indented(self, line: Line) -> bool:
        indent = line.indent
        literal, self.literal = self.literal, False
        if indent < (1 if literal else 4) or (0 <= self.listed < indent and not literal):
            return False
        if not literal and not shape.CODE_SIGNS.search(line.body[:TITLE]):
            return False
        least = min(indent, 4)
        inside = list(self._run(lambda other: not other.body or other.indent >= least))
        self._add("code", inside[0].start, inside[-1].end)
        return True

    # tables, lists, paragraphs

    def _take_table(self, line: Line) -> bool:
        if shape.SIMPLE_TABLE.match(line.body):
            self.at += 1
            for row in self._run(lambda other: bool(other.body)):
                if _alnum(row.body):
                    self._add("row", row.start, row.end)
            return True
        if shape.DECORATION.match(line.body):
            self.at += 1
            return True
        if line.body[0] != "|" or line.body.count("|") < 2:
            return False
        self._add("row", line.start, line.end)
        self.at += 1
        return True

    def _take_item(self, line: Line) -> bool:
        bullet = shape.BULLET.match(line.body)
        if bullet is None and shape.NUMBERED.match(line.body) is None:
            return False
        self.listed = line.indent
        skipped = bullet.end() if bullet else 0
        start = line.start + line.text.index(line.body) + skipped
        field = self.header and shape.ITEM_FIELD.match(line.body, skipped)
        if not field:
            self.header = self.header and len(line.body) <= LONG_VALUE
        self.at += 1
        end = line.end
        for other in self._run(self._continues_item):
            end = other.end
        self._add("field" if field and len(field["key"]) <= LONG_KEY else "item", start, end)
        return True

    def _continues_item(self, line: Line) -> bool:
        return self._continues(line) and not shape.NUMBERED.match(line.body)

    def _continues(self, line: Line) -> bool:
        """Whether a line goes on with the paragraph or item above it."""
        body = line.body
        if not body:
            return False
        first = body[0]
        if first in "-*+•‣◦" and shape.BULLET.match(body):
            return False
        if first == "|" and body.count("|") > 1:
            return False
        if not self.marked:
            return True
        if first == "#":
            return len(body) > LONGEST_HEADING or shape.ATX.match(body) is None
        return first not in "`~" or shape.FENCE.match(body) is None

    def _take_paragraph(self, line: Line) -> bool:
        self.at += 1
        last = [line, *self._run(self._continues)][-1]
        if line.indent <= self.listed or self.listed < 0:
            self.listed = -1
        self.header = self.header and line.body.startswith(("..", ">", "!["))
        self.literal = self.literal or (self.marked and last.body.endswith("::"))
        self._add("paragraph", line.start, last.end)
        return True


def _alnum(text: str) -> bool:
    return any(map(str.isalnum, text))


def _underlines(below: Line, line: Line) -> bool:
    """Whether `below` makes `line` a heading: a run of one sign, as long as the title unless `===` or `---`."""
    if len(line.body) > 200 or line.text[0] in " \t" or not _alnum(line.body) or line.body[0] == "|":
        return False
    if not shape.UNDERLINE.match(below.body) or shape.BULLET.match(line.body):
        return False
    return below.body[0] in "=-" or len(below.body) >= len(line.body)


def _closes(line: Line, fence: str) -> bool:
    return line.body.startswith(fence) and not line.body.strip(fence[0])


def _is_header(group: list[Line]) -> bool:
    """Whether all lines are `key: value` or go on with the value above: several, or a single short one.

    Where the first goes on with another sentence it is prose.
    """
    if shape.SENTENCE.search(group[0].body, 0, LONG_LINE):
        return False
    keys = 0
    for number, line in enumerate(group):
        if line.text[0] in " \t" and number:
            continue
        match = shape.FIELD.match(line.body)
        if match is None or len(match["key"]) > LONG_KEY:
            return False
        keys += 1
    if keys > 1:
        return True
    return len(group) == 1 and len(group[0].body) <= LONG_VALUE and group[0].body[-1] not in ".!?:;,。！？"
