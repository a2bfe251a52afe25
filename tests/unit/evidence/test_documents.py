"""Reading documents back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import StoreError
from assay.core.sources import Document
from assay.evidence import documents
from assay.evidence.documents import DocumentReader, passage_with_surroundings
from assay.store.memory import MemoryBlobs


class CountingBlobs(MemoryBlobs):
    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    def get(self, sha256: str) -> bytes:
        self.reads += 1
        return super().get(sha256)


def document(blobs: MemoryBlobs, text: str) -> Document:
    digest = blobs.put(text.encode())
    return Document(
        sha256=digest,
        snapshot_sha256=digest,
        extractor="test/1",
        url="",
        title="t",
        name="t",
        media_type="text/plain",
        syntax="plain",
        size=len(text.encode()),
        fetched_at="",
    )


def test_texts_and_passages_are_kept() -> None:
    blobs = CountingBlobs()
    reader = DocumentReader(blobs, texts=2, lists=2)
    found = document(blobs, "One. Two.")
    assert reader.spans(found) is reader.spans(found)
    assert reader.text(found) == b"One. Two."
    assert blobs.reads == 1


def test_the_oldest_are_dropped() -> None:
    blobs = CountingBlobs()
    reader = DocumentReader(blobs, texts=1)
    first, second = document(blobs, "one"), document(blobs, "two")
    for found in (first, second, first):
        reader.text(found)
    assert blobs.reads == 3


def test_a_missing_text_is_said() -> None:
    found = document(MemoryBlobs(), "x")
    with pytest.raises(StoreError):
        DocumentReader(MemoryBlobs()).text(found)


def test_context_stops_at_words() -> None:
    blobs = MemoryBlobs()
    found = document(blobs, "alpha beta gamma delta epsilon")
    assert passage_with_surroundings(DocumentReader(blobs), found, 11, 16, context_bytes=8) == (
        " beta ",
        "gamma",
        " delta ",
    )
    assert passage_with_surroundings(DocumentReader(blobs), found, 11, 16) == ("alpha beta ", "gamma", " delta epsilon")


def test_context_outside_the_document() -> None:
    blobs = MemoryBlobs()
    with pytest.raises(ValueError, match="not in a document"):
        passage_with_surroundings(DocumentReader(blobs), document(blobs, "x"), 0, 2)


@given(st.text(alphabet="aé字 👩\u200d\u0301\n", max_size=80), st.data())
def test_context_is_part_of_the_text(text: str, data: st.DataObject) -> None:
    blobs = MemoryBlobs()
    found = document(blobs, text)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    low, high = len(text[:start].encode()), len(text[:end].encode())
    before, middle, after = passage_with_surroundings(
        DocumentReader(blobs), found, low, high, context_bytes=data.draw(st.integers(0, 40))
    )
    assert middle == text[start:end]
    assert before + middle + after in text


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=40))
def test_what_is_kept_is_bounded_in_bytes(asked: list[tuple[int, int]]) -> None:
    cache = documents._Cache[bytes](4, 100, len)
    for key, size in asked:
        cache.get(str(key), lambda size=size: b"x" * size)  # type: ignore[misc]
        kept = [value for value, _ in cache._entries.values()]
        assert cache._bytes == sum(map(len, kept))
        assert cache._bytes <= 100
        assert len(kept) <= 4


def test_one_document_larger_than_all_that_is_kept_is_kept_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "TEXTS_BYTES", 10)
    blobs = CountingBlobs()
    reader = DocumentReader(blobs)
    small, large = document(blobs, "small"), document(blobs, "large " * 10)
    for found in (small, large, large, small):
        reader.text(found)
    assert blobs.reads == 3
