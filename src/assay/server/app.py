"""The whole server as an ASGI application."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match

from assay.core.errors import AssayError
from assay.server import api, openai, operations, page
from assay.server.audit_middleware import Audited
from assay.server.backend import Backend, RouteGroup
from assay.server.gate import AccessGate
from assay.server.guards import Guard, SafeHeaders, Worded, names_here
from assay.server.limits import Rated
from assay.server.mcp import routes as mcp
from assay.server.metrics import MeasuredRequests
from assay.server.problems import Problem, Refusal, problem, problem_answer, problem_of
from assay.services.schedules.feeds import PATH as FEEDS
from assay.services.shares import PATH as SHARED

# Other sites whose pages may use the API (CORS): none, unless the settings name them.

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT = (
    *("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-ID"),
    *("Mcp-Protocol-Version", "Mcp-Session-Id"),
)
SHOWN = (
    *("Content-Disposition", "ETag", "Location", "Retry-After", "WWW-Authenticate", "Mcp-Session-Id"),
    *("RateLimit", "RateLimit-Policy"),
)
PREFLIGHT_SECONDS = 600


def cross_origin(origins: Sequence[str]) -> list[Middleware]:
    """The middleware for these sites; empty if none is named. Cookies only count for named sites, never for `*`."""
    if not origins:
        return []
    every = "*" in origins
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=["*"] if every else list(origins),
            allow_methods=METHODS,
            allow_headers=SENT,
            expose_headers=SHOWN,
            allow_credentials=not every,
            max_age=PREFLIGHT_SECONDS,
        )
    ]


# The parts of the server: each protocol is one line here.

PARTS: tuple[RouteGroup, ...] = (api.PART, openai.PART, mcp.PART, page.PART)

log = logging.getLogger(__name__)
LOOPBACK = "127.0.0.1"
_CODES = {404: "not-found", 405: "method-not-allowed", 406: "not-acceptable", 413: "too-large"}


def create_app(
    backend: Backend, parts: Sequence[RouteGroup] = PARTS, *, host: str = LOOPBACK, login: bool = False
) -> Starlette:
    """The application over a backend, which is entered at startup and left at shutdown.

    `host` is the address it listens on; with `login` unknown callers are refused.
    """
    free = [*(each.route() for each in operations.endpoints() if not each.scope), *page.FREE]

    @asynccontextmanager
    async def running(_app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(backend)
            for part in parts:
                await stack.enter_async_context(part.running(backend))
            yield

    trusted = frozenset(backend.settings.server.origins)
    routes: list[BaseRoute] = [*operations.routes(backend)]
    for part in parts:
        routes += part.routes(backend)
    app = Starlette(
        routes=routes,
        lifespan=running,
        middleware=[
            Middleware(MeasuredRequests, backend.metrics),
            Middleware(SafeHeaders),
            Middleware(Worded),
            *cross_origin(backend.settings.server.origins),
            Middleware(Guard, names_here(host, backend.settings.server.hosts), part_answer, trusted),
            Middleware(AccessGate, backend, free, (operations.PART, *parts), part_answer, login=login),
            Middleware(Rated, backend.rates, part_answer),
            Middleware(Audited, backend.auditor),
        ],
        exception_handlers={
            AssayError: _failed,
            Refusal: _refused,
            HTTPException: _http,
            Exception: _broken,
        },
    )
    app.state.backend, app.state.parts, app.state.login = backend, tuple(parts), login
    return app


def part_answer(request: Request, told: Problem, headers: dict[str, str] | None = None) -> Response:
    """A problem as a response of the part whose route the request belongs to."""
    path = request.scope["path"]
    for part in request.app.state.parts:
        if part.has(path):
            refused: Response = part.refused(told)
            refused.headers.update(headers or {})
            return refused
    if page.wants_page(request):
        return page.problem_page(request, told, headers)
    return problem_answer(told, headers)


def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, AssayError)
    told = problem_of(error, tuple(map(str, request.scope.get("path_params", {}).values())))
    if told.status >= 500:
        log.warning("%s %s: %s", request.method, _where(request), error)
    return part_answer(request, told)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusal)
    return part_answer(request, error.problem, error.headers)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    code = _CODES.get(error.status_code, "bad-request" if error.status_code < 500 else "bug")
    headers = dict(error.headers or {})
    said = "/docs describes every route, /openapi.json for programs" if code == "not-found" else ""
    if code == "method-not-allowed":
        headers["Allow"] = _methods(request)
        said = f"it knows {headers['Allow']}; /docs describes every route"
    return part_answer(request, problem(code, said), headers)


def _methods(request: Request) -> str:
    """The methods of a path: those of all its routes, of which the router reports only one."""
    routes = (each for each in request.app.routes if each.matches(request.scope)[0] is not Match.NONE)
    return ", ".join(sorted({method for each in routes for method in getattr(each, "methods", None) or ()}))


def _broken(request: Request, error: Exception) -> Response:
    log.error("%s %s: a bug", request.method, _where(request), exc_info=error)
    return part_answer(request, problem("bug", "this is a fault of Assay; its log says more"))


def _where(request: Request) -> str:
    """The path of a request for a log, without the secret of a shared report or a feed."""
    path = str(request.scope["path"])
    return next((f"{public}…" for public in (SHARED, FEEDS) if path.startswith(public)), path)
