"""Temporary folders for what is fetched, read and deleted. Those that killed processes left are deleted by others.

A folder carries the name of its process, which says whether that has ended: on another host, or in another container,
nobody can tell, and the folder is left alone.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from urllib.parse import quote_plus, unquote_plus

from assay.run.process import is_dead, this_process

PREFIX = "assay-scratch-"


def scratch_folder() -> Path:
    """Make a folder for this process, and delete those of processes that have ended. Blocking."""
    sweep()
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{quote_plus(this_process())}."))


def sweep() -> None:
    """Delete the folders of processes of this machine that have ended. Blocking."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        holder, _, _ = folder.name.removeprefix(PREFIX).rpartition(".")
        if is_dead(unquote_plus(holder)):
            shutil.rmtree(folder, ignore_errors=True)
