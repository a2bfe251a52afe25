"""Header fields of documents: what each says of itself above its text, and what there is of them in a collection."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property

import msgspec

from assay.core.clean import one_line
from assay.core.sources import Document, Passage, PassageSpan
from assay.core.text import words
from assay.evidence.segment import segment
from assay.verify.evidence import field_of

HEADS = (1_500, 6_000, 40_000)
"""Bytes of a text in which its header is looked for: more where it has not ended before."""
NO_HEADER = ("rows", "code")
"""How texts are read which have none: their first lines are rows, or code."""
BEFORE, MOST = 2, 40
"""Passages which may stand above a header (a title), and the fields it has at most."""
KEYS, VALUES, DISTINCT = 30, 40, 80
"""Keys and values told to a model. Of a key with more different values than `DISTINCT` none are listed, unless the
commonest are those of half the documents."""
SERIES_LETTERS = 8
_EMPTY = re.compile(r"\s*(?:[-*+]\s+)?[^\W\d_][^:.!?\n]{0,60}:\W*")
"""A key without a value."""
_SENTENCE = re.compile(r"[.!?;,]\s")


class HeaderField(msgspec.Struct, frozen=True):
    """A header field: its key as written and as words joined by spaces, its value on one line, its passage."""

    key: str
    name: str
    value: str
    span: PassageSpan


class Header:
    """The header of a document; `fields` are empty where it has none."""

    def __init__(self, document: Document, fields: Sequence[HeaderField]) -> None:
        self.document, self.fields = document, tuple(fields)

    def field(self, *names: str) -> HeaderField | None:
        """The first field with one of these names."""
        return next((field for field in self.fields if field.name in names), None)

    @cached_property
    def number(self) -> HeaderField | None:
        """The field which numbers the document in its series: `PEP: 6`."""
        short = (f for f in self.fields[:6] if len(f.key) <= SERIES_LETTERS and f.key.isalpha())
        return next((field for field in short if field.value.isdecimal() and len(field.value) <= 6), None)

    @cached_property
    def naming(self) -> tuple[HeaderField, ...]:
        """The fields which say what the document is called."""
        return tuple(field for field in (self.number, self.field("title", "name")) if field is not None)

    @cached_property
    def called(self) -> str:
        """What the document is called: `PEP 6 (Bug Fix Releases)`, else its title or name."""
        title = self.field("title", "name")
        name = one_line(title.value if title else self.document.title or self.document.name or self.document.url)
        if self.number is None:
            return name
        digits = self.number.value.lstrip("0") or "0"
        series = f"{self.number.key.upper()}-{digits}" if self.number.key.islower() else f"{self.number.key} {digits}"
        return f"{series} ({name})"


class KeyCount(msgspec.Struct, frozen=True, kw_only=True):
    """A key of header fields: how many documents have it, and how many have each value, the commonest first."""

    key: str
    documents: int
    values: dict[str, int] = {}
    different: int = 0


def read_header(document: Document, text: bytes) -> Header:
    """The header of a document: the fields above its first prose, below a heading or two."""
    fields: list[HeaderField] = []
    for size in HEADS if document.syntax not in NO_HEADER else ():
        fields, ended = _fields(text, _first(text[:size], len(text) > size, document))
        if ended or len(text) <= size:
            break
    return Header(document, fields)


def _fields(text: bytes, spans: Sequence[PassageSpan]) -> tuple[list[HeaderField], bool]:
    """The fields among the first passages, and whether the header ended before they did."""
    fields: dict[str, HeaderField] = {}
    for place, span in enumerate(spans):
        field = _field(span)
        if field is not None:
            fields.setdefault(field.name, field)
        elif _goes_on(text, span) and fields:
            continue
        elif fields or place >= BEFORE or span.kind != "heading":
            return list(fields.values()), True
        if len(fields) == MOST:
            return list(fields.values()), True
    return list(fields.values()), False


def _first(text: bytes, more: bool, document: Document) -> tuple[PassageSpan, ...]:
    """The passages of a text's beginning; where there is more it is cut between two blocks, so they are the whole's."""
    head = text.decode(errors="ignore")
    if more:
        head = head[: max(head.rfind("\n\n"), head.rfind("\n\f"), 0)]
    return segment(head, document.syntax)


def _goes_on(text: bytes, span: PassageSpan) -> bool:
    """Whether a header goes on after a passage which is no field: a key without a value, or more of a long value."""
    line = text.rfind(b"\n", 0, span.start) + 1
    indented = text[line : line + 1].isspace() and not text[:line].endswith((b"\n\n", b"\n\r\n"))
    return indented or _EMPTY.fullmatch(span.text) is not None


def _field(span: PassageSpan) -> HeaderField | None:
    read = field_of(_passage(span))
    if read is None:
        return None
    key = span.text.partition(":")[0].strip(" \t-*+_:")
    if _SENTENCE.search(key):
        return None
    return HeaderField(key, " ".join(read.name), one_line(read.value).strip("\"'*"), span)


def _passage(span: PassageSpan) -> Passage:
    """The span as a passage of no source: only to be read."""
    return Passage(
        id="S0.0",
        source="S0",
        document_sha256="",
        start=span.start,
        end=span.end,
        text=span.text,
        text_sha256="",
    )


def counted(headers: Iterable[Header]) -> tuple[KeyCount, ...]:
    """What keys and values there are, the commonest keys first; values of keys which sort documents are listed."""
    keys: Counter[str] = Counter()
    written: dict[str, str] = {}
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for header in headers:
        for field in header.fields:
            keys[field.name] += 1
            written.setdefault(field.name, field.key)
            values[field.name][field.value] += 1
    return tuple(_counted(written[name], count, values[name]) for name, count in keys.most_common(KEYS))


def _counted(key: str, documents: int, values: Counter[str]) -> KeyCount:
    commonest = dict(values.most_common(VALUES))
    sorting = len(values) <= DISTINCT or 2 * sum(commonest.values()) >= documents
    return KeyCount(key=key, documents=documents, values=commonest if sorting else {}, different=len(values))


def parts(value: str) -> tuple[tuple[str, ...], ...]:
    """A value, and each element of one which is a list, as words."""
    whole = tuple(words(value))
    pieces = [tuple(words(piece)) for piece in value.replace(";", ",").split(",")]
    return tuple(dict.fromkeys([whole, *(piece for piece in pieces if piece)]))
