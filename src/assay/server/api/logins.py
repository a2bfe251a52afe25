"""Login at a provider: the browser is sent there, and returns with a code."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.core.errors import NotLoggedIn
from assay.server.gate import cookie_of, is_secure, keep_session
from assay.server.oidc import LoginAttempt, OidcProvider
from assay.server.problems import refusal
from assay.server.wire import Endpoints, RouteCall
from assay.services.users import SESSION_SECONDS

routes = Endpoints("users")

LOGIN, PLAIN_LOGIN = "__Host-assay-login", "assay-login"
ATTEMPT_SECONDS = 600
"""Seconds a user has to log in at the provider."""
CALLBACK = "/api/v1/auth/oidc/callback"
LONGEST_BACK = 500


class LoginMethods(msgspec.Struct, frozen=True, kw_only=True):
    """How to log in here: whether there are users, whether with a password, and at which provider (empty for none)."""

    needed: bool
    password: bool
    provider: str


class LoginBegun(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the browser goes after the login: a path of this server."""

    back: str = "/"


class LoginEnded(msgspec.Struct, frozen=True, kw_only=True):
    """The provider's answer (RFC 6749, 4.1.2, and RFC 9207); other parameters are ignored."""

    code: str = ""
    state: str = ""
    iss: str = ""
    error: str = ""


@routes.get("/auth/methods", scope="")
async def login_methods(call: RouteCall) -> LoginMethods:
    """Return how to log in."""
    login, oidc = call.request.app.state.login, call.backend.oidc
    return LoginMethods(needed=login, password=login, provider=oidc.settings.issuer if login and oidc else "")


@routes.get("/auth/oidc", scope="", status=303)
async def begin_login(call: RouteCall, query: LoginBegun) -> Response:
    """Redirect the browser to the provider; a cookie ensures that only this browser can complete the login."""
    url, attempt = await _provider(call).begin(_callback(call.request), _path(query.back))
    response = RedirectResponse(url, status_code=303)
    _keep(call.request, response, msgspec.json.encode(attempt).hex(), ATTEMPT_SECONDS)
    return response


@routes.get("/auth/oidc/callback", scope="", status=303)
async def end_login(call: RouteCall, query: LoginEnded) -> Response:
    """Complete a login with the provider's answer; the response sets the cookie of a new session."""
    provider = _provider(call)
    attempt = _attempt(call.request)
    if attempt is None or not query.state or query.state != attempt.state:
        raise NotLoggedIn("this login was not begun in this browser, or it has expired: log in again")
    if query.error or not query.code:
        raise NotLoggedIn(f"the provider did not log you in: {query.error[:80] or 'no code'}")
    person = await provider.finish(attempt, query.code, _callback(call.request), query.iss)
    users = call.backend.assay.users
    call.login((await users.account(person)).name)
    secret = await users.admit(person, attempt.state + attempt.verifier)
    response = RedirectResponse(_path(attempt.back), status_code=303)
    keep_session(call.request, response, secret, int(SESSION_SECONDS))
    _keep(call.request, response, "", 0)
    return response


def _provider(call: RouteCall) -> OidcProvider:
    found = call.backend.oidc
    if found is None:
        raise refusal("not-set-up", "no login provider is set up (setting server.oidc.issuer)")
    return found


def _callback(request: Request) -> str:
    return str(request.base_url).rstrip("/") + CALLBACK


def _path(back: str) -> str:
    """A path of this server; anything that browsers could read as another site is dropped."""
    if not back.startswith("/") or back[1:2] in ("/", "\\") or len(back) > LONGEST_BACK or not back.isprintable():
        raise refusal("invalid", "`back` is a path of this server, such as /docs")
    return back


def _attempt(request: Request) -> LoginAttempt | None:
    try:
        return msgspec.json.decode(bytes.fromhex(cookie_of(request, _name(request))), type=LoginAttempt)
    except (ValueError, msgspec.MsgspecError):
        return None


def _name(request: Request) -> str:
    return LOGIN if is_secure(request) else PLAIN_LOGIN


def _keep(request: Request, response: Response, value: str, seconds: int) -> None:
    response.set_cookie(
        _name(request), value, max_age=seconds, path="/", secure=is_secure(request), httponly=True, samesite="lax"
    )
