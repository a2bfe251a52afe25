"""The index on disk: two tantivy indexes, one of whole documents and one of passages.

The document index is written last and so says how far both are; what the passage index has beyond it is left over from
a killed process and is removed first.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import tantivy

from assay.core.errors import IndexDamaged, SearchError
from assay.core.lazy import regex
from assay.core.lexicon import STEMMERS, UNSTEMMED, analysis_of, name_terms, terms
from assay.core.sources import BlockKind, Document, PassageSpan
from assay.search.shared_index import UNFOUND_KINDS

if TYPE_CHECKING:
    from filelock import FileLock

log = logging.getLogger(__name__)

INDEX_FORMAT = "local-4"
"""The folder's name; it changes with the schema or the analysis, so that an old index is left alone."""
WRITER_HEAP_BYTES = 64_000_000
"""Bytes a writer may buffer before it writes a segment."""
WHITESPACE = "whitespace"
MAX_HEADER_FIELDS = 12
"""Header fields stored with a document, for questions that name it."""
CONTENTS_ENTRY = regex(r"\[[^\]]*\]\(#[^)]*\)|\[[^\]]*\]: ?#\S*")
"""An entry of a table of contents: it says nothing itself and would rank high by its shortness."""
StoredSpan = tuple[int, int, int, str, BlockKind, tuple[str, ...], int, str, str]
"""A span as stored beside the index: cutting long documents again takes most of a search's time."""
_STORED = msgspec.msgpack.Decoder(StoredSpan)


