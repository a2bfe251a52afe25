"""Page numbers, running heads and feet of PDFs: they go, and nothing else does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pdfs import Placed, column, pdf

from assay.evidence.segment import segment
from assay.fetch.pdf import PdfExtractor
from assay.fetch.pdf.document import PAGE_BREAK, remove_running_lines
from assay.fetch.pdf.paragraphs import PrintedLine, join_split_words

SAMPLES = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[4] / "shared" / "data")) / "pdf" / "py-pdf-samples"
BODIES = (
    ("The harbour was opened in 1911.", "It has three basins.", "The oldest is the eastern one."),
    ("The lamp burns oil.", "It was lit on the first of May.", "Nobody saw it go out."),
    ("Tolls are paid at the gate.", "A barge pays four marks.", "Fishing boats pay nothing."),
    ("The crane lifts nine tonnes.", "It stands on the mole.", "Steam drives it."),
)


def text(*pages: list[Placed]) -> list[str]:
    (document,) = PdfExtractor().extract(pdf(pages), "harbour.pdf")
    return [" ".join(found.split()) for found in document.text.split(PAGE_BREAK)]


def page(number: int, head: str = "", foot: str = "") -> list[Placed]:
    made = column(*BODIES[number])
    return [*([(72, 810, head)] if head else []), *made, *([(290, 30, foot)] if foot else [])]


BARE = [" ".join(body) for body in BODIES]


def test_page_numbers_go_and_pages_stay() -> None:
    pages = text(*(page(at, foot=f"- {at + 5} -") for at in range(4)))
    assert pages == BARE
    (document,) = PdfExtractor().extract(pdf([page(at, foot=str(at + 5)) for at in range(4)]), "harbour.pdf")
    passages = segment(document.text, document.syntax)
    assert [span.page for span in passages if span.text.endswith("one.") or "steam" in span.text.lower()] == [1, 4]


@pytest.mark.parametrize(
    "foot", ["Page {} of 4", "{}/4", "Seite {}", "{}   Annual report"], ids=["of", "slash", "word", "title"]
)
def test_numbers_count_with_words_beside_them(foot: str) -> None:
    pages = text(*(page(at, foot=foot.format(at + 1)) for at in range(4)))
    kept = foot.replace("{}", "1") if "Annual" in foot else ""  # that nothing else says
    assert pages == [f"{BARE[0]} {kept}".strip().replace("1   ", "1 "), *BARE[1:]]


def test_roman_numbers_count_too() -> None:
    assert text(*(page(at, foot=("iii", "iv", "v", "vi")[at]) for at in range(4))) == BARE


def test_what_only_a_running_head_says_stays_once() -> None:
    pages = text(*(page(at, head="Board of Ferries") for at in range(4)))
    assert pages == [f"Board of Ferries {BARE[0]}", *BARE[1:]]


def test_heads_of_left_and_right_pages() -> None:
    pages = text(*(page(at, head=f"{at + 1}   HARBOUR" if at % 2 else f"The basins   {at + 1}") for at in range(4)))
    assert pages == BARE


def test_numbers_which_do_not_count_stay() -> None:
    pages = text(*(page(at, foot=("17", "4", "99", "12")[at]) for at in range(4)))
    assert pages == [f"{body} {foot}" for body, foot in zip(BARE, ("17", "4", "99", "12"), strict=True)]


def test_a_heading_which_comes_again_far_away_stays() -> None:
    filler = [column(*(f"Line {row} of text {at}." for row in range(4))) for at in range(12)]
    pages = [[(72, 810, "Exercises"), *lines] if at in (1, 5, 9) else lines for at, lines in enumerate(filler)]
    assert sum("Exercises" in found for found in text(*pages)) == 3


def line(words: str, base: float) -> PrintedLine:
    return PrintedLine(text=words, left=72, right=72 + 6 * len(words), base=base, size=12)


@given(st.lists(st.text("ab 12iv.", min_size=1).filter(str.strip), max_size=8))
def test_one_page_loses_nothing(words: list[str]) -> None:
    lines = [line(found, 700 - 14 * at) for at, found in enumerate(words)]
    assert remove_running_lines([lines]) == [lines]


@given(
    st.lists(st.lists(st.sampled_from(["1", "2", "3", "iv", "Head", "Head 2", "other words"]), max_size=7), max_size=7)
)
def test_only_lines_near_an_edge_go(lines: list[list[str]]) -> None:
    pages = [[line(words, 700 - 14 * at) for at, words in enumerate(page)] for page in lines]
    for before, after in zip(pages, remove_running_lines(pages), strict=True):
        assert [each for each in before if each in after] == after
        assert len(before) - len(after) <= 4
        assert all(each in after for each in before[2:-2])


def test_a_word_cut_by_a_pages_end_is_whole_on_the_first() -> None:
    first = [PrintedLine(text="He trusts in inter", left=72, right=300, base=50, size=12, hyphen=True)]
    pages = join_split_words([first, [line("national law.", 700), line("Next.", 686)]], frozenset())
    assert [[each.text for each in page] for page in pages] == [["He trusts in international"], ["law.", "Next."]]


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="no PDFs (set ASSAY_DATA)")
def test_real_papers() -> None:
    name = "004-pdflatex-4-pages/pdflatex-4-pages.pdf"
    (document,) = PdfExtractor().extract((SAMPLES / name).read_bytes(), name)
    for number, found in enumerate(document.text.split(PAGE_BREAK), 1):
        assert not found.rstrip().endswith(str(number))
    name = "009-pdflatex-geotopo/GeoTopo-komprimiert.pdf"
    (document,) = PdfExtractor().extract((SAMPLES / name).read_bytes(), name)
    pages = document.text.split(PAGE_BREAK)
    assert len(pages) == 117
    assert not any(found.startswith(("4 1.1. TOPOLOGISCHE", "57 3.3. ÜBERLAGERUNGEN")) for found in pages)
    assert sum("Übungsaufgaben" in found.splitlines() for found in pages) == 3  # the headings, one of them at the top
