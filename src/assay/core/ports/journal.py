"""The journal: runs, their steps and their events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, Self

import msgspec

from assay.core.errors import FenceLost
from assay.core.events import Envelope, Path
from assay.core.ports.lists import FINAL as FINAL
from assay.core.ports.lists import RunListing, RunRow, RunStatus
from assay.core.ports.webhooks import Webhook
from assay.core.usage import Usage


class StepRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A step's stored result: JSON `data` of the type named by `tag`, or of a failure when `tag` is `failed/1`."""

    key: str
    input_hash: str
    tag: str
    data: bytes


class EventDraft(msgspec.Struct, frozen=True, kw_only=True):
    """An event before it is stored. `key` is unique in its run; `step` and `attempt` are set inside a step."""

    key: str
    path: Path
    type: str
    data: bytes
    at: str
    step: str = ""
    attempt: int = 0


class HoldRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Budget set aside for a step (`held`) or spent by it (`settled`), charged to the lane named by `account`."""

    step: str
    account: str
    amount: Usage
    state: Literal["held", "settled"]


class LedgerRow(msgspec.Struct, frozen=True, kw_only=True):
    """A fact of the ledger: a source, a passage shown, a query asked, a page read. (kind, id) is unique.

    An `answer` says which step stored the result of a call: `id` is the call's key, `data` the key of the step.
    """

    kind: Literal["source", "passage", "query", "page", "answer"]
    id: str
    lane: int
    data: bytes


class QueuePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run enters the queue: its owner there, its priority, and the release that created it."""

    user: str = ""
    priority: int = 0
    release: str = ""


class RunInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The data stored with a run at its creation: its place in the queue and, for a forked run, what it took over.

    `webhook` is notified about this run only; the store fills in the run's id and the time. `owner` is the run's owner,
    if the journal is not limited to one. `within` are the allowances that must leave room for its budget.
    """

    steps: tuple[StepRecord, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    place: QueuePlace | None = None
    webhook: Webhook | None = None
    owner: str = ""
    within: tuple[Allowance, ...] = ()


NO_INPUTS = RunInputs()

ACTIVE_STATUSES: tuple[RunStatus, ...] = ("created", "running")
"""The statuses of queued and executed runs: neither ended nor waiting for a person."""
Action = Literal["", "finish", "cancel", "pause"]


class Renewal(NamedTuple):
    """The answer to a process that renews a lease: the control row, and how many messages were left for the run."""

    action: Action
    messages: int


FRESH_SHARE = 3 / 4
"""The part of its time that a lease has left, at least, after `Journal.renew_all`."""
MAX_LEASE_SECONDS = 120.0
"""Seconds. No lease is taken or renewed for longer."""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """The rows one transaction writes. `active_seconds` is the run's total so far; None leaves it unchanged."""

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


