"""Vectors of passages: made once, kept by content, found by direction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from concepts import vector, vectors
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill

from assay.core.errors import ContextTooLong, ModelError, SearchError, UsageError
from assay.core.ports import Embedding, TextKind
from assay.core.ports.store import Store
from assay.core.sources import Document, PassageSpan
from assay.evidence.documents import DocumentReader
from assay.search.vectors import BuildResult, EmbeddingLimits, VectorBuilder, VectorStore
from assay.search.vectors.neighbours import Matrix
from assay.search.vectors.store import embed, quantize, text_of
from assay.store.memory import memory_store
from assay.store.sql import postgres
from assay.store.sql.database import Database
from assay.store.sql.sqlite import create_sqlite_engine

NO_LIMITS = EmbeddingLimits()
numbers = st.floats(-1e6, 1e6, width=32)
TEXTS = {
    "cars.md": "# Cars\n\nThe automobile needs maintenance.\n\nTyres are black.",
    "bread.md": "# Bread\n\nFlour, water and salt.",
}


class FailingEmbedder:
    """An embedder which remembers what it was asked; `failing` are raised first, `price` is a million tokens'."""

    name, local = "failing:m", True

    def __init__(self, *failing: Exception, price: float | None = 0.0) -> None:
        self.failing, self.price, self.texts = list(failing), price, list[str]()

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        if self.failing:
            raise self.failing.pop(0)
        self.texts += texts
        return Embedding(vectors(texts), sum(len(text.split()) for text in texts))

    def close(self) -> None:
        pass


@contextmanager
def nobody_else(say: Callable[[str], None]) -> Iterator[None]:
    yield


@pytest.fixture
def store() -> Store:
    store = memory_store()
    fill(store, TEXTS)
    return store


@pytest.fixture(params=["file", "postgres"])
def vector_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    if request.param == "file":
        made = VectorStore(create_sqlite_engine(tmp_path / "vectors.db"), "failing:m", "cut/1")
    else:
        backend = postgres.Postgres(request.getfixturevalue("new_database")())
        Database(backend).close()
        made = VectorStore(backend.engine(), "failing:m", "cut/1")
    yield made
    made.clear()  # a database is used again by the next test
    made.close()


def built(
    vector_store: VectorStore,
    store: Store,
    embedder: FailingEmbedder,
    limits: EmbeddingLimits = NO_LIMITS,
    private: Sequence[int] = (),
) -> BuildResult:
    builder = VectorBuilder(
        vector_store, embedder, store.library, DocumentReader(store.blobs).spans, nobody_else, lambda seconds: None
    )
    return builder.build(limits, set(private))


def test_each_passage_is_embedded_once_with_what_it_stands_under(vector_store: VectorStore, store: Store) -> None:
    embedder = FailingEmbedder()
    first = built(vector_store, store, embedder)
    assert sorted(embedder.texts) == [
        "Bread\nFlour, water and salt.",
        "Cars\nThe automobile needs maintenance.",
        "Cars\nTyres are black.",
    ]
    assert (first.documents, first.passages, first.embedded, first.tokens) == (2, 3, 3, 14)
    again = built(vector_store, store, embedder)
    assert (again.documents, again.embedded, again.tokens, len(embedder.texts)) == (0, 0, 0, 3)
    assert vector_store.progress().tokens == 14


def test_a_text_which_is_known_costs_nothing_in_another_document(vector_store: VectorStore, store: Store) -> None:
    embedder = FailingEmbedder()
    built(vector_store, store, embedder)
    fill(store, {"newer.md": "# Cars\n\nThe automobile needs maintenance.\n\nTyres are round."})
    more = built(vector_store, store, embedder)
    assert (more.passages, more.embedded) == (2, 1)
    assert embedder.texts[-1] == "Cars\nTyres are round."


def test_another_segmenter_pays_for_new_texts_only(tmp_path: Path, store: Store) -> None:
    at, embedder = create_sqlite_engine(tmp_path / "vectors.db"), FailingEmbedder()
    built(VectorStore(at, "failing:m", "cut/1"), store, embedder)
    newer = VectorStore(at, "failing:m", "cut/2")
    assert built(newer, store, embedder).embedded == 0
    assert newer.highest_id_and_count()[1] == 2
    assert VectorStore(at, "failing:m", "cut/1").highest_id_and_count()[1] == 0


