"""Reports into files: checked before a run is paid for, written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from assay import plugins
from assay.core.errors import StoreError


def checked(paths: Iterable[Path]) -> tuple[Path, ...]:
    """`paths`, each of which can take a report.

    Raises:
        click.UsageError: a suffix stands for no format, the folder is missing, or the place cannot be written.
        ConfigError: a format needs an extra which is not installed.
    """
    known = plugins.names("exporters")
    paths = tuple(paths)
    for path in paths:
        if not suffix(path):
            raise click.UsageError(f"{path} must end in {' or '.join(known)}")
        if not path.parent.is_dir():
            raise click.UsageError(f"the folder {path.parent} does not exist")
        if path.is_dir():
            raise click.UsageError(f"{path} is a folder")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise click.UsageError(f"{path} cannot be written")
        _ready(suffix(path))
    return paths


def _ready(format: str) -> None:
    ready = getattr(plugins.load("exporters", format), "ready", None)
    if ready is not None:
        ready()


def suffix(path: Path) -> str:
    """The longest end of the file's name which stands for a format (".csl.json" before ".json"), "" for none."""
    name = path.name.lower()
    return max((known for known in plugins.names("exporters") if name.endswith(known)), key=len, default="")


def save(path: Path, data: bytes) -> None:
    """Write `data`, so that nobody ever reads half of it.

    Raises:
        StoreError: the file cannot be written.
    """
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).chmod(0o666 & ~_umask())  # as any new file; mkstemp makes it for the owner alone
        Path(draft).replace(path)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise StoreError(f"{path} cannot be written: {error.strerror}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
