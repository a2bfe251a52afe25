"""A report in Python: its claims, its events, its files, and what a notebook shows of it."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import docx
import msgspec
import pytest
from shells import TIDES

import assay
from assay.core import events as e
from assay.core.errors import StoreError, UnknownName, UsageError
from assay.services.results import ResearchReport

QUESTION = "How high is the tide at Brest?"

NOTEBOOK = """
import asyncio, json, sys
from IPython.core.interactiveshell import InteractiveShell

async def main():
    shell = InteractiveShell.instance()
    cells = [
        "import assay",
        f"report = await assay.research({sys.argv[1]!r}, sources={sys.argv[2]!r})",
        "report",
    ]
    for cell in cells:
        done = await shell.run_cell_async(cell, transformed_cell=shell.transform_cell(cell))
        done.raise_error()
    shown, _ = shell.display_formatter.format(done.result)
    cell = f"assay.research_sync({sys.argv[1]!r})"
    blocked = await shell.run_cell_async(cell, transformed_cell=cell)
    print(json.dumps([shown, type(blocked.error_in_exec).__name__, str(blocked.error_in_exec)]))

asyncio.run(main())
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "tides.md"
    path.write_text(TIDES)
    return path


class Frame(HTMLParser):
    """The page in the frame of a notebook's cell."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.attributes = dict(attrs)


def test_a_notebook_shows_the_report_and_says_how_to_wait_for_one(notes: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTEBOOK, QUESTION, notes], capture_output=True, text=True, cwd=tmp_path, timeout=300
    )
    assert done.returncode == 0, done.stderr
    shown, kind, data = json.loads(done.stdout.splitlines()[-1])
    assert "rises seven metres. [1]" in shown["text/markdown"]
    frame = Frame()
    frame.feed(shown["text/html"])
    assert frame.attributes["sandbox"] == "allow-popups"  # no script of a page runs in a notebook
    page = frame.attributes["srcdoc"] or ""
    assert page.startswith("<!doctype html>")
    assert "rises seven metres" in page
    assert (kind, "await assay.research" in data) == ("EventLoopError", True)


def test_a_report_is_saved_in_the_format_of_its_name(notes: Path, tmp_path: Path) -> None:
    """Also of a run in memory, whose library is closed by then."""
    report = assay.research_sync(QUESTION, sources=notes)
    assert [claim.verdict for claim in report.claims] == ["quoted"]
    assert (str(report), repr(report)) == (
        report.markdown,
        f"<ResearchReport of run {report.run_id}: completed, 1 claim, verified>",
    )
    for name in ("r.md", "r.html", "r.json", "r.docx", "r.bib", "r.csl.json", "r.ris", "r.pdf"):
        assert report.save(tmp_path / name) == tmp_path / name
    assert (tmp_path / "r.md").read_text() == report._repr_markdown_()
    assert "seven metres" in "\n".join(each.text for each in docx.Document(str(tmp_path / "r.docx")).paragraphs)
    assert json.loads((tmp_path / "r.json").read_text())["run_id"] == report.run_id
    assert json.loads((tmp_path / "r.csl.json").read_text())[0]["title"] == "Tides"
    assert (tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    names = zipfile.ZipFile(report.save(tmp_path / "r.zip")).namelist()
    assert {name.partition("/")[0] for name in names} >= {"report.md", "MANIFEST.json", "snapshots"}
    assert not list(tmp_path.glob(".*"))


async def test_a_stored_run_gives_its_report_again_and_a_bundle_while_it_is_open(notes: Path, tmp_path: Path) -> None:
    async with assay.Assay(home=tmp_path / "home") as library:
        handle = library.start(QUESTION, sources=notes)
        kinds = [event.type async for event in handle.events()]
        first = await handle.report()
        again = await library.report("last")
        again.save(tmp_path / "r.zip")
    assert kinds[0] == e.RunCreated.kind
    assert kinds[-1] == e.RunCompleted.kind
    assert first == again
    assert "report.md" in "".join(zipfile.ZipFile(tmp_path / "r.zip").namelist())


def test_what_cannot_be_saved_says_why(notes: Path, tmp_path: Path) -> None:
    report = assay.research_sync(QUESTION, sources=notes)
    with pytest.raises(UnknownName, match=r"no format named '\.htm'; did you mean '\.html'"):
        report.save(tmp_path / "r.htm")
    with pytest.raises(StoreError, match=r"cannot be written .* name another place"):
        report.save(tmp_path / "nowhere" / "r.md")
    with pytest.raises(UsageError, match=r"Assay\.export writes the report of a run"):
        ResearchReport(**msgspec.structs.asdict(report)).save(tmp_path / "r.md")


async def test_a_copied_or_pickled_report_is_exported(notes: Path) -> None:
    report = await assay.research(QUESTION, sources=[notes])
    assert copy.copy(report).export(".zip") == report.export(".zip")
    for again in (pickle.loads(pickle.dumps(report)), copy.deepcopy(report)):
        assert again == report
        assert all(again.export(suffix) == report.export(suffix) for suffix in (".md", ".html", ".json"))
        with pytest.raises(StoreError, match="this report was pickled, without its documents"):
            again.export(".zip")
