"""PDF: text by page, paragraphs from lines, and documents which cannot be read."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import column, pdf

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.evidence.segment import segment
from assay.fetch.pdf import PdfExtractor
from assay.fetch.pdf.document import printed_title
from assay.fetch.pdf.paragraphs import PrintedLine, join_lines, paragraphs, vocabulary


def read(data: bytes, name: str = "paper.pdf") -> Extracted:
    (found,) = PdfExtractor().extract(data, name)
    return found


def pages(found: Extracted) -> list[str]:
    return [page.strip() for page in found.text.split("\f")]


def outcome(data: bytes) -> tuple[list[Extracted], str]:
    """The documents, and why there are no more."""
    found: list[Extracted] = []
    try:
        found.extend(PdfExtractor().extract(data, "paper.pdf"))
    except ExtractError as error:
        return found, str(error) or "no reason"
    return found, ""


def refused(data: bytes) -> str:
    with pytest.raises(ExtractError) as caught:
        list(PdfExtractor().extract(data, "paper.pdf"))
    return str(caught.value)


def test_pages_are_parted_by_form_feeds_and_passages_know_theirs() -> None:
    found = read(pdf([column("On the first page."), [], column("On the third (page)."), column("Last.")]))
    assert pages(found) == ["On the first page.", "", "On the third (page).", "Last."]
    assert (found.syntax, found.metadata) == ("pages", {"pages": "4"})
    assert [(span.page, span.text) for span in segment(found.text, found.syntax)] == [
        (1, "On the first page."),
        (3, "On the third (page)."),
        (4, "Last."),
    ]


def test_lines_become_paragraphs() -> None:
    page = column(
        "The bridge over the river was opened in the spring of the year",
        "1911 and carried two tracks from the first day on.",
        "",
        "Its successor stands a mile upstream and is twice as wide as the",
        "first one ever was.",
    )
    assert read(pdf([page])).text.split("\n\n") == [
        (
            "The bridge over the river was opened in the spring of the year 1911 and carried two tracks "
            "from the first day on."
        ),
        "Its successor stands a mile upstream and is twice as wide as the first one ever was.",
    ]


def test_a_word_cut_at_a_line_end_is_whole_again() -> None:
    page = column("What is said here goes on for some while about the construc-", "tion of bridges and their arches.")
    assert "the construction of bridges" in read(pdf([page])).text


@pytest.mark.parametrize(
    ("above", "below", "words", "whole"),
    [
        ("the construc", "tion of", (), "the construction of"),
        ("the construc", "tion of", ("construction",), "the construction of"),
        ("a well", "known fact", ("well-known",), "a well-known fact"),
        ("Anglo", "Saxon kings", (), "Anglo-Saxon kings"),
        ("from 1911", "1914 it", (), "from 1911-1914 it"),
        ("x", "ray", (), "x-ray"),
    ],
)
def test_hyphens_at_line_ends(above: str, below: str, words: tuple[str, ...], whole: str) -> None:
    assert join_lines(above, below, hyphen=True, words=words) == whole


def test_lines_are_joined_with_a_space_where_the_script_has_spaces() -> None:
    assert join_lines("one", "two", hyphen=False) == "one two"
    assert join_lines("図書", "館は", hyphen=False) == "図書館は"


LINES = st.lists(
    st.builds(
        PrintedLine,
        text=st.text(st.sampled_from("abcXYZ .:0123456789図"), min_size=1, max_size=20).map(str.strip).filter(bool),
        left=st.floats(0, 500),
        right=st.floats(0, 600),
        base=st.floats(-10, 850),
        size=st.floats(0, 40),
    ),
    max_size=12,
)


@given(LINES)
def test_paragraphs_keep_every_character_in_order(lines: list[PrintedLine]) -> None:
    kept = "".join("".join(paragraphs(lines, vocabulary(lines))).split())
    assert kept == "".join("".join(line.text for line in lines).split())


def test_what_the_document_says_of_itself() -> None:
    info = {"Title": "A Bridge\0", "Author": "A. Builder", "CreationDate": "D:20110305120000Z"}
    found = read(pdf([column("Text of it.")], info=info))
    assert (found.title, found.author, found.published) == ("A Bridge", "A. Builder", "2011-03-05")


@pytest.mark.parametrize(
    ("name", "lines", "published"),
    [
        ("minutes_2022-12-20.pdf", ["Text of it."], "2022-12-20"),
        (
            "minutes.pdf",
            ["Minutes", "", "Hamburg, 20 December 2022", "", *["The board met again, and was late."] * 6],
            "2022-12-20",
        ),
        ("minutes.pdf", ["Text of it."], "2025-03-05"),
    ],
)
def test_its_own_date_comes_before_the_day_the_file_was_made(name: str, lines: list[str], published: str) -> None:
    data = pdf([column(*lines)], info={"CreationDate": "D:20250305120000Z"})
    (found,) = PdfExtractor().extract(data, name)
    assert found.published == published


@pytest.mark.parametrize(
    ("lines", "doi"),
    [
        (
            ["On Bridges", "", "J. Bridges 12 (2019), doi:10.9999/jb.2019.101.", "", "Text of it."],
            "10.9999/jb.2019.101",
        ),
        (["On Bridges", "", "doi:10.9999/jb.1 corrects doi:10.9999/jb.2.", "", "Text of it."], None),
        (["On Bridges", "", *["The board met again, and was late."] * 48, "See doi:10.9999/jb.1."], None),
    ],
)
def test_the_only_doi_at_the_top_is_the_document_s(lines: list[str], doi: str | None) -> None:
    assert read(pdf([column(*lines)])).metadata.get("doi") == doi


@pytest.mark.parametrize("title", ["", "paper-final.docx", "untitled", "---"])
def test_a_title_which_says_nothing_gives_way_to_the_first_line(title: str) -> None:
    page = column(
        "On Bridges", "", "A bridge carries a road over a river,", "and the river does not mind that", "at all."
    )
    assert read(pdf([page], info={"Title": title})).title == "On Bridges"


def printed(text: str, base: float, *, size: float = 10.0, right: float = 290.0) -> PrintedLine:
    return PrintedLine(text=text, left=50, right=right, base=base, size=size)


ARTICLE = [
    printed("Review of Bridges 31 (2025)", 800, size=8),
    printed("How the old bridges of the north were built,", 780, size=16, right=540),
    printed("and by whom", 758, size=16, right=120),
    printed("The bridge over the river was paid for by the town and the Islands", 700),
    printed("Fund. It has carried two tracks since, of which one is closed at", 688, right=275),
    printed("night, since the keeper lives beside it and sleeps badly.", 676, right=250),
    printed("A second one followed.", 640, right=160),
]


def test_the_title_is_what_is_printed_largest_at_the_top() -> None:
    assert printed_title(ARTICLE) == "How the old bridges of the north were built, and by whom"


@pytest.mark.parametrize(
    "page",
    [
        [],
        ARTICLE[3:],
        [printed("2025", 800, size=40), *ARTICLE[3:]],
        [*ARTICLE[3:], *ARTICLE[3:], printed("A plate at the foot", 100, size=20)],
    ],
    ids=["nothing", "text alone", "a year", "large below"],
)
def test_nothing_clearly_larger_is_no_title(page: list[PrintedLine]) -> None:
    assert printed_title(page) == ""


def test_a_title_above_a_column_does_not_set_its_width_and_is_one_paragraph() -> None:
    assert paragraphs(ARTICLE) == [
        "Review of Bridges 31 (2025)",
        "How the old bridges of the north were built, and by whom",
        (
            "The bridge over the river was paid for by the town and the Islands Fund. It has carried two tracks since, "
            "of which one is closed at night, since the keeper lives beside it and sleeps badly."
        ),
        "A second one followed.",
    ]


def test_encrypted() -> None:
    assert refused(pdf([column("Secret.")], locked=True)) == "encrypted; remove the password first"


def test_damaged() -> None:
    whole = pdf([column("Text of it.")])
    assert refused(b"%PDF-1.7\n" + b"\xff" * 500).startswith("damaged, or not a PDF")
    assert refused(whole.replace(b"/Type /Page ", b"/Type /Nope ").replace(b"/Kids", b"/Cubs")).startswith("damaged")


def test_the_reason_does_not_depend_on_the_file_before() -> None:
    """PDFium gives no error where there is no tree of pages, and remembers the last one it gave."""
    strange = pdf([column("Text.")]).replace(b"/Pages 2 0 R", b"/Pages null ")
    first = refused(strange)
    refused(pdf([column("Secret.")], locked=True))
    second = refused(strange)
    refused(b"%PDF-1.7\n" + b"\xff" * 500)
    assert first == second == refused(strange)


def test_without_text() -> None:
    assert refused(pdf([[]])) == "no text on its 1 page, and no pictures either"
    assert refused(pdf([[], [], []])).startswith("no text on its 3 pages, and")


def test_a_page_which_cannot_be_read_does_not_cost_the_others() -> None:
    data = pdf([column("Good."), column("Bad."), column("Good again.")])
    stream = PdfExtractor().extract(data.replace(b" 6 0 R", b" 1 0 R"), "x.pdf")
    found = next(stream)
    assert pages(found) == ["Good.", "", "Good again."]
    with pytest.raises(ExtractError, match=r"1 of its 3 pages could not be read \(page 2\)"):
        next(stream)


@given(st.integers(9, 900), st.binary(min_size=1, max_size=20))
def test_any_damage_is_survived(place: int, bytes_: bytes) -> None:
    data = bytearray(pdf([column("Some text."), column("More.")]))
    data[place : place + len(bytes_)] = bytes_
    found, failure = outcome(bytes(data))
    assert found or failure
    assert all("\0" not in each.text for each in found)


@pytest.mark.parametrize(
    ("before", "digits", "after", "read_as"),
    [
        ("The water is deep", "1", ".", "The water is deep."),
        ("It came in. ", "", "", "It came in."),
        ("The area is 30 m", "2", ".", "The area is 30 m²."),
        ("With V", "2", " / 3 mi", "With V² / 3 mi"),
        ("There were 10", "3", " boats.", "There were 10³ boats."),
        ("", "1", "Below the tide.", "1 Below the tide."),
    ],
)
def test_raised_digits_are_exponents_or_marks_of_footnotes(before: str, digits: str, after: str, read_as: str) -> None:
    data = pdf([[(72, 700, "x" * 150)]])
    place = re.search(rb"BT .* ET", data)
    assert place is not None
    drawn = f"BT /F1 12 Tf 72 700 Td ({before}) Tj 5 Ts /F1 7 Tf ({digits}) Tj 0 Ts /F1 12 Tf ({after}) Tj ET".encode()
    (document,) = PdfExtractor().extract(data.replace(place[0], drawn.ljust(len(place[0]))), "a.pdf")
    assert document.text == read_as
