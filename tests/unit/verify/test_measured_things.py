"""Numbers which measure in the claim what the evidence sets against it."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.rules.measured_things import find

RESULT = "The net loss was 42 million euros, after a net profit of 8 million euros."
HERD = "The herd grew from 270 sheep in 2021 to 310 sheep in 2023."
CLUB = "The club spent 840 euros on nets and 310 euros on boats."
DAM = "The dam is 118 m high and 460 m long."


def said(claim: str, *passages: str) -> list[str]:
    return [each.said for each in find(analyze_text(claim), read_texts([("S1.1", text) for text in passages]))]


@pytest.mark.parametrize(
    ("claim", "passage", "instead"),
    [
        ("The net profit was 42 million euros.", RESULT, "loss"),
        ("The net loss was 8 million euros.", RESULT, "profit"),
        ("The dam is 460 m high.", DAM, "long"),
        ("Ribe lies 42 km south of Varde.", "Ribe lies 42 km north of Varde.", "north"),
        ("The herd grew to 310 sheep in 2021.", HERD, "2023"),
        ("The herd had 270 in 2023.", HERD, "2021"),
        ("The club spent 840 euros on boats.", CLUB, "nets"),
    ],
)
def test_the_opposite_measure(claim: str, passage: str, instead: str) -> None:
    assert said(claim, passage) == [instead]


@pytest.mark.parametrize(
    ("claim", "passages"),
    [
        ("The net loss was 42 million euros.", (RESULT,)),
        ("The net profit was 42 million euros.", (RESULT, "A net profit of 42 million euros was expected.")),
        ("The net profit was 42 million euros.", (RESULT, "The board spoke of 42 million euros.")),
        ("The net profit was 43 million euros.", (RESULT,)),
        ("The dam is 118 m high.", (DAM,)),
        ("Ribe lies 42 km south of Varde.", ("Varde lies 42 km north of Ribe.",)),
        ("Ribe imported 42 tons of tin from Varde.", ("Varde exported 42 tons of tin to Ribe.",)),
        ("The profit of 1932 is gone.", ("The loss of 1932 is gone.",)),
        ("The herd grew to 310 sheep in 2023.", (HERD,)),
        ("The herd had 310 sheep in 2021.", (HERD, "In 2021 the herd had 310 sheep.")),
        ("The herd had 310 sheep in May.", (HERD,)),
        ("The club spent 840 euros on new nets.", (CLUB,)),
        ("The club spent 840 euros on fishing.", (CLUB,)),
        (
            "The club spent 840 euros on books.",
            ("It spent 840 euros on new history books, 90 euros on books to sell.",),
        ),
        ("The club spent 840 euros on boats.", (CLUB, "It spent 840 euros on boats.")),
    ],
)
def test_the_same_or_another_number(claim: str, passages: tuple[str, ...]) -> None:
    assert said(claim, *passages) == []


def test_many_numbers_are_not_compared() -> None:
    assert said("42 m high, " * 400, "42 m long, " * 1_000) == []
