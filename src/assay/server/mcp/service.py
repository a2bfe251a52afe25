"""The caller of a tool: whose runs and documents the tools see, and what they may show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, Protocol, runtime_checkable

import msgspec
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from starlette.requests import Request

from assay.app.assay import DEFAULT_COLLECTION, Assay
from assay.core.brief import Scope
from assay.core.errors import AssayError
from assay.core.ports import CollectionRow
from assay.core.ports.users import AuditEntry
from assay.core.view import RunView
from assay.core.ways import adapt_wording, set_surface
from assay.server.audit import Auditor
from assay.server.gate import identity_of, permission_problem
from assay.server.problems import Refusal
from assay.server.protocol_runs import Caller
from assay.server.streams import Tickets

PRIVATE = (
    "is private: who reads it here is a model which may be anywhere. The owner may allow it "
    "by the setting server.mcp_private, or where the client starts Assay itself by the option --allow-private"
)


class McpService(msgspec.Struct, frozen=True):
    """The service behind all tools. `caller_of` identifies the caller: over HTTP by the request, over stdio by None.

    `allow_private` lets a client see documents of private collections.
    """

    caller_of: Callable[[Request | None], Caller]
    allow_private: bool = False


@runtime_checkable
class Audits(Protocol):
    """Where runs are executed, if there is an audit log."""

    auditor: Auditor


@runtime_checkable
class LimitsStreams(Protocol):
    """Where runs are executed, if each user may have only so many streams."""

    streams: Tickets


class NoStream(ToolError):
    """The caller has as many streams as allowed; nothing was done."""


Ctx = Context[McpService, Any]


def service_of(ctx: Ctx) -> McpService:
    """The service of a tool's server."""
    service: McpService = ctx.request_context.lifespan_context
    return service


def caller_of(ctx: Ctx) -> Caller:
    """The caller; from here on messages are worded for a model, which has tools and no commands."""
    set_surface("mcp")
    return service_of(ctx).caller_of(_request(ctx))


def check_may_write(ctx: Ctx) -> None:
    """Make sure that the caller may use a tool which starts or changes something.

    Raises:
        ToolError: they, or their token, may not.
    """
    if not may_write(ctx):
        raise ToolError(permission_problem("write").detail)


def may_write(ctx: Ctx) -> bool:
    """True if the caller, or their token, may start and change runs."""
    request = _request(ctx)
    identity = None if request is None else identity_of(request)
    return identity is None or identity.may("write")


@contextmanager
def stream_for(ctx: Ctx, seconds: float) -> Iterator[None]:
    """A stream of the caller for the block, which waits so long for a run; none is needed if it does not wait.

    Raises:
        NoStream: the caller has as many as allowed.
    """
    caller = caller_of(ctx)
    if seconds <= 0 or not isinstance(caller.runs, LimitsStreams):
        yield
        return
    try:
        ticket = caller.runs.streams.ticket(caller.owner)
    except Refusal as error:
        raise NoStream(f"{error}; or do not wait (wait_seconds 0)") from error
    with closing(ticket):
        yield


async def record_action(ctx: Ctx, action: str, run_id: str) -> None:
    """Record in the audit log what a tool did to a run, under the name of the API's operation.

    The request says who asks: a session's tools work in a task of their own, which knows nothing of later requests.
    """
    request, caller = _request(ctx), caller_of(ctx)
    if request is None or not isinstance(caller.runs, Audits):
        return  # over stdio there is one user, as in a terminal
    identity, address = identity_of(request), request.client.host if request.client else ""
    entry = AuditEntry(
        actor=caller.owner,
        action=action,
        subject=run_id,
        via=identity.via if identity else "none",
        address=address,
        status=200,
    )
    await caller.runs.auditor.store_entry(entry)


def report_address(ctx: Ctx, run_id: str) -> str:
    """The address of the page with a report and its evidence, "" without a server."""
    base = _base(ctx)
    return f"{base}/api/v1/runs/{run_id}/report?format=html" if base else ""


def is_page(url: str) -> bool:
    """True if a client can open an address: that of a file is of no use to it, and says where the server has it."""
    return url.startswith(("http://", "https://"))


def citation_address(ctx: Ctx, url: str, sha256: str) -> str:
    """An address for citing a document: its own if it is a web page."""
    if is_page(url):
        return url
    base = _base(ctx)
    return f"{base}/api/v1/documents/{sha256}/text" if base else f"assay://documents/{sha256}"


def _base(ctx: Ctx) -> str:
    request = _request(ctx)
    return "" if request is None else str(request.base_url).rstrip("/")


def _request(ctx: Ctx) -> Request | None:
    request = ctx.request_context.request
    return request if isinstance(request, Request) else None


def assay_of(ctx: Ctx) -> Assay:
    """The library of the caller."""
    return caller_of(ctx).assay


async def view_of(ctx: Ctx, run_id: str) -> RunView:
    """A run as it is now, with addresses of its sources that the client can open.

    Raises:
        ToolError: there is no such run, or it read what the client may not see.
    """
    with tool_errors():
        view = await caller_of(ctx).view(run_id)
    scope = view.brief.scope if view.brief else Scope(collections=())
    documents = [source.document_sha256 for source in view.sources.values()]
    if scope.private or await is_hidden(ctx, collections=scope.collections, documents=documents):
        _refuse_private(ctx, f"what run {view.run_id} has read")
    sources = {
        id: msgspec.structs.replace(source, url=citation_address(ctx, source.url, source.document_sha256))
        for id, source in view.sources.items()
    }
    return msgspec.structs.replace(view, sources=sources)


async def is_hidden(ctx: Ctx, *, collections: Sequence[str] = (), documents: Sequence[str] = ()) -> bool:
    """True if any of this is private and hidden from this client."""
    return not service_of(ctx).allow_private and bool(await assay_of(ctx).private(collections, documents))


async def visible_collections(ctx: Ctx) -> list[CollectionRow]:
    """The collections that the client may see."""
    rows = await assay_of(ctx).collections()
    return [row for row in rows if service_of(ctx).allow_private or not row.private]


async def sources_of(ctx: Ctx, collections: Sequence[str] | None) -> list[str] | None:
    """Collections as the sources of a run; None for the default ones.

    Raises:
        ToolError: there is no such collection, or the client may not see it.
    """
    collection_names = [row.name for row in await assay_of(ctx).collections()]
    names = [name.removeprefix("@") for name in collections or ()]
    for name in names or ([DEFAULT_COLLECTION] if DEFAULT_COLLECTION in collection_names else []):
        if name not in collection_names:
            available = ", ".join(row.name for row in await visible_collections(ctx)) or "none yet"
            raise ToolError(f"no collection named {name!r}; use one of: {available}")
        if await is_hidden(ctx, collections=[name]):
            _refuse_private(ctx, f"the collection {name}, or a document in it,")
    return [f"@{name}" for name in names] or None


@contextmanager
def tool_errors() -> Iterator[None]:
    """An error of the library in the block is told to the client, in the terms of a client.

    Raises:
        ToolError: there was one.
    """
    try:
        yield
    except AssayError as error:
        raise ToolError(adapt_wording(str(error))) from error


def _refuse_private(ctx: Ctx, subject: str) -> None:
    if not service_of(ctx).allow_private:
        raise ToolError(f"{subject} {PRIVATE}")
