"""Pages which have no text until their scripts have run: rendered in a Chromium which cannot reach anything itself.

scripted    whether a page needs its scripts        gate       what a page that runs may have, and from where
chromium    the browser (imports playwright)        rendering  a fetcher which renders what needs it
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Literal

from assay.core.errors import ConfigError
from assay.fetch.browser.gate import SENT
from assay.fetch.browser.renderer import BrowserChoice, RenderingFetcher, RenderLimits
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
    """A fetcher which renders pages where that is needed, or (`always`) every page which has scripts.

    Args:
        pages: fetches pages, and what a page on a host that is not public asks of this host.
        public: makes a fetcher which reaches public addresses only, told the `headers` it keeps: for what public pages
            ask for. Both are closed with this one.
        mode: `always` wants the extra; without it `auto` says of pages that cannot be read what they need.
        largest: bytes of a page, and of all it asks for together.
        executable: the browser; "" for the one playwright has installed, or one on the path.

    Raises:
        ConfigError: the extra is wanted and not installed.
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
