"""Neighbours, in memory and in PostgreSQL with pgvector: what is near is found, in scope, level with what is kept.

`postgres.with_pgvector` says which server that is.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from pathlib import Path

import postgres
import pytest
from sqlalchemy import Engine, make_url

from assay.core.errors import SearchError
from assay.search.vectors import VectorStore
from assay.search.vectors.neighbours import MemoryNeighbours, Neighbours
from assay.search.vectors.store import DocumentVectors, VectorProgress
from assay.store.sql.sqlite import create_sqlite_engine

ENGINE, SIZE, DOCUMENTS = "concepts:m", 16, 12


@pytest.fixture(scope="module")
def pgvector() -> Iterator[str]:
    with postgres.with_pgvector() as url:
        yield url


def create_schema(engine: Engine, url: str) -> None:
    """Have the schema which a URL names."""
    with engine.begin() as connection:
        connection.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{make_url(url).query["schema"]}"')


class Place:
    """A store of vectors and its neighbours, as two processes know them."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.url = ""
        if request.param == "memory":
            self.engine = create_sqlite_engine(folder / "vectors.db")
        else:
            from assay.store.sql.postgres import Postgres

            self.url = postgres.with_schema(request.getfixturevalue("pgvector"))
            self.engine = Postgres(self.url).engine(present=False)
            create_schema(self.engine, self.url)
        self.store = VectorStore(self.engine, ENGINE, "cut/1")
        self.one, self.two = self.neighbours(), self.neighbours()

    def neighbours(self, segmenter: str = "cut/1") -> Neighbours:
        store = VectorStore(self.engine, ENGINE, segmenter)
        if not self.url:
            return MemoryNeighbours(store)
        from assay.search.vectors.pgvector import PgvectorNeighbours

        return PgvectorNeighbours(self.engine, store)

    def close(self) -> None:
        self.engine.dispose()
        if self.url:
            postgres.drop(self.url)


@pytest.fixture(params=["memory", "pgvector"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    opened = Place(request, tmp_path)
    yield opened
    opened.close()


def vector(seed: int, size: int = SIZE) -> bytes:
    chance = random.Random(seed)
    return array("b", [chance.randint(-127, 127) for _ in range(size)]).tobytes()


def document_vectors(row: int, count: int = 3, size: int = SIZE) -> DocumentVectors:
    vectors = b"".join(vector(100 * row + place, size) for place in range(count))
    return DocumentVectors(row, f"{row:064x}", b"k" * 16 * count, vectors, (b"span",) * count)


def filled(place: Place) -> None:
    place.store.add([document_vectors(row) for row in range(1, DOCUMENTS + 1)], VectorProgress(DOCUMENTS, SIZE))


def cosine(one: bytes, other: bytes) -> float:
    a, b = array("b", one), array("b", other)
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / (sum(x * x for x in a) ** 0.5 * sum(y * y for y in b) ** 0.5)


def test_before_there_is_anything(place: Place):
    place.one.update()
    assert place.one.dimensions == 0


def test_each_passage_is_looked_at(place: Place):
    filled(place)
    place.one.update()
    assert place.one.dimensions == SIZE
    query = vector(7)
    all_of_them = [
        ((row, at), cosine(query, vector(100 * row + at))) for row in range(1, DOCUMENTS + 1) for at in range(3)
    ]
    expected = sorted(all_of_them, key=lambda pair: -pair[1])[:5]
    near = place.one.find_nearest(query, None, 5)
    assert [each for each, _ in near.nearest] == [each for each, _ in expected]
    assert [value for _, value in near.nearest] == pytest.approx([value for _, value in expected], abs=1e-3)
    assert {near.names[row] for (row, _), _ in near.nearest} == {f"{row:064x}" for (row, _), _ in expected}


def test_documents_are_looked_up_beside_the_nearest(place: Place):
    filled(place)
    place.one.update()
    query = vector(7)
    near = place.one.find_nearest(query, None, 1)
    assert near.rows([f"{4:064x}", "f" * 64]) == {f"{4:064x}": 4}
    assert near.cosines(4) == pytest.approx([cosine(query, vector(400 + at)) for at in range(3)], abs=1e-3)
    assert near.names[4] == f"{4:064x}"


def test_the_scope_is_exact(place: Place):
    filled(place)
    place.one.update()
    near = place.one.find_nearest(vector(7), {2, 3}, 100)
    assert {row for (row, _), _ in near.nearest} == {2, 3}
    assert near.rows([f"{row:064x}" for row in range(9)]) == {f"{2:064x}": 2, f"{3:064x}": 3}
    assert list(place.one.find_nearest(vector(7), set(), 100).nearest) == []


def test_what_is_added_and_taken_out_elsewhere_is_seen(place: Place):
    filled(place)
    place.one.update()
    place.two.update()
    place.store.add([document_vectors(20)], VectorProgress(20, SIZE))
    place.two.update()
    assert place.two.find_nearest(vector(2_000), None, 1).nearest[0][0] == (20, 0)
    place.store.forget([20])
    for each in (place.one, place.two):
        each.update()
        assert each.find_nearest(vector(2_000), None, 1).nearest[0][0] != (20, 0)


def test_what_was_made_anew_is_not_taken_for_what_was_there(place: Place):
    filled(place)
    place.one.update()
    place.store.clear()
    place.store.add([document_vectors(row + 50) for row in range(1, DOCUMENTS + 1)], VectorProgress(DOCUMENTS, SIZE))
    place.one.update()
    assert {row for (row, _), _ in place.one.find_nearest(vector(7), None, 100).nearest} == set(
        range(51, 51 + DOCUMENTS)
    )


def test_vectors_of_another_length(place: Place):
    filled(place)
    place.one.update()
    place.store.clear()
    place.store.add([document_vectors(1, size=32)], VectorProgress(1, 32))
    place.one.update()
    assert place.one.dimensions == 32
    assert place.one.find_nearest(vector(100, 32), None, 1).nearest[0][0] == (1, 0)


def test_another_segmenters_are_apart(place: Place):
    filled(place)
    place.one.update()
    other = place.neighbours("cut/2")
    other.update()
    assert other.dimensions == 0


def test_without_the_extension_it_says_what_to_do(new_database):
    from assay.search.vectors.pgvector import PgvectorNeighbours
    from assay.store.sql.postgres import Postgres

    url = new_database()
    engine = Postgres(url).engine(present=False)
    create_schema(engine, url)
    try:
        with engine.connect() as connection:
            offered = connection.exec_driver_sql("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").all()
        if offered:
            pytest.skip("this server has the extension")
        store = VectorStore(engine, ENGINE, "cut/1")
        store.add([document_vectors(1)], VectorProgress(1, SIZE))
        with pytest.raises(SearchError, match=r"extension.*embedder\.pgvector = false"):
            PgvectorNeighbours(engine, store).update()
    finally:
        engine.dispose()
        postgres.drop(url)