class RunSpending(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a run so far: settled, and held for calls in flight. `brief` is its frozen brief."""

    run_id: str
    status: RunStatus
    brief: bytes
    active_seconds: float
    usage: Usage


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """The limit of all runs together created at `since` (ISO 8601 UTC) or later; None is no limit.

    A run that has ended counts with what it used, any other with its whole budget. `runs` limits how many there may be,
    `at_once` how many runs of all days may be queued or executed. With an `owner` only that owner's runs count.
    `outside` is what was used since then outside any run.
    """

    since: str
    usd: float | None = None
    tokens: int | None = None
    runs: int | None = None
    at_once: int | None = None
    owner: str | None = None
    outside: Usage = Usage()


class News(msgspec.Struct, frozen=True, kw_only=True):
    """The status of a run and events of its log, read at the same moment."""

    row: RunRow
    events: tuple[Envelope, ...] = ()


class EventKey(msgspec.Struct, frozen=True, kw_only=True):
    """A stored event's identity, without its data."""

    seq: int
    key: str
    step: str
    attempt: int


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a process needs to continue a run."""

    brief: bytes
    status: RunStatus
    fence: int
    steps: dict[str, StepRecord]
    events: tuple[EventKey, ...]
    holds: tuple[HoldRecord, ...]
    ledger: tuple[LedgerRow, ...]
    active_seconds: float


class Journal(RunListing, Protocol):
    """Runs, their steps and their events. Every write to a run carries its lease's fence.

    A run that does not exist, or that the owner may not see, is an `UnknownName`.
    """

    def owned_by(self, owner: str | None) -> Self:
        """Return the same journal as one owner sees it: only their runs, and new runs are theirs. None sees all."""

    async def create(
        self,
        run_id: str,
        question: str,
        brief: bytes,
        events: Sequence[EventDraft],
        thread: str = "",
        inputs: RunInputs = NO_INPUTS,
    ) -> tuple[Envelope, ...]:
        """Create a run with its first events; `thread` names its conversation.

        `inputs` is stored in the same transaction, which also queues the run if `inputs` has a place in the queue. Its
        budget is checked against each allowance there, over all owners' runs.

        Raises:
            StoreError: there is a run with that id.
            Overtaken: other runs have used what it needs of an allowance.
        """

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        """Take the run's lease for `ttl` seconds and raise the fence.

        A lease still held by exactly `evict`, a process known to be dead, counts as expired. So does a lease that ends
        more than `MAX_LEASE_SECONDS` from now: it was taken before the clock was set back.

        Raises:
            LeaseHeld: another holder's lease has not expired.
            UnknownName: there is no such run.
        """

    async def renew(self, lease: Lease, ttl: float) -> Renewal:
        """Extend the lease by `ttl` seconds from now, and return what others want of the run.

        Raises:
            FenceLost: another process has the run.
        """

    async def renew_all(self, leases: Sequence[Lease], ttl: float) -> dict[Lease, Renewal | FenceLost]:
        """Make sure that leases have at least `FRESH_SHARE` of `ttl` seconds left, and return what others want of the
        runs.

        Most calls only read: a process that executes many runs asks for all of them several times a second. If one
        lease needs it, all are renewed that this lets end later, so that few calls write. Leases of runs that nobody
        wants anything of are left out; those that another process has, or that were released, have an error.
        """

    async def release(self, lease: Lease) -> None:
        """Release the lease; does nothing if it was lost already."""

    async def load(self, run_id: str) -> Memory:
        """Return everything stored about a run.

        Raises:
            UnknownName: there is no such run.
        """

    def commit(self, lease: Lease, commit: Commit) -> Awaitable[tuple[Envelope, ...]]:
        """Write in one transaction. Enqueued at once, in call order; await the result to know it is durable.

        Events get consecutive numbers in the order given. Commits that wait together may share a transaction.

        Raises (when awaited):
            FenceLost: another process has the run; nothing of this commit was written.
        """

    async def events(self, run_id: str, after: int = 0, limit: int | None = None) -> list[Envelope]:
        """Return the events with `seq > after`, in order."""

    def listen(self, listener: Callable[[str], None]) -> Callable[[], None]:
        """Call `listener`, from any thread, with the id of each run whose log has grown. Call the result to stop.

        It also reports `QUEUE_NEWS` and `JOBS_NEWS`. It notices the writes of this process and, on PostgreSQL, of every
        process. It may miss some, so whoever must know also polls from time to time.
        """

    async def control(self, run_id: str, action: Action, events: Sequence[EventDraft] = ()) -> None:
        """Set the control row. Any process may do this. `cancel` is never weakened to `finish`.

        `events` record it in the log, in the same transaction. They need no lease, since a request changes nothing in
        the run.
        """

    async def post(self, run_id: str, topic: str, data: bytes, events: Sequence[EventDraft] = ()) -> None:
        """Leave a message for the run's `receive(topic)`. Any process may do this. `events`: as for `control`."""

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        """The messages on `topic`, oldest first."""

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """Runs, newest first."""

    async def rows(self, run_ids: Collection[str]) -> dict[str, RunRow]:
        """Return the runs with these ids, by id, in one query. Unknown ids are left out."""

    async def news(self, after: Mapping[str, int], limit: int) -> dict[str, News]:
        """Return the status of runs and their events after the numbers given with their ids, read at one moment.

        `limit` counts the events of all runs together, so a log may have more. Unknown ids are left out.
        """

    async def find(self, reference: str) -> RunRow:
        """Find a run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: no run, or more than one, matches.
        """

    async def latest(self, thread: str) -> RunRow | None:
        """The newest run of a thread; None if it has none."""

    async def spending(
        self, since: str = "", limit: int | None = None, only: Collection[str] | None = None
    ) -> list[RunSpending]:
        """Return what the runs created at `since` (ISO 8601 UTC) or later have used, newest first, at most `limit`.

        `only` restricts it to these ids.
        """

    async def delete(self, run_id: str, evict: str = "") -> None:
        """Delete a run with everything written for it, in one transaction. What it read stays in the library.

        `evict` is a holder known to be dead, as for `acquire`.

        Raises:
            LeaseHeld: another holder's lease has not expired.
            UnknownName: there is no such run.
        """

    async def close(self) -> None:
        """Write what waits and close all connections."""
