"""Whether there is somebody to ask."""

from __future__ import annotations

import sys

from assay import settings


def may_ask() -> bool:
    """Whether stdin and stderr are a person's terminal, and nothing in the environment says otherwise."""
    return sys.stdin.isatty() and sys.stderr.isatty() and settings.surroundings().interactive
