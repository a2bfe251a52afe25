"""`--length`, `--lang`, `--template` and `--instructions`, from the shell to the report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shells import apart

from assay.cli.main import main

HARBOR = """---
title: Harbor report
date: 2021-05-04
---

# Harbor report

The harbor of Sandmouth was dredged in 1843. The dredging of the harbor cost nine thousand pounds.
The harbor wall is built of granite from Cornwall. The light of the harbor burns oil.

## Risks

The harbor silts up within ten years. Storms from the east are the greatest risk of the harbor.
"""
QUESTION = "Describe the harbor, its wall, its risks and the dredging of the harbor"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    apart(tmp_path, monkeypatch)
    (tmp_path / "harbor.md").write_text(HARBOR)
    return tmp_path


def run(place: Path, *options: str) -> int:
    return main([QUESTION, "--in", str(place / "harbor.md"), "--yes", "-q", *options])


def report(place: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run(place, *options) == 0
    return capsys.readouterr().out


def test_the_answer_says_of_when_it_is(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = report(place, capsys).partition("\n## ")[0]
    assert answer.rstrip().endswith("*As of 2021-05-04, the date of the newest source cited.*")
    data = json.loads(report(place, capsys, "--json"))
    assert "*As of 2021-05-04" in data["markdown"]
    assert not any("As of" in claim["text"] for claim in data["claims"])
    assert data["verified"]


def test_a_shorter_report_has_fewer_sentences(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    usual, short = (len(json.loads(report(place, capsys, *o, "--json"))["claims"]) for o in ((), ("--length", "30")))
    assert 1 <= short < usual


def test_a_template_is_filled(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "t.md").write_text("## Costs\nWhat dredging cost, in pounds.\n\n## Greatest risk\n\n## Volcanoes\n")
    text = report(place, capsys, "--template", str(place / "t.md")).partition("\n## Sources")[0]
    costs, risk, volcanoes = text.split("\n## ")[:3]
    assert costs.startswith("## Costs\n")
    assert "nine thousand pounds. [1]" in costs
    assert risk.startswith("Greatest risk\n")
    assert "Storms from the east" in risk
    assert volcanoes.startswith("Volcanoes\n\nNothing about this was found.")


def test_language_and_instructions_are_in_the_brief(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "i.txt").write_text("For sailors.")
    events = report(place, capsys, "--lang", "pt_br", "--instructions", str(place / "i.txt"), "--events").splitlines()
    brief = json.loads(events[0])["data"]["brief"]
    assert (brief["language"], brief["instructions"]) == ("pt-BR", "For sailors.")


def test_a_comparison_says_of_each_document_what_its_header_does(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, status in ((6, "Superseded"), (8, "Active")):
        header = f"PEP: {number}\nTitle: The title of {number}\nStatus: {status}\nType: Process\n"
        (place / f"pep-000{number}.txt").write_text(f"{header}\nAbstract\n========\n\nIt says a lot.\n")
    peps = [str(path) for path in sorted(place.glob("pep-*.txt"))]
    assert main(["Compare PEP 6 and PEP 8", "--in", *peps, "--yes", "-q", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    opening = data["markdown"].partition("\n#")[0]
    assert "Status of PEP 6 (The title of 6): Superseded [1]" in opening
    assert "Status of PEP 8 (The title of 8): Active [2]" in opening
    assert {claim["verdict"] for claim in data["claims"]} <= {"quoted", "supported"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--length", "huge"), "write short, normal, long or a number"),
        (("--lang", "german"), "german is de"),
        (("--template", "missing.md"), "missing.md) cannot be read (No such file"),
        (("--template", "harbor.txt"), "the template has no headings"),
        (("--instructions", "."), "is not a file"),
    ],
)
def test_what_cannot_be_costs_nothing(
    options: tuple[str, str],
    message: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    (place / "harbor.txt").write_text("no heading")
    assert run(place, *options) == 2
    assert message in capsys.readouterr().err
    assert main(["runs", "list"]) == 0
    assert QUESTION not in capsys.readouterr().out
