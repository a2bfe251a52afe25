"""Of a folder nothing is read which is not in it: links out of it, and links put in place while it is read."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from intake import read_into

from assay.core.errors import ExtractError
from assay.evidence.ingest import IngestResult
from assay.evidence.ingest.files import find_files, read_file
from assay.fetch.text import TextExtractor
from assay.store.memory import memory_store

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
LARGEST = 1_000_000
SECRET = b"What nobody named."
ROUNDS = 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place, text in ((tmp_path / "folder", b"What was named."), (tmp_path / "outside", SECRET)):
        (place / "below").mkdir(parents=True)
        (place / "a.txt").write_bytes(text)
        (place / "below" / "b.txt").write_bytes(text)
    return tmp_path / "folder"


def added(folder: Path) -> IngestResult:
    return read_into(memory_store(), [folder], [TextExtractor()])


def test_a_link_out_of_a_folder_is_told_and_one_within_is_read(folder: Path) -> None:
    (folder / "out.txt").symlink_to(folder.parent / "outside" / "a.txt")
    (folder / "within.txt").symlink_to(folder / "below" / "b.txt")
    found = added(folder)
    assert found.warnings == (f"skipped {folder / 'out.txt'}: a link that leads out of the folder; name it to read it",)
    assert set(found.given) == {str(folder / name) for name in ("a.txt", "below/b.txt", "within.txt")}


def test_a_link_which_is_named_is_read(folder: Path) -> None:
    (folder / "out.txt").symlink_to(folder.parent / "outside" / "a.txt")
    (file,), _ = find_files([folder / "out.txt"])
    content = read_file(file.path, LARGEST, text=True, folder=file.folder)
    assert content is not None
    assert content.data == SECRET


def test_a_folder_which_is_a_link_and_named_is_read(folder: Path) -> None:
    (folder.parent / "linked").symlink_to(folder)
    assert added(folder.parent / "linked").documents == 1  # one text, twice


@contextmanager
def swapping(path: Path, other: Path) -> Iterator[None]:
    """`path` is by turns what it was and a link to `other`, as fast as may be."""
    kept, ended = path.with_name(f".{path.name}"), threading.Event()

    def swap() -> None:
        while not ended.is_set():
            os.rename(path, kept)
            os.symlink(other, path)
            os.unlink(path)
            os.rename(kept, path)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", ["a.txt", "below"])
def test_a_link_which_takes_a_place_while_a_folder_is_read_leads_nowhere(name: str, folder: Path) -> None:
    seen: list[bytes] = []
    with swapping(folder / name, folder.parent / "outside" / name):
        for _ in range(ROUNDS):
            files, _ = find_files([folder])
            for file in files:
                with suppress(OSError, ExtractError):
                    content = read_file(file.path, LARGEST, text=True, folder=file.folder)
                    seen += [] if content is None else [content.data]
    assert len(seen) >= ROUNDS  # the other file, each time
    assert set(seen) == {b"What was named."}
