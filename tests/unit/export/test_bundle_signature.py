"""Signed bundles: who made one is told by its signature alone, and no signature passes which does not belong to it."""

from __future__ import annotations

import asyncio
import base64
import functools
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from bundles import bundle_of_two_agents, failing, forged, members_of
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.export.bundle import check_bundle, sign_bundle
from assay.export.bundle.contents import MANIFEST, BundleMember, pack
from assay.export.bundle.signature import (
    SIGNATURE,
    PublicKey,
    create_secret_key,
    derive_public_key,
    public_key,
    sign_manifest,
    verify_signature,
)

SECRET, OTHER = create_secret_key(), create_secret_key()
TRUSTED: Mapping[str, PublicKey] = {"alice": derive_public_key(SECRET)}


@functools.cache
def bundle() -> bytes:
    """The bundle of a whole run; made once."""
    return asyncio.run(bundle_of_two_agents())


def with_signature(data: bytes, signature: bytes) -> bytes:
    """A bundle with this signature, and nothing else of it changed."""
    members = {**members_of(data), SIGNATURE: signature}
    manifest = BundleMember(MANIFEST, members.pop(MANIFEST))
    return pack([manifest, *(BundleMember(name, members[name]) for name in sorted(members))])


def manifest_of(data: bytes) -> bytes:
    return members_of(data)[MANIFEST]


def test_what_its_maker_signed_is_known_as_his() -> None:
    data = sign_bundle(bundle(), SECRET, "r1")
    found = check_bundle(data, signers=lambda: TRUSTED)
    assert found.ok
    assert (found.signature.state, found.signature.signer) == ("good", "alice")
    assert found.signature.key == str(derive_public_key(SECRET))
    assert found.signature.comment == "assay.bundle/1 run r1"
    assert data == sign_bundle(bundle(), SECRET, "r1")


def test_a_changed_report_with_a_new_manifest_is_consistent_and_not_what_was_signed() -> None:
    data = sign_bundle(bundle(), SECRET, "r1")
    source = members_of(data)["sources.json"].replace(b"file:", b"http:")
    changed = forged(bundle(), {"sources.json": source})
    assert manifest_of(changed) != manifest_of(data)
    assert failing(changed) == []  # it agrees with itself …
    kept = with_signature(changed, members_of(data)[SIGNATURE])
    found = check_bundle(kept, signers=lambda: TRUSTED)
    assert (found.ok, found.signature.state) == (False, "wrong")  # … and is not the one that was signed


def test_the_key_of_somebody_else_is_unknown_and_says_nothing_of_who_made_it() -> None:
    found = check_bundle(sign_bundle(bundle(), OTHER, "r1"), signers=lambda: TRUSTED)
    assert found.ok
    assert (found.signature.state, found.signature.signer, found.signature.key) == ("unknown", "", "")
    assert "who made the bundle was not checked" in next(c.notes[0] for c in found.checks if c.name == "signature")


def test_another_key_under_the_id_of_a_trusted_one_is_wrong() -> None:
    trusted = base64.b64decode(SECRET)
    pretended = base64.b64encode(trusted[:10] + base64.b64decode(OTHER)[10:]).decode()
    found = check_bundle(sign_bundle(bundle(), pretended, "r1"), signers=lambda: TRUSTED)
    assert (found.ok, found.signature.state) == (False, "wrong")


def test_the_signature_of_another_bundle_is_wrong() -> None:
    other = sign_manifest(b"{}\n", SECRET, "assay.bundle/1 run r2")
    found = check_bundle(with_signature(bundle(), other), signers=lambda: TRUSTED)
    assert (found.ok, found.signature.state) == (False, "wrong")


def test_a_bundle_without_a_signature_says_so() -> None:
    found = check_bundle(bundle(), signers=lambda: TRUSTED)
    assert (found.ok, found.signature.state) == (True, "none")
    assert "fetched_at" in found.claimed
    assert "url" in found.claimed


def test_settings_are_not_asked_where_there_is_no_signature() -> None:
    def fails() -> Mapping[str, PublicKey]:
        raise AssertionError("asked")

    assert check_bundle(bundle(), signers=fails).ok


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"\xff" * 200,
        lambda text: text[:-30],
        lambda text: text + b"more\n",
        lambda text: text.replace(b"untrusted comment: ", b"comment: "),
        lambda text: text.replace(b"\ntrusted comment: ", b"\ntrusted comment: \x1b[31m"),
        lambda text: b"\n".join([text.split(b"\n")[0], base64.b64encode(b"Ed" + b"1" * 72), *text.split(b"\n")[2:]]),
        lambda text: text + b"x" * 5_000,
    ],
    ids=["empty", "bytes", "cut", "longer", "comment", "control", "legacy", "huge"],
)
def test_what_is_no_signature_is_a_finding(change) -> None:  # type: ignore[no-untyped-def]
    signature = sign_manifest(manifest_of(bundle()), SECRET, "r")
    found = check_bundle(with_signature(bundle(), change(signature)), signers=lambda: TRUSTED)
    assert (found.ok, found.signature.state) == (False, "malformed")


@given(st.data())
def test_no_changed_letter_of_a_signature_passes(draw: st.DataObject) -> None:
    signature = sign_manifest(b"manifest", SECRET, "comment")
    first = signature.index(b"\n") + 1  # before it stands what anybody may change
    at = draw.draw(st.integers(first, len(signature) - 2))
    value = draw.draw(st.integers(32, 126).filter(lambda value: value != signature[at]))
    changed = signature[:at] + bytes([value]) + signature[at + 1 :]
    assert verify_signature(b"manifest", changed, TRUSTED).state != "good"


@given(st.binary(max_size=400))
def test_any_bytes_are_read_as_a_signature_without_a_crash(data: bytes) -> None:
    assert verify_signature(b"manifest", data, TRUSTED).state == "malformed"


@given(st.text(max_size=200))
def test_any_text_is_a_key_or_an_error(text: str) -> None:
    try:
        found = public_key(text)
    except UsageError:
        return
    assert public_key(str(found)) == found


def test_a_key_is_read_from_a_line_and_from_a_file_of_minisign() -> None:
    line = str(derive_public_key(SECRET))
    assert (
        public_key(line) == public_key(f"untrusted comment: minisign public key\n{line}\n") == derive_public_key(SECRET)
    )


@pytest.mark.skipif(shutil.which("minisign") is None, reason="minisign is not installed")
def test_minisign_accepts_what_is_signed_here(tmp_path: Path) -> None:
    for name, data in members_of(sign_bundle(bundle(), SECRET, "r1")).items():
        if name.startswith(MANIFEST):
            (tmp_path / name).write_bytes(data)
    command = ["minisign", "-Vm", MANIFEST, "-P"]
    right = subprocess.run([*command, str(derive_public_key(SECRET))], cwd=tmp_path, capture_output=True, timeout=300)
    wrong = subprocess.run([*command, str(derive_public_key(OTHER))], cwd=tmp_path, capture_output=True, timeout=300)
    assert (right.returncode, wrong.returncode) == (0, 1)
