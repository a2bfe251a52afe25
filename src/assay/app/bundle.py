"""Verify a bundle file: no home, no network, and settings only for whose signatures are trusted."""

from __future__ import annotations

import stat
from pathlib import Path

from assay.app import signatures
from assay.core.errors import StoreError, UsageError
from assay.export.bundle import BundleCheck, BundleSignature, Outcome, Verification, check
from assay.export.bundle.archive import LARGEST
from assay.export.bundle.contents import release as installed_release

__all__ = ["BundleCheck", "BundleSignature", "Outcome", "Verification", "installed_release", "verify_bundle"]


def verify_bundle(path: Path, signer: str = "") -> Verification:
    """Every check over the bundle at `path`. Blocking; holds the file in memory.

    A signature counts if `signer` made it (a public key, a file with one, or a name of the settings); without one, if
    anybody did whom the settings trust.

    Raises:
        UsageError: there is no such file, it cannot be read, or it is no zip at all; there is no such signer.
        ConfigError: it is signed, and the settings cannot be read.
    """
    named = signatures.signer(signer) if signer else None
    try:
        data = _read(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except MemoryError as error:
        raise UsageError(f"{path} does not fit into memory") from error
    try:
        return check(data, str(path), signatures.signers if named is None else lambda: named)
    except StoreError as error:
        raise UsageError(str(error)) from error


def _read(path: Path) -> bytes:
    """The bytes of a regular file which is no larger than a bundle may be."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device may never end
        raise UsageError(f"{path} is {'a folder' if stat.S_ISDIR(about.st_mode) else 'not a file'}")
    if about.st_size > LARGEST:
        raise UsageError(f"{path} is not a bundle: none is larger than 4 GiB")
    with path.open("rb") as file:
        return file.read(LARGEST)
