"""Passages: blocks cut to a size that a model can cite and a reader can check, each with the context it needs.

The *label* is the topic of a passage: the name in a list of definitions, for everything said about it, or the header
row of a table. The *lead* is the sentence before a list, a table or code that says what those are.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from assay.core.lazy import regex
from assay.core.sources import MAX_PASSAGE_CHARS, BlockKind, PassageSpan
from assay.core.text import sentences
from assay.evidence.segment.blocks import TextBlock
from assay.evidence.segment.lines import BULLET, ENDING, NUMBERED

MAX_LABEL_CHARS = 300
MAX_TERM_CHARS = 120
TERM_WORDS = 8
NAME_WORDS = 12
"""The most words of a line that names what is below it, such as a caption."""
NO_TERM = ("..", ":", ">", "[", "http")
WRAPPED_LINE_CHARS = 60
"""A line that ends although the next word would have fitted into so many code points ends on purpose."""
MAX_INDENT_CHARS = 200
"""White space before a line that is examined."""

_ENDS = (".", "!", "?", "。", "！", "？", "…", "؟", "।")
_KEYED = regex(
    r"(?P<mark>\*\*|__|``?)(?P<marked>[^*_`\n]{1,120})(?P=mark)[)\]]?[ ]*(?::|：|—|–|-)?(?=\s|$)"
    r"|(?P<plain>[^\W_][^:：|.!?\n]{0,60}?)(?::|：)(?=\s|$)"
)
"""The beginning of an item that names what it describes: `**Name**: …`, `--option`, `Key: …`."""
_MARKED = regex(r"[:：*_`]")
"""A one-line item without any of these names nothing."""
_AT_ONCE = regex(r"(?:\A|\n)[-*+] ")
"""A bullet at the beginning of a line."""
_SENTENCE = regex(r"[.!?。！？؟।][\"'”’)\]]*\s+(?=\S)")
_DELIMITER = regex(r"[-=─━]{2}|:-|-:")
_STRONG = regex("[=━]{2}")
_KEY_CELL = regex(r"\|\s*[^|\n]{1,80}[:：]\s*\|")
"""A first cell that is the key of its row: such a table has no header, whatever is drawn."""
_BLANK = regex(r"\n[ \t]*\n|\r[ \t]*\r|\r\n[ \t]*\r\n")

LED_KINDS: frozenset[BlockKind] = frozenset(("item", "row", "code", "record"))


def add_context(text: str, blocks: Sequence[TextBlock]) -> list[TextBlock]:
    """The blocks with their labels, terms and leads."""
    return list(_Context(text).read(blocks))


def _with_context(block: TextBlock, label: str, term: str, lead: str) -> TextBlock:
    """A block with its context; most have none, and are not copied."""
    if not (label or term or lead):
        return block
    return TextBlock(
        block.kind, block.start, block.end, block.heading, block.page, label, term, lead, indent=block.indent
    )


class _Context:
    """Reads blocks in order; `above` are the items that contain further ones, with their indent and term."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.above: list[tuple[int, str]] = []
        self.lead = ""
        self.head = ""
        self.last: TextBlock | None = None

    def read(self, blocks: Sequence[TextBlock]) -> Iterator[TextBlock]:
        for index, block in enumerate(blocks):
            after = blocks[index + 1] if index + 1 < len(blocks) else None
            yield self._add_context(block, after)
            self.last = block

    def _add_context(self, block: TextBlock, after: TextBlock | None) -> TextBlock:
        if block.kind in ("heading", "navigation", "field"):
            self.above, self.lead, self.head = [], "", ""
            return block
        if block.kind == "row":
            return self._row_with_header(block, after)
        indent = self._indent(block)
        while self.above and self.above[-1][0] >= indent:
            self.above.pop()
        label = self.above[-1][1] if self.above else ""
        term = self._find_term(block) if block.kind in ("item", "paragraph") else ""
        lead = self._find_lead(block, after)
        if block.kind == "item" or (term and block.kind == "paragraph"):
            self.above.append((indent, term or label))
        return _with_context(block, label, term, lead)

    # the lead

    def _find_lead(self, block: TextBlock, after: TextBlock | None) -> str:
        """The lead of a block. A paragraph may be the lead of what follows, and is only examined for that."""
        last = self.last
        if block.kind == "paragraph":
            self.lead = self._last_sentence(block) if after is not None and after.kind in LED_KINDS else ""
            return ""
        if block.kind not in LED_KINDS or last is None or last.heading != block.heading:
            self.lead = ""
            return ""
        if last.kind == "paragraph" and block.kind != "code" and not self._introduces():
            self.lead = ""
        elif last.kind == "item" and block.kind == "code":
            return self._last_sentence(last)
        elif last.kind not in ("paragraph", block.kind) and not (last.kind == "code" and self.above):
            self.lead = ""
        return self.lead

    def _introduces(self) -> bool:
        """True if the sentence before introduces a list or a table: it ends with a colon, or is not a sentence."""
        is_name = len(self.lead.split()) <= NAME_WORDS and not self.lead.endswith(_ENDS) and ": " not in self.lead
        return bool(self.lead) and (self.lead[-1] in ":：" or is_name)

    def _last_sentence(self, block: TextBlock) -> str:
        tail = self.text[max(block.start, block.end - MAX_LABEL_CHARS) : block.end]
        breaks = [match.end() for match in _SENTENCE.finditer(tail)]
        if not breaks and block.end - block.start > MAX_LABEL_CHARS:
            return ""
        return " ".join(tail[breaks[-1] if breaks else 0 :].split()).removesuffix("::").rstrip() + (
            ":" if tail.rstrip().endswith("::") else ""
        )

    # tables

    def _row_with_header(self, block: TextBlock, after: TextBlock | None) -> TextBlock:
        """A row with the header of its table: the first row, if a line of dashes or the like is below it."""
        last = self.last
        if last is None or last.kind != "row" or self._is_separated(last, block):
            self.head = ""
            lead = self._find_lead(block, after)
            if after is not None and after.kind == "row" and self._is_header_row(block, after):
                self.head = " ".join(self.text[block.start : min(block.end, block.start + MAX_LABEL_CHARS)].split())
            return _with_context(block, "", "", lead)
        return _with_context(block, self.head, "", self._find_lead(block, after))

    def _is_separated(self, last: TextBlock, block: TextBlock) -> bool:
        gap = self.text[last.end : min(block.start, last.end + MAX_LABEL_CHARS)]
        return _BLANK.search(gap) is not None or last.heading != block.heading

    def _is_header_row(self, first: TextBlock, second: TextBlock) -> bool:
        """True if the line between two rows makes the first a header; in a table drawn as a grid it must be of `=`."""
        if self._is_separated(first, second):
            return False
        before = self.text[max(0, first.start - MAX_LABEL_CHARS) : first.start].rstrip().rpartition("\n")[2]
        gap = self.text[first.end : min(second.start, first.end + 2 * MAX_LABEL_CHARS)]
        grid = before.lstrip().startswith("+-")
        has_rule = (_STRONG if grid else _DELIMITER).search(gap) is not None
        return has_rule and not _KEY_CELL.match(self.text, first.start, first.end)

    # definitions

    def _indent(self, block: TextBlock) -> int:
        """White space before the block's line; for an item before its bullet."""
        if block.indent >= 0:
            return block.indent
        if (not block.start or self.text[block.start - 1] in "\r\n") and not self.text[block.start].isspace():
            return 0
        if _AT_ONCE.fullmatch(self.text, max(0, block.start - 3), block.start):
            return 0
        start = max(0, block.start - MAX_INDENT_CHARS)
        before = self.text[start : block.start]
        line = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
        first = self.text[block.start : block.start + MAX_INDENT_CHARS]
        if not line.strip():
            line += first
        return len(line[: len(line) - len(line.lstrip())].expandtabs(4))

    def _find_term(self, block: TextBlock) -> str:
        """The name a block begins with and describes; "" if it describes none, as in a one-line paragraph."""
        if block.kind == "paragraph" and self.text.find("\n", block.start, block.end) < 0:
            return ""
        beginning = self.text[block.start : min(block.end, block.start + 4 * MAX_TERM_CHARS)]
        if "\n" not in beginning and not _MARKED.search(beginning):
            return ""
        first, broken, following = beginning.partition("\n")
        is_described = broken and (following[:1] in (" ", "\t") or following.startswith(": "))
        if not is_described and block.kind != "item":
            return ""
        name = first.strip()
        bullet = BULLET.match(name) or NUMBERED.match(name)
        name = name[bullet.end() :] if bullet else name
        if is_described and self._is_term(name, following):
            return name
        match = _KEYED.match(name) if block.kind == "item" else None
        term = (match["marked"] or match["plain"]).strip() if match else ""
        return term if len(term.split()) <= TERM_WORDS else ""

    def _is_term(self, name: str, following: str) -> bool:
        """True if a line ended on purpose: the next word would have fitted into it."""
        word = following.split(maxsplit=1)[:1]
        below = [len(line.strip()) for line in following.splitlines()]
        width = max(below) if len(below) > 1 else WRAPPED_LINE_CHARS - 1
        fits = (
            bool(word)
            and len(name) + 1 + len(word[0]) <= min(width, WRAPPED_LINE_CHARS)
            and not name.startswith(NO_TERM)
        )
        short = len(name) <= MAX_TERM_CHARS and len(name.split()) <= TERM_WORDS
        return fits and short and not name.endswith((*_ENDS, ",", ";", "-", "|")) and any(map(str.isalpha, name))


