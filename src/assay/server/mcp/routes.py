"""The MCP server over HTTP, at `/mcp`, in every protocol version that its library supports."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from mcp.server.mcpserver import MCPServer
from mcp.server.request_state import RequestStateSecurity
from mcp.server.transport_security import TransportSecuritySettings
from sse_starlette.sse import AppStatus
from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from assay.server.backend import Backend, RouteGroup, owner_of
from assay.server.guards import body_of
from assay.server.mcp.mcp_server import build_server
from assay.server.mcp.service import McpService
from assay.server.protocol_runs import Caller

PATH = "/mcp"
BODY_BYTES = 4_000_000

_servers: WeakKeyDictionary[Backend, MCPServer[McpService]] = WeakKeyDictionary()


def routes(backend: Backend) -> Sequence[BaseRoute]:
    """The one route.

    With a database, several processes may serve the same client, so no session is stored between requests. A client of
    an earlier protocol then gets the questions as text, since it cannot show a form.
    """
    application = _server(backend).streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=sys.maxsize,  # the server's guards check, and say what to do
        stateless_http=backend.settings.database is not None,
        transport_security=TransportSecuritySettings(
            enable_dns_rebinding_protection=False
        ),  # the server's guards check
    )
    for route in application.routes:
        if isinstance(route, Route):
            route.app = _limit_bodies(route.app)
    return application.routes


def _limit_bodies(application: ASGIApp) -> ASGIApp:
    """An application whose requests have bodies of at most `BODY_BYTES`."""

    async def limited_app(scope: Scope, receive: Receive, send: Send) -> None:
        body_of(Request(scope)).max_bytes = BODY_BYTES
        await application(scope, receive, send)

    return limited_app


@asynccontextmanager
async def run_sessions(backend: Backend) -> AsyncIterator[None]:
    """Keeps sessions while the server runs; their streams end when it begins to stop."""
    AppStatus.should_exit = False
    backend.tasks.start(_end_streams(backend), "the end of MCP streams")
    async with _server(backend).session_manager.run():
        yield


async def _end_streams(backend: Backend) -> None:
    """Clients of earlier versions keep an empty stream open, for which a stopping server would wait."""
    await backend.closing.wait()
    AppStatus.should_exit = True


def _server(backend: Backend) -> MCPServer[McpService]:
    if backend not in _servers:
        service = McpService(
            caller_of=lambda request: _caller(backend, request), allow_private=backend.settings.server.mcp_private
        )
        _servers[backend] = build_server(service, _security(backend))
    return _servers[backend]


def _caller(backend: Backend, request: Request | None) -> Caller:
    owner = "" if request is None else owner_of(request)
    return Caller(backend.assay_for(owner), backend, owner)


def _security(backend: Backend) -> RequestStateSecurity | None:
    """The key that seals the state a client carries between two calls: one for all processes over a database."""
    if (database := backend.settings.database) is None:
        return None
    secret = database.reveal().encode()
    return RequestStateSecurity(keys=[hashlib.sha256(b"assay mcp request state\0" + secret).digest()])


PART = RouteGroup(prefix=PATH, routes=routes, running=run_sessions, needs="read")
