"""Search by words and by meaning: what it finds more, and that it is the index alone where vectors cannot be asked."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from concepts import vectors
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill

from assay.core.errors import ModelError
from assay.core.ports import Embedding, Explanation, Query, TextKind
from assay.core.ports.store import Store
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.search.vectors import EmbeddingLimits, HybridSearch, VectorBuilder, VectorStore
from assay.search.vectors.hybrid import fuse_scores, merge_rankings
from assay.store.memory import memory_store
from assay.store.sql.sqlite import create_sqlite_engine

TEXTS = {
    "vehicles.md": "# Vehicles\n\nEach automobile needs maintenance after twelve months.\n\nRust is a danger.",
    "bread.md": "# Bread\n\nFlour, water and salt. How often it is turned matters.",
    "pay.md": "# Pay\n\nThe salary is paid at the end of a month.\n\nA wage is agreed upon.",
    "hospital.md": "# Hospital\n\nThe surgeon was born in 1901.",
}
ASKED = "How often should a car be serviced?"
scores = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0.01, 50), max_size=8)
cosines = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-1, 1), max_size=8)


class Concepts:
    """An embedder over `concepts`; `wrong` is raised where it is set."""

    name, local, price = "concepts:m", True, 0.5

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.wrong: Exception | None = None

    def embed(self, texts: Sequence[str], kind: TextKind) -> Embedding:
        if self.wrong:
            raise self.wrong
        self.asked += texts if kind == "query" else ()
        return Embedding(vectors(texts), len(texts))

    def close(self) -> None:
        pass


@contextmanager
def nobody_else(say: object) -> Iterator[None]:
    yield


class Scene:
    """A library with its index, its vectors, and the search over both."""

    def __init__(self, folder: Path, weight: float = 0.7) -> None:
        self.store: Store = memory_store()
        self.spans = DocumentReader(self.store.blobs).spans
        self.embedder, self.private = Concepts(), False
        self.vectors = VectorStore(create_sqlite_engine(folder / "vectors.db"), "concepts:m", "cut/1")
        self.index = LocalSearch(None, self.store.library, self.spans)
        self.search = HybridSearch(
            self.index, self.vectors, self.embedder, self.store.library, lambda names: not self.private, weight
        )
        fill(self.store, TEXTS)

    def embed(self) -> None:
        builder = VectorBuilder(self.vectors, self.embedder, self.store.library, self.spans, nobody_else)
        builder.build(EmbeddingLimits(), set())

    def names(self, text: str, limit: int = 10, collections: tuple[str, ...] = ("default",)) -> list[str]:
        hits = self.search.search_blocking(Query(text=text, limit=limit, collections=collections))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        return [hit.document.name for hit in hits]

    def same(self, text: str, limit: int = 10) -> bool:
        query = Query(text=text, limit=limit)
        return self.search.search_blocking(query) == self.index.search_blocking(query)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.search.close()


def test_what_means_the_same_is_found_first(scene: Scene) -> None:
    assert scene.names(ASKED)[0] == "bread.md"
    scene.embed()
    assert scene.names(ASKED)[0] == "vehicles.md"
    assert scene.names("physician")[0] == "hospital.md"
    assert scene.index.search_blocking(Query(text="physician")) == []


def test_a_hit_by_meaning_has_its_nearest_passage_first(scene: Scene) -> None:
    scene.embed()
    (hit, *_) = scene.search.search_blocking(Query(text=ASKED))
    assert hit.spans[0].text == "Each automobile needs maintenance after twelve months."
    spans = scene.spans(hit.document)
    assert all(spans[span.ordinal] == span for span in hit.spans)


@pytest.mark.parametrize("text", [ASKED, "salary", "", "?!", "xyzzyplugh"])
def test_without_vectors_it_is_the_index(scene: Scene, text: str) -> None:
    assert scene.same(text)
    assert scene.embedder.asked == []


@pytest.mark.parametrize("text", ["", "   ", "?!", "🎉"])
def test_a_question_without_a_word_finds_nothing(scene: Scene, text: str) -> None:
    scene.embed()
    assert scene.names(text) == []
    assert scene.embedder.asked == []


def test_where_the_embedder_does_not_answer_it_is_the_index(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.embed()
    scene.embedder.wrong = ModelError("away")
    assert scene.same(ASKED)
    assert "searching by words alone: concepts:m: away" in caplog.text
    scene.embedder.wrong = None
    assert not scene.same(ASKED)


def test_what_is_private_is_not_told(scene: Scene) -> None:
    scene.embed()
    scene.private = True
    assert scene.same(ASKED)
    assert scene.embedder.asked == []


def test_the_scope_is_exact(scene: Scene) -> None:
    scene.embed()
    (pay,) = scene.store.library.find("pay.md", ["default"])
    only = scene.store.library.collection_for([pay.sha256])
    assert scene.names(ASKED, collections=(only,)) in ([], ["pay.md"])
    assert scene.names("wage salary", collections=(only,)) == ["pay.md"]
    assert scene.names(ASKED, collections=("nowhere",)) == []
    assert scene.names(ASKED, limit=1) == ["vehicles.md"]
    assert scene.names(ASKED, limit=0) == []


def test_what_has_no_vectors_yet_is_found_by_its_words(scene: Scene) -> None:
    scene.embed()
    fill(scene.store, {"zeppelin.md": "The zeppelin landed."})
    assert scene.names("zeppelin landed")[0] == "zeppelin.md"
    scene.embed()
    assert scene.names("zeppelin landed")[0] == "zeppelin.md"


def test_what_was_forgotten_is_not_found(scene: Scene) -> None:
    scene.embed()
    assert scene.names(ASKED)[0] == "vehicles.md"
    scene.search.forget([1])
    assert "vehicles.md" not in scene.names("physician")
    fill(scene.store, {"other.md": "Another car."})
    scene.embed()
    assert scene.names(ASKED)[0] == "other.md"


def test_a_question_is_embedded_once_and_counted(scene: Scene) -> None:
    scene.embed()
    before = scene.vectors.progress()
    assert scene.names(ASKED) == scene.names(ASKED)
    assert scene.embedder.asked == [ASKED]
    after = scene.vectors.progress()
    assert (after.tokens - before.tokens, after.usd - before.usd) == (1, pytest.approx(0.5e-6))


def test_vectors_made_by_others_are_seen(tmp_path: Path, scene: Scene) -> None:
    scene.embed()
    scene.names(ASKED)
    other = VectorStore(create_sqlite_engine(tmp_path / "vectors.db"), "concepts:m", "cut/1")
    fill(scene.store, {"garage.md": "The car is maintained."})
    VectorBuilder(other, scene.embedder, scene.store.library, scene.spans, nobody_else).build(EmbeddingLimits(), set())
    assert "garage.md" in scene.names("automobile")


def test_vectors_of_another_library_are_not_taken_for_its_documents(scene: Scene) -> None:
    scene.embed()
    restored = memory_store()
    fill(restored, {"first.md": "Nothing."})  # the rows of all others are moved by one
    fill(restored, TEXTS)
    spans = DocumentReader(restored.blobs).spans
    index = LocalSearch(None, restored.library, spans)
    search = HybridSearch(index, scene.vectors, scene.embedder, restored.library, lambda names: True, 0.7)
    assert [hit.document.name for hit in search.search_blocking(Query(text="physician"))] == []


# why


async def test_the_parts_of_an_explanation_are_the_score(scene: Scene) -> None:
    fill(scene.store, {f"note-{number}.md": f"# Note {number}\n\nBread of day {number}." for number in range(30)})
    for text in ("salt water bread", "note 7", "bread", ASKED):
        found = await scene.index.explain(Query(text=text, limit=40))
        assert [each.hit for each in found] == scene.index.search_blocking(Query(text=text, limit=40))
        for rank, each in enumerate(found, 1):
            assert (each.lexical, each.lexical_rank, each.cosine) == (each.hit.score, rank, None)
            assert sum(word.score for word in each.words) == pytest.approx(each.hit.score, rel=1e-4)


def test_both_rankings_are_told(scene: Scene) -> None:
    scene.embed()
    found = {each.hit.document.name: each for each in asyncio.run(scene.search.explain(Query(text=ASKED)))}
    assert list(found) == scene.names(ASKED)
    vehicles, bread = found["vehicles.md"], found["bread.md"]
    assert (vehicles.lexical, vehicles.lexical_rank, vehicles.cosine_rank) == (None, None, 1)
    assert (bread.lexical_rank, [word.word for word in bread.words][:1]) == (1, ["often"])
    assert vehicles.cosine is not None
    assert bread.cosine is not None
    assert vehicles.cosine > bread.cosine


def test_without_vectors_the_index_tells(scene: Scene) -> None:
    (found, *_) = asyncio.run(scene.search.explain(Query(text="salary")))
    assert isinstance(found, Explanation)
    assert (found.hit.document.name, found.cosine) == ("pay.md", None)


# fusion


@given(scores, cosines, st.floats(0, 1))
def test_every_candidate_is_ranked_once_between_0_and_1(
    lexical: dict[str, float], near: dict[str, float], weight: float
) -> None:
    fused = fuse_scores(lexical, near, weight)
    assert {each.document for each in fused} == lexical.keys() | near.keys()
    assert len(fused) == len(lexical.keys() | near.keys())
    assert all(0 <= each.score <= 1 + 1e-9 for each in fused)
    assert [each.score for each in fused] == sorted((each.score for each in fused), reverse=True)
    assert sorted(each.lexical_rank for each in fused if each.lexical_rank) == list(range(1, len(lexical) + 1))


@given(scores, cosines)
def test_at_its_ends_the_weight_leaves_one_ranking(lexical: dict[str, float], near: dict[str, float]) -> None:
    words = [each.lexical for each in fuse_scores(lexical, near, 0.0) if each.lexical is not None]
    assert words == sorted(words, reverse=True)
    everywhere = {each: near.get(each, 0.0) for each in lexical.keys() | near.keys()}
    meaning = [each.cosine for each in fuse_scores(lexical, everywhere, 1.0) if each.cosine is not None]
    span = max(meaning, default=0.0) - min(meaning, default=0.0)
    assert all(a >= b - span * 1e-9 for a, b in itertools.pairwise(meaning))


@given(scores, cosines, st.floats(0, 1), st.floats(0.1, 10))
def test_scores_by_words_may_be_of_any_scale(
    lexical: dict[str, float], near: dict[str, float], weight: float, scale: float
) -> None:
    scaled = fuse_scores({each: score * scale for each, score in lexical.items()}, near, weight)
    for one in fuse_scores(lexical, near, weight):
        (other,) = [each for each in scaled if each.document == one.document]
        assert other.score == pytest.approx(one.score)


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_two_rankings_as_one(first: list[int], second: list[int]) -> None:
    found = merge_rankings(first, second)
    assert sorted(found) == sorted({*first, *second})
    assert merge_rankings(first, first) == first
    if first and second and first[0] == second[0]:
        assert found[0] == first[0]
