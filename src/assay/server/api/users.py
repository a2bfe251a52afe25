"""Users over HTTP: login by password or provider, the user's own tokens, and for admins all users."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from assay.core.errors import NotLoggedIn
from assay.core.ports.users import PERMISSIONS, Credential, Permission, UserRole, UserRow
from assay.server.api.run_requests import RequestBody
from assay.server.gate import cookie_of, identity_of, is_secure, set_cookie, set_session_cookie
from assay.server.oidc import LoginAttempt, OidcProvider
from assay.server.problems import refusal
from assay.server.wire import JSON, Endpoints, RouteCall, format_timestamp, struct_from
from assay.services.ownership import DataErased
from assay.services.users import SESSION_SECONDS, Identity, Users

routes = Endpoints("users")


class Login(RequestBody, frozen=True, kw_only=True):
    """A user's name and password."""

    name: str
    password: str


class WhoShown(msgspec.Struct, frozen=True, kw_only=True):
    """The current user and their rights; without login the one local user, who may do everything."""

    name: str
    role: UserRole
    permissions: tuple[Permission, ...]
    via: Literal["none", "session", "token"]


class PasswordChange(RequestBody, frozen=True, kw_only=True):
    """The old password and the new one."""

    old: str
    new: str


class TokenWanted(RequestBody, frozen=True, kw_only=True):
    """A token: its purpose, its rights among those of the user, and its days; by default it is valid until revoked.

    `write` includes `read`.
    """

    name: str = ""
    scopes: tuple[Permission, ...] = ("read", "write")
    days: float | None = None


class TokenShown(msgspec.Struct, frozen=True, kw_only=True):
    """A token without its secret; times are ISO 8601 UTC, empty for never."""

    id: str
    name: str
    scopes: tuple[Permission, ...]
    created_at: str
    expires_at: str
    used_at: str


class TokenMade(msgspec.Struct, frozen=True, kw_only=True):
    """A new token. Its `secret` is shown only this once."""

    token: TokenShown
    secret: str


class TokenList(msgspec.Struct, frozen=True, kw_only=True):
    """The user's tokens."""

    tokens: tuple[TokenShown, ...]


class UserShown(msgspec.Struct, frozen=True, kw_only=True):
    """A user."""

    name: str
    role: UserRole
    created_at: str


class UserList(msgspec.Struct, frozen=True, kw_only=True):
    """Users, by name."""

    users: tuple[UserShown, ...]


class UserWanted(RequestBody, frozen=True, kw_only=True):
    """A new user; without a password they can only log in at the provider."""

    name: str
    password: str | None = None
    role: UserRole = "member"


class UserChange(RequestBody, frozen=True, kw_only=True):
    """Changes of a user; None leaves a field unchanged."""

    password: str | None = None
    role: UserRole | None = None


class LoggedOut(msgspec.Struct, frozen=True, kw_only=True):
    """The session here has ended. `provider` is where the browser ends that of the provider too, else empty."""

    provider: str = ""