def test_another_model_has_vectors_of_its_own(tmp_path: Path, store: Store) -> None:
    at, embedder = create_sqlite_engine(tmp_path / "vectors.db"), FailingEmbedder()
    built(VectorStore(at, "failing:m", "cut/1"), store, embedder)
    assert built(VectorStore(at, "told:other", "cut/1"), store, embedder).embedded == 3
    assert VectorStore(at, "failing:m", "cut/1").highest_id_and_count()[1] == 2


def test_an_interrupted_pass_goes_on(vector_store: VectorStore) -> None:
    store = memory_store()
    fill(store, {f"{number}.md": f"Sentence number {number}." for number in range(50)})
    embedder = FailingEmbedder()
    told_of = embedder.embed

    def until_20(texts: Sequence[str], kind: TextKind) -> Embedding:
        if len(embedder.texts) >= 20:
            raise ModelError("gone", transient=False)
        return told_of(texts, kind)

    embedder.embed = until_20  # type: ignore[method-assign]
    with pytest.raises(SearchError, match="failing:m: gone"):
        built(vector_store, store, embedder, EmbeddingLimits(batch=10))
    done = vector_store.highest_id_and_count()[1]
    assert done == 20
    embedder.embed = told_of  # type: ignore[method-assign]
    assert built(vector_store, store, embedder, EmbeddingLimits(batch=10)).embedded == 30
    assert len(set(embedder.texts)) == len(embedder.texts) == 50
    assert vector_store.progress().tokens == sum(len(text.split()) for text in embedder.texts)


def test_limits_end_a_pass_and_keep_what_is_done(vector_store: VectorStore) -> None:
    store = memory_store()
    fill(store, {f"{number}.md": f"Sentence number {number} of some." for number in range(60)})
    embedder = FailingEmbedder(price=1000.0)
    first = built(vector_store, store, embedder, EmbeddingLimits(usd=0.25))
    assert "embedder.max_usd" in first.stopped
    assert 0 < first.embedded < 60
    assert first.usd == pytest.approx(first.tokens / 1000)
    assert built(vector_store, store, embedder, EmbeddingLimits(tokens=1)).embedded == 0
    rest = built(vector_store, store, embedder)
    assert (first.embedded + rest.embedded, rest.stopped) == (60, "")


def test_a_limit_in_money_needs_a_price(vector_store: VectorStore, store: Store) -> None:
    embedder = FailingEmbedder(price=None)
    with pytest.raises(UsageError, match="failing:m costs"):
        built(vector_store, store, embedder, EmbeddingLimits(usd=1.0))
    assert embedder.texts == []


def test_private_documents_are_withheld_until_they_are_not(vector_store: VectorStore, store: Store) -> None:
    embedder = FailingEmbedder()
    first = built(vector_store, store, embedder, private=[1])
    assert (first.withheld, embedder.texts) == (1, ["Bread\nFlour, water and salt."])
    assert built(vector_store, store, embedder, private=[1]).withheld == 1
    later = built(vector_store, store, embedder)
    assert (later.withheld, later.embedded) == (0, 2)
    assert len(vector_store.spans([1])[1]) == 2


def test_a_document_which_cannot_be_read_gets_none(vector_store: VectorStore, store: Store) -> None:
    def spans(document: Document) -> Sequence[PassageSpan]:
        if document.name == "cars.md":
            store.blobs.get("0" * 64)
        return DocumentReader(store.blobs).spans(document)

    embedder = FailingEmbedder()
    done = VectorBuilder(vector_store, embedder, store.library, spans, nobody_else).build(EmbeddingLimits(), set())
    assert (done.documents, done.passages) == (2, 1)


def test_vectors_of_another_library_are_not_taken_for_this_ones(vector_store: VectorStore, store: Store) -> None:
    built(vector_store, store, FailingEmbedder())
    other = memory_store()
    fill(other, {"a.md": "One.", "b.md": "Two."})
    assert built(vector_store, other, FailingEmbedder()).embedded == 2


