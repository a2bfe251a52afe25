"""A name of the question that is nowhere in the documents: nothing answers."""

from __future__ import annotations

import pytest

from assay.core.messages import Rarity
from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.topic_question import keys


def may_answer(question: str, *texts: str, scope: str = "", passages: int = 40, address: str = "") -> bool:
    """Whether something may answer; `scope` is the text of the other passages of a library."""
    statements = [QuotableStatement(text=text, place=3 * at, address=address) for at, text in enumerate(texts)]
    read = read_question(question, beside=" ".join(texts))
    held = set(keys(" ".join((*texts, scope)), read.analysis))
    rarity = Rarity(passages=passages, holding={key: int(key in held) for key in keys(question, read.analysis)})
    return judge(read, statements, rarity if passages else None).chance > 0


FOUNDED = "The museum was founded by Ada Kern in 1931."


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Who founded the museum?", True),
        ("Who founded the museum in Oslo?", False),
        ("Who founded Oslo's museum?", False),
        ("Who founded the museum of Ada Kern?", True),
        ("Who founded the museum of Ada Kerns?", True),
        ("Who founded the museum of Mrs. Kern?", True),
        ("Who founded the museum of Mrs. Lund?", False),
    ],
)
def test_a_name_that_no_passage_of_the_library_has(question: str, answers: bool) -> None:
    assert may_answer(question, FOUNDED) == answers


def test_of_a_few_sentences_alone_a_name_may_be_the_subject() -> None:
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, passages=0)
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, passages=3)


def test_a_name_in_another_passage_or_in_the_address_is_there() -> None:
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, scope="The harbour of Oslo is old.")
    assert may_answer("Who founded the museum in Oslo?", FOUNDED, address="https://oslo.example/museum")


def test_initials_are_the_name() -> None:
    carried = "The Hollow Valley Railway carried 184,000 passengers in all."
    assert may_answer("How many passengers did the HVR carry?", carried)
    assert not may_answer("How many passengers did the XYR carry?", carried)
    tested = "The boilers are tested every ten years by the NRSO."
    assert may_answer("Who tested the boilers for the National Rail Safety Office?", tested, scope="safety rail office")
