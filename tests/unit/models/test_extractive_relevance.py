"""How sentences are rated: rare terms over common ones, what stands near a sentence, and the kind asked for."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.shown import ShownPassage
from assay.models.extractive.passages import Sentence
from assay.models.extractive.question import analyze
from assay.models.extractive.relevance import Scorer, fits, weigh
from assay.models.extractive.shelf import Book
from assay.models.extractive.units import Unit

GEARS = (
    "The red gear turns slowly in oil.",
    "The blue gear turns slowly in oil.",
    "The last gear has 32 teeth and turns slowly.",
)
WORDS = st.lists(st.sampled_from(["gear", "red", "teeth", "oil", "32", "turns", "Frob"]), min_size=1, max_size=8)


def book(*texts: str, title: str = "Notes") -> Book:
    passages = [ShownPassage(f"S1.{at}", "S1", text) for at, text in enumerate(texts)]
    return Book("S1", title, "file:///notes.md", passages)


def weights(question: str, books: Sequence[Book]) -> dict[str, float]:
    asked = analyze(question)
    return weigh(asked.terms, asked.names, frozenset(), books)


def rated(question: str, *texts: str, title: str = "Notes") -> dict[str, float]:
    """The score of each sentence."""
    shelf = book(*texts, title=title)
    score = Scorer(analyze(question), weights(question, [shelf]))
    return {sentence.text: score(sentence, shelf) for sentence in shelf.sentences}


def best(question: str, *texts: str) -> str:
    """The sentence rated highest."""
    scores = rated(question, *texts)
    return max(scores, key=lambda text: scores[text])


def test_a_rare_term_weighs_more_than_a_common_one_and_a_missing_one_most() -> None:
    found = weights("Is a gear or its teeth or its axle slow?", [book(*GEARS)])
    assert found["gear"] < found["teeth"] < found["axl"]


def test_a_name_weighs_more_and_a_framing_word_less() -> None:
    shelf = [book(*GEARS)]
    plain = weigh(("red",), frozenset(), frozenset(), shelf)["red"]
    assert weigh(("red",), frozenset({"red"}), frozenset(), shelf)["red"] > plain
    assert weigh(("red",), frozenset(), frozenset({"red"}), shelf)["red"] < plain


@given(st.lists(WORDS.map(" ".join), min_size=1, max_size=5), WORDS.map(" ".join))
def test_weights_are_positive_and_each_of_a_term(texts: list[str], question: str) -> None:
    found = weights(question, [book(*texts)])
    assert set(found) == set(analyze(question).terms)
    assert all(weight > 0 for weight in found.values())


def test_a_document_without_the_rarest_name_does_not_answer() -> None:
    shelf = book(*GEARS)
    for question, there in (("Which gear has teeth?", True), ("Which gear does Frobnitz turn?", False)):
        assert fits(analyze(question), weights(question, [shelf]), shelf, 0.4) is there


@given(WORDS, WORDS)
def test_only_what_holds_or_is_named_by_a_term_is_rated(question: list[str], words: list[str]) -> None:
    sentence = Sentence("x", "S1.0", 0, analyze(" ".join(words)).names | frozenset(words), place=9)
    asked = analyze(" ".join(question))
    score = Scorer(asked, weights(asked.text, [book(" ".join(words))]))(sentence, book("y"))
    held = set(asked.terms) & sentence.stems
    assert score >= 0
    assert held or score == 0


@pytest.mark.parametrize(
    ("question", "texts", "expected"),
    [
        ("How many teeth does a gear have?", (*GEARS, "A gear without teeth is no gear at all."), GEARS[2]),
        (
            "Who made the gear train?",
            ("The gear train was made by the sea.", "The gear train was made by Ann Lee."),
            "The gear train was made by Ann Lee.",
        ),
        (
            "When was the gear train made?",
            ("The gear train was made in a hurry.", "The gear train was made in 1931."),
            "The gear train was made in 1931.",
        ),
        (
            "What is a slack gear?",
            ("Nobody wants a slack gear in winter.", "A slack gear is a gear which turns without load."),
            "A slack gear is a gear which turns without load.",
        ),
        (
            "What is the default width of a gear?",
            ("The width of a gear is told by default.", "The default width of a gear is 12 inches."),
            "The default width of a gear is 12 inches.",
        ),
        (
            "Which command stops the train?",
            ("The train stops at every command given.", "The command `halt` stops the train at once."),
            "The command `halt` stops the train at once.",
        ),
    ],
)
def test_the_kind_of_thing_asked_for_counts(question: str, texts: tuple[str, ...], expected: str) -> None:
    assert best(question, *texts) == expected


def test_a_name_as_in_code_is_not_another() -> None:
    scores = rated("What does gear_size set?", "The gear size sets the speed.", "The option gear_size sets the load.")
    other, right = scores.values()
    assert other < right


def test_a_version_is_compared_as_a_whole() -> None:
    scores = rated("When was Frob 3.1 made?", "Frob 3.12 was made in May 2021.", "Frob 3.1 was made in May 2009.")
    assert [score > 0 for score in scores.values()] == [False, True]


def test_a_sentence_which_points_back_stands_behind_one_which_does_not() -> None:
    scores = rated("How does oil cool a gear?", "Oil cools a gear from inside.", "Thus oil cools a gear as well.")
    plain, pointing = scores.values()
    assert pointing < plain


def test_a_unit_names_its_passages_in_its_line() -> None:
    unit = Unit(text="Gears turn.", passages=("S1.2", "S1.4"), source="S1")
    assert unit.line() == "Gears turn. [S1.2, S1.4]"
