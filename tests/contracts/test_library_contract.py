"""What every library keeps of the promises in `core.ports.Library`."""

from __future__ import annotations

import threading

import pytest
from shelf import hashes, names, pair

from assay.core.errors import UnknownName
from assay.core.ports import DocumentMove, FileStamp, Library, StoredPlace
from assay.core.sources import CollectionSummary, Document, sha256


@pytest.fixture
def library(stores) -> Library:
    return stores.one.library


@pytest.fixture
def other(stores) -> Library:
    return stores.two.library


def test_an_empty_library_has_nothing(library):
    assert library.document("0" * 64) is None
    assert library.snapshot("0" * 64) is None
    assert library.stamps(["a"]) == {}
    assert library.documents(["default"]) == []
    assert library.members(["default"]) == set()
    assert library.documents_after(0, 10) == []
    assert library.last_row() == 0
    assert library.find("a", ["default"]) == []
    assert library.summary(["default"]) == CollectionSummary(documents=0)


def test_what_is_added_comes_back_whole(library, other):
    snapshot, document = pair(
        "a", author="Ann", published="2026-01-02", language="en", metadata={"status": "Final", "né": "中文\n"}
    )
    stamp = FileStamp(path="/docs/a.txt", size=4, mtime_ns=1_772_366_400_123_456_789, documents=(document.sha256,))
    library.add([(snapshot, document)], "default", [stamp])

    assert other.document(document.sha256) == document
    assert other.snapshot(snapshot.sha256) == snapshot
    assert other.stamps(["/docs/a.txt"]) == {"/docs/a.txt": stamp}
    assert other.files_of([document.sha256, "0" * 64]) == {document.sha256: ("/docs/a.txt",)}
    assert other.files_of(["0" * 64]) == {}
    assert other.documents(["default"]) == [document]


def moved(text: str, before: str, after: str) -> DocumentMove:
    return DocumentMove(sha256=hashes(text)[0], before=before, url=after, name=after.rpartition("/")[2])


def test_a_moved_document_has_its_new_place_and_all_else_as_before(library, other):
    snapshot, document = pair("a", url="file:///a/tides.md", name="tides.md", title="Of tides", author="Ann")
    library.add([(snapshot, document), pair("b")], "one")
    row = library.members(["one"])

    stamp = FileStamp(path="/b/ebb.md", size=1, mtime_ns=1, documents=(document.sha256,))
    library.add([pair("c")], "two", [stamp], [moved("a", "file:///a/tides.md", "file:///b/ebb.md")])

    now = other.document(document.sha256)
    assert (now.url, now.name) == ("file:///b/ebb.md", "ebb.md")
    assert (now.title, now.author, now.fetched_at) == (document.title, "Ann", document.fetched_at)
    assert other.members(["one"]) == row
    assert other.find("tides.md", ["one"]) == []
    assert other.find("ebb.md", ["one"]) == other.find("Of tides", ["one"]) == [now]
    assert other.stamps(["/b/ebb.md"]) == {"/b/ebb.md": stamp}
    assert names(other.documents(["one", "two"])) == ["ebb.md", "b", "c"]


def test_a_document_that_was_moved_meanwhile_stays_there(library):
    library.add([pair("a", url="file:///a/1")], "one")
    unknown = moved("zz", "file:///a/1", "file:///c/1")
    library.add([], "one", (), [moved("a", "file:///a/1", "file:///b/1"), unknown])
    library.add([], "one", (), [moved("a", "file:///a/1", "file:///c/1")])
    assert library.document(*hashes("a")).url == "file:///b/1"
    assert library.document(*hashes("zz")) is None


def test_stored_places_are_those_of_known_documents(library):
    library.add([pair("a", url="file:///a/1"), pair("b", url="file:///a/1\0")], "one")
    rows = sorted(library.members(["one"]))
    found = library.stored_places(hashes("a", "zz", "b"))
    read = [library.document(sha).snapshot_sha256 for sha in hashes("a", "b")]
    places = map(StoredPlace, rows, ["file:///a/1", "file:///a/1\0"], read)
    assert found == dict(zip(hashes("a", "b"), places, strict=True))
    assert library.stored_places([]) == {}
    assert library.stored_places(hashes(*map(str, range(2_000)), "a")).keys() == set(hashes("a"))


def test_known_documents_are_left_as_they_are_and_join_the_collection(library):
    library.add([pair("a")], "one")
    row = library.last_row()
    library.add([pair("a", title="Another"), pair("b")], "two")

    assert library.document(*hashes("a")) == pair("a")[1]
    assert names(library.documents(["two"])) == ["a", "b"]
    assert names(library.documents(["one"])) == ["a"]
    assert [found for found, _ in library.documents_after(row, 10)] == [library.last_row()]


def test_documents_at_their_rows(library):
    library.add([pair("a"), pair("b"), pair("c")], "one")
    first, _, last = (row for row, _ in library.documents_after(0, 10))
    assert library.documents_at([last, first, last + 100, 0, -1]) == {first: pair("a")[1], last: pair("c")[1]}
    assert library.documents_at([]) == {}


