"""Hostile files: each gives exactly one warning which names it, and the good file beside it is read."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile_files import packed
from intake import read_into
from odd_readers import OddReader
from pdfs import column, pdf

from assay.core.errors import ExtractError
from assay.core.ports import Extractor
from assay.core.ports.store import Store
from assay.evidence.ingest import IngestResult
from assay.evidence.ingest.files import read_file
from assay.fetch.pdf import PdfExtractor
from assay.fetch.text import CsvExtractor, TextExtractor
from assay.fetch.workers import Workers
from assay.fetch.zip import ZipArchive

LARGEST = 20_000_000


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = Workers(2)
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a-good.txt").write_text("What is good is read.")
    (tmp_path / "z-good.txt").write_text("And so is what comes after.")
    return tmp_path


def read(store: Store, folder: Path, workers: Workers) -> IngestResult:
    extractors: list[Extractor] = [TextExtractor(), CsvExtractor()]
    extractors += [workers.isolate(PdfExtractor()), workers.isolate(OddReader(), 2.5)]
    return read_into(store, [folder], extractors, archives=[ZipArchive()], largest=LARGEST)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1024**3)


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's address is short
        try:
            server.bind(path.name)
        finally:
            os.chdir(here)


def of(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


HOSTILE: list[tuple[str, Callable[[Path], object], str]] = [
    ("locked.pdf", of(pdf([column("Secret.")], locked=True)), "encrypted; remove the password first"),
    ("damaged.pdf", of(b"%PDF-1.7\n\xff\xff"), "damaged, or not a PDF; open it in a viewer and save it again"),
    ("scanned.pdf", of(pdf([[], []])), "no text on its 2 pages, and no pictures either"),
    ("nul.csv", of(b"\0\1" * 500), "binary, not text"),
    ("nul.txt", of(b"text and then \0\0\0"), "binary, not text"),
    ("huge.txt", sparse, "larger than 20 MB (the setting documents.max_file_mb)"),
    ("huge.pdf", sparse, "larger than 20 MB (the setting documents.max_file_mb)"),
    ("huge.zip", sparse, "larger than 20 MB (the setting documents.max_file_mb)"),
    ("empty.pdf", of(b""), "empty"),
    ("pipe.txt", os.mkfifo, "not a regular file"),
    ("socket.txt", bound, "not a regular file"),
    ("self.txt", lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
    ("dangling.txt", lambda path: path.symlink_to("nowhere"), "No such file or directory"),
    ("around", lambda path: path.symlink_to("."), "a link to a folder; name it to read it"),
    ("device.txt", lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
    ("no.zip", of(b"no archive"), "damaged, or not a ZIP archive"),
    (
        "bomb.zip",
        of(packed({"bomb.txt": b"\0" * 15_000_000})),
        "bomb.txt: it unpacks to more than 250 times its size; unpack it first, if you trust it",
    ),
    ("hang.odd", of(b"hang"), "not read within 2.5 seconds; split it, or save it anew"),
    ("crash.odd", of(b"crash"), "its reader crashed (SIGSEGV); the file may be damaged"),
]


@pytest.mark.parametrize(("name", "make", "reason"), HOSTILE, ids=[name for name, _, _ in HOSTILE])
def test_one_warning_and_the_rest_goes_on(
    store: Store, folder: Path, workers: Workers, name: str, make: Callable[[Path], object], reason: str
) -> None:
    make(folder / name)
    found = read(store, folder, workers)
    assert found.warnings == (f"skipped {folder / name}: {reason}",)
    assert found.documents == 2


def test_folders_deeper_than_a_path_may_be(store: Store, folder: Path, workers: Workers) -> None:
    above = os.open(folder, os.O_RDONLY)
    for _ in range(30):
        os.mkdir("x" * 200, dir_fd=above)
        inside = os.open("x" * 200, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = inside
    os.close(above)
    done = read(store, folder, workers)
    assert done.documents == 2
    (warning,) = done.warnings
    assert warning.endswith("File name too long")


def test_wrong_encodings_are_read_all_the_same(store: Store, folder: Path, workers: Workers) -> None:
    (folder / "latin.txt").write_bytes("Größe und Maß".encode("latin-1"))
    (folder / "wide.csv").write_bytes("größe,maß\nein,zwei\n".encode("utf-16"))
    found = read(store, folder, workers)
    texts = [store.blobs.get(each.sha256).decode() for each in store.library.documents(["c"])]
    assert found.warnings == ()
    assert "Größe und Maß" in texts
    assert any("größe: ein | maß: zwei" in text for text in texts)


def test_a_name_which_is_no_text(store: Store, folder: Path, workers: Workers) -> None:
    path = os.fsencode(folder) + b"/caf\xe9.pdf"
    try:
        Path(os.fsdecode(path)).write_bytes(b"%PDF-")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    (warning,) = read(store, folder, workers).warnings
    assert "caf\ufffd.pdf: damaged" in warning
    warning.encode()


def test_a_pipe_which_takes_a_files_place_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "swapped.txt")
    with pytest.raises(ExtractError, match="not a regular file"):
        read_file(tmp_path / "swapped.txt", LARGEST, text=True)


class Growing:
    """A file to which something is appended as often as it is looked at."""

    def __init__(self, path: Path, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path, self.times, self.read = path, times, os.read
        monkeypatch.setattr(os, "read", self)

    def __call__(self, descriptor: int, size: int) -> bytes:
        data = self.read(descriptor, size)
        if data and self.times:
            self.times -= 1
            with self.path.open("ab") as file:
                file.write(b"more\n")
        return data


def test_a_file_which_changes_once_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.txt").write_bytes(b"first\n")
    Growing(tmp_path / "log.txt", 1, monkeypatch)
    content = read_file(tmp_path / "log.txt", LARGEST, text=False)
    assert content is not None
    assert content.data == b"first\nmore\n"


def test_a_file_which_goes_on_changing_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.txt").write_bytes(b"first\n")
    Growing(tmp_path / "log.txt", 50, monkeypatch)
    with pytest.raises(ExtractError, match="it changed while it was read; add it again"):
        read_file(tmp_path / "log.txt", LARGEST, text=False)