# Blocks cut to size.

FULL_PASSAGE_CHARS = 300
"""A passage this long takes no further sentence."""
MAX_SENTENCES = 3
WINDOW_CHARS = 50_000
"""Code points in which sentences are looked for at a time: a page may be one line of megabytes."""
BREAKS = regex(r"[.!?…。！？؟۔।](?:(?<=[。！？؟۔।])|[\"'”’)\]]*\s)")
"""Every place where a sentence may end inside a block."""
WHOLE_KINDS = frozenset(("row", "field", "record", "heading", "navigation"))
"""Kinds of blocks that are one passage each, unless they are too long."""
Range = tuple[int, int]


def spans(text: str, blocks: Iterable[TextBlock]) -> tuple[PassageSpan, ...]:
    """The passages of `blocks`, with byte offsets."""
    passages: list[PassageSpan] = []
    ascii_only = text.isascii()
    point = byte = number = 0
    for block in blocks:
        kind, heading, page, label, lead = block.kind, block.heading, block.page, block.label, block.lead
        for start, end in _split_block(text, block):
            piece = text[start:end]
            if ascii_only:
                first, last = start, end
            else:
                first = byte + len(text[point:start].encode())
                last = first + len(piece.encode())
            point, byte = end, last
            passages.append(PassageSpan(number, first, last, piece, kind, heading, page, label, lead))
            number, label = number + 1, block.term or label
    return tuple(passages)


