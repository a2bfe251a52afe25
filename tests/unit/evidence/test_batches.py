"""Many texts cut in batches: the same passages in the same order, a few batches under way at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_of import fill
from sampling import scaled

from assay.core.errors import StoreError
from assay.core.sources import Document
from assay.evidence import documents as reading
from assay.evidence.documents import AHEAD_BATCHES, DocumentReader, Spans, Texts, cut_all, cut_in_order
from assay.store.memory import memory_store

LONG = "The tide rises twice a day. " * 35


@pytest.fixture(autouse=True, scope="module")
def small_batches() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH_BYTES", 2_500)
        yield


def library(texts: Sequence[str]) -> tuple[DocumentReader, list[Document]]:
    store = memory_store()
    fill(store, {f"{number}.md": f"# Text {number}\n\n{text}\n" for number, text in enumerate(texts)})
    return DocumentReader(store.blobs), store.library.documents(["default"])


@settings(max_examples=scaled(30), deadline=None)
@given(st.lists(st.sampled_from(["A gauge.", "Two words. And more.", LONG, "- item\n- other"]), max_size=12))
def test_batches_give_what_each_document_gives(texts: list[str]) -> None:
    reader, documents = library(texts)
    assert list(reader.each_spans(iter(documents))) == [reader.spans(each) for each in documents]


def test_a_text_which_cannot_be_read_costs_itself_alone() -> None:
    reader, documents = library(["One.", "Two.", "Three."])

    def text(document: Document) -> bytes:
        if document.name == "1.md":
            raise StoreError("gone")
        return reader.text(document)

    first, second, third = cut_in_order(documents, text, lambda texts: lambda: cut_all(texts))
    assert (first, third) == (reader.spans(documents[0]), reader.spans(documents[2]))
    assert str(second) == "gone"


def test_few_batches_are_under_way_at_once() -> None:
    reader, documents = library([f"{LONG} {number}" for number in range(60)])
    begun, waited, most = 0, 0, 0

    def begin(texts: Texts) -> Callable[[], Sequence[Spans]]:
        nonlocal begun, most
        begun += 1
        most = max(most, begun - waited)

        def wait() -> Sequence[Spans]:
            nonlocal waited
            waited += 1
            return cut_all(texts)

        return wait

    found = list(cut_in_order(documents, reader.text, begin))
    assert found == [reader.spans(each) for each in documents]
    assert (begun, most) == (20, AHEAD_BATCHES + 1)
