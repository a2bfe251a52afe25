"""Stores the vectors of passages: a row for each document, in SQLite or PostgreSQL; and asks the embedder for them."""

from __future__ import annotations

import hashlib
import re
import time
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    delete,
    func,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from assay.core.errors import ContextTooLong, ModelError, ModelFailed, SearchError
from assay.core.messages import passage_text
from assay.core.ports import Embedder, Embedding, TextKind
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import CONTENTS_ENTRY, context_text
from assay.search.shared_index import UNFOUND_KINDS

MAX_TEXT_CHARS = 2_000
"""Code points of a text; a model with a window of 512 tokens reads no more."""
KEY_BYTES = 16
"""Bytes of a text's hash."""
MAX_COMPONENT = 127


def embedded_spans(spans: Iterable[PassageSpan]) -> list[PassageSpan]:
    """The passages that get vectors: headings are in the texts below them, and pointers say nothing."""
    return [span for span in spans if span.kind not in UNFOUND_KINDS and not CONTENTS_ENTRY.fullmatch(span.text)]


def text_of(span: PassageSpan, document: Document) -> str:
    """The text to embed for a passage: its heading, or else the document's title, its topic, its words."""
    above = span.heading[-1] if span.heading else document.title
    return passage_text(above, context_text(span), span.text)[:MAX_TEXT_CHARS]


