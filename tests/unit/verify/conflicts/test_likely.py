"""Which texts may state what a cited passage states: none which does is left out."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay.verify.conflicts.detection import LikelyTexts
from assay.verify.conflicts.disagreement import ALIKE
from assay.verify.conflicts.statements import sentence_values

WORDS = (
    "Brest",
    "Ouessant",
    "U.S.",
    "EIP-1559",
    "Python 3",
    "harbour",
    "Müller’s",
    "isn't",
    "naïve",
    "co\u00adoperative",
    "ﬁnal",
    "employs",
    "lamps",
    "ships",
    "the",
    "of",
    "in 2020",
    "v1.2.3",
    "**bold**",
    "`code`",
)
FIGURES = ("40", "twelve", "3.4 million", "12 percent", "٣٠", "$5", "10 May 1921", "1,200 km")


@st.composite
def pairs(draw: st.DrawFn) -> tuple[str, str]:
    """Two sentences with figures, which have most of their words in common."""
    words = draw(st.lists(st.sampled_from(WORDS), min_size=3, max_size=8))
    others = draw(st.permutations(words))[draw(st.integers(0, 1)) :] + draw(
        st.lists(st.sampled_from(WORDS), max_size=1)
    )
    return sentence(draw, words), sentence(draw, others)


def sentence(draw: st.DrawFn, words: list[str]) -> str:
    at = draw(st.integers(0, len(words)))
    return f"The {' '.join([*words[:at], draw(st.sampled_from(FIGURES)), *words[at:]])}."


def keys(text: str) -> list[frozenset[str]]:
    return [value.keys for value in sentence_values(" ".join(text.split()))]


@settings(deadline=None)
@given(pairs(), st.sampled_from(["", "Nobody knows why. ", "A heading\n\n"]))
@example(("The U.S. employs 40 lamps.", "The U.S. employs 12 lamps."), "")
@example(("The EIP-1559 Brest employs 40 ships.", "The EIP-1559 Brest employs twelve ships."), "")
def test_no_text_which_shares_enough_words_is_left_out(pair: tuple[str, str], before: str) -> None:
    one, other = pair
    cited = keys(one)
    near = any(len(each & own) >= ALIKE * len(each | own) for each in cited for own in keys(other))
    if near:
        assert LikelyTexts(cited, ALIKE).is_likely(before + other)
        assert LikelyTexts([*cited, frozenset(("something", "else"))], ALIKE).is_likely(other)


def test_a_text_without_a_figure_or_with_other_words_is_none() -> None:
    likely = LikelyTexts(keys("The harbour of Brest employs 400 people."), ALIKE)
    assert likely.is_likely("In Brest the harbour employs nine hundred people.")
    assert not likely.is_likely("In Brest the harbour employs many people.")
    assert not likely.is_likely("The lighthouse of Ouessant was built by 400 masons.")


def test_nothing_cited_makes_nothing_likely() -> None:
    assert not LikelyTexts([], ALIKE).is_likely("The harbour of Brest employs 400 people.")
