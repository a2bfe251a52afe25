"""What tests of journals write into them."""

from __future__ import annotations

import msgspec

from assay.core.ports import (
    Commit,
    EventDraft,
    HoldRecord,
    Journal,
    Lease,
    LedgerRow,
    StepRecord,
)
from assay.core.usage import Usage

AT = "2026-03-01T12:00:00.000Z"


def draft(key: str, text: str = "x", step: str = "", attempt: int = 0) -> EventDraft:
    data = msgspec.json.encode({"text": text})
    return EventDraft(
        key=key, path=("research", "agent-1"), type="think.delta", data=data, at=AT, step=step, attempt=attempt
    )


def step(key: str, data: bytes = b"1", tag: str = "int/1") -> StepRecord:
    return StepRecord(key=key, input_hash="00", tag=tag, data=data)


def hold(name: str, tokens: int, state: str = "held") -> HoldRecord:
    return HoldRecord(step=name, account="0", amount=Usage(input_tokens=tokens, usd=0.1), state=state)  # type: ignore[arg-type]


def row(id: str, data: bytes = b"{}", lane: int = 1) -> LedgerRow:
    return LedgerRow(kind="source", id=id, lane=lane, data=data)


def commit_of(*keys: str) -> Commit:
    return Commit(events=tuple(draft(key) for key in keys))


async def begin(journal: Journal, run_id: str = "r1", holder: str = "host:1", ttl: float = 30) -> Lease:
    await journal.create(run_id, f"question of {run_id}", b'{"question":"q"}', [draft("created")])
    return await journal.acquire(run_id, holder, ttl)


async def seqs(journal: Journal, run_id: str = "r1") -> list[int]:
    return [event.seq for event in await journal.events(run_id)]
