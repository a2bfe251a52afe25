"""Checks before every route: names of the server, other sites, limits on bodies, security headers."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from collections.abc import Iterable, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.ways import use_surface
from assay.server.problems import Problem, problem, refusal

log = logging.getLogger(__name__)

BODY_BYTES = 10_000_000
"""The largest body, unless a route sets another limit."""
BODY_SECONDS = 30.0
BODY_RATE = 10_000
"""The least speed of a body in bytes per second, after its first `BODY_SECONDS`."""
BODY = "assay.body"
MAX_NOTED_SENDERS = 8
"""Unknown proxies that are warned of."""
PART_BYTES = 1_000_000
"""The largest text of a form."""
LONG_TEXTS = "add a long text as a document to a collection, and name that"
"""What to do instead of sending a large body."""


class ProblemAnswer(Protocol):
    """Turns a problem into a response."""

    def __call__(self, request: Request, fault: Problem, headers: dict[str, str] | None = None, /) -> ASGIApp:
        """The response, with `headers` added."""
        ...


SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""For foreign documents: nothing in them may act in our name."""

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
"""Added unless a response sets its own."""


API_PREFIXES = ("/api/", "/v1/", "/mcp")
"""Paths for programs; the rest is the page."""


class SafeHeaders:
    """Adds `HEADERS` to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def careful(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, careful)


class WordingMiddleware:
    """Words messages for the caller: requests for the API, buttons for the page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with use_surface("http" if str(scope.get("path", "")).startswith(API_PREFIXES) else "page"):
            await self._app(scope, receive, send)


class ProxyNotes:
    """Warns of a proxy that is not among `server.proxies`, so that what it says of a request does not count."""

    def __init__(self, app: ASGIApp) -> None:
        self._app, self._noted_senders = app, set[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["scheme"] == "http":
            self._warn_once(HTTPConnection(scope))
        await self._app(scope, receive, send)

    def _warn_once(self, request: HTTPConnection) -> None:
        """Warn once of each sender that says `https`, and of few: anybody can send that header."""
        sender = request.client.host if request.client else ""
        if (
            request.headers.get("x-forwarded-proto") != "https"
            or sender in self._noted_senders
            or len(self._noted_senders) >= MAX_NOTED_SENDERS
        ):
            return
        self._noted_senders.add(sender)
        log.warning(
            "%s sends X-Forwarded-Proto, but is not known as a proxy: addresses of this server begin with http://, and "
            "logins at a provider fail. If it is your proxy, add it to server.proxies",
            sender,
        )


class Guard:
    """Refuses requests for other host names and from other sites, and limits bodies."""

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], answer: ProblemAnswer, trusted_origins: frozenset[str] = frozenset()
    ) -> None:
        """`trusted_origins` are sites whose pages may make changes too; `*` means all, for requests without cookies."""
        self._app, self._hosts, self._answer = app, frozenset(host.lower() for host in hosts), answer
        self._trusted_origins = trusted_origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        denial = self._refusal(HTTPConnection(scope))
        if denial is not None:
            await self._answer(Request(scope, receive), denial, {"Connection": "close"})(scope, receive, send)
            return
        body = LimitedBody(Headers(scope=scope), receive)
        scope[BODY] = body
        await self._app(scope, body.receive, send)

    def _refusal(self, request: HTTPConnection) -> Problem | None:
        host = request.headers.get("host", "")
        if "transfer-encoding" in request.headers and "content-length" in request.headers:
            # two lengths: a proxy may go by the other one, and take the rest for the next request (RFC 9112, 6.3)
            return problem("bad-request", "send Transfer-Encoding or Content-Length, not both")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            return problem("wrong-media-type", "send the body as it is, without Content-Encoding")
        if not is_own_host(host, self._hosts):
            return problem(
                "wrong-host", f"{host[:100]!r} is not a name of this server: add it to the setting server.hosts"
            )
        safe = request.scope["method"] in SAFE or is_trusted(request.headers, self._trusted_origins)
        if not safe and not is_same_site(request.headers, host):
            return problem(
                "other-site",
                "a page of another site sent this request: add its site to the setting server.origins, or have the "
                "proxy before this server pass Host on",
            )
        return None


class LimitedBody:
    """The body of a request: at most `max_bytes` bytes, and not too slow. `instead` says what to do if it has more."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self.max_bytes, self.instead = BODY_BYTES, LONG_TEXTS
        self._content_length = headers.get("content-length", "")
        self._receive, self._size, self._is_complete = receive, 0, False
        self._began = 0.0

    async def receive(self) -> Message:
        """Receive the next part; after the end, messages of the connection.

        Raises:
            Refusal: it is too large, or too slow.
        """
        if self._is_complete:
            return await self._receive()
        self._check(int(self._content_length) if self._content_length.isdecimal() else 0)
        now = asyncio.get_running_loop().time
        self._began = self._began or now()
        until = self._began + BODY_SECONDS + self._size / BODY_RATE
        try:
            async with asyncio.timeout_at(until):
                message = await self._receive()
        except TimeoutError:
            raise refusal("too-slow", "the rest of the body did not arrive in time") from None
        self._size += len(message.get("body", b""))
        self._check(self._size)
        self._is_complete = not message.get("more_body", False)
        return message

    def _check(self, size: int) -> None:
        if size > self.max_bytes:
            raise refusal("too-large", f"this request may have at most {self.max_bytes:,} bytes: {self.instead}")


def body_of(request: Request) -> LimitedBody:
    """The body of a request, whose limit a route may change before reading it."""
    body = request.scope[BODY]
    assert isinstance(body, LimitedBody)
    return body


async def form_of(request: Request, *, fields: int) -> FormData:
    """The form in a request; its files are on disk.

    Raises:
        Refusal: it cannot be read, or has more than allowed; the message says what.
    """
    try:
        return await request.form(max_files=100, max_fields=fields, max_part_size=PART_BYTES)
    except HTTPException as error:
        raise refusal("bad-request", f"the form cannot be read: {error.detail}") from error


def is_own_host(host: str, names: frozenset[str]) -> bool:
    """True if a `Host` header names this server.

    Another site's page can point its own name at our address (DNS rebinding), but no browser sends an address instead
    of a name. So addresses are accepted, names only if they are known.
    """
    name = host_name(host)
    if not name:
        return False
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name in names or name == "localhost" or name.endswith(".localhost")
    return True


def host_name(host: str) -> str:
    """A host without its port, "" if it is not valid."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        return ""
    return (parts.hostname or "").lower() if parts.netloc == host and "@" not in host else ""


def is_same_site(headers: Headers, host: str) -> bool:
    """True if a request that may change something comes from our own page, or from no browser.

    The rule is that of Go's `http.CrossOriginProtection`: browsers send `Sec-Fetch-Site`, older ones at least `Origin`.
    A client that sends neither is not a browser.
    """
    site = headers.get("sec-fetch-site")
    if site:
        return site in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def is_trusted(headers: Headers, trusted_origins: frozenset[str]) -> bool:
    """True if a request comes from a page of another site that may make changes here."""
    origin = headers.get("origin", "").lower()
    return origin in trusted_origins or (
        "*" in trusted_origins and origin not in ("", "null") and "cookie" not in headers
    )


def server_names(host: str, hosts: Sequence[str]) -> tuple[str, ...]:
    """The names of the server: the configured ones and, if others can reach it, the machine's own."""
    own_names = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
    return (*hosts, *own_names)


def is_loopback(host: str) -> bool:
    """True if only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")