def test_documents_are_counted_once(library):
    library.add([pair("a"), pair("b")], "one")
    library.add([pair("b"), pair("c")], "two")
    counts = [library.count(names) for names in (["one"], ["one", "two"], ["none"], [])]
    assert counts == [2, 3, 0, 0]
    assert [len(library.members(names)) for names in (["one"], ["one", "two"], ["none"], [])] == counts


def test_the_same_document_twice_in_one_call_is_one(library):
    library.add([pair("a"), pair("a", title="Another")], "default")
    assert library.documents(["default"]) == [pair("a")[1]]


def test_adding_nothing_is_allowed_and_stamps_are_renewed(library):
    stamp = FileStamp(path="empty.txt", size=0, mtime_ns=1, documents=())
    library.add([], "default", [stamp])
    assert library.stamps(["empty.txt"]) == {"empty.txt": stamp}
    newer = FileStamp(path="empty.txt", size=1, mtime_ns=2, documents=("x", "y"))
    library.add([], "default", [newer])
    assert library.stamps(["empty.txt"]) == {"empty.txt": newer}
    assert library.documents(["default"]) == []


@pytest.mark.parametrize("path", ["naïve/中文 😀.txt", "bad\udcff\udcfe.txt", "a'b\"c%_\\.txt", ""])
def test_any_file_name_can_be_stamped(library, path):
    stamp = FileStamp(path=path, size=1, mtime_ns=2, documents=())
    library.add([], "default", [stamp])
    assert library.stamps([path]) == {path: stamp}
    assert library.stamps([path + "x", path]) == {path: stamp}
    assert library.stamps([]) == {}


# collections


def test_a_selection_holds_exactly_its_documents_and_is_named_by_them(library, other):
    library.add([pair(text) for text in "abc"], "default")
    name = library.collection_for(hashes("c", "a", "c"))

    assert name == "set-" + sha256("\n".join(sorted(hashes("a", "c"))).encode())[:16]
    assert names(other.documents([name])) == ["a", "c"]
    assert other.collection_for(hashes("a", "c")) == name
    assert library.collection_for(hashes("a")) != name
    assert names(library.documents([name])) == ["a", "c"]


def test_a_selection_somebody_added_to_is_made_exact_again(library):
    library.add([pair(text) for text in "abc"], "default")
    name = library.collection_for(hashes("a", "b"))
    library.include(hashes("c"), name)
    assert library.collection_for(hashes("a", "b")) == name
    assert names(library.documents([name])) == ["a", "b"]


def test_an_empty_selection_is_empty(library):
    library.add([pair("a")], "default")
    assert library.documents([library.collection_for([])]) == []


def test_including_adds_and_repeats_are_harmless(library):
    library.add([pair(text) for text in "abc"], "default")
    library.include(hashes("b"), "mine")
    library.include(iter(hashes("a", "b")), "mine")
    assert names(library.documents(["mine"])) == ["a", "b"]


def test_unknown_documents_are_refused_whole(library):
    library.add([pair("a")], "default")
    with pytest.raises(UnknownName, match="document"):
        library.include(hashes("a", "zz"), "mine")
    with pytest.raises(UnknownName, match="document"):
        library.collection_for(hashes("a", "zz"))
    assert library.documents(["mine"]) == []


def test_it_says_which_of_many_documents_it_knows(library):
    library.add([pair("a"), pair("b")], "default")
    assert library.existing_documents(hashes("a", "zz", "b")) == set(hashes("a", "b"))
    assert library.existing_documents([]) == set()


def test_documents_are_found_at_once_in_the_order_asked(library):
    library.add([pair("a"), pair("b"), pair("c")], "notes")
    asked = hashes("c", "zz", "a", "c")
    assert library.documents_by_hash(asked) == [pair("c")[1], pair("a")[1]]
    assert library.documents_by_hash([]) == []
    many = [f"{number:064}" for number in range(600)]  # more than one statement takes
    assert library.documents_by_hash([*many, *hashes("b")]) == [pair("b")[1]]


def test_documents_come_in_the_order_of_adding_each_once(library):
    library.add([pair("c"), pair("a")], "one")
    library.add([pair("b"), pair("c")], "two")
    assert names(library.documents(["two", "one"])) == ["c", "a", "b"]
    assert names(library.documents(["two", "one"], limit=2)) == ["c", "a"]
    assert library.documents(["one"], limit=0) == []
    assert library.documents([]) == []


def test_members_are_row_numbers(library):
    library.add([pair("a"), pair("b")], "one")
    library.add([pair("c")], "two")
    rows = {document.name: row for row, document in library.documents_after(0, 10)}
    assert library.members(["one"]) == {rows["a.txt"], rows["b.txt"]}
    assert library.members(["one", "two", "none"]) == set(rows.values())


