"""A writer who never comes to an end, so that a run's deadline passes while its report is written, on any machine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence

from msgspec.structs import replace

from assay import Assay
from assay.core.events import Envelope
from assay.core.messages import Delta, Reply, Request
from assay.core.ports import Fact, SpanKind, WatchedSpan
from assay.core.view import RunView
from assay.models.extractive import Extractive
from assay.run.process import SystemClock
from assay.settings import Settings

DEADLINE = 600.0
LEFT = 2.0
"""Seconds until the deadline when the report is begun."""


class Endless(Extractive):
    """The built-in model, which never comes to the end of a report."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if request.task == "write":
            await asyncio.sleep(DEADLINE)
        async for each in super().stream(request):
            yield each


class LateClock(SystemClock):
    """A clock, and a watch of the run: it stands still until the report is begun, and then is shortly before the end.

    So agents have all the time they need, however busy the machine is.
    """

    def __init__(self) -> None:
        self._wrote_at: float | None = None

    def monotonic(self) -> float:
        wrote_at = self._wrote_at
        return 0.0 if wrote_at is None else DEADLINE - LEFT + super().monotonic() - wrote_at

    def begin(
        self, kind: SpanKind, name: str, started_at: int, parent_span: WatchedSpan | None, facts: Mapping[str, Fact]
    ) -> WatchedSpan:
        if (kind, name) == ("phase", "write"):
            self._wrote_at = super().monotonic()
        return self

    def end(self, facts: Mapping[str, Fact], error: str) -> None: ...

    def observe(self, envelopes: Sequence[Envelope]) -> None: ...

    def close(self) -> None: ...


async def out_of_time(settings: Settings, question: str) -> RunView:
    """What became of a run over the web, whose deadline passed while its report was written."""
    models = replace(settings.models, complex=("endless",))
    async with Assay(replace(settings, models=models), models={"endless": Endless()}) as assay:
        clock = assay._context.clock = LateClock()
        assay._context.add_watch(clock)
        return await assay.start(question, web=True, max_time=DEADLINE).view()