def key_of(text: str) -> bytes:
    """The key of a text: equal texts have equal vectors."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:KEY_BYTES]


def quantize(vector: Sequence[float]) -> bytes:
    """A vector as signed bytes, scaled so that the largest is 127: cosines only depend on directions."""
    scale = max(map(abs, vector), default=0.0)
    if not scale:
        return bytes(len(vector))
    return array("b", [round(number * MAX_COMPONENT / scale) for number in vector]).tobytes()


# Calls an embedder with retries: it waits as long as the embedder asks, and sends less if it was too much.

ATTEMPTS = 6
FIRST_PAUSE, MAX_PAUSE_SECONDS = 0.5, 60.0
"""Seconds before the second attempt, doubling each time; and the longest pause."""
MIN_TEXT_CHARS = 64
"""Code points; a text is not cut further."""
Sleep = Callable[[float], None]


def embed(
    embedder: Embedder, texts: Sequence[str], kind: TextKind, *, attempts: int = ATTEMPTS, sleep: Sleep = time.sleep
) -> Embedding:
    """Return the vectors of `texts`.

    Raises:
        SearchError: every attempt failed, or a retry would fail again.
    """
    try:
        return _embed_attempts(embedder, texts, kind, attempts, sleep)
    except ContextTooLong as error:
        if len(texts) == 1 and len(texts[0]) <= MIN_TEXT_CHARS:
            raise SearchError(f"{embedder.name}: {error}") from error
    if len(texts) == 1:
        return embed(embedder, [texts[0][: len(texts[0]) // 2]], kind, attempts=attempts, sleep=sleep)
    half = len(texts) // 2
    parts = [embed(embedder, part, kind, attempts=attempts, sleep=sleep) for part in (texts[:half], texts[half:])]
    return Embedding([*parts[0].vectors, *parts[1].vectors], parts[0].tokens + parts[1].tokens)


def _embed_attempts(embedder: Embedder, texts: Sequence[str], kind: TextKind, attempts: int, sleep: Sleep) -> Embedding:
    for attempt in range(1, attempts + 1):
        try:
            return embedder.embed(texts, kind)
        except ContextTooLong:
            raise
        except ModelFailed as error:
            raise SearchError(f"{embedder.name}: {error}") from error
        except ModelError as error:
            pause = FIRST_PAUSE * 2 ** (attempt - 1) if error.retry_after is None else error.retry_after
            if not error.transient or attempt == attempts or pause > MAX_PAUSE_SECONDS:
                raise SearchError(f"{embedder.name}: {error.reason}") from error
            sleep(pause)
    raise AssertionError("the last attempt returns or raises")


# Vectors are derived from the library and may be deleted at any time; making them again takes time, and with some
# embedders money. Each model has its own tables, each segmenter version its own rows.


STORE_FORMAT = "1"
"""Changes with the tables, or with what is embedded of a passage; those of another release are left alone."""
_WRITE = {"assay_write": True}
_SOME = 500


class DocumentVectors(msgspec.Struct, frozen=True):
    """A document with its vectors: their number, their texts (`keys`), and the passages, each packed as in the index.

    `withheld` says that it was not embedded, since it is private and the embedder is remote.
    """

    row: int
    sha256: str
    keys: bytes = b""
    vectors: bytes = b""
    spans: tuple[bytes, ...] = ()
    withheld: bool = False


class VectorProgress(msgspec.Struct, frozen=True):
    """The progress of the vectors: the last row of the library, their length, and their cost."""

    row: int = 0
    dimensions: int = 0
    tokens: int = 0
    usd: float = 0.0


_SPANS = msgspec.msgpack.Decoder(tuple[bytes, ...])


class VectorStore:
    """The vectors of one model. Blocking; thread-safe; one process at a time may write.

    Raises (all methods):
        SearchError: the database cannot be used.
    """

    def __init__(self, engine: Engine, model: str, segmenter: str) -> None:
        self._engine, self.segmenter = engine, segmenter
        self.prefix = f"search_{STORE_FORMAT}_vectors_{_table_name(model)}"
        self._documents, self._state = _tables(self.prefix)
        self._tables_exist = False

    def progress(self) -> VectorProgress:
        """How far they have come."""
        state = self._state
        columns = (state.c.row, state.c.dimensions, state.c.tokens, state.c.usd)
        with self._connect() as connection:
            row = connection.execute(select(*columns).where(state.c.segmenter == self.segmenter)).one_or_none()
        return VectorProgress() if row is None else VectorProgress(*row)

    def highest_id_and_count(self) -> tuple[int, int]:
        """The highest id, and the number of documents: they change whenever something is added or removed."""
        documents = self._documents
        statement = select(func.coalesce(func.max(documents.c.id), 0), func.count()).where(self._is_current_segmenter())
        with self._connect() as connection:
            highest, count = connection.execute(statement).one()
        return int(highest), int(count)

    def documents(self, after: int) -> Iterator[tuple[int, int, str, int, bytes]]:
        """Id, row, hash, number of vectors and vectors of the documents whose id is higher than `after`, by id."""
        documents = self._documents
        columns = (documents.c.id, documents.c.row, documents.c.sha256, documents.c.passages, documents.c.vectors)
        statement = select(*columns).where(
            self._is_current_segmenter(), documents.c.id > after, documents.c.passages > 0
        )
        with self._connect() as connection:
            for id, row, sha256, count, vectors in connection.execute(statement.order_by(documents.c.id)):
                yield int(id), int(row), str(sha256), int(count), bytes(vectors)

    def spans(self, rows: Collection[int]) -> dict[int, tuple[bytes, ...]]:
        """The packed passages of these documents, by row, in the order of their vectors."""
        documents, spans_by_row = self._documents, {}
        statement = select(documents.c.row, documents.c.spans).where(
            self._is_current_segmenter(), documents.c.row.in_(rows)
        )
        with self._connect() as connection:
            for row, spans in connection.execute(statement):
                spans_by_row[int(row)] = _SPANS.decode(bytes(spans))
        return spans_by_row

    def texts(self, rows: Collection[int]) -> Iterator[tuple[bytes, bytes]]:
        """The keys of the texts of these documents with their vectors."""
        documents = self._documents
        columns = (documents.c.digests, documents.c.passages, documents.c.vectors)
        statement = select(*columns).where(
            self._is_current_segmenter(), documents.c.row.in_(rows), documents.c.passages > 0
        )
        with self._connect() as connection:
            for keys, count, vectors in connection.execute(statement):
                yield from _split_vectors(bytes(keys), int(count), bytes(vectors))

    def hashes(self, rows: Collection[int]) -> dict[int, str]:
        """The documents of these rows when they were embedded."""
        documents = self._documents
        statement = select(documents.c.row, documents.c.sha256).where(
            self._is_current_segmenter(), documents.c.row.in_(rows)
        )
        with self._connect() as connection:
            return {int(row): str(sha256) for row, sha256 in connection.execute(statement)}

    def withheld_rows(self) -> set[int]:
        """The documents that were not embedded because they were private."""
        documents = self._documents
        statement = select(documents.c.row).where(self._is_current_segmenter(), documents.c.withheld == 1)
        with self._connect() as connection:
            return set(connection.execute(statement).scalars())

    def all_vectors(self) -> Iterator[tuple[bytes, bytes]]:
        """Every text's key with its vector, including those of other segmenter versions."""
        documents = self._documents
        statement = select(documents.c.digests, documents.c.passages, documents.c.vectors).where(
            documents.c.passages > 0
        )
        with self._connect() as connection:
            for keys, count, vectors in connection.execute(statement.execution_options(yield_per=_SOME)):
                yield from _split_vectors(keys, count, vectors)

    def add(self, documents: Sequence[DocumentVectors], progress: VectorProgress) -> None:
        """Replace the vectors of their rows and store the progress, in one transaction."""
        table, state = self._documents, self._state
        with self._write_connection() as connection:
            connection.execute(
                delete(table).where(
                    self._is_current_segmenter(), table.c.row.in_([document.row for document in documents])
                )
            )
            last = int(connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one())
            last = last or time.time_ns() // 1_000_000  # rows that were cleared and made again must not look unchanged
            rows = [
                {
                    "id": id,
                    "segmenter": self.segmenter,
                    "row": document.row,
                    "sha256": document.sha256,
                    "passages": len(document.spans),
                    "digests": document.keys,
                    "vectors": document.vectors,
                    "spans": msgspec.msgpack.encode(document.spans),
                    "withheld": int(document.withheld),
                }
                for id, document in enumerate(documents, last + 1)
            ]
            if rows:
                connection.execute(table.insert(), rows)
            values = msgspec.structs.asdict(progress)
            result = connection.execute(update(state).where(state.c.segmenter == self.segmenter).values(values))
            if not result.rowcount:
                connection.execute(state.insert().values(segmenter=self.segmenter, **values))

    def add_cost(self, tokens: int, usd: float) -> None:
        """Count the cost of a question."""
        state = self._state
        with self._write_connection() as connection:
            values = {"tokens": state.c.tokens + tokens, "usd": state.c.usd + usd}
            connection.execute(update(state).where(state.c.segmenter == self.segmenter).values(values))

    def forget(self, rows: Collection[int]) -> None:
        """Remove documents."""
        all_rows = list(rows)
        with self._write_connection() as connection:
            for start in range(0, len(all_rows), _SOME):
                batch = all_rows[start : start + _SOME]
                connection.execute(delete(self._documents).where(self._documents.c.row.in_(batch)))

    def clear(self) -> None:
        """Delete all vectors, including those of other segmenter versions, and their cost."""
        with self._write_connection() as connection:
            connection.execute(delete(self._documents))
            connection.execute(delete(self._state))

    def forget_other_segmenters(self) -> None:
        """Remove rows of other segmenter versions whose texts have their vectors here now."""
        with self._write_connection() as connection:
            connection.execute(delete(self._documents).where(~self._is_current_segmenter()))
            connection.execute(delete(self._state).where(self._state.c.segmenter != self.segmenter))

    def close(self) -> None:
        self._engine.dispose()

    def _is_current_segmenter(self) -> ColumnElement[bool]:
        return self._documents.c.segmenter == self.segmenter

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        with database_errors():
            self._create_tables()
            with self._engine.connect() as connection:
                yield connection

    @contextmanager
    def _write_connection(self) -> Iterator[Connection]:
        with database_errors():
            self._create_tables()
            with self._engine.connect().execution_options(**_WRITE) as connection, connection.begin():
                yield connection

    def _create_tables(self) -> None:
        if not self._tables_exist:
            with self._engine.connect().execution_options(**_WRITE) as connection, connection.begin():
                self._documents.metadata.create_all(connection)
            self._tables_exist = True


