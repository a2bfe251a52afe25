"""Turns templates into HTML. Anything but markup is cleaned and escaped; there are no research rules here."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from functools import cache, wraps
from importlib.resources import files
from typing import Any, Concatenate, Literal, ParamSpec, cast
from urllib.parse import quote, urlsplit

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from assay.core import phrases
from assay.core.clean import HARMFUL, local_path, one_line
from assay.core.errors import AssayError
from assay.core.markers import strip_markers
from assay.core.ports import Addition
from assay.core.ports.users import Permission
from assay.core.translation import N_, format_number, gettext, is_right_to_left
from assay.core.ways import adapt_wording, use_surface
from assay.export.html.evidence_section import address_link
from assay.export.html.ledger import legend_section
from assay.export.html.markup import sprite, verdict_word
from assay.locale import LOCALES, use_page_locale
from assay.server import guards
from assay.server.api.documents import AdditionShown, hide_upload_paths
from assay.server.gate import check_permission, identity_of
from assay.server.page import words
from assay.server.page.words import NAMES, chosen_language, language_of
from assay.server.problems import TYPES, Problem, Refusal, problem_of, refusal
from assay.server.protocol_runs import BOOKKEEPING
from assay.server.wire import RouteCall
from assay.services.places import sent_at

# Assets of the pages: style, scripts and icons, all from this package.

PREFIX = "/static"
IMMUTABLE_CACHE = "public, max-age=31536000, immutable"
"""An address contains the hash of its content, so changed content has another address."""

_OWN = (
    "drafts.js",
    "icon.svg",
    "lanes.js",
    "live.js",
    "notify.js",
    "page.js",
    "plan.js",
    "select.js",
    "source.js",
    "upload.js",
)
_HTMX = ("vendor/htmx.min.js", "trusted.js", "vendor/hx-sse.min.js")
"""One script for the browser: htmx starts as soon as it runs, and its extensions must be there by then."""
_LAYERS = "@layer report, page;\n@layer report {{\n{report}\n}}\n@layer page {{\n{page}\n}}\n"


@cache
def assets() -> dict[str, bytes]:
    """Every file by name.

    The style is that of exported reports followed by that of the page, so that a report looks the same in both;
    `quotes.js` is the script of exported reports, `htmx.js` the library with its extensions.
    """
    static, export_files = files("assay.server.page").joinpath("static"), files("assay.export.html")
    contents = {name: static.joinpath(name).read_bytes() for name in _OWN}
    contents["style.css"] = _LAYERS.format(
        report=export_files.joinpath("style.css").read_text(encoding="utf-8"),
        page=static.joinpath("style.css").read_text(encoding="utf-8"),
    ).encode()
    contents["htmx.js"] = b";\n".join(static.joinpath(name).read_bytes() for name in _HTMX)
    contents["quotes.js"] = export_files.joinpath("script.js").read_bytes()
    return contents


@cache
def asset_url(name: str) -> str:
    """The address of a file."""
    return f"{PREFIX}/{_edition()}/{name}"


@cache
def _edition() -> str:
    hashes = (hashlib.sha256(data).digest() for _, data in sorted(assets().items()))
    return hashlib.sha256(b"".join(hashes)).hexdigest()[:12]


async def _serve(request: Request) -> Response:
    name = request.path_params["name"]
    data = assets().get(name)
    if data is None:
        raise refusal("not-found")
    media = mimetypes.guess_type(name)[0] or "application/octet-stream"
    cache_control = IMMUTABLE_CACHE if request.path_params["edition"] == _edition() else "no-store"
    return Response(data, headers={"Cache-Control": cache_control}, media_type=media)


ROUTE = Route(f"{PREFIX}/{{edition}}/{{name:path}}", _serve, methods=["GET"], name="asset")


THEMES = ("system", "light", "dark")
THEME = "assay-theme"
"""The cookie with the appearance of the page; it contains nothing else."""
DENSITIES = ("normal", "compact")
DENSITY = "assay-density"
"""The cookie with the density of the screen."""

POLICY = f"{guards.POLICY}; trusted-types assay"
"""Markup is accepted from one place only: what `trusted.js` lets through."""

VARIES = "Accept-Encoding, Accept-Language, Cookie"
MIN_COMPRESSED_BYTES = 50_000
"""Bytes from which on a page is sent compressed."""

Section = Literal["ask", "runs", "library", "verify", "settings", ""]
P = ParamSpec("P")


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The frame of every screen: its section, its appearance, and the user ("" if no login is required).

    `writes` says that the user may begin runs and change things. `chosen` is the language that the user chose, "" if
    it is the browser's.
    """

    section: Section
    theme: str
    density: str
    language: str
    right_to_left: bool
    chosen: str
    user: str
    writes: bool
    path: str


