"""Verify a bundle file: no settings, no home, no network."""

from __future__ import annotations

import stat
from pathlib import Path

from assay.core.errors import StoreError, UsageError
from assay.export.bundle import BundleCheck, Outcome, Verification, check
from assay.export.bundle.archive import LARGEST
from assay.export.bundle.contents import release as installed_release

__all__ = ["BundleCheck", "Outcome", "Verification", "installed_release", "verify_bundle"]


def verify_bundle(path: Path) -> Verification:
    """Every check over the bundle at `path`. Blocking; holds the file in memory.

    Raises:
        UsageError: there is no such file, it cannot be read, or it is no zip at all.
    """
    try:
        data = _read(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name and permissions") from error
    except MemoryError as error:
        raise UsageError(f"{path} does not fit into memory: check it on a machine with more") from error
    try:
        return check(data, str(path))
    except StoreError as error:
        raise UsageError(str(error)) from error


def _read(path: Path) -> bytes:
    """The bytes of a regular file which is no larger than a bundle may be."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device may never end
        raise UsageError(f"{path} is {'a folder' if stat.S_ISDIR(about.st_mode) else 'not a file'}")
    if about.st_size > LARGEST:
        raise UsageError(f"{path} is not a bundle: none is larger than 4 GiB; name a file made with -o FILE.zip")
    with path.open("rb") as file:
        return file.read(LARGEST)
