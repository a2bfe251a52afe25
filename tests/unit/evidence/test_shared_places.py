"""Places of documents in a library that machines share which have a folder in different places."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.ports.store import Store
from assay.evidence.ingest import FileReaders, IngestResult, IngestTarget, ingest
from assay.evidence.ingest.moves import is_gone
from assay.fetch.text import TextExtractor
from assay.run.process import SystemClock


@pytest.fixture
def mounts(tmp_path: Path) -> Path:
    """The folders of two machines, of which only one is there at a time."""
    for machine in ("ana", "bob"):
        folder = tmp_path / machine / "notes"
        folder.mkdir(parents=True)
        (folder / "tides.txt").write_text("The tide rises 5.2 metres.\n")
        (folder / "piers.txt").write_text("The pier is 90 metres long.\n")
    return tmp_path


def read(store: Store, mounts: Path, machine: str) -> IngestResult:
    """What one machine reads, while the folder of the other is not there."""
    (other,) = {"ana", "bob"} - {machine}
    (mounts / other).rename(mounts / "elsewhere")
    try:
        target = IngestTarget(
            library=store.library, blobs=store.blobs, clock=SystemClock(), collection="c", is_shared=True
        )
        return ingest([mounts / machine / "notes"], target, FileReaders(extractors=[TextExtractor()]))
    finally:
        (mounts / "elsewhere").rename(mounts / other)


def addresses(store: Store) -> list[str]:
    return sorted(each.url for each in store.library.documents(["c"]))


def test_a_document_that_another_machine_has_elsewhere_was_not_moved(store: Store, mounts: Path) -> None:
    first = sorted(path.as_uri() for path in (mounts / "ana" / "notes").iterdir())
    for number, machine in enumerate(("ana", "bob", "ana", "bob")):
        done = read(store, mounts, machine)
        assert done.moved == ()
        assert addresses(store) == first
        assert len(done.unchanged) == (2 if number > 1 else 0), "what each has read is not read again"


def test_a_document_that_a_machine_moved_within_its_folder_was(store: Store, mounts: Path) -> None:
    read(store, mounts, "ana")
    notes = mounts / "ana" / "notes"
    (notes / "deep").mkdir()
    (notes / "tides.txt").rename(notes / "deep" / "tides.txt")
    assert len(read(store, mounts, "ana").moved) == 1
    assert addresses(store) == [(notes / "deep" / "tides.txt").as_uri(), (notes / "piers.txt").as_uri()]


def test_an_empty_folder_may_be_one_where_a_drive_is_mounted(tmp_path: Path) -> None:
    file = (tmp_path / "drive" / "a.txt").as_uri()
    (tmp_path / "drive").mkdir()
    assert (is_gone(file), is_gone(file, is_shared=True)) == (True, False)
    (tmp_path / "drive" / "b.txt").touch()
    assert is_gone(file, is_shared=True)