def frame_of(request: Request, section: Section) -> Frame:
    """The frame of a screen."""
    theme, density = request.cookies.get(THEME, ""), request.cookies.get(DENSITY, "")
    identity, language = identity_of(request), language_of(request)
    return Frame(
        section=section,
        theme=theme if theme in THEMES else THEMES[0],
        density=density if density in DENSITIES else DENSITIES[0],
        language=language,
        right_to_left=is_right_to_left(language),
        chosen=chosen_language(request),
        user=identity.name if identity else "",
        writes=identity is None or identity.may("write"),
        path=request.url.path,
    )


def screen(
    call: RouteCall,
    template: str,
    *,
    section: Section = "",
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    secret: bool = False,
    **values: Any,
) -> HTMLResponse:
    """A whole page. A page with a `secret` is never compressed, since its size would reveal it."""
    frame = frame_of(call.request, section)
    with use_page_locale(frame.language):
        data = ENVIRONMENT.get_template(template).render(frame=frame, **values).encode()
    response_headers = {
        **(headers or {}),
        "Content-Security-Policy": POLICY,
        "Content-Language": frame.language,
        "Vary": VARIES,
    }
    if len(data) > MIN_COMPRESSED_BYTES and not secret and "gzip" in call.request.headers.get("accept-encoding", ""):
        data, response_headers["Content-Encoding"] = gzip.compress(data, 4), "gzip"
    return HTMLResponse(data, status, response_headers)


def fault_values(fault: Refusal | AssayError | None, path: tuple[str, ...] = ()) -> dict[str, Any]:
    """The status of a screen with a form, and what was wrong with the form, in the words of the page.

    `path` are the names in the route's path: only they can be not found.
    """
    problem = fault.problem if isinstance(fault, Refusal) else problem_of(fault, path) if fault else None
    return {"status": problem.status if problem else 200, "fault": (problem.detail or problem.title) if problem else ""}


def fragment(template: str, **values: Any) -> Markup:
    """A part of a page, in the current language."""
    return Markup(ENVIRONMENT.get_template(template).render(**values))


