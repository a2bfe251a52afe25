"""The protocols between Assay and everything that can be exchanged: stores, models, search, extractors, time.

An adapter implements one of these; its contract suite in tests/contracts runs over every adapter.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Iterable, Iterator, Sequence
from typing import Literal, Protocol

import msgspec

from assay.core.events import Envelope, Path
from assay.core.messages import Delta, ModelFacts, Profile, Reply, Request
from assay.core.secrets import Secret
from assay.core.sources import CollectionSummary, Document, Extracted, Snapshot, Span
from assay.core.usage import Usage

# models


class Model(Protocol):
    """A language model: a stream of deltas, then exactly one `Reply`."""

    @property
    def profile(self) -> Profile: ...

    def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        """Answer `request`.

        Raises:
            ModelError: this attempt failed; `transient` and `retry_after` say whether to try again.
            ContextTooLong: the request does not fit the window.
        """
        ...

    async def offered(self) -> tuple[str, ...]:
        """The names of the models which the service behind this one offers.

        Raises:
            ModelError: it cannot be asked.
        """
        ...

    async def close(self) -> None:
        """Let go of connections; the model may be asked again."""
        ...


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """What a model's adapter is told besides its name.

    `url` is the base of the service's API, empty for the adapter's own; `facts` are what the user says of the model.
    """

    url: str = ""
    key: Secret | None = None
    facts: ModelFacts = ModelFacts()


# search


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for: at most `limit` documents, in these collections; `language` is a hint (ISO 639-1)."""

    text: str
    limit: int = 10
    collections: tuple[str, ...] = ("default",)
    language: str = ""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A document that answers a query, best first; higher `score` is better, comparable within one answer only.

    `spans` are its passages that match best, best first.
    """

    document: Document
    score: float
    spans: tuple[Span, ...] = ()


class Search(Protocol):
    """A search provider."""

    @property
    def name(self) -> str: ...

    async def search(self, query: Query) -> list[Hit]:
        """The best documents.

        Raises:
            SearchFailed: the provider could not answer.
        """
        ...


# documents


class Extractor(Protocol):
    """Turns a file's bytes into text. `name` carries its version ("html/1"); `suffixes` in lower case (".html").

    `isolated` asks for a process of its own: for formats whose readers may crash, hang or take too much memory. The
    class is then made anew there, without arguments, and a file which ends the process costs that file alone.
    """

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    @property
    def media_type(self) -> str: ...

    @property
    def isolated(self) -> bool: ...

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        """The documents in `data`; `name` is the file's name. Work may begin at the call, or with the first document.

        Raises:
            ExtractError: nothing, or nothing more, can be read, with the reason; raised by the iteration.
        """
        ...


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A file in an archive: its path there, made printable, and its bytes; or the `problem` which keeps it closed."""

    name: str
    data: bytes = b""
    problem: str = ""


class Archive(Protocol):
    """Opens files which hold files. `name` carries its version ("zip/1"); `suffixes` in lower case (".zip")."""

    @property
    def name(self) -> str: ...

    @property
    def suffixes(self) -> tuple[str, ...]: ...

    def members(self, data: bytes, name: str, largest: int) -> Iterator[Member]:
        """The files in `data`, in their order there, unpacked one at a time; folders and hidden ones left out.

        A member of more than `largest` bytes has a problem; sizes are counted while unpacking, not believed.

        Raises:
            ExtractError: it cannot be opened, or unpacks to more than is sane; raised by the iteration.
        """
        ...


class Blobs(Protocol):
    """Bytes by their SHA-256, zstd-compressed at rest. Blocking; call from a worker thread."""

    def put(self, data: bytes) -> str:
        """Store `data`; its hash. Storing the same bytes again costs a look-up."""
        ...

    def get(self, sha256: str) -> bytes:
        """The bytes, checked against their hash.

        Raises:
            StoreError: not there, or damaged.
        """
        ...

    def has(self, sha256: str) -> bool: ...


class FileStamp(msgspec.Struct, frozen=True, kw_only=True):
    """How a file looked when it was read, and which documents it gave: an unchanged file is not read twice.

    `extractor` names the version which read it, since a newer one reads it again. `warnings` are what was said about
    a file of which only a part could be read: what is known is as incomplete the next time.
    """

    path: str
    size: int
    mtime_ns: int
    documents: tuple[str, ...]
    extractor: str = ""
    warnings: tuple[str, ...] = ()


