"""Authentication and authorization before every route, except those open to all."""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from assay.core.errors import AssayError, NotLoggedIn, StoreError
from assay.core.ports.users import PERMISSIONS, Permission
from assay.server.guards import SAFE, ProblemAnswer, host_name, is_loopback
from assay.server.problems import DATABASE_AWAY, STORE_BROKEN, Problem, failure_problem, problem, refusal
from assay.server.streams import ACCESS
from assay.services.users import PREFIX, Identity, Users

if TYPE_CHECKING:
    from assay.server.backend import Backend, RouteGroup
    from assay.server.oidc import OidcProvider

SESSION = "__Host-assay"
"""Only a secure page of this host can set a cookie with such a name."""
PLAIN_SESSION = "assay"
"""If the server is reached over plain HTTP from elsewhere, browsers would not keep the other."""
WHO = "who"
REALM = 'Bearer realm="assay"'
METRICS = "/metrics"
METADATA_PATH = "/.well-known/oauth-protected-resource"
LOGIN_NEEDED = "log in, or send a token: Authorization: Bearer …"
REJECTED = "the token is none of this server, was revoked or has expired: send another one"
OWN_LOGIN = ("/api/v1/auth/password", "/api/v1/tokens", "/settings/password", "/settings/tokens")
"""Paths about the password and the tokens of who asks: for a session every role is enough."""


class AccessGate:
    """Refuses unknown callers, except on open routes. Without users everyone is the one local user."""

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
        """Without `login` none is required. Each of `parts` says what its routes need."""
        self._app, self._users, self._oidc = app, backend.assay.users if login else None, backend.oidc
        self._free, self._parts, self._answer = tuple(free), tuple(parts), answer
        token = backend.settings.server.metrics_token
        self._scraper = token.reveal().encode() if token else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._users is None or self._is_scraper(scope):
            await self._app(scope, receive, send)
            return
        try:
            identity = await identify(self._users, HTTPConnection(scope), self._oidc)
            denial = self._refusal(scope, identity)
        except AssayError as error:
            identity, denial = None, failure_problem(scope["method"], scope["path"], error)
            if isinstance(error, StoreError):  # of which a stranger learns nothing more
                denial = problem("store", STORE_BROKEN) if denial.status == 500 else problem("away", DATABASE_AWAY)
        if denial is not None:
            challenge = {"WWW-Authenticate": challenge_of(self._oidc)} if denial.status == 401 else None
            await self._answer(Request(scope, receive), denial, challenge)(scope, receive, send)
            return
        if identity is not None:
            access = partial(self._has_access, dict(scope), identity.name)  # before routing changes the scope
            scope.setdefault("state", {}).update({WHO: identity, "owner": identity.name, ACCESS: access})
        await self._app(scope, receive, send)

    async def _has_access(self, scope: Scope, name: str) -> bool:
        """True if a request that was let in would be let in now, for the same user."""
        assert self._users is not None
        try:
            identity = await identify(self._users, HTTPConnection(scope), self._oidc)
        except AssayError:  # the client comes back, and is told
            return False
        return identity is not None and identity.name == name and self._refusal(scope, identity) is None

    def _is_scraper(self, scope: Scope) -> bool:
        """True if a request reads the metrics with the token of the settings, which needs no database."""
        if not self._scraper or scope["path"] != METRICS:
            return False
        return hmac.compare_digest(bearer_of(HTTPConnection(scope)).encode(), self._scraper)

    def _refusal(self, scope: Scope, identity: Identity | None) -> Problem | None:
        if any(route.matches(scope)[0] is Match.FULL for route in self._free):
            return None
        if identity is None:
            return problem("login-needed", REJECTED if bearer_of(HTTPConnection(scope)) else LOGIN_NEEDED)
        permission = self._required_permission(scope)
        return (
            permission_problem(permission) if permission and not _has_permission(scope, identity, permission) else None
        )

    def _required_permission(self, scope: Scope) -> Permission | None:
        """The right that a request needs; None if its route checks it."""
        part = next((group for group in self._parts if group.has(scope["path"])), None)
        if part is not None and part.needs == "route":
            return None
        if part is not None and part.needs == "read":
            return "read"
        return "read" if scope["method"] in SAFE else "write"


