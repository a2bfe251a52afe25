"""Passages that were cut in another process."""

from __future__ import annotations

from assay.evidence.segment import PassageCutter, passages_of, segment

TEXT = "# Tides\n\n## Brest\n\nThe tide rises seven metres.\n\nIt turns twice a day.\n\n- spring\n- neap\n"


def test_they_are_those_cut_here_and_hold_a_heading_once() -> None:
    (answer,) = PassageCutter().extract(TEXT.encode(), "markdown")
    found = passages_of(answer)
    assert found == tuple(segment(TEXT, "markdown"))
    below = [span.heading for span in found if span.heading == ("Tides", "Brest")]
    assert len(below) > 1
    assert len({id(heading) for heading in below}) == 1
