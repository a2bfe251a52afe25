"""Who asks: found out before any route, which only what is open to all is reached without."""

from __future__ import annotations

from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from assay.core.errors import AssayError, NotLoggedIn
from assay.core.ports.users import PERMISSIONS, Permission
from assay.server.guards import SAFE, ProblemAnswer, is_loopback, name_of
from assay.server.problems import Problem, problem, problem_of, refusal
from assay.services.users import Users, Who

if TYPE_CHECKING:
    from assay.server.backend import Backend, RouteGroup
    from assay.server.oidc import OidcProvider

SESSION = "__Host-assay"
"""Only a secure page of this very host can set a cookie of such a name."""
PLAIN_SESSION = "assay"
"""Where the server is reached over plain HTTP from elsewhere, no browser would keep the other."""
WHO = "who"
REALM = 'Bearer realm="assay"'
DESCRIBED = "/.well-known/oauth-protected-resource"


class AccessGate:
    """Lets nobody through who is not known, but to the routes which are open; without users all are one user."""

    def __init__(
        self,
        app: ASGIApp,
        backend: Backend,
        free: Sequence[BaseRoute],
        parts: Sequence[RouteGroup],
        answer: ProblemAnswer,
        *,
        login: bool,
    ) -> None:
        """Without `login` none is demanded. What the routes of `parts` need, each part says."""
        self._app, self._users, self._oidc = app, backend.assay.users if login else None, backend.oidc
        self._free, self._parts, self._answer = tuple(free), tuple(parts), answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Find out who asks, and let him through or not."""
        if scope["type"] != "http" or self._users is None:
            await self._app(scope, receive, send)
            return
        try:
            who = await known(self._users, HTTPConnection(scope), self._oidc)
            told = self._refused(scope, who)
        except AssayError as error:
            who, told = None, problem_of(error)
        if told is not None:
            request = Request(scope, receive)
            challenge = {"WWW-Authenticate": challenged(request, self._oidc)} if told.status == 401 else None
            await self._answer(request, told, challenge)(scope, receive, send)
            return
        if who is not None:
            scope.setdefault("state", {}).update({WHO: who, "owner": who.name})
        await self._app(scope, receive, send)

    def _refused(self, scope: Scope, who: Who | None) -> Problem | None:
        if any(route.matches(scope)[0] is Match.FULL for route in self._free):
            return None
        if who is None:
            return problem("login-needed", "log in, or send a token: Authorization: Bearer …")
        needed = self._needed(scope)
        return not_allowed(needed) if needed and not who.may(needed) else None

    def _needed(self, scope: Scope) -> Permission | None:
        """What a request has to be allowed; None where its route says so."""
        part = next((each for each in self._parts if each.has(scope["path"])), None)
        if part is not None and part.needs == "route":
            return None
        if part is not None and part.needs == "read":
            return "read"
        return "read" if scope["method"] in SAFE else "write"


def challenged(request: HTTPConnection, oidc: OidcProvider | None) -> str:
    """What is asked of who is not known; where the provider's tokens are taken, also where that is said (RFC 9728)."""
    if oidc is None or not oidc.settings.audience:
        return REALM
    return f'{REALM}, resource_metadata="{metadata_url(oidc.settings.audience)}"'


def metadata_url(audience: str) -> str:
    """Where a protected resource describes itself: between its host and its path (RFC 9728, 3.1)."""
    parts = urlsplit(audience)
    return f"{parts.scheme}://{parts.netloc}{DESCRIBED}{parts.path.rstrip('/')}"


async def known(users: Users, request: HTTPConnection, oidc: OidcProvider | None = None) -> Who | None:
    """Who shows a token of ours or of the provider, or a session of his browser; None for nobody.

    Raises:
        ProviderFailed: a token of the provider cannot be checked now.
    """
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    secret = secret.strip()
    if scheme.lower() == "bearer" and secret:
        if oidc is not None and oidc.settings.audience and secret.count(".") == 2:  # a signed token (RFC 7519)
            return await _of_provider(users, oidc, secret)
        return await users.known(secret, "token")
    session = cookie_of(request, session_name(request))
    return await users.known(session, "session") if session else None


def _unquoted(key: str, value: str) -> str:
    try:
        return SimpleCookie(f"{key}={value}")[key].value
    except (CookieError, KeyError):
        return ""


def is_secure(request: HTTPConnection) -> bool:
    """Whether a browser keeps what is only for secure pages: over TLS, and on this machine."""
    return request.url.scheme == "https" or is_loopback(name_of(request.headers.get("host", "")))


async def _of_provider(users: Users, oidc: OidcProvider, token: str) -> Who | None:
    """The user of an access token: what his role allows, but for looking after users, settings and numbers."""
    try:
        user = await users.account(await oidc.bearer(token))
    except NotLoggedIn:
        return None
    allowed = frozenset(PERMISSIONS[user.role]) - {"admin", "metrics"}
    return Who(name=user.name, role=user.role, permissions=allowed, via="token")


def cookie_of(request: HTTPConnection, name: str) -> str:
    """The value of a cookie; where there are several of the name, the first, which is of the nearest path."""
    for header in request.headers.getlist("cookie"):
        for part in header.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                return _unquoted(key, value)
    return ""


def session_name(request: HTTPConnection) -> str:
    """How the cookie of sessions is called for a request."""
    return SESSION if is_secure(request) else PLAIN_SESSION


def keep_session(request: HTTPConnection, response: Response, secret: str, seconds: int) -> None:
    """Have a browser keep a session; of 0 seconds, forget it."""
    response.set_cookie(
        session_name(request),
        secret,
        max_age=seconds,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="lax",
    )


def who_of(request: HTTPConnection) -> Who | None:
    """Who sent a request; None where no login is demanded."""
    return cast("Who | None", request.scope.get("state", {}).get(WHO))


def check(request: HTTPConnection, needed: Permission) -> None:
    """Make sure that who asks may do what a route does.

    Raises:
        Refusal: he may not.
    """
    who = who_of(request)
    if who is not None and not who.may(needed):
        told = not_allowed(needed)
        raise refusal("forbidden", told.detail)


def not_allowed(needed: Permission) -> Problem:
    """That a user, or his token, may not do something."""
    return problem("forbidden", f"this needs the permission {needed!r}, which you, or your token, do not have")
