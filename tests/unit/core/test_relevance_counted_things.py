"""A count asked for needs the thing counted beside a number."""

from __future__ import annotations

import pytest

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.counted_things import counted_keys

PLANETS = (
    "Jupiter is the largest planet, and turns once in 10 hours.",
    "Galileo saw Jupiter through a telescope with a magnification of 20 in 1610.",
    "Two probes flew past Jupiter in 1973 and 1974.",
    "Jupiter has no solid ground.",
)


def chance(question: str, *texts: str, heading: str = "") -> float:
    statements = [QuotableStatement(text=text, position=at, heading=heading) for at, text in enumerate(texts)]
    return judge(read_question(question, "", "\n".join(texts)), statements).chance


@pytest.mark.parametrize("question", ["How many moons does Jupiter have?", "Of how many gases is Jupiter made?"])
def test_a_number_of_something_else_is_no_count(question: str) -> None:
    assert chance(question, *PLANETS) == 0.0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many moons does Jupiter have?", "Jupiter has 95 known moons."),
        ("How many moons does Jupiter have?", "Jupiter has no moon that is as large as the Earth."),
        ("How many probes flew past Jupiter?", "Two probes flew past Jupiter."),
        ("Wie viele Monde hat der Jupiter?", "Der Jupiter hat 95 Monde."),
        ("How many people live near Jupiter?", "Near Jupiter there are 12 inhabitants who live in a station."),
        ("How many kinds of gas has Jupiter?", "Jupiter has 12 gases."),
        ("How much gas has Jupiter?", "Jupiter has 300 masses of the Earth, most of it gas."),
    ],
)
def test_a_count_beside_its_thing_answers(question: str, text: str) -> None:
    assert chance(question, text, *PLANETS) > 0.0


def test_a_thing_in_the_heading_is_counted_below_it() -> None:
    assert chance("How many moons does Jupiter have?", "Jupiter has 95 of them.", heading="Moons") > 0.0


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("How many white moons does Jupiter have?", {"white", "moon"}),
        ("In how many of the years was it seen?", {"year"}),
        ("How is it settled how many moons there are?", set()),
        ("How many people saw it?", set()),
        ("Combien de temps dure la nuit ?", set()),
        ("What is Jupiter?", set()),
    ],
)
def test_what_a_question_wants_counted(question: str, thing: set[str]) -> None:
    assert counted_keys(read_question(question)) == thing
