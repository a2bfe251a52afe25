"""The signature of a bundle: an Ed25519 signature over its manifest, in minisign's form.

The manifest has the hash of every other member, so its signature covers the bundle. The signature is a separate member,
`MANIFEST.json.minisig`: unpack it with any zip program, and `minisign -Vm MANIFEST.json -P KEY` checks it without
Assay.

    untrusted comment: …                                 anybody may change this line
    base64("ED" + 8 bytes of key id + 64 bytes)          Ed25519 over BLAKE2b-512 of the manifest
    trusted comment: …                                   a comment by the signer
    base64(64 bytes)                                     Ed25519 over the first signature and the trusted comment

A public key is base64("Ed" + key id + 32 bytes), a secret key here base64("Ed" + key id + 32 bytes of seed).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import msgspec

from assay.core.errors import UsageError
from assay.core.lazy import lazy_module

if TYPE_CHECKING:
    import cryptography.exceptions as exceptions
    import cryptography.hazmat.primitives.asymmetric.ed25519 as ed25519
else:
    exceptions = lazy_module("cryptography.exceptions")
    ed25519 = lazy_module("cryptography.hazmat.primitives.asymmetric.ed25519")

SIGNATURE = "MANIFEST.json.minisig"
MAX_SIGNATURE_BYTES = 2_000
"""The most bytes of a signature: minisign writes about 300."""

_KEY, _HASHED = b"Ed", b"ED"
_ID, _PUBLIC, _SIGNED = 8, 32, 64
_UNTRUSTED, _TRUSTED = "untrusted comment: ", "trusted comment: "

SignatureState = Literal["none", "good", "unknown", "wrong", "malformed"]
"""No signature; that of a trusted key; that of an unknown key; one that does not match; one that cannot be read."""


class BundleSignature(msgspec.Struct, frozen=True, kw_only=True):
    """The result of checking a bundle's signature.

    `key_id` is the one in the signature; a forger can write any, so it proves nothing unless `state` is "good".
    `signer` is the name of a good signature's key in the settings, `key` the key itself, `comment` the signed comment.
    """

    state: SignatureState
    key_id: str = ""
    signer: str = ""
    key: str = ""
    comment: str = ""


class PublicKey(msgspec.Struct, frozen=True):
    """A key that checks signatures: its id and its 32 bytes."""

    id: bytes
    point: bytes

    def __str__(self) -> str:
        return base64.b64encode(_KEY + self.id + self.point).decode()

    @property
    def name(self) -> str:
        """The id in minisign's notation."""
        return _id_text(self.id)


def create_secret_key() -> str:
    """Create a secret key."""
    return base64.b64encode(_KEY + os.urandom(_ID) + os.urandom(_PUBLIC)).decode()


def public_key(text: str) -> PublicKey:
    """A public key in minisign's form: one line of base64, or a file of two lines.

    Raises:
        UsageError: it is none.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith(_UNTRUSTED)]
    data = _decode(lines[0], _KEY, _ID + _PUBLIC) if len(lines) == 1 else None
    if data is None:
        raise UsageError(
            "this is not a public key: a public key is a line of 56 letters, as `assay keys sign show` prints it"
        )
    return PublicKey(data[:_ID], data[_ID:])


def derive_public_key(secret: str) -> PublicKey:
    """The public key of a secret key.

    Raises:
        UsageError: it is no secret key.
    """
    id, seed = _secret(secret)
    return PublicKey(id, ed25519.Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw())


def sign_manifest(manifest: bytes | memoryview, secret: str, comment: str) -> bytes:
    """The signature of a manifest; the same bytes for the same key, manifest and comment.

    Raises:
        UsageError: it is no secret key.
    """
    id, seed = _secret(secret)
    key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    first = key.sign(_hash_manifest(manifest))
    second = key.sign(first + comment.encode())
    lines = (
        f"{_UNTRUSTED}signature of an Assay bundle's manifest, key {_id_text(id)}",
        base64.b64encode(_HASHED + id + first).decode(),
        f"{_TRUSTED}{comment}",
        base64.b64encode(second).decode(),
    )
    return "".join(f"{line}\n" for line in lines).encode()


def verify_signature(
    manifest: bytes | memoryview, signature: bytes | memoryview, signers: Mapping[str, PublicKey]
) -> BundleSignature:
    """Check a signature against the trusted `signers`, by their names in the settings."""
    parts = _read(signature)
    if parts is None:
        return BundleSignature(state="malformed")
    id, first, comment, second = parts
    keys = {name: key for name, key in signers.items() if key.id == id}
    for name, key in keys.items():
        if _is_valid(key, first, _hash_manifest(manifest)) and _is_valid(key, second, first + comment.encode()):
            return BundleSignature(state="good", key_id=_id_text(id), signer=name, key=str(key), comment=comment)
    return BundleSignature(state="wrong" if keys else "unknown", key_id=_id_text(id))


def _read(signature: bytes | memoryview) -> tuple[bytes, bytes, str, bytes] | None:
    """Key id, first signature, trusted comment and second signature; None if minisign would not have written it."""
    if len(signature) > MAX_SIGNATURE_BYTES:
        return None
    try:
        lines = str(signature, "utf-8").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        return None
    if len(lines) != 4 or not lines[0].startswith(_UNTRUSTED) or not lines[2].startswith(_TRUSTED):
        return None
    first, second = _decode(lines[1], _HASHED, _ID + _SIGNED), _decode(lines[3], b"", _SIGNED)
    comment = lines[2].removeprefix(_TRUSTED)
    if first is None or second is None or not comment.isprintable():
        return None
    return first[:_ID], first[_ID:], comment, second


def _is_valid(key: PublicKey, signature: bytes, data: bytes) -> bool:
    try:
        ed25519.Ed25519PublicKey.from_public_bytes(key.point).verify(signature, data)
    except (exceptions.InvalidSignature, ValueError):
        return False
    return True


def _secret(text: str) -> tuple[bytes, bytes]:
    data = _decode(text.strip(), _KEY, _ID + _PUBLIC)
    if data is None:
        raise UsageError("signing.key is not a signing key: create one with `assay keys sign create --replace`")
    return data[:_ID], data[_ID:]


def _decode(text: str, sign: bytes, size: int) -> bytes | None:
    """The base64 data after `sign`, of exactly that many bytes."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data[len(sign) :] if data.startswith(sign) and len(data) == len(sign) + size else None


def _hash_manifest(manifest: bytes | memoryview) -> bytes:
    return hashlib.blake2b(manifest).digest()


def _id_text(id: bytes) -> str:
    return id[::-1].hex().upper()
