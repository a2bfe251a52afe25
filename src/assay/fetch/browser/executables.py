"""The Chromium there is on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import platformdirs

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "there is no Chromium: `playwright install chromium`, or name one by web.chromium"


def on_path(first: Iterable[str] = ()) -> str:
    """The first of `first`, else of the names Chromium goes by, which can be executed; "" where none can."""
    return next(filter(None, map(shutil.which, (*first, *NAMES))), "")


def installed() -> str:
    """A Chromium on the path, or the folder of one which playwright has installed; "" where there is neither."""
    downloaded = platformdirs.user_cache_path("ms-playwright", appauthor=False)
    return on_path() or next((str(folder) for folder in sorted(downloaded.glob("chromium*"))), "")
