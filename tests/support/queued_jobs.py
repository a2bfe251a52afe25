"""Jobs as the contract of their store puts and claims them."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.core.ports.jobs import Job, JobClaim, Jobs

TTL = 4.0
AT = "2026-11-01T00:00:00.000Z"


def job(id: str, **values: Any) -> Job:
    return Job(**{"id": id, "kind": "add", "name": f"name of {id}", "created_at": AT, "updated_at": AT, **values})


def by(holder: str = "w1", **values: Any) -> JobClaim:
    return JobClaim(**{"holder": holder, "ttl": TTL, "kinds": ("add",), **values})


async def taken(jobs: Jobs, holder: str = "w1", **values: Any) -> list[str]:
    """All that can be claimed, in its order."""
    found = []
    while claimed := await jobs.claim(by(holder, **values)):
        found.append(claimed.id)
    return found


def with_(job: Job, **values: Any) -> Job:
    return msgspec.structs.replace(job, **values)
