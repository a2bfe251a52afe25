"""The neutral records of cited sources: what a source is, its DOI, its dates, its key."""

import logs
import pytest
from citing import citing, page
from hypothesis import given
from hypothesis import strategies as st

from assay.core.report import build_report
from assay.core.sources import FOUND_BY, FOUND_DATE, SNIPPET
from assay.core.view import fold_events
from assay.export.references import _make_unique, read_day, references
from assay.export.report_parts import found_date


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("2024", (2024,)), ("2024-05", (2024, 5)),
        ("2024-05-31", (2024, 5, 31)), ("2024-02-29T10:00:00Z", (2024, 2, 29)),
        ("2023-02-29", ()), ("2024-13", ()), ("0000", ()), ("20240531", ()), ("May 2024", ()), ("", ()),
    ],
)  # fmt: skip
def test_dates_are_read_as_far_as_they_exist(stated: str, day: tuple[int, ...]) -> None:
    assert read_day(stated) == day


@given(st.dates())
def test_every_day_is_read(day) -> None:
    assert read_day(day.isoformat()) == (day.year, day.month, day.day)
    assert read_day(day.isoformat()[:7]) == (day.year, day.month)


KINDS = [
    ({}, "webpage"),
    ({"url": "https://doi.org/10.1234/abc"}, "article-journal"),
    ({"metadata": {"citation_doi": "10.1234/abc"}}, "article-journal"),
    ({"metadata": {"type": "Dataset"}}, "dataset"),
    ({"metadata": {"type": "Standards Track"}}, "webpage"),
    ({"media_type": "application/pdf"}, "report"),
    ({"url": "file:///home/me/a.md", "media_type": "text/markdown"}, "document"),
    ({"url": "table.csv", "media_type": "text/csv"}, "dataset"),
]


@pytest.mark.parametrize(("facts", "kind"), KINDS)
def test_kinds(facts: dict[str, object], kind: str) -> None:
    [reference] = references(citing(page(**facts)).view)
    assert reference.kind == kind


def test_only_cited_sources_in_the_order_of_their_numbers() -> None:
    view = fold_events(logs.two_agents().events)
    found = references(view)
    assert [(reference.number, reference.title) for reference in found] == [(1, "Document pep1"), (2, "Document pep8")]
    assert "[2]" in found[1].note
    assert found[0].accessed == (2025, 1, 1)
    assert references(fold_events(logs.no_evidence().events)) == ()


def test_all_that_is_known_of_a_source() -> None:
    metadata = {"DOI": "10.1000/182", "Citation_Journal_Title": "Journal of Proofs", "dc.publisher": "Acme\nPress"}
    source = page(author="Jane Doe, John Smith", published="2020-06", title="On Proofs", metadata=metadata)
    [reference] = references(citing(source).view)
    assert reference.key == "doe2020proofs"
    assert (reference.container, reference.publisher) == ("Journal of Proofs", "Acme Press")
    assert (reference.doi, reference.issued) == ("10.1000/182", (2020, 6))
    assert reference.url == "https://example.org/S1"


def test_a_local_file_has_a_path_and_no_address() -> None:
    [reference] = references(citing(page(url="file:///home/me/a%20b.md", title="")).view)
    assert (reference.path, reference.url, reference.title) == ("/home/me/a b.md", "", "/home/me/a b.md")


def test_keys_of_one_author_and_year_are_told_apart() -> None:
    sources = [
        page(n, author="Jane Doe", published="2020", title="On Proofs", document_sha256=f"{n:064}") for n in (1, 2, 3)
    ]
    assert [reference.key for reference in references(citing(*sources).view)] == [
        "doe2020proofsa", "doe2020proofsb", "doe2020proofsc",
    ]  # fmt: skip


def test_a_key_without_any_latin_letter() -> None:
    [reference] = references(citing(page(author="王小明", title="中文", url="file:///中文")).view)
    assert reference.key == "sourcend"


@given(st.lists(st.text("ab", min_size=1, max_size=3), max_size=60))
def test_keys_are_unique_and_begin_as_they_would(keys: list[str]) -> None:
    unique = _make_unique(keys)
    assert len(set(unique)) == len(keys)
    assert all(made.startswith(key) for made, key in zip(unique, keys, strict=True))
    assert all(made == key for made, key in zip(unique, keys, strict=True) if keys.count(key) == 1)


def test_a_date_that_only_a_search_gives_is_no_date_of_the_work_and_says_whose_it_is() -> None:
    view = citing(page(metadata={FOUND_DATE: "2024-03-01", FOUND_BY: "brave"})).view
    (source,) = build_report(view).sources
    assert found_date(source) == "published 2024-03-01 according to brave"
    (reference,) = references(view)
    assert reference.issued == ()


def test_the_date_of_a_snippet_is_that_of_the_search() -> None:
    (source,) = build_report(
        citing(page(published="2024", media_type=SNIPPET, metadata={"provider": "brave"})).view
    ).sources
    assert found_date(source) == "published 2024 according to brave"
    (source,) = build_report(citing(page(published="2024")).view).sources
    assert found_date(source) == ""
