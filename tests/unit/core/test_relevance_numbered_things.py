"""Things told apart by a number: a statement about another edition, version or year is no answer."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.numbered_things import numbers_of_things

BOOK = (
    ("The first edition was printed in 1846 by Elias Thorne.", "It had 48 pages and sold for sixpence."),
    ("The second edition came out in 1851.", "The editor was Hannah Thorne, the daughter of the printer."),
    ("The third edition added the times of the ferries.", "Its editor was the schoolmaster Amos Pell."),
)
NOTES = (
    ("Version 2", "It reads the gauge every ten minutes.", "It was written by Oda Brandt."),
    ("Version 3", "It reads the gauge every minute.", "It was written by Tomas Fell."),
)
EDITIONS = [QuotableStatement(text=text, position=place) for place, sentences in enumerate(BOOK) for text in sentences]
VERSIONS = [
    QuotableStatement(text=text, position=2 * at + place, heading=f"Releases > {heading}")
    for at, (heading, *texts) in enumerate(NOTES)
    for place, text in enumerate(texts)
]


def able(question: str, statements: list[QuotableStatement]) -> list[str]:
    read = read_question(question, document_text=" ".join(each.text for each in statements))
    return [statements[each.index].text for each in judge(read, statements).ranked]


@pytest.mark.parametrize("number", ["second", "2nd"])
def test_what_is_said_of_another_one_is_no_answer(number: str) -> None:
    found = able(f"Who was the editor of the {number} edition?", EDITIONS)

    assert found[0] == BOOK[1][1]
    assert set(found) == set(BOOK[1])


@pytest.mark.parametrize(("number", "expected"), [("3", NOTES[1][2]), ("2", NOTES[0][2])])
def test_the_number_may_be_in_the_heading(number: str, expected: str) -> None:
    found = able(f"Who wrote version {number}?", VERSIONS)

    assert found[0] == expected
    assert len(found) == 2


def test_of_one_that_nothing_numbers_nothing_is_said() -> None:
    assert able("Who was the editor of the fifth edition?", EDITIONS) == []


def test_what_a_question_only_leads_to_may_have_another_number() -> None:
    assert BOOK[2][0] in able("What came after the second edition?", EDITIONS)


@pytest.mark.parametrize(
    ("text", "language", "thing", "numbers"),
    [
        ("the third edition of 1857", "en", "edit", {3, 1857}),
        ("the 12th show and the fourteenth show", "en", "show", {12, 14}),
        ("in the 1889 flood", "en", "flood", {1889}),
        ("the flood of 1911 was smaller", "en", "flood", {1911}),
        ("Revision 2 sends 24 bytes", "en", "revis", {2}),
        ("version 3.1 of it", "en", "version", set()),
        ("es hatte 64 Seiten", "de", "seit", set()),
        ("ein Bericht aus dem Jahr 2013", "de", "jahr", set()),
        ("die zweite Auflage", "de", "auflag", {2}),
        ("die 2. Auflage", "de", "auflag", {2}),
        ("la troisième édition", "fr", "edit", {3}),
        ("la segunda edición", "es", "edicion", {2}),
    ],
)
def test_a_thing_has_the_numbers_beside_it(text: str, language: str, thing: str, numbers: set[int]) -> None:
    found = [
        each for (key, _), several in numbers_of_things(text, language).items() for each in several if key == thing
    ]

    assert set(found) == numbers


def test_the_second_edition_may_be_that_of_a_year() -> None:
    dated = [QuotableStatement(text="The edition of 1851 was edited by Hannah Thorne.")]

    assert able("Who was the editor of the second edition?", dated)
    assert not able("Who was the editor of the 1857 edition?", dated)
