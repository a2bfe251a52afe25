"""The MCP server over stdin and stdout, for the client that started this process; it executes its runs itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Unpack

from assay.app.assay import Assay
from assay.core.errors import LeaseHeld, StoreError
from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.server.mcp.mcp_server import build_server
from assay.server.mcp.service import McpService
from assay.server.protocol_runs import Caller
from assay.services.arguments import Sources
from assay.services.handle import RunHandle


class LocalRuns:
    """Executes the runs of one library in this process; implements `server.protocol_runs.Runs`.

    There is one owner: whoever started this process.
    """

    def __init__(self, assay: Assay) -> None:
        self._assay = assay
        self._held: dict[str, RunHandle] = {}

    @property
    def going(self) -> tuple[str, ...]:
        """The runs being executed here."""
        return tuple(self._held)

    async def begin(
        self, owner: str, question: str, *, sources: Sources | None = None, **wanted: Unpack[RunOptions]
    ) -> str:
        """Store a run and execute it; return its id."""
        run_id = await self._assay.create(question, sources=sources, **wanted)
        await self.go_on(owner, run_id)
        return run_id

    async def begin_ask(self, owner: str, reference: str, question: str, **wanted: Unpack[RunOptions]) -> str:
        """Start a run that answers from what another has read; return its id."""
        run_id = await self._assay.create_ask(reference, question, **wanted)
        await self.go_on(owner, run_id)
        return run_id

    async def go_on(self, owner: str, reference: str) -> None:
        """Continue a stored run unless it has ended, waits for a person, or is being executed."""
        row = await self._assay.find(reference)
        if row.queued or row.status in FINAL:
            return
        if row.status == "waiting" and not await self._assay.is_answered(row.run_id):
            return
        if held := self._held.get(row.run_id):
            if row.status != "waiting":
                return
            with suppress(StoreError):  # the run is released, whatever happens
                await held.view()
        try:
            self._hold(await self._assay.resume(row.run_id))
        except LeaseHeld:
            return

    async def view(self, owner: str, reference: str) -> RunView:
        """A run as it is now."""
        return await self._assay.view(reference)

    def groups(
        self, owner: str, run_id: str, after: int = 0, rest: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `rest` seconds without any."""
        return self._assay.groups(run_id, after, rest=rest)

    def _hold(self, handle: RunHandle) -> None:
        self._held[handle.run_id] = handle
        handle.on_end(lambda: self._forget(handle.run_id))

    def _forget(self, run_id: str) -> None:
        self._held.pop(run_id, None)


async def serve(assay: Assay, runs: LocalRuns, *, allow_private: bool = False) -> None:
    """Answer the client until it closes stdin. `runs` then has the runs that are still being executed."""
    caller = Caller(assay, runs)
    service = McpService(caller_of=lambda _: caller, allow_private=allow_private)
    await build_server(service).run_stdio_async()
