"""Which dates of a sentence are values: sources which give others disagree."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Passage, sha256
from assay.verify.amounts import Day
from assay.verify.analyzed_text import analyze_text
from assay.verify.conflicts.disagreement import disagree
from assay.verify.conflicts.statements import SourceStatement, normalize_date, sentence_values, stated_values

VALUES = [
    (
        "Ada Lovelace (10 December 1815 – 27 November 1852) was a mathematician.",
        ["10 December 1815", "27 November 1852"],
    ),
    (
        "Elisabeth of Nassau (1 December 1488 – 3 June 1559 in Dillenburg) was a countess.",
        ["1 December 1488", "3 June 1559"],
    ),
    ("Ada Lovelace (born 10 December 1815) has three children in Brest.", ["10 December 1815"]),
    ("The Signal is a 1955 French film by Ada Moreau.", ["1955"]),
    ("The Elorn bridge was opened in 1930 and closed in 1944.", ["1930", "1944"]),
    ("Acme opened 30 shops in Brest in 2019.", ["30"]),
    ("Acme moved from Brest to Rennes in 2019.", []),
    ("Acme was led by Ada Moreau (2001) from Brest.", []),
    ("In May Acme was founded in Brest on 2 May 1990.", ["2 May 1990"]),
]

DISAGREE = [
    ("Bert Grund (1920–1992) was a composer.", "Bert Grund (1919–1992) was a composer."),
    ("Bert Grund (4 May 1920 – 1992) was a composer.", "Bert Grund (May 5, 1920 – 1992) was a composer."),
    ("The Signal is a 1955 French film by Ada Moreau.", "The Signal is a 1956 French film by Ada Moreau."),
    (
        "The Elorn bridge was opened in 1930 and closed in 1944.",
        "The Elorn bridge was opened in 1931 and closed in 1944.",
    ),
]

AGREE = [
    ("two lives", "Bert Grund (1920–1992) was a composer.", "Bert Grund (1855–1937) was a composer."),
    (
        "written otherwise",
        "Bert Grund (born 4 May 1920) was a composer.",
        "Bert Grund (born May 4, 1920) was a composer.",
    ),
    ("a title alone", "Lady Rodney died in February 1878.", "Lady Rodney died in April 1840."),
    ("a sequel", "Taxi is a 1981 film by Ann Low.", "Taxi Two is a 1987 film by Ann Low and the sequel to Taxi."),
    ("other years", "Acme opened 30 shops in Brest in 2019.", "Acme opened 30 shops in Brest in 2018."),
]


def stated(source: str, text: str) -> tuple[SourceStatement, ...]:
    digest = sha256(source.encode())
    end = len(text.encode())
    passage = Passage(
        id=f"{source}.1",
        source=source,
        document_sha256=digest,
        start=0,
        end=end,
        text=text,
        text_sha256=sha256(text.encode()),
    )
    return stated_values(passage, None)


def disagrees(one: str, other: str) -> bool:
    pairs = [(first, second) for first in stated("S1001", one) for second in stated("S2001", other)]
    return any(disagree(first, second, copies=False) for first, second in pairs)


@pytest.mark.parametrize(("sentence", "expected"), VALUES)
def test_what_happens_once_is_a_value(sentence: str, expected: list[str]) -> None:
    found = [value.written_form for value in sentence_values(sentence) if value.token.text != "three"]
    assert found == expected


@pytest.mark.parametrize(("one", "other"), DISAGREE)
def test_sources_disagree_on_a_date(one: str, other: str) -> None:
    assert disagrees(one, other)
    assert disagrees(other, one)


@pytest.mark.parametrize(("why", "one", "other"), AGREE, ids=[why for why, *_ in AGREE])
def test_no_conflict_of_dates(why: str, one: str, other: str) -> None:
    assert not disagrees(one, other)
    assert not disagrees(other, one)


@given(st.dates())
def test_a_date_has_one_form_however_it_is_written(day: date) -> None:
    forms = [f"Acme was founded on {day:%-d %B} {day.year:04d}.", f"Acme was founded on {day:%B %-d}, {day.year:04d}."]
    found = {normalize_date(word) for text in forms for word in analyze_text(text).words if isinstance(word.token, Day)}
    assert len(found) <= 1 or day.year < 1000


@given(st.text(alphabet="()- 19045.Abc,", max_size=60))
def test_any_brackets_are_read(text: str) -> None:
    sentence_values(f"{text}.")