@contextmanager
def database_errors(used_with: str = "", hint: str = "") -> Iterator[None]:
    """Report errors of the database as Assay's.

    Raises:
        SearchError: the database reports one.
    """
    try:
        yield
    except SQLAlchemyError as error:
        message = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise SearchError(f"the vectors of passages cannot be used{used_with}: {message}{hint}") from error


def _split_vectors(keys: bytes, count: int, vectors: bytes) -> Iterator[tuple[bytes, bytes]]:
    length = len(vectors) // count
    for index in range(count):
        yield keys[index * KEY_BYTES : (index + 1) * KEY_BYTES], vectors[index * length : (index + 1) * length]


def _table_name(model: str) -> str:
    """A model's name as a part of a table's: readable and unique."""
    readable = re.sub("[^a-z0-9]+", "_", model.lower())[-20:].strip("_")
    return f"{readable}_{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def _tables(prefix: str) -> tuple[Table, Table]:
    metadata = MetaData()
    documents = Table(
        f"{prefix}_documents",
        metadata,
        Column("id", BigInteger, primary_key=True, autoincrement=False),
        Column("segmenter", String, nullable=False),
        Column("row", BigInteger, nullable=False, index=True),
        Column("sha256", String, nullable=False),
        Column("passages", Integer, nullable=False),
        Column("digests", LargeBinary, nullable=False),
        Column("vectors", LargeBinary, nullable=False),
        Column("spans", LargeBinary, nullable=False),
        Column("withheld", Integer, nullable=False),
        Index(f"{prefix}_by_segmenter", "segmenter", "id"),  # counted before a search, without reading it
    )
    state = Table(
        f"{prefix}_state",
        metadata,
        Column("segmenter", String, primary_key=True),
        Column("row", BigInteger, nullable=False),
        Column("dimensions", Integer, nullable=False),
        Column("tokens", BigInteger, nullable=False),
        Column("usd", Float, nullable=False),
    )
    return documents, state
