from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.charsets import charset, codec, to_utf8

POLISH = "Zażółć gęślą jaźń"


@pytest.mark.parametrize(
    ("stated", "found"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;charset = "ISO-8859-2"; x=y', "iso-8859-2"),
        ("text/html; Charset='koi8-r'", "koi8-r"),
        ("text/html", ""),
        ("", ""),
    ],
)
def test_the_encoding_of_a_content_type(stated: str, found: str) -> None:
    assert charset(stated) == found


def test_a_text_is_read_as_its_server_states() -> None:
    assert to_utf8(POLISH.encode("iso-8859-2"), "text/html; charset=iso-8859-2").decode("utf-8-sig") == POLISH
    japanese = "日本語".encode("iso-2022-jp")
    assert to_utf8(japanese, "text/plain; charset=ISO-2022-JP").decode("utf-8-sig") == "日本語"


@pytest.mark.parametrize(
    ("body", "stated"),
    [
        (POLISH.encode(), "text/html; charset=iso-8859-2"),
        (codecs.BOM_UTF16_LE + POLISH.encode("utf-16-le"), "text/html; charset=iso-8859-2"),
        (POLISH.encode("cp1250"), "text/html; charset=base64"),
        (POLISH.encode("cp1250"), "text/html; charset=utf-8"),
        (POLISH.encode("cp1250"), "text/html"),
    ],
)
def test_what_its_server_states_wrongly_or_not_at_all_stays(body: bytes, stated: str) -> None:
    assert to_utf8(body, stated) is body


@given(st.binary(), st.text(max_size=20))
def test_whatever_comes_is_read(body: bytes, stated: str) -> None:
    name = codec(stated)
    assert not name or body.decode(name, errors="replace") is not None
    assert isinstance(to_utf8(body, f"text/html; charset={stated}"), bytes)
