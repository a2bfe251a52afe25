"""Whole runs over files of office programs: found, cited by sheet and slide, and told of where they cannot be read."""

from __future__ import annotations

from pathlib import Path

from office_files import TABLE, book, slides, word

from assay import Assay
from assay.core import events as e
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.settings import Settings


async def test_a_row_of_a_sheet_answers_a_question(tmp_path: Path):
    (tmp_path / "ports.xlsx").write_bytes(book({"Ports": TABLE, "Other": [["a", "b"], ["c", "d"]]}))
    (tmp_path / "talk.pptx").write_bytes(slides())
    (tmp_path / "harbor.docx").write_bytes(word()[:500])
    lines: list[str] = []
    async with Assay(Settings()) as assay:
        run = assay.start("What is the depth of the port of Goole?", sources=tmp_path, progress=lines.append)
        log = [envelope async for envelope in run]
    report = build_report(fold_events(log))
    assert [(claim.text, claim.verdict) for claim in report.claims] == [("Depth of Goole: 7 m", "supported")]
    assert any(passage.text == "Port: Goole | Depth: 7 m | cells: A3:B3" for passage in report.passages)
    added = [event.source for envelope in log if isinstance(event := e.decode(envelope), e.SourceAdded)]
    assert "ports.xlsx: Ports" in {source.title for source in added}
    assert any("skipped" in line and "harbor.docx" in line for line in lines)


async def test_a_passage_of_a_slide_names_it(tmp_path: Path):
    (tmp_path / "talk.pptx").write_bytes(slides())
    async with Assay(Settings()) as assay:
        run = assay.start("By how much did the tide of Grüße rise in 1843?", sources=tmp_path)
        report = build_report(fold_events([envelope async for envelope in run]))
    assert report.passages
    assert all(passage.heading[0].startswith("Slide ") for passage in report.passages)
