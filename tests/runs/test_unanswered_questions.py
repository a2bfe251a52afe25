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
