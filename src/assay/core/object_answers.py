"""Reads an object store's answer from the text of a library's error."""

from __future__ import annotations

import re

LOOKED_AT = 4_000
"""Characters of an error that are read."""
NO_BUCKET = "there is no such bucket, or none you may see"
_STATUS = re.compile(r"\b(?:status code|status): ?(\d{3})\b")


def error_summary(error: BaseException) -> str:
    """The beginning of an error's text. It may contain keys, and is shown to nobody."""
    return str(error)[:LOOKED_AT]


def status_of(error: BaseException) -> str:
    """The HTTP status of the store's answer; "" if the error has none."""
    found = _STATUS.search(error_summary(error))
    return found[1] if found else ""


def is_no_bucket(error: BaseException, what: str) -> bool:
    """Whether the bucket is missing, rather than an object in it, when `what` ("read") failed."""
    return "NoSuchBucket" in error_summary(error) or what in ("written", "listed")
