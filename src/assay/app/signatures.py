"""The key for signing bundles and the trusted signers, as in the settings. Blocking."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay import settings
from assay.core.errors import ConfigError, UsageError
from assay.export import bundle
from assay.export.bundle import signature
from assay.export.bundle.signature import PublicKey
from assay.settings import file

SECRET = "signing.key"  # the name of a setting
OWN = "you"
"""The name of the signer whose key is in these settings."""
LARGEST_KEY = 10_000


def create(*, replace: bool) -> tuple[PublicKey, Path]:
    """Create a key for signing and store it in the settings file; return its public half, and the file.

    Raises:
        UsageError: there is one already, and `replace` is not set.
        ConfigError: the settings cannot be read or written.
    """
    if settings.load().signing.key is not None and not replace:
        raise UsageError(
            "there is a key for signing already (`assay keys sign show`): with --replace it is lost, and nothing can "
            "be signed with it any more"
        )
    secret = signature.create()
    return signature.public_of(secret), file.write(SECRET, secret)


def own_key() -> PublicKey:
    """The public half of the key for signing bundles.

    Raises:
        UsageError: there is none, or it is not valid.
        ConfigError: the settings cannot be read.
    """
    return signature.public_of(_secret())


def signed(data: bytes, run_id: str) -> bytes:
    """Sign a new bundle.

    Raises:
        UsageError: there is no key for signing.
        ConfigError: the settings cannot be read.
    """
    return bundle.signed(data, _secret(), run_id)


def trust(name: str, key: str) -> tuple[PublicKey, Path]:
    """Trust signatures by a public key, given as a line or a file, under a name.

    Raises:
        UsageError: it is not a public key.
        ConfigError: the name is not valid, or the settings cannot be written.
    """
    read = _public_key(key)
    settings.load(signing={"trusted": {name: str(read)}})
    return read, file.write(f"signing.trusted.{name}", str(read))


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
    found = dict[str, PublicKey]()
    configured = settings.load().signing
    for name, key in configured.trusted.items():
        try:
            found[name] = signature.public_key(key)
        except UsageError as error:
            raise ConfigError(f"correct the setting signing.trusted.{name}: {error}") from error
    if configured.key is not None:
        found[OWN] = signature.public_of(configured.key.get_secret_value())
    return found


def signer(named: str) -> Mapping[str, PublicKey]:
    """The one signer a command names: by a public key, a file with one, or a name in the settings.

    Raises:
        UsageError: there is no such name, and it is not a key.
        ConfigError: the settings cannot be read.
    """
    try:
        return {named: _public_key(named)}
    except UsageError:
        known = signers()
        if named in known:
            return {named: known[named]}
        whom = f" ({', '.join(known)})" if known else ""
        raise UsageError(
            f"{named} is not a public key, a file with one, or someone you trust{whom}: name somebody with "
            "`assay keys sign trust NAME KEY`"
        ) from None


def _secret() -> str:
    key = settings.load().signing.key
    if key is None:
        raise UsageError("there is no signing key: create one with `assay keys sign create`")
    return key.get_secret_value()


def _public_key(key: str) -> PublicKey:
    try:
        return signature.public_key(key)
    except UsageError:
        try:
            with Path(key).open(encoding="ascii") as opened:
                text = opened.read(LARGEST_KEY)
        except (OSError, ValueError):
            raise UsageError(f"{key} is not a public key or a file with one: give one of them") from None
        return signature.public_key(text)