def _documents_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_text_field("analysis", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("title", tokenizer_name=WHITESPACE, index_option="position")
    builder.add_text_field("name", tokenizer_name=WHITESPACE, index_option="position")
    builder.add_text_field("body", tokenizer_name=WHITESPACE, index_option="freq")
    builder.add_bytes_field("field", stored=True)
    builder.add_bytes_field("unfound", stored=True)
    builder.add_text_field("sha256", stored=True, tokenizer_name="raw", index_option="basic")
    return builder.build()


def _passages_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("row", indexed=True, fast=True)
    builder.add_text_field("text", tokenizer_name=WHITESPACE, index_option="freq")
    builder.add_bytes_field("span", stored=True)
    return builder.build()


DOCUMENTS_SCHEMA = _documents_schema()
PASSAGES_SCHEMA = _passages_schema()


class DocumentsDeleted(IndexDamaged):
    """The index knows documents, at these rows, that another machine has deleted since the question was asked."""

    def __init__(self, rows: Sequence[int]) -> None:
        super().__init__("it knows documents the library does not have")
        self.rows = rows


@contextmanager
def index_errors() -> Iterator[None]:
    """Wrap everything that touches index files.

    Raises:
        IndexDamaged: tantivy cannot read them; it says so with a ValueError, or panics, which is no `Exception`.
    """
    try:
        yield
    except ValueError as error:
        raise IndexDamaged(str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise IndexDamaged(str(error)) from error


@contextmanager
def index_write() -> Iterator[None]:
    """Wrap what adds to index files.

    Raises:
        OSError: they cannot be written, such as on a full disk; tantivy says so with a ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise OSError(str(error)) from error


class LocalIndex:
    """Both indexes, opened for reading; `path` None keeps them in memory. Use it inside `index_errors()`.

    Raises (all methods):
        OSError: the files cannot be read or written.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.documents = open_index(DOCUMENTS_SCHEMA, path and path / "documents")
        self.passages = open_index(PASSAGES_SCHEMA, path and path / "passages")
        self.reload()

    def reload(self) -> None:
        """Reload what has been committed since."""
        self.documents.reload()
        self.passages.reload()
        self.last_row = _last_row(self.documents)
        self.analyses = _analyses(self.documents)
        # until a merge, deleted documents count in the frequencies of words
        indexed = sum(self.documents.searcher().doc_freq("analysis", name) for name in self.analyses)
        self.has_deleted = indexed > self.documents.searcher().num_docs
        self.scopes: dict[frozenset[int], LocalIndex | None] = {}

    @property
    def exists(self) -> bool:
        """True if the files still exist: anybody may delete a derived index."""
        if self.path is None:
            return True
        return all((self.path / part / "meta.json").exists() for part in ("documents", "passages"))

    def hash_of(self, row: int) -> str:
        """The hash of the document at a row, "" if it is not in the index."""
        hits = self.documents.searcher().search(_rows_query(DOCUMENTS_SCHEMA, row, row), 1, count=False).hits
        return str(self.documents.searcher().doc(hits[0][1]).get_first("sha256")) if hits else ""

    def writer(self) -> IndexWriter:
        """The one writer; the caller holds the lock."""
        self.reload()
        return IndexWriter(self)


class IndexWriter:
    """Adds documents by ascending row; nothing is visible, or kept after a kill, before `commit`.

    Raises (add, commit):
        OSError: the files cannot be written.
    """

    def __init__(self, index: LocalIndex) -> None:
        self._index = index
        self._documents = index.documents.writer(WRITER_HEAP_BYTES, 1)
        self._passages = index.passages.writer(WRITER_HEAP_BYTES, 1)
        beyond = _rows_query(PASSAGES_SCHEMA, index.last_row + 1)
        if index.passages.searcher().search(beyond, 1, count=False).hits:
            self._passages.delete_documents_by_query(beyond)

    def add(self, row: int, document: Document, spans: Sequence[PassageSpan]) -> None:
        texts = indexed_texts(document, spans)
        with index_write():
            for span, text in texts.passages:
                entry = tantivy.Document()
                entry.add_unsigned("row", row)
                entry.add_bytes("span", pack(span))
                entry.add_text("text", text)
                self._passages.add_document(entry)
            self._add_document(row, document, texts)

    def renew(self, row: int, document: Document, spans: Sequence[PassageSpan]) -> None:
        """Index a document again under its name, if it is in the index; its passages do not contain it, and stay."""
        if row > self._index.last_row:
            return
        self._documents.delete_documents_by_query(_rows_query(DOCUMENTS_SCHEMA, row, row))
        with index_write():
            self._add_document(row, document, indexed_texts(document, spans))

    def forget(self, first: int, last: int | None = None) -> None:
        """Remove the documents from one row to another (None: the end), with their passages."""
        for schema, writer in ((DOCUMENTS_SCHEMA, self._documents), (PASSAGES_SCHEMA, self._passages)):
            writer.delete_documents_by_query(_rows_query(schema, first, last))

    def commit(self) -> None:
        """Make what was added visible and durable."""
        with index_write():
            self._passages.commit()
            self._documents.commit()

    def close(self) -> None:
        """Let merges finish and close the writers."""
        self._passages.wait_merging_threads()
        self._documents.wait_merging_threads()

    def _add_document(self, row: int, document: Document, texts: IndexedTexts) -> None:
        entry = tantivy.Document()
        entry.add_unsigned("row", row)
        entry.add_text("analysis", texts.analysis)
        entry.add_text("sha256", document.sha256)
        entry.add_text("title", texts.title)
        entry.add_text("name", texts.name)
        entry.add_text("body", texts.body)
        for span in texts.fields:
            entry.add_bytes("field", pack(span))
        for span in texts.unfound:
            entry.add_bytes("unfound", pack(span))
        self._documents.add_document(entry)


class IndexedTexts(msgspec.Struct, frozen=True, kw_only=True):
    """A document in the form for a word index: terms separated by spaces, of the whole and of each passage.

    Headings are found by the passages below them, navigation not at all: both count for the document.
    """

    analysis: str
    title: str
    name: str
    body: str
    fields: tuple[PassageSpan, ...]
    unfound: tuple[PassageSpan, ...]
    passages: tuple[tuple[PassageSpan, str], ...]


def indexed_texts(document: Document, spans: Sequence[PassageSpan]) -> IndexedTexts:
    """The terms of a document and its passages, and the header fields stored with it."""
    analysis = analysis_of(document.language)
    body: list[str] = []
    unfound: list[PassageSpan] = []
    passages: list[tuple[PassageSpan, str]] = []
    heading: tuple[str, ...] = ()
    above = ""
    for span in spans:
        text = " ".join(terms(span.text, analysis))
        body.append(text)
        if span.kind in UNFOUND_KINDS or CONTENTS_ENTRY.fullmatch(span.text):
            unfound.append(span)
            continue
        if span.heading != heading:
            heading = span.heading
            above = " ".join(terms(heading[-1], analysis)) if heading else ""
        passages.append((span, " ".join(filter(None, (above, *terms(context_text(span), analysis), text)))))
    return IndexedTexts(
        analysis=analysis,
        title=" ".join(name_terms(document.title, analysis)),
        name=" ".join(name_terms(f"{document.name} {document.url}", analysis)),
        body=" ".join(body),
        fields=tuple([span for span in spans if span.kind == "field"][:MAX_HEADER_FIELDS]),
        unfound=tuple(unfound),
        passages=tuple(passages),
    )


def context_text(span: PassageSpan) -> str:
    """Context by which a passage is found: its topic, and the sentence before code."""
    return f"{span.label} {span.lead}".strip() if span.kind == "code" else span.label


def pack(span: PassageSpan) -> bytes:
    """A span in the form stored in an index."""
    values = (span.ordinal, span.start, span.end, span.text, span.kind, span.heading, span.page)
    return msgspec.msgpack.encode((*values, span.label, span.lead))


def unpack(data: bytes) -> PassageSpan:
    """The span in a passage's `span` field.

    Raises:
        ValueError: the index is damaged.
    """
    return PassageSpan(*_STORED.decode(data))


def remove(path: Path) -> None:
    """Delete an index; readers that have it open are not disturbed."""
    shutil.rmtree(path, ignore_errors=True)


def open_index(schema: tantivy.Schema, path: Path | None) -> tantivy.Index:
    """An index in a folder, which is made if it is missing; in memory without one."""
    if path is None:
        index = tantivy.Index(schema)
    else:
        path.mkdir(parents=True, exist_ok=True)
        index = tantivy.Index(schema, str(path))
    index.register_tokenizer(WHITESPACE, tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader("manual")
    return index


def _analyses(index: tantivy.Index) -> tuple[str, ...]:
    """Which analyses documents were indexed with."""
    searcher = index.searcher()
    return tuple(name for name in (*STEMMERS, UNSTEMMED) if searcher.doc_freq("analysis", name))


def _rows_query(schema: tantivy.Schema, first: int, last: int | None = None) -> tantivy.Query:
    """The entries from one row to another; None: to the end."""
    return tantivy.Query.range_query(schema, "row", tantivy.FieldType.Unsigned, lower_bound=first, upper_bound=last)


def _last_row(index: tantivy.Index) -> int:
    """The highest row, 0 when empty."""
    searcher = index.searcher()
    if not searcher.num_docs:
        return 0
    best = searcher.search(tantivy.Query.all_query(), 1, count=False, order_by_field="row")
    return int(best.hits[0][0])


# The number of documents in an index on disk, without opening it, which would create files.


class _Deletions(msgspec.Struct, frozen=True):
    num_deleted_docs: int = 0


class _Segment(msgspec.Struct, frozen=True):
    max_doc: int
    deletes: _Deletions | None = None


class _Meta(msgspec.Struct, frozen=True):
    segments: tuple[_Segment, ...]


def document_count(path: Path) -> int | None:
    """The number of documents in the index under `path` (as given to `LocalSearch`), None if there is none.

    Raises:
        ValueError: its `meta.json` cannot be read: the index is damaged.
        OSError: nor can the file.
    """
    try:
        data = (path / INDEX_FORMAT / "documents" / "meta.json").read_bytes()
    except FileNotFoundError:
        return None
    meta = msgspec.json.decode(data, type=_Meta)  # what msgspec raises is a ValueError
    return sum(
        segment.max_doc - (segment.deletes.num_deleted_docs if segment.deletes else 0) for segment in meta.segments
    )


def unwritable_error(path: Path | None, error: OSError) -> SearchError:
    """The error for an index that cannot be written."""
    return SearchError(
        f"the search index in {path} cannot be written ({error.strerror or error}): "
        "free some space, or check its permissions"
    )


def close_after_merges(writer: IndexWriter, lock: FileLock | None) -> None:
    """Close a writer when its merges are done, then release the lock."""
    try:
        with index_errors():
            writer.close()
    except (IndexDamaged, OSError) as error:
        log.debug("merges of the search index did not finish: %s", error)  # the next writer begins them again
    finally:
        if lock is not None:
            lock.release()
