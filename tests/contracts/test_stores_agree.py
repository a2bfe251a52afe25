"""Whatever happens in whatever order: the memory store, SQLite and PostgreSQL give the same answers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import postgres
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core.errors import AssayError
from assay.core.ports import Commit, EventDraft, FileStamp, HoldRecord, Lease, LedgerRow, StepRecord
from assay.core.ports.store import Store
from assay.core.sources import Document, Snapshot, sha256
from assay.core.usage import Usage
from assay.store.memory import memory_store
from assay.store.sql import open_store

Act = tuple[Any, ...]

# journal

RUN = st.sampled_from(["ra", "rb", "rb2"])
HOLDER = st.sampled_from(["host:1", "host:2"])
KEY = st.sampled_from([f"k{n}" for n in range(8)])

DRAFT = st.builds(
    EventDraft,
    key=KEY,
    path=st.sampled_from([(), ("research",), ("research", "agent-1")]),
    type=st.sampled_from(["think.delta", "warning"]),
    data=st.sampled_from([b"{}", b'{"text":"x"}']),
    at=st.just("2026-03-01T12:00:00.000Z"),
    step=st.sampled_from(["", "s1"]),
    attempt=st.integers(0, 2),
)
DRAFTS = st.lists(DRAFT, max_size=4).map(tuple)
STEP = st.builds(StepRecord, key=KEY, input_hash=KEY, tag=st.just("t/1"), data=st.binary(max_size=3))
HOLD = st.builds(
    HoldRecord,
    step=KEY,
    account=st.sampled_from(["0", "1"]),
    amount=st.builds(Usage, input_tokens=st.integers(0, 9), usd=st.floats(0, 1)),
    state=st.sampled_from(["held", "settled"]),
)
FACT = st.builds(
    LedgerRow,
    kind=st.sampled_from(["source", "passage", "query", "page"]),
    id=KEY,
    lane=st.integers(0, 3),
    data=st.binary(max_size=3),
)
COMMIT = st.builds(
    Commit,
    events=DRAFTS,
    steps=st.lists(STEP, max_size=2).map(tuple),
    holds=st.lists(HOLD, max_size=2).map(tuple),
    ledger=st.lists(FACT, max_size=2).map(tuple),
    status=st.sampled_from([None, "running", "waiting", "completed"]),
    active_seconds=st.sampled_from([None, 1.0, 2.5]),
)
NTH = st.integers(0, 3)  # which of the leases taken so far, from the newest
JOURNAL_ACT = st.one_of(
    st.tuples(st.just("create"), RUN, DRAFTS),
    st.tuples(st.just("acquire"), RUN, HOLDER, st.sampled_from([1.0, 10.0]), st.sampled_from(["", "host:1"])),
    st.tuples(st.just("commits"), st.lists(st.tuples(NTH, COMMIT), min_size=1, max_size=4)),
    st.tuples(st.just("renew"), NTH, st.just(5.0)),
    st.tuples(st.just("renew_all"), st.lists(NTH, unique=True), st.sampled_from([1.0, 5.0])),
    st.tuples(st.just("release"), NTH),
    st.tuples(st.just("control"), RUN, st.sampled_from(["", "finish", "cancel", "pause"])),
    st.tuples(st.just("post"), RUN, KEY, st.binary(max_size=3)),
    st.tuples(st.just("pass"), st.sampled_from([0.5, 5.0])),
    st.tuples(st.just("look")),
)


async def outcome(answer: Awaitable[Any]) -> Any:
    """What comes back, an error as its kind and words."""
    try:
        return await answer
    except AssayError as error:
        return type(error).__name__, str(error)


class Play:
    """Acts on one store, and what it answered."""

    def __init__(self, open_: Callable[[Callable[[], float]], Store]) -> None:
        self.now = 1_800_000_000.0
        self.store = open_(lambda: self.now)
        self.leases = [Lease(run_id="ra", fence=0, holder="nobody")]

    async def act(self, act: Act) -> Any:
        kind, *rest = act
        return await getattr(self, f"_{kind}")(*rest)

    async def _create(self, run_id: str, drafts: tuple[EventDraft, ...]) -> Any:
        return await outcome(self.store.journal.create(run_id, "q", b"b", drafts))

    async def _acquire(self, *arguments: Any) -> Any:
        answer = await outcome(self.store.journal.acquire(*arguments))
        if isinstance(answer, Lease):
            self.leases.append(answer)
        return answer

    async def _commits(self, commits: list[tuple[int, Commit]]) -> Any:
        pending = [self.store.journal.commit(self._lease(nth), commit) for nth, commit in commits]
        return [await outcome(answer) for answer in pending]

    async def _renew(self, nth: int, ttl: float) -> Any:
        return await outcome(self.store.journal.renew(self._lease(nth), ttl))

    async def _renew_all(self, every: list[int], ttl: float) -> Any:
        answers = await self.store.journal.renew_all([self._lease(nth) for nth in every], ttl)
        return {lease: str(each) if isinstance(each, AssayError) else each for lease, each in answers.items()}

    async def _release(self, nth: int) -> Any:
        return await outcome(self.store.journal.release(self._lease(nth)))

    async def _control(self, *arguments: Any) -> Any:
        return await outcome(self.store.journal.control(*arguments))

    async def _post(self, *arguments: Any) -> Any:
        return await outcome(self.store.journal.post(*arguments))

    async def _pass(self, seconds: float) -> None:
        self.now += seconds

    async def _look(self) -> Any:
        journal = self.store.journal
        seen: list[Any] = [await journal.runs()]
        seen += [await outcome(journal.find(reference)) for reference in ("ra", "rb", "r", "last", "x")]
        for run_id in ("ra", "rb", "rb2"):
            seen.append(await outcome(journal.load(run_id)))
            seen.append(await outcome(journal.events(run_id, after=1, limit=5)))
            seen += [await outcome(journal.inbox(run_id, f"k{n}")) for n in range(3)]
        return seen

    def _lease(self, nth: int) -> Lease:
        return self.leases[max(len(self.leases) - 1 - nth, 0)]


async def play_both(acts: list[Act], home: Path, database: str = "") -> None:
    plays = [Play(memory_store), Play(lambda wall: open_store(home, wall, database=database))]
    try:
        for act in [*acts, ("look",)]:
            memory, sql = [await play.act(act) for play in plays]
            assert memory == sql, act
        logs = [await outcome(plays[1].store.journal.events(run)) for run in ("ra", "rb", "rb2")]
        for log in logs:
            if isinstance(log, list):
                assert [event.seq for event in log] == list(range(1, len(log) + 1))
    finally:
        for play in plays:
            await play.store.close()


@settings(max_examples=scaled(30))
@given(acts=st.lists(JOURNAL_ACT, max_size=25))
def test_journals_agree(acts: list[Act]) -> None:
    begun: list[Act] = [("create", "ra", ()), ("acquire", "ra", "host:1", 10.0, "")]
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(play_both(begun + acts, Path(home)))


@settings(max_examples=scaled(10))
@given(acts=st.lists(JOURNAL_ACT, max_size=25))
def test_journals_agree_on_postgres(agreeing: str, acts: list[Act]) -> None:
    begun: list[Act] = [("create", "ra", ()), ("acquire", "ra", "host:1", 10.0, "")]
    with tempfile.TemporaryDirectory() as home:
        asyncio.run(play_both(begun + acts, Path(home), agreeing))
    postgres.empty(agreeing)


@pytest.fixture(scope="module")
def agreeing(postgres_server: str) -> Iterator[str]:
    """A schema for the examples of this module, each of which empties it."""
    url = postgres.with_schema(postgres_server)
    yield url
    postgres.drop(url)


# library

TEXT = st.sampled_from(
    ["", "A", "a b", "PEP 8", "pep_8", "100%", "Straße", "STRASSE", "中文", "é", "e\u0301", "a\nb", "\0"]
)


def make_document(n: int, name: str, title: str, media_type: str, language: str, published: str) -> Document:
    return Document(
        sha256=sha256(str(n).encode()),
        snapshot_sha256=sha256(f"raw{n % 3}".encode()),
        extractor="text/1",
        url="",
        title=title,
        name=name,
        media_type=media_type,
        syntax="plain",
        size=n,
        fetched_at="",
        language=language,
        published=published,
        metadata={name: title},
    )


DOCUMENT = st.builds(
    make_document,
    st.integers(0, 9),
    TEXT,
    TEXT,
    st.sampled_from(["text/plain", "text/html"]),
    st.sampled_from(["", "en", "de"]),
    st.sampled_from(["", "2020", "2021-05-01"]),
)
COLLECTION = st.sampled_from(["default", "mine"])
SHA = st.integers(0, 9).map(lambda n: sha256(str(n).encode()))
STAMP = st.builds(
    FileStamp,
    path=TEXT,
    size=st.integers(0, 2**62),
    mtime_ns=st.integers(0, 2**62),
    documents=st.lists(SHA, max_size=2).map(tuple),
)
LIBRARY_ACT = st.one_of(
    st.tuples(st.just("add"), st.lists(DOCUMENT, max_size=4), COLLECTION, st.lists(STAMP, max_size=2)),
    st.tuples(st.just("include"), st.lists(SHA, max_size=3), COLLECTION),
    st.tuples(st.just("select"), st.lists(SHA, max_size=3)),
    st.tuples(st.just("find"), st.one_of(TEXT, SHA, SHA.map(lambda sha: sha[:9]))),
)


def snapshot_of(document: Document) -> Snapshot:
    return Snapshot(sha256=document.snapshot_sha256, url="", media_type="x", size=1, fetched_at="")


def library_answer(store: Store, act: Act) -> Any:
    library, (kind, *rest) = store.library, act
    try:
        if kind == "add":
            documents, collection, stamps = rest
            library.add([(snapshot_of(document), document) for document in documents], collection, stamps)
        elif kind == "include":
            library.include(*rest)
        elif kind == "select":
            return library.collection_for(*rest)
        else:
            return [library.find(rest[0], names) for names in (["default"], ["mine", "default"], [])]
    except AssayError as error:
        return type(error).__name__, str(error)
    return look(store)


def look(store: Store) -> list[Any]:
    library = store.library
    rows = dict(library.documents_after(0, 100))
    seen: list[Any] = [list(rows.values()), library.last_row() == max(rows, default=0)]
    for names in (["default"], ["mine"], ["default", "mine"]):
        seen += [library.documents(names), library.documents(names, 2), library.summary(names, 3)]
        seen.append(list(library.summary(names).kinds))
        seen.append([rows[row] for row in sorted(library.members(names))])
    return [*seen, library.stamps(["A", "中文"])]


def look_closer(store: Store) -> list[Any]:
    library = store.library
    return [
        (library.document(sha256(str(n).encode())), library.snapshot(sha256(f"raw{n}".encode()))) for n in range(10)
    ]


@settings(max_examples=scaled(20))
@given(acts=st.lists(LIBRARY_ACT, max_size=10))
def test_libraries_agree(acts: list[Act]) -> None:
    libraries_agree(acts)


@settings(max_examples=scaled(6))
@given(acts=st.lists(LIBRARY_ACT, max_size=10))
def test_libraries_agree_on_postgres(agreeing: str, acts: list[Act]) -> None:
    libraries_agree(acts, agreeing)
    postgres.empty(agreeing)


def libraries_agree(acts: list[Act], database: str = "") -> None:
    with tempfile.TemporaryDirectory() as home:
        memory, sql = memory_store(), open_store(Path(home), database=database)
        try:
            for act in acts:
                assert library_answer(memory, act) == library_answer(sql, act), act
            assert look_closer(memory) == look_closer(sql)
        finally:
            asyncio.run(sql.close())