def _split_block(text: str, block: TextBlock) -> Iterable[Range]:
    start, end = block.start, block.end
    if 0 < end - start <= FULL_PASSAGE_CHARS and not (text[start].isspace() or text[end - 1].isspace()):
        kind = block.kind
        if kind in WHOLE_KINDS or (kind != "code" and _is_one_passage(text, block)):
            return ((start, end),)
    return _cut_block(text, block)


def _cut_block(text: str, block: TextBlock) -> Iterator[Range]:
    code = block.kind == "code"
    for start, end in _pieces(text, block):
        ranges = ((start, end),) if end - start <= MAX_PASSAGE_CHARS else _limit_pieces(text, start, end)
        for low, high in ranges:
            trimmed = _trim(text, low, high, lines=code)
            if trimmed[0] < trimmed[1]:
                yield trimmed


def _pieces(text: str, block: TextBlock) -> Iterable[Range]:
    if block.kind == "code":
        return _split_code(text, block.start, block.end)
    if block.kind in WHOLE_KINDS or _is_one_passage(text, block):
        return ((block.start, block.end),)
    return _split_prose(text, block.start, block.end)


def _is_one_passage(text: str, block: TextBlock) -> bool:
    """True if `_split_prose` would make one passage, without looking for sentences, which costs ten times more."""
    if block.end - block.start > FULL_PASSAGE_CHARS:
        return False
    return len(BREAKS.findall(text, block.start, block.end)) < MAX_SENTENCES