def test_an_index_catches_up_by_row_number(library, other):
    library.add([pair(str(n)) for n in range(25)], "default")
    seen: list[Document] = []
    row = 0
    while found := other.documents_after(row, 10):
        assert [number for number, _ in found] == sorted(number for number, _ in found)
        seen += [document for _, document in found]
        row = found[-1][0]
    assert names(seen) == [str(n) for n in range(25)]
    assert row == other.last_row()
    library.add([pair("late"), pair("3")], "default")
    assert names([document for _, document in other.documents_after(row, 10)]) == ["late"]
    assert other.documents_after(other.last_row(), 10) == []


# find


@pytest.fixture
def shelf(library) -> Library:
    library.add(
        [
            pair("a", name="PEP 8", title="Style Guide for Python Code", url="https://peps.python.org/pep-0008/"),
            pair("b", name="PEP 80", title="Über  Größe\nund mehr", url="https://peps.python.org/pep-0080/"),
            pair("c", name="100%_sure", title="About PEP 8", url=""),
            pair("d", name="PEP 8", title="A second of that name", url=""),
        ],
        "default",
    )
    library.add([pair("e", name="PEP 8", title="Elsewhere", url="")], "elsewhere")
    return library


def titles(documents: list[Document]) -> list[str]:
    return [document.title.split()[0] for document in documents]


FOUND = {
    "PEP 8": ["Style", "A", "Über", "About"],  # exact names first, then parts, each in the order of adding
    "pep  8": ["Style", "A", "Über", "About"],
    "https://peps.python.org/pep-0080/": ["Über"],
    "style guide for python code": ["Style"],
    "ÜBER GRÖSSE UND": ["Über"],
    "%_": ["About"],
    "_": ["About"],
    "pep_8": [],
    "elsewhere": [],
    "": [],
    "  ": [],
    "x" * 100_000: [],
    "nul\0": [],
}


def test_find_by_name_url_and_title(shelf):
    for reference, found in FOUND.items():
        assert titles(shelf.find(reference, ["default"])) == found, reference[:30]


def test_find_what_is_no_utf8(shelf):
    assert shelf.find("bad\udcff.txt", ["default"]) == []
    assert shelf.find("half \ud800", ["default"]) == []


def test_find_by_hash(shelf):
    (digest,) = hashes("c")
    assert titles(shelf.find(digest, ["default"])) == ["About"]
    assert titles(shelf.find(digest[:8], ["default"])) == ["About"]
    assert titles(shelf.find(digest[:12].upper(), ["default"])) == ["About"]
    assert shelf.find(digest[:7], ["default"]) == []
    assert shelf.find(digest, ["elsewhere"]) == []
    assert titles(shelf.find("Elsewhere", ["default", "elsewhere"])) == ["Elsewhere"]


def test_find_gives_at_most_twenty(library):
    library.add([pair(str(n), title="Same") for n in range(30)], "default")
    assert names(library.find("same", ["default"])) == [str(n) for n in range(20)]


# summary


def test_summary_tells_what_is_there(library):
    library.add(
        [
            pair("a", language="en", published="2024-05-01"),
            pair("b", language="de", media_type="text/html", published="2019"),
            pair("c", language="en", media_type="text/html"),
            pair("d", name="", media_type="text/html"),
        ],
        "default",
    )
    library.add([pair("e")], "elsewhere")
    library.include(hashes("a"), "elsewhere")

    assert library.summary(["default", "elsewhere"]) == CollectionSummary(
        documents=5,
        kinds={"text/html": 3, "text/plain": 2},
        languages={"en": 2, "de": 1},
        published=("2019", "2024-05-01"),
        names=("a.txt", "b.txt", "c.txt", "e.txt"),
    )
    assert library.summary(["elsewhere"]).documents == 2
    assert library.summary(["default"], names=2).names == ("a.txt", "b.txt")
    assert list(library.summary(["default"]).kinds) == ["text/html", "text/plain"]


def test_summary_names_thirty_by_default(library):
    library.add([pair(str(n)) for n in range(40)], "default")
    assert len(library.summary(["default"]).names) == 30


# size and threads


def test_thousands_at_once(library):
    pairs = [pair(f"{n:05}", metadata={"n": str(n)}) for n in range(3000)]
    library.add(pairs, "default")
    name = library.collection_for(document.sha256 for _, document in pairs[:2500])
    assert len(library.members([name])) == 2500
    assert library.summary(["default"]).documents == 3000
    assert library.documents(["default"], limit=1) == [pairs[0][1]]


def test_threads_may_add_at_once(library, other):
    def add(into: Library, offset: int) -> None:
        for n in range(20):
            into.add([pair(f"{offset + n}"), pair("shared")], "default")

    threads = [threading.Thread(target=add, args=(into, n * 20)) for n, into in enumerate((library, other) * 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert library.summary(["default"]).documents == 81
    assert len({row for row, _ in library.documents_after(0, 1000)}) == 81
