"""JSON lines, Markdown, text and code."""

from __future__ import annotations

import gzip
import json

import pytest

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.fetch.fields import first_heading, read_fields
from assay.fetch.json_text import read_json
from assay.fetch.text import CodeExtractor, JsonLinesExtractor, MarkdownExtractor, TextExtractor

ROW = {
    "id": "a/1",
    "title": "T",
    "url": "https://x.example/1",
    "text": "Body.",
    "year": 2020,
    "ok": True,
    "tags": ["x"],
}


def rows(data: bytes) -> list[Extracted]:
    return list(JsonLinesExtractor().extract(data, "rows.jsonl"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_row_is_a_document(pack: type[bytes]) -> None:
    line = json.dumps(ROW).encode()
    (found,) = rows(pack(b"\xef\xbb\xbf" + line + b"\r\n\n"))
    assert (found.text, found.title, found.url, found.name) == ("Body.", "T", "https://x.example/1", "a/1")
    assert found.body == line
    assert found.metadata == {"year": "2020", "ok": "true"}


def test_what_a_row_does_not_say_is_read_from_its_text() -> None:
    text = (
        "---\ntitle: Stated\nauthor: A. Writer\ncreated: 2020-01-02\n---\n\nThe body of it is here and that is all.\n"
    )
    (found,) = rows(json.dumps({"text": text}).encode())
    assert (found.title, found.author, found.published) == ("Stated", "A. Writer", "2020-01-02")
    assert (found.name, found.language) == ("rows.jsonl#1", "en")


def test_a_name_that_a_row_gives_twice_keeps_both_values() -> None:
    (found,) = rows(b'{"text": "One.", "title": "T", "year": 2019, "text": "Two: 2.", "title": "U", "year": 2020.50}')
    assert (found.text, found.title) == ("One.\n\nTwo: 2.", "T")
    assert found.metadata == {"title (2)": "U", "year": "2019", "year (2)": "2020.50"}


def test_bad_rows_are_named_after_the_good_ones() -> None:
    data = b'{"text": "one"}\nnonsense\n[1]\n{"text": ""}\n{"title": "no text"}\n{"text": "two"}\n'
    found = []
    with pytest.raises(ExtractError, match=r"4 rows could not be read \(row 2: .* and 1 more\)"):
        found.extend(JsonLinesExtractor().extract(data, "x"))
    stream = JsonLinesExtractor().extract(data, "x")
    assert [next(stream).text, next(stream).text] == ["one", "two"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_rows_without_text_are_a_table_as_a_list_of_them_is(pack: type[bytes]) -> None:
    lines = [b'{"name": "Kite", "price_eur": 99, "size": {"m": 2.10}}', b'{"name": "Kestrel", "price_eur": 120}']
    (found,) = rows(pack(b"\n".join(lines)))
    assert found.text == "name: Kite | price_eur: 99 | size.m: 2.10\n\nname: Kestrel | price_eur: 120\n"
    assert (found.syntax, found.body) == ("rows", None)
    assert found.text == read_json(f"[{','.join(map(bytes.decode, lines))}]", "rows.json").text  # type: ignore[union-attr]


def test_rows_of_a_table_that_cannot_be_read_are_named_after_it() -> None:
    stream = JsonLinesExtractor().extract(b'{"a": 1, "b": 2}\nnonsense\n{}\n{"a": 3, "b": 4}\n', "x.jsonl")
    assert next(stream).text == "a: 1 | b: 2\n\na: 3 | b: 4\n"
    with pytest.raises(ExtractError, match=r"2 rows could not be read \(row 2: not a JSON.*; row 3: no `text`\)"):
        next(stream)


def test_a_row_with_text_makes_documents_of_all() -> None:
    stream = JsonLinesExtractor().extract(b'{"a": 1, "b": 2}\n{"a": 3, "text": "Three."}\n', "x.jsonl")
    assert next(stream).text == "Three."
    with pytest.raises(ExtractError, match="row 1: no `text`"):
        next(stream)


def test_half_characters_do_not_get_in() -> None:
    (found,) = rows(b'{"text": "a\\u0000b", "title": "\\u0001"}')
    assert (found.text, found.title) == ("a\ufffdb", "")


def test_a_damaged_gzip_gives_what_it_can() -> None:
    data = gzip.compress(b"\n".join(json.dumps({"text": f"row {n} {n * n}"}).encode() for n in range(9000)))
    stream = JsonLinesExtractor().extract(data[: len(data) // 2], "x")
    assert next(stream).text == "row 0 0"
    with pytest.raises(ExtractError, match="damaged after row"):
        list(stream)


def test_deep_json_is_a_bad_row() -> None:
    with pytest.raises(ExtractError, match="row 1"):
        rows(b'{"text":' + b"[" * 200_000)


def test_markdown_says_its_title() -> None:
    (found,) = MarkdownExtractor().extract(
        b"PEP: 6\nTitle: Releases\nAuthor: Aahz,\n        Baxter\n\nText\n====\n", "p.rst"
    )
    assert (found.title, found.author, found.metadata) == ("Releases", "Aahz, Baxter", {"pep": "6"})
    (other,) = MarkdownExtractor().extract(b"No heading at all, only this.\n", "notes.md")
    assert other.title == "notes.md"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# One\n\n## Two\n", "One"),
        ("Two\n===\n\n# One\n", "Two"),
        ("```\n# comment\n```\n\n## Real `code` [link](http://x) #\n", "Real code link"),
        ("prose\n", ""),
    ],
)
def test_first_heading(text: str, title: str) -> None:
    assert first_heading(text) == title


def test_fields_of_nothing() -> None:
    assert read_fields("") == read_fields("Just a line: of prose.\nAnd another one\n")


def test_plain_text_title() -> None:
    (found,) = TextExtractor().extract(b"A Short Title\n\nAnd the text.", "x.txt")
    (other,) = TextExtractor().extract(b"A sentence, not a title.\n", "x.txt")
    assert (found.title, other.title, found.syntax) == ("A Short Title", "x.txt", "plain")


def test_code() -> None:
    (found,) = CodeExtractor().extract("x = 'é'\r\n".encode(), "a.py")
    assert (found.text, found.syntax, found.title) == ("x = 'é'\r\n", "code", "a.py")


def test_the_first_field_which_holds_a_day_dates_a_document() -> None:
    assert read_fields("Title: A\nDate: $Date$\nCreated: 05-Jul-2001\n\nText.").published == "2001-07-05"


@pytest.mark.parametrize(
    ("text", "day", "author"),
    [
        ("# A\n\nPublished: 12 March 2024\n\nText.", "2024-03-12", ""),
        ("# A\n**Author:** B C\n**Date:** 2024-03-12\n\nText.", "2024-03-12", "B C"),
        ("# A\r\n\r\nPublished: 12 March 2024\r\n\r\nText.", "2024-03-12", ""),
        ("---\nauthor: D\n---\n# A\n\nAuthor: E\nDate: 2024-03-12\n", "2024-03-12", "D"),
        ("---\ndate: 2020-01-02\n---\n# A\n\nPublished: soon\n", "2020-01-02", ""),
        ("# A\n\nText.\n\nPublished: 12 March 2024\n", "", ""),
        ("Text.\n\n# A\n\nPublished: 12 March 2024\n", "", ""),
        ("# A\n\nReleased: 12 March 2024\n", "", ""),
    ],
)
def test_the_lines_right_under_the_title_may_say_date_and_author(text: str, day: str, author: str) -> None:
    fields = read_fields(text)
    assert (fields.published, fields.author, "released" in fields.other) == (day, author, False)
