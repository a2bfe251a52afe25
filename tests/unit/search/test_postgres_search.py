"""The index in PostgreSQL: brought level by several at once, cleaned up, and the text of its vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill
from sqlalchemy import Engine

from assay.core.errors import SearchError
from assay.core.ports import Library, Query
from assay.core.ports.store import Store
from assay.core.sources import Document, PassageSpan
from assay.evidence.documents import DocumentReader
from assay.evidence.segment import SEGMENTER
from assay.search import postgres as postgres_index
from assay.search.postgres import PostgresSearch, tables
from assay.search.postgres.postgres_ranks import read_extent
from assay.search.postgres.tables import escape_word, ordered_tsvector, prefix_of
from assay.store.memory import memory_store
from assay.store.sql import postgres
from assay.store.sql.database import Database

PREFIX = prefix_of(SEGMENTER)


@pytest.fixture
def engine(new_database: Callable[[], str]) -> Iterator[Engine]:
    backend = postgres.Postgres(new_database())
    Database(backend).close()
    made = backend.engine()
    yield made
    with made.begin() as connection:
        for table in ("state", "documents", "passages", "words"):
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {PREFIX}_{table}")
    made.dispose()


@pytest.fixture
def store() -> Store:
    made = memory_store()
    fill(made, {f"{number}.md": f"# Report {number}\n\nThe tide of harbor{number} rises." for number in range(30)})
    return made


def opened(engine: Engine, store: Store) -> PostgresSearch:
    return PostgresSearch(engine, store.library, DocumentReader(store.blobs).spans, SEGMENTER)


def names(found: PostgresSearch, text: str) -> list[str]:
    return [hit.document.name for hit in found.search_blocking(Query(text=text, limit=50))]


def test_several_bring_it_level_at_once(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_index, "LOT_DOCUMENTS", 3)
    failed: list[BaseException] = []

    def sync() -> None:
        try:
            opened(engine, store).sync()
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=sync) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    with engine.begin() as connection:
        come = read_extent(connection, PREFIX)
        counted = connection.exec_driver_sql(
            f"SELECT count(*), count(DISTINCT row), (SELECT count(*) FROM {PREFIX}_passages) FROM {PREFIX}_documents"
        ).one()
    assert (come.row, come.documents, come.passages) == (30, 30, 30)
    assert tuple(counted) == (30, 30, 30)
    assert names(opened(engine, store), "harbor7") == ["7.md"]


def test_what_is_forgotten_is_found_no_more(engine: Engine, store: Store):
    found = opened(engine, store)
    assert len(names(found, "harbor7 harbor8")) == 2
    found.forget([8])
    assert names(found, "harbor7 harbor8") == ["8.md"]  # row 8 is the document 7.md
    with engine.begin() as connection:
        come = read_extent(connection, PREFIX)
    assert (come.documents, come.passages) == (29, 29)


def test_progress_is_told(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_index, "LOT_DOCUMENTS", 20)
    lines: list[str] = []
    opened(engine, store).sync(lines.append)
    assert lines == ["indexed 20 documents", "indexed 30 documents"]


def test_a_lot_ends_with_many_passages(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_index, "LOT_PASSAGES", 12)
    lines: list[str] = []
    opened(engine, store).sync(lines.append)
    assert lines == ["indexed 12 documents", "indexed 24 documents", "indexed 30 documents"]


def test_a_lot_ends_in_time(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_index, "LOT_SECONDS", 0.0)
    lines: list[str] = []
    opened(engine, store).sync(lines.append)
    assert lines[0] == "indexed 1 document"
    assert lines[-1] == "indexed 30 documents"


def test_others_do_not_wait_for_who_reads_slowly(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(postgres_index, "TURN_SECONDS", 0.3)
    reads, go = threading.Event(), threading.Event()
    reader = DocumentReader(store.blobs)

    def slowly(document: Document) -> Sequence[PassageSpan]:
        reads.set()
        assert go.wait(120)
        return reader.spans(document)

    slow = PostgresSearch(engine, store.library, slowly, SEGMENTER)
    thread = threading.Thread(target=slow.sync)
    thread.start()
    try:
        assert reads.wait(120)
        with engine.begin() as connection:
            connection.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
            tables.lock_index(connection, PREFIX)  # is free
        assert names(opened(engine, store), "harbor7") == ["7.md"]
        assert thread.is_alive()
    finally:
        go.set()
        thread.join(120)
    assert not thread.is_alive()
    with engine.begin() as connection:
        come = read_extent(connection, PREFIX)
    assert (come.documents, come.passages, come.row) == (30, 30, 30)  # what was read twice is there once


def test_one_at_a_time_has_its_turn(engine: Engine):
    with (
        engine.connect().execution_options(isolation_level="AUTOCOMMIT") as one,
        engine.connect().execution_options(isolation_level="AUTOCOMMIT") as two,
    ):
        with (
            tables.try_indexing_lock(one, PREFIX) as mine,
            tables.try_indexing_lock(two, PREFIX) as others,
            tables.try_indexing_lock(two, f"{PREFIX}_other") as elsewhere,
        ):
            assert (mine, others, elsewhere) == (True, False, True)
        with tables.try_indexing_lock(two, PREFIX) as then:
            assert then


class Passing:
    """A library out of which a document goes while it is read for the index, once."""

    def __init__(self, library: Library) -> None:
        self._library, self.asked = library, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._library, name)

    def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
        self.asked += 1
        found = self._library.documents_at(rows)
        return found if self.asked > 1 else {row: each for row, each in found.items() if row != 3}


def test_what_goes_while_it_is_read_is_read_again(engine: Engine, store: Store):
    library = Passing(store.library)
    lines: list[str] = []
    PostgresSearch(engine, library, DocumentReader(store.blobs).spans, SEGMENTER).sync(lines.append)
    assert (library.asked, lines) == (2, ["indexed 30 documents"])


def test_what_was_emptied_is_filled_again(engine: Engine, store: Store):
    found = opened(engine, store)
    assert names(found, "harbor7") == ["7.md"]
    with engine.begin() as connection:
        for table in ("state", "documents", "passages", "words"):
            connection.exec_driver_sql(f"TRUNCATE {PREFIX}_{table}")
    assert names(found, "harbor7") == ["7.md"]


def test_a_question_which_takes_too_long_ends(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    found = opened(engine, store)
    found.sync()
    monkeypatch.setattr(postgres_index, "QUERY_SECONDS", 0.2)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"LOCK TABLE {PREFIX}_passages IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(SearchError, match="statement timeout"):
            found.search_blocking(Query(text="harbor7"))
    assert names(found, "harbor7") == ["7.md"]


def test_what_is_wrong_with_it_is_said(engine: Engine, store: Store):
    found = opened(engine, store)
    found.sync()
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP TABLE {PREFIX}_passages")
    with pytest.raises(SearchError, match="the index in PostgreSQL cannot be used"):
        found.search_blocking(Query(text="harbor7"))


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def connection(postgres_server: str) -> Iterator[object]:
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as opened:
        yield opened


@given(given_words=st.lists(words, max_size=8))
def test_any_words_become_a_vector_of_these_words(connection, given_words: list[str]):
    stored = connection.execute("SELECT tsvector_to_array(%s::tsvector)", [ordered_tsvector(given_words)]).fetchone()[0]
    assert set(stored) == set(given_words)
    for word in given_words:
        asked = connection.execute(
            "SELECT %s::tsvector @@ %s::tsquery", [ordered_tsvector(given_words), escape_word(word)]
        ).fetchone()
        assert asked == (True,)
