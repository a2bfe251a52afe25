"""Blobs on disk: where they lie, and what happens when they are damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import zstandard

from assay.core.errors import StoreError
from assay.core.sources import sha256
from assay.store.blobs import FolderBlobs


@pytest.fixture
def blobs(tmp_path: Path) -> FolderBlobs:
    return FolderBlobs(tmp_path / "blobs")


def only_file(folder: Path) -> Path:
    (found,) = [path for path in folder.rglob("*") if path.is_file()]
    return found


def test_a_blob_is_a_zstd_file_named_by_its_hash(blobs, tmp_path):
    name = blobs.put(b"hello" * 100)
    path = only_file(tmp_path)
    assert path == tmp_path / "blobs" / name[:2] / f"{name[2:]}.zst"
    assert zstandard.ZstdDecompressor().decompress(path.read_bytes()) == b"hello" * 100
    assert path.stat().st_size < 100


def test_storing_again_writes_nothing(blobs, tmp_path):
    blobs.put(b"x")
    before = only_file(tmp_path).stat()
    blobs.put(b"x")
    after = only_file(tmp_path).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize(
    "damage",
    [
        lambda packed: packed[:-3],
        lambda packed: packed[:10] + bytes([packed[10] ^ 255]) + packed[11:],
        lambda packed: b"not zstd at all",
        lambda packed: zstandard.ZstdCompressor().compress(b"something else"),
        lambda packed: packed[:4] + b"\xe0" + b"\xff" * 8 + packed[5:],  # a header which promises 16 exabytes
    ],
    ids=["cut", "flipped", "foreign", "swapped", "bomb"],
)
def test_damage_is_detected_and_the_file_named(blobs, tmp_path, damage):
    name = blobs.put(bytes(range(256)) * 4)
    path = only_file(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(StoreError, match="is damaged: delete it") as error:
        blobs.get(name)
    assert str(path) in str(error.value)


def test_an_empty_file_is_no_blob_and_is_written_again(blobs, tmp_path):
    name = blobs.put(b"content")
    only_file(tmp_path).write_bytes(b"")  # as a power cut may leave it
    assert not blobs.has(name)
    with pytest.raises(StoreError):
        blobs.get(name)
    assert blobs.put(b"content") == name
    assert blobs.get(name) == b"content"


def test_a_folder_that_cannot_be_written_says_so(tmp_path):
    (tmp_path / "blobs").write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="cannot be written"):
        FolderBlobs(tmp_path / "blobs").put(b"x")


def test_a_blob_that_cannot_be_read_says_so(blobs, tmp_path):
    name = sha256(b"x")
    (tmp_path / "blobs" / name[:2] / f"{name[2:]}.zst").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be read"):
        blobs.get(name)


def test_what_others_share_is_young_again_when_it_is_stored_again(tmp_path):
    blobs = FolderBlobs(tmp_path, owner=lambda: "me")
    name = blobs.put(b"x")
    path = tmp_path / name[:2] / f"{name[2:]}.zst"
    os.utime(path, (1, 1))
    assert (blobs.age(name) or 0) > 1_000_000
    FolderBlobs(tmp_path, owner=lambda: "you").put(b"x")
    assert (blobs.age(name) or 0) < 1_000
    assert blobs.owners() == {"me", "you"}
    assert [each.name for each in blobs.list_blobs()] == [name]
