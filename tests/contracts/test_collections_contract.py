"""What every library keeps of the promises in `core.ports.Collections`."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library_of import entry
from sampling import scaled

from assay.core.ports import CollectionRow, Library, Origin, SkippedFile
from assay.core.sources import Document, sha256
from assay.store.memory import memory_store


@pytest.fixture
def library(stores) -> Library:
    return stores.one.library


@pytest.fixture
def other(stores) -> Library:
    return stores.two.library


@pytest.fixture
def shelf(stores) -> list[Document]:
    """Three documents: a and b in `one`, b and c in `two`."""
    pairs = [entry(stores.one, name, f"Text of {name}.") for name in "abc"]
    stores.one.library.add(pairs[:2], "one")
    stores.one.library.add(pairs[1:], "two")
    return [document for _, document in pairs]


def names(documents: list[Document]) -> str:
    return "".join(document.name for document in documents)


def test_an_empty_library_has_no_collections(library):
    assert library.collections() == []
    assert library.origins("one") == []
    assert library.private_among(["one"], ["0" * 64]) == []
    library.remove(["0" * 64], "one")
    library.drop("one")
    library.forget_origins("one", ["/a"])
    assert library.collections() == []


def test_collections_are_listed_with_counts(library, other, shelf):
    library.mark("two", private=True)
    library.add_origins("one", [Origin(place="/docs", kind="files"), Origin(place="/more", kind="files")])
    library.add_origins("bare", [])
    assert other.collections() == [
        CollectionRow(name="bare", documents=0),
        CollectionRow(name="one", documents=2, origins=2),
        CollectionRow(name="two", documents=2, private=True),
    ]


def test_what_is_removed_leaves_that_collection_only(library, other, shelf):
    library.remove([shelf[1].sha256, "0" * 64], "one")
    assert names(other.documents(["one"])) == "a"
    assert names(other.documents(["two"])) == "bc"
    assert other.document(shelf[1].sha256) == shelf[1]


def test_a_dropped_collection_is_gone_and_its_documents_stay(library, other, shelf):
    library.add_origins("one", [Origin(place="/docs", kind="files")])
    library.mark("one", private=True)
    library.drop("one")
    assert [row.name for row in other.collections()] == ["two"]
    assert other.documents(["one"]) == []
    assert other.origins("one") == []
    assert other.document(shelf[0].sha256) == shelf[0]
    library.include([shelf[0].sha256], "one")
    assert other.collections()[0] == CollectionRow(name="one", documents=1)


@pytest.mark.parametrize(
    "place", ["/naïve/中文 😀", "/bad\udcff", "https://example.org/?a=1&b='2'", "git+https://x/y@z", ""]
)
def test_origins_come_back_whole(library, other, place):
    origin = Origin(
        place=place,
        kind="crawl",
        options={"pages": "20", "né": "中\n"},
        documents=(sha256(b"a"), sha256(b"b")),
        left_out=("file:///a%20b",),
        synced_at="2026-03-01T12:00:00.000Z",
        skipped=(SkippedFile("/a b/scan.pdf", "no text"), SkippedFile("/né\0", "中", partly=True)),
    )
    library.add_origins("one", [origin])
    assert other.origins("one") == [origin]
    newer = Origin(place=place, kind="page")
    library.add_origins("one", [newer])
    assert other.origins("one") == [newer]
    assert other.origins("two") == []
    library.forget_origins("one", [place, "else"])
    assert other.origins("one") == []


def test_a_document_of_a_private_collection_is_private_everywhere(library, other, shelf):
    assert library.private_among(["one", "two"]) == []
    library.mark("two", private=True)
    assert other.private_among(["two"]) == ["two"]
    assert other.private_among(["one"]) == ["two"]  # b is in both
    assert other.private_among([library.collection_for([shelf[0].sha256])]) == []
    assert other.private_among([library.collection_for([shelf[2].sha256])]) == ["two"]
    assert other.private_among([], [shelf[2].sha256]) == ["two"]
    assert other.private_among([], [shelf[0].sha256, "0" * 64]) == []
    library.remove([shelf[1].sha256], "two")
    assert other.private_among(["one"]) == []
    library.mark("two", private=False)
    assert other.private_among(["two"]) == []


def test_an_empty_private_collection_is_private(library, other):
    library.mark("mine", private=True)
    assert other.private_among(["mine", "else"]) == ["mine"]
    assert other.collections() == [CollectionRow(name="mine", documents=0, private=True)]


@settings(max_examples=scaled(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    one=st.sets(st.integers(0, 7)), two=st.sets(st.integers(0, 7)), gone=st.sets(st.integers(0, 7)), asked=st.booleans()
)
def test_removing_is_what_sets_do(one, two, gone, asked):
    store = memory_store()
    pairs = [entry(store, str(number), f"Text {number}.") for number in range(8)]
    store.library.add(pairs, "all")
    hashes = [document.sha256 for _, document in pairs]
    store.library.include([hashes[number] for number in one], "one")
    store.library.include([hashes[number] for number in two], "two")
    store.library.mark("two", private=True)
    store.library.remove([hashes[number] for number in gone], "one")
    left = one - gone
    assert {int(document.name) for document in store.library.documents(["one"])} == left
    assert store.library.private_among(["one"]) == (["two"] if left & two else [])
