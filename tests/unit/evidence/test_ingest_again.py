"""Reading again: what has changed, what has not, newer extractors, and an ingest which was interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from intake import read_into

from assay.core.errors import ExtractError
from assay.core.ports.store import Store
from assay.core.sources import Extracted
from assay.evidence.ingest import IngestResult, ReadingProgress
from assay.evidence.ingest.units import AHEAD_UNITS
from assay.fetch.text import TextExtractor
from assay.store.blobs import blob_path
from assay.store.memory import memory_store
from assay.store.sql import open_store


class Counting:
    """Counts what it reads; a line `bad` cannot be read."""

    suffixes = (".txt",)
    media_type = "text/plain"
    isolated = False

    def __init__(self, version: int = 1) -> None:
        self.name = f"counting/{version}"
        self.read: list[str] = []

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        self.read.append(name)
        yield Extracted(text=data.decode(), extractor=self.name, syntax="plain")
        if data.endswith(b"bad"):
            raise ExtractError("a part is bad")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return memory_store() if request.param == "memory" else open_store(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "in"
    made.mkdir()
    for number in range(60):
        (made / f"{number:03}.txt").write_text(f"Text {number}.")
    return made


def read(store: Store, path: Path, extractor: Counting, **more: object) -> IngestResult:
    return read_into(store, [path], [extractor], **more)  # type: ignore[arg-type]


def test_only_what_changed_is_read_again(store: Store, folder: Path) -> None:
    read(store, folder, Counting())
    (folder / "007.txt").write_text("Another text.")
    os.utime(folder / "008.txt", ns=(1, 1))
    again = Counting()
    found = read(store, folder, again)
    assert again.read == ["007.txt", "008.txt"]
    assert (found.files, found.documents, found.added) == (60, 60, 1)


def test_a_newer_extractor_reads_again(store: Store, folder: Path) -> None:
    read(store, folder, Counting())
    same, newer = Counting(), Counting(version=2)
    read(store, folder, same)
    read(store, folder, newer)
    assert (len(same.read), len(newer.read)) == (0, 60)


def test_what_was_said_of_a_partly_read_file_is_said_again(store: Store, folder: Path) -> None:
    (folder / "005.txt").write_text("good and bad")
    first, extractor = read(store, folder, Counting()), Counting()
    assert first.warnings == (f"partly read {folder / '005.txt'}: a part is bad",)
    assert read(store, folder, extractor).warnings == first.warnings
    assert extractor.read == []


class Interrupted(Exception):
    """Stands for Ctrl-C."""


def test_what_was_read_before_an_interruption_is_not_read_again(store: Store, folder: Path) -> None:
    def stop(progress: ReadingProgress) -> None:
        if progress.file == 25:
            raise Interrupted

    first, second = Counting(), Counting()
    with pytest.raises(Interrupted):
        read(store, folder, first, progress=stop)
    assert store.library.last_row() >= 25
    found = read(store, folder, second)
    assert (found.files, found.documents) == (60, 60)
    assert len(second.read) == 60 - 25
    assert len(first.read) <= 25 + AHEAD_UNITS


KILLED = textwrap.dedent("""
    import sys, time
    from pathlib import Path
    from assay.evidence.ingest import FileReaders, IngestTarget, ingest
    from assay.fetch.text import TextExtractor
    from assay.run.process import SystemClock
    from assay.store.sql import open_store

    class Hasty(SystemClock):
        seconds = 0.0
        def monotonic(self):
            self.seconds += 1.0
            return self.seconds

    store = open_store(Path(sys.argv[1]))
    def wait(progress):
        if progress.file == 40:
            print("here", flush=True)
            time.sleep(600)
    target = IngestTarget(library=store.library, blobs=store.blobs, clock=Hasty(), collection="c")
    ingest([sys.argv[2]], target, FileReaders(extractors=[TextExtractor()]), progress=wait)
""")


def test_a_killed_ingest_goes_on_from_its_last_batch(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "killed"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(home), str(folder)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    store = open_store(home)
    kept = store.library.last_row()
    assert kept >= 30
    found = read_into(store, [folder], [TextExtractor()])
    assert (found.documents, found.added) == (60, 60 - kept)


def test_copies_are_counted_and_named(store: Store, folder: Path) -> None:
    (folder / "x.txt").write_text("Text 0.")
    (folder / "y.txt").write_text("Text 7.")
    for _ in range(2):
        done = read(store, folder, Counting())
        assert (done.documents, done.files, done.copies) == (60, 62, 2)
        assert f"{folder / 'y.txt'} is a copy of {folder / '007.txt'}" in done.notes


class Quoting(Counting):
    """Its text is not the file's."""

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        self.read.append(name)
        yield Extracted(text=f"“{data.decode()}”", extractor=self.name, syntax="plain")


@pytest.mark.parametrize("lost", ["text", "snapshot"])
def test_a_file_whose_stored_bytes_are_gone_is_read_again(folder: Path, tmp_path: Path, lost: str) -> None:
    store = open_store(tmp_path / "home")
    first, second = Quoting(), Quoting()
    read(store, folder, first)
    document = next(each for each in store.library.documents(["c"]) if each.name == "007.txt")
    name = document.sha256 if lost == "text" else document.snapshot_sha256
    (tmp_path / "home" / "blobs" / blob_path(name)).unlink()
    found = read(store, folder, second)
    assert (found.documents, found.added, second.read) == (60, 0, ["007.txt"])
    assert store.blobs.get(document.sha256).decode() == "“Text 7.”"
    assert store.blobs.get(document.snapshot_sha256) == b"Text 7."


def test_what_is_read_again_from_elsewhere_is_stored_again(folder: Path, tmp_path: Path) -> None:
    store = open_store(tmp_path / "home")
    read(store, folder, Counting())
    (document, *_) = store.library.documents(["c"])
    (tmp_path / "home" / "blobs" / blob_path(document.sha256)).unlink()
    copy = tmp_path / "copy.txt"
    copy.write_text("Text 0.")
    assert read(store, copy, Counting()).added == 0
    assert store.blobs.get(document.sha256) == b"Text 0."
