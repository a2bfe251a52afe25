"""The local index as a derived thing: deleted, damaged, killed, shared."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
import warm
from filelock import FileLock
from library_of import entry, fill
from sampling import sampled

from assay.core.errors import SearchError, StoreError
from assay.core.ports import Query
from assay.core.ports.store import Store
from assay.core.sources import Document, PassageSpan
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.search.local.index import INDEX_FORMAT, document_count
from assay.store.memory import memory_store
from assay.store.sql import open_store

TEXTS = {
    f"doc-{number}.md": f"# Report {number}\n\nThe word w{number} is here.\n\nCommon prose." for number in range(30)
}


@pytest.fixture
def store() -> Store:
    store = memory_store()
    fill(store, TEXTS)
    return store


def opened(store: Store, path: Path | None) -> LocalSearch:
    return LocalSearch(path, store.library, DocumentReader(store.blobs).spans)


def found(search: LocalSearch, text: str) -> list[str]:
    return [hit.document.name for hit in search.search_blocking(Query(text=text, limit=100))]


def test_a_second_process_finds_it_indexed(store: Store, tmp_path: Path) -> None:
    opened(store, tmp_path).sync()

    def never(document: Document) -> tuple[PassageSpan, ...]:
        raise AssertionError("indexed twice")

    again = LocalSearch(tmp_path, store.library, never)
    assert found(again, "w7") == ["doc-7.md"]


@pytest.mark.parametrize("alive", [True, False])
def test_a_deleted_index_is_built_again(store: Store, tmp_path: Path, alive: bool) -> None:
    search = opened(store, tmp_path)
    search.sync()
    shutil.rmtree(tmp_path / INDEX_FORMAT)
    search = search if alive else opened(store, tmp_path)
    assert found(search, "w7") == ["doc-7.md"]
    assert len(found(search, "common")) == 30


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_index_is_built_again(store: Store, tmp_path: Path, seed: int) -> None:
    opened(store, tmp_path).sync()
    chance = random.Random(seed)
    files = sorted(file for file in (tmp_path / INDEX_FORMAT).rglob("*") if file.is_file() and file.stat().st_size)
    for file in chance.sample(files, 2):
        if seed % 3 == 0:
            file.unlink()
        elif seed % 3 == 1:
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        else:
            file.write_bytes(b"garbage" * 10)
    search = opened(store, tmp_path)
    assert found(search, "w7") == ["doc-7.md"]
    assert len(found(search, "common")) == 30


def test_an_index_that_cannot_be_written_says_so_and_recovers(store: Store, tmp_path: Path) -> None:
    """Its writer runs in another thread, whose end is no bug but the disk's."""
    resource = pytest.importorskip("resource")
    text = " ".join(f"w{number}" for number in range(60_000))
    fill(store, {f"long-{number}.md": f"{text} v{number}" for number in range(3)})
    search, (_, most) = opened(store, tmp_path), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, most))
    try:
        with pytest.raises(SearchError, match=r"cannot be written .*: free some space"):
            search.sync()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    search.sync()
    assert found(search, "v2") == ["long-2.md"]
    search.close()


def test_an_index_of_another_library_is_built_again(store: Store, tmp_path: Path) -> None:
    opened(store, tmp_path).sync()
    other = memory_store()
    fill(other, {"x.md": "Only the word quux."})
    assert found(opened(other, tmp_path), "quux") == ["x.md"]


def test_an_index_of_another_library_as_long_is_noticed(store: Store, tmp_path: Path) -> None:
    opened(store, tmp_path).sync()
    other = memory_store()
    fill(other, {f"other-{number}": f"The word w{number + 1} is there." for number in range(30)})
    assert found(opened(other, tmp_path), "w7") == ["other-6"]


class Shrinking:
    """A library from which another machine deletes some documents, the first of them perhaps during a search."""

    def __init__(self, store: Store) -> None:
        self._library, self.gone = store.library, range(0)

    def __getattr__(self, name: str) -> object:
        return getattr(self._library, name)

    def last_row(self) -> int:
        last = self._library.last_row()
        return self.gone.start - 1 if last in self.gone else last

    def count(self, collections: Sequence[str]) -> int:
        return self.last_row()

    def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
        return {row: each for row, each in self._library.documents_at(rows).items() if row not in self.gone}

    def documents_after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        raise AssertionError("indexed again")


