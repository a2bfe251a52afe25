"""What a browser loads beside the pages: style, scripts and signs, all from this package."""

from __future__ import annotations

import hashlib
import mimetypes
from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.server.problems import refusal

PREFIX = "/static"
FOR_EVER = "public, max-age=31536000, immutable"
"""An address holds the hash of what is there: what changes has another one."""

_OWN = (
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
"""One script for the browser: htmx begins as soon as its own is run, and what it is extended by has to be there."""
_LAYERS = "@layer report, page;\n@layer report {{\n{report}\n}}\n@layer page {{\n{page}\n}}\n"


@cache
def assets() -> dict[str, bytes]:
    """Every file by its name.

    The style is that of exported reports below that of the page, so that a report looks the same in both; `quotes.js`
    is the script of exported reports, `htmx.js` the library with its extensions.
    """
    here, exported = files("assay.server.page").joinpath("static"), files("assay.export.html")
    found = {name: here.joinpath(name).read_bytes() for name in _OWN}
    found["style.css"] = _LAYERS.format(
        report=exported.joinpath("style.css").read_text(encoding="utf-8"),
        page=here.joinpath("style.css").read_text(encoding="utf-8"),
    ).encode()
    found["htmx.js"] = b";\n".join(here.joinpath(name).read_bytes() for name in _HTMX)
    found["quotes.js"] = exported.joinpath("script.js").read_bytes()
    return found


@cache
def address(name: str) -> str:
    """Where a browser finds a file."""
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
    kept = FOR_EVER if request.path_params["edition"] == _edition() else "no-store"
    return Response(data, headers={"Cache-Control": kept}, media_type=media)


ROUTE = Route(f"{PREFIX}/{{edition}}/{{name:path}}", _serve, methods=["GET"], name="asset")
