"""Questions that the documents do not answer, on the built-in model: what it says of that is no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay

NOTES = (
    "The tool\n\nThe tool reads files. It is small.\n\nThere is nothing about this in the manual: it was found out by "
    "asking, and nothing was found about the rest.\n"
)


@pytest.mark.parametrize("question", ["How much does the tool cost?", "When was the tool first published?"])
async def test_a_passage_with_the_words_of_nothing_was_found_answers_nothing(tmp_path: Path, question: str) -> None:
    (tmp_path / "notes.txt").write_text(NOTES)
    report = await assay.research(question, sources=[str(tmp_path / "notes.txt")])
    assert report.stop_reason == "no_evidence"
    assert "Closest passages" in report.markdown


TIDES = "The tide at Brest rises seven metres, and it turns twice a day. All of this was measured in the harbour.\n"


async def test_a_question_in_another_language_than_the_documents_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "tides.txt").write_text(TIDES)
    report = await assay.research("Wie hoch steigt die Flut in Brest?", sources=[str(tmp_path / "tides.txt")])
    assert report.stop_reason == "no_evidence"
    assert any("(Deutsch) als die Dokumente (Englisch)" in limit for limit in report.limits)


@pytest.mark.parametrize("question", ["When was the lighthouse of Brest built?", "Leuchtturm?"])
async def test_one_in_their_language_or_in_none_that_is_known_is_not(question: str, tmp_path: Path) -> None:
    (tmp_path / "tides.txt").write_text(TIDES)
    report = await assay.research(question, sources=[str(tmp_path / "tides.txt")])
    assert report.stop_reason == "no_evidence"
    assert not report.limits


async def test_the_closest_passages_are_of_several_documents(tmp_path: Path) -> None:
    lines = "\n\n".join(f"12:{minute:02} host7 user Mira opened drawer {minute}" for minute in range(60))
    (tmp_path / "access.log").write_text(lines)
    (tmp_path / "letter.txt").write_text("Mira has been with the firm for nine years, and keeps the keys.\n")
    report = await assay.research("How tall is Mira?", sources=[str(tmp_path)])
    assert report.stop_reason == "no_evidence"
    closest = report.markdown.partition("## Closest passages")[2]
    assert "nine years" in closest
    assert "host7" in closest
