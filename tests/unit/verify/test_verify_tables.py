"""What tables say of claims: cells, computations over them, and figures added up from a column."""

from __future__ import annotations

import msgspec
import pytest

from assay.core.sources import Passage, sha256
from assay.core.tables.cells import ReadTable, TablePiece, read_tables
from assay.verify.checks import check_by_code
from assay.verify.evidence import ClaimEvidence

ROWS = (
    "port: Goole | depth (m): 7.5 | berths: 12",
    "port: Hull | depth (m): 9 | berths: 31",
    "port: Ayr | depth (m): 6 | berths: 8",
    "port: Leith | depth (m): 8 | berths: 20",
    "port: Dover | depth (m): 11 | berths: 25",
    "port: Wick | depth (m): 5.5 | berths: 6",
)


HEADED = ("| Tessel | 67.06 | 620 |", "| Bridge | Length (m) | Cost (EUR million) |")


@pytest.mark.parametrize(
    ("claim", "objects"),
    [
        ("The Tessel bridge has a length of 67.06 m.", False),
        ("The Tessel bridge has a length of 220 feet.", False),
        ("The Tessel bridge has a length of 67.06 feet.", True),
        ("The Tessel bridge had a cost of 620 million euros.", False),
        ("The Tessel bridge had a cost of 620 million dollars.", True),
    ],
)
def test_the_header_above_a_cited_row_has_the_units_of_its_figures(claim: str, objects: bool) -> None:
    row, head = HEADED
    (passage,) = evidence(row).passages
    cited = ClaimEvidence(passages=(msgspec.structs.replace(passage, label=head),), sources={})
    assert (check_by_code(claim, cited, has_markers=True).verdict in ("unsupported", "contradicted")) is objects


@pytest.mark.parametrize(
    "row", ["| £ million: Net debt | 2025: 52.6 | 2024: (31.2) |", "Item: Net debt (£m) | 2025: 52.6 | 2024: (31.2)"]
)
@pytest.mark.parametrize(
    ("claim", "objects"),
    [
        ("Net debt was £52.6 million in 2025.", False),
        ("Net debt was £52,600,000 in 2025.", False),
        ("Net debt was £31.2 million in 2024.", False),
        ("Net debt was $52.6 million in 2025.", True),
        ("Net debt was £52.6 thousand in 2025.", True),
        ("Net debt was £62.5 million in 2025.", True),
    ],
)
def test_the_measure_of_a_row_may_stand_in_its_first_column(row: str, claim: str, objects: bool) -> None:
    assert (check_by_code(claim, evidence(row), has_markers=True).verdict in ("unsupported", "contradicted")) is objects


def test_a_cell_is_told_with_the_measure_of_its_table() -> None:
    row = "£ million: Net debt | 2025: 52.6 | 2024: 31.2"
    assert check_by_code("2025 of Net debt (£ million): 52.6", evidence(row), has_markers=True).verdict == "supported"
    assert (
        check_by_code("2025 of Net debt (£ million): 31.2", evidence(row), has_markers=True).verdict == "contradicted"
    )


def evidence(*rows: str, whole: tuple[str, ...] = ()) -> ClaimEvidence:
    passages = tuple(
        Passage(
            id=f"S1.{at}",
            source="S1",
            document_sha256="0" * 64,
            start=at * 100,
            end=at * 100 + len(row.encode()),
            text=row,
            text_sha256=sha256(row.encode()),
        )
        for at, row in enumerate(rows)
    )
    tables: tuple[ReadTable, ...] = read_tables(TablePiece(str(at), row) for at, row in enumerate(whole))
    return ClaimEvidence(passages=passages, sources={}, tables=lambda: tables)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("berths of Hull: 31", "supported"),
        ("berths of Hull: 12", "contradicted"),
        ("depth (m) of Goole: 7.5", "supported"),
        ("Sum of berths over 6 rows: 102", "supported"),
        ("Average of berths over 6 rows: 17", "supported"),
        ("Dover: depth (m) 11, the highest of 6 rows", "supported"),
        ("Number of rows: 6", "supported"),
    ],
)
def test_cells_and_computations(claim: str, verdict: str) -> None:
    assert check_by_code(claim, evidence(*ROWS, whole=ROWS), True).verdict == verdict


@pytest.mark.parametrize(
    "claim",
    [
        "Sum of berths over 6 rows: 103",
        "Hull: depth (m) 9, the highest of 6 rows",
        "Dover: depth (m) 12, the highest of 6 rows",
        "Number of rows: 7",
    ],
)
def test_a_changed_computation_is_contradicted(claim: str) -> None:
    found = check_by_code(claim, evidence(*ROWS, whole=ROWS), True)
    assert (found.verdict, found.rule) == ("contradicted", "field")
    assert "the table gives" in found.reason


def test_the_whole_table_counts_where_not_all_of_it_is_cited() -> None:
    part = evidence(*ROWS[:2], whole=ROWS)
    assert check_by_code("Sum of berths over 6 rows: 102", part, True).verdict == "supported"
    assert check_by_code("Sum of berths over 2 rows: 43", part, True).verdict == "contradicted"


