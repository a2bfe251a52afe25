"""What an object store's answer means, by the words of the error a library made of it."""

from __future__ import annotations

import re

LOOKED_AT = 4_000
"""Characters of an error which are looked at."""
NO_BUCKET = "there is no such bucket, or none you may see"
_STATUS = re.compile(r"\b(?:status code|status): ?(\d{3})\b")


def said_by(error: BaseException) -> str:
    """The beginning of what an error says. It may hold keys, and is shown to nobody."""
    return str(error)[:LOOKED_AT]


def status_of(error: BaseException) -> str:
    """The HTTP status the store answered with; "" where the error names none."""
    found = _STATUS.search(said_by(error))
    return found[1] if found else ""


def is_no_bucket(error: BaseException, what: str) -> bool:
    """Whether it is the bucket that is missing, and no object in it, where something was to be `what` ("read")."""
    return "NoSuchBucket" in said_by(error) or what in ("written", "listed")
