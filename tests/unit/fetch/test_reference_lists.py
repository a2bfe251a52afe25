"""Lists of references in BibTeX and RIS, as rows."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Extracted
from assay.fetch.text import CodeExtractor


def read(text: str, name: str) -> Extracted:
    (found,) = CodeExtractor().extract(text.encode(), name)
    return found


BIBTEX = r"""
@string{csr = "Structures Review"}
@comment{not = {this}}
@article{m19, author = {M{\"u}ller, J{\o}rgen and {\v{S}}t\'astn\'y, Eva}, title = "A {Great} tide: 1--2",
  journal = csr # " B", year = 2019, month = jan}
@Book(d7, title = {Lighthouses}, url = {http://x/~y_z}, note = {a \& b~c})
@misc{empty}
"""


def test_entries_of_bibtex_are_rows_with_their_title_first() -> None:
    found = read(BIBTEX, "refs.bib")
    assert found.text.splitlines() == [
        (
            "| title: A Great tide: 1–2 | type: article | key: m19 | author: Müller, Jørgen and Štástný, Eva"
            " | journal: Structures Review B | year: 2019 | month: jan |"
        ),
        "| title: Lighthouses | type: book | key: d7 | url: http://x/~y_z | note: a & b c |",
    ]
    assert found.metadata == {"format": "BibTeX"}


def test_an_entry_alone_has_its_title_as_heading() -> None:
    found = read("@book{d7, title = {Lighthouses}, year = 2007}", "a.bib")
    assert [line for line in found.text.splitlines() if line] == [
        *("# Lighthouses", "title: Lighthouses", "type: book", "key: d7", "year: 2007"),
    ]


RIS = """TY  - JOUR
AU  - Moen, Astrid
AU  - Falk, Peder
TI  - Scour in inlets
PY  - 2019
XX  - odd
ER  -

TY  - BOOK
TI  - Lighthouses
PB  - Fjordforlaget
PY  - 2007
ER  -
"""


def test_entries_of_ris_are_rows_with_all_their_authors() -> None:
    assert read(RIS, "refs.ris").text.splitlines() == [
        "| title: Scour in inlets | type: JOUR | author: Moen, Astrid; Falk, Peder | year: 2019 | XX: odd |",
        "| title: Lighthouses | type: BOOK | year: 2007 | publisher: Fjordforlaget |",
    ]


def test_an_entry_of_ris_that_nothing_closes_is_kept_and_a_value_goes_on_below() -> None:
    broken_off = "TY  - JOUR\nTI  - One\n  of two\n\nTY  - BOOK\nTI  - Two\nAB  - It begins\nand goes on"
    assert read(broken_off, "refs.ris").text.splitlines() == [
        "| title: One of two | type: JOUR |",
        "| title: Two | type: BOOK | abstract: It begins and goes on |",
    ]


@pytest.mark.parametrize("name", ["a.bib", "a.ris"])
def test_what_is_no_list_of_references_stays_as_it_is(name: str) -> None:
    found = read("mail me @ home {now}\n", name)
    assert (found.syntax, found.text) == ("code", "mail me @ home {now}\n")


BOMBS = {
    "braces": "@a{b, c = " + "{" * 400_000,
    "names": "@string{n = {" + "x" * 190 + "}}@a{b, c = " + "n # " * 100_000 + "n}",
    "entries": "@a{b, " * 80_000,
    "signs": "@" * 400_000,
    "accents": "@a{b, c = {" + "\\'" * 200_000 + "}}",
    "spaces": "@a" + " " * 400_000,
}


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_hostile_lists_take_neither_long_nor_much(text: str) -> None:
    began = time.process_time()
    assert len(read(text, "a.bib").text) < 3_000_000
    assert time.process_time() - began < 5  # a bound on the square of the length, not a measurement


WORDS = st.text("abcxyzäöü 0123", min_size=1, max_size=20).map(str.strip).filter(bool)


@given(st.lists(st.lists(WORDS, min_size=2, max_size=4), min_size=1, max_size=4))
def test_values_are_read_back(rows: list[list[str]]) -> None:
    entries = [", ".join(f"f{at} = {{{{{value}}}}}" for at, value in enumerate(row)) for row in rows]
    found = read("\n".join(f"@misc{{k{number}, {fields}}}" for number, fields in enumerate(entries)), "a.bib")
    assert all(f"f{at}: {' '.join(value.split())}" in found.text for row in rows for at, value in enumerate(row))


@given(st.text("@article{}(),=#\"\\'~ \nTYER  -x1", max_size=60), st.sampled_from(["a.bib", "a.ris"]))
def test_any_text_is_read(text: str, name: str) -> None:
    assert read(text, name).text is not None
