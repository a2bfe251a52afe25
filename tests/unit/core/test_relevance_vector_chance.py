"""What meaning adds to words: in the order of statements, in the chance that they answer, and for whoever looks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.messages import Closeness, passage_text, shown_text
from assay.core.passage_context import ShownPassage, ShownSource
from assay.core.relevance import Judgement, QuotableStatement, judge, read_question
from assay.core.relevance.relevance_constants import MEANING_WEIGHT
from assay.core.relevance.scores import adjust_chance, blend_scores, rank_by_both

ASKED = read_question("How many times should a car be serviced?")
TEXTS = (
    "The car which was shown in the hall at the end of the year was red, and it was sold to nobody at all.",
    "Each automobile needs maintenance after twelve months.",
    *(f"Bread of kind {number} is made of flour, water and salt." for number in range(8)),
)
STATEMENTS = [QuotableStatement(text=text, source=0, position=at * 5) for at, text in enumerate(TEXTS)]
FAR = [0.1] * 8
numbers = st.floats(-1, 1, allow_nan=False)


def judged(*cosines: float | None) -> Judgement:
    return judge(ASKED, STATEMENTS, None, cosines)


def test_without_cosines_words_decide():
    assert TEXTS[judged().ranked[0].index] == TEXTS[0]
    assert judged() == judge(ASKED, STATEMENTS) == judged(*[None] * len(TEXTS))


def test_what_is_nearest_comes_first_where_words_say_little():
    near = judged(0.1, 0.5, *FAR)
    assert TEXTS[near.ranked[0].index] == TEXTS[1]


def test_what_stands_far_above_the_usual_is_an_answer_in_any_words():
    others = STATEMENTS[1:]
    assert not judge(ASKED, others).is_answered()
    assert not judge(ASKED, others, None, [0.5, *FAR]).is_answered()
    assert judge(ASKED, others, None, [0.8, *FAR]).is_answered()


def test_what_is_near_answers_how_often_though_the_best_words_do_not_say_it():
    often = read_question("How often should a car be serviced?")
    assert not judge(often, STATEMENTS).is_answered()
    near = judge(often, STATEMENTS, None, [0.1, 0.8, *FAR])
    assert near.is_answered()
    assert [TEXTS[each.index] for each in near.ranked] == [TEXTS[1]]


def test_what_is_as_near_as_all_others_is_less_likely_an_answer():
    assert judged(0.12, 0.1, *FAR).chance < judged().chance < judged(0.5, 0.1, *FAR).chance


def test_among_a_few_none_is_the_usual_one():
    few = judge(ASKED, STATEMENTS[:2], None, [0.1, 0.9])
    assert few.chance == judge(ASKED, STATEMENTS[:2]).chance
    assert TEXTS[few.ranked[0].index] == TEXTS[1]


def test_statements_which_were_not_compared_stand_in_the_middle():
    assert blend_scores([0.0, 0.0, 0.0], [0.2, None, 0.6]) == [0.0, MEANING_WEIGHT / 2, MEANING_WEIGHT]
    assert blend_scores([1.0, 2.0], [0.5, 0.5]) == [1.0, 2.0]


@given(st.lists(st.tuples(numbers, numbers), min_size=1), st.floats(0.1, 10), st.floats(-5, 5))
def test_the_order_does_not_depend_on_where_a_models_cosines_lie(pairs: list, scale: float, shift: float):
    scores, cosines = [a for a, _ in pairs], [b for _, b in pairs]
    moved = [each * scale + shift for each in cosines]
    if max(cosines) - min(cosines) > 1e-6:
        assert blend_scores(scores, moved) == pytest.approx(blend_scores(scores, cosines), abs=1e-6)


@given(st.floats(0.01, 0.99), st.lists(st.floats(-0.5, 1.0), min_size=8))
def test_a_chance_stays_one(chance: float, cosines: list[float]):
    assert 0.0 <= adjust_chance(chance, cosines, [0, 1, 2], 3) <= 1.0
    assert adjust_chance(chance, [None] * 8, [0], 0) == chance


def test_mixed_by_words_and_meaning():
    assert rank_by_both([], []) == []
    assert rank_by_both([0.9, 0.3, 0.3], [0.1, 0.1, 0.8])[0] == 2
    assert rank_by_both([0.9, 0.3], [0.5, 0.5]) == [0, 1]


def test_a_question_which_was_not_compared_counts_as_the_one_most_like_it():
    known = Closeness(cosines={"Who made the car?": {"S1.0": 0.5}, "When was the bridge built?": {"S1.0": 0.1}})
    assert known.cosines_for("Who made the car?") == {"S1.0": 0.5}
    assert known.cosines_for("the bridge") == {"S1.0": 0.1}
    assert known.cosines_for("xylophone") == {}


def test_a_passage_is_read_with_what_stands_above_it():
    assert passage_text("Care", "", "Each year.") == "Care\nEach year."
    source = ShownSource(id="S1", title="The car", url="car.md")
    under = ShownPassage("S1.0", "S1", "Each year.", under="Use > Care", about="| Part | Years |")
    assert shown_text(source, under) == "Care\n| Part | Years |\nEach year."
    assert shown_text(source, ShownPassage("S1.1", "S1", "Each year.")) == "The car\nEach year."
