"""What every search over the library keeps: LocalSearch in memory and on disk, PostgresSearch, OpenSearchSearch.

That one runs over a server on loopback, and over a real one where `ASSAY_TEST_OPENSEARCH` is its address.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from library_of import fill, rename
from opensearch_server import running
from postgres import drop, with_schema

from assay.core.ports import Query, Search
from assay.core.ports.store import Store
from assay.evidence.documents import DocumentReader
from assay.evidence.segment import SEGMENTER
from assay.search.local import LocalSearch
from assay.search.opensearch import OpenSearchClient, OpenSearchSearch
from assay.search.postgres import PostgresSearch
from assay.store.memory import memory_store
from assay.store.sql import postgres
from assay.store.sql.database import Database

TEXTS = {
    "proposals/eip-1559.md": "---\neip: 1559\ntitle: Fee market\nstatus: Final\n---\n\nA base fee is burned.",
    "proposals/eip-2718.md": "---\neip: 2718\ntitle: Typed values\nstatus: Final\n---\n\nAn envelope, see EIP-1559.",
    "peps/pep-0006.rst": "PEP: 6\nTitle: Bug Fix Releases\nStatus: Superseded\n\nHow to release fixes of old versions.",
    "peps/pep-0008.rst": "PEP: 8\nTitle: Style Guide\nStatus: Active\n\nHow to write Python code. Readability counts.",
    "long.md": "# A long page\n\n"
    + "Nothing of note is said here.\n\n" * 400
    + "The kumquat harvest failed in 1873.\n",
    "harbour-rules.txt": "Boats must be tied up by nine.\n\nLanterns hang at the stern.",
    "bridges.md": "# Bridges\n\nThe engineers were running tests on suspension cables.\n\n| cable | load |\n| A | 12 |",
}
FOREIGN = {
    "de": "Die Häuser am Fluss wurden nach dem Hochwasser neu gebaut und stehen unter Denkmalschutz.",
    "ru": "Библиотека получила старинные книги из коллекции профессора Иванова в прошлом году.",
    "zh": "北京图书馆收藏了许多古代手稿，研究人员可以申请阅览。",
    "ja": "東京の国立図書館は、江戸時代の地図を公開している。",
    "ar": "أعلنت المكتبة الوطنية عن عرض مخطوطات نادرة في القاهرة.",
    "ko": "서울의 도서관에서는 조선 시대의 지도를 전시하고 있다.",
}
Searches = LocalSearch | PostgresSearch | OpenSearchSearch


@pytest.fixture(scope="module", params=["memory", "disk", "postgres", "opensearch", "a real opensearch"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def filled() -> Store:
    store = memory_store()
    fill(store, TEXTS)
    for language, text in FOREIGN.items():
        fill(store, {f"{language}.txt": text}, language=language)
    return store


@contextmanager
def searching(store: Store, kind: str, request: pytest.FixtureRequest, folder: Path) -> Iterator[Searches]:
    """A search of that kind over the library of the store."""
    reader = DocumentReader(store.blobs)
    if kind in ("memory", "disk"):
        yield LocalSearch(None if kind == "memory" else folder / "index", store.library, reader.spans)
    elif kind == "postgres":
        with of_postgres(store, with_schema(request.getfixturevalue("postgres_server"))) as search:
            yield search
    else:
        with of_opensearch(store, real=kind != "opensearch") as search:
            yield search


@pytest.fixture(scope="module")
def store() -> Store:
    """What all searches of this module read: no test adds a document to it."""
    return filled()


@pytest.fixture(scope="module")
def search(
    request: pytest.FixtureRequest, store: Store, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searches]:
    """Made once of each kind: nearly all tests only ask."""
    with searching(store, kind, request, tmp_path_factory.mktemp("search")) as search:
        yield search


@contextmanager
def of_postgres(store: Store, url: str) -> Iterator[PostgresSearch]:
    backend = postgres.Postgres(url)
    Database(backend).close()
    engine = backend.engine()
    try:
        yield PostgresSearch(engine, store.library, DocumentReader(store.blobs).spans, SEGMENTER)
    finally:
        engine.dispose()
        drop(url)


@contextmanager
def of_opensearch(store: Store, *, real: bool) -> Iterator[OpenSearchSearch]:
    each, name = DocumentReader(store.blobs).each_spans, f"assay-test-{uuid.uuid4().hex}"
    if not real:
        with running() as server:
            search = OpenSearchSearch(OpenSearchClient(server.url), store.library, each, SEGMENTER, name)
            yield search
            search.close()
        return
    address = os.environ.get("ASSAY_TEST_OPENSEARCH", "")
    if not address:
        pytest.skip("ASSAY_TEST_OPENSEARCH names no OpenSearch")
    search = OpenSearchSearch(OpenSearchClient(address), store.library, each, SEGMENTER, name)
    yield search
    search.close()
    client = OpenSearchClient(address)
    for index in client.call("GET", f"/{name}*/_alias"):
        client.call("DELETE", f"/{index}")
    client.close()


async def names(search: Search, text: str, limit: int = 10, collections: tuple[str, ...] = ("default",)) -> list[str]:
    hits = await search.search(Query(text=text, limit=limit, collections=collections))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.document.name for hit in hits]


def test_it_has_a_name(search: Search) -> None:
    assert search.name


async def test_what_only_its_name_has_is_found_with_its_first_passages(search: Search) -> None:
    hit, *_ = await search.search(Query(text="harbour rules", limit=5, collections=("default",)))
    assert hit.document.name == "harbour-rules.txt"
    assert [span.text for span in hit.spans] == ["Boats must be tied up by nine.", "Lanterns hang at the stern."]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("EIP-1559 status", "proposals/eip-1559.md"),
        ("What is the status of PEP 6?", "peps/pep-0006.rst"),
        ("PEP 8", "peps/pep-0008.rst"),
        ("eip 2718", "proposals/eip-2718.md"),
        ("kumquat harvest", "long.md"),
        ("engineer who runs a test of a cable", "bridges.md"),
        ("long page", "long.md"),
    ],
)
async def test_what_is_asked_for_comes_first(search: Search, question: str, name: str) -> None:
    assert (await names(search, question))[0] == name


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Haus am Fluss", "de"),
        ("Wer baute die hauser?", "de"),
        ("книга профессора", "ru"),
        ("古代手稿", "zh"),
        ("图书馆在哪里？", "zh"),
        ("江戸時代の地図", "ja"),
        ("مخطوطات القاهرة", "ar"),
        ("조선 시대 지도", "ko"),
    ],
)
async def test_languages(search: Search, question: str, language: str) -> None:
    assert (await names(search, question))[0] == f"{language}.txt"


async def test_hits_carry_their_best_passage_first(search: Search, store: Store) -> None:
    (hit,) = await search.search(Query(text="kumquat harvest"))
    assert hit.spans[0].text == "The kumquat harvest failed in 1873."
    spans = DocumentReader(store.blobs).spans(hit.document)
    assert all(spans[span.ordinal] == span for span in hit.spans)


async def test_a_document_which_is_named_shows_its_header(search: Search) -> None:
    hit = (await search.search(Query(text="PEP 6")))[0]
    assert {span.text for span in hit.spans if span.kind == "field"} == {
        "PEP: 6",
        "Title: Bug Fix Releases",
        "Status: Superseded",
    }
    assert len({span.ordinal for span in hit.spans}) == len(hit.spans)


async def test_the_scope_is_exact(search: Search, store: Store) -> None:
    (eip, *_) = store.library.find("proposals/eip-2718.md", ["default"])
    (pep, *_) = store.library.find("peps/pep-0008.rst", ["default"])
    one, two = store.library.collection_for([eip.sha256]), store.library.collection_for([pep.sha256])
    assert await names(search, "EIP-1559 status", collections=(one,)) == [eip.name]
    assert set(await names(search, "status title", collections=(one, two))) == {eip.name, pep.name}
    assert await names(search, "kumquat", collections=(one,)) == []
    assert await names(search, "status", collections=("nowhere",)) == []
    assert await names(search, "status", collections=()) == []


async def test_the_limit(search: Search) -> None:
    assert len(await names(search, "title status", limit=2)) == 2
    assert await names(search, "title status", limit=0) == []


@pytest.mark.parametrize("question", ["", "   ", "?!", "xyzzyplugh", "\0", "🎉"])
async def test_nothing_is_found(search: Search, question: str) -> None:
    assert await names(search, question) == []


async def test_a_question_of_stop_words_only(search: Search) -> None:
    assert await names(search, "how to")


@pytest.mark.parametrize(
    "question",
    [
        '"',
        "AND (",
        "*",
        "kumquat AND NOT",
        "text:kumquat",
        "row:[1 TO 9]",
        "a" * 10000,
        "kumquat " * 2000,
        "kumquat\x00x",
        "(" * 5000,
        "\\",
        "kumquat~9^9",
        "/kumquat.*/",
        "\ud800kumquat",
        "-kumquat +x",
        " ".join(map(str, range(3000))),
    ],
    ids=lambda text: repr(text[:12]),
)
async def test_hostile_questions_are_only_words(search: Search, question: str) -> None:
    found = await names(search, question)
    assert ("kumquat" not in question) or found[0] == "long.md"


async def test_what_is_added_is_found_at_once(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    store = filled()
    with searching(store, kind, request, tmp_path) as search:
        assert await names(search, "zeppelin") == []
        fill(store, {"new.md": "The zeppelin landed."})
        assert await names(search, "zeppelin") == ["new.md"]


async def test_a_renamed_document_is_found_by_its_new_name(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    store = filled()
    (document,) = store.library.find("long.md", ["default"])
    with searching(store, kind, request, tmp_path) as search:
        search.reindex_names([1])  # before anything is indexed
        assert await names(search, "kumquat") == ["long.md"]
        (late,) = fill(store, {"late.md": "The zeppelin landed."})
        search.reindex_names([rename(store, document, "zanzibar.md"), rename(store, late, "later.md"), 999])
        assert await names(search, "zanzibar") == ["zanzibar.md"]
        assert await names(search, "kumquat") == ["zanzibar.md"]
        assert await names(search, "zeppelin") == ["later.md"]


@given(text=st.text(st.characters(), max_size=60))
def test_any_question_is_answered(search: LocalSearch, text: str) -> None:
    hits = search.search_blocking(Query(text=text, limit=3))
    assert len(hits) <= 3
    assert all(hit.score > 0 for hit in hits)
