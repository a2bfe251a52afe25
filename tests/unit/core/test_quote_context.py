"""The text around quotes: in plain words, and once for quotes that stand close together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.quote_context import QuotePlace, group_quotes, plain_words, printed_quote

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def quote_of(document: str, start: int, end: int, around: int) -> QuotePlace:
    """Code points `[start, end)` of a document with up to `around` on each side."""
    first, last = (len(document[:point].encode()) for point in (start, end))
    return QuotePlace(first, last, document[max(0, start - around) : start], document[end : end + around])


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("## Costs\n\nText", "Costs\n\nText"),
        ("Text\n\n# ", "Text\n\n"),
        ("| Size: 3 | Age: 4 |\n| Size: 5 | Age: 6 |", "Size: 3 | Age: 4\nSize: 5 | Age: 6"),
        ("a cut row: 3 | Age: 4 |\n", "a cut row: 3 | Age: 4\n"),
        ("|---|:--:|\n| a | b |", "a | b"),
        ("Title\n=====\nText", "Title\nText"),
        ("> said\n> twice", "said\ntwice"),
        ("- one\n  * two", "• one\n  • two"),
        ("a **strong** word, an *odd* one, `code` and ``more``", "a strong word, an odd one, code and more"),
        ("[here](https://a.example/b) and ![a map](m.png)", "here and a map"),
        (r"3 \* 4", "3 * 4"),
        ("```python\nx = 1\n```\nText", "x = 1\nText"),
    ],
)
def test_the_marks_of_the_stored_form_are_left_out(stored: str, shown: str) -> None:
    assert plain_words(stored, WORD) == shown
    assert plain_words(stored, "text/html") == shown


@pytest.mark.parametrize("words", ["5 * 3 * 2", "x #1 of #2", "P(A | B)", "a - b", "__init__", "C# code", "2 > 1"])
def test_signs_that_are_no_marks_stay(words: str) -> None:
    assert plain_words(words, WORD) == words


def test_source_code_and_plain_text_are_shown_as_they_are() -> None:
    text = "# set up\nx | sort |\n- 3 **p\n"
    assert plain_words(text, "text/x-source") == plain_words(text, "text/plain") == text


def test_of_a_pdf_and_an_e_mail_only_the_bars_of_rows_are_left_out() -> None:
    text = "# of patients\n| Age: 3 | Sex: f |\n- 3"
    for media_type in ("application/pdf", "message/rfc822"):
        assert plain_words(text, media_type) == "# of patients\nAge: 3 | Sex: f\n- 3"


@given(
    st.text(alphabet="ab é🐍\n", min_size=1, max_size=80),
    st.lists(st.integers(0, 80), min_size=2, max_size=12, unique=True),
    st.integers(0, 20),
    st.randoms(use_true_random=False),
)
def test_a_groups_parts_are_the_text_of_the_document(document: str, points: list[int], around: int, chance) -> None:
    cuts = sorted(point for point in points if point <= len(document))
    quotes = [quote_of(document, *span, around) for span in zip(cuts[::2], cuts[1::2], strict=False)]
    chance.shuffle(quotes)
    texts = [document.encode()[quote.start : quote.end].decode() for quote in quotes]
    groups = group_quotes(quotes)
    assert sorted(part.index for group in groups for part in group) == list(range(len(quotes)))
    for group in groups:
        first, last = quotes[group[0].index], quotes[group[-1].index]
        joined = "".join(f"{part.before}{texts[part.index]}{part.after}" for part in group)
        begins = first.start - len(first.before.encode())
        ends = last.end + len(last.after.encode())
        assert joined.encode() == document.encode()[begins:ends]
        assert [part.follows for part in group] == [False] + [True] * (len(group) - 1)
        assert [part.is_followed for part in group] == [True] * (len(group) - 1) + [False]
    assert [min(part.index for part in group) for group in groups] == sorted(
        min(part.index for part in group) for group in groups
    )


def test_quotes_far_apart_or_whose_surroundings_disagree_are_apart() -> None:
    document = "one two three four five"
    first, second = quote_of(document, 0, 3, 4), quote_of(document, 19, 23, 4)
    assert len(group_quotes([first, second])) == 2
    near = quote_of(document, 8, 13, 5)
    assert len(group_quotes([first, near])) == 1
    assert len(group_quotes([first, near._replace(before=" TWO ")])) == 2


def test_surroundings_that_cut_a_character_are_apart() -> None:
    assert len(group_quotes([QuotePlace(6, 6, "aa", ""), QuotePlace(10, 12, " éaa ", "")])) == 2


def test_a_printed_row_has_no_bars_at_its_ends() -> None:
    assert printed_quote("| Age: 3 | Sex: f |\n| Age: 5 | Sex: m |", WORD) == "Age: 3 | Sex: f Age: 5 | Sex: m"
    assert printed_quote("ls | sort |\n  head", "text/x-source") == "ls | sort | head"
    assert printed_quote("**as** written", WORD) == "**as** written"


def test_long_lines_that_are_nearly_rules_cost_no_more_than_others() -> None:
    for line in (" " * 2_000 + "-" * 2_000 + " " * 2_000 + "x", "|---" * 2_000 + "x", " " * 6_000 + "x"):
        assert plain_words(line, WORD) == line
    assert plain_words("above\n" + " " * 2_000 + "-" * 2_000 + " " * 2_000 + "\nbelow", WORD) == "above\nbelow"
