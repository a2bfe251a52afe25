"""A run in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.core.events import Envelope
from assay.core.ports import Action, Commit, EventDraft, EventKey, HoldRecord, LedgerRow, RunRow, RunStatus, StepRecord
from assay.store import common


@dataclass(slots=True)
class StoredRun:
    """All that is stored of a run."""

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
        """Write events which are not stored yet."""
        new = common.fresh(drafts, self.keys)
        added = common.envelopes(self.run_id, new, len(self.events) + 1)
        self.events.extend(added)
        for envelope, draft in zip(added, new, strict=True):
            self.keys[draft.key] = EventKey(seq=envelope.seq, key=draft.key, step=draft.step, attempt=draft.attempt)
        return added

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

    def row(self, now: float) -> RunRow:
        """The run in a list."""
        return RunRow(
            run_id=self.run_id,
            question=self.question,
            status=self.status,
            created_at=self.created_at,
            holder=self.holder if common.is_held(self.until, now) else "",
            fence=self.fence,
            active_seconds=self.active_seconds,
            last_seq=len(self.events),
            thread=self.thread,
            owner=self.owner,
            labels=dict(self.labels),
        )
