"""The index in PostgreSQL: whole documents, passages, and the frequency of each word.

The words are those of the local index (`core.lexicon`): stemmed in a document's own language, pairs of
characters for scripts without spaces. PostgreSQL's own configurations know fewer languages, and would find other
passages than a machine with its own index. So its text search only stores, finds and counts prepared words.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from assay.core.errors import SearchAway, SearchError
from assay.core.lexicon import analysis_of, name_terms
from assay.core.sources import Document, PassageSpan
from assay.search.local.index import indexed_texts, pack
from assay.search.shared_index import SharedWork, waiting_message

INDEX_FORMAT = "3"
"""Changes with the tables or the analysis; an index of another release is left alone."""
WRITE_LOCK, READ_LOCK = 0x61737365, 0x61737366
"""Keys of the advisory locks for writing and for reading, combined with the tables' schema and name."""
_OF = "%(key)s, hashtext(current_setting('search_path') || %(of)s)"
_DEFINITIONS = (
    """CREATE TABLE IF NOT EXISTS {0}_state (
        single boolean PRIMARY KEY DEFAULT true CHECK (single),
        row bigint NOT NULL, documents bigint NOT NULL, passages bigint NOT NULL, words bigint NOT NULL)""",
    "INSERT INTO {0}_state VALUES (true, 0, 0, 0, 0) ON CONFLICT DO NOTHING",
    """CREATE TABLE IF NOT EXISTS {0}_documents (
        row bigint PRIMARY KEY, sha256 text NOT NULL, analysis text NOT NULL, passages integer NOT NULL,
        title tsvector NOT NULL, name tsvector NOT NULL, fields bytea[] NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS {0}_by_title ON {0}_documents USING gin (title)",
    "CREATE INDEX IF NOT EXISTS {0}_by_name ON {0}_documents USING gin (name)",
    "CREATE INDEX IF NOT EXISTS {0}_by_analysis ON {0}_documents (analysis)",
    """CREATE TABLE IF NOT EXISTS {0}_passages (
        row bigint NOT NULL, ordinal integer NOT NULL, length integer NOT NULL,
        words tsvector NOT NULL, span bytea NOT NULL)""",
    "CREATE INDEX IF NOT EXISTS {0}_by_words ON {0}_passages USING gin (words)",
    "CREATE INDEX IF NOT EXISTS {0}_by_row ON {0}_passages (row)",
    """CREATE TABLE IF NOT EXISTS {0}_words (
        word text COLLATE "C" PRIMARY KEY, documents bigint NOT NULL, passages bigint NOT NULL, names bigint NOT NULL)
        WITH (fillfactor = 70)""",
)


def prefix_of(segmenter: str) -> str:
    """The beginning of the tables' names; each segmenter version has its own tables."""
    return f"search_{INDEX_FORMAT}_{re.sub('[^a-z0-9]+', '_', segmenter.lower())}"


def create_tables(connection: Connection, prefix: str) -> None:
    """Create missing tables; one process at a time."""
    lock_index(connection, prefix)
    for definition in _DEFINITIONS:
        connection.exec_driver_sql(definition.format(prefix))


def lock_index(connection: Connection, prefix: str) -> None:
    """Wait for the lock on writing the index, which ends with the transaction."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_OF})", {"key": WRITE_LOCK, "of": prefix})


@contextmanager
def try_indexing_lock(connection: Connection, prefix: str) -> Iterator[bool]:
    """True if it is this session's turn to read for the index, while the block lasts; another's may be.

    The connection is outside a transaction. The turn only spares others the work; correctness depends on `lock_index`.
    """
    parameters = {"key": READ_LOCK, "of": prefix}
    locked = connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_OF})", parameters).scalar_one()
    try:
        yield bool(locked)
    finally:
        if locked:
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_OF})", parameters)


def unordered_tsvector(words: Iterable[str]) -> str:
    """Words as the text of a tsvector without positions."""
    return " ".join(map(escape_word, set(words)))


def ordered_tsvector(words: Iterable[str]) -> str:
    """Words in order as the text of a tsvector."""
    positions_by_word: dict[str, list[str]] = {}
    for position, word in enumerate(words, 1):
        positions_by_word.setdefault(word, []).append(str(min(position, _LAST)))
    return " ".join(
        f"{escape_word(word)}:{','.join(dict.fromkeys(positions[:_MAX_WORD_POSITIONS]))}"
        for word, positions in positions_by_word.items()
    )


_LAST, _MAX_WORD_POSITIONS = 16_383, 255
"""The limits of a tsvector's positions: their highest number, and how many per word."""


def escape_word(word: str) -> str:
    """A word escaped for the text of a tsvector or tsquery."""
    if "\\" in word or "'" in word:
        word = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{word}'"


# Writing the index: documents by ascending row, in lots, each in one transaction with the progress.

_DOCUMENTS = "COPY {0}_documents (row, sha256, analysis, passages, title, name, fields) FROM STDIN"
_PASSAGES = "COPY {0}_passages (row, ordinal, length, words, span) FROM STDIN"
_WORDS = """INSERT INTO {0}_words AS known (word, documents, passages, names)
    SELECT * FROM unnest(%(words)s::text[], %(documents)s::bigint[], %(passages)s::bigint[], %(names)s::bigint[])
    ON CONFLICT (word) DO UPDATE SET documents = known.documents + excluded.documents,
        passages = known.passages + excluded.passages, names = known.names + excluded.names"""
_STATE = """INSERT INTO {0}_state AS known (row, documents, passages, words)
    VALUES (%(row)s, %(documents)s, %(passages)s, %(words)s)
    ON CONFLICT (single) DO UPDATE SET row = excluded.row, documents = known.documents + excluded.documents,
        passages = known.passages + excluded.passages, words = known.words + excluded.words"""
_FORGET = (
    """UPDATE {0}_state SET
        documents = documents - (SELECT count(*) FROM {0}_documents WHERE row = ANY(%(rows)s)),
        passages = passages - (SELECT count(*) FROM {0}_passages WHERE row = ANY(%(rows)s)),
        words = words - (SELECT coalesce(sum(length), 0) FROM {0}_passages WHERE row = ANY(%(rows)s))""",
    "DELETE FROM {0}_passages WHERE row = ANY(%(rows)s)",
    "DELETE FROM {0}_documents WHERE row = ANY(%(rows)s)",
)


class DocumentLot:
    """Documents with their passages, to be indexed."""

    def __init__(self) -> None:
        self._documents: list[tuple[Any, ...]] = []
        self._passages: list[tuple[Any, ...]] = []
        self._counts: dict[str, Counter[str]] = {name: Counter() for name in ("documents", "passages", "names")}
        self._length = self._row = 0

    @property
    def rows(self) -> list[int]:
        """The numbers of its documents."""
        return [row for row, *_ in self._documents]

    @property
    def passages(self) -> int:
        """How many passages its documents have."""
        return len(self._passages)

    def add(self, row: int, document: Document, spans: Sequence[PassageSpan]) -> None:
        """Add one document. Headings are found by the passages below them."""
        texts = indexed_texts(document, spans)
        for span, text in texts.passages:
            self._add_passage(row, span, text.split())
        title, name = texts.title.split(), texts.name.split()
        self._counts["documents"].update(set(texts.body.split()))
        self._counts["names"].update({*title, *name})
        facts = (document.sha256, texts.analysis, len(texts.passages))
        self._documents.append(
            (row, *facts, ordered_tsvector(title), ordered_tsvector(name), [*map(pack, texts.fields)])
        )
        self._row = row

    def write(self, connection: Connection, prefix: str) -> None:
        """Put it into the index, inside the connection's transaction."""
        if not self._documents:
            return
        cursor = connection.connection.cursor()
        for statement, rows in ((_DOCUMENTS, self._documents), (_PASSAGES, self._passages)):
            with cursor.copy(statement.format(prefix)) as copy:
                for row in rows:
                    copy.write_row(row)
        cursor.close()
        connection.exec_driver_sql(_WORDS.format(prefix), self._frequencies())
        lengths = {"documents": len(self._documents), "passages": len(self._passages), "words": self._length}
        connection.exec_driver_sql(_STATE.format(prefix), {"row": self._row, **lengths})

    def _add_passage(self, row: int, span: PassageSpan, words: list[str]) -> None:
        self._counts["passages"].update(set(words))
        self._length += len(words)
        self._passages.append((row, span.ordinal, len(words), unordered_tsvector(words), pack(span)))

    def _frequencies(self) -> dict[str, list[Any]]:
        words = sorted(set().union(*self._counts.values()))  # in one order: two writers never deadlock
        return {"words": words} | {name: [count[word] for word in words] for name, count in self._counts.items()}


def delete_documents(connection: Connection, prefix: str, rows: Sequence[int]) -> None:
    """Remove documents. Word frequencies are not counted again: they only serve for weighing."""
    for statement in _FORGET:
        connection.exec_driver_sql(statement.format(prefix), {"rows": list(rows)})


_RENAME = "UPDATE {0}_documents SET name = %(name)s WHERE row = %(row)s"
_NAMED = "INSERT INTO {0}_words VALUES (%(word)s, 0, 0, 1) ON CONFLICT (word) DO NOTHING"


def update_names(connection: Connection, prefix: str, documents: Mapping[int, Document]) -> None:
    """Index the names and addresses of documents again, by row; those not in the index yet are left out.

    Only words of no other document are counted: the frequencies only serve for weighing, but a word without one is not
    searched for.
    """
    for row, document in sorted(documents.items()):
        words = _name_terms(document)
        connection.exec_driver_sql(_RENAME.format(prefix), {"name": ordered_tsvector(words), "row": row})
        for word in sorted(set(words)):
            connection.exec_driver_sql(_NAMED.format(prefix), {"word": word})


def _name_terms(document: Document) -> list[str]:
    return name_terms(f"{document.name} {document.url}", analysis_of(document.language))


_SCHEMA = "%(k)s, hashtext(current_setting('search_path'))"


@contextmanager
def postgres_lock(engine: Engine, work: SharedWork, say: Callable[[str], None]) -> Iterator[None]:
    """The right of one session among all machines of a library; it is released when the session ends.

    The lock is that of the schema: another library in the same database has its own.

    Raises:
        SearchError: another session has it too long, or the database cannot be used.
    """
    end, announced, key = time.monotonic() + work.patience, False, {"k": work.lock}
    try:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.exec_driver_sql(f"SELECT pg_try_advisory_lock({_SCHEMA})", key).scalar_one():
                if time.monotonic() > end:
                    raise SearchError(f"another machine has written {work.name} for more than {work.patience:.0f} s")
                if not announced:
                    say(waiting_message(work))
                announced = True
                time.sleep(work.pause)
            try:
                yield
            finally:
                connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_SCHEMA})", key)
    except OperationalError as error:
        raise SearchAway(f"{work.name} cannot be written now: {error}") from error
    except SQLAlchemyError as error:
        raise SearchError(f"{work.name} cannot be written: {error}") from error
