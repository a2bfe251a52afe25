"""How much somebody paid: the sentence in which they did comes first."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.amounts import amounts, asked_amount
from assay.core.relevance.grades import CitedSentence, grade

PAID = "The insurer, Nordmark Mutual, paid £18.5 million in settlement of the claim."
ASKED = "How much did the insurer pay?"


@pytest.mark.parametrize(
    ("question", "subject", "verb"),
    [
        (ASKED, {"insur"}, "pay"),
        ("How much did the insurer pay for the crane?", {"insur"}, "pay"),
        ("How much money has Ada Kern given?", {"ada", "kern"}, "given"),
        ("How much is the fare?", set(), ""),
        ("Who paid the insurer?", set(), ""),
    ],
)
def test_who_did_what(question: str, subject: set[str], verb: str) -> None:
    assert asked_amount(question, "en") == (subject, verb)


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        (PAID, True),
        ("£18.5 million was paid by the insurer.", True),
        ("The insurers paid out 18 million.", True),
        ("The pier cost £42 million, of which the trust had to pay the insurer's excess.", False),
        ("The trust paid the insurer £42 million.", False),
        ("The bill of £42 million does not include what the insurer had to pay.", False),
        ("The insurer refused to pay for the crane of 1971.", False),
        ("The insurer paid for the crane.", False),
    ],
)
def test_a_text_that_tells_the_amount(text: str, tells: bool) -> None:
    assert (amounts(read_question(ASKED, beside=text), [text])[0] > 0) == tells


@pytest.mark.parametrize(
    "other",
    [
        "The pier cost £42 million in all, of which the trust had to pay the insurer's excess first.",
        "The trust pays the insurer and the contractor £42 million over the years.",
        "The insurer had said it would pay by Easter.",
    ],
)
def test_the_amount_comes_before_that_of_something_else(other: str) -> None:
    texts = [other, PAID, "The trust found £42 million."]
    statements = [QuotableStatement(text=text, source=at, place=3 * at) for at, text in enumerate(texts)]
    judged = judge(read_question(ASKED, beside=" ".join(texts)), statements)
    assert judged.answers()
    assert judged.ranked[0].place == 1
    graded = grade([ASKED], [CitedSentence(text=text, cited=text) for text in texts])
    assert graded[1] == "answers"
    assert graded[0] != "answers"


def test_nothing_is_paid_without_money() -> None:
    texts = ["The insurer refused to pay for the crane.", "The insurer had said it would pay 3 times by Easter."]
    assert judge(read_question(ASKED, beside=" ".join(texts)), [QuotableStatement(text=t) for t in texts]).chance == 0
