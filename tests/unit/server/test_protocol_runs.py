"""The runs of clients of a protocol: one for a repeated request, and none waits for another's."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from assay.server.protocol_runs import REQUEST, Caller


class Row:
    """A run in a list."""

    def __init__(self, key: str) -> None:
        self.run_id, self.labels, self.status = f"run of {key}", {REQUEST: key}, "running"
        self.created_at = "2999-01-01T00:00:00+00:00"


class Slow:
    """A library and its runs; the first run takes until `go` is set to begin."""

    def __init__(self) -> None:
        self.rows, self.began, self.go = list[Row](), list[str](), asyncio.Event()

    async def listed(self, _limit: int) -> list[Row]:
        return self.rows

    async def begin(self, _owner: str, question: str, *, labels: dict[str, str], **_: Any) -> str:
        self.began.append(question)
        if question == "slow":
            await self.go.wait()
        self.rows.append(Row(labels[REQUEST]))
        return self.rows[-1].run_id


async def test_a_repeated_request_gets_its_run_and_no_other_request_waits_for_it() -> None:
    slow = Slow()
    caller = Caller(cast(Any, slow), cast(Any, slow))
    first = [asyncio.create_task(caller.begin("slow", key="a")) for _ in range(2)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await caller.begin("quick", key="b") == "run of b"
    slow.go.set()
    assert await asyncio.gather(*first) == ["run of a", "run of a"]
    assert slow.began == ["slow", "quick"]
