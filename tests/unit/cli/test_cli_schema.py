"""`--schema FILE`, from the shell to the fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shells import apart

from assay.cli.main import main

PEP = "PEP: 6\nTitle: Bug | Fix Releases\nAuthor: Ann Lee, Bo Ek\nStatus: Superseded\nCreated: 15-Mar-2001\n\nIt.\n"
SCHEMA = """{"type": "object", "properties": {
  "status": {"type": "string"}, "title": {"type": "string"}, "authors": {"type": "array", "items": {"type": "string"}},
  "created": {"type": "string", "format": "date"}, "sponsor": {"type": "string"}}}"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    (tmp_path / "pep.md").write_text(PEP)
    (tmp_path / "s.json").write_text(SCHEMA)
    return tmp_path


def run(place: Path, *options: str) -> int:
    return main(["What is PEP 6?", "--in", str(place / "pep.md"), "-q", "--yes", *options])


def test_fields_are_on_stdout_as_json(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--schema", str(place / "s.json"), "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["data"] == {
        "status": "Superseded",
        "title": "Bug | Fix Releases",
        "authors": ["Ann Lee", "Bo Ek"],
        "created": "2001-03-15",
        "sponsor": None,
    }
    claims = {claim["id"]: claim for claim in report["claims"]}
    status = report["fields"]["status"]
    assert (status["value"], status["verdict"]) == ("Superseded", "supported")
    assert claims[status["claims"][0]]["text"].startswith("Status of PEP 6")
    assert report["fields"]["sponsor"]["reason"]
    assert report["verified"]


def test_they_go_into_every_format(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("out.json", "out.md", "out.html", "out.zip")
    outputs = [part for name in names for part in ("-o", str(place / name))]
    assert run(place, "--schema", str(place / "s.json"), *outputs) == 0
    assert json.loads((place / "out.json").read_text())["data"]["status"] == "Superseded"
    markdown = (place / "out.md").read_text()
    assert "| Field | Value | Verdict | Why |" in markdown
    assert "| title | Bug \\| Fix Releases | supported |" in markdown
    assert "| sponsor | – |  | " in markdown
    assert "Superseded" in (place / "out.html").read_text()
    assert main(["verify", str(place / "out.zip")]) == 0


@pytest.mark.parametrize(
    ("schema", "options", "message"),
    [
        ("{", (), "the schema is not JSON"),
        ('{"properties": {"a": {"$ref": "#"}}}', (), "the schema at #/properties/a uses '$ref'; supported are"),
        (SCHEMA, ("--mode", "simple"), "a schema needs research"),
        (SCHEMA, ("--template", "t.md"), "give only one"),
    ],
)
def test_what_cannot_be_filled_is_said_before_anything_is_done(
    place: Path, capsys: pytest.CaptureFixture[str], schema: str, options: tuple[str, ...], message: str
) -> None:
    (place / "bad.json").write_text(schema)
    (place / "t.md").write_text("## Risks\n")
    options = tuple(str(place / each) if each.endswith(".md") else each for each in options)
    assert run(place, "--schema", str(place / "bad.json"), *options) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_a_file_which_is_not_there_is_named(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(place, "--schema", str(place / "none.json")) == 2
    assert "none.json" in capsys.readouterr().err


def test_a_question_about_all_documents_says_how_far_it_came(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "docs").mkdir()
    for number, status in enumerate(("Final", "Draft", "Final"), 1):
        (place / "docs" / f"pep-{number}.md").write_text(
            f"PEP: {number}\nTitle: T{number}\nStatus: {status}\n\nText.\n"
        )
    assert main(["How many PEPs are Final?", "--in", str(place / "docs"), "--yes"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("2 documents match; the header fields of 3 of 3 documents were read.")
    assert "coverage: the question is answered" in printed.err
    assert "2 claims: 2 supported" in printed.err
