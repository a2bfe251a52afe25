"""Names for a server's sessions, so that its administrators can see whose they are."""

from __future__ import annotations

import functools
import os
import platform
import time
from importlib.metadata import version

import msgspec

APPLICATION = "assay"
_HOST = 20
"""Characters of a host's name: the server keeps 63 in all."""
_WORDS = 5


class SessionName(msgspec.Struct, frozen=True, kw_only=True):
    """The opener of a session: a process of a release on a host, and its clock's time."""

    release: str
    host: str
    process: int
    clock: float


def name_now() -> str:
    """The name for a session that this process opens now."""
    return f"{APPLICATION} {_release()} {_host()} {os.getpid()} {time.time():.1f}"


def read_name(name: str) -> SessionName | None:
    """Parse a session's name; None if it does not belong to such a process, or belongs to an older release."""
    words = name.split()
    if len(words) != _WORDS or words[0] != APPLICATION:
        return None
    try:
        return SessionName(release=words[1], host=words[2], process=int(words[3]), clock=float(words[4]))
    except ValueError:
        return None


@functools.cache
def _release() -> str:
    return version("assay")


@functools.cache
def _host() -> str:
    return platform.node()[:_HOST].replace(" ", "-") or "-"
