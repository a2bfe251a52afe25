"""Lengths and languages as people give them."""

from __future__ import annotations

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st

from assay.core.brief import (
    MAX_WORDS,
    MIN_WORDS,
    read_length,
    word_limit,
)
from assay.core.errors import UsageError
from assay.core.languages import COMMON_WORDS, LANGUAGE_NAMES, SCRIPTS, language_name, read_language


@pytest.mark.parametrize(
    ("given_length", "length", "words"),
    [("short", "short", 450), (" Normal ", "normal", 900), ("long", "long", 1800), ("300", 300, 300), (300, 300, 300)],
)
def test_lengths(given_length: str | int, length: str | int, words: int) -> None:
    assert read_length(given_length) == length
    assert word_limit(read_length(given_length), 900) == words


@pytest.mark.parametrize(
    "wrong", ["huge", "", "-5", "3.5", MIN_WORDS - 1, MAX_WORDS + 1, "٣٠٠", "9" * 5000, "300 words"]
)
def test_other_lengths_are_refused_with_what_there_is(wrong: str | int) -> None:
    with pytest.raises(UsageError, match=r"write short, normal, long or a number from 30 to 10,000"):
        read_length(wrong)


@pytest.mark.parametrize(
    ("code", "tag", "name"),
    [
        ("de", "de", "German"),
        ("PT-br", "pt-BR", "Portuguese (Brazil)"),
        ("zh_Hant", "zh-Hant", "Chinese (Traditional)"),
        ("nds", "nds", "Low German"),
    ],
)
def test_languages(code: str, tag: str, name: str) -> None:
    assert read_language(code) == tag
    assert language_name(tag) == name
    assert read_language(tag) == tag


def test_names_that_are_known_without_babel_are_those_it_gives() -> None:
    assert {tag: Locale.parse(tag).get_language_name("en") for tag in LANGUAGE_NAMES} == LANGUAGE_NAMES
    assert {*COMMON_WORDS, *(language for language, _ in SCRIPTS)} < LANGUAGE_NAMES.keys()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [("german", "german is de"), ("xx", "like en, de or pt-BR"), ("../x", "no language code"), ("de-ZZZ", "no lang")],
)
def test_unknown_languages_are_refused(wrong: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_language(wrong)


@given(st.text(max_size=60))
def test_any_text_is_a_known_language_or_refused(text: str) -> None:
    try:
        tag = read_language(text)
    except UsageError:
        return
    assert read_language(tag) == tag
    assert language_name(tag) != tag


def test_no_language_has_no_name() -> None:
    assert language_name("") == ""
    assert language_name("not a tag") == "not a tag"
