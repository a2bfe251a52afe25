"""Reads documents back: their bytes, their passages, a passage in its context; many documents in batches."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

import msgspec

from assay.core.claims import Claim
from assay.core.errors import StoreError, UnknownName
from assay.core.ports import Blobs, Library
from assay.core.sources import Document, Passage, PassageSpan, Source, Syntax
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.core.tables.records import record_tables
from assay.evidence.segment import segment

BATCH_BYTES = 250_000
"""Bytes of text that make a batch: a tenth of a second's work."""
AHEAD_BATCHES = 5
"""Batches in progress before the first of them is needed."""
Spans = tuple[PassageSpan, ...]
Texts = list[tuple[bytes, Syntax]]
BeginCutting = Callable[[Texts], Callable[[], Sequence[Spans]]]
"""Begins to cut texts in UTF-8; the result waits for their passages."""


class _Batch:
    """Documents whose texts are cut together; unreadable ones are in `failures`, by their place."""

    def __init__(self) -> None:
        self.texts: Texts = []
        self.failures: dict[int, StoreError] = {}
        self.count = self.size = 0

    def add(self, document: Document, text: Callable[[Document], bytes]) -> None:
        try:
            data = text(document)
        except StoreError as error:
            self.failures[self.count] = error
        else:
            self.texts.append((data, document.syntax))
            self.size += len(data)
        self.count += 1

    def outcomes(self, spans: Sequence[Spans]) -> Iterator[Spans | StoreError]:
        remaining = iter(spans)
        for index in range(self.count):
            yield self.failures[index] if index in self.failures else next(remaining)


def cut_in_order(
    documents: Iterable[Document], text: Callable[[Document], bytes], begin: BeginCutting
) -> Iterator[Spans | StoreError]:
    """Yield the passages of each document, or why its text cannot be read; works ahead of the consumer."""
    under_way: deque[tuple[_Batch, Callable[[], Sequence[Spans]]]] = deque()
    for batch in _batches(documents, text):
        under_way.append((batch, begin(batch.texts)))
        if len(under_way) > AHEAD_BATCHES:
            first, wait = under_way.popleft()
            yield from first.outcomes(wait())
    for batch, wait in under_way:
        yield from batch.outcomes(wait())


def _batches(documents: Iterable[Document], text: Callable[[Document], bytes]) -> Iterator[_Batch]:
    batch = _Batch()
    for document in documents:
        batch.add(document, text)
        if batch.size >= BATCH_BYTES:
            yield batch
            batch = _Batch()
    if batch.count:
        yield batch


T = TypeVar("T")
TEXTS_BYTES, SPANS_BYTES, TABLES_BYTES = 16_000_000, 48_000_000, 32_000_000
"""The most bytes cached of each; the last used value is kept, however large."""
Cutter = Callable[[bytes, Syntax], tuple[PassageSpan, ...]]
"""Cuts a text in UTF-8 into passages; blocking."""
SPAN_BYTES = 300
"""Bytes of a passage besides its text."""


