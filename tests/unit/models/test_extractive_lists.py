"""The built-in model over the pages of a manual: lists, captions, and chapters that say what they are about."""

from __future__ import annotations

from pathlib import Path

from assay import Assay
from assay.core.report import Report

CHAPTER = """<html><head><title>Chapter 3. Sluices</title></head><body><h1>Chapter 3. Sluices</h1>
<p>This chapter will introduce the sluice, and give some examples of a sluice in use.</p></body></html>"""
PAGE = """<html><head><title>3.1. Basic Concepts</title></head><body><h2>3.1. Basic Concepts</h2>
<p>A sluice is the gate with which a keeper holds the water of a canal back. It is opened for ships.</p>
<h3>3.1.1. The Gates</h3>
<p>Every gate of a sluice belongs to one of three kinds.</p>
<div class="variablelist"><p class="title"><b>Kinds of sluice gate</b></p><dl>
<dt>Lift</dt><dd><p>Goes up</p></dd><dt>Swing</dt><dd><p>Turns aside</p></dd>
<dt>Drum</dt><dd><p>Turns on its axis, and sinks below the ships that pass.</p></dd></dl></div>
<div class="figure"><p class="title"><b>Figure 3.1. A keeper opening the sluice of a canal for the ships</b></p></div>
<p>Each kind has its own keeper. A keeper opens the gate when a bell is rung.</p>
</body></html>"""


async def asked(question: str, folder: Path) -> tuple[str, Report]:
    (folder / "chapter.html").write_text(CHAPTER)
    (folder / "page.html").write_text(PAGE)
    async with Assay() as assay:
        report = await assay.start(question, sources=[folder]).report()
    return report.markdown.partition("*As of")[0], report


async def test_what_a_chapter_is_about_is_no_answer(tmp_path: Path) -> None:
    opening, _ = await asked("What is a sluice?", tmp_path)
    assert opening.startswith("A sluice is the gate")
    assert "This chapter" not in opening


async def test_a_caption_is_no_answer(tmp_path: Path) -> None:
    opening, _ = await asked("Who opens the sluice of a canal for ships?", tmp_path)
    assert "Figure" not in opening
    assert "A keeper opening" not in opening


FAQ = """# Questions

## 1 What is the difference between a lock and a sluice?

Next: What is a weir?, Previous: What is a canal?, Up: Questions

A lock lifts ships. A sluice only lets water through.

## 2 What is a weir?

A lock and a sluice are beside each weir.
"""


async def test_a_question_of_a_faq_is_answered_as_it_stands(tmp_path: Path) -> None:
    (tmp_path / "faq.md").write_text(FAQ)
    async with Assay() as assay:
        question = "What is the difference between a lock and a sluice?"
        report = await assay.start(question, sources=[tmp_path]).report()
    assert report.markdown.startswith("A lock lifts ships.")
    assert "Next:" not in report.markdown
