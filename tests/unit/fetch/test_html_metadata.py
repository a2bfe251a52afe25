"""What a page says of itself."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from assay.fetch.html_metadata import MAX_METAS, MAX_VALUE_CHARS, PageMetadata, read_metadata


def metadata_of(head: str) -> PageMetadata:
    return read_metadata(LexborHTMLParser(f"<html lang=pt-BR><head>{head}</head><body><h1>Heading</h1></body></html>"))


def test_names_are_read_in_any_case_from_name_or_property() -> None:
    found = metadata_of(
        """<meta property="OG:Title" content="Tides"><meta name="Description" content="Of the sea">
        <meta name="DC.Creator" content="Ada Byron"><meta name="DC.date" content="1843/05/06">
        <meta name="citation_doi" content="10.1000/x"><link rel="canonical" href="https://sea.example/tides">"""
    )
    assert (found.title, found.description, found.author) == ("Tides", "Of the sea", "Ada Byron")
    assert (found.published, found.language, found.url) == ("1843-05-06", "pt", "https://sea.example/tides")
    assert found.facts == {"doi": "10.1000/x"}


def test_what_is_said_twice_counts_first_and_what_is_empty_not_at_all() -> None:
    found = metadata_of(
        """<meta name="author" content=""><meta name="author" content="Ada"><meta name="author" content="Bea">
        <meta property="og:title" content=" "><title>The title</title>"""
    )
    assert (found.author, found.title) == ("Ada", "The title")


def test_all_authors_of_a_paper_are_named() -> None:
    authors = "".join(f'<meta name="citation_author" content="Author  {at}">' for at in range(3))
    assert metadata_of(authors + '<meta name="author" content="Somebody">').author == "Author 0; Author 1; Author 2"


def test_an_address_is_no_author_and_only_a_whole_address_is_one() -> None:
    found = metadata_of('<meta name="author" content="https://a.example/me"><link rel="canonical" href="/tides">')
    assert (found.author, found.url) == ("", "")


def test_more_than_is_read_is_left_out() -> None:
    many = '<meta name="x" content="y">' * MAX_METAS + '<meta name="author" content="Ada">'
    assert metadata_of(many).author == ""
    assert (
        len(metadata_of(f'<meta name="description" content="{"d" * 3 * MAX_VALUE_CHARS}">').description)
        == MAX_VALUE_CHARS
    )


@given(st.lists(st.tuples(st.sampled_from(["author", "date", "og:title", "x"]), st.text(max_size=20)), max_size=8))
def test_whatever_metas_say_is_read(metas: list[tuple[str, str]]) -> None:
    quoted = ((name, text.replace("&", "&amp;").replace('"', "&quot;")) for name, text in metas)
    found = metadata_of("".join(f'<meta name="{name}" content="{text}">' for name, text in quoted))
    assert found.title
    assert found.published == "" or len(found.published) >= 4
