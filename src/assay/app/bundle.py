"""Verifies a bundle file: no home, no network, and settings only for trusted signers."""

from __future__ import annotations

import stat
from pathlib import Path

from assay import settings
from assay.app import signatures
from assay.core.errors import ConfigError, StoreError, UsageError
from assay.export.bundle import BundleCheck, BundleSignature, Outcome, Verification, check
from assay.export.bundle.check import BundleLimits
from assay.export.bundle.contents import LARGEST
from assay.export.bundle.contents import release as installed_release
from assay.settings.sections import BundleSettings

__all__ = ["BundleCheck", "BundleSignature", "Outcome", "Verification", "installed_release", "limits", "verify_bundle"]


def verify_bundle(path: Path, signer: str = "") -> Verification:
    """Do every check of the bundle at `path`. Blocking; holds the file in memory.

    A signature counts if it is by `signer` (a public key, a file with one, or a name in the settings); without
    `signer`, if the settings trust it.

    Raises:
        UsageError: the file does not exist, cannot be read, or is not a zip; or there is no such signer.
        ConfigError: it is signed, and the settings cannot be read.
    """
    named = signatures.signer(signer) if signer else None
    bounds = limits()
    try:
        data = _read(path, min(LARGEST, int(bounds.max_mb * 1_000_000)))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name and permissions") from error
    except MemoryError as error:
        raise UsageError(f"{path} does not fit into memory: check it on a machine with more") from error
    try:
        most = BundleLimits(members=bounds.max_members, events=bounds.max_events)
        return check(data, str(path), signatures.signers if named is None else lambda: named, most)
    except StoreError as error:
        raise UsageError(str(error)) from error


def limits() -> BundleSettings:
    """Limits on the contents of a bundle; the defaults if the settings cannot be read, since checking needs none."""
    try:
        return settings.load().bundles
    except ConfigError:
        return BundleSettings()


def _read(path: Path, most: int) -> bytes:
    """The bytes of a regular file that is no larger than a bundle may be."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):  # a pipe or a device may never end
        raise UsageError(f"{path} is {'a folder' if stat.S_ISDIR(about.st_mode) else 'not a file'}")
    with path.open("rb") as file:
        data = file.read(most + 1) if about.st_size <= most else b""
    if about.st_size > most or len(data) > most:  # it may have grown since
        raise UsageError(
            f"{path} has more than {most / 1e6:,.0f} MB, and larger bundles are not verified: "
            "set bundles.max_mb higher if you trust it"
        )
    return data
