"""What rose or fell by the figures of a table, or of the claim itself."""

from __future__ import annotations

import hashlib

import pytest

from assay.core.sources import Passage, Surroundings
from assay.verify.checks import check_by_code, examine, objection
from assay.verify.evidence import ClaimEvidence, text_evidence

BY_ROW = """
| Year | Revenue (m) | Staff |
|---|---|---|
| 2021 | 10.5 | 100 |
| 2022 | 12.1 | 90 |
| 2023 | 15.0 | 85 |
"""
BY_COLUMN = """
| Acme | 2021 | 2022 | 2023 |
|---|---|---|---|
| Revenue | 10.5 | 12.1 | 15.0 |
| Staff | 100 | 90 | 85 |
"""


@pytest.mark.parametrize("table", [BY_ROW, BY_COLUMN])
@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("Revenue fell between 2021 and 2023.", "10.5 (2021), 15.0 (2023)"),
        ("From 2021 to 2022 the staff grew.", "100 (2021), 90 (2022)"),
        ("Revenue rose between 2021 and 2023.", ""),
        ("Staff declined from 2021 to 2023, and revenue was stable.", ""),
        ("Revenue fell from 2023 to 2021.", ""),
        ("Revenue rose from 2023 to 2021.", "15.0 (2023), 10.5 (2021)"),
        ("Revenue did not fall between 2021 and 2023.", ""),
        ("Profit fell between 2021 and 2023.", ""),
        ("Revenue fell between 2021 and 2024.", ""),
        ("Revenue fell in 2023.", ""),
    ],
)
def test_a_table_tells_which_way_it_went(table: str, claim: str, reason: str) -> None:
    evidence = text_evidence(table)
    found = objection(examine(claim, evidence), evidence)
    if reason:
        assert found is not None
        assert (found.rule, found.verdict) == ("direction", "contradicted")
        assert reason in found.reason
    else:
        assert found is None or found.rule != "direction"


def test_rows_cited_one_by_one_have_the_head_before_them_in_their_document() -> None:
    head = "| Year | Revenue (m) |\n|---|---|\n"
    rows = (("S1.1", "| 2021 | 10.5 |", head), ("S1.2", "| 2023 | 15.0 |", head + "| 2021 | 10.5 |\n"))
    evidence = ClaimEvidence(
        passages=tuple(_passage(id, text) for id, text, _ in rows),
        sources={},
        surroundings={id: Surroundings(id=id, before=before, after="") for id, _, before in rows},
    )
    found = check_by_code("Revenue shrank from 2021 to 2023.", evidence, has_markers=True)
    assert (found.rule, found.verdict) == ("direction", "contradicted")


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("Sales rose from 15 million in 2021 to 10 million in 2022.", True),
        ("The rate fell from 3 to 5 percent.", True),
        ("The rate rose to 3 percent from 5 percent.", True),
        ("Sales rose from 10 million to 15 million.", False),
        ("The rate fell from 5 to 3 percent.", False),
        ("The song climbed from place 10 to 5 in the chart.", False),
        ("Visitors from 20 countries fell ill when prices rose to 15 francs.", False),
        ("The coast fell from 900 m to 1 km.", True),
    ],
)
def test_a_claim_which_its_own_figures_belie(claim: str, wrong: bool) -> None:
    evidence = text_evidence("Sales and the rate are told by the bank: " + claim.replace("rose", "went"))
    found = objection(examine(claim, evidence), evidence)
    assert (found is not None and found.rule == "direction") == wrong


def _passage(id: str, text: str) -> Passage:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Passage(id=id, source="S1", document_sha256=digest, start=0, end=len(text), text=text, text_sha256=digest)