def fragment_response(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A part of a page as a response to a script."""
    with use_page_locale(language_of(request)):
        return HTMLResponse(fragment(template, **values), status)


def go_to(path: str) -> Response:
    """Redirect the browser after a form."""
    return RedirectResponse(path, 303)


def is_fragment(request: Request) -> bool:
    """True if a script makes the request, and inserts the response into its page."""
    return request.headers.get("hx-request", "") == "true"


def form_response(call: RouteCall, text: str, path: str) -> Response:
    """The result of a form: a sentence if a script sent it, else the page it belongs to."""
    return (
        fragment_response(call.request, "parts/note.html", text=text, fault=False, login=False)
        if is_fragment(call.request)
        else go_to(path)
    )


def page_route(
    handler: Callable[Concatenate[RouteCall, P], Awaitable[Response]], needs: Permission | Literal[""] = ""
) -> Callable[[Request], Awaitable[Response]]:
    """A route of the page: parameters come from its path, and problems are shown as a page.

    `needs` is the right it needs in addition to what the gate checks for every page.
    """

    @wraps(handler)
    async def answer(request: Request) -> Response:
        call = RouteCall(request)
        try:
            if needs:
                check_permission(request, needs)
            typed_handler = cast(Callable[..., Awaitable[Response]], handler)
            return await typed_handler(call, **request.path_params)
        except Refusal as refusal:
            return problem_page(request, refusal.problem, refusal.headers)
        except AssayError as error:
            return problem_page(request, problem_of(error, tuple(map(str, request.path_params.values()))))

    return answer


NO_PAGE = N_("This page does not exist")
NO_PAGE_WHY = N_("Check its address. What was there may have been deleted.")
LOGIN_ENDED = N_("Your login has ended, and nothing was sent. Log in in another tab, then send this again.")


def problem_page(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem for a person; whoever must log in is redirected to the login."""
    if is_fragment(request):
        needs_login = problem.status == 401
        text = LOGIN_ENDED if needs_login else problem.detail or problem.title
        answer: Response
        if "text/plain" in request.headers.get("accept", ""):
            with use_page_locale(language_of(request)):
                answer = PlainTextResponse(words.sentence(text), problem.status)
        else:
            answer = fragment_response(
                request, "parts/note.html", problem.status, text=text, fault=True, login=needs_login
            )
        answer.headers.update(headers or {})
        return answer
    if problem.status == 401 and request.url.path != "/login":
        return go_to(f"/login?next={quote(_place_of(request), safe='/')}")
    if problem.type == f"{TYPES}not-found":
        problem = msgspec.structs.replace(problem, title=NO_PAGE, detail=NO_PAGE_WHY)
    return screen(RouteCall(request), "problem.html", status=problem.status, headers=headers, problem=problem)


def _place_of(request: Request) -> str:
    """The page a request is for: its address, or that of the page with the form it sends."""
    path, query = request.url.path, request.url.query
    if request.method == "GET":
        return f"{path}?{query}" if query else path
    parts = path.split("/")
    if parts[1] == "runs" and len(parts) > 2:
        return f"/runs/{parts[2]}"
    return f"/{parts[1]}" if parts[1] in ("verify", "schedules", "settings", "library") else "/"


def wants_page(request: Request) -> bool:
    """True if the caller reads responses as pages."""
    return "text/html" in request.headers.get("accept", "") or is_fragment(request)


def safe_path(path: str) -> str:
    """`path` if it is on this server, else the first page."""
    parts = urlsplit(path)
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return path if fine and path.isprintable() else "/"


# functions for templates


def _clean_value(value: object) -> object:
    """A value for a template: text without control characters, nothing for None."""
    if value is None:
        return ""
    return HARMFUL.sub("", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def clip_line(text: str, max_length: int = 160) -> str:
    """The beginning of a text, on one line."""
    line = one_line(text)
    return line if len(line) <= max_length else f"{line[: max_length - 1].rstrip()}…"


def source_place(url: str) -> Markup | str:
    """The place of a source in short: the name of a file, a link to a page."""
    path = local_path(url)
    return address_link(url) if path is None else path.rstrip("/").rpartition("/")[2]


def strip_markup(text: str) -> str:
    """A claim without the signs of its Markdown."""
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", text)


ENVIRONMENT = Environment(
    loader=PackageLoader("assay.server.page"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_clean_value,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def unread_reason(addition: Addition | AdditionShown) -> str:
    """Why nothing of a file could be read, without its name, which stands beside it, and all kinds that could be."""
    error = hide_upload_paths(addition.error)
    return words.without_kinds(error.partition(f"; skipped {addition.name}: ")[2] or error)


def own_labels(labels: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """A run's labels as its owner gave them: without its star and those by which a protocol knows it again."""
    return tuple(label for label in labels.items() if label[0] != "starred" and not label[0].startswith(BOOKKEEPING))


def _page_wording(text: str) -> str:
    with use_surface("page"):  # fragments are drawn by a task of no request
        return adapt_wording(text)


ENVIRONMENT.filters.update(
    worded=_page_wording,
    ago=words.time_ago,
    brief=clip_line,
    decimal=words.decimal,
    duration=words.duration,
    every=words.interval_words,
    measure_word=words.measure_word,
    moment=words.format_moment,
    moment_element=words.moment_element,
    money=words.money,
    named_alone=hide_upload_paths,
    number=format_number,
    one_line=one_line,
    own_labels=own_labels,
    place=address_link,
    plain=strip_markers,
    role_word=words.role_word,
    run_status=words.run_status,
    sent_at=sent_at,
    sentence=words.sentence,
    short_day=words.short_day,
    status_word=words.status_word,
    step_status=phrases.step_status,
    strip_markup=strip_markup,
    unread_reason=unread_reason,
    verdict=phrases.verdict,
    verdict_word=verdict_word,
    where=source_place,
)
ENVIRONMENT.globals.update(
    _=gettext,
    asset=asset_url,
    densities=DENSITIES,
    format_count=words.format_count,
    languages={code: NAMES[code] for code in LOCALES},
    legend=legend_section,
    once=lambda: secrets.token_urlsafe(16),
    sprite=sprite,
    themes=THEMES,
    translate=words.translate,
)
