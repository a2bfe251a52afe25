"""BibTeX, read back by bibtexparser."""

import re
from pathlib import Path

import bibtexparser
import logs
import pytest
from bibtexparser.library import Library
from citing import citing, page
from hypothesis import given, settings
from hypothesis import strategies as st
from records import recorded
from sampling import scaled

from assay.core.clean import one_line
from assay.export.bibtex import EXPORTER, escape
from assay.export.references import references

PLAIN = {"\\textbackslash{}": "\\", "\\textbraceleft{}": "{", "\\textbraceright{}": "}", "\\textasciicircum{}": "^",
         "\\textasciitilde{}": "~", **{f"\\{sign}": sign for sign in "$&#_%"}}  # fmt: skip
_MACRO = re.compile(r"\\text[a-z]+\{\}|\\[$&#_%]")


def unescape(tex: str) -> str:
    """The characters TeX prints."""
    return _MACRO.sub(lambda match: PLAIN[match[0]], tex)


def read(bib: bytes) -> Library:
    library = bibtexparser.parse_string(bib.decode())
    assert not library.failed_blocks
    assert not library.comments
    assert not library.preambles
    assert not library.strings
    return library


def test_an_article() -> None:
    source = page(
        url="https://doi.org/10.1038/s41586-020-2649-2",
        title="Array programming & 100% of {NumPy}",
        author="Charles R. Harris, K. Jarrod Millman and NumPy Developers",
        published="2020-09-16",
        metadata={"journal": "Nature"},
    )
    assert (
        EXPORTER.render(citing(source)).decode()
        == r"""@article{harris2020array,
  title = {{Array programming \& 100\% of \textbraceleft{}NumPy\textbraceright{}}},
  author = {Harris, Charles R. and Millman, K. Jarrod and {NumPy Developers}},
  journaltitle = {Nature},
  date = {2020-09-16},
  doi = {10.1038/s41586-020-2649-2},
  url = {https://doi.org/10.1038/s41586-020-2649-2},
  urldate = {2025-01-01},
  note = {Cited as [1] in the report on: Is it so?},
}
"""
    )


def test_two_pages_are_two_entries_in_order() -> None:
    library = read(EXPORTER.render(recorded(logs.two_agents().events)))
    assert [entry["url"] for entry in library.entries] == ["https://example.org/pep1", "https://example.org/pep8"]
    assert {entry.entry_type for entry in library.entries} == {"online"}
    assert EXPORTER.render(recorded(logs.no_evidence().events)) == b""


HOSTILE = [
    r"\input{/etc/passwd}", r"} @article{x, title={evil}", "a}\n\n@comment{b", r"$\write18{ls}$", "% comment",
    "^^5cinput x", "@string{a = 1}", "\\", "{{{{", "}}}}", '"quoted" # concat', "\u202egnp",
    "x\x1b[31m", "中文 العربية",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_only_text(text: str) -> None:
    source = page(title=text, author=text, metadata={"publisher": text, "type": "book"}, url=f"https://e.org/{text}")
    [entry] = read(EXPORTER.render(citing(source, question=text))).entries
    assert unescape(entry["title"][1:-1]) == one_line(text)
    for name, value in entry.items():
        assert not re.search(r"\\(?!text[a-z]+\{\}|[$&#_%])", str(value)), name
        assert name in ("doi", "url") or not re.search(r"(?<!\\)[$&#%^~]", str(value)), name


@settings(max_examples=scaled(60))
@given(
    st.lists(
        st.tuples(
            st.text(max_size=30) | st.text(st.sampled_from('{}\\%$#_^~&@"=, \nab'), max_size=30),
            st.text(max_size=20),
            st.text(st.sampled_from('ab/{}\\%?&#^~ "<>'), max_size=15),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_any_titles_authors_and_addresses_read_back(facts: list[tuple[str, str, str]]) -> None:
    sources = [
        page(n, title=title, author=author, url=f"https://e.org/{url}", document_sha256=f"{n:064}")
        for n, (title, author, url) in enumerate(facts, 1)
    ]
    record = citing(*sources)
    wanted = references(record.view)
    entries = read(EXPORTER.render(record)).entries
    assert [entry.key for entry in entries] == [reference.key for reference in wanted]
    for entry, reference in zip(entries, wanted, strict=True):
        assert unescape(entry["title"][1:-1]) == reference.title
        assert entry["url"] == reference.url
        found = unescape(entry["author"]) if reference.authors else ""
        assert all((name.literal or name.family) in found for name in reference.authors)


@given(st.text())
def test_braces_always_pair_up(text: str) -> None:
    escaped = escape(text)
    assert escaped.count("{") == escaped.count("}") == sum(text.count(sign) for sign in "\\{}^~")
    assert unescape(escaped) == text


def test_what_the_page_of_the_docs_shows() -> None:
    """The example in the documentation is what comes out."""
    shown = Path(__file__).parents[3].joinpath("docs/exports/bibtex.md").read_text(encoding="utf-8")
    source = page(
        url="https://peps.python.org/pep-0008/", title="Style Guide for Python Code",
        author="Guido van Rossum <guido@python.org>, Barry Warsaw", published="2001-07-05",
    )  # fmt: skip
    assert EXPORTER.render(citing(source, question="Who wrote PEP 8?")).decode().strip() in shown
