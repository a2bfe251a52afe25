"""Archives: their members as documents, and one warning for each kind of trouble."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_files import packed
from intake import read_into

from assay.core.ports.store import Store
from assay.evidence.ingest import IngestResult, units
from assay.fetch.text import CsvExtractor, TextExtractor
from assay.fetch.zip import ZipArchive


def read(store: Store, path: Path) -> IngestResult:
    return read_into(store, [path], [TextExtractor(), CsvExtractor()], archives=[ZipArchive()])


def test_members_are_documents_with_addresses_in_the_archive(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    inner = packed({"deep file.txt": b"Three."})
    path.write_bytes(packed({"a/one.txt": b"One.", "two.csv": b"a,b\nx,1\n", "in.zip": inner, "image.png": b"\0\1"}))
    found = read(store, path)
    documents = {each.name: each for each in store.library.documents(["c"])}
    assert {name: each.url.removeprefix(path.as_uri()) for name, each in documents.items()} == {
        "a/one.txt": "!/a/one.txt",
        "two.csv": "!/two.csv",
        "in.zip!/deep file.txt": "!/in.zip!/deep%20file.txt",
    }
    assert documents["two.csv"].syntax == "rows"
    snapshot = store.library.snapshot(documents["a/one.txt"].snapshot_sha256)
    assert snapshot is not None
    assert store.blobs.get(snapshot.sha256) == b"One."
    assert (found.files, found.documents, found.warnings) == (1, 3, ("skipped 1 file that is not text",))


def test_an_unchanged_archive_is_not_opened_again(store: Store, tmp_path: Path) -> None:
    (tmp_path / "all.zip").write_bytes(packed({"one.txt": b"One."}))
    read(store, tmp_path)
    again = read(store, tmp_path)
    assert (again.documents, again.added) == (1, 0)


def test_archives_too_deep_are_told_and_the_rest_is_read(store: Store, tmp_path: Path) -> None:
    deep = packed({"c.zip": packed({"three.txt": b"Three."}), "two.txt": b"Two."})
    (tmp_path / "a.zip").write_bytes(packed({"b.zip": deep, "one.txt": b"One."}))
    found = read(store, tmp_path)
    assert found.documents == 2
    assert found.warnings == (
        f"partly read {tmp_path / 'a.zip'}: b.zip!/c.zip: archives within archives, deeper than 2; unpack them first",
    )


def test_one_warning_for_a_kind_of_trouble(store: Store, tmp_path: Path) -> None:
    files = {f"{number}.txt": b"binary \0\0" for number in range(5)} | {"good.txt": b"Good."}
    (tmp_path / "a.zip").write_bytes(packed(files))
    found = read(store, tmp_path)
    assert found.documents == 1
    assert found.warnings == (f"partly read {tmp_path / 'a.zip'}: 0.txt, 1.txt, 2.txt and 2 more: binary, not text",)


@pytest.mark.parametrize(("cap", "most"), [("MAX_MEMBERS", 4), ("MAX_UNPACKED_BYTES", 4_000)])
def test_archives_within_an_archive_share_its_allowance(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cap: str, most: int
) -> None:
    monkeypatch.setattr(units, cap, most)
    inner = packed({f"{n}.txt": (f"text {n} " * 150).encode() for n in range(4)})
    (tmp_path / "a.zip").write_bytes(packed({f"{n}.zip": inner for n in range(4)}))
    found = read(store, tmp_path)
    assert 1 <= found.documents <= 4
    (warning,) = found.warnings
    assert warning.startswith(f"partly read {tmp_path / 'a.zip'}: ")
    assert "unpack it, and name the folder" in warning


def test_hostile_member_names_are_shown_and_never_written(store: Store, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.zip").write_bytes(packed({"../../evil.txt": b"Evil.", "/etc/evil\x1b.txt": b"Worse."}))
    before = sorted(tmp_path.rglob("*"))
    found = read(store, tmp_path / "in")
    assert "../../evil.txt: its path leads out of the archive" in found.warnings[0]
    names = [each.name for each in store.library.documents(["c"])]
    assert names == ["/etc/evil\ufffd.txt"]
    assert sorted(tmp_path.rglob("*")) == before
