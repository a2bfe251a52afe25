import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from assay.cli.terminal import clean, strip_controls, wrap
from assay.core.milestones import pluralize, shorten


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str):
    left = strip_controls(text)
    assert not [char for char in left if unicodedata.category(char) == "Cc" and char not in "\n\t"]
    assert not set(left) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert strip_controls(left) == left


@given(st.text())
def test_clean_is_one_line(text: str):
    assert len(clean(text).splitlines()) <= 1


def test_what_people_write_stays():
    text = "Größe: 5 µm\n\t助手 مرحبا 👩‍🚀 ‘x’ [1]"
    assert strip_controls(text) == text
    assert clean("a\x1b[31mred\x07\r\nb") == "a[31mred b"


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_shortened_lines_fit(text: str, width: int):
    assert len(shorten(text, width)) <= width


def test_counted():
    assert [pluralize(0, "claim"), pluralize(1, "claim"), pluralize(2_000, "search", "searches")] == [
        "0 claims",
        "1 claim",
        "2,000 searches",
    ]


@given(st.text(st.sampled_from("ab 港é"), max_size=120), st.integers(min_value=4, max_value=40), st.integers(0, 4))
def test_wrapping_breaks_only_between_words(text: str, width: int, hang: int):
    lines = wrap(text, width, hang).split("\n")
    assert " ".join(lines).split() == text.split()
    for line in lines:
        words = [word for word in line.split(" ") if word]
        assert cell_len(line) <= width or any(cell_len(word) > width // 2 for word in words) or not words


def test_wrapped_lines_go_on_where_their_text_began():
    told = wrap("unsupported   line 3: the pier was built", 30)
    assert told == "unsupported   line 3: the pier\n              was built"
    assert wrap("  plan: the pier was built", 16, 2) == "  plan: the pier\n    was built"
    assert wrap("one\ntwo three", 8) == "one\ntwo\nthree"
    address = f"https://example.org/{'a' * 40}"
    assert wrap(f"see {address} for it", 20) == f"see {address} for it"
    assert wrap("", 20) == ""
