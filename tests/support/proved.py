"""What was found right once, and is read again only when it has changed: for checks which take seconds of computing."""

from __future__ import annotations

import hashlib
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "build" / "proved"


def _digest(inputs: tuple[bytes, ...]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(each).digest() for each in inputs)).hexdigest()


def is_known(name: str, *inputs: bytes, folder: Path = FOLDER) -> bool:
    """Whether it was found right when everything it depends on was as it is now."""
    path = folder / name
    return path.is_file() and path.read_text() == _digest(inputs)


def note(name: str, *inputs: bytes, folder: Path = FOLDER) -> None:
    """Say that it is right."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(_digest(inputs))
