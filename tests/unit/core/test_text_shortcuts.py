"""Words and token estimates are found by shortcuts: they give what the plain way gives."""

from __future__ import annotations

import math
import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.text import _MAYBE_END, estimate_tokens, sentences, words

TEXTS = st.one_of(
    st.text(),
    st.text(alphabet=st.characters(codec="ascii")),
    st.lists(
        st.sampled_from(["the", "dog's", "'s", "it’s", "x" * 23, "y/" * 12, "é", "2026", "\ud800", "?", "字"])
    ).map("".join),
)


def plainly(text: str) -> int:
    def count(pattern: str) -> int:
        return sum(len(run) for run in re.findall(pattern, text))

    foreign = [char for char in text if not char.isascii()]
    wide = sum(len(char.encode("utf-8", "surrogatepass")) for char in foreign)
    letters, digits, dense = count("[A-Za-z ]+"), count("[0-9]+"), count("[A-Za-z0-9+/=_-]{24,}")
    signs = len(text) - len(foreign) - letters - digits
    return math.ceil(letters / 3.5 + digits * 0.7 + signs * 0.8 + 0.9 * wide - 1.2 * len(foreign) + dense * 0.25)


@given(TEXTS)
@example("x" * 24)
@example("é" + "x" * 23 + "é" + "x" * 24)
@example("is this ?" * 3 + "—?")
def test_the_estimate_is_the_formula(text: str) -> None:
    assert abs(estimate_tokens(text) - plainly(text)) <= 1  # sums of fractions, rounded up
    if text.isascii():
        assert estimate_tokens(text) == plainly(text)


@given(TEXTS)
@example("The dog's O'Brien's 'quoted' it's EIP-1559 a'1 x_y 'S")
@example("rock'n'roll 12'34 ''a''b' S's")
@example("Größe")
@example("½m²")
def test_words_of_ascii_text_are_those_of_any_text(text: str) -> None:
    marked = words(f"{text} 字")  # one sign which is not ASCII takes its line the general way
    assert marked[-1] == "字"
    assert words(text) == marked[:-1]


@given(st.text(alphabet='a.!?…"[_\u3000 \n', max_size=30))
def test_where_a_sentence_may_end_is_found_as_by_the_plain_pattern(text: str) -> None:
    plain = re.search(r"[.!?…][^\w\s]*\s", text)
    assert (_MAYBE_END.search(text) is not None) == (plain is not None)


@pytest.mark.parametrize("sign", ["![", '"...', "…”"])
def test_many_signs_which_may_end_a_sentence_take_no_long_time(sign: str) -> None:
    begun = time.process_time()
    assert len(sentences(sign * 50_000)) == 1
    assert time.process_time() - begun < 10
