"""Blocks: which lines belong together, and their kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from assay.core.document_dates import DATED_ENTRY
from assay.core.sources import BlockKind, Syntax
from assay.evidence.segment import lines as shape
from assay.evidence.segment.lines import MIN_RECORDS, MIN_RECORDS_BEFORE_OTHERS, TextLine, is_header, record_run

FRONT_MATTER_LINES = 400
MAX_TITLE_CHARS = 120
MAX_HEADING_CHARS = 1_000
"""A longer line is not a heading, whatever it begins with; it would also take long to match."""


Takers = tuple[Callable[[TextLine], bool], ...]


class TextBlock(msgspec.Struct, frozen=True, gc=False):
    """Code points `start` to `end` of the text, under the headings `heading`, on `page` (from 1; 0: no pages).

    `label`, `term` and `lead` are its context (`segment.passages`). `indent` is the white space before a code fence, -1
    if there is none.
    """

    kind: BlockKind
    start: int
    end: int
    heading: tuple[str, ...]
    page: int = 0
    label: str = ""
    term: str = ""
    lead: str = ""
    indent: int = -1


def blocks(text: str, syntax: Syntax) -> list[TextBlock]:
    """The blocks of `text`, ascending, for syntaxes that need more than a look at each line."""
    if syntax == "code":
        return [TextBlock("code", 0, len(text), ())]
    return _Reader(shape.lines(text), has_markup=syntax == "markdown").read()


class _Reader:
    """Reads blocks top down; each `_take` method gets a line that may begin its kind of block.

    `header` lasts until the first prose: there, `key: value` lines are facts about the document. `word_takers`
    methods are for lines that begin with a letter or digit, `sign_takers` ones for all others.
    """

    def __init__(self, lines: list[TextLine], has_markup: bool) -> None:
        self.lines, self.has_markup = lines, has_markup
        self.position = 0
        self.text_blocks: list[TextBlock] = []
        self.headings: list[tuple[int, str]] = []
        self.styles: list[str] = []
        self.path: tuple[str, ...] = ()
        self.header = True
        self.list_indent = -1
        self.literal = False
        self.titles = 0
        self.comment_unclosed = False
        word_takers: Takers = (self._take_lone, self._take_underlined, self._take_leaders, self._take_item)
        sign_takers: Takers = (self._take_underlined, self._take_table, self._take_item)
        last_takers: Takers = (self._take_fields, self._take_title, self._take_records, self._take_paragraph)
        if has_markup:
            last_takers = (self._take_indented, *last_takers)
        self.word_takers, self.sign_takers = (*word_takers, *last_takers), (*sign_takers, *last_takers)
        self.takers_by_sign: dict[str, Takers] = {}
        if has_markup:  # only these begin with these signs
            first = {"`": self._take_fence, "~": self._take_fence, "<": self._take_comment, "#": self._take_atx}
            self.takers_by_sign = {sign: (take, *self.sign_takers) for sign, take in first.items()}
            self.takers_by_sign["."] = (*sign_takers, self._take_directive, *last_takers)

    def read(self) -> list[TextBlock]:
        if self.has_markup:
            self._take_front_matter()
        while self.position < len(self.lines):
            line = self.lines[self.position]
            if not line.body:
                self.position += 1
                continue
            sign = line.body[0]
            takers = self.word_takers if sign.isalnum() else self.takers_by_sign.get(sign, self.sign_takers)
            for take in takers:
                if take(line):
                    break
        return self.text_blocks

    def _add(self, kind: BlockKind, start: int, end: int, indent: int = -1) -> None:
        if start < end:
            self.text_blocks.append(TextBlock(kind, start, end, self.path, indent=indent))

    def _peek(self, ahead: int = 1) -> TextLine | None:
        index = self.position + ahead
        return self.lines[index] if index < len(self.lines) else None

    def _take_while(self, belongs: Callable[[TextLine], bool]) -> Iterator[TextLine]:
        """The following lines as long as they belong; moves `position` after them."""
        while self.position < len(self.lines) and belongs(self.lines[self.position]):
            self.position += 1
            yield self.lines[self.position - 1]

    # front matter and fields

    def _take_front_matter(self) -> None:
        first = self.lines[0].body
        if first not in ("---", "+++") or self.lines[0].text.lstrip("\ufeff") != first:
            return
        for index in range(1, min(len(self.lines), FRONT_MATTER_LINES)):
            if self.lines[index].body in (first, "..."):
                self._add_fields(self.lines[1:index])
                self.position = index + 1
                return

    def _add_fields(self, lines: list[TextLine]) -> None:
        self._add_entries("field", lines)

    def _add_entries(self, kind: BlockKind, lines: list[TextLine]) -> None:
        """Each key with its value is a block; indented lines and `- ` lines continue the value above."""
        start = end = -1
        for line in lines:
            if not line.body:
                continue
            if start >= 0 and (line.text[0] in " \t" or line.body.startswith(("- ", "#"))):
                end = line.end
                continue
            if start >= 0:
                self._add(kind, start, end)
            start, end = line.start, line.end
        if start >= 0:
            self._add(kind, start, end)

    def _take_fields(self, line: TextLine) -> bool:
        if not self.header:
            return False
        end = self.position
        while end < len(self.lines) and self.lines[end].body:
            end += 1
        group = self.lines[self.position : end]
        if not is_header(group):
            return False
        self._add_fields(group)
        self.position = end
        return True

    # headings

    def _take_atx(self, line: TextLine) -> bool:
        match = shape.ATX.match(line.body) if line.body[0] == "#" and len(line.body) <= MAX_HEADING_CHARS else None
        if match is None:
            return False
        title = match[2] or ""
        if title:
            start = line.text.index(title, len(match[1])) + line.start
            self._add_heading(len(match[1]), title, start)
        self.position += 1
        return True

    def _take_underlined(self, line: TextLine) -> bool:
        below, second = self._peek(), self._peek(2)
        if below is None or not below.body:
            return False
        if shape.is_underline(below, line):
            self._add_heading(self._level(below.body[0]), line.body, line.start + line.text.index(line.body))
            self.position += 2
            return True
        if (
            shape.UNDERLINE.match(line.body)
            and second is not None
            and second.body == line.body
            and shape.has_word(below.body)
        ):
            start = below.start + below.text.index(below.body)
            self._add_heading(self._level(line.body[0] * 2), below.body, start)
            self.position += 3
            return True
        return False

    def _level(self, style: str) -> int:
        """The level of an underline: styles nest in the order in which they first appear."""
        if style not in self.styles:
            self.styles.append(style)
        return self.styles.index(style) + 1

    def _add_heading(self, level: int, title: str, start: int) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.path = tuple(name for _, name in self.headings)
        self._add("heading", start, start + len(title))
        self.headings.append((level, title[:200]))
        self.path = tuple(name for _, name in self.headings)
        self.list_indent = -1
        self.titles += 1
        if self.titles > 1:
            self.header = False

    def _take_title(self, line: TextLine) -> bool:
        """The first line is a title if a much longer line follows that begins a new sentence."""
        below = self._peek()
        if self.text_blocks or below is None or len(line.body) > MAX_TITLE_CHARS or line.body[-1] in ".,;:!?。，；：":
            return False
        if len(below.body) < max(80, 1.5 * len(line.body)) or not (below.body[0].isupper() or below.body[0].isdigit()):
            return False
        self._add_heading(1, line.body, line.start + line.text.index(line.body))
        self.position += 1
        return True

    # code

    def _take_fence(self, line: TextLine) -> bool:
        match = shape.FENCE.match(line.body) if line.body[0] in "`~" else None
        if match is None:
            return False
        fence = match[1]
        self.position += 1
        inside = list(self._take_while(lambda other: not shape.closes_fence(other, fence)))
        self.position += 1
        if inside:
            self._add("code", inside[0].start, inside[-1].end, line.indent)
        self.header = False
        return True

    def _take_comment(self, line: TextLine) -> bool:
        """A comment at the start of a line is invisible and not a passage; an unclosed one is text."""
        if self.comment_unclosed or not line.body.startswith("<!--"):
            return False
        for index in range(self.position, len(self.lines)):
            if "-->" in self.lines[index].body:
                break
        else:
            self.comment_unclosed = True
            return False
        last = self.lines[index]
        self.position = index + 1
        rest_start = last.start + last.text.index("-->") + 3
        self._add("paragraph", rest_start, last.end)
        return True

    def _take_directive(self, line: TextLine) -> bool:
        match = shape.DIRECTIVE.match(line.body) if line.body[0] == "." else None
        if match is None:
            return False
        if match[1] in shape.CONTENTS_DIRECTIVES:
            self.position += 1
            inside = list(self._take_while(lambda other: not other.body or other.indent > line.indent))
            self._add("navigation", line.start, inside[-1].end if inside else line.end)
            return True
        self.literal = match[1] in shape.CODE_DIRECTIVES
        if not self.literal:
            return False
        self.position += 1
        return True

    def _take_indented(self, line: TextLine) -> bool:
        indent = line.indent
        literal, self.literal = self.literal, False
        if indent < (1 if literal else 4) or (0 <= self.list_indent < indent and not literal):
            return False
        if not literal and not shape.CODE_SIGNS.search(line.body[:MAX_TITLE_CHARS]):
            return False
        least = min(indent, 4)
        inside = list(self._take_while(lambda other: not other.body or other.indent >= least))
        self._add("code", inside[0].start, inside[-1].end)
        return True

    # contents, records

    def _take_leaders(self, line: TextLine) -> bool:
        """Lines of a printed table of contents."""
        if not shape.is_leader(line.body):
            return False
        inside = list(self._take_while(lambda other: bool(other.body) and shape.is_leader(other.body)))
        self._add("navigation", inside[0].start, inside[-1].end)
        return True

    def _take_records(self, line: TextLine) -> bool:
        """Lines of a key and a value, each a block with the indented lines below it.

        Prose may have two such lines in a row by chance, but not in a paragraph of nothing else. A short line above
        them, their subject, stays a paragraph.
        """
        end, keys = record_run(self.lines, self.position)
        if not keys and self._is_short(line):
            self._add_one_line_paragraph(line)
            return True
        is_complete = end == len(self.lines) or not self._continues(self.lines[end])
        if keys < (MIN_RECORDS if is_complete else MIN_RECORDS_BEFORE_OTHERS):
            return False
        self._add_entries("record", self.lines[self.position : end])
        self.position = end
        self.header = False
        return True

    def _is_short(self, line: TextLine) -> bool:
        """True if a line is a name above records."""
        below = self._peek()
        if (
            len(line.body) > shape.LONG_VALUE
            or line.body[-1] in ".,;!?。，；！？"
            or below is None
            or not below.body
            or line.indent > below.indent
        ):
            return False
        end, keys = record_run(self.lines, self.position + 1)
        return keys >= MIN_RECORDS and (end == len(self.lines) or not self._continues(self.lines[end]))

    def _add_one_line_paragraph(self, line: TextLine) -> None:
        self.position += 1
        self.header = False
        self._add("paragraph", line.start, line.end)

    # tables, lists, paragraphs

    def _take_lone(self, line: TextLine) -> bool:
        """A line of words with nothing below it: all other methods would leave it to `_take_paragraph`."""
        below = self._peek()
        if self.header or not self.text_blocks or (below is not None and below.body) or not shape.LONE.match(line.text):
            return False
        self.list_indent, self.literal = -1, False
        self._add_one_line_paragraph(line)
        return True

    def _take_table(self, line: TextLine) -> bool:
        if shape.SIMPLE_TABLE.match(line.body):
            self.position += 1
            for row in self._take_while(lambda other: bool(other.body)):
                if shape.has_word(row.body):
                    self._add("row", row.start, row.end)
            return True
        if shape.DECORATION.match(line.body):
            self.position += 1
            return True
        if line.body[0] != "|" or line.body.count("|") < 2:
            return False
        self._add("row", line.start, line.end)
        self.position += 1
        return True

    def _take_item(self, line: TextLine) -> bool:
        bullet = shape.BULLET.match(line.body)
        if bullet is None and shape.NUMBERED.match(line.body) is None:
            return False
        self.list_indent = line.indent
        bullet_length = bullet.end() if bullet else 0
        start = line.start + line.text.index(line.body) + bullet_length
        field = self.header and shape.ITEM_FIELD.match(line.body, bullet_length)
        if not field:
            self.header = self.header and len(line.body) <= shape.LONG_VALUE
        self.position += 1
        end = line.end
        while self.position < len(self.lines) and self._continues_item(self.lines[self.position]):
            end = self.lines[self.position].end
            self.position += 1
        self._add("field" if field and len(field["key"]) <= shape.LONG_KEY else "item", start, end)
        return True

    def _continues_item(self, line: TextLine) -> bool:
        return self._continues(line) and not shape.NUMBERED.match(line.body)

    def _continues(self, line: TextLine) -> bool:
        """True if a line continues the paragraph or item above it."""
        body = line.body
        if not body:
            return False
        first = body[0]
        if first in "-*+•‣◦" and shape.BULLET.match(body):
            return False
        if first == "|" and body.count("|") > 1:
            return False
        if not self.has_markup:
            return True
        if first == "#":
            return len(body) > MAX_HEADING_CHARS or shape.ATX.match(body) is None
        return first not in "`~" or shape.FENCE.match(body) is None

    def _take_paragraph(self, line: TextLine) -> bool:
        is_entry = DATED_ENTRY.match(line.body) is not None
        self.position += 1
        while self.position < len(self.lines) and self._continues(self.lines[self.position]):
            if is_entry and DATED_ENTRY.match(self.lines[self.position].body):
                break
            self.position += 1
        last = self.lines[self.position - 1]
        if line.indent <= self.list_indent or self.list_indent < 0:
            self.list_indent = -1
        self.header = self.header and line.body.startswith(("..", ">", "!["))
        self.literal = self.literal or (self.has_markup and last.body.endswith("::"))
        self._add("paragraph", line.start, last.end)
        return True
