"""`assay extract` as a command."""

import json
from pathlib import Path

import pytest
import warm
from shells import Command, apart, spoken


@pytest.fixture
def assay(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    apart(tmp_path, monkeypatch)
    return spoken(capsys)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.md"
    path.write_text("# Tides\n\nThe tide rose by 3 m.\n", encoding="utf-8")
    return path


def test_the_text_goes_to_stdout_and_what_is_known_to_stderr(assay: Command, notes: Path, tmp_path: Path):
    done = assay("extract", notes)
    assert done.returncode == 0, done.stderr
    assert done.stdout == notes.read_text(encoding="utf-8")
    assert "Tides · text/markdown" in done.stderr
    assert "· markdown/2" in done.stderr
    assert not (tmp_path / "home").exists()  # nothing is kept


def test_a_json_line_each_in_order_and_1_when_one_failed(assay: Command, notes: Path, tmp_path: Path):
    missing = tmp_path / "missing.md"
    done = assay("extract", "--json", missing, notes)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1
    assert [row["file"] for row in rows] == [str(missing), str(notes)]
    assert "no file or folder" in rows[0]["reason"]
    assert rows[1]["text"] == notes.read_text(encoding="utf-8")
    assert [block["kind"] for block in rows[1]["blocks"]] == ["heading", "paragraph"]


@pytest.mark.parametrize("left_out", [None, "picture.png", ".hidden.md"])
def test_a_folder_with_nothing_to_read_is_said(assay: Command, tmp_path: Path, left_out: str | None):
    folder = tmp_path / "empty"
    folder.mkdir()
    if left_out:
        (folder / left_out).write_bytes(b"\x89PNG\x00")
    done = assay("extract", folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"{folder}: nothing in it can be read: name files, folders or pages with text (")
    row = json.loads(assay("extract", "--json", folder).stdout)
    assert row["file"] == str(folder)
    assert "nothing in it can be read" in row["reason"]


def test_paths_from_stdin(assay: Command, notes: Path, tmp_path: Path):
    listed = tmp_path / "listed"
    listed.write_text(f"{notes}\n")
    with listed.open("rb") as stdin:
        done = warm.run("extract", "--json", "-", stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == "Tides"


def test_a_name_cannot_steer_the_terminal(assay: Command, tmp_path: Path):
    path = tmp_path / "a\x1b[2Jb.md"
    done = assay("extract", path)
    assert done.returncode == 1
    assert "\x1b" not in done.stderr
