"""Rows of tables which compare header fields, under the head of their table."""

from __future__ import annotations

import itertools

import msgspec
import pytest
from evidence_of import evidence, passage
from hypothesis import given
from hypothesis import strategies as st

from assay.core.claims import Verdict
from assay.core.clean import escape_markdown
from assay.core.report_sentences import claims
from assay.core.tables.cells import row_cells
from assay.verify.analyzed_text import fold_text
from assay.verify.rows import check_computed_claim, check_row

SIX = (
    passage("S1.0", "PEP: 6"),
    passage("S1.1", "Title: Bug Fix Releases"),
    passage("S1.2", "Status: Superseded"),
    passage("S1.3", "Created: 15-Mar-2001"),
)
EIGHT = (
    passage("S2.0", "PEP: 8"),
    passage("S2.1", "Title: Style Guide"),
    passage("S2.2", "Status: Active"),
    passage("S2.3", "Created: 05-Jul-2001"),
)
DOCUMENTS = ("", "PEP 6 (Bug Fix Releases)", "PEP 8")
KEYS = ("PEP", "Status", "Created")

CASES: list[tuple[tuple[str, ...], str, Verdict | None]] = [
    (DOCUMENTS, "Status | Superseded | Active", "supported"),
    (DOCUMENTS, "Created | 2001-03-15 | 05-Jul-2001", "supported"),
    (DOCUMENTS, "Status | Superseded | —", "supported"),
    (DOCUMENTS, "Status | Superseded | not found", "supported"),
    (DOCUMENTS, "Status | Active | Superseded", "contradicted"),
    (DOCUMENTS, "Status | Superseded | Final", "contradicted"),
    (DOCUMENTS, "Created | 15-Mar-2001 | 15-Mar-2001", "contradicted"),
    (DOCUMENTS, "Status | 15-Mar-2001 | 05-Jul-2001", "contradicted"),
    (DOCUMENTS, "Author | Aahz | Guido van Rossum", None),
    (DOCUMENTS, "Status | — | —", None),
    (DOCUMENTS, "Status | Superseded", None),
    (DOCUMENTS, "Status | Superseded | Active | Final", None),
    (("", "PEP 6", "PEP 9"), "Status | Superseded | Active", None),
    (KEYS, "PEP 8 | Active | 05-Jul-2001", "supported"),
    (KEYS, "PEP 6 | Superseded | 15-Mar-2001", "supported"),
    (KEYS, "PEP 6 | Active | 15-Mar-2001", "contradicted"),
    (KEYS, "PEP 7 | Active | 05-Jul-2001", None),
]


@pytest.mark.parametrize(("head", "row", "verdict"), CASES)
def test_rows(head: tuple[str, ...], row: str, verdict: Verdict | None) -> None:
    check = check_row(row, head, evidence(*SIX, *EIGHT))
    assert (check.verdict if check else None) == verdict


def test_what_is_not_cited_is_not_decided() -> None:
    assert check_row("Status | Superseded | Active", DOCUMENTS, evidence(*SIX)) is None


def test_no_exchange_of_columns_is_supported() -> None:
    held = evidence(*SIX, *EIGHT)
    for head, values in itertools.product(
        itertools.permutations(DOCUMENTS[1:]), itertools.permutations(("Superseded", "Active"))
    ):
        check = check_row(" | ".join(("Status", *values)), ("", *head), held)
        right = dict(zip(head, values, strict=True)) == {DOCUMENTS[1]: "Superseded", DOCUMENTS[2]: "Active"}
        assert check is not None
        assert (check.verdict == "supported") is right


def test_a_row_of_a_report_knows_its_head() -> None:
    table = (
        "|  | PEP 6 | PEP 8 |\n|---|---|---|\n| Status | Superseded [S1.2] | Active [S2.2] |\n"
        "| Type | Process [S1.4] |\n"
        "|  | lone [S1.1] | cell |\n\nProse. [S1.1]\n"
    )
    assert [(claim.text, claim.head) for claim in claims(table)] == [
        ("Status | Superseded | Active", ("", "PEP 6", "PEP 8")),
        ("Type | Process", ()),
        ("lone | cell", ()),
        ("Prose.", ()),
    ]


def test_cells() -> None:
    assert row_cells("| a | b \\| c |  |") == ("a", "b | c", "")
    assert row_cells("a | b") == ("a", "b")
    assert row_cells("| a \\|") == ("a |",)


@given(st.lists(st.text(st.characters(exclude_characters="\\\n\r"), max_size=8), min_size=1, max_size=5))
def test_what_is_written_into_cells_comes_back(texts: list[str]) -> None:
    line = "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
    assert row_cells(line) == tuple(text.strip() for text in texts)


def test_an_escaped_cell_is_what_it_was() -> None:
    for text in ("a_b_c", "__init__ and *args", "C++ | D", "1. x", "<b> & $5", "[1] `code`"):
        assert fold_text(escape_markdown(text)).text == fold_text(text).text


HEAD = "| provider | needs | options |"
PORT = msgspec.structs.replace(passage("S3.4", "| `trax` | an address | country, dates |"), label=HEAD)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("provider: `trax` | needs: an address | options: country, dates", "supported"),
        ("provider: `trax` | needs: a key | options: country, dates", "contradicted"),
        ("`trax` – needs: an address; options: country, dates", "supported"),
        ("`trax` – needs: a key; options: country, dates", "contradicted"),
        ("`trax` – an address; country, dates", None),
        ("provider: `trax` | options: an address | needs: country, dates", "contradicted"),
        ("provider: `brax` | needs: an address | options: country, dates", None),
        ("provider: `trax` | needs: an address", None),
    ],
)
def test_a_claim_that_states_a_row_is_compared_with_its_cells(claim: str, verdict: Verdict | None) -> None:
    check = check_computed_claim(claim, evidence(PORT))
    assert (check.verdict if check else None) == verdict
