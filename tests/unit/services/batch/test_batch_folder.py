"""The folder of a batch: rows survive a kill at any byte, one process has it, names are safe."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import StoreError, UsageError
from assay.services.batch.folder import RESULTS, STARTED, BatchFolder, BatchResult, file_name
from assay.services.batch.rows import BatchRow


def row(key: str, line: int = 1, status: str = "completed") -> BatchResult:
    return BatchResult(line=line, key=key, question="?", status=status)  # type: ignore[arg-type]


def test_a_row_cut_off_by_a_kill_is_as_if_never_written(tmp_path: Path):
    folder = BatchFolder(tmp_path)
    with folder.lock():
        folder.add(row("a"))
        folder.add(row("b", 2))
    whole = (tmp_path / RESULTS).read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        (tmp_path / RESULTS).write_bytes(whole[:cut])
        again = BatchFolder(tmp_path)
        with again.lock():
            assert list(again.results) == ["a"]
            again.add(row("c", 3))
        assert [msgspec.json.decode(line)["key"] for line in (tmp_path / RESULTS).read_bytes().splitlines()] == [
            "a",
            "c",
        ]


def test_the_last_word_on_an_order_counts_and_rows_are_put_in_order(tmp_path: Path):
    folder = BatchFolder(tmp_path)
    with folder.lock():
        folder.add(row("b", 2, "failed"))
        folder.add(row("a", 1))
        folder.add(row("b", 2))
        folder.sort_results()
    rows = [msgspec.json.decode(line, type=BatchResult) for line in (tmp_path / RESULTS).read_bytes().splitlines()]
    assert [(each.key, each.status) for each in rows] == [("a", "completed"), ("b", "completed")]


def test_one_process_at_a_time(tmp_path: Path):
    with (
        BatchFolder(tmp_path).lock(),
        pytest.raises(UsageError, match="another process"),
        BatchFolder(tmp_path).lock(),
    ):
        pass


def test_a_folder_of_something_else_is_refused(tmp_path: Path):
    (tmp_path / STARTED).write_text('{"mine": true}\n')
    with pytest.raises(UsageError, match="another folder"), BatchFolder(tmp_path).lock():
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"), BatchFolder(tmp_path / "file").lock():
        pass


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_file_name_is_a_name(question: str, id: str):
    name = file_name(BatchRow(line=1, key="k3", question=question, id=id), ".md")
    assert name.endswith("k3.md")
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-.")
    assert name.count(".") == 1
    assert len(name) < 60
