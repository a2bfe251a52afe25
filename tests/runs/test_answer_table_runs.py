"""Tables of documents by questions, over a real home: cells with evidence, every form, a kill, the total."""

from __future__ import annotations

import csv
import json
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import halting
import openpyxl
import pytest
import warm
from pdfs import column, pdf
from shells import apart
from waiting import LONG

from assay.cli.main import main

DEEP, LIT = "How deep is the harbor?", "When was the lighthouse lit?"
TABLE = ("table", "questions.txt", "--in", "papers", "-o")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    monkeypatch.chdir(tmp_path)
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "brest.md").write_text("# Brest\n\nThe harbor is nine metres deep. The lighthouse was lit in 1865.\n")
    (papers / "emden.md").write_text("# =Emden()\n\nThe harbor is seven metres deep.\n")
    (papers / "kiel.pdf").write_bytes(pdf([[], column("The lighthouse was lit in 1895.")], info={"Title": "Kiel"}))
    (tmp_path / "questions.txt").write_text(f"{DEEP}\n\n{LIT}\n{DEEP}\n")
    return tmp_path


def cells(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_a_cell_is_answered_from_its_document_alone(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TABLE, "t.csv"]) == 0
    head, *rows = cells(place / "t.csv")
    assert head == ["document", "file", DEEP, "verdict", LIT, "verdict"]
    assert [[row[0], *row[2:]] for row in rows] == [
        ["Brest", "The harbor is nine metres deep.", "quoted", "The lighthouse was lit in 1865.", "quoted"],
        ["'=Emden()", "The harbor is seven metres deep.", "quoted", "", "nothing found"],
        ["Kiel", "", "nothing found", "The lighthouse was lit in 1895.", "quoted (p. 2)"],
    ]
    head, *evidence = cells(place / "t.evidence.csv")
    assert [dict(zip(head, row, strict=True))["quote"] for row in evidence][-1] == "The lighthouse was lit in 1895."
    assert {row[8] for row in evidence} == {row[1] for row in rows}  # the file's path, as in the table
    assert {(row[0], row[1], row[6]) for row in evidence} == {
        ("Brest", DEEP, ""), ("Brest", LIT, ""), ("'=Emden()", DEEP, ""), ("Kiel", LIT, "2"),
    }  # fmt: skip
    assert "3 documents by 2 questions: 4 answered, 2 without an answer" in capsys.readouterr().err


def test_closest_passages_are_not_said_to_be_found(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "papers" / "emden.md").write_text("# Emden\n\nA lighthouse keeper wrote about the old harbor of Emden.\n")
    assert main([*TABLE, "t.csv"]) == 0
    found = [line for line in capsys.readouterr().err.splitlines() if ": Emden · " in line]
    assert len(found) == 2
    assert all(line.endswith(": nothing found") for line in found)
    results = (place / "t.csv.cells" / "results.jsonl").read_text().splitlines()
    assert [row for line in results if (row := json.loads(line)).get("claims") and row["stop_reason"] == "no_evidence"]


