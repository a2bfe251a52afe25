"""Verifies bundle files without home or network, and keeps the keys that sign them or are trusted. Blocking."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from assay import settings
from assay.core.errors import ConfigError, StoreError, UsageError
from assay.export import bundle
from assay.export.bundle import BundleLimits, Verification, check_bundle, signature
from assay.export.bundle.contents import MAX_BUNDLE_BYTES
from assay.export.bundle.signature import PublicKey
from assay.settings import file
from assay.settings.sections import BundleSettings

SECRET = "signing.key"  # the name of a setting
OWN = "you"
"""The name of the signer whose key is in these settings."""
MAX_KEY_CHARS = 10_000


def create_key(*, replace: bool) -> tuple[PublicKey, Path]:
    """Create a key for signing and store it in the settings file; return its public half, and the file.

    Raises:
        UsageError: there is one already, and `replace` is not set.
        ConfigError: the settings cannot be read or written.
    """
    if settings.load().signing.key is not None and not replace:
        raise UsageError("a signing key exists already (`assay keys sign show`): --replace deletes it for good")
    secret = signature.create_secret_key()
    return signature.derive_public_key(secret), file.write(SECRET, secret)


def own_key() -> PublicKey:
    """The public half of the key for signing bundles.

    Raises:
        UsageError: there is none, or it is not valid.
        ConfigError: the settings cannot be read.
    """
    return signature.derive_public_key(_secret())


def sign_bundle(data: bytes, run_id: str) -> bytes:
    """Sign a new bundle.

    Raises:
        UsageError: there is no key for signing.
        ConfigError: the settings cannot be read.
    """
    return bundle.sign_bundle(data, _secret(), run_id)


def trust(name: str, key: str) -> tuple[PublicKey, Path]:
    """Trust signatures by a public key, given as a line or a file, under a name.

    Raises:
        UsageError: it is not a public key.
        ConfigError: the name is not valid, or the settings cannot be written.
    """
    public_key = _public_key(key)
    settings.load(signing={"trusted": {name: str(public_key)}})
    return public_key, file.write(f"signing.trusted.{name}", str(public_key))


def distrust(name: str) -> bool:
    """Stop trusting a signer; return whether they were trusted.

    Raises:
        ConfigError: the settings cannot be written.
    """
    return file.remove(f"signing.trusted.{name}")


def signers() -> Mapping[str, PublicKey]:
    """The trusted signers by name, including oneself.

    Raises:
        ConfigError: the settings cannot be read, or a trusted key is not valid.
    """
    keys = dict[str, PublicKey]()
    config = settings.load().signing
    for name, key in config.trusted.items():
        try:
            keys[name] = signature.public_key(key)
        except UsageError as error:
            raise ConfigError(f"correct the setting signing.trusted.{name}: {error}") from error
    if config.key is not None:
        keys[OWN] = signature.derive_public_key(config.key.reveal())
    return keys


def key_of_signer(signer: str) -> Mapping[str, PublicKey]:
    """The one signer a command names: by a public key, a file with one, or a name in the settings.

    Raises:
        UsageError: there is no such name, and it is not a key.
        ConfigError: the settings cannot be read.
    """
    try:
        return {signer: _public_key(signer)}
    except UsageError:
        trusted = signers()
        if signer in trusted:
            return {signer: trusted[signer]}
        whom = f" ({', '.join(trusted)})" if trusted else ""
        raise UsageError(
            f"{signer} is not a public key, a file with one, or someone you trust{whom}: name somebody with "
            "`assay keys sign trust NAME KEY`"
        ) from None


def _secret() -> str:
    key = settings.load().signing.key
    if key is None:
        raise UsageError("there is no signing key: create one with `assay keys sign create`")
    return key.reveal()


def _public_key(key: str) -> PublicKey:
    try:
        return signature.public_key(key)
    except UsageError:
        try:
            with Path(key).open(encoding="ascii") as file_object:
                text = file_object.read(MAX_KEY_CHARS)
        except (OSError, ValueError):
            raise UsageError(f"{key} is not a public key or a file with one: give one of them") from None
        return signature.public_key(text)


def verify_bundle(path: Path, signer: str = "") -> Verification:
    """Do every check of the bundle at `path`. Blocking; holds the file in memory.

    A signature counts if it is by `signer` (a public key, a file with one, or a name in the settings); without
    `signer`, if the settings trust it.

    Raises:
        UsageError: the file does not exist, cannot be read, or is not a zip; or there is no such signer.
        ConfigError: it is signed, and the settings cannot be read.
    """
    trusted_keys = key_of_signer(signer) if signer else None
    bounds = bundle_limits()
    try:
        data = _read(path, min(MAX_BUNDLE_BYTES, int(bounds.max_mb * 1_000_000)))
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): check its name and permissions") from error
    except MemoryError as error:
        raise UsageError(f"{path} does not fit into memory: check it on a machine with more") from error
    try:
        limits = BundleLimits(members=bounds.max_members, events=bounds.max_events)
        return check_bundle(data, str(path), signers if trusted_keys is None else lambda: trusted_keys, limits)
    except StoreError as error:
        raise UsageError(str(error)) from error


def bundle_limits() -> BundleSettings:
    """Limits on the contents of a bundle; the defaults if the settings cannot be read, since checking needs none."""
    try:
        return settings.load().bundles
    except ConfigError:
        return BundleSettings()


def _read(path: Path, max_bytes: int) -> bytes:
    """The bytes of a regular file that is no larger than a bundle may be."""
    file_status = path.stat()
    if not stat.S_ISREG(file_status.st_mode):  # a pipe or a device may never end
        raise UsageError(f"{path} is {'a folder' if stat.S_ISDIR(file_status.st_mode) else 'not a file'}")
    with path.open("rb") as file:
        data = file.read(max_bytes + 1) if file_status.st_size <= max_bytes else b""
    if file_status.st_size > max_bytes or len(data) > max_bytes:  # it may have grown since
        raise UsageError(
            f"{path} has more than {max_bytes / 1e6:,.0f} MB, and larger bundles are not verified: "
            "set bundles.max_mb higher if you trust it"
        )
    return data
