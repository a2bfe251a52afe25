"""`assay docs summary`: counts of what is there, subjects with documents, and questions which have an answer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pdfs import column, pdf
from shells import apart
from story_model import local_model

from assay.cli.main import main

PORTS = ("Brest", "Emden", "Kiel", "Wismar", "Lorient", "Ostende")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with papers, and a home which has them."""
    folder = tmp_path_factory.mktemp("ports")
    papers = folder / "papers"
    papers.mkdir()
    for number, port in enumerate(PORTS):
        keeper = "The lighthouse keeper sleeps at the mole.\n\nThe lighthouse burns oil.\n" if number < 2 else ""
        text = f"The harbour of {port} was opened in {1860 + number}.\n\nIt lies by the sea, as the others do.\n\n"
        (papers / f"{port}.md").write_text(f"---\ndate: {1990 + number}-05-01\n---\n# {port}\n\n{text}{keeper}")
    (papers / "dock.pdf").write_bytes(pdf([[], column("A dry dock is a basin which can be drained.")]))
    with pytest.MonkeyPatch.context() as patch:
        apart(folder, patch)
        patch.chdir(folder)
        assert main(["docs", "add", "papers", "-c", "ports", "-q"]) == 0
    return folder


@pytest.fixture(autouse=True)
def place(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of all that."""
    made = shutil.copytree(filled, tmp_path / "ports")
    apart(made, monkeypatch)
    monkeypatch.chdir(made)
    return made


def summary(capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["docs", "summary", "ports", "--json", *more]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_is_there_is_counted(capsys: pytest.CaptureFixture[str]) -> None:
    found = summary(capsys, "--questions", "0")
    assert found["documents"] == 7
    assert found["kinds"] == {"text/markdown": 6, "application/pdf": 1}
    assert found["languages"]["en"] >= 6
    assert (found["first"], found["last"], found["undated"]) == ("1990-05-01", "1995-05-01", 1)
    subjects = {each["term"]: each["documents"] for each in found["subjects"]}
    assert subjects["lighthouse"] == ["Brest", "Emden"]
    assert "harbour" not in subjects  # every port has one
    assert found["questions"] == []


def test_small_words_are_no_subjects_and_begin_no_term(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, port in enumerate(PORTS[:3]):
        text = "Since this mole is a long one, ships wait outside.\n\nThey come from outside.\n\nGo without them.\n"
        (place / "papers" / f"more-{number}.md").write_text(f"# {port} without ships from there\n\n{text}")
    assert main(["docs", "add", "papers", "-c", "ports", "-q"]) == 0
    found = summary(capsys, "--questions", "9")
    assert {"from", "without"}.isdisjoint(each["term"] for each in found["subjects"])
    assert not any("ince this" in each["question"] for each in found["questions"])


def test_amounts_and_times_are_no_subjects(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two short papers, in which a word that comes twice is distinctive."""
    papers = place / "short"
    papers.mkdir()
    for number, port in enumerate(PORTS[:2]):
        mole = f"The breakwater of {port} grew by eleven metres in twenty-one years.\n\n"
        text = f"Eleven years are a long time for {port}; the breakwater was paid for daily, in March."
        (papers / f"{number}.md").write_text(f"# {port}\n\n{mole}{text}\n")
    assert main(["docs", "add", "short", "-c", "short", "-q"]) == 0
    capsys.readouterr()
    assert main(["docs", "summary", "short", "--json", "--questions", "9"]) == 0
    found = json.loads(capsys.readouterr().out)
    terms = {each["term"] for each in found["subjects"]}
    assert "breakwater" in terms
    assert terms.isdisjoint(("eleven", "metres", "twenty-one", "years", "time", "daily", "march"))
    assert not any("leven" in each["question"] for each in found["questions"])


def test_each_question_has_an_answer_with_its_passage(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = summary(capsys, "--questions", "9")["questions"]
    asked = {each["question"]: each for each in found}
    assert asked["When was the harbour of Brest opened?"]["answer"] == "The harbour of Brest was opened in 1860."
    dock = asked["What is a dry dock?"]
    assert (dock["quote"], dock["page"]) == ("A dry dock is a basin which can be drained.", 2)
    texts = "\n".join(path.read_text() for path in (place / "papers").glob("*.md"))
    assert all(each["quote"] in texts for each in found if each is not dock)
    assert main(["runs", "list"]) == 0
    assert capsys.readouterr().out == ""  # the runs which tried them are not kept


def test_questions_are_those_of_headings_and_of_sentences_not_bare_words(capsys: pytest.CaptureFixture[str]) -> None:
    asked = {each["question"] for each in summary(capsys, "--questions", "20")["questions"]}
    assert "What is lighthouse?" not in asked
    papers = Path("faq")
    papers.mkdir()
    text = "## Who pays the fees?\n\nThe master of a ship pays the fees.\n\nFees are due. Tugs are a kind of boat.\n"
    (papers / "fees.md").write_text(f"# Fees\n\n{text}")
    assert main(["docs", "add", "faq", "-c", "ports", "-q"]) == 0
    asked = {each["question"] for each in summary(capsys, "--questions", "20")["questions"]}
    assert {"Who pays the fees?", "What are Tugs?"} <= asked


def test_it_is_laid_out_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "summary", "@ports", "--questions", "1"]) == 0
    out = capsys.readouterr().out
    size = r"\d+ bytes|[1-9]\.\d kB"
    assert re.match(rf"ports: 7 documents, (?:{size}) of text\nkinds      Markdown 6, PDF 1\n", out)
    assert "\ndates      1990-05-01 to 1995-05-01; 1 without\n" in out
    assert "\n  lighthouse: Brest; Emden\n" in out
    assert out.count("?\n") == 1


def test_an_unknown_collection_and_an_empty_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "summary", "nowhere"]) == 2
    assert main(["docs", "summary"]) == 0
    assert "the collection default has no documents" in capsys.readouterr().err


def test_a_model_which_is_named_writes_a_cited_summary(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with local_model("The harbour of Brest was opened in 1860.") as server:
        (place / "config.toml").write_text(f'[services.ollama]\nurl = "{server.url}"\n')
        assert main(["docs", "summary", "ports", "--questions", "0", "--model", "ollama:m"]) == 0
        printed = capsys.readouterr()
        found = summary(capsys, "--questions", "0", "--model", "ollama:m", "--max-tokens", "200k")
    assert printed.out.startswith("ports: 7 documents")
    assert "The harbour of Brest was opened in 1860 [1]." in printed.out
    assert "The harbour of Brest was opened in 1860 [1]." in found["summary"]
    assert main(["claims", found["run_id"], "--json"]) == 0
    (claim,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert claim["verdict"] == "quoted"
