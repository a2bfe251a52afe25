"""The MCP server: every tool, resource and prompt, with its description for clients; over stdin and stdout."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import cache
from importlib import metadata
from typing import Any, NamedTuple, Unpack

import msgspec
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.request_state import RequestStateSecurity
from mcp.types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from assay.app.assay import Assay
from assay.core.errors import LeaseHeld, StoreError
from assay.core.events import Envelope
from assay.core.ports import FINAL
from assay.core.report import build_report
from assay.core.run_options import RunOptions
from assay.core.view import RunView
from assay.export.markdown import render
from assay.server.mcp import reading_tools, research
from assay.server.mcp.service import Ctx, McpService, view_of
from assay.server.protocol_runs import Caller, check_names
from assay.services.arguments import Sources
from assay.services.results import RunHandle

INSTRUCTIONS = """Assay researches questions over documents and the web, and checks every sentence of its reports \
against the exact passage it cites.
- For a quick look at documents: search, then fetch.
- For a question worth a report: research. It answers within a minute with the report, or with a run_id and \
next_action: do what next_action says, usually research_wait, until terminal is true.
- Keep the report's citations when you use it. Name a claim as unproven whose verdict is neither quoted nor supported; \
evidence shows the passage behind it.
- verify checks a text of yours or anybody's against its sources."""


class _Kind(NamedTuple):
    """A tool, and what a client may know of it before calling it."""

    function: Callable[..., Any]
    title: str
    reads: bool = True
    destroys: bool = False
    idempotent: bool = True
    world: bool = False


TOOLS = (
    _Kind(reading_tools.search, "Search documents"),
    _Kind(reading_tools.fetch, "Read a document"),
    _Kind(research.research, "Research a question", reads=False, world=True),
    _Kind(research.research_wait, "Wait for a report", reads=False, world=True),
    _Kind(reading_tools.research_report, "Read a report"),
    _Kind(reading_tools.verify, "Check a text", world=True),
    _Kind(reading_tools.evidence, "Show the evidence"),
    _Kind(research.ask, "Ask about a report", reads=False, idempotent=False),
    _Kind(research.steer, "Steer a run", reads=False, idempotent=False),
    _Kind(research.cancel, "End a run", reads=False, destroys=True),
    _Kind(reading_tools.list_runs, "List runs"),
    _Kind(reading_tools.list_collections, "List collections"),
)


