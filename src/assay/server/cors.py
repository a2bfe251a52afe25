"""Pages of other sites which may use the API (CORS): none, unless the settings name them."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT = (
    *("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "Last-Event-ID"),
    *("Mcp-Protocol-Version", "Mcp-Session-Id"),
)
SHOWN = (
    *("Content-Disposition", "ETag", "Location", "Retry-After", "WWW-Authenticate", "Mcp-Session-Id"),
    *("RateLimit", "RateLimit-Policy"),
)
PREFLIGHT_SECONDS = 600


def cross_origin(origins: Sequence[str]) -> list[Middleware]:
    """What answers for these sites; nothing, where none is named. Cookies count for named ones alone, never for `*`."""
    if not origins:
        return []
    every = "*" in origins
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=["*"] if every else list(origins),
            allow_methods=METHODS,
            allow_headers=SENT,
            expose_headers=SHOWN,
            allow_credentials=not every,
            max_age=PREFLIGHT_SECONDS,
        )
    ]