@pytest.mark.parametrize("gone", [range(21, 31), range(9, 19)], ids=["before a search", "during a search"])
@pytest.mark.parametrize("alive", [True, False])
def test_deleted_documents_leave_the_index_and_the_others_stay(
    store: Store, tmp_path: Path, alive: bool, gone: range
) -> None:
    library = Shrinking(store)
    search = opened(store, tmp_path)
    search.sync()
    library.gone = gone
    if alive:
        search._library = library  # type: ignore[assignment]
    else:
        search = LocalSearch(tmp_path, library, DocumentReader(store.blobs).spans)  # type: ignore[arg-type]
    assert len(found(search, "common")) == 20
    assert found(search, "w7") == ["doc-7.md"]
    assert found(search, f"w{gone[3] - 1}") == []
    search.close()
    assert document_count(tmp_path) == 20


@pytest.mark.parametrize("on_disk", [True, False])
def test_more_documents_deleted_during_a_search_than_it_wants(store: Store, tmp_path: Path, on_disk: bool) -> None:
    class Late(Shrinking):
        """Deletes them once the search has ranked its documents."""

        def documents_at(self, rows: Collection[int]) -> dict[int, Document]:
            self.gone = range(1, 29)
            return super().documents_at(rows)

        def count(self, collections: Sequence[str]) -> int:
            return len(self.members(collections))

        def members(self, collections: Sequence[str]) -> set[int]:
            return self._library.members(collections) - set(self.gone)

    opened(store, tmp_path if on_disk else None).sync()
    library = Late(store)
    search = LocalSearch(tmp_path if on_disk else None, store.library, DocumentReader(store.blobs).spans)
    search.sync()
    search._library = library  # type: ignore[assignment]
    hits = search.search_blocking(Query(text="common", limit=3))
    assert {hit.document.name for hit in hits} == {"doc-28.md", "doc-29.md"}


def test_the_search_of_a_text_which_is_gone(store: Store, tmp_path: Path) -> None:
    ghost = entry(memory_store(), "ghost.md", "# Ghost story\n\nBoo.")
    store.library.add([ghost], "default")
    search = opened(store, tmp_path)
    assert found(search, "ghost story") == ["ghost.md"]
    assert found(search, "w7") == ["doc-7.md"]


def test_a_broken_library_is_a_failed_search(store: Store) -> None:
    class Broken:
        def __getattr__(self, name: str) -> object:
            raise StoreError("the database is gone")

    search = LocalSearch(None, Broken(), DocumentReader(store.blobs).spans)  # type: ignore[arg-type]
    with pytest.raises(SearchError, match="the database is gone"):
        search.search_blocking(Query(text="x"))


def test_writers_wait_with_a_message_and_readers_do_not(store: Store, tmp_path: Path) -> None:
    search = opened(store, tmp_path)
    search.sync()
    lock = FileLock(tmp_path / f"{INDEX_FORMAT}.lock")
    lines: list[str] = []
    with lock.acquire(timeout=60):  # merges may still be under way
        assert found(search, "w7") == ["doc-7.md"]
        fill(store, {"new.md": "zeppelin"})
        thread = threading.Thread(target=lambda: search.sync(lines.append))
        thread.start()
        deadline = time.monotonic() + 120
        while not lines and time.monotonic() < deadline:
            time.sleep(0.01)
        assert lines == ["waiting for another process to finish the search index"]
    thread.join(120)
    assert found(search, "zeppelin") == ["new.md"]


def test_what_is_added_is_found_while_merges_go_on_and_the_lock_is_given_back_after_them(
    store: Store, tmp_path: Path
) -> None:
    search = opened(store, tmp_path)
    for number in range(20):  # tantivy merges every eight commits
        fill(store, {f"new-{number}.md": f"zeppelin z{number}"})
        assert found(search, f"z{number}") == [f"new-{number}.md"]
    another = opened(store, tmp_path)
    fill(store, {"last.md": "balloon"})
    assert found(another, "balloon") == ["last.md"]
    assert found(search, "balloon") == ["last.md"]
    search.close()
    another.close()
    with FileLock(tmp_path / f"{INDEX_FORMAT}.lock").acquire(timeout=0):
        assert len(found(search, "zeppelin")) == 20


