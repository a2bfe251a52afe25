"""Another release of Assay: its code with a few words changed, under a version of its own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import assay


def another_release(folder: Path, version: str, changes: Mapping[str, tuple[str, str]] = {}) -> Path:
    """A folder which, first in a process's path, is that release; `changes` are (old, new) by file of the package."""
    package = folder / "assay"
    shutil.copytree(Path(assay.__file__).parent, package)  # with what is compiled: that takes seconds
    for name, (old, new) in changes.items():
        text = (package / name).read_text()
        assert old in text, name
        (package / name).write_text(text.replace(old, new))
    found = folder / f"assay-{version}.dist-info"
    found.mkdir()
    (found / "METADATA").write_text(f"Metadata-Version: 2.1\nName: assay\nVersion: {version}\n")
    points = distribution("assay").read_text("entry_points.txt")
    assert points
    (found / "entry_points.txt").write_text(points)
    return folder
