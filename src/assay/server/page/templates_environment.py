"""Templates to HTML. What is not markup already is cleaned and escaped; there is no rule of research here."""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, cast
from urllib.parse import quote, urlsplit

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from assay.core import phrases
from assay.core.clean import HARMFUL, link_target, local_path, one_line
from assay.core.errors import AssayError
from assay.core.ports.users import Permission
from assay.core.translation import number
from assay.core.ways import read_on, worded
from assay.export.html.evidence_section import place
from assay.export.html.signs import sprite, word
from assay.server import guards
from assay.server.gate import check, who_of
from assay.server.page.assets import address
from assay.server.problems import Problem, Refusal, problem_of
from assay.server.wire import RouteCall

THEMES = ("system", "light", "dark")
THEME = "assay-theme"
"""The cookie which says how the page looks; nothing else is kept in it."""

POLICY = f"{guards.POLICY}; trusted-types assay"
"""Markup is taken from one place only: what `trusted.js` lets through."""

LARGE = 50_000
"""Bytes from which on a page is sent compressed."""

Section = Literal["ask", "runs", "library", "verify", "settings", ""]
P = ParamSpec("P")


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """What every screen has around it: its section, how it looks, and who looks at it ("" where nobody need log in)."""

    section: Section
    theme: str
    user: str
    path: str


def frame_of(request: Request, section: Section) -> Frame:
    """The frame of a screen."""
    theme = request.cookies.get(THEME, "system")
    who = who_of(request)
    return Frame(
        section=section,
        theme=theme if theme in THEMES else "system",
        user=who.name if who else "",
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
    """A whole page; one with a `secret` in it is never compressed, since its size would tell of it."""
    html = ENVIRONMENT.get_template(template).render(frame=frame_of(call.request, section), **values)
    data, sent = html.encode(), {**(headers or {}), "Content-Security-Policy": POLICY, "Vary": "Accept-Encoding"}
    if len(data) > LARGE and not secret and "gzip" in call.request.headers.get("accept-encoding", ""):
        data, sent["Content-Encoding"] = gzip.compress(data, 4), "gzip"
    return HTMLResponse(data, status, sent)


def fragment(template: str, **values: Any) -> Markup:
    """A part of a page."""
    return Markup(ENVIRONMENT.get_template(template).render(**values))


def go_to(path: str) -> Response:
    """Have the browser read another page after what it sent."""
    return RedirectResponse(path, 303)


def is_fragment(request: Request) -> bool:
    """Whether a script asks, which puts the answer into the page it is on."""
    return request.headers.get("hx-request", "") == "true"


def noted(call: RouteCall, text: str, path: str) -> Response:
    """What came of a form: a sentence where a script sent it, else the page it belongs to."""
    return (
        HTMLResponse(fragment("parts/note.html", text=text, fault=False)) if is_fragment(call.request) else go_to(path)
    )


def guarded(
    handler: Callable[Concatenate[RouteCall, P], Awaitable[Response]], needs: Permission | Literal[""] = ""
) -> Callable[[Request], Awaitable[Response]]:
    """A route of the page: parameters are those of its path, and what goes wrong is told as a page.

    `needs` is what who asks must be allowed beside what the gate asks of every page.
    """

    @wraps(handler)
    async def answer(request: Request) -> Response:
        call = RouteCall(request)
        try:
            if needs:
                check(request, needs)
            made = cast(Callable[..., Awaitable[Response]], handler)
            return await made(call, **request.path_params)
        except Refusal as refusal:
            return told(request, refusal.problem, refusal.headers)
        except AssayError as error:
            return told(request, problem_of(error, tuple(map(str, request.path_params.values()))))

    return answer


def told(request: Request, problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a person is told it; who has to log in is led there."""
    if is_fragment(request):
        note = fragment("parts/note.html", text=problem.detail or problem.title, fault=True)
        return HTMLResponse(note, problem.status, headers)
    if problem.status == 401 and request.url.path != "/login":
        path = request.url.path if request.method == "GET" else "/"
        return go_to(f"/login?next={quote(path, safe='/')}")
    return screen(RouteCall(request), "problem.html", status=problem.status, headers=headers, problem=problem)


def is_shown(request: Request) -> bool:
    """Whether who asks reads answers as pages."""
    return "text/html" in request.headers.get("accept", "") or is_fragment(request)


def local(path: str) -> str:
    """`path` where it leads to a page of this server, else that of the first."""
    parts = urlsplit(path)
    fine = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.scheme and not parts.netloc
    return path if fine and path.isprintable() else "/"


# what templates call


def _harmless(value: object) -> object:
    """What is put into a template: text without controls, nothing for None."""
    if value is None:
        return ""
    return HARMFUL.sub("", value) if isinstance(value, str) and not isinstance(value, Markup) else value


def money(usd: float) -> str:
    """`$0.42`; small sums to the hundredth of a cent."""
    return f"${usd:,.2f}" if usd >= 0.1 or not usd else f"${usd:.4f}"


def duration(seconds: float) -> str:
    """`8 s`, `6 min 5 s`, `2 h 10 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, left = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {left} s" if left and minutes < 10 else f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def ago(iso: str, now: datetime | None = None) -> str:
    """How long ago a moment was, in words."""
    try:
        then = datetime.fromisoformat(iso)
    except ValueError:
        return iso
    seconds = ((now or datetime.now(UTC)) - then).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def counted(count: int, one: str, several: str = "") -> str:
    """`1 source`, `2,000 sources`."""
    return f"{number(count)} {one if count == 1 else several or one + 's'}"


def brief_of(text: str, most: int = 160) -> str:
    """The beginning of a text, on one line."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def where(url: str) -> Markup | str:
    """Where a source is, in short: the name of a file, a link to a page."""
    path = local_path(url)
    return place(url) if path is None else path.rstrip("/").rpartition("/")[2]


def plain(text: str) -> str:
    """A finding without the markers of its passages."""
    return re.sub(r"\s*\[S\d+(?:\.\d+)?(?:[,;]\s*S\d+(?:\.\d+)?)*\]", "", text)


ENVIRONMENT = Environment(
    loader=PackageLoader("assay.server.page"),
    autoescape=True,
    undefined=StrictUndefined,
    finalize=_harmless,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,
)


def _worded(text: str) -> str:
    with read_on("page"):  # fragments are drawn by a task of no request
        return worded(text)


ENVIRONMENT.filters.update(
    worded=_worded,
    ago=ago,
    brief=brief_of,
    duration=duration,
    link_target=link_target,
    money=money,
    number=number,
    one_line=one_line,
    place=place,
    plain=plain,
    step_status=phrases.step_status,
    verdict=phrases.verdict,
    verdict_word=word,
    where=where,
)
ENVIRONMENT.globals.update(asset=address, counted=counted, sprite=sprite, themes=THEMES)
