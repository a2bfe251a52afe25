"""Negations: what a question denies, and which statements deny it too."""

from __future__ import annotations

import pytest
from growth import WORST, exponent

from assay.core.lexicon import clauses, denied_parts, without_affix
from assay.core.relevance import QuotableStatement, judge, read_question
from assay.core.relevance.features import Features


@pytest.mark.parametrize(
    ("question", "denied"),
    [
        ("Which search providers need no key?", {"key"}),
        ("Which gears can be turned without oil?", {"oil"}),
        ("Which cities weren't destroyed by the flood?", {"destroy", "flood"}),
        ("Which towns does the train not reach?", {"reach"}),
        ("What are gears not?", {"gear"}),
        ("Which search providers need a key?", set()),
        ("Welche Anbieter brauchen keinen Schlüssel?", {"schlussel"}),
        ("Какие города не были разрушены?", {"разруш"}),
        ("非洲有哪些城市?", set()),
        ("¿Qué proveedores no necesitan clave?", {"necesit", "clav"}),
    ],
)
def test_a_question_denies_what_follows_its_negation_else_what_precedes_it(question: str, denied: set[str]) -> None:
    assert read_question(question).denied_keys == denied


@pytest.mark.parametrize(
    ("question", "statement", "expected"),
    [
        ("Which search providers need no key?", "Vorax needs no key.", 1),
        ("Which search providers need no key?", "Vorax works without a key.", 1),
        ("Which search providers need no key?", "A key is not needed for Vorax.", 1),
        ("Which search providers need no key?", "Vorax needs a key.", -1),
        ("Which search providers need no key?", "Brax needs a key, but Vorax does not.", 0),
        ("Which search providers need no key?", "Vorax is a provider.", 0),
        ("Which search providers need a key?", "Vorax needs no key.", 0),
        ("Which formats are not supported?", "Text is unsupported.", 1),
        ("Welche Anbieter brauchen keinen Schlüssel?", "Vorax kommt ohne Schlüssel aus.", 1),
        ("Welche Anbieter brauchen keinen Schlüssel?", "Vorax verlangt einen Schlüssel.", -1),
        ("Какие города не были разрушены?", "Новгород не был разрушен.", 1),
        ("Какие города не были разрушены?", "Киев был разрушен.", -1),
        ("哪些城市没有被摧毁?", "诺夫哥罗德没有被摧毁。", 1),
        ("哪些城市没有被摧毁?", "基辅被摧毁了。", -1),
    ],
)
def test_a_statement_denies_or_affirms_it(question: str, statement: str, expected: int) -> None:
    assert Features(read_question(question), [QuotableStatement(text=statement)]).denial_match(0) == expected


def test_of_two_statements_the_one_with_the_questions_polarity_is_better() -> None:
    texts = ("Vorax is a search provider and needs a key.", "Brax is a search provider and needs no key.")
    statements = [QuotableStatement(text=text, position=place) for place, text in enumerate(texts)]
    assert judge(read_question("Which search providers need no key?"), statements).ranked[0].index == 1


def test_statements_that_only_affirm_what_is_denied_do_not_answer() -> None:
    statements = [QuotableStatement(text="The search provider Vorax needs a key.")]
    assert judge(read_question("Which search provider needs a key?"), statements).is_answered()
    assert not judge(read_question("Which search provider needs no key?"), statements).is_answered()


def test_a_clause_ends_at_marks_and_before_words_that_begin_another() -> None:
    assert clauses("Brax needs a key, but Vorax needs none.", "en") == [
        ("Brax needs a key", False),
        (" Vorax needs none", True),
    ]
    assert denied_parts("What do gears not have that others have?", "en") == (" have ", "What do gears ")
    assert without_affix("Unsupported") == "supported"
    assert without_affix("keyless") == "key"
    assert without_affix("key") == ""


@pytest.mark.parametrize("sign", [".", "?!", "x,"])
def test_leaders_take_linear_time(sign: str) -> None:
    """The row of points before a page's number once took a minute for 100,000 of them."""
    assert exponent(lambda text: clauses(text, "en"), lambda size: f"Contents {sign * size}12", 5_000) < WORST
