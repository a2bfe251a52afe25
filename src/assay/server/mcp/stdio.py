"""The server over stdin and stdout, for the client which started this process."""

from __future__ import annotations

from assay.app.assay import Assay
from assay.server.local import LocalRuns
from assay.server.mcp.mcp_server import build_server
from assay.server.mcp.service import McpService
from assay.server.protocol_runs import Caller


async def serve(assay: Assay, runs: LocalRuns, *, allow_private: bool = False) -> None:
    """Answer the client until it closes stdin. `runs` has what is still executed then."""
    caller = Caller(assay, runs)
    service = McpService(caller_of=lambda _: caller, allow_private=allow_private)
    await build_server(service).run_stdio_async()
