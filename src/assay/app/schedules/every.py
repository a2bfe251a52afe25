"""How often: `12h`, `7d`, `weekly`."""

from __future__ import annotations

import re

from assay.core.errors import UsageError

UNITS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
WORDS = {"hourly": 3_600, "daily": 86_400, "weekly": 604_800, "hour": 3_600, "day": 86_400, "week": 604_800}
LONGEST = 10 * 365 * 86_400


def read_every(text: str) -> int:
    """Seconds between two times a question is asked.

    Raises:
        UsageError: it says no such time, or one of more than ten years.
    """
    text = text.strip().lower()
    match = re.fullmatch(r"([0-9]{1,7})\s?([mhdw])", text)
    seconds = WORDS.get(text, 0) or (int(match[1]) * UNITS[match[2]] if match else 0)
    if not 0 < seconds <= LONGEST:
        raise UsageError(f"{text[:40]!r} is no interval: write one such as 30m, 12h, 7d, 2w, hourly, daily or weekly")
    return seconds


def said(seconds: int) -> str:
    """Seconds as `read_every` reads them."""
    unit = next(unit for unit in ("w", "d", "h", "m") if seconds % UNITS[unit] == 0)
    return f"{seconds // UNITS[unit]}{unit}"
