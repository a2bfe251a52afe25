"""Login, appearance and conversations of the user."""

from __future__ import annotations

from starlette.responses import Response

from assay.core.errors import NotLoggedIn
from assay.locale import PAGE_LOCALES
from assay.server.api import threads, users
from assay.server.gate import is_secure, keep_session
from assay.server.page.forms import read_form
from assay.server.page.templates_environment import DENSITIES, DENSITY, THEME, THEMES, go_to, local, screen
from assay.server.page.words import LANGUAGE
from assay.server.problems import problem_of
from assay.server.wire import RouteCall
from assay.services.users import SESSION_SECONDS

YEAR = 365 * 86_400
FOUND = 20


async def show_login(call: RouteCall) -> Response:
    """The form for name and password."""
    path = local(call.request.query_params.get("next", "/"))
    return screen(call, "login.html", next=path, name="", fault="")


async def log_in(call: RouteCall) -> Response:
    """Begin a session, and return to the page that asked for the login."""
    form = await read_form(call.request, 10_000)
    name, path = form.text("name"), local(form.text("next"))
    password = next(iter(form.fields.get("password", ())), "")
    call.login(await users.name_of_user(call, name))
    try:
        secret = await call.backend.assay.users.log_in(name, password)
    except NotLoggedIn as error:
        status = problem_of(error).status
        return screen(call, "login.html", status=status, next=path, name=name, fault=str(error))
    response = go_to(path)
    keep_session(call.request, response, secret, int(SESSION_SECONDS))
    return response


async def log_out(call: RouteCall) -> Response:
    """End the session."""
    url = await users.end_session(call)
    gone = screen(call, "logged_out.html", url=url) if url else go_to("/login")
    keep_session(call.request, gone, "", 0)
    return gone


async def keep_theme(call: RouteCall) -> Response:
    """Store appearance and language of the pages in cookies."""
    form = await read_form(call.request, 10_000)
    response = go_to("/settings")
    for cookie, field, known in ((THEME, "theme", THEMES), (DENSITY, "density", DENSITIES)):
        if field in form.fields:
            _keep(call, response, cookie, form.text(field) if form.text(field) in known else known[0])
    if "language" in form.fields:
        _keep(call, response, LANGUAGE, form.text("language") if form.text("language") in PAGE_LOCALES else "")
    return response


def _keep(call: RouteCall, response: Response, cookie: str, value: str) -> None:
    secure = is_secure(call.request)
    response.set_cookie(cookie, value, max_age=YEAR, path="/", secure=secure, httponly=True, samesite="lax")


async def list_threads(call: RouteCall) -> Response:
    """The user's conversations, latest first."""
    asked = call.request.query_params
    words, cursor = asked.get("q", "").strip(), asked.get("cursor", "")
    found = await threads.list_threads(call, threads.ThreadsWanted(q=words, cursor=cursor, limit=FOUND))
    return screen(call, "threads.html", section="runs", threads=found.threads, next=found.next, words=words)


async def show_thread(call: RouteCall, thread: str) -> Response:
    """A conversation."""
    found = await threads.show_thread(call, thread)
    return screen(call, "thread.html", section="runs", thread=found)
