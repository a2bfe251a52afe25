"""A disk which fills up, and one which cannot be written: a clear error, and nothing stored is lost."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import small_disks
import warm
from shells import apart

pytestmark = pytest.mark.slow

QUESTIONS = "".join(f"How deep is the harbor? ({number})\n" for number in range(5))


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "harbor.md").write_text("# Harbor\n\nThe harbor is nine metres deep. It is 80 metres wide.\n")
    (tmp_path / "q.jsonl").write_text(QUESTIONS)
    return tmp_path


def assay(*arguments: str, **limits: int) -> subprocess.CompletedProcess[str]:
    return warm.run(*arguments, limits=limits)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def refused(done: subprocess.CompletedProcess[str]) -> None:
    """It failed, in a sentence."""
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr


def test_files_which_may_not_grow_end_a_batch_which_goes_on_later(place: Path):
    line = ["batch", "q.jsonl", "-o", "out", "--in", "harbor.md", "--depth", "light"]
    assert assay(*line, "--max-tokens", "5k").returncode == 5
    size = (place / "home" / "assay.db").stat().st_size
    refused(assay(*line, RLIMIT_FSIZE=size + 40_000))
    checked = assay("db", "check")
    assert checked.returncode == 0, checked.stdout
    assert assay(*line).returncode == 0
    found = rows(place / "out")
    assert len(found) == 5
    assert {row["status"] for row in found} == {"completed"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 12 MB."""
    with small_disks.small_disk(tmp_path / "disk") as folder:
        yield folder


def test_a_disk_which_fills_up_loses_nothing(place: Path, small_disk: Path):
    home = ["--home", str(small_disk / "home")]
    done = assay("How wide is the harbor?", "--in", "harbor.md", "--depth", "light", "--yes", *home)
    assert done.returncode == 0, done.stderr
    before = json.loads(assay("runs", "list", "--json", *home).stdout)
    filler = small_disk / "filler"
    small_disks.fill(filler)
    refused(assay("How deep is the harbor?", "--in", "harbor.md", "--depth", "light", "--yes", *home))
    refused(assay("db", "backup", str(small_disk / "copy.zip"), *home))
    filler.unlink()
    after = json.loads(assay("runs", "list", "--json", *home).stdout)
    assert [each["run_id"] for each in before] == [each["run_id"] for each in after[-1:]]
    assert assay("db", "check", *home).returncode == 0
    assert not (small_disk / "copy.zip").exists()


def test_a_disk_which_cannot_be_written_says_so(place: Path, small_disk: Path):
    home = ["--home", str(small_disk / "home")]
    assert assay("docs", "add", "harbor.md", *home).returncode == 0
    small_disks.make_read_only(small_disk)
    failed = assay("How deep is the harbor?", "--yes", *home)
    refused(failed)
    assert "permissions" in failed.stderr or "written" in failed.stderr
    failed = assay("schedule", "add", "Why?", "--every", "1d", *home)
    refused(failed)
    assert "cannot be written" in failed.stderr
    failed = assay("batch", "q.jsonl", "-o", str(small_disk / "out"), *home)
    refused(failed)
    assert "cannot be written" in failed.stderr
