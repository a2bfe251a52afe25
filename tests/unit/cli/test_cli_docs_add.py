"""`assay docs add`: files of all kinds, and few words about many which cannot be read."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from pdfs import column, pdf

from assay.cli.main import main

SCANNED = 8


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    made = tmp_path / "in"
    made.mkdir()
    (made / "paper.pdf").write_bytes(pdf([column("The bridge was opened in 1911.")]))
    (made / "table.csv").write_text("country,capital\nFrance,Paris\n")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("note.txt", "A note.")
    (made / "all.zip").write_bytes(stream.getvalue())
    for number in range(SCANNED):
        (made / f"scan{number}.pdf").write_bytes(pdf([[]]))
    return made


def add(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["docs", "add", *arguments]) == 0
    return capsys.readouterr().err.splitlines()


def test_many_with_one_trouble_share_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = add(capsys, str(folder))
    (warning,) = [line for line in lines if line.startswith("warning: ")]
    assert warning.startswith(f"warning: skipped {SCANNED} files: no text on its 1 page (scanned?")
    assert warning.endswith("scan2.pdf and 5 more")
    assert lines[-1] == "3 documents from 3 files, 3 of them new"


def test_verbose_names_them_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warnings = [line for line in add(capsys, "-v", str(folder)) if line.startswith("warning: ")]
    assert [Path(line.partition(": ")[2].partition(":")[0]).name for line in warnings] == [
        f"scan{number}.pdf" for number in range(SCANNED)
    ]
