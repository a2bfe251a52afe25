"""A run in memory, and lists in the process: the part of the memory store's journal that manages threads."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from assay.core.errors import LeaseHeld, UnknownName
from assay.core.events import Envelope, ModelAttempted
from assay.core.ports import Action, Commit, EventDraft, EventKey, HoldRecord, LedgerRow, Renewal, StepRecord
from assay.core.ports.lists import (
    ModelUsage,
    RunFilter,
    RunPage,
    RunRow,
    RunStatus,
    ThreadPage,
    ThreadPlace,
    ThreadRow,
    change_labels,
)
from assay.store import common
from assay.store.common import OwnedView, WallClock, label_marks, labels_text
from assay.store.leases import LeaseLook, is_held


@dataclass(slots=True)
class StoredRun:
    """Everything stored about a run."""

    run_id: str
    question: str
    brief: bytes
    created_at: str
    thread: str = ""
    owner: str = ""
    number: int = 0
    status: RunStatus = "created"
    holder: str = ""
    until: float = 0.0
    fence: int = 0
    control: Action = ""
    active_seconds: float = 0.0
    labels: dict[str, str] = field(default_factory=dict)
    events: list[Envelope] = field(default_factory=list)
    keys: dict[str, EventKey] = field(default_factory=dict)
    steps: dict[str, StepRecord] = field(default_factory=dict)
    holds: dict[str, HoldRecord] = field(default_factory=dict)
    ledger: dict[tuple[str, str], LedgerRow] = field(default_factory=dict)
    inbox: dict[str, list[bytes]] = field(default_factory=dict)

    def append(self, drafts: Sequence[EventDraft]) -> tuple[Envelope, ...]:
        """Write events that are not stored yet."""
        new = common.new_drafts(drafts, self.keys)
        envelopes = common.envelopes(self.run_id, new, len(self.events) + 1)
        self.events.extend(envelopes)
        for envelope, draft in zip(envelopes, new, strict=True):
            self.keys[draft.key] = EventKey(seq=envelope.seq, key=draft.key, step=draft.step, attempt=draft.attempt)
        return envelopes

    def apply(self, commit: Commit) -> tuple[Envelope, ...]:
        """Write a commit."""
        self.steps.update((step.key, step) for step in commit.steps)
        self.holds.update((hold.step, hold) for hold in commit.holds)
        self.ledger.update(((row.kind, row.id), row) for row in commit.ledger)
        if commit.status is not None:
            self.status = commit.status
        if commit.active_seconds is not None:
            self.active_seconds = commit.active_seconds
        return self.append(commit.events)

    def renewal(self) -> Renewal:
        """What others want of the run."""
        return Renewal(self.control, sum(map(len, self.inbox.values())))

    def row(self, now: float) -> RunRow:
        """The run in a list."""
        return RunRow(
            run_id=self.run_id,
            question=self.question,
            status=self.status,
            created_at=self.created_at,
            holder=self.holder if is_held(self.until, now) else "",
            fence=self.fence,
            active_seconds=self.active_seconds,
            last_seq=len(self.events),
            thread=self.thread,
            owner=self.owner,
            labels=dict(self.labels),
        )


Key = tuple[str, str]
"""The owner and the name of a thread."""


class MemoryListing(OwnedView):
    """`Listing` over runs in the process, as one owner sees them; None sees all."""

    def __init__(self, wall: WallClock) -> None:
        self._wall = wall
        self._runs: dict[str, StoredRun] = {}
        self._titles: dict[Key, str] = {}
        self._numbers = itertools.count(1)
        self._looks: list[LeaseLook] = []  # the last at leases, until something of them changes; all owners share it
        self._lock = threading.Lock()

    async def page(self, run_filter: RunFilter, limit: int, before: int | None = None) -> RunPage:
        with self._lock:
            now = self._wall()
            runs = [
                run
                for run in self._visible_runs()
                if (before is None or run.number < before) and _matches(run, run_filter)
            ]
            rows = [run.row(now) for run in runs[:limit]]
        return RunPage(rows, runs[limit - 1].number if len(runs) > limit else None)

    async def runs_after(self, number: int, limit: int) -> list[tuple[int, RunRow]]:
        with self._lock:
            runs = sorted((run for run in self._visible_runs() if run.number > number), key=lambda run: run.number)
            return [(run.number, run.row(self._wall())) for run in runs[:limit]]

    async def label(self, run_id: str, added: Mapping[str, str], removed: Collection[str] = ()) -> dict[str, str]:
        with self._lock:
            run = self._run(run_id)
            run.labels = change_labels(run.labels, added, removed)
            return dict(run.labels)

    async def usage(self, since: str = "", until: str = "", *, daily: bool = False) -> list[ModelUsage]:
        with self._lock:
            criteria = RunFilter(since=since, until=until)
            attempts = [
                (run.owner, run.run_id, run.created_at, bytes(event.data))
                for run in reversed(list(self._visible_runs()))
                if _matches(run, criteria)
                for event in run.events
                if event.type == ModelAttempted.kind
            ]
        return common.usage_by_model(attempts, daily=daily)

    async def counts(self) -> dict[RunStatus, int]:
        with self._lock:
            return dict(Counter(run.status for run in self._visible_runs()))

    async def threads(self, text: str = "", limit: int = 100, position: ThreadPlace | None = None) -> ThreadPage:
        with self._lock:
            newest = position.newest if position else max((run.number for run in self._runs.values()), default=0)
            threads = self._threads(run for run in self._visible_runs() if run.number <= newest)
            folded = common.fold_text(text)
            matches = [
                (runs[0].number, self._row(key, runs))
                for key, runs in threads.items()
                if (position is None or runs[0].number < position.before) and self._has_text(key, folded)
            ]
        rows = [row for _, row in matches[:limit]]
        return ThreadPage(rows, ThreadPlace(newest, matches[limit - 1][0]) if len(matches) > limit else None)

    async def thread(self, reference: str) -> ThreadRow:
        with self._lock:
            threads = self._threads(self._visible_runs())
            by_name = [key for key in threads if key[1] == reference]
            by_title = [key for key in threads if self._titles.get(key) == reference]
            by_prefix = [key for key in threads if key[1].startswith(reference)]
            keys = (by_name or by_title or by_prefix) if reference else []
            if len(keys) != 1:
                raise UnknownName("thread", reference, [name for _, name in threads])
            return self._row(keys[0], threads[keys[0]])

    async def rename(self, thread: str, title: str) -> None:
        with self._lock:
            for key in self._thread_keys(thread):
                self._titles[key] = title

    async def delete_thread(self, thread: str, evict: Collection[str] = ()) -> tuple[str, ...]:
        with self._lock:
            key = self._thread_keys(thread)[0]
            runs = self._threads(self._visible_runs())[key]
            for run in runs:
                if is_held(run.until, self._wall()) and run.holder and run.holder not in evict:
                    raise LeaseHeld(run.run_id, run.holder)
            for run in runs:
                self._remove_run(run)
            return tuple(run.run_id for run in reversed(runs))

    # for the journal

    def _visible_runs(self) -> Iterable[StoredRun]:
        """The runs that the owner sees, newest first."""
        return filter(self._is_visible, reversed(self._runs.values()))

    def _is_visible(self, run: StoredRun) -> bool:
        return self._owner in (None, run.owner)

    def _run(self, run_id: str) -> StoredRun:
        run = self._runs.get(run_id)
        if run is None or not self._is_visible(run):
            raise common.unknown_run(run_id)
        return run

    def _add_run(self, run: StoredRun) -> None:
        """Add a run; a thread named by the id of the run it began with includes that run."""
        run.number = next(self._numbers)
        first = self._runs.get(run.thread)
        if first is not None and first.owner == run.owner and not first.thread:
            first.thread = first.run_id
        self._runs[run.run_id] = run

    def _remove_run(self, run: StoredRun) -> None:
        """Remove a run, and with the last one the title of its thread."""
        del self._runs[run.run_id]
        self._looks.clear()
        if not any(other.thread == run.thread and other.owner == run.owner for other in self._runs.values()):
            self._titles.pop((run.owner, run.thread), None)

    # threads

    def _threads(self, runs: Iterable[StoredRun]) -> dict[Key, list[StoredRun]]:
        """The runs of each thread, newest first; the thread of the newest first."""
        threads: dict[Key, list[StoredRun]] = {}
        for run in runs:
            if run.thread:
                threads.setdefault((run.owner, run.thread), []).append(run)
        return threads

    def _thread_keys(self, thread: str) -> list[Key]:
        keys = [key for key in self._threads(self._visible_runs()) if key[1] == thread]
        if not keys:
            raise UnknownName("thread", thread)
        return keys

    def _has_text(self, key: Key, folded: str) -> bool:
        title = common.fold_text(self._titles.get(key, ""))
        thread_runs = (run for run in self._runs.values() if (run.owner, run.thread) == key)
        return folded in title or any(folded in common.fold_text(run.question) for run in thread_runs)

    def _row(self, key: Key, runs: Sequence[StoredRun]) -> ThreadRow:
        owner, name = key
        return ThreadRow(
            name=name,
            title=self._titles.get(key, ""),
            question=runs[-1].question,
            created_at=runs[-1].created_at,
            runs=len(runs),
            last_run=runs[0].run_id,
            last_at=runs[0].created_at,
            status=runs[0].status,
            owner=owner,
        )


def _matches(run: StoredRun, criteria: RunFilter) -> bool:
    return (
        (not criteria.status or run.status in criteria.status)
        and common.fold_text(criteria.text) in common.fold_text(run.question)
        and (not criteria.since or run.created_at >= criteria.since)
        and (not criteria.until or run.created_at < criteria.until)
        and (not criteria.thread or run.thread == criteria.thread)
        and (not criteria.label or _has_label(run, criteria.label))
        and not (criteria.not_label and _has_label(run, criteria.not_label))
        and (not criteria.collection or common.join_lines(criteria.collection) in common.collections_text(run.brief))
    )


def _has_label(run: StoredRun, label: str) -> bool:
    return any(mark in labels_text(run.labels) for mark in label_marks(label))
