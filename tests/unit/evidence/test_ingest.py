"""Files into the library: what is found, what is skipped, what is read once."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from intake import read_into

from assay.core.errors import ExtractError, NothingRead, StoreError, UsageError
from assay.core.ports.store import Store
from assay.core.sources import Extracted
from assay.evidence.ingest import IngestResult, ReadingProgress
from assay.store.blobs import MemoryBlobs


class Lines:
    """A document a line; a line `bad` cannot be read."""

    name = "lines/1"
    suffixes = (".lines", ".lines.gz", ".txt")
    media_type = "text/x-lines"

    def __init__(self) -> None:
        self.read: list[str] = []

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        self.read.append(name)
        if b"\0" in data:
            raise ExtractError("binary")
        for line in data.decode().splitlines():
            if line != "bad":
                yield Extracted(text=line, extractor=self.name, syntax="plain", body=f"body of {line}".encode())
        if "bad" in data.decode().splitlines():
            raise ExtractError("a row is bad")


class StillClock:
    def now(self) -> str:
        return "2026-01-02T03:04:05.000Z"

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        return None


def run(store: Store, *paths: str | Path, lines: Lines | None = None, **more: object) -> IngestResult:
    more.setdefault("collection", None)
    return read_into(store, paths, [lines or Lines()], clock=StillClock(), **more)  # type: ignore[arg-type]


def names(store: Store, collection: str) -> list[str]:
    return [store.blobs.get(found.sha256).decode() for found in store.library.documents([collection])]


def test_a_file_gives_documents_with_their_own_bodies(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one\ntwo\n")
    found = run(store, tmp_path / "a.lines", collection="default")
    assert (found.collection, found.documents, found.added, found.files, found.warnings) == ("default", 2, 2, 1, ())
    document = store.library.documents(["default"])[0]
    snapshot = store.library.snapshot(document.snapshot_sha256)
    assert snapshot is not None
    assert store.blobs.get(snapshot.sha256) == b"body of one"
    assert (snapshot.size, snapshot.fetched_at) == (11, "2026-01-02T03:04:05.000Z")
    assert (document.title, document.size, document.url) == ("a.lines", 3, (tmp_path / "a.lines").as_uri())


def test_without_a_collection_exactly_these(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one\n")
    (tmp_path / "b.lines").write_text("two\n")
    run(store, tmp_path, collection="default")
    only = run(store, tmp_path / "b.lines")
    assert names(store, only.collection) == ["two"]
    assert run(store, tmp_path / "b.lines").collection == only.collection


def test_an_unchanged_file_is_not_read_again(store: Store, tmp_path: Path) -> None:
    file, lines = tmp_path / "a.lines", Lines()
    file.write_text("one\n")
    run(store, file, lines=lines, collection="x")
    again = run(store, file, lines=lines, collection="y")
    assert (lines.read, again.documents, again.added) == (["a.lines"], 1, 0)
    assert names(store, "y") == ["one"]
    file.write_text("one\nmore\n")
    assert run(store, file, lines=lines, collection="x").added == 1


def test_folders_are_sorted_and_hidden_files_left_out(store: Store, tmp_path: Path) -> None:
    for name in ("b/x.lines", "a/x.lines", ".hidden/x.lines", "a/.x.lines", "a/~$x.lines", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    found = run(store, tmp_path, collection="c")
    assert names(store, "c") == ["c.txt", "a/x.lines", "b/x.lines"]
    assert found.warnings == ()


def test_globs(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one")
    (tmp_path / "b.txt").write_text("two")
    assert run(store, f"{tmp_path}/*.lines").documents == 1


def test_a_name_with_brackets_is_no_glob(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a[1].lines").write_text("one")
    assert run(store, tmp_path / "a[1].lines").documents == 1


@pytest.mark.parametrize("path", ["nowhere.txt", "no*.txt", "a\0b"])
def test_an_unknown_path_is_named(store: Store, path: str) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        run(store, path)


def test_odd_files_are_skipped_with_a_word_each(store: Store, tmp_path: Path) -> None:
    (tmp_path / "good.lines").write_text("one")
    (tmp_path / "huge.lines").write_text("x" * 2000)
    (tmp_path / "empty.lines").write_text("")
    (tmp_path / "binary.lines").write_bytes(b"\0\1")
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\0\0")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling.lines").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.lines")
    found = run(store, tmp_path, collection="c", largest=1000)
    assert names(store, "c") == ["one"]
    text = "\n".join(found.warnings)
    for part in ("huge.lines: larger", "empty.lines: empty", "binary.lines: binary", "dangling.lines: No such file"):
        assert part in text
    assert "pipe.lines: not a regular file" in text
    assert "skipped 2 files that are not text" in text
    assert "loop: a link to a folder" in text
    assert len(found.warnings) == 7


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_files_are_skipped(store: Store, tmp_path: Path) -> None:
    (tmp_path / "good.lines").write_text("one")
    (tmp_path / "secret.lines").write_text("two")
    (tmp_path / "secret.lines").chmod(0)
    found = run(store, tmp_path, collection="c")
    assert found.warnings == (f"skipped {tmp_path / 'secret.lines'}: Permission denied",)


def test_a_bad_row_does_not_cost_the_others(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one\nbad\ntwo\n")
    found = run(store, tmp_path / "a.lines", collection="c")
    assert names(store, "c") == ["one", "two"]
    assert found.warnings == (f"partly read {tmp_path / 'a.lines'}: a row is bad",)


def test_nothing_readable_is_an_error_which_says_why(store: Store, tmp_path: Path) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG\0\0")
    with pytest.raises(UsageError, match=r"image\.png: nothing reads this kind of file"):
        run(store, tmp_path / "image.png")


def test_an_unknown_kind_is_read_as_text(store: Store, tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("one")
    (tmp_path / "x.lines.gz").write_text("two")
    assert run(store, tmp_path, collection="c").documents == 2


def test_a_name_which_is_no_text_can_be_stored(store: Store, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.lines"
    try:
        Path(os.fsdecode(path)).write_text("one")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    run(store, tmp_path, collection="c")
    assert (
        json.dumps(store.library.documents(["c"])[0].name, ensure_ascii=False).encode() == '"caf\ufffd.lines"'.encode()
    )


def test_progress_counts_files_and_documents(store: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.lines").write_text(f"{name}1\n{name}2")
    seen: list[ReadingProgress] = []
    run(store, tmp_path, collection="c", progress=seen.append)
    assert [(one.file, one.files, one.documents) for one in seen] == [(1, 2, 2), (2, 2, 4)]


def test_many_documents_are_written_in_batches(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("\n".join(f"row {number}" for number in range(950)))
    found = run(store, tmp_path / "a.lines")
    assert (found.documents, store.library.last_row()) == (950, 950)
    stamp = store.library.stamps([str(tmp_path / "a.lines")]).get(str(tmp_path / "a.lines"))
    assert stamp is not None
    assert len(stamp.documents) == 950


class FullBlobs(MemoryBlobs):
    """Has no room for one text."""

    def put(self, data: bytes) -> str:
        if data == b"two":
            raise StoreError("the disk is full")
        return super().put(data)


def test_a_document_whose_bytes_cannot_be_stored_is_not_in_the_library(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one\ntwo\nthree")
    store = dataclasses.replace(store, blobs=FullBlobs())
    with pytest.raises(StoreError, match="the disk is full"):
        run(store, tmp_path / "a.lines")
    assert store.library.last_row() == 0


class OddSyntax(Lines):
    """An extractor of another package, made for nothing the segmenter reads."""

    def extract(self, data: bytes, name: str) -> Iterator[Extracted]:
        for found in super().extract(data, name):
            yield msgspec.structs.replace(found, syntax="text")  # type: ignore[arg-type]


def test_a_syntax_which_there_is_not_is_said_and_not_stored(store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.lines").write_text("one\n")
    with pytest.raises(NothingRead, match="lines/1 gives the syntax 'text'; it must be one of markdown, plain"):
        run(store, tmp_path / "a.lines", lines=OddSyntax(), collection="c")
    assert names(store, "c") == []