def test_a_model_whose_vectors_have_another_length_is_told(vector_store: VectorStore, store: Store) -> None:
    built(vector_store, store, FailingEmbedder())
    fill(store, {"new.md": "New."})
    embedder = FailingEmbedder()
    embedder.embed = lambda texts, kind: Embedding([[1.0, 2.0]] * len(texts), 1)  # type: ignore[method-assign]
    with pytest.raises(SearchError, match="--anew"):
        built(vector_store, store, embedder)


def test_what_was_forgotten_is_gone(vector_store: VectorStore, store: Store) -> None:
    built(vector_store, store, FailingEmbedder())
    vector_store.forget([1])
    assert [row for _, row, *_ in vector_store.documents(0)] == [2]


# patience


def test_a_service_is_waited_for_as_it_asks() -> None:
    pauses: list[float] = []
    embedder = FailingEmbedder(ModelError("busy", retry_after=3.0), ModelError("away"), ModelError("away"))
    assert embed(embedder, ["a"], "query", sleep=pauses.append).tokens == 1
    assert pauses == [3.0, 1.0, 2.0]


@pytest.mark.parametrize(
    "failing",
    [[ModelError("no key", transient=False)], [ModelError("busy", retry_after=3600.0)], [ModelError("away")] * 6],
)
def test_it_is_given_up(failing: list[Exception]) -> None:
    with pytest.raises(SearchError, match="failing:m"):
        embed(FailingEmbedder(*failing), ["a"], "query", sleep=lambda seconds: None)


def test_what_is_too_much_is_asked_in_halves() -> None:
    embedder = FailingEmbedder(ContextTooLong("too long"), ContextTooLong("too long"))
    answer = embed(embedder, ["a" * 200, "b", "c"], "passage")
    assert embedder.texts == ["a" * 100, "b", "c"]
    assert len(answer.vectors) == 3


# in memory


@given(st.lists(numbers, min_size=1, max_size=50))
def test_a_quantized_vector_points_the_same_way(one: list[float]) -> None:
    back = [byte - 256 if byte > 127 else byte for byte in quantize(one)]
    assert len(back) == len(one)
    largest = max(map(abs, one))
    if largest:
        assert all(abs(a / largest - b / 127) <= 0.5 / 127 + 1e-6 for a, b in zip(one, back, strict=True))


@given(
    st.lists(st.lists(st.lists(numbers, min_size=8, max_size=8), min_size=1, max_size=4), min_size=1, max_size=6),
    st.lists(numbers, min_size=8, max_size=8),
    st.sets(st.integers(1, 6)),
)
def test_the_nearest_are_the_nearest(documents: list[list[list[float]]], query: list[float], scope: set[int]) -> None:
    matrix = Matrix()
    for row, passages in enumerate(documents, 1):
        matrix.add(row, len(passages), b"".join(map(quantize, passages)))
    asked = quantize(query)
    for rows in (None, scope):
        near = matrix.find_nearest(asked, rows, 3)
        wanted = {row for row in range(1, len(documents) + 1) if rows is None or row in rows}
        assert set(near.bounds) == wanted
        flat = [cosine for row in near.bounds for cosine in near.cosines(row)]
        assert [cosine for _, cosine in near.nearest] == sorted(flat, reverse=True)[:3]
        for (row, place), found in near.nearest:
            assert near.cosines(row)[place] == found
        for row in wanted:
            for passage, found in zip(documents[row - 1], near.cosines(row), strict=True):
                assert found == pytest.approx(exact(quantize(passage), asked), abs=1e-3)


def exact(one: bytes, other: bytes) -> float:
    a, b = ([byte - 256 if byte > 127 else byte for byte in each] for each in (one, other))
    length = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else pytest.approx(0, abs=2)


def test_a_passage_under_no_heading_has_its_documents_title(store: Store) -> None:
    (document,) = fill(store, {"notes.txt": "Plain words."})
    (span,) = DocumentReader(store.blobs).spans(document)
    assert text_of(span, document) == "notes.txt\nPlain words."
    assert vector("car") == vector("automobile")
