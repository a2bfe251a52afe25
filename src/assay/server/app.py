"""The server: the ASGI application, and the process that runs it with uvicorn and stops it without losing anything."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from assay import plugins
from assay.app.assay import Assay
from assay.core.clean import error_words
from assay.core.errors import AssayError, DiskFull, UsageError
from assay.core.full_disks import is_full
from assay.server import api, openai, operations, page
from assay.server.api.users import LOGIN_PATHS
from assay.server.audit_middleware import AuditMiddleware
from assay.server.backend import Backend, RouteGroup
from assay.server.gate import AccessGate
from assay.server.guards import Guard, ProxyNotes, SafeHeaders, WordingMiddleware, is_loopback, server_names
from assay.server.limits import RateLimitMiddleware
from assay.server.mcp import routes as mcp
from assay.server.metrics import MeasuredRequests
from assay.server.problems import Problem, Refusal, failure_problem, loggable_path, problem, problem_response
from assay.server.streams import OUTLET, Outlet

# Other sites whose pages may use the API (CORS): none, unless the settings name them.

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
REQUEST_HEADERS = (
    *("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-ID"),
    *("Mcp-Protocol-Version", "Mcp-Session-Id"),
)
RESPONSE_HEADERS = (
    *("Content-Disposition", "ETag", "Location", "Retry-After", "WWW-Authenticate", "Mcp-Session-Id"),
    *("RateLimit", "RateLimit-Policy"),
)
PREFLIGHT_SECONDS = 600


def cross_origin(origins: Sequence[str]) -> list[Middleware]:
    """The middleware for these sites; empty if none is named. Cookies only count for named sites, never for `*`."""
    if not origins:
        return []
    allows_all = "*" in origins
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=["*"] if allows_all else list(origins),
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=RESPONSE_HEADERS,
            allow_credentials=not allows_all,
            max_age=PREFLIGHT_SECONDS,
        )
    ]


# The parts of the server: each protocol is one line here.

PARTS: tuple[RouteGroup, ...] = (api.PART, openai.PART, mcp.PART, page.PART)

log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
OWN_PROXIES = (LOOPBACK, "::1")
"""Addresses from which a proxy on this machine sends."""
_CODES = {404: "not-found", 405: "method-not-allowed", 406: "not-acceptable", 413: "too-large"}


def create_app(
    backend: Backend, parts: Sequence[RouteGroup] = PARTS, *, host: str = LOOPBACK, login: bool = False
) -> Starlette:
    """The application over a backend, which is entered at startup and left at shutdown.

    `host` is the address it listens on; with `login` unknown callers are refused.
    """
    free = [*(endpoint.route() for endpoint in operations.endpoints() if not endpoint.scope), *page.FREE]

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(backend)
            for part in parts:
                await stack.enter_async_context(part.running(backend))
            yield

    trusted_origins = frozenset(backend.settings.server.origins)
    routes: list[BaseRoute] = [*operations.PART.routes(backend)]
    for part in parts:
        routes += part.routes(backend)
    app = Starlette(
        routes=routes,
        lifespan=running,
        middleware=[
            Middleware(MeasuredRequests, backend.metrics),
            Middleware(SafeHeaders),
            Middleware(WordingMiddleware),
            Middleware(ProxyNotes),
            *cross_origin(backend.settings.server.origins),
            Middleware(
                Guard, server_names(host, backend.settings.server.hosts), part_problem_response, trusted_origins
            ),
            Middleware(AccessGate, backend, free, (operations.PART, *parts), part_problem_response, login=login),
            Middleware(RateLimitMiddleware, backend.rates, part_problem_response),
            Middleware(AuditMiddleware, backend.auditor),
        ],
        exception_handlers={
            AssayError: _on_error,
            Refusal: _on_refusal,
            HTTPException: _on_http_error,
            ClientDisconnect: _on_disconnect,
            Exception: _on_bug,
        },
    )
    app.state.backend, app.state.parts, app.state.login = backend, tuple(parts), login
    return app


def part_problem_response(request: Request, fault: Problem, headers: dict[str, str] | None = None) -> Response:
    """A problem as a response of the part whose route the request belongs to."""
    path = request.scope["path"]
    if path in LOGIN_PATHS and page.wants_page(request):
        return page.failed_login(request, fault, headers)
    for part in request.app.state.parts:
        if part.has(path):
            response: Response = part.problem_handler(fault)
            response.headers.update(headers or {})
            return response
    if page.wants_page(request):
        return page.problem_page(request, fault, headers)
    return problem_response(fault, headers)


def _on_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, AssayError)
    names = tuple(map(str, request.scope.get("path_params", {}).values()))
    return part_problem_response(request, failure_problem(request.method, request.scope["path"], error, names))


def _on_refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return part_problem_response(request, error.problem, error.headers)


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "bad-request" if error.status_code < 500 else "bug")
    headers = dict(error.headers or {})
    hint = (
        "no route has this address; /docs describes every route, /openapi.json for programs"
        if code == "not-found"
        else ""
    )
    if code == "method-not-allowed":
        headers["Allow"] = _methods(request)
        hint = f"this route takes {headers['Allow']}; /docs describes every route"
    return part_problem_response(request, problem(code, hint), headers)


def _on_disconnect(request: Request, error: Exception) -> Response:
    """The answer to a client that went away in the middle of a body: nobody reads it, and it is no bug."""
    return part_problem_response(request, problem("bad-request", "the connection ended before the body did"))


def _methods(request: Request) -> str:
    """The methods of a path: those of all its routes, of which the router reports only one."""
    routes = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for route in routes for method in getattr(route, "methods", None) or ()}))


def _on_bug(request: Request, error: Exception) -> Response:
    if is_full(error):  # of temporary files, as of a form
        return _on_error(request, DiskFull(str(error)))
    log.error("%s %s: a bug", request.method, loggable_path(request.scope["path"]), exc_info=error)
    package = plugins.failing_package(error)
    culprit = f"the package {package}" if package else "Assay"
    return part_problem_response(request, problem("bug", f"this is a fault of {culprit}; the server's log says more"))


if sys.platform != "win32":
    import resource

SHUTDOWN_SECONDS = 8
"""Seconds that requests get to finish when the server stops; streams end at once, and their clients reconnect."""
HEADER_BYTES = 65_536
HEAD_SECONDS = 20.0
"""Seconds within which the head of a request must arrive."""
KEEP_ALIVE_SECONDS = 15
"""Seconds for which an idle connection is kept open."""

OTHER_FILES = 256
"""Files that a process needs besides streams: database connections, requests, the index, blobs."""
MAX_OPEN_FILES = 1_048_576
"""The number of files to request where the system sets no limit."""


class PromptProtocol(H11Protocol):
    """HTTP/1.1 with a time limit for the head of a request; a slower connection is closed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the time limit for the first request."""
        super().connection_made(transport)
        self._outlet = Outlet(transport, self.flow)
        self.app_state = {**self.app_state, OUTLET: self._outlet}
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Receive data; if it is part of a head, the rest must arrive in time."""
        super().data_received(data)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time limit."""
        super().connection_lost(exc)
        self._stop_waiting()
        self._outlet.mark_lost()

    _late: asyncio.TimerHandle | None = None

    def _await_head(self) -> None:
        if self._is_answering():
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(HEAD_SECONDS, self._on_timeout)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _on_timeout(self) -> None:
        self._late = None
        if not self._is_answering():
            self.transport.close()

    def _is_answering(self) -> bool:
        cycle = cast("RequestResponseCycle | None", self.cycle)  # None before the first request
        return cycle is not None and not cycle.response_complete


class Server(uvicorn.Server):
    """Serves one backend. The caller handles signals, and calls `stop`; it is told once requests are accepted."""

    def __init__(self, config: uvicorn.Config, backend: Backend, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._backend, self._listens = backend, listens

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signal handling to the caller."""
        yield

    def stop(self) -> None:
        """Accept no more requests, finish the current ones, and end."""
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, and say so; a server that was stopped meanwhile says nothing."""
        await super().startup(sockets)
        if not self.should_exit:
            self._listens()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams before waiting for connections: some streams would never end by themselves."""
        await self._backend.end_streams()
        await super().shutdown(sockets)


