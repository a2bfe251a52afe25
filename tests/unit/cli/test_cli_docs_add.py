"""`assay docs add`: files of all kinds, and few words about many which cannot be read."""

from __future__ import annotations

import io
import json
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
    alike = f"skipped {SCANNED} files, each for the same reason"
    assert warning.startswith(f"warning: {alike}: no text on its 1 page, and no pictures")
    assert warning.endswith("scan2.pdf and 5 more")
    assert lines[-1] == "3 documents from 3 files, 3 of them new; 8 skipped (`assay docs list --skipped`)"


def test_verbose_names_them_all(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    warnings = [line for line in add(capsys, "-v", str(folder)) if line.startswith("warning: ")]
    assert [Path(line.partition(": ")[2].partition(":")[0]).name for line in warnings] == [
        f"scan{number}.pdf" for number in range(SCANNED)
    ]


def skipped(capsys: pytest.CaptureFixture[str]) -> dict[str, tuple[str, bool]]:
    assert main(["docs", "list", "--skipped", "--json"]) == 0
    return {row["path"]: (row["reason"], row["partly"]) for row in json.loads(capsys.readouterr().out)}


def mixed(folder: Path) -> dict[str, tuple[str, bool]]:
    """A folder with one file of each trouble; what is to be said of it."""
    for scan in folder.glob("scan*"):
        scan.unlink()
    (folder / "empty.txt").write_bytes(b"")
    (folder / "look.css").write_text("a{}")
    (folder / "noise.bin").write_bytes(bytes(99))
    with zipfile.ZipFile(folder / "all.zip", "a") as archive:
        archive.writestr("in/noise.bin", bytes(99))
        archive.writestr("page.js", "go()")
    return {
        str(folder / "all.zip!/in/noise.bin"): ("not text", False),
        str(folder / "all.zip!/page.js"): ("a script of pages", False),
        str(folder / "empty.txt"): ("empty", False),
        str(folder / "look.css"): ("a style sheet", False),
        str(folder / "noise.bin"): ("not text", False),
    }


def test_what_was_skipped_is_named_and_listed_later(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = mixed(folder)
    lines = add(capsys, "-v", str(folder))
    for path, (reason, _) in wanted.items():
        assert sum(f"skipped {path}: {reason}" in line for line in lines) == 1
    assert lines[-1].endswith("; 5 skipped (`assay docs list --skipped`)")
    assert skipped(capsys) == wanted
    add(capsys, str(folder))  # the archive has not changed, and is not opened again
    assert skipped(capsys) == wanted
    assert main(["docs", "list", "--skipped"]) == 0
    assert f"{folder / 'look.css'}\tno\ta style sheet" in capsys.readouterr().out


def test_what_is_mended_is_skipped_no_more(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = mixed(folder)
    add(capsys, str(folder))
    (folder / "empty.txt").write_text("The lamp was lit in 1894.")
    (folder / "all.zip").unlink()
    assert main(["docs", "sync"]) == 0
    assert capsys.readouterr().err.splitlines()[-1].endswith("3 documents; 2 skipped (`assay docs list --skipped`)")
    assert skipped(capsys) == {
        path: why for path, why in wanted.items() if Path(path).name in ("look.css", "noise.bin") and "!/" not in path
    }


def test_where_nothing_was_skipped_that_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = add(capsys, str(folder / "table.csv"))
    assert lines[-1] == "1 document from 1 file, 1 of them new"
    assert main(["docs", "list", "--skipped"]) == 0
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "nothing was skipped\n")


def test_copies_are_named_until_they_are_gone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copies = [folder / "kept" / "a.csv", folder / "z.csv"]
    copies[0].parent.mkdir()
    for copy in copies:
        copy.write_bytes((folder / "table.csv").read_bytes())
    added = add(capsys, str(folder / "table.csv"), *map(str, copies), str(folder / "all.zip"))
    assert added[-1].endswith("2 copies")

    def named() -> list[list[str]]:
        assert main(["docs", "list", "--json"]) == 0
        return [each["copies"] for each in json.loads(capsys.readouterr().out)]

    assert [each for each in named() if each] == [list(map(str, copies))]
    assert main(["docs", "show", "table.csv"]) == 0
    assert f"copy        {copies[1]}" in capsys.readouterr().out
    assert main(["docs", "show", "table.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["copies"] == list(map(str, copies))
    copies[0].unlink()
    assert [each for each in named() if each] == [[str(copies[1])]]