class ToolServer(MCPServer[McpService]):
    """Suggests the right name for a misspelt argument, which the library ignores, and says in one line which values do
    not fit.
    """

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[McpService, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: an argument is misspelt or has a wrong value, or as the library's.
        """
        for tool in await self.list_tools():
            if tool.name == name:
                check_names(name, arguments, tool.input_schema.get("properties", {}))
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(cause := error.__cause__, ValidationError):
                raise
            wrong = (f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in cause.errors(include_url=False))
            raise ToolError(f"the arguments of {name} do not fit: {'; '.join(wrong)}") from cause


def build_server(service: McpService, security: RequestStateSecurity | None = None) -> MCPServer[McpService]:
    """The server over `service`. `security` seals the state that clients carry between two calls; processes that serve
    the same clients share it.
    """

    @asynccontextmanager
    async def lifespan(_: MCPServer[McpService]) -> AsyncIterator[McpService]:
        yield service

    with _preserve_logging():
        server = ToolServer(
            "assay",
            title="Assay",
            description="Deep research you can check.",
            instructions=INSTRUCTIONS,
            version=metadata.version("assay"),
            tools=[*_tools()],
            lifespan=lifespan,
            request_state_security=security,
        )
    _add_resources(server)
    server.prompt(title="Deep research")(deep_research)
    return server


@contextmanager
def _preserve_logging() -> Iterator[None]:
    """Restore this process's logging after the block: the library sets it up anew."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def deep_research(question: str, depth: str = "auto") -> str:
    """Research a question and report with checked citations."""
    return (
        f"Use Assay's tool `research` for this question, with depth {depth!r}, and do what its next_action says until "
        f"the run has ended. Then answer from its report, keep its citations, and name every claim whose verdict is "
        f"neither quoted nor supported.\n\nQuestion: {question}"
    )


@cache
def _tools() -> tuple[Tool, ...]:
    """Made once: their schemas take longer than all else at the start of a server."""
    return tuple(Tool.from_function(kind.function, title=kind.title, annotations=_annotations(kind)) for kind in TOOLS)


def _annotations(kind: _Kind) -> ToolAnnotations:
    return ToolAnnotations(
        title=kind.title,
        read_only_hint=kind.reads,
        destructive_hint=kind.destroys,
        idempotent_hint=kind.idempotent,
        open_world_hint=kind.world,
    )


def _add_resources(server: MCPServer[McpService]) -> None:
    for name, title, media_type, function in (
        ("runs/{run_id}/report.md", "Report as Markdown", "text/markdown", report_md),
        ("runs/{run_id}/report.json", "Report as data", "application/json", report_json),
        ("runs/{run_id}/claims.json", "Claims with verdicts", "application/json", claims_json),
        ("documents/{sha256}", "Text of a document", "text/plain", document_text),
    ):
        server.resource(f"assay://{name}", title=title, mime_type=media_type)(function)


async def report_md(ctx: Ctx, run_id: str) -> str:
    """A run's report as Markdown, with its sources and verdicts."""
    return render(await _run_view(ctx, run_id))


async def report_json(ctx: Ctx, run_id: str) -> str:
    """A run's report as data (schema assay.report/1)."""
    return msgspec.json.encode(build_report(await _run_view(ctx, run_id))).decode()


async def claims_json(ctx: Ctx, run_id: str) -> str:
    """The claims of a run's report: verdict, reason, citations."""
    return msgspec.json.encode(build_report(await _run_view(ctx, run_id)).claims).decode()


async def document_text(ctx: Ctx, sha256: str) -> str:
    """The text of a document of the library."""
    try:
        return (await reading_tools.document_of(ctx, sha256))[1]
    except ToolError as error:
        raise ResourceNotFoundError(str(error)) from error


async def _run_view(ctx: Ctx, run_id: str) -> RunView:
    try:
        return await view_of(ctx, run_id)
    except ToolError as error:
        raise ResourceNotFoundError(str(error)) from error


class LocalRuns:
    """Executes the runs of one library in this process; implements `server.protocol_runs.Runs`.

    There is one owner: whoever started this process.
    """

    def __init__(self, assay: Assay) -> None:
        self._assay = assay
        self._handles: dict[str, RunHandle] = {}

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs being executed here."""
        return tuple(self._handles)

    async def begin(
        self, owner: str, question: str, *, sources: Sources | None = None, **options: Unpack[RunOptions]
    ) -> str:
        """Store a run and execute it; return its id."""
        run_id = await self._assay.create(question, sources=sources, **options)
        await self.continue_run(owner, run_id)
        return run_id

    async def begin_ask(self, owner: str, reference: str, question: str, **options: Unpack[RunOptions]) -> str:
        """Start a run that answers from what another has read; return its id."""
        run_id = await self._assay.create_ask(reference, question, **options)
        await self.continue_run(owner, run_id)
        return run_id

    async def continue_run(self, owner: str, reference: str) -> None:
        """Continue a stored run unless it has ended, waits for a person, or is being executed."""
        row = await self._assay.find(reference)
        if row.queued or row.status in FINAL:
            return
        if row.status == "waiting" and not await self._assay.is_answered(row.run_id):
            return
        if handle := self._handles.get(row.run_id):
            if row.status != "waiting":
                return
            with suppress(StoreError):  # the run is released, whatever happens
                await handle.view()
        with suppress(LeaseHeld):
            self._keep_handle(await self._assay.resume(row.run_id))

    async def view(self, owner: str, reference: str) -> RunView:
        return await self._assay.view(reference)

    def groups(
        self, owner: str, run_id: str, after: int = 0, idle_seconds: float | None = None
    ) -> AsyncIterator[Sequence[Envelope]]:
        """Yield the events of a run as they come, until it ends; an empty group after `idle_seconds` seconds without
        any.
        """
        return self._assay.groups(run_id, after, rest=idle_seconds)

    def _keep_handle(self, handle: RunHandle) -> None:
        self._handles[handle.run_id] = handle
        handle.on_end(lambda: self._forget(handle.run_id))

    def _forget(self, run_id: str) -> None:
        self._handles.pop(run_id, None)


async def serve(assay: Assay, runs: LocalRuns, *, allow_private: bool = False) -> None:
    """Answer the client until it closes stdin. `runs` then has the runs that are still being executed."""
    caller = Caller(assay, runs)
    service = McpService(caller_of=lambda _: caller, allow_private=allow_private)
    await build_server(service).run_stdio_async()