def trusted_proxies(proxies: Iterable[str]) -> list[str]:
    """The addresses and networks whose word on requests counts; those of IPv4 also as a socket for both names them."""
    networks = [ipaddress.ip_network(network) for network in (*OWN_PROXIES, *proxies)]
    mapped = (
        f"::ffff:{network.network_address}/{96 + network.prefixlen}" for network in networks if network.version == 4
    )
    return [*map(str, networks), *mapped]


def bind_socket(host: str, port: int) -> socket.socket:
    """A socket bound to an address.

    Raises:
        UsageError: it cannot be had; the message says why.
    """
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, proto)
    except OSError as error:
        raise UsageError(
            f"{host} is not an address of this machine ({error_words(error)}): use 127.0.0.1 or 0.0.0.0"
        ) from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
    except (OSError, OverflowError) as error:
        sock.close()
        raise UsageError(
            f"cannot listen on {host}:{port}: {error_words(error)} (--port chooses another port, 0 a free one)"
        ) from error
    sock.set_inheritable(True)
    return sock


def max_streams() -> int | None:
    """How many connections the process may have besides its other files, with its limit raised as far as possible.

    None if the system has no such limit.
    """
    if sys.platform == "win32":
        return None
    file_limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if file_limit == resource.RLIM_INFINITY:
        file_limit = MAX_OPEN_FILES
    with suppress(OSError, ValueError):  # a limit that cannot be raised stays as it is
        resource.setrlimit(resource.RLIMIT_NOFILE, (file_limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return max(resource.getrlimit(resource.RLIMIT_NOFILE)[0] - OTHER_FILES, 1)


def url_of(sock: socket.socket) -> str:
    """The address under which a browser reaches the server."""
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


async def requires_login(assay: Assay, host: str, *, no_auth: bool) -> bool:
    """True if a server on this address requires a login: by default, if there are users.

    Raises:
        UsageError: others than this machine reach it, and there are no users.
    """
    if no_auth:
        return False
    if assay.settings.server.oidc.issuer or await assay.users.all():
        return True
    if is_loopback(host):
        if names := assay.settings.server.hosts:
            log.warning(
                "there are no users: whoever reaches this server as %s through a proxy needs no login; "
                "make one (assay users add NAME)",
                ", ".join(names),
            )
        return False
    raise UsageError(
        f"{host} is reached from other machines, and there are no users: make one (assay users add NAME), "
        "or let everyone in (--no-auth)"
    )


async def serve(
    assay: Assay,
    sock: socket.socket,
    on_begin: Callable[[Server], None],
    on_listen: Callable[[], None] = lambda: None,
    *,
    no_auth: bool = False,
) -> None:
    """Serve on a socket until `Server.stop`.

    `on_begin` is called with the server before it starts, which may take seconds, and `on_listen` once it accepts
    requests.

    Raises:
        UsageError: it would serve everybody, and nobody said so.
    """
    host = sock.getsockname()[0]
    login = await requires_login(assay, host, no_auth=no_auth)
    await assay.ready()
    gc.freeze()  # what is loaded now stays: else each full collection looks at it again and holds up every reader
    backend = Backend(assay)
    backend.streams.set_file_limit(max_streams())
    config = uvicorn.Config(
        create_app(backend, host=host, login=login),
        http=PromptProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=trusted_proxies(assay.settings.server.proxies),
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )
    server = Server(config, backend, on_listen)
    on_begin(server)
    await server.serve(sockets=[sock])
