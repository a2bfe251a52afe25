"""What an answer leaves out: sentences of which every one is unrelated to the question, and repetitions."""

from __future__ import annotations

import pytest

from assay.models.extractive.answers import alike, select
from assay.models.extractive.off_topic import without_unrelated
from assay.models.questions.question import analyze
from assay.models.shown_documents.shelf import QuotableUnit, ShownSources

LETTER = """## S1 Letter <file:///letter.md>
[S1.0] Our cost comes to 39.2 million euros. I will explain by phone.
[S1.1] The bid was handed in on 30 April."""
HEADED = """## S1 Bug Fix Releases <https://peps.example/pep-0006/>
[S1.0] PEP: 6
[S1.1] Title: Bug Fix Releases
[S1.2] Author: Aahz <aahz@example.com>"""


def unit(text: str, passage: str, *, frame: bool = False) -> QuotableUnit:
    return QuotableUnit(text=text, passages=(passage,), source="S1", frame=frame)


@pytest.mark.parametrize(
    ("question", "texts", "kept"),
    [
        ("What is the phone number of Ms Voss?", ["I will explain by phone."], False),
        ("When was the bid handed in?", ["The bid was handed in on 30 April."], True),
        ("When was the bid handed in?", ["I will explain by phone.", "The bid was handed in on 30 April."], True),
    ],
)
def test_an_answer_needs_one_sentence_that_is_related(question: str, texts: list[str], kept: bool) -> None:
    units = [unit(text, f"S1.{int('bid' in text)}") for text in texts]
    assert without_unrelated(units, [question], ShownSources([LETTER])) == (units if kept else [])


def test_fields_and_documents_that_a_question_names_answer_in_words_of_their_own() -> None:
    shelf = ShownSources([HEADED])
    units = select(analyze("Who made PEP 6?"), shelf)
    assert units
    assert without_unrelated(units, ["Who made PEP 6?"], shelf) == units
    framed = [unit("Issue of it: 20361", "S1.0", frame=True)]
    assert without_unrelated(framed, ["What is the phone number of Ms Voss?"], shelf) == framed


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            "Day: 2022-01-20 | To: Swan Trading Ltd | For: Loan | EUR: 480",
            "Day: 2022-10-14 | To: Swan Trading Ltd | For: Loan | EUR: 480",
            False,
        ),
        ("Day: 1 May | To: Swan Trading Ltd | For: Loan", "day: 1 May | to: Swan Trading Ltd | for: Loans", True),
        ("The tide at Brest rises seven metres.", "The tide at Brest rises about seven metres.", True),
    ],
)
def test_rows_with_other_figures_are_no_repetition(one: str, other: str, same: bool) -> None:
    assert alike(one, other) is same
