"""Titles of numbered sections, which only a line break parts from the sentences below them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.plain_text import sections

CONTRACT = (
    "2. Term and termination\n2.1 Duration\nThis agreement runs for three years from the day of its signature.\n"
    "2.2 Notice\nEither party may terminate it with six months' notice.\nNotice must be given in writing."
)


def parts(text: str) -> list[tuple[str, str]]:
    return [(title, text[start:end].strip()) for title, start, end in sections(text)]


def test_each_title_is_above_its_text() -> None:
    assert parts(CONTRACT) == [
        ("Term and termination Duration", "This agreement runs for three years from the day of its signature."),
        (
            "Term and termination Notice",
            "Either party may terminate it with six months' notice.\nNotice must be given in writing.",
        ),
    ]
    assert parts("§ 3 Öffnungszeiten\nDas Labor ist von 8 bis 18 Uhr geöffnet.")[0][0] == "Öffnungszeiten"


@pytest.mark.parametrize(
    "text",
    [
        "1. Apples\n2. Pears and other fruit\n3. Plums",
        "1. You may copy the package, if you give\nEvery reader the same rights.",
        "1. The pump was switched off.\nThen the valve was opened by hand.",
        "1. Nobody said that\nThe plan was approved by the whole council.",
        "3.1 The monthly fee is GBP 11,450 excluding VAT.\n3.2 Invoices are payable within 21 days.",
        "10. THIS PACKAGE IS PROVIDED AS IS\nAND WITHOUT WARRANTIES",
        "4. Liability\nis limited to the amount of the fees that were paid",
        "The total of\n12 Apples\nWas never counted by anybody here.",
    ],
)
def test_what_is_no_title(text: str) -> None:
    assert parts(text) == [("", text)]


@given(st.text(alphabet="12. §aB\n", max_size=60))
def test_parts_ascend_and_hold_all_but_titles(text: str) -> None:
    found = list(sections(text))
    assert all(start < end for _, start, end in found)
    assert all(one[2] <= other[1] for one, other in pairwise(found))
