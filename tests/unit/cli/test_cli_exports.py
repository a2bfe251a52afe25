"""`-o` in every format, and `--footnotes`, over one real run."""

import json
import sys
from pathlib import Path

import bibtexparser
import pypdfium2
import pytest
import rispy
from click.testing import CliRunner
from shells import apart

from assay.cli.main import main
from assay.cli.options import citation_options

QUESTION = "Who wrote the Harbor report?"
FORMATS = ("md", "json", "bib", "csl.json", "ris", "docx", "pdf")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    (tmp_path / "harbor.md").write_text(
        "# Harbor report\n\nAuthor: Ada Byron\nCreated: 1843-02-03\n\nIt tells of Sandmouth.\n"
    )
    return tmp_path


def test_one_run_in_every_format(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {kind: place / f"report.{kind}" for kind in FORMATS}
    outputs = [part for path in files.values() for part in ("-o", str(path))]
    assert main([QUESTION, "--in", str(place / "harbor.md"), "--yes", "--footnotes", *outputs]) == 0
    markdown = files["md"].read_text()
    assert "[^1]" in markdown
    assert "\n\n[^1]: Harbor report, " in markdown
    assert "[^1]" in json.loads(files["json"].read_text())["markdown"]
    assert len(bibtexparser.parse_file(str(files["bib"])).entries) == 1
    [item] = json.loads(files["csl.json"].read_text())
    with files["ris"].open() as lines:
        assert rispy.load(lines)[0]["id"] == item["id"]
    assert files["docx"].read_bytes().startswith(b"PK")
    assert "Ada Byron" in pypdfium2.PdfDocument(files["pdf"])[0].get_textpage().get_text_range()
    assert main(["runs", "export", "last", "-o", str(place / "again.md"), "--footnotes"]) == 0
    assert (place / "again.md").read_text() == markdown
    assert main(["runs", "resume", "last", "--footnotes"]) == 0
    assert "[^1]: Harbor report, " in capsys.readouterr().out


def test_a_missing_extra_is_told_before_the_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    assert main([QUESTION, "--in", str(place / "harbor.md"), "--yes", "-o", str(place / "a.pdf")]) == 2
    assert "pip install 'assay[pdf]'" in capsys.readouterr().err
    assert not (place / "home").exists()


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        ([], "None"),
        (["--footnotes"], "footnotes"),
        (["--citations", "footnotes"], "footnotes"),
        (["--footnotes", "--citations", "none"], "none"),
        (["--citations", "none", "--footnotes"], "footnotes"),
    ],
)
def test_footnotes_are_one_of_the_ways(arguments: list[str], mode: str) -> None:
    import click

    command = click.command()(citation_options(lambda citations: click.echo(str(citations))))
    assert CliRunner().invoke(command, arguments).output.strip() == mode