def test_a_document_whose_text_is_gone_is_found_by_its_title_and_the_next_by_its_words(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, {"gone.md": "# Gone\n\nThe harbor.", "there.md": "# There\n\nThe tide."})
    gone = next(each for each in store.library.documents(["default"]) if each.name == "gone.md")
    next((tmp_path / "blobs").glob(f"{gone.sha256[:2]}/{gone.sha256[2:]}*")).unlink()
    reader = DocumentReader(store.blobs)
    search = LocalSearch(None, store.library, reader.spans, reader.each_spans)
    assert found(search, "gone") == ["gone.md"]
    assert found(search, "harbor") == []
    assert found(search, "tide") == ["there.md"]


def test_many_threads_at_once(store: Store, tmp_path: Path) -> None:
    search = opened(store, tmp_path)
    answers: list[list[str]] = []
    threads = [threading.Thread(target=lambda: answers.append(found(search, "w7"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert answers == [["doc-7.md"]] * 8


CHILD = """
import sys
from pathlib import Path
import assay.search.local.local_search as local
from assay.evidence.documents import DocumentReader
from assay.store.sql import open_store

local.PAGE, local.COMMIT_EVERY = 5, 10
home = Path(sys.argv[1])
store = open_store(home)
local.LocalSearch(home / "index", store.library, DocumentReader(store.blobs).spans).sync(lambda text: print(text, flush=True))
"""  # noqa: E501


@pytest.mark.parametrize("lines", sampled([1, 3, 8, 14, 19], 2))
def test_a_killed_writer_leaves_no_hole_and_no_double(tmp_path: Path, lines: int) -> None:
    store = open_store(tmp_path)
    fill(store, {f"d{number}.md": f"# T{number}\n\nCommon prose about w{number}." for number in range(100)})
    child = warm.start(tmp_path, program=CHILD, stdout=subprocess.PIPE)
    assert child.stdout is not None
    for _ in range(lines):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait(120)
    child.stdout.close()
    search = opened(store, tmp_path / "index")
    names = found(search, "common")
    assert sorted(names) == sorted(f"d{number}.md" for number in range(100))
    for number in range(0, 100, 9):
        (hit,) = search.search_blocking(Query(text=f"w{number}"))
        assert (hit.document.name, len(hit.spans)) == (f"d{number}.md", 1)


async def test_words_are_counted_in_the_passages_of_the_scope(store: Store, tmp_path: Path) -> None:
    search = opened(store, tmp_path)
    everything = await search.rarity("Where is the word w7 said?", ["default"])
    assert everything.passages == 60
    assert (everything.holding["word"], everything.holding["w7"], everything.holding["said"]) == (30, 1, 0)
    chosen = [document.sha256 for document in store.library.documents(["default"]) if document.name == "doc-7.md"]
    one = store.library.collection_for(chosen)
    alone = await search.rarity("Where is the word w7 said?", [one])
    assert (alone.passages, alone.holding["word"], alone.holding["w7"], alone.holding["said"]) == (2, 1, 1, 0)
    assert (await search.rarity("word", ["nothing"])).passages == 0


async def test_a_slip_of_the_pen_is_told_from_a_name_and_from_another_word() -> None:
    store = memory_store()
    fill(store, {"town.md": "# Town\n\nThe council received the petition. The price of a ferry ticket is 4 crowns."})
    search = opened(store, None)

    async def meant(question: str) -> dict[str, str]:
        return (await search.rarity(question, ["default"])).meant

    assert await meant("waht did the council recieve?") == {"waht": "what", "recieve": "received"}
    assert await meant("Wich petittion was it?") == {"Wich": "which", "petittion": "petition"}
    assert await meant("Who signed the pettition of Ferri?") == {"pettition": "petition"}
    for whole in (
        "What is the prize of a ferry ticket?",
        "Who is Concil?",
        "What is tkt?",
        "Show town.ms and w-hat",
        "Wie warm ist es?",
    ):
        assert await meant(whole) == {}
    assert await meant("Wie warm ist es in der Stadt?") == {}


def test_the_many_lines_of_a_log_leave_the_passages_of_others() -> None:
    store = memory_store()
    lines = "\n\n".join(f"Mira opened the drawer {number} times." for number in range(400))
    letters = {
        f"letter-{number}.md": f"Dear all, this letter number {number} tells what Mira said." for number in range(5)
    }
    fill(store, {"log.md": lines, **letters})
    hits = opened(store, None).search_blocking(Query(text="Who opened the drawer for Mira?", limit=10))
    assert {hit.document.name for hit in hits} == {"log.md", *letters}
    assert all(hit.spans for hit in hits)
