"""What a question asks the meaning of: the statement that defines it comes first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.named_things import defining, is_defined_by


def gains(question: str, *texts: str, heading: str = "", label: str = "") -> list[float]:
    statements = [
        QuotableStatement(text=text, place=place, heading=heading, label=label) for place, text in enumerate(texts)
    ]
    return defining(read_question(question, beside=" ".join(texts)), statements)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a sponsor?", "A sponsor is a member who uploads packages for somebody else."),
        ("What is a sponsor?", "A: Sponsors are members who upload packages for others."),
        ("What are sponsors?", "A sponsor (of a package) is somebody who uploads it."),
        ("What is a sponsor?", "sponsor: a member who uploads packages"),
        ("What does RHS mean?", "RHS = the right-hand side of a command"),
        ("What does sed stand for?", '"sed" stands for stream editor.'),
        ("What is a pool in Holmake?", "A pool is a number of jobs that may run at once."),
        ("Who is Carl Dorn?", "Carl Dorn, born in Oslo, is a painter."),
        ("Was ist ein Bürge?", "Ein Bürge ist ein Mitglied, das für andere Pakete hochlädt."),
        ("Qu'est-ce qu'un parrain ?", "Un parrain est un membre qui signe les paquets des autres."),
        ("¿Qué es un padrino?", "Un padrino es un miembro que firma los paquetes de otros."),
    ],
)
def test_a_definition(question: str, text: str) -> None:
    assert gains(question, text)[0] > 0


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is a sponsor?", "A sponsor may upload a package for somebody else."),
        ("What is a sponsor?", "Many sponsors read the list."),
        ("What is a sponsor?", "Sponsors are asked to sign what they upload."),
        ("What is a sponsor?", "These sponsors (who are thought to be gone) were found to be members."),
        ("What is a sponsor?", "The list of sponsors is a page of the archive."),
        ("What is a pool?", "pool = link_pool"),
        ("How long is a sponsor a member?", "A sponsor is a member for two years."),
        ("Where is the sponsor?", "A sponsor is a member who signs."),
    ],
)
def test_no_definition_or_none_asked_for(question: str, text: str) -> None:
    kind = "code" if " = " in text else "prose"
    statement = QuotableStatement(text=text, kind=kind)
    assert defining(read_question(question, beside=text), [statement]) == [0.0]


def test_the_definition_opens_the_answer() -> None:
    texts = (
        "A sponsor may upload a package for somebody else.",
        "You need a sponsor for your first upload.",
        "A sponsor is a member who uploads packages on behalf of others.",
    )
    statements = [QuotableStatement(text=text, place=place) for place, text in enumerate(texts)]
    for question, first in (("What is a sponsor?", 2), ("For what do I need a sponsor?", 1)):
        assert judge(read_question(question, beside=" ".join(texts)), statements).ranked[0].place == first


def test_the_first_sentence_under_the_name_introduces_it() -> None:
    texts = ("New in version 2.", "Pools allow jobs to be counted.", "A pool has a depth.")
    assert [gain > 0 for gain in gains("What is a pool?", *texts, heading="More > Pools")] == [False, True, False]
    assert gains("What is a pool?", *texts, heading="More > Pools > Depth") == [0.0] * 3


def test_what_describes_a_term_defines_it() -> None:
    assert gains("What is ballast?", "Heavy stuff that keeps a ship upright.", label="ballast")[0] > 0
    assert gains("What is a keel?", "Heavy stuff that keeps a ship upright.", label="ballast") == [0.0]


def test_a_name_is_asked_for_alone() -> None:
    assert is_defined_by(read_question("What is ballast?"), "Ballast")
    assert not is_defined_by(read_question("What is the price of ballast?"), "Ballast")


@given(st.text("What is a sponsor:=,.?()- é中", max_size=40), st.text("a sponsor is:=,.?()- é中", max_size=40))
def test_any_text_may_be_compared(question: str, text: str) -> None:
    assert len(gains(f"What is {question}", text)) == 1


def test_what_something_does_is_told_by_a_sentence_about_it() -> None:
    texts = ["PROBE_ARG: the argument for ps", "On old systems, probe is slow.", "The probe script sends a signal."]
    statements = [QuotableStatement(text=text, place=at) for at, text in enumerate(texts)]
    gains = defining(read_question("What does probe do?"), statements)
    assert gains[2] > gains[0] == gains[1] == 0.0
