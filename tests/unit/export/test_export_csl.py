"""CSL-JSON, read by citeproc-py, which makes a bibliography of it."""

import json

import logs
import pytest
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from citing import citing, page
from hypothesis import given, settings
from hypothesis import strategies as st
from records import recorded
from sampling import scaled

from assay.export.csl import EXPORTER
from assay.export.references import references

# https://resource.citationstyles.org/schema/v1.0/input/json/csl-data.json, the fields and types which are written
FIELDS = {
    "id", "type", "title", "author", "container-title", "publisher", "issued", "accessed", "DOI", "URL", "note",
}  # fmt: skip
TYPES = {
    "article-journal", "paper-conference", "book", "chapter", "thesis", "report", "dataset", "webpage", "document",
}  # fmt: skip
STYLE = CitationStylesStyle("harvard-cite-them-right", validate=False)


def bibliography(items: list[dict[str, object]]) -> list[str]:
    """The entries as a second program prints them."""
    made = CitationStylesBibliography(STYLE, CiteProcJSON(items), formatter.plain)
    for item in items:
        made.register(Citation([CitationItem(item["id"])]))
    return [str(entry) for entry in made.bibliography()]


def test_an_article_and_a_page() -> None:
    article = page(
        1, url="https://doi.org/10.1038/s41586-020-2649-2", title="Array programming with NumPy",
        published="2020-09-16",
        author="Charles R. Harris, K. Jarrod Millman and NumPy Developers", metadata={"journal": "Nature"},
    )  # fmt: skip
    items = json.loads(EXPORTER.render(citing(article, page(2, published="2001"))))
    assert items[0] == {
        "id": "harris2020array",
        "type": "article-journal",
        "title": "Array programming with NumPy",
        "author": [
            {"family": "Harris", "given": "Charles R."},
            {"family": "Millman", "given": "K. Jarrod"},
            {"literal": "NumPy Developers"},
        ],
        "container-title": "Nature",
        "issued": {"date-parts": [[2020, 9, 16]]},
        "accessed": {"date-parts": [[2025, 1, 1]]},
        "DOI": "10.1038/s41586-020-2649-2",
        "URL": "https://doi.org/10.1038/s41586-020-2649-2",
        "note": "Cited as [1] in the report on: Is it so?",
    }
    assert items[1]["issued"] == {"date-parts": [[2001]]}
    printed = "\n".join(bibliography(items))
    assert "Harris, C.R." in printed
    assert "2020" in printed
    assert "Array programming with NumPy" in printed
    assert "A page" in printed


def test_nothing_cited_is_an_empty_list() -> None:
    assert json.loads(EXPORTER.render(recorded(logs.no_evidence().events))) == []


@pytest.mark.parametrize("name", sorted(logs.SCENARIOS))
def test_only_fields_and_types_of_the_schema(name: str) -> None:
    for item in json.loads(EXPORTER.render(recorded(logs.SCENARIOS[name]().events))):
        assert set(item) <= FIELDS
        assert item["type"] in TYPES
        assert all(value not in ("", [], None) for value in item.values())


def test_controls_are_escapes_and_reordering_marks_are_gone() -> None:
    data = EXPORTER.render(citing(page(title="a\x1b[31m\u202eb\x9b", author="x\u2066y"), question="q\x7f"))
    assert not set("\x1b\u202e\x9b\u2066\x7f") & set(data.decode())


@settings(max_examples=scaled(60))
@given(st.lists(st.tuples(st.text(max_size=30), st.text(max_size=30), st.text(max_size=15)), min_size=1, max_size=4))
def test_any_titles_authors_and_addresses_read_back(facts: list[tuple[str, str, str]]) -> None:
    sources = [
        page(n, title=title, author=author, url=f"https://e.org/{url}", document_sha256=f"{n:064}")
        for n, (title, author, url) in enumerate(facts, 1)
    ]
    record = citing(*sources)
    wanted = references(record.view)
    items = json.loads(EXPORTER.render(record))
    assert [(item["id"], item["title"], item["URL"]) for item in items] == [(r.key, r.title, r.url) for r in wanted]
    assert [len(item.get("author", [])) for item in items] == [len(reference.authors) for reference in wanted]
    assert all(set(item) <= FIELDS for item in items)
    assert len(CiteProcJSON(items)) == len(items)