def test_every_form_says_the_same(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("t.xlsx", "t.md", "t.json"):
        if name != "t.xlsx":  # of what was answered for the first
            shutil.copytree(place / "t.xlsx.cells", place / f"{name}.cells")
        assert main([*TABLE, name, "--json"]) == 0
        output = json.loads(capsys.readouterr().out)
        assert (output["answered"], output["nothing_found"], output["undone"]) == (4, 2, 0)
    book = openpyxl.load_workbook(place / "t.xlsx")
    answers, evidence = (list(book[name].iter_rows(values_only=True)) for name in ("Answers", "Evidence"))
    assert answers[2][0] == "=Emden()"
    assert all(cell.data_type != "f" for sheet in book for row in sheet for cell in row)
    assert [row[2] for row in answers[1:3]] == ["The harbor is nine metres deep.", "The harbor is seven metres deep."]
    assert len(evidence) == 5
    read = json.loads((place / "t.json").read_text())
    kiel = next(row for row in read["rows"] if row["title"] == "Kiel")
    assert [cell["status"] for cell in kiel["cells"]] == ["nothing found", "answered"]
    assert kiel["cells"][1]["evidence"][0]["page"] == 2
    markdown = (place / "t.md").read_text()
    assert "| Brest | The harbor is nine metres deep. \\[1\\] (quoted) |" in markdown
    assert "1. quoted: “The harbor is nine metres deep." in markdown


def runs(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert main(["runs", "list", "--cells", "--json", "-n", "100"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


def test_the_runs_of_cells_are_in_lists_only_if_asked_for(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TABLE, "t.csv", "--offline"]) == 0
    assert [run["labels"] for run in runs(capsys)] == [{"cell-of": "t.csv"}] * 6
    assert main(["runs", "list"]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "--cells lists them" in err
    assert main(["runs", "list", "--status", "completed"]) == 0
    assert "only runs that fill cells of tables match: --cells lists them" in capsys.readouterr().err
    assert main(["runs", "list", "--status", "failed"]) == 0
    assert "no run matches" in capsys.readouterr().err
    assert main(["research", LIT, "--in", "papers/brest.md", "-q"]) == 0
    assert main([*TABLE, "u.csv"]) == 0
    capsys.readouterr()
    assert main(["runs", "list", "--status", "completed"]) == 0
    out, err = capsys.readouterr()
    assert (len(out.splitlines()), "cells of tables match too: --cells lists them" in err) == (1, True)
    capsys.readouterr()
    assert main(["runs", "list"]) == 0
    assert [line.split("\t")[3] for line in capsys.readouterr().out.splitlines()] == [LIT]
    assert main(["runs", "list", "--label", "cell-of=u.csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["cite", "last", "1"]) == 0
    assert "lit in 1865" in capsys.readouterr().out
    assert main(["runs", "fork", runs(capsys)[0]["run_id"], "--from", "write", "-q"]) in (0, 6)  # it fills no cell
    capsys.readouterr()
    assert main(["runs", "list"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_a_folder_that_does_not_exist_is_not_made(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TABLE, "none/t.csv"]) == 2
    assert "the folder none does not exist" in capsys.readouterr().err
    assert not (place / "none").exists()


def test_a_cell_never_asks_the_web(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_SEARCH_WEB", "true")
    assert main([*TABLE, "t.csv"]) == 0
    assert main(["research", LIT, "--in", "papers/brest.md", "-q"]) == 0
    for run, web in zip(runs(capsys)[:2], (True, False), strict=True):
        assert main(["runs", "watch", run["run_id"], "--events"]) in (0, 6)
        created = json.loads(capsys.readouterr().out.splitlines()[0])
        assert created["data"]["brief"]["scope"]["web"] is web


def test_only_what_is_missing_is_done(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TABLE, "t.csv"]) == 0
    before = {each["run_id"] for each in runs(capsys)}
    (place / "papers" / "wismar.md").write_text("# Wismar\n\nThe harbor is eight metres deep.\n")
    assert main([*TABLE, "t.csv"]) == 0
    assert "6 cells of 8 done already" in capsys.readouterr().err
    after = {each["run_id"] for each in runs(capsys)}
    assert before < after
    assert len(after) == 8
    assert [row[0] for row in cells(place / "t.csv")] == ["document", "Brest", "'=Emden()", "Kiel", "Wismar"]


OTHERS = 4
"""More documents than the folder has."""
CELLS = (OTHERS + 3) * 2


def test_a_killed_table_is_gone_on_with(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(OTHERS):
        (place / "papers" / f"port{number}.md").write_text(
            f"# Port {number}\n\nThe harbor is {number + 20} metres deep.\n"
        )
    results = place / "t.csv.cells" / "results.jsonl"
    halts = halting.at_lines(str(results), 3)
    working = warm.start(*TABLE, "t.csv", "--jobs", "1", stderr=subprocess.PIPE, program=halts)
    until = time.monotonic() + LONG
    while not (results.exists() and results.read_bytes().count(b"\n") >= 3):
        assert working.poll() is None
        assert time.monotonic() < until
        time.sleep(0.01)
    working.send_signal(signal.SIGKILL)
    working.communicate()
    done = results.read_bytes().count(b"\n")
    assert done == 3
    assert not (place / "t.csv").exists()
    assert main([*TABLE, "t.csv"]) == 0
    assert f"of {CELLS} done already" in capsys.readouterr().err
    rows = cells(place / "t.csv")[1:]
    assert len(rows) == OTHERS + 3
    assert all("not done" not in row and "failed" not in row for row in rows)
    assert {row[2] for row in rows if row[0].startswith("Port")} == {
        f"The harbor is {n + 20} metres deep." for n in range(OTHERS)
    }
    assert len(runs(capsys)) == CELLS  # no cell was begun twice


def test_a_total_which_does_not_pay_for_another_cell(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*TABLE, "t.csv", "--max-tokens", "1"]) == 5
    assert "the limits do not pay for another cell" in capsys.readouterr().err
    assert {row[3] for row in cells(place / "t.csv")[1:]} == {"not done"}


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("-o", "t.doc"), "t.doc must end in .csv, .xlsx, .md or .json"), (("-o", "t.csv", "--in", "nowhere"), "nowhere")],
)
def test_mistakes(arguments: tuple[str, ...], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["table", "questions.txt", *arguments]) == 2
    assert why in capsys.readouterr().err
    Path("empty.txt").write_text("\n")
    assert main(["table", "empty.txt", "-o", "t.csv"]) == 2
    assert "the file has no questions" in capsys.readouterr().err