def _split_prose(text: str, start: int, end: int) -> Iterator[Range]:
    """One to three sentences at a time."""
    while end - start > WINDOW_CHARS:
        cut = text.rfind(" ", start + WINDOW_CHARS // 2, start + WINDOW_CHARS) + 1 or start + WINDOW_CHARS
        while cut > start + WINDOW_CHARS // 2 and _is_joined(text[cut - 1], text[cut]):
            cut -= 1
        yield from _group_sentences(text, start, cut)
        start = cut
    yield from _group_sentences(text, start, end)


def _group_sentences(text: str, start: int, end: int) -> Iterator[Range]:
    first = last = -1
    count = 0
    for sentence_start, sentence_end in sentences(text[start:end]):
        low, high = sentence_start + start, sentence_end + start
        full = count == MAX_SENTENCES or (count and high - first > FULL_PASSAGE_CHARS)
        if full:
            yield first, last
            count = 0
        if not count:
            first = low
        last = high
        count += 1
    if count:
        yield first, last


def _split_code(text: str, start: int, end: int) -> Iterator[Range]:
    """Groups of whole lines up to `MAX_PASSAGE_CHARS`; a blank line ends a group of half that size."""
    first = start
    last = start
    for low, high in _line_ranges(text, start, end):
        blank = not text[low:high].strip()
        if last > first and (high - first > MAX_PASSAGE_CHARS or (blank and last - first > MAX_PASSAGE_CHARS // 2)):
            yield first, last
            first = low
        last = high
    if last > first:
        yield first, last


def _line_ranges(text: str, start: int, end: int) -> Iterator[Range]:
    low = start
    for match in ENDING.finditer(text, start, end):
        yield low, match.start()
        low = match.end()
    yield low, end


def _limit_pieces(text: str, start: int, end: int) -> Iterator[Range]:
    """Pieces of at most `MAX_PASSAGE_CHARS`, cut after a clause, else between words, else between characters."""
    while end - start > MAX_PASSAGE_CHARS:
        cut = _cut_point(text, start)
        yield start, cut
        start = cut
    if start < end:
        yield start, end


def _cut_point(text: str, start: int) -> int:
    window = text[start : start + MAX_PASSAGE_CHARS]
    for marks in ("\n", "；;。", "，、,", " \t"):
        best = max(map(window.rfind, marks))
        if best >= MAX_PASSAGE_CHARS // 2:
            return start + best + 1
    cut = start + MAX_PASSAGE_CHARS
    while cut > start + MAX_PASSAGE_CHARS // 2 and _is_joined(text[cut - 1], text[cut]):
        cut -= 1
    return cut


def _is_joined(first: str, second: str) -> bool:
    """True if two characters are displayed as one: combining marks, joiners, variation selectors, flags."""
    return (
        unicodedata.category(second) in ("Mn", "Me", "Mc", "Sk")
        or second in "\u200d\ufe0f"
        or first == "\u200d"
        or "\U0001f1e6" <= second <= "\U0001f1ff"
    )


def _trim(text: str, start: int, end: int, *, lines: bool) -> Range:
    """The range without surrounding white space; code keeps the indent of its first line."""
    if start < end and not (text[start].isspace() or text[end - 1].isspace()):
        return start, end
    first = start
    piece = text[start:end]
    end = start + len(piece.rstrip())
    start = end - len(piece[: end - start].lstrip())
    if lines and start > first:
        start = max(text.rfind("\n", first, start), text.rfind("\r", first, start), first - 1) + 1
    return start, end