class UserRemoval(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The data of a removed user to delete: none, or all."""

    data: Literal["none", "all"] = "none"


@routes.post("/auth/login", scope="", media=(JSON,), pages=WhoShown)
async def log_in(call: RouteCall, body: Login) -> Response:
    """Log in with name and password; the response sets the cookie of a new session."""
    call.set_login(await name_of_user(call, body.name))
    secret = await _users(call).log_in(body.name, body.password)
    identity = await _users(call).authenticate(secret, "session")
    assert identity is not None  # the session was just created
    response = Response(msgspec.json.encode(_identity(identity)), media_type=JSON)
    set_session_cookie(call.request, response, secret, int(SESSION_SECONDS))
    return response


@routes.post("/auth/logout", scope="", media=(JSON,), pages=LoggedOut)
async def log_out(call: RouteCall) -> Response:
    """End the session; also succeeds without one."""
    url = await end_session(call)
    response = Response(msgspec.json.encode(LoggedOut(provider=url)), media_type=JSON)
    set_session_cookie(call.request, response, "", 0)
    return response


async def end_session(call: RouteCall) -> str:
    """End the current session; return where the browser ends that of the provider too, "" for nowhere."""
    identity, oidc = identity_of(call.request), call.backend.oidc
    if identity is None or identity.via != "session":
        return ""
    session = await _users(call).log_out(identity)
    if session is None or not session.issuer or oidc is None:
        return ""
    return await oidc.logout_url(session, str(call.request.base_url).rstrip("/") + "/login")


@routes.get("/auth/me")
async def show_me(call: RouteCall) -> WhoShown:
    """Show the current user and their rights."""
    identity = identity_of(call.request)
    if identity is None:
        return WhoShown(name="", role="admin", permissions=PERMISSIONS["admin"], via="none")
    return _identity(identity)


@routes.put("/auth/password", status=204)
async def change_password(call: RouteCall, body: PasswordChange) -> None:
    """Change the user's password; all their sessions end."""
    await _users(call).change_password(_session_user(call).name, body.old, body.new)


@routes.get("/tokens")
async def list_tokens(call: RouteCall) -> TokenList:
    """List the user's tokens, without their secrets."""
    return TokenList(tokens=_tokens(await _users(call).tokens(_user(call).name)))


@routes.post("/tokens", status=201)
async def make_token(call: RouteCall, body: TokenWanted) -> TokenMade:
    """Create a token for a program; its secret is shown only this once. A token cannot create tokens."""
    token, secret = await _users(call).new_token(_session_user(call).name, body.name, body.scopes, body.days)
    call.set_subject(token.id)
    return TokenMade(token=_tokens([token])[0], secret=secret)


@routes.delete("/tokens/{token}", status=204)
async def revoke_token(call: RouteCall, token: str) -> None:
    """Revoke a token at once."""
    await _users(call).revoke(_user(call).name, token)


@routes.get("/users", scope="admin")
async def list_users(call: RouteCall) -> UserList:
    """List the users."""
    return UserList(users=tuple(map(_user_shown, await _users(call).all())))


@routes.post("/users", scope="admin", status=201)
async def add_user(call: RouteCall, body: UserWanted) -> UserShown:
    """Add a user."""
    call.set_subject(body.name)
    return _user_shown(await _users(call).add(body.name, body.password, body.role))


@routes.patch("/users/{user}", scope="admin")
async def change_user(call: RouteCall, user: str, body: UserChange) -> UserShown:
    """Change a user's role or password; a new password ends their sessions."""
    await _users(call).change(user, role=body.role, password=body.password)
    return _user_shown(await _users(call).find(user))


@routes.delete("/users/{user}", scope="admin")
async def remove_user(call: RouteCall, user: str, query: UserRemoval) -> DataErased | None:
    """Remove a user with sessions, tokens and links; their data stays stored, or is deleted too (`data=all`)."""
    if query.data == "none":
        await _users(call).remove(user)
        return None
    await _users(call).revoke_access(user)
    erased = await call.backend.assay_for(user).erase()
    await _users(call).remove(user)
    return erased


async def name_of_user(call: RouteCall, name: str) -> str:
    """The name if it is a user's: people type passwords into the wrong field."""
    return name if any(user.name == name for user in await _users(call).all()) else ""


def _users(call: RouteCall) -> Users:
    return call.backend.assay.users


def _user(call: RouteCall) -> Identity:
    """The current user.

    Raises:
        Refusal: this server has no users.
    """
    identity = identity_of(call.request)
    if identity is None:
        raise refusal("wrong-state", "this server has no users: whoever runs it must add one and restart it")
    return identity


def _session_user(call: RouteCall) -> Identity:
    """The current user, if logged in directly and not by a token.

    Raises:
        Refusal: the request has a token.
    """
    identity = _user(call)
    if identity.via == "token":
        raise refusal("forbidden", "a token may not do this: log in")
    return identity


def _identity(identity: Identity) -> WhoShown:
    return WhoShown(
        name=identity.name, role=identity.role, permissions=tuple(sorted(identity.permissions)), via=identity.via
    )


def _user_shown(user: UserRow) -> UserShown:
    return UserShown(name=user.name, role=user.role, created_at=format_timestamp(user.created))


def _tokens(credentials: Iterable[Credential]) -> tuple[TokenShown, ...]:
    return tuple(
        struct_from(
            TokenShown,
            credential,
            created_at=format_timestamp(credential.created),
            expires_at=format_timestamp(credential.expires),
            used_at=format_timestamp(credential.used),
        )
        for credential in credentials
    )


LOGIN, PLAIN_LOGIN = "__Host-assay-login", "assay-login"
ATTEMPT_SECONDS = 600
"""Seconds a user has to log in at the provider."""
BEGIN_PATH = "/api/v1/auth/oidc"
CALLBACK_PATH = f"{BEGIN_PATH}/callback"
LOGIN_PATHS = frozenset((BEGIN_PATH, CALLBACK_PATH))
"""Operations that a browser opens: whoever reads pages sees the login again if they fail."""
MAX_BACK_CHARS = 500


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
    url, attempt = await _provider(call).begin_login(_callback(call.request), _path(query.back))
    response = RedirectResponse(url, status_code=303)
    _keep_attempt(call.request, response, msgspec.json.encode(attempt).hex(), ATTEMPT_SECONDS)
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
    person = await provider.finish_login(attempt, query.code, _callback(call.request), query.iss)
    users = call.backend.assay.users
    call.set_login((await users.user_for(person)).name)
    secret = await users.log_in_person(person, attempt.state + attempt.verifier)
    response = RedirectResponse(_path(attempt.back), status_code=303)
    set_session_cookie(call.request, response, secret, int(SESSION_SECONDS))
    _keep_attempt(call.request, response, "", 0)
    return response


def _provider(call: RouteCall) -> OidcProvider:
    provider = call.backend.oidc
    if provider is None:
        raise refusal("not-set-up", "no login provider is set up (setting server.oidc.issuer)")
    return provider


def _callback(request: Request) -> str:
    return str(request.base_url).rstrip("/") + CALLBACK_PATH


def _path(back: str) -> str:
    """A path of this server; anything that browsers could read as another site is dropped."""
    if not back.startswith("/") or back[1:2] in ("/", "\\") or len(back) > MAX_BACK_CHARS or not back.isprintable():
        raise refusal("invalid", "`back` is a path of this server, such as /docs")
    return back


def _attempt(request: Request) -> LoginAttempt | None:
    try:
        return msgspec.json.decode(bytes.fromhex(cookie_of(request, _cookie_name(request))), type=LoginAttempt)
    except (ValueError, msgspec.MsgspecError):
        return None


def _cookie_name(request: Request) -> str:
    return LOGIN if is_secure(request) else PLAIN_LOGIN


def _keep_attempt(request: Request, response: Response, value: str, seconds: int) -> None:
    set_cookie(request, response, _cookie_name(request), value, seconds)
