"""The journal: runs, their steps and their events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Literal, Protocol, Self

import msgspec

from assay.core.events import Envelope, Path
from assay.core.ports.lists import FINAL as FINAL
from assay.core.ports.lists import Listing, RunRow, RunStatus
from assay.core.ports.webhooks import Webhook
from assay.core.usage import Usage


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
    """A fact of the ledger: a source, a passage shown, a query asked, a page read. (kind, id) is unique.

    An `answer` says which step holds what a call got: `id` is the call's key, `data` the key of the step.
    """

    kind: Literal["source", "passage", "query", "page", "answer"]
    id: str
    lane: int
    data: bytes


class QueuePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run is put into the queue: whose it is there, how early its turn is, and the release which made it."""

    user: str = ""
    priority: int = 0
    release: str = ""


class RunInputs(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has from its creation on: of a run that was forked, what it took over; its place in the queue.

    `webhook` is told of this run alone; the store gives it the run's id, and its time. `owner` is whose it is, where
    the journal is not one owner's; `within` are the allowances which leave room for its budget.
    """

    steps: tuple[StepRecord, ...] = ()
    ledger: tuple[LedgerRow, ...] = ()
    place: QueuePlace | None = None
    webhook: Webhook | None = None
    owner: str = ""
    within: tuple[Allowance, ...] = ()


NOTHING = RunInputs()

GOING: tuple[RunStatus, ...] = ("created", "running")
"""What is queued or executed: neither ended, nor waiting for a person."""
Action = Literal["", "finish", "cancel", "pause"]


LONGEST_LEASE = 120.0
"""Seconds; no lease is taken or renewed for longer."""


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


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has used by now: settled, and held for calls in flight. `brief` is its frozen brief."""

    run_id: str
    status: RunStatus
    brief: bytes
    active_seconds: float
    usage: Usage


class Allowance(msgspec.Struct, frozen=True, kw_only=True):
    """What all runs created at `since` (ISO 8601 UTC) or later may take together; None is no limit.

    One which has ended has taken what it used; any other all it may still use, which is its own limit. `runs` is how
    many there may be, `at_once` how many of all days which are queued or executed. With an `owner`, his runs count
    alone.
    """

    since: str
    usd: float | None = None
    tokens: int | None = None
    runs: int | None = None
    at_once: int | None = None
    owner: str | None = None


class News(msgspec.Struct, frozen=True, kw_only=True):
    """How a run stands, and events of its log, which are of the same moment."""

    row: RunRow
    events: tuple[Envelope, ...] = ()


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


class Journal(Listing, Protocol):
    """Runs, their steps and their events. Every write of a run carries its lease's fence."""

    def owned_by(self, owner: str | None) -> Self:
        """The same journal as one owner knows it: nobody else's run is there, and new ones are his. None knows all."""
        ...

    async def create(
        self,
        run_id: str,
        question: str,
        brief: bytes,
        events: Sequence[EventDraft],
        thread: str = "",
        given: RunInputs = NOTHING,
    ) -> tuple[Envelope, ...]:
        """Make a run with its first events; `thread` names the conversation it is part of.

        What it is `given` is stored in the same transaction (its place in the queue too, where there is a queue), and
        its budget is looked at within each allowance there, whoever's journal this is.

        Raises:
            Overtaken: other runs have taken what it would take of an allowance.
        """
        ...

    async def acquire(self, run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        """Take the run's lease for `ttl` seconds, raising the fence. A lease still held by exactly `evict`, a process
        known to be dead, is taken as if it had expired.

        A lease which ends more than `LONGEST_LEASE` from now was taken before the clock was set back: it has expired.

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

    def listen(self, told: Callable[[str], None]) -> Callable[[], None]:
        """Call `told`, from any thread, with the id of each run whose log has grown; call the result to stop that.

        It also tells `QUEUE_NEWS` and `JOBS_NEWS`. It hears the writes of this process and, on PostgreSQL, of every
        process. It may miss some: whoever has to know also looks from time to time.
        """
        ...

    async def control(self, run_id: str, action: Action, events: Sequence[EventDraft] = ()) -> None:
        """Set the control row (any process may). `cancel` is never weakened to `finish`.

        `events` say so on the log, in the same transaction. They need no lease: a request changes nothing of the run.
        """
        ...

    async def post(self, run_id: str, topic: str, data: bytes, events: Sequence[EventDraft] = ()) -> None:
        """Leave a message for the run's `receive(topic)`; any process may. `events`: as for `control`."""
        ...

    async def inbox(self, run_id: str, topic: str) -> list[bytes]:
        """Messages left on `topic`, oldest first."""
        ...

    async def runs(self, limit: int = 100) -> list[RunRow]:
        """Newest first."""
        ...

    async def rows(self, run_ids: Collection[str]) -> dict[str, RunRow]:
        """The runs with these ids, by id, in one query. An id which no run has is left out."""
        ...

    async def news(self, after: Mapping[str, int], limit: int) -> dict[str, News]:
        """How runs stand, and what their logs have behind the numbers given with their ids, all in one look.

        At most `limit` events come of all of them together: a log may have more than is told. An id which no run has
        is left out.
        """
        ...

    async def find(self, reference: str) -> RunRow:
        """A run by its id, the start of its id, or `last`.

        Raises:
            UnknownName: none, or more than one, begins so.
        """
        ...

    async def latest(self, thread: str) -> RunRow | None:
        """The newest run of a thread, None where it has none."""
        ...

    async def spending(
        self, since: str = "", limit: int | None = None, only: Collection[str] | None = None
    ) -> list[Spent]:
        """What the runs created at `since` (ISO 8601 UTC) or later have used, newest first, at most `limit` of them.

        `only` those with these ids, where any are given.
        """
        ...

    async def delete(self, run_id: str, evict: str = "") -> None:
        """Forget a run with all that was written for it, in one transaction. What it read stays in the library.

        `evict` is a holder known to be dead, as for `acquire`.

        Raises:
            LeaseHeld: another holder's lease has not expired.
            UnknownName: no such run.
        """
        ...

    async def close(self) -> None:
        """Write what waits and let go of everything."""
        ...
