"""Lines of megabytes: cut like any other, in pieces which hold up nothing else."""

from __future__ import annotations

import time

import pytest

from assay.evidence.segment import segment
from assay.evidence.segment.passages import MAX_PASSAGE_CHARS, WINDOW_CHARS


@pytest.mark.parametrize("piece", ["A very long line. ", "word ", "a", "é", "e\u0301", "Ende。", "x" * 700 + " "])
def test_nothing_of_a_long_line_is_lost(piece: str):
    text = piece * (3 * WINDOW_CHARS // len(piece))
    found = segment(text, "markdown")
    assert "".join("".join(span.text.split()) for span in found) == "".join(text.split())
    assert max(len(span.text) for span in found) <= MAX_PASSAGE_CHARS
    assert all(text.encode()[span.start : span.end].decode() == span.text for span in found)


def test_a_word_of_megabytes_is_looked_through_once():
    begun = time.process_time()
    segment("a" * 2_000_000, "markdown")
    assert time.process_time() - begun < 5