def challenge_of(oidc: OidcProvider | None) -> str:
    """The challenge for an unknown caller; if the provider's tokens are accepted, it names the metadata (RFC 9728)."""
    if oidc is None or not oidc.settings.audience:
        return REALM
    return f'{REALM}, resource_metadata="{metadata_url(oidc.settings.audience)}"'


def metadata_url(audience: str) -> str:
    """The address of a protected resource's metadata: between its host and its path (RFC 9728, 3.1)."""
    parts = urlsplit(audience)
    return f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path.rstrip('/')}"


async def identify(users: Users, request: HTTPConnection, oidc: OidcProvider | None = None) -> Identity | None:
    """The caller by a token of ours or of the provider, or by a session cookie; None if unknown.

    Raises:
        ProviderFailed: a token of the provider cannot be checked now.
    """
    if secret := bearer_of(request):
        is_signed = secret.count(".") == 2 and not secret.startswith(PREFIX)  # RFC 7519
        if oidc is not None and oidc.settings.audience and is_signed:
            return await _provider_user(users, oidc, secret)
        return await users.authenticate(secret, "token")
    session = cookie_of(request, session_cookie_name(request))
    return await users.authenticate(session, "session") if session else None


def bearer_of(request: HTTPConnection) -> str:
    """The token that a request presents, "" if it has none."""
    scheme, _, secret = request.headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _unquote_value(key: str, value: str) -> str:
    try:
        return SimpleCookie(f"{key}={value}")[key].value
    except (CookieError, KeyError):
        return ""


def is_secure(request: HTTPConnection) -> bool:
    """True if a browser keeps cookies for secure pages: over TLS, and on this machine."""
    return request.url.scheme == "https" or is_loopback(host_name(request.headers.get("host", "")))


async def _provider_user(users: Users, oidc: OidcProvider, token: str) -> Identity | None:
    """The user of an access token, with the rights of their role except those for users, settings and figures."""
    try:
        user = await users.user_for(await oidc.authenticate(token))
    except NotLoggedIn:
        return None
    permissions = frozenset(PERMISSIONS[user.role]) - {"admin", "metrics"}
    return Identity(name=user.name, role=user.role, permissions=permissions, via="token")


def cookie_of(request: HTTPConnection, name: str) -> str:
    """The value of a cookie; of several with the name the first, which is for the nearest path."""
    for header in request.headers.getlist("cookie"):
        for part in header.split(";"):
            key, _, value = part.strip().partition("=")
            if key == name:
                return _unquote_value(key, value)
    return ""


def session_cookie_name(request: HTTPConnection) -> str:
    """The name of the session cookie for a request."""
    return SESSION if is_secure(request) else PLAIN_SESSION


def set_session_cookie(request: HTTPConnection, response: Response, secret: str, seconds: int) -> None:
    """Set a session cookie; with 0 seconds, delete it."""
    set_cookie(request, response, session_cookie_name(request), secret, seconds)


def set_cookie(request: HTTPConnection, response: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that no script reads; with 0 seconds, delete it."""
    response.set_cookie(
        name, value, max_age=seconds, path="/", secure=is_secure(request), httponly=True, samesite="lax"
    )


def identity_of(request: HTTPConnection) -> Identity | None:
    """Who sent a request; None if no login is required."""
    return cast("Identity | None", request.scope.get("state", {}).get(WHO))


def check_permission(request: HTTPConnection, permission: Permission) -> None:
    """Make sure that the caller has a right.

    Raises:
        Refusal: they do not.
    """
    identity = identity_of(request)
    if identity is not None and not _has_permission(request.scope, identity, permission):
        denial = permission_problem(permission)
        raise refusal("forbidden", denial.detail)


def _has_permission(scope: Scope, identity: Identity, permission: Permission) -> bool:
    is_own_login = permission == "write" and identity.via == "session" and str(scope["path"]).startswith(OWN_LOGIN)
    return is_own_login or identity.may(permission)


def permission_problem(permission: Permission) -> Problem:
    """The problem that a user, or the token, lacks a right."""
    reason = f"this needs the permission {permission!r}, which you, or your token, do not have"
    return problem("forbidden", f"{reason}: use a token that has it, or ask an administrator for it")
