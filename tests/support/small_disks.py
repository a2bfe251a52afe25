"""A small disk of a test's own, which can fill up or be made read-only."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str = "12m") -> Iterator[Path]:
    """A disk at this new folder; where none can be mounted, the test skips."""
    folder.mkdir()
    mount = shutil.which("mount")
    if mount is None or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    made = subprocess.run(
        [mount, "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if made.returncode:
        pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(file: Path) -> None:
    """Write this file until no space is left on its disk."""
    with file.open("wb", buffering=0) as out, contextlib.suppress(OSError):
        while out.write(b"\0" * 4096):
            pass


def make_read_only(disk: Path) -> None:
    """Nobody can write to it from now on."""
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
