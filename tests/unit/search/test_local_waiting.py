"""Documents which no search is over wait to be indexed: what is found is the same, and nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_of import fill
from sampling import scaled

from assay.core.ports import Hit, Query
from assay.core.ports.store import Store
from assay.core.sources import UNSORTED, Document, PassageSpan
from assay.evidence.documents import DocumentReader
from assay.search import shared_index
from assay.search.local import LocalSearch, local_search
from assay.store.memory import memory_store

WORDS = st.sampled_from("harbor tide pilot gauge winter range metre chart".split())
TEXTS = st.lists(st.lists(WORDS, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=8)


class Counted:
    """A search, and the names of the documents it has cut so far."""

    def __init__(self, store: Store, path: Path | None = None) -> None:
        self.cut: list[str] = []
        self._reader = DocumentReader(store.blobs)
        self.search = LocalSearch(path, store.library, self._spans)

    def _spans(self, document: Document) -> tuple[PassageSpan, ...]:
        self.cut.append(document.name)
        return self._reader.spans(document)

    def found(self, text: str, *collections: str) -> list[Hit]:
        return self.search.search_blocking(Query(text=text, collections=collections, limit=20))


def named(kind: str, texts: list[str]) -> dict[str, str]:
    return {f"{kind}-{number}.md": f"{kind} {number}\n\n{text}." for number, text in enumerate(texts)}


def test_a_search_over_nothing_indexes_nothing() -> None:
    store = memory_store()
    fill(store, named("page", ["tide"]), UNSORTED)
    asked = Counted(store)
    assert asked.found("tide", "elsewhere") == []
    assert asked.cut == []


def test_a_search_that_waits_long_for_its_index_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(shared_index, "SILENT_SECONDS", 0.0)
    store = memory_store()
    fill(store, named("document", ["tide"] * 3))
    asked = Counted(store)
    assert len(asked.found("tide", "default")) == 3
    assert caplog.messages == ["a search waits for the index of the documents: indexed 3 documents so far"]
    asked.found("tide", "default")
    assert len(caplog.messages) == 1


@settings(deadline=None, max_examples=scaled(60))
@given(documents=TEXTS, pages=TEXTS, question=st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_waiting_pages_change_no_hit(documents: list[str], pages: list[str], question: str) -> None:
    store = memory_store()
    fill(store, named("document", documents))
    asked = Counted(store)
    before = asked.found(question, "default")
    fill(store, named("page", pages), UNSORTED)
    assert asked.found(question, "default") == before
    assert not any(name.startswith("page") for name in asked.cut)


@settings(deadline=None, max_examples=scaled(30))
@given(pages=TEXTS, question=st.lists(WORDS, min_size=1, max_size=4).map(" ".join))
def test_pages_which_waited_are_found_as_if_they_had_not(pages: list[str], question: str) -> None:
    store = memory_store()
    fill(store, {"first.md": "tide chart"})
    asked, other = Counted(store), Counted(store)
    assert len(asked.found("tide", "default")) == 1
    fill(store, named("page", pages), UNSORTED)
    asked.found(question, "default")
    assert asked.found(question, UNSORTED) == other.found(question, UNSORTED)


def test_many_waiting_pages_are_indexed_in_the_background(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local_search, "BACKLOG_DOCUMENTS", 5)
    monkeypatch.setattr(local_search, "BACKGROUND_DOCUMENTS", 2)
    store = memory_store()
    fill(store, {"first.md": "tide chart"})
    asked = Counted(store, tmp_path)
    asked.found("tide", "default")
    fill(store, named("page", ["tide"] * 4), UNSORTED)
    asked.found("tide", "default")
    assert asked.cut == ["first.md"]
    fill(store, named("late", ["tide"] * 3), UNSORTED)
    asked.found("tide", "default")
    until = time.monotonic() + 120
    while len(asked.cut) < 8 and time.monotonic() < until:
        time.sleep(0.01)
    asked.search.close()
    assert sorted(asked.cut)[-1] == "page-3.md"
    assert len(asked.cut) == 8
    assert len(asked.found("tide", UNSORTED)) == 7
    assert len(asked.cut) == 8


def test_a_new_process_over_a_level_scope_indexes_nothing(tmp_path: Path) -> None:
    store = memory_store()
    fill(store, {"first.md": "tide chart"})
    Counted(store, tmp_path).found("tide", "default")
    fill(store, named("page", ["tide"]), UNSORTED)
    again = Counted(store, tmp_path)
    assert [hit.document.name for hit in again.found("tide", "default")] == ["first.md"]
    assert again.cut == []
