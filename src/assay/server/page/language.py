"""The language of the page: what somebody chose, else the first which his browser asks for and there is."""

from __future__ import annotations

from collections.abc import Iterator

from starlette.requests import Request

from assay.core.translation import ENGLISH
from assay.locale import PAGE_LOCALES

LANGUAGE = "assay-language"
"""The cookie which says in what language the page speaks; without it the browser's is taken."""
NAMES = {"en": "English", "de": "Deutsch"}
"""Each language in its own."""


def language_of(request: Request) -> str:
    """The language a page is answered in."""
    chosen = chosen_of(request)
    return chosen or next((each for each in _asked(request.headers.get("accept-language", ""))), ENGLISH)


def chosen_of(request: Request) -> str:
    """The language somebody chose, "" where it is the browser's."""
    chosen = request.cookies.get(LANGUAGE, "")
    return chosen if chosen in PAGE_LOCALES else ""


def _asked(header: str) -> Iterator[str]:
    """The languages of a browser which there are, those it likes best first."""
    weighed: list[tuple[float, str]] = []
    for part in header[:500].split(","):
        name, _, quality = part.partition(";")
        language = name.strip().partition("-")[0].lower()
        if language in PAGE_LOCALES:
            weighed.append((_weight(quality), language))
    yield from (language for weight, language in sorted(weighed, key=lambda each: -each[0]) if weight > 0)


def _weight(quality: str) -> float:
    """`q=0.8` as a number; 1 where nothing is said."""
    try:
        return float(quality.strip().removeprefix("q=") or 1)
    except ValueError:
        return 0.0