def segment_utf8(text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
    """The passages of a text in UTF-8."""
    return segment(text.decode(), syntax)


def cut_all(texts: Texts) -> list[tuple[PassageSpan, ...]]:
    """The passages of each of several texts."""
    return [segment_utf8(text, syntax) for text, syntax in texts]


class DocumentReader:
    """Texts and passages of documents, the latest cached; thread-safe.

    `texts` and `lists` limit the number of cached documents, or fewer if they are large. `cut` makes the passages: the
    segmenter, here or in another process; `begin` those of many texts, which may be cut while others are used.
    """

    def __init__(
        self,
        blobs: Blobs,
        *,
        texts: int = 64,
        lists: int = 256,
        cut: Cutter = segment_utf8,
        begin: BeginCutting = lambda texts: lambda: cut_all(texts),
    ) -> None:
        self._blobs, self._cut, self._begin = blobs, cut, begin
        self._texts: _Cache[bytes] = _Cache(texts, TEXTS_BYTES, len)
        self._spans: _Cache[tuple[PassageSpan, ...]] = _Cache(lists, SPANS_BYTES, _spans_size)
        self._tables: _Cache[tuple[ReadTable, ...]] = _Cache(lists // 4, TABLES_BYTES, _tables_size)

    def text(self, document: Document) -> bytes:
        return self._texts.get(document.sha256, lambda: self._blobs.get(document.sha256))

    def spans(self, document: Document, text: bytes | None = None) -> tuple[PassageSpan, ...]:
        """The document's passages, in order; `text` is its text as UTF-8, if the caller has it.

        Raises:
            StoreError: its text is missing or damaged.
        """
        key = f"{document.sha256}/{document.syntax}"
        return self._spans.get(key, lambda: self._cut(self.text(document) if text is None else text, document.syntax))

    def each_spans(self, documents: Iterable[Document]) -> Iterator[tuple[PassageSpan, ...] | StoreError]:
        """Yield the passages of many documents, in order, or why one cannot be read, without caching.

        Works ahead of the consumer.
        """
        return cut_in_order(documents, lambda document: self._blobs.get(document.sha256), self._begin)

    def tables(self, document: Document) -> tuple[ReadTable, ...]:
        """The document's tables, in order, then its lists of records; their cells refer to passages by ordinal.

        Raises:
            StoreError: its text is missing or damaged.
        """

        def load() -> tuple[ReadTable, ...]:
            pieces = [
                TablePiece(str(span.ordinal), span.text, span.start, span.heading) for span in self.spans(document)
            ]
            title_and_language = (document.title or document.name, document.language)
            return (*read_tables(pieces, *title_and_language), *record_tables(pieces, *title_and_language))

        return self._tables.get(f"{document.sha256}/{document.syntax}/{document.title}", load)


def passage_with_surroundings(
    reader: DocumentReader, document: Document, start: int, end: int, context_bytes: int = 300
) -> tuple[str, str, str]:
    """The text before bytes `start` to `end` of a document, those bytes, and the text after them.

    `context_bytes` is in bytes; a character or word that it would cut is left out.

    Raises:
        StoreError: the document's text is missing or damaged.
        ValueError: the range is outside the document, or cuts a character.
    """
    text = reader.text(document)
    if not 0 <= start <= end <= len(text):
        raise ValueError(f"bytes {start} to {end} are not in a document of {len(text)} bytes")
    before, after = surrounding_text(text, start, end, context_bytes)
    return before, text[start:end].decode(), after


def surrounding_text(text: bytes, start: int, end: int, context_bytes: int = 300) -> tuple[str, str]:
    """The text before and after bytes `start` to `end` of a document's text, as in `passage_with_surroundings`."""
    before = text[max(0, start - context_bytes) : start].decode(errors="ignore")
    after = text[end : end + context_bytes].decode(errors="ignore")
    if start > context_bytes:
        before = before[_first_break(before) :]
    if end + context_bytes < len(text):
        after = after[: len(after) - _first_break(after[::-1])]
    return before, after


def _first_break(text: str) -> int:
    """How much to leave out so that `text` begins at a white space; 0 if there is none near."""
    return next((index for index, char in enumerate(text[:40]) if char.isspace()), 0)


def _spans_size(spans: Sequence[PassageSpan]) -> int:
    return spans[-1].end - spans[0].start + SPAN_BYTES * len(spans) if spans else 0


def _tables_size(tables: Sequence[ReadTable]) -> int:
    """An upper bound for the bytes of tables: a row stores its own cells besides the columns'."""
    return sum(2 * sum(len(cell) + SPAN_BYTES for column in table.columns for cell in column) for table in tables)


class _Cache(Generic[T]):
    """The values used last: a limited number, and a limited number of bytes by `weigh`.

    Two threads may compute the same value; both get an equal one.
    """

    def __init__(self, size: int, max_bytes: int, weigh: Callable[[T], int]) -> None:
        self._size, self._max_bytes, self._weigh = size, max_bytes, weigh
        self._entries: OrderedDict[str, tuple[T, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: str, compute: Callable[[], T]) -> T:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key][0]
        value = compute()
        weight = self._weigh(value)
        with self._lock:
            self._bytes += weight - self._entries.pop(key, (value, 0))[1]
            self._entries[key] = value, weight
            while len(self._entries) > self._size or (self._bytes > self._max_bytes and len(self._entries) > 1):
                self._bytes -= self._entries.popitem(last=False)[1][1]
        return value


# A cited passage in its document, for a reader who wants to check.


class CitedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that a report cites, in its document.

    `before` and `after` are the text around it; `claims` are the sentences that rest on it, with their verdicts.
    """

    number: int
    source: Source
    passage: Passage
    before: str
    after: str
    claims: tuple[Claim, ...]


def cited_passage(
    library: Library, reader: DocumentReader, claims: Sequence[Claim], number: int, source: Source, passage: Passage
) -> CitedPassage:
    """The passage behind display number `number` of a report with these claims. Blocking.

    Raises:
        UnknownName: the library does not have its document.
        StoreError: the document's text is missing or damaged.
    """
    document = library.document(passage.document_sha256)
    if document is None:
        raise UnknownName("document", passage.document_sha256)
    before, _, after = passage_with_surroundings(reader, document, passage.start, passage.end)
    supported_claims = tuple(claim for claim in claims if passage.id in claim.passages)
    return CitedPassage(
        number=number, source=source, passage=passage, before=before, after=after, claims=supported_claims
    )
