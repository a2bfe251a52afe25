"""What stands before every route: names of the server, other sites, bounds of bodies, headers for browsers."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.core.ways import read_on
from assay.server.problems import Problem, problem, refusal

BODY_BYTES = 10_000_000
"""The largest body, where a route does not say otherwise."""
BODY_SECONDS = 30.0
BODY_RATE = 10_000
"""Bytes a second a body comes at least with, after its first `BODY_SECONDS`."""
BODY = "assay.body"


class ProblemAnswer(Protocol):
    """How a problem is answered."""

    def __call__(self, request: Request, told: Problem, headers: dict[str, str] | None = None, /) -> ASGIApp:
        """The answer; `headers` are added to it."""
        ...


SAFE = frozenset(("GET", "HEAD", "OPTIONS"))

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
"""For documents which are not ours: nothing in them acts in our name."""

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
"""Each where an answer has not one of its own."""


PROGRAMS = ("/api/", "/v1/", "/mcp")
"""Where programs ask; the rest is the page."""


class SafeHeaders:
    """Adds `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
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


class Worded:
    """Has messages name requests to whoever asks the API, and what the page shows to whoever looks at the page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        with read_on("http" if str(scope.get("path", "")).startswith(PROGRAMS) else "page"):
            await self._app(scope, receive, send)


class Guard:
    """Refuses what no route should see: names which are not ours, requests of other sites; bounds bodies."""

    def __init__(
        self, app: ASGIApp, hosts: Iterable[str], answer: ProblemAnswer, trusted: frozenset[str] = frozenset()
    ) -> None:
        """`trusted` are sites whose pages may change something too; `*`: all, where no cookie speaks for anybody."""
        self._app, self._hosts, self._answer = app, frozenset(host.lower() for host in hosts), answer
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "websocket":
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        told = self._refused(HTTPConnection(scope))
        if told is not None:
            await self._answer(Request(scope, receive), told)(scope, receive, send)
            return
        body = LimitedBody(Headers(scope=scope), receive)
        scope[BODY] = body
        await self._app(scope, body.receive, send)

    def _refused(self, request: HTTPConnection) -> Problem | None:
        host = request.headers.get("host", "")
        if not is_ours(host, self._hosts):
            return problem(
                "wrong-host", f"{host[:100]!r} is no name of this server: add it to the setting server.hosts"
            )
        safe = request.scope["method"] in SAFE or is_trusted(request.headers, self._trusted)
        if not safe and not is_same_site(request.headers, host):
            return problem("other-site", "a page of another site sent this request: that is refused")
        return None


class LimitedBody:
    """The body of a request on its way in: of at most `most` bytes, and not slower than anybody's line."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self.most = BODY_BYTES
        self._declared = headers.get("content-length", "")
        self._receive, self._size, self._whole = receive, 0, False
        self._began = 0.0

    async def receive(self) -> Message:
        """The next of it; behind its end what the connection tells.

        Raises:
            Refusal: it is too large, or comes too slowly.
        """
        if self._whole:
            return await self._receive()
        self._check(int(self._declared) if self._declared.isdecimal() else 0)
        now = asyncio.get_running_loop().time
        self._began = self._began or now()
        until = self._began + BODY_SECONDS + self._size / BODY_RATE
        try:
            async with asyncio.timeout_at(until):
                message = await self._receive()
        except TimeoutError:
            raise refusal("too-slow", "the rest of the body did not come in time") from None
        self._size += len(message.get("body", b""))
        self._check(self._size)
        self._whole = not message.get("more_body", False)
        return message

    def _check(self, size: int) -> None:
        if size > self.most:
            raise refusal("too-large", f"a body here has at most {self.most:,} bytes")


def body_of(request: Request) -> LimitedBody:
    """The body of a request, whose bound a route may change before it is read."""
    body = request.scope[BODY]
    assert isinstance(body, LimitedBody)
    return body


def is_ours(host: str, names: frozenset[str]) -> bool:
    """Whether a `Host` header names this server.

    Another site's page can point its own name at our address (DNS rebinding), but no browser sends an address in
    place of a name: so addresses are ours, names only where they are known.
    """
    name = name_of(host)
    if not name:
        return False
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name in names or name == "localhost" or name.endswith(".localhost")
    return True


def name_of(host: str) -> str:
    """A host without its port, "" for what is none."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        return ""
    return (parts.hostname or "").lower() if parts.netloc == host and "@" not in host else ""


def is_same_site(headers: Headers, host: str) -> bool:
    """Whether a request which may change something comes from a page of ours, or from no browser.

    The rule is that of Go's `http.CrossOriginProtection`: browsers say in `Sec-Fetch-Site` who sent a request; older
    ones at least in `Origin`. Who says neither is no browser.
    """
    said = headers.get("sec-fetch-site")
    if said:
        return said in ("same-origin", "none")
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()


def is_trusted(headers: Headers, trusted: frozenset[str]) -> bool:
    """Whether a request comes from a page of another site which may change something here."""
    origin = headers.get("origin", "").lower()
    return origin in trusted or ("*" in trusted and origin not in ("", "null") and "cookie" not in headers)


def names_here(bound: str, configured: Sequence[str]) -> tuple[str, ...]:
    """The names a server is called by: those configured, and where others reach it also the machine's own."""
    own = () if is_loopback(bound) else (socket.gethostname(), socket.getfqdn())
    return (*configured, *own)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost" or host.lower().endswith(".localhost")
