"""The index in PostgreSQL: brought level by several at once, cleaned up, and the text of its vectors."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill
from sqlalchemy import Engine

from assay.core.errors import SearchFailed
from assay.core.ports import Query
from assay.evidence.documents import Reader
from assay.evidence.segment import SEGMENTER
from assay.search.postgres import PostgresSearch, search
from assay.search.postgres.ranking import extent
from assay.search.postgres.tables import prefix_of, quoted, vector
from assay.store.common import Store
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
    return PostgresSearch(engine, store.library, Reader(store.blobs).spans, SEGMENTER)


def names(found: PostgresSearch, text: str) -> list[str]:
    return [hit.document.name for hit in found.find(Query(text=text, limit=50))]


def test_several_bring_it_level_at_once(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "PAGE", 3)
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
        come = extent(connection, PREFIX)
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
        come = extent(connection, PREFIX)
    assert (come.documents, come.passages) == (29, 29)


def test_progress_is_told(engine: Engine, store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "PAGE", 20)
    said: list[str] = []
    opened(engine, store).sync(said.append)
    assert said == ["indexed 20 documents", "indexed 30 documents"]


def test_what_is_wrong_with_it_is_said(engine: Engine, store: Store):
    found = opened(engine, store)
    found.sync()
    with engine.begin() as connection:
        connection.exec_driver_sql(f"DROP TABLE {PREFIX}_passages")
    with pytest.raises(SearchFailed, match="the index in PostgreSQL cannot be used"):
        found.find(Query(text="harbor7"))


words = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=20)


@pytest.fixture(scope="module")
def connection(postgres_server: str) -> Iterator[object]:
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as opened:
        yield opened


@given(given_words=st.lists(words, max_size=8))
def test_any_words_become_a_vector_of_these_words(connection, given_words: list[str]):
    stored = connection.execute("SELECT tsvector_to_array(%s::tsvector)", [vector(given_words)]).fetchone()[0]
    assert set(stored) == set(given_words)
    for word in given_words:
        asked = connection.execute("SELECT %s::tsvector @@ %s::tsquery", [vector(given_words), quoted(word)]).fetchone()
        assert asked == (True,)
