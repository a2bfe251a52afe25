"""The media type in which a client wants something (RFC 9110, 12.5.1), and ETags."""

from __future__ import annotations

from collections.abc import Mapping

from assay.core.sources import sha256


def etag_of(text: str) -> str:
    """The ETag of a text."""
    return f'"{sha256(text.encode())[:20]}"'


def accepts(headers: Mapping[str, str], media_types: tuple[str, ...]) -> str:
    """The media type offered that the client prefers (RFC 9110, 12.5.1), the first of equals; "" for none.

    Without a header all are.
    """
    accept = headers.get("accept", "").strip() or "*/*"
    preferences = [_accepted_type(part) for part in accept.split(",") if part.strip()]
    best, best_quality = "", 0.0
    for type in media_types:
        fits = [(len(pattern.rstrip("*")), quality) for pattern, quality in preferences if _fits(pattern, type)]
        quality = max(fits)[1] if fits else 0.0
        if quality > best_quality:
            best, best_quality = type, quality
    return best


def _accepted_type(part: str) -> tuple[str, float]:
    pattern, *parameters = (parameter.strip().lower() for parameter in part.split(";"))
    quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
    try:
        return pattern, min(max(float(quality), 0.0), 1.0)
    except ValueError:
        return pattern, 0.0


def _fits(pattern: str, type: str) -> bool:
    return pattern in ("*/*", type) or (pattern.endswith("/*") and type.startswith(pattern[:-1]))
