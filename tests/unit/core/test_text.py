"""Sentences, words, token estimates and offsets."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sampling import scaled

from assay.core import text as text_module
from assay.core.text import estimate_tokens, letter_pairs, sentences, separate_lines, words


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith went to Washington.", "He paid 3.5 dollars (e.g. to J. Doe).", "Fine."],
        ["The U.S. is big.", "It costs $3.2 million."],
        ["See Fig. 3 and No. 5.", "Yes?", "No!", "It ends."],
        ["Its pylons rise to 204 m.", "The span is 490 m long.", "It took 5 s.", "Then it fell."],
        ["See p. 5 f. The court was asked by J. m. Keynes of 34 W. Main Street."],
        ["PEP 8 (see sec. 3.2) holds.", "Version 3.11.4 was released."],
        ["**Bold.**", "Next.", "*It* is `foo.bar`.", "Done."],
        ['He said "Go."', "Then he left."],
        ["Am 3. Oktober 1990 war es z. B. so, vgl. Abs. 4.", "Gut."],
        ["Die Bewegung begann Mitte des 18. Jahrhunderts in der Stadt.", "Er war der 2. Vorsitzende von drei."],
        ["Ludwig XIV. regierte lange und mit Glanz.", "Es war der 100. Geburtstag des Königs."],
        ["Sie war mit der Schule fertig und wurde 18.", "Danach zog sie in die Stadt."],
        ["He was the first of them and he was 18.", "Then he left the city."],
        ["The bid came from Baltic Marine Works.", "Orlov's firm lost.", "It is in the old book.", "Petrov has it."],
        ["See Mass. Ann. Laws of the series for J. Hall.", "It works. orlov is a login."],
        ["Это т. е. так.", "В 1990 г. было.", "Конец."],
    ],
)
def test_sentences_of_alphabets(expected: list[str]) -> None:
    assert split(" ".join(expected)) == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["这是第一句。", "这是第二句！", "好的？", "完"],
        ["「你好。」", "他说3.5元。"],
        ["今日は晴れ。", "明日は雨?", "そうです。"],
        ["第一!", "第二."],
    ],
)
def test_sentences_of_scripts_without_spaces(expected: list[str]) -> None:
    assert split("".join(expected)) == expected


def test_arabic_and_hindi_signs_end_sentences() -> None:
    assert split("هل هذا صحيح؟ نعم.") == ["هل هذا صحيح؟", "نعم."]
    assert split("यह एक है। यह दो है।") == ["यह एक है।", "यह दो है।"]


def test_a_blank_line_ends_a_sentence_and_a_newline_does_not() -> None:
    assert split("One\ntwo\n\nthree\r\n\r\nfour") == ["One\ntwo", "three", "four"]


def test_blank_text_has_no_sentence() -> None:
    assert sentences("") == sentences(" \n\n\t ") == []


ALPHABET = st.sampled_from([*"aB3.!?。！؟ \n\r\t\"')”」*_-é第中", "e.g. ", "Dr. ", "\n\n", "🙂", "e\u0301", "\u2028"])


@settings(max_examples=scaled(100))
@given(st.lists(ALPHABET, max_size=50).map("".join) | st.text(max_size=80))
def test_spans_ascend_and_leave_out_only_white_space(text: str) -> None:
    at = 0
    for start, end in sentences(text):
        assert at <= start < end
        assert text[at:start].strip() == ""
        piece = text[start:end]
        assert piece == piece.strip() != ""
        at = end
    assert text[at:].strip() == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("EIP-1559's fee", ["eip", "1559", "fee"]),
        ("don't stop", ["don't", "stop"]),
        ("snake_case 3.11", ["snake", "case", "3", "11"]),
        ("STRAẞE ﬁne Ⅳ", ["strasse", "fine", "iv"]),
        ("第一句 中", ["第一", "一句", "中"]),
        ("Python是语言", ["python", "是语", "语言"]),
        ("हिन्दी", ["हिन्दी"]),
        ("- – …!", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(st.text(max_size=60))
def test_words_are_the_same_in_any_case_and_form(text: str) -> None:
    assert all(word == word.casefold() and word.strip() == word != "" for word in words(text))


def test_composed_and_decomposed_words_match() -> None:
    assert words("Cafe\u0301") == words("Café")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 20, 900 / 4, 900 / 3),
        ("深度研究需要证据" * 20, 160, 320),
        ("Глубокое исследование требует доказательств " * 20, 880 / 3, 880),
        ("0123456789" * 20, 200 / 3, 200),
        ("aGVsbG8gd29ybGQh" * 20, 320 / 2.5, 320),
        ("🙂" * 20, 40, 80),
    ],
)
def test_estimates_are_on_the_safe_side_and_not_absurd(text: str, least: float, most: float) -> None:
    """Characters a token as tokenizers commonly have them, and never more than one token a byte."""
    assert least <= estimate_tokens(text) <= most


@given(st.text(max_size=50), st.text(max_size=50))
def test_estimates_add_up(one: str, other: str) -> None:
    assert estimate_tokens(one) <= estimate_tokens(one + other) + 1
    assert (estimate_tokens(one) == 0) == (one == "")


@given(st.text(st.one_of(st.characters(), st.sampled_from("a's’b\n \r\u0301日本ßİﬁ¶")), max_size=40))
def test_words_are_those_of_the_pattern_over_the_whole_text(text: str):
    found: list[str] = []
    for spaced, run in text_module._word_pattern().findall(unicodedata.normalize("NFKC", text).casefold()):
        found += [spaced.removesuffix("'s").removesuffix("’s")] if spaced else letter_pairs(run)
    assert words(text) == found


@given(st.text(st.sampled_from("日本のเกี่ยวน้ำะัາສາລາວខ្មែរမြန်မာ္"), min_size=1, max_size=12))
def test_pairs_overlap_and_leave_nothing_out(run: str):
    found = letter_pairs(run)
    assert run.startswith(found[0])
    assert run.endswith(found[-1])
    place = 0
    for pair in found:
        assert (place := run.find(pair, place)) >= 0  # in their order
    assert set("".join(found)) == set(run)


def test_pairs_of_han_are_of_characters_and_of_thai_of_syllables():
    assert letter_pairs("分词法") == ["分词", "词法"]
    assert letter_pairs("ท่าเรือ") == ["ท่าเรื", "เรือ"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Launch moved to June\n  Bob takes the press kit\n", ["Launch moved to June", "Bob takes the press kit"]),
        ("12.05. 09:14 no idea.\n12.05. 09:15 me neither", ["12.05. 09:14 no idea.", "12.05. 09:15 me neither"]),
        ("2016-2019 Halle\n2019-2023 Mechelen", ["2016-2019 Halle", "2019-2023 Mechelen"]),
        ("Only one line", []),
        ("A sentence that is broken\nInto two. And a third", []),
        ("Notes of\nThe board", []),
        ("Port, depth,\nGoole", []),
    ],
)
def test_lines_that_stand_alone(text: str, lines: list[str]) -> None:
    assert [text[start:end] for start, end in separate_lines(text)] == lines


@given(st.text(st.sampled_from("Ab1[ .\n,:日"), max_size=40))
def test_separate_lines_are_the_lines(text: str) -> None:
    assert [text[start:end] for start, end in separate_lines(text)] in (
        [],
        [each.strip() for each in text.split("\n") if each.strip()],
    )
