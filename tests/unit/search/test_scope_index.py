"""The answers over a scope depend on its documents only."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library_of import fill, rename
from sampling import scaled

from assay.core.messages import Rarity
from assay.core.ports import Explanation, Query
from assay.core.ports.store import Store
from assay.core.sources import Document
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch, scope_index
from assay.store.memory import memory_store

WORDS = st.sampled_from("harbor tides pilots gauge winter range metre charted the of PEP 7".split())
SENTENCES = st.lists(WORDS, min_size=1, max_size=9).map(" ".join)
TEXTS = st.lists(st.lists(SENTENCES, min_size=1, max_size=4), min_size=1, max_size=30)


def texts(kind: str, given: list[list[str]]) -> dict[str, str]:
    """Documents with a title, a header field, headings and paragraphs; no text is in two kinds."""
    return {
        f"{kind}-{number}.md": f"# {kind} {parts[0]}\n\nStatus: {number}\n\n" + "\n\n## Part\n\n".join(parts)
        for number, parts in enumerate(given)
    }


def opened(store: Store, path: Path | None = None) -> LocalSearch:
    return LocalSearch(path, store.library, DocumentReader(store.blobs).spans)


def asked(search: LocalSearch, question: str) -> tuple[list[Explanation], dict[str, int], Rarity]:
    """All that depends on the index: the hits with their reasons, and the counts of words."""
    rarity = asyncio.run(search.rarity(question, ["folder"]))
    counts = {form: count for form, count in rarity.holding.items() if count}
    found = search.explain_blocking(Query(text=question, collections=("folder",), limit=20))
    return found, counts, Rarity(passages=rarity.passages, meant=rarity.meant)


@settings(deadline=None, max_examples=scaled(40))
@given(folder=TEXTS, others=TEXTS, question=SENTENCES, language=st.sampled_from(["", "de", "fr"]))
def test_what_else_is_indexed_changes_no_answer(
    folder: list[list[str]], others: list[list[str]], question: str, language: str
) -> None:
    alone, beside = memory_store(), memory_store()
    fill(alone, texts("folder", folder), "folder")
    first = len(others) // 2
    fill(beside, texts("before", others[:first]), "others", language)
    fill(beside, texts("folder", folder), "folder")
    fill(beside, texts("after", others[first:]), "others", language)
    expected, (hits, *counts) = asked(opened(alone), question), asked(opened(beside), question)
    assert [hits, *counts] == [*expected]


def test_what_was_deleted_changes_no_answer(tmp_path: Path) -> None:
    folder = texts("folder", [["the pilots of the harbor"], ["a pilot and the tides"], ["the tides of winter"]])
    alone, renamed = memory_store(), memory_store()
    fill(alone, folder, "folder")
    fill(renamed, folder, "folder")
    search = opened(renamed, tmp_path)
    before = asked(search, "tides of pilots")
    for name in ("pilots.md", "folder-0.md"):  # the entry of a former name is deleted
        search.reindex_names([rename(renamed, renamed.library.documents(["folder"])[0], name)])
    assert search._index is not None
    assert search._index.has_deleted
    assert asked(search, "tides of pilots") == before == asked(opened(alone), "tides of pilots")


@pytest.mark.parametrize("most", [3, 4])
def test_a_large_scope_is_searched_in_the_whole_index(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(scope_index, "MAX_SCOPE_PASSAGES", most)
    store = memory_store()
    fill(store, {"one.md": "Tides.\n\nPilots.", "two.md": "A harbor.\n\nWinter tides."}, "folder")
    fill(store, {"other.md": "Tides and gauges."}, "others")
    search = opened(store)
    (found, counts, rarity) = asked(search, "tides")
    assert {each.hit.document.name for each in found} == {"one.md", "two.md"}
    assert (rarity.passages, counts) == (4, {"tide": 2})
    assert search._index is not None
    assert [each is not None for each in search._index.scopes.values()] == [most == 4]


def test_the_index_of_a_scope_is_kept_until_something_changes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scope_index, "MAX_CACHED_SCOPES", 2)
    store = memory_store()
    documents = fill(store, {"one.md": "Tides.", "two.md": "A harbor."}, "folder")
    fill(store, {"other.md": "Tides and gauges."}, "others")
    search = opened(store, tmp_path)

    def found(question: str) -> list[Document]:
        hits = search.search_blocking(Query(text=question, collections=("folder",)))
        return [each.document for each in hits]

    assert [each.name for each in found("tides")] == ["one.md"]
    assert search._index is not None
    (kept,) = search._index.scopes.values()
    for each in documents:
        search.search_blocking(Query(text="x", collections=(store.library.collection_for([each.sha256]),)))
    assert len(search._index.scopes) == 2
    assert kept not in search._index.scopes.values()
    search.reindex_names([rename(store, documents[0], "gauge.md")])
    assert [each.name for each in found("gauge")] == ["gauge.md"]


def test_an_index_of_another_library_is_noticed(tmp_path: Path) -> None:
    first, second = memory_store(), memory_store()
    for store, word in ((first, "tide"), (second, "gauge")):
        fill(store, {f"{word}-{number}.md": f"The {word} of day {number}." for number in range(3)}, "folder")
        fill(store, {f"other-{word}.md": f"No {word}."}, "others")
    opened(first, tmp_path).search_blocking(Query(text="tide", collections=("folder",)))
    hits = opened(second, tmp_path).search_blocking(Query(text="gauge", collections=("folder",)))
    assert [each.document.name for each in hits] == ["gauge-0.md", "gauge-1.md", "gauge-2.md"]


def test_a_folder_above_all_documents_is_no_word_of_any() -> None:
    store = memory_store()
    pages = {"openings/tide.md": "The tide at Brest is high.", "openings/rent.md": "Rent is due in May."}
    fill(store, pages, "folder")
    search = opened(store)

    def named(question: str) -> set[str]:
        found = search.explain_blocking(Query(text=question, collections=("folder",), limit=9))
        return {each.hit.document.name.rpartition("/")[2] for each in found}

    assert named("When were the openings of the tide?") == {"tide.md"}
    assert named("openings") == {"tide.md", "rent.md"}
