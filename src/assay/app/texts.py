"""Texts a caller gives as such, or as the file which holds them."""

from __future__ import annotations

import re
from pathlib import Path

from assay.core.errors import UsageError

MOST_BYTES = 8_000
"""Such a text is repeated in most calls of a run, and has to leave room in a small window."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


def text_of(value: str | Path | None, what: str, most: int = MOST_BYTES) -> str:
    """The text itself, or that of the file a `Path` names (UTF-8, with or without a mark); "" for None.

    Raises:
        UsageError: the file cannot be read; what was given is empty, no text, or of more than `most` bytes.
    """
    if value is None or value == "":
        return ""
    data = _read(value, what, most) if isinstance(value, Path) else value.encode(errors="surrogatepass")
    if len(data) > most:
        raise UsageError(f"{_named(value, what)} is too large: at most {most:,} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{_named(value, what)} is not text in UTF-8: save it so") from None
    if _CONTROL.search(text):
        raise UsageError(f"{_named(value, what)} is not text: it has control characters")
    if not text.strip():
        raise UsageError(f"{_named(value, what)} is empty: write something into it, or leave it out")
    return text.strip()


def _read(path: Path, what: str, most: int) -> bytes:
    """The beginning of a file: enough to see that it is too large."""
    try:
        if path.exists() and not (path.is_file() or path.is_fifo()):  # a pipe: /dev/stdin, <(command)
            raise UsageError(f"{_named(path, what)} is not a file: name one")
        with path.open("rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{_named(path, what)} cannot be read ({reason}): check its name and permissions") from error


def _named(value: str | Path, what: str) -> str:
    return f"the file of the {what} ({value})" if isinstance(value, Path) else f"the text of the {what}"
