from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.fetch.text_form import UNWANTED, clean, decode

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_marked_and_utf8(encoding: str) -> None:
    assert decode("Grüße 图".encode(encoding)) == "Grüße 图"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("naïve café – “quoted” €5, déjà vu", "cp1252"),
        ("<title>Höhe</title><p>Die Höhe des Hafens ist groß.", "cp1252"),
        ("Größe und Höhe: ä ö ü.", "cp1252"),
        ("<p>Мягких французских булок, да выпей чаю</p>" * 3, "cp1251"),
        (RUSSIAN, "cp1251"),
        ("これは日本語の文章です。" * 9, "shift_jis"),
    ],
)
def test_old_encodings_are_told(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_declared_encoding_is_believed_unless_unknown() -> None:
    assert decode("ž".encode("iso-8859-2"), "iso-8859-2") == "ž"
    assert decode("é".encode("cp1252"), "no-such-thing") == "é"


def test_binary() -> None:
    with pytest.raises(ExtractError, match="binary"):
        decode(b"abc\0def")


@given(st.text(st.characters(codec="utf-8")))
def test_utf8_comes_back(text: str) -> None:
    if "\0" not in text:
        assert decode(text.encode()) == clean(text)


@given(st.text(st.characters()))
def test_what_is_clean_can_be_stored(text: str) -> None:
    found = clean(text)
    assert found.encode().decode() == found
    assert "\0" not in found
    assert len(text) - len(found) in (0, 1)
    assert found == UNWANTED.sub("\ufffd", text.removeprefix("\ufeff"))
