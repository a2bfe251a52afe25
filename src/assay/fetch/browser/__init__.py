"""Renders pages that have no text until their scripts have run, in a Chromium without network access of its own.

scripted    whether a page needs its scripts        gate       what a running page may load, and from where chromium
the browser (imports playwright)        rendering  a fetcher that renders the pages that need it
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Literal

from assay.core.errors import ConfigError
from assay.fetch.browser.renderer import SENT, BrowserChoice, RenderingFetcher, RenderLimits
from assay.fetch.web.fetcher import WebFetcher

NEEDED = "pages that need JavaScript need an extra: pip install 'assay[browser]'"


def create(
    pages: WebFetcher,
    public: Callable[..., WebFetcher],
    *,
    mode: Literal["auto", "always"],
    largest: int,
    executable: str = "",
) -> RenderingFetcher:
    """Create a fetcher that renders pages when necessary, or (`always`) every page with scripts.

    Args:
        pages: fetches pages, and what a page on a host that is not public requests from this host.
        public: creates a fetcher that reaches only public addresses, from the `headers` it keeps, for the requests of
            public pages. Closing the result closes both.
        mode: `always` requires the extra; without it, `auto` reports what unreadable pages need.
        largest: the most bytes of a page, and of all its requests together.
        executable: the browser; "" for the one playwright installed, or one on the path.

    Raises:
        ConfigError: the extra is required and not installed.
    """
    there = find_spec("playwright") is not None
    if mode == "always" and not there:
        raise ConfigError(NEEDED)
    limits = RenderLimits(bytes=largest)
    return RenderingFetcher(
        pages,
        public(headers=SENT),
        limits,
        BrowserChoice(executable=executable, lacking="" if there else NEEDED),
        always=mode == "always",
    )
