"""Finds Chromium on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import platformdirs

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "there is no Chromium: `playwright install chromium`, or name one by web.chromium"


def on_path(first: Iterable[str] = ()) -> str:
    """The first executable of `first` or of Chromium's usual names on the path; "" if there is none."""
    return next(filter(None, map(shutil.which, (*first, *NAMES))), "")


def installed() -> str:
    """A Chromium on the path, or the folder of one that playwright installed; "" if there is neither."""
    downloaded = platformdirs.user_cache_path("ms-playwright", appauthor=False)
    return on_path() or next((str(folder) for folder in sorted(downloaded.glob("chromium*"))), "")
