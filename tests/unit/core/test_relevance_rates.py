"""How often: a statement that only tells a length, a weight or a price does not say so."""

from __future__ import annotations

import pytest

from assay.core.relevance.grades import CitedSentence, grade
from assay.core.relevance.rates import tells_other_amount
from assay.core.relevance.topic_question import read_question

ASKED = "How often does the tide turn?"


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("The tide at Brest rises seven metres.", True),
        ("The tide rises 5.5 to 7 m at Emden.", True),
        ("A tide table costs £3.50.", True),
        ("The tide turns about every six hours.", False),
        ("The tide rises seven metres twice a day.", False),
        ("The tide rises seven metres and turns 4 times.", False),
        ("The tide turns when the moon has passed.", False),
        ("The tide turns within 6 hours.", False),
        ("The oil is changed after 15,000 km.", False),
        ("Change the oil at 15,000 km.", False),
        ("In 1990 the tide rose by 7 metres.", False),
        ("He won five titles.", False),
    ],
)
def test_only_another_amount_is_told(text: str, other: bool) -> None:
    assert tells_other_amount(read_question(ASKED), text) == other
    assert not tells_other_amount(read_question("How high does the tide rise?"), text)


def test_a_height_does_not_answer_how_often() -> None:
    statements = [CitedSentence(text=text, cited=text, title="Tides") for text in ("The tide rises seven metres.",)]
    assert grade([ASKED], statements) != ("answers",)
    assert grade(["How high does the tide rise?"], statements) == ("answers",)
