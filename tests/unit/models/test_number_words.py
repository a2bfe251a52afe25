"""Numbers in German, French and Spanish words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.models.stated_values.number_words import numbers_in_words, value_of


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("zwölf", 12),
        ("einundzwanzig", 21),
        ("Siebenundneunzig", 97),
        ("zweihundertdreißig", 230),
        ("dreitausendfünfhundertzwei", 3502),
        ("zwei Millionen dreihunderttausend", 2_300_000),
        ("hundert", 100),
        ("drei (3)", 3),
        ("douze", 12),
        ("vingt et un", 21),
        ("soixante et onze", 71),
        ("soixante-dix-sept", 77),
        ("quatre-vingts", 80),
        ("quatre-vingt-dix-sept", 97),
        ("deux cent mille", 200_000),
        ("mille neuf cent", 1900),
        ("veintidós", 22),
        ("treinta y dos mil", 32_000),
        ("doscientas cincuenta", 250),
        ("un millón", 1_000_000),
        ("dos mil quinientos millones", 2_500_000_000),
        ("deux mille milliards", 2_000_000_000_000),
        ("eine Milliarde zwei Millionen", 1_002_000_000),
        *(
            (words, None)
            for words in (
                "drei vier",
                "fünf zehn",
                "eine",
                "una",
                "cents",
                "once",
                "sieb",
                "zehn hundert",
                "tausend tausend",
                "zwei tausend drei tausend",
            )
        ),
    ],
)
def test_words_of_one_number_have_its_value(words: str, value: int | None) -> None:
    assert value_of(words) == value
    assert [match[0] for match in numbers_in_words(f"a {words} b")] == ([words] if value is not None else [])


@pytest.mark.parametrize(
    "text", ["dreijährig", "achten", "Ein Haus", "deux et demi", "Zweitausender", "un Sept-Heures", "Er sagte nein."]
)
def test_parts_of_other_words_are_no_numbers(text: str) -> None:
    assert list(numbers_in_words(text)) == []


@given(st.text("zweidrhuntaslcvq- é1", max_size=40))
def test_any_text_is_read(text: str) -> None:
    for match in numbers_in_words(text):
        assert value_of(match[0]) is not None


def test_long_words_are_read_in_one_way() -> None:
    assert list(numbers_in_words("dreizehn" * 5_000 + "x")) == []
