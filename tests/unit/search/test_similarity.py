"""How near texts are: what is known is not asked again, costs are counted, and nobody is told what is private."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from concepts import vectors
from library_of import fill

from assay.core.errors import ModelError, SearchError
from assay.core.messages import passage_text
from assay.core.ports import Embedding, MeteredSearch, Query, RarityCounter, TextKind
from assay.core.usage import Usage
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.search.shared_index import OwnedSearch
from assay.search.vectors import EmbedderSimilarity, EmbeddingLimits, HybridSearch, VectorBuilder, VectorStore
from assay.search.vectors.neighbours import RecentVectors
from assay.search.vectors.store import key_of
from assay.store.memory import memory_store
from assay.store.sql.sqlite import create_sqlite_engine

SERVICE, AUTOMOBILE, BREAD = "How often is a car serviced?", "An automobile needs maintenance.", "Flour and salt."


class Counted:
    """An embedder over `concepts`, which says what it was asked; one token a text, one dollar a million."""

    name, local, price = "concepts:m", True, 1.0

    def __init__(self) -> None:
        self.asked: list[tuple[TextKind, tuple[str, ...]]] = []
        self.fails_after = 1_000

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        if len(self.asked) >= self.fails_after:
            raise ModelError("gone", transient=False)
        self.asked.append((kind, tuple(texts)))
        return Embedding(vectors(texts), len(texts))

    def close(self) -> None:
        pass


class Place:
    def __init__(self, folder: Path, batch: int = 64) -> None:
        self.embedder, self.remembered, self.allowed = Counted(), RecentVectors(), True
        self.store = VectorStore(create_sqlite_engine(folder / "vectors.db"), "concepts:m", "cut/1")
        self.similarity = EmbedderSimilarity(self.embedder, self.store, self.remembered, lambda: self.allowed, batch)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.store.close()


async def test_what_means_the_same_is_nearer(place: Place):
    found = await place.similarity.cosines([SERVICE], [AUTOMOBILE, BREAD], "query")
    ((near, far),) = found.rows
    assert near > 0.5 > far
    assert found.usage == Usage(input_tokens=3, usd=3e-6)
    assert place.embedder.asked == [("query", (SERVICE,)), ("passage", (BREAD, AUTOMOBILE))]


async def test_a_text_is_asked_once_of_each_kind(place: Place):
    first = await place.similarity.cosines([SERVICE], [AUTOMOBILE, AUTOMOBILE], "query")
    assert first.usage.input_tokens == 2
    again = await place.similarity.cosines([SERVICE], [AUTOMOBILE, AUTOMOBILE], "query")
    assert (again.rows, again.usage) == (first.rows, Usage())
    await place.similarity.cosines([SERVICE], [AUTOMOBILE])
    assert place.embedder.asked[2:] == [("passage", (SERVICE,))]


async def test_nothing_to_compare_costs_nothing(place: Place):
    assert (await place.similarity.cosines([], [BREAD])).rows == ()
    assert (await place.similarity.cosines([BREAD, SERVICE], [])).rows == ((), ())
    assert place.embedder.asked == []


async def test_what_is_private_is_not_told(place: Place):
    place.allowed = False
    with pytest.raises(SearchError, match="private"):
        await place.similarity.cosines([SERVICE], [BREAD])
    assert place.embedder.asked == []


async def test_what_was_paid_for_before_a_failure_is_kept(tmp_path: Path):
    place = Place(tmp_path, batch=1)
    place.store.add((), place.store.progress())  # somewhere to count
    place.embedder.fails_after = 2
    with pytest.raises(SearchError, match="gone"):
        await place.similarity.cosines([SERVICE], [AUTOMOBILE, BREAD], "query")
    assert place.store.progress().tokens == 2
    place.embedder.fails_after = 1_000
    assert (await place.similarity.cosines([SERVICE], [AUTOMOBILE, BREAD], "query")).usage.input_tokens == 1


async def test_vectors_of_two_lengths_are_not_compared(place: Place):
    place.remembered.keep("passage", [(key_of(AUTOMOBILE), bytes(8))])  # another model's, under the same name
    with pytest.raises(SearchError, match="another length"):
        await place.similarity.cosines([SERVICE], [AUTOMOBILE], "query")


def test_the_most_is_what_all_texts_cost(place: Place):
    most = place.similarity.max_usage([SERVICE, BREAD])
    assert most.input_tokens > 0
    assert most.usd == pytest.approx(most.input_tokens / 1e6)


def test_memory_is_bounded():
    held = RecentVectors(max_bytes=30)
    held.keep("passage", [(bytes([n]), bytes(10)) for n in range(5)])
    assert [held.get("passage", bytes([n])) is not None for n in range(5)] == [False, False, True, True, True]
    held.get("passage", bytes([2]))
    held.keep("query", [(b"q", bytes(10))])
    assert held.get("passage", bytes([3])) is None
    assert held.get("passage", bytes([2])) is not None


@contextmanager
def _nobody_else(say: object) -> Iterator[None]:
    yield


async def test_passages_which_were_found_are_known_and_a_question_is_metered(place: Place):
    store = memory_store()
    spans = DocumentReader(store.blobs).spans
    fill(store, {"vehicles.md": f"# Vehicles\n\n{AUTOMOBILE}", "bread.md": f"# Bread\n\n{BREAD}"})
    index = LocalSearch(None, store.library, spans)
    search = HybridSearch(index, place.store, place.embedder, store.library, lambda names: True, 0.5)
    VectorBuilder(place.store, place.embedder, store.library, spans, _nobody_else).build(EmbeddingLimits(), set())
    owned = OwnedSearch(search, store.library)
    assert isinstance(owned, MeteredSearch)
    query = Query(text=SERVICE)
    hits, usage = await owned.search_with_usage(query)
    assert (hits, usage) == (await search.search(query), Usage(input_tokens=1, usd=1e-6))
    assert (await owned.search_with_usage(query))[1] == Usage()
    similarity = EmbedderSimilarity(place.embedder, place.store, search.recent_vectors, lambda: True, 64)
    found = await similarity.cosines([SERVICE], [passage_text("Vehicles", "", AUTOMOBILE)])
    assert found.usage.input_tokens == 1  # the question, as a passage: the passage was kept
    assert isinstance(owned, RarityCounter)
    assert (await owned.rarity("flour", ["default"])).passages == 2
    without = OwnedSearch(index, store.library)
    assert (await without.search_with_usage(query))[1] == Usage()
