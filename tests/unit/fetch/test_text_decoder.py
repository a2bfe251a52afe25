from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import ExtractError
from assay.fetch.text_form import UNWANTED_CHARS, clean, decode

RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5
CHAT = "[09:10] Орлов: я приду завтра\n[09:12] Кузнецова: я тоже\n[09:15] Орлов: хорошо, жду\n"


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
        (CHAT, "cp1251"),
        (CHAT, "koi8_r"),
        (CHAT, "mac_cyrillic"),
        ("これは日本語の文章です。" * 9, "shift_jis"),
    ],
)
def test_old_encodings_are_told(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_a_declared_encoding_is_believed_unless_unknown() -> None:
    assert decode("ž".encode("iso-8859-2"), "iso-8859-2") == "ž"
    assert decode("é".encode("cp1252"), "no-such-thing") == "é"


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        ("“quoted” – Größe", "cp1252", "iso-8859-1"),
        ("“quoted” – Größe", "cp1252", "us-ascii"),
        ("Şişli “ığ”", "cp1254", "ISO-8859-9"),
        ("๑ “ไทย”", "cp874", "tis-620"),
        ("①髙", "cp932", "x-sjis"),
        ("镕€", "gb18030", "gb2312"),
        ("똠방각하", "cp949", "ks_c_5601-1987"),
        ("これは日本語の文章です。", "iso-2022-jp", "iso-2022-jp"),
    ],
)
def test_a_declared_encoding_means_what_browsers_read(text: str, encoding: str, declared: str) -> None:
    assert decode(text.encode(encoding), declared) == text


@pytest.mark.parametrize(
    "declared",
    ["base64", "hex", "zlib", "rot13", "idna", "undefined", "punycode", "unicode_escape", "utf-16", "utf-7", "cp037"],
)
def test_what_is_declared_is_an_encoding_of_pages_or_nothing(declared: str) -> None:
    assert decode(b"caf\xe9 <p>A+B", declared) == "café <p>A+B"


@given(st.binary(), st.text(max_size=20))
def test_whatever_is_declared_something_is_read(data: bytes, declared: str) -> None:
    if b"\0" not in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert isinstance(decode(data, declared), str)


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
    assert found == UNWANTED_CHARS.sub("\ufffd", text.removeprefix("\ufeff"))
