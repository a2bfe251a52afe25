"""The paths of files in a home; and temporary folders for what is fetched, read and deleted."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, unquote_plus

from assay.core.lazy import lazy_module
from assay.run.process import is_dead, this_process

if TYPE_CHECKING:
    from assay.evidence import segment
else:
    segment = lazy_module("assay.evidence.segment")


def index_folder(home: Path) -> Path:
    """The folder of the search index; each version of the segmenter has its own."""
    return home / "index" / segment.SEGMENTER.replace("/", "-")


def runs_folder(home: Path) -> Path:
    """The folder of the index of runs."""
    return home / "index"


def has_run_index(home: Path) -> bool:
    """True if there is an index of runs."""
    return any(runs_folder(home).glob("runs-*/meta.json"))


def vectors_file(home: Path) -> Path:
    """The vectors of passages, for every segmenter version: a known text is not embedded again."""
    return home / "index" / "vectors.db"


def pages_folder(home: Path) -> Path:
    """Cached pages of the web."""
    return home / "pages"


def log_file(home: Path, run_id: str) -> Path:
    """The log of a process that executes a run without a terminal."""
    return home.expanduser() / "logs" / f"{run_id}.log"


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file so that nobody ever reads half of it; into a pipe or a device, which stays. Blocking.

    Raises:
        OSError: it cannot be written; an earlier one is still there.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".assay-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(draft).chmod(mode)
        Path(draft).replace(path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise


# A folder carries the name of its process, which says whether that has ended: on another host, or in another container,
# nobody can tell, and the folder is left alone.


PREFIX = "assay-scratch-"


def scratch_folder() -> Path:
    """Make a folder for this process, and delete those of processes that have ended. Blocking."""
    delete_stale_folders()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{quote_plus(this_process())}."))


def delete_stale_folders() -> None:
    """Delete the folders of processes of this machine that have ended. Blocking."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        holder, _, _ = folder.name.removeprefix(PREFIX).rpartition(".")
        if is_dead(unquote_plus(holder)):
            shutil.rmtree(folder, ignore_errors=True)


def writable_folder(folder: Path, parts: str = "*/") -> Path:
    """The folder of an index; if it cannot be written, a folder of this process with a copy of its `parts`. Blocking.

    Even a reader of an index writes its locks.
    """
    nearest = next(ancestor for ancestor in (folder, *folder.parents) if ancestor.exists())
    if os.access(nearest, os.W_OK):
        return folder
    scratch = scratch_folder()
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    for part in folder.glob(parts):
        shutil.copytree(part, scratch / part.name)
    return scratch
