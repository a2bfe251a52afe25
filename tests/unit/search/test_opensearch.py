"""The index in OpenSearch: what it is sent, what it answers when it is busy, away, closed or of another library."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from library_of import fill
from opensearch_server import OpenSearchServer, Problem, running

from assay.core.errors import ConfigError, SearchAway, SearchError
from assay.core.ports import Query
from assay.core.ports.jobs import Job
from assay.core.ports.store import Store
from assay.evidence.documents import DocumentReader
from assay.evidence.segment import SEGMENTER
from assay.run.job_worker import JobInHand, JobWorker, JobWorkerLimits
from assay.run.process import SystemClock
from assay.search.opensearch import INDEX_FORMAT, OpenSearchClient, OpenSearchSearch, client
from assay.search.shared_index import INDEX_WORK, file_lock
from assay.store.memory import memory_store
from assay.store.sql import open_store

AT = "2026-11-01T00:00:00.000Z"
BUSY = ("rejected_execution_exception", "rejected execution of coordinating operation")
BUSY_CAUSE = dict(zip(("type", "reason"), BUSY, strict=True))
TEXTS = {f"doc-{number}.md": f"# Report {number}\n\nThe word w{number} is here.\n\nA tide." for number in range(30)}


@pytest.fixture
def server() -> Iterator[OpenSearchServer]:
    with running() as made:
        yield made


@pytest.fixture
def store() -> Store:
    made = memory_store()
    fill(made, TEXTS)
    return made


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def search(server: OpenSearchServer, store: Store, pauses: list[float]) -> Iterator[OpenSearchSearch]:
    made = opened(server, store, pauses)
    yield made
    made.close()


def opened(server: OpenSearchServer, store: Store, pauses: list[float] | None = None) -> OpenSearchSearch:
    each = DocumentReader(store.blobs).each_spans
    sleep = (pauses if pauses is not None else []).append
    return OpenSearchSearch(OpenSearchClient(server.url, sleep), store.library, each, SEGMENTER)


class Dying(OpenSearchClient):
    """Whose process is killed as it writes."""

    def bulk(self, actions: Iterable[client.Action]) -> None:
        raise KeyboardInterrupt


def found(search: OpenSearchSearch, text: str) -> list[str]:
    return [hit.document.name for hit in search.search_blocking(Query(text=text, limit=100))]


def bulks(server: OpenSearchServer) -> int:
    return sum(path == "/_bulk" for _, path in server.asked)


def test_a_second_machine_finds_it_indexed(server: OpenSearchServer, search: OpenSearchSearch, store: Store) -> None:
    lines: list[str] = []
    search.sync(lines.append)
    written = bulks(server)
    assert lines == ["indexed 30 documents"]
    assert found(opened(server, store), "w7") == ["doc-7.md"]
    assert bulks(server) == written


def test_who_index_at_the_same_time_take_turns(server: OpenSearchServer, store: Store, tmp_path: Path) -> None:
    turn, each = partial(file_lock, tmp_path / "index", INDEX_WORK), DocumentReader(store.blobs).each_spans
    many = [OpenSearchSearch(OpenSearchClient(server.url), store.library, each, SEGMENTER, turn=turn) for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(OpenSearchSearch.sync, many))
        fill(store, {f"late-{number}.md": f"The ebb {number}." for number in range(20)})
        list(threads.map(OpenSearchSearch.sync, many))
    assert sum(index.startswith(f"assay-{INDEX_FORMAT}-segment") for index in server.indexes) == 2
    for search in many:
        assert len(found(search, "tide")) == 30
        assert len(found(search, "ebb")) == 20
        search.close()


def test_documents_which_are_turned_away_are_written_again(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float]
) -> None:
    server.rejected = 70  # all 60 passages, then ten of them
    assert found(search, "w7") == ["doc-7.md"]
    assert len(found(search, "tide")) == 30
    assert pauses == [0.25, 0.5]


def test_a_server_which_stays_busy_is_given_up(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float]
) -> None:
    server.rejected = 10_000
    with pytest.raises(SearchError, match="too busy to take documents: try again later"):
        search.sync()
    assert len(pauses) == client.ATTEMPTS - 1
    server.rejected = 0
    assert found(search, "w7") == ["doc-7.md"]


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_request_which_is_refused_for_now_is_asked_again(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float], status: int
) -> None:
    search.sync()
    server.faults.extend([Problem(status, *BUSY, {"retry-after": "3"}), Problem(status, *BUSY)])
    assert found(search, "w7") == ["doc-7.md"]
    assert pauses == [3.0, 0.5]


@pytest.mark.parametrize("stated", ["\u00b2", "soon", "9" * 400, "-3"])
def test_a_retry_after_that_is_no_time_is_ignored(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float], stated: str
) -> None:
    search.sync()
    server.faults.append(Problem(503, *BUSY, {"retry-after": stated}))
    assert found(search, "w7") == ["doc-7.md"]
    assert pauses == [0.25] or stated.startswith("9")


def test_a_server_which_is_not_there_is_named(store: Store) -> None:
    with running() as server:
        search = opened(server, store)
    with pytest.raises(
        SearchError, match=r"OpenSearch at 127\.0\.0\.1:\d+ cannot be reached: .* refuses the connection: check"
    ):
        search.search_blocking(Query(text="tide"))


def test_a_wrong_login_is_told_without_the_password(store: Store) -> None:
    with running("ann:right") as server:
        assert found(opened(server, store), "w7") == ["doc-7.md"]
        server.url = server.url.replace("right", "wrong")
        with pytest.raises(SearchError, match="refuses the login: check the user and password") as raised:
            found(opened(server, store), "w7")
    assert "wrong" not in str(raised.value)


def test_what_is_no_address_is_told() -> None:
    with pytest.raises(ConfigError, match="set it to https://USER:PASSWORD@HOST:9200"):
        client.OpenSearchClient("localhost:9200")


def test_an_answer_of_another_service_is_told(server: OpenSearchServer, search: OpenSearchSearch) -> None:
    server.faults.append(Problem(404, "", "<h1>Not Found</h1>"))
    with pytest.raises(SearchError, match=r"answered 404: <h1>Not Found</h1>"):
        search.search_blocking(Query(text="tide"))


def test_a_document_which_is_refused_ends_it_with_the_reason(
    server: OpenSearchServer, search: OpenSearchSearch, store: Store
) -> None:
    search.sync()
    for index in server.indexes.values():
        index.properties.pop("sha256", None)
    fill(store, {"new.md": "A zeppelin."})
    with pytest.raises(SearchError, match=r"refuses a document: mapping set to strict, .* of \[sha256\]"):
        search.sync()


def test_what_a_killed_process_left_is_written_once(
    server: OpenSearchServer, search: OpenSearchSearch, store: Store
) -> None:
    search.sync()
    (_, passages) = server.index(search._passages)
    passages.put("99.0", {"row": 99, "ordinal": 0, "text": "zeppelin", "span": ""})
    fill(store, {"new.md": "A gauge."})
    assert found(search, "gauge") == ["new.md"]
    assert "99.0" not in passages.sources


def test_a_deleted_index_is_built_again(server: OpenSearchServer, search: OpenSearchSearch) -> None:
    search.sync()
    server.indexes.clear()
    server.aliases.clear()
    assert found(search, "w7") == ["doc-7.md"]


def test_an_index_of_another_library_is_replaced_at_once(
    server: OpenSearchServer, search: OpenSearchSearch, caplog: pytest.LogCaptureFixture
) -> None:
    search.sync()
    before = set(server.indexes)
    other = memory_store()
    fill(other, {"other.md": "Another tide."})
    assert found(opened(server, other), "tide") == ["other.md"]
    assert "it knows documents the library does not have" in caplog.text
    assert len(server.indexes) == 2
    assert not before & set(server.indexes)


def test_what_was_forgotten_is_not_found(server: OpenSearchServer, search: OpenSearchSearch) -> None:
    search.forget([8])  # before anything is indexed
    search.sync()
    search.forget([8])
    assert found(search, "w7") == []
    assert len(found(search, "tide")) == 29
    _, passages = server.index(search._passages)
    assert not [each for each in passages.sources.values() if each["row"] == 8]


def test_a_document_whose_text_is_gone_is_found_by_its_title(server: OpenSearchServer, tmp_path: Path) -> None:
    store = open_store(tmp_path)
    fill(store, {"gone.md": "# Gone\n\nThe harbor.", "there.md": "# There\n\nThe tide."})
    gone = next(each for each in store.library.documents(["default"]) if each.name == "gone.md")
    next((tmp_path / "blobs").glob(f"{gone.sha256[:2]}/{gone.sha256[2:]}*")).unlink()
    search = opened(server, store)
    assert (found(search, "gone"), found(search, "harbor"), found(search, "tide")) == (["gone.md"], [], ["there.md"])
    search.close()


def test_a_large_scope_is_asked_in_parts(search: OpenSearchSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.search.opensearch.opensearch_ranks.MAX_FILTER_TERMS", 4)
    search.sync()
    ranked = search.answer(Query(text="tide"), set(range(2, 13)))
    assert sorted(hit.document.name for hit in ranked) == sorted(f"doc-{number}.md" for number in range(1, 11))[:10]


def test_what_was_changed_as_it_was_deleted_is_deleted_after_a_pause(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float]
) -> None:
    search.sync()
    server.kept = 3
    server.refused.append({"index": "x", "cause": BUSY_CAUSE, "status": 429})
    search.forget([8])
    assert not [each for index in server.indexes.values() for each in index.sources.values() if each["row"] == 8]
    assert pauses == [0.25, 0.5]


def test_what_stays_there_is_no_success(
    server: OpenSearchServer, search: OpenSearchSearch, pauses: list[float]
) -> None:
    search.sync()
    server.kept = 10_000
    server.refused.extend([{"index": "x", "cause": BUSY_CAUSE, "status": 429}] * client.ATTEMPTS)
    with pytest.raises(SearchAway, match=r"does not delete documents of .*passages \(rejected execution of"):
        search.forget([8])
    assert len(pauses) == client.ATTEMPTS - 1


def test_indexes_of_a_build_which_was_killed_go_with_the_next(
    server: OpenSearchServer, search: OpenSearchSearch, store: Store
) -> None:
    beside = opened(server, store)
    beside._client = Dying(server.url)
    with pytest.raises(KeyboardInterrupt):
        beside.sync()
    left = set(server.indexes)
    foreign = f"{search._documents}-kept-by-hand"
    server.indexes[foreign] = next(iter(server.indexes.values()))
    assert len(left) == 2
    assert found(search, "w7") == ["doc-7.md"]
    assert not left & set(server.indexes)
    assert len(server.indexes) == 3
    assert foreign in server.indexes


async def test_a_job_waits_for_a_server_which_is_away(tmp_path: Path, store: Store) -> None:
    with running() as server:
        away = opened(server, store)
    jobs = open_store(tmp_path).jobs
    assert jobs is not None
    await jobs.put([Job(id="a", kind="index", name="index", created_at=AT, updated_at=AT)])

    async def index(_: JobInHand) -> dict[str, object]:
        await asyncio.to_thread(away.sync)
        return {}

    limits = JobWorkerLimits(slots=1, per_user=0, ttl=4.0, tells_all=False)
    lines: list[str] = []
    worker = JobWorker(jobs, {"index": index}, SystemClock(), lambda _: lambda: None, limits, lines.append)

    async def stopped() -> None:
        while len(lines) < 2:
            await asyncio.sleep(0.01)
        worker.stop()

    await asyncio.gather(worker.work(), stopped())
    left = await jobs.find("a")
    assert (left.state, left.tries) == ("waiting", 1)
    assert "cannot be reached" in left.error
    assert left.due > 0