class Library(Protocol):
    """Documents, the collections they are in, and the files they came from. Blocking; call from a worker thread."""

    def add(
        self, documents: Sequence[tuple[Snapshot, Document]], collection: str, files: Sequence[FileStamp] = ()
    ) -> None:
        """Add documents (known ones are left as they are) and put them into `collection`, in one transaction."""
        ...

    def select(self, documents: Iterable[str]) -> str:
        """The name of the collection which holds exactly these documents (hashes); made when it is not there.

        The name depends on the set alone.
        """
        ...

    def include(self, documents: Iterable[str], collection: str) -> None:
        """Put known documents into `collection`, in one transaction."""
        ...

    def document(self, sha256: str) -> Document | None: ...

    def snapshot(self, sha256: str) -> Snapshot | None: ...

    def find(self, reference: str, collections: Sequence[str]) -> list[Document]:
        """Documents by hash (8 characters or more), name, URL or title, exact matches first; at most 20."""
        ...

    def documents(self, collections: Sequence[str], limit: int | None = None) -> list[Document]:
        """In the order of adding."""
        ...

    def members(self, collections: Sequence[str]) -> set[int]:
        """The row numbers (see `after`) of the documents in `collections`."""
        ...

    def after(self, row: int, limit: int) -> list[tuple[int, Document]]:
        """Documents by row number, ascending, from `row` exclusive: how an index catches up. Rows are never reused."""
        ...

    def last_row(self) -> int:
        """The highest row number, 0 when empty."""
        ...

    def summary(self, collections: Sequence[str], names: int = 30) -> CollectionSummary: ...

    def stamp(self, path: str) -> FileStamp | None: ...


# the journal


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A step's saved result: JSON `data` of the type named by `tag`, or of a failure when `tag` is `failed/1`."""

    key: str
    input_hash: str
    tag: str
    data: bytes


class EventDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An event on its way into the log. `key` makes it unique in its run; `step` and `attempt` where inside a step."""

    key: str
    path: Path
    type: str
    data: bytes
    at: str
    step: str = ""
    attempt: int = 0


class HoldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Budget kept for a step (`held`) or spent by it (`settled`), charged to the lane named by `account`."""

    step: str
    account: str
    amount: Usage
    state: Literal["held", "settled"]


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of the ledger: a source, a passage shown, a query asked, a page read. (kind, id) is unique."""

    kind: Literal["source", "passage", "query", "page"]
    id: str
    lane: int
    data: bytes


RunStatus = Literal["created", "running", "waiting", "paused", "completed", "failed", "cancelled"]
FINAL: frozenset[RunStatus] = frozenset(("completed", "failed", "cancelled"))
Action = Literal["", "finish", "cancel", "pause"]


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into the journal in one transaction. `active_seconds` is the run's total so far, None to leave it."""

    events: tuple[EventDraft, ...] = ()
    steps: tuple[StepRecord, ...] = ()
    holds: tuple[HoldRecord, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    status: RunStatus | None = None
    active_seconds: float | None = None


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to write a run, until another process takes it and raises the fence."""

    run_id: str
    fence: int
    holder: str


class RunRow(msgspec.Struct, frozen=True, kw_only=True):
    """A run in a list. `holder` is empty when no live process has it; `created_at` is ISO 8601 UTC."""

    run_id: str
    question: str
    status: RunStatus
    created_at: str
    holder: str
    fence: int
    active_seconds: float
    last_seq: int


class EventKey(msgspec.Struct, frozen=True, kw_only=True):
    """A stored event's identity, without its data."""

    seq: int
    key: str
    step: str
    attempt: int


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """All a process needs to take a run up."""

    brief: bytes
    status: RunStatus
    fence: int
    steps: dict[str, StepRecord]
    events: tuple[EventKey, ...]
    holds: tuple[HoldRecord, ...]
    ledger: tuple[LedgerRow, ...]
    active_seconds: float


class Journal(Protocol):
    """Runs, their steps and their events. Every write of a run carries its lease's fence."""

    async def create(
        self, run_id: str, question: str, brief: bytes, events: Sequence[EventDraft]
    ) -> tuple[Envelope, ...]:
        """Make a run with its first events."""
        ...

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        """Take the run's lease for `ttl` seconds, raising the fence. A lease still held by exactly `evict`, a process
        known to be dead, is taken as if it had expired.

        Raises:
            LeaseHeld: another holder's lease has not expired.
            UnknownName: no such run.
        """
        ...

    async def renew(self, lease: Lease, ttl: float) -> Action:
        """Hold on for `ttl` more seconds; the control row comes back.

        Raises:
            FenceLost: another process has the run.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease up; nothing happens when it was lost already."""
        ...

    async def load(self, run_id: str) -> Memory:
        """Everything stored about a run.

        Raises:
            UnknownName: no such run.
        """
        ...

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Write in one transaction; enqueued at once, in call order; await it to know it is durable.

        Events get consecutive numbers in the order given. Commits waiting together may share a transaction.

        Raises (when awaited):
            FenceLost: another process has the run; nothing of this commit was written.
        """
        ...

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """The log from `seq > after`."""
        ...

    async def control(self, run_id: str, action: Action) -> None:
        """Set the control row (any process may). `cancel` is never weakened to `finish`."""
        ...

    async def post(self, run_id: str, topic: str, data: bytes) -> None:
        """Leave a message for the run's `receive(topic)`; any process may."""
        ...

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        """Messages left on `topic`, oldest first."""
        ...

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """Newest first."""
        ...

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: none, or more than one, begins so.
        """
        ...

    async def close(self) -> None:
        """Write what waits and let go of everything."""
        ...


# the world


class Clock(Protocol):
    """Time: wall clock for records, monotonic for limits, sleep for retries."""

    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and `Z`."""
        ...

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a run can reach: models by name, search providers, documents, time."""

    models: dict[str, Model]
    searches: tuple[Search, ...]
    library: Library
    blobs: Blobs
    clock: Clock