def test_cited_rows_alone_confirm_but_do_not_contradict_a_computation() -> None:
    part = msgspec.structs.replace(evidence(*ROWS[:2]), tables=tuple)
    assert check_by_code("Sum of berths over 2 rows: 43", part, True).verdict == "supported"
    assert check_by_code("Sum of berths over 6 rows: 102", part, True).rule != "field"


@pytest.mark.parametrize(
    ("claim", "objects"),
    [
        ("The six ports have 102 berths in total.", False),
        ("The ports have 17 berths on average.", False),
        ("The six ports have 112 berths in total.", True),
        ("The ports have 19 berths on average.", True),
        ("The six ports have 102 cranes in total.", True),
    ],
)
def test_figures_in_other_words_are_added_up_from_the_column_named(claim: str, objects: bool) -> None:
    found = check_by_code(claim, evidence(*ROWS), True)
    assert (found.rule == "number") is objects


LEDGER = (
    "Date: 2021-02-03 | Paid to: Orchard Masonry Ltd | Purpose: Wall | Amount GBP: 14,250.00",
    "Date: 2021-02-19 | Paid to: Fenwick Glass | Purpose: Windows | Amount GBP: 38,900.00",
    "Date: 2021-05-07 | Paid to: Orchard Masonry Ltd | Purpose: Steps | Amount GBP: 22,600.00",
    "Date: 2021-09-12 | Paid to: Fenwick Glass | Purpose: Windows | Amount GBP: 12,150.00",
)
WELLS = (
    "Well: Alder | Drilled: 4 May 1987 | Depth (m): 142 | Owner: Sarn Council",
    "Well: Birch | Drilled: 17 August 1993 | Depth (m): 205.5 | Owner: Dairy Union",
    "Well: Cedar | Drilled: 2 March 2008 | Depth (m): 118 | Owner: Sarn Council",
)


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("Orchard Masonry received £22,600 on 3 February 2021.", "14,250.00"),
        ("On 12 September 2021, 38,900 pounds went to Fenwick Glass.", "12,150.00"),
        ("Alder was drilled on 17 August 1993.", "4 May 1987"),
        ("The Cedar well of Sarn Council is 142 m deep.", "118"),
    ],
)
def test_what_stands_in_two_rows_is_not_said_by_one(claim: str, said: str) -> None:
    found = check_by_code(claim, evidence(*(LEDGER if "o" in claim[:2].lower() else WELLS)), has_markers=True)
    assert (found.verdict, said in found.reason) == ("contradicted", True)


@pytest.mark.parametrize(
    "claim",
    [
        "Orchard Masonry received £14,250 on 3 February 2021.",
        "Fenwick Glass got 38,900 pounds on 19 February 2021 and 12,150 pounds on 12 September 2021.",
        "Orchard Masonry got 22,600 pounds, less than the 38,900 pounds of 19 February 2021.",
        "Fenwick Glass got 12,150 pounds after 19 February 2021.",
    ],
)
def test_one_row_or_several_that_a_sentence_speaks_of_are_not_objected_to(claim: str) -> None:
    assert check_by_code(claim, evidence(*LEDGER), has_markers=True).verdict in ("supported", "unchecked")


def test_what_a_text_beside_the_table_says_counts() -> None:
    letter = "On 3 February 2021 Orchard Masonry received £22,600 more in cash."
    claim = "Orchard Masonry received £22,600 on 3 February 2021."
    assert check_by_code(claim, evidence(*LEDGER, letter), has_markers=True).verdict not in (
        "contradicted",
        "unsupported",
    )


QUARTERS = ("period: 2025-Q2 | turnover (EUR): 4700", "period: 2025-Q3 | turnover (EUR): 5200")


@pytest.mark.parametrize(
    ("claim", "objects"),
    [
        ("The turnover was 5200 euros in the third quarter of 2025.", False),
        ("The turnover was 5200 euros in the second quarter of 2025.", True),
        ("The turnover was 4700 euros in Q2 2025.", False),
        ("The turnover was 4700 euros in Q3 2025.", True),
        ("The turnover was 4700 euros in Q4 2025.", True),
    ],
)
def test_an_amount_is_that_of_the_row_with_its_quarter(claim: str, objects: bool) -> None:
    check = check_by_code(claim, evidence(*QUARTERS), has_markers=True)
    assert (check.verdict in ("unsupported", "contradicted")) is objects


SURVEY = tuple(
    f"site: {site} | samples: {samples} | nitrate: {nitrate} | year: {year}"
    for site, samples, nitrate, year in (("Aln", 48, 12.4, 2021), ("Bure", 52, 7.9, 2021), ("Bure", 52, 8.3, 2024))
)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("Nitrate at Bure was 8.3 in 2021.", "contradicted"), ("Nitrate at Bure was 8.3 in 2024.", "supported")],
)
def test_a_figure_is_of_the_row_with_its_year(claim: str, verdict: str) -> None:
    assert check_by_code(claim, evidence(*SURVEY), has_markers=True).verdict == verdict


def test_a_figure_missing_twice_is_named_once() -> None:
    check = check_by_code("In 2021 it was 160 and in 2024 it was 160.", evidence(*SURVEY), has_markers=True)
    assert check.reason.startswith("the number 160 is not in")
