"""Temporary folders of processes: which are left alone, and which are deleted."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote_plus

import pytest

from assay.run.process import this_process
from assay.services.home_paths import PREFIX, delete_stale_folders, scratch_folder

DYING = """import os
from assay.services.home_paths import scratch_folder
print(scratch_folder(), flush=True)
os._exit(9)"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_folders_of_ended_processes_of_this_machine_are_deleted_and_no_others(temporary: Path) -> None:
    mine = scratch_folder()
    done = subprocess.run([sys.executable, "-c", DYING], stdout=subprocess.PIPE, check=False, text=True)
    left = Path(done.stdout.strip())
    (left / "repository").mkdir()
    (left / "repository" / "file").write_text("text")
    moved = temporary / f"{left.name}-gone"
    moved.mkdir()
    words = this_process().split()
    elsewhere = temporary / f"{PREFIX}{quote_plus(this_process().replace(words[3], 'another.host/1'))}.abc"
    unnamed = temporary / f"{PREFIX}abc"
    others = temporary / "assay-abc"
    for folder in (elsewhere, unnamed, others):
        folder.mkdir()
    delete_stale_folders()
    assert sorted(temporary.iterdir()) == sorted([mine, elsewhere, unnamed, others])
