from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.function_words import STOP_WORDS
from assay.core.lexicon import STEMMERS, UNSTEMMED, analysis_of, name_terms, stop_terms, terms


@pytest.mark.parametrize(
    ("text", "analysis", "found"),
    [
        ("Running EIP-1559", "en", ["run", "eip", "1559"]),
        ("Café naïve", "en", ["cafe", "naiv"]),
        ("ﬁle ＡＢＣ", "en", ["file", "abc"]),
        ("中文分词 and x", "en", ["中文", "文分", "分词", "and", "x"]),
        ("中", "en", ["中"]),
        ("เรือ", "en", ["เรือ"]),
        ("น้ำขึ้นเต็มที่", "en", ["นําขึ", "ขึน", "นเต", "เตม", "มที"]),
        ("ພາສາລາວ 3", "en", ["ພາສາ", "ສາລາ", "ລາວ", "3"]),
        ("ភាសាខ្មែរ", "en", ["ភាសា", "សាខមែ", "ខមែរ"]),
        ("မြန်မာဘာသာ", "en", ["မြန", "နမာ", "မာဘာ", "ဘာသာ"]),
        ("книги книга", "ru", ["книг", "книг"]),
        ("Häuser", "de", ["haus"]),
        ("Running", UNSTEMMED, ["runnin"]),
        ("a" * 100 + " b", "en", ["b"]),
    ],
)
def test_terms(text: str, analysis: str, found: list[str]) -> None:
    assert terms(text, analysis) == found


def test_numbers_in_names_lose_leading_zeros() -> None:
    assert name_terms("peps/pep-0006.rst 000 pep0006", "en") == ["pep", "pep", "6", "rst", "0", "pep6"]
    assert name_terms("PEP 308, 2008, 100, a2004", "en") == ["pep", "308", "2008", "100", "a2004"]


@pytest.mark.parametrize(
    ("language", "analysis"), [("", "en"), ("de", "de"), ("zh", "en"), ("th", "en"), ("km", "en"), ("pl", UNSTEMMED)]
)
def test_analysis_of(language: str, analysis: str) -> None:
    assert analysis_of(language) == analysis


@given(st.text(st.characters()))
def test_all_analyses_cut_into_the_same_words(text: str) -> None:
    text = text.encode(errors="replace").decode()
    counts = {len(terms(text, analysis)) for analysis in (*STEMMERS, UNSTEMMED)}
    assert len(counts) == 1


@given(st.text(st.characters(max_codepoint=127)), st.sampled_from(sorted(STEMMERS)))
def test_the_short_way_for_ascii_gives_the_same(text: str, analysis: str) -> None:
    assert terms(text, analysis) == terms(text + " é", analysis)[:-1]


def test_stop_words_are_terms() -> None:
    assert {"what", "is"} <= stop_terms("en")
    assert "कौन" in stop_terms(UNSTEMMED)
    assert set(STOP_WORDS) - set(STEMMERS) == {"bn", "cs", "fa", "he", "hi", "id", "pl", "uk"}


def test_words_of_indic_scripts_are_not_cut_at_their_joining_signs() -> None:
    assert terms("हिन्दी में प्रश्न", UNSTEMMED) == ["हिनदी", "में", "परशन"]
    assert terms("தமிழ்நாடு", UNSTEMMED) == ["தமிழநாடு"]
