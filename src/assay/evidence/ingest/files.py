"""Which files the named paths stand for."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from assay.core.errors import UsageError


class Found(msgspec.Struct, frozen=True):
    """A file to read; `named` when the user named it, so that leaving it out needs a word."""

    path: Path
    named: bool


def find_files(paths: Sequence[str | Path]) -> tuple[list[Found], list[str]]:
    """The files `paths` stand for, each once, in order, and warnings about folders which cannot be read.

    Raises:
        UsageError: a path does not exist or a glob matches nothing.
    """
    found: dict[str, Found] = {}
    warnings: list[str] = []
    for given in paths:
        for path in _expand(given):
            below = _walk(path, warnings) if path.is_dir() else iter([path])
            for file in below:
                found.setdefault(os.path.abspath(file), Found(file, not path.is_dir()))
    return list(found.values()), warnings


def printable(path: str | Path) -> str:
    """A path which can be stored and shown: bytes of a name which are no UTF-8 become U+FFFD."""
    return os.fsencode(path).decode(errors="replace")


def _expand(given: str | Path) -> list[Path]:
    path = Path(given).expanduser()
    try:
        if os.path.lexists(path):
            return [path]
        matches = sorted(glob.glob(str(path), recursive=True)) if glob.has_magic(str(path)) else []
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot look for {str(given)!r}: {error}") from error
    if not matches:
        raise UsageError(f"no file or folder {str(given)!r}")
    return [Path(match) for match in matches]


def _walk(folder: Path, warnings: list[str]) -> Iterator[Path]:
    """The files below a folder, sorted. Links to folders are not followed: what was named is what is read."""

    def unreadable(error: OSError) -> None:
        warnings.append(f"skipped {printable(error.filename)}: {error.strerror}")

    for root, folders, names in os.walk(folder, onerror=unreadable):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        linked = [Path(root, name) for name in folders if Path(root, name).is_symlink()]
        warnings += [f"skipped {printable(path)}: a link to a folder; name it to read it" for path in linked]
        yield from (Path(root, name) for name in sorted(names) if not name.startswith("."))
