"""The embedded verifier on a sample of labelled claims it was not trained on."""

from __future__ import annotations

import pytest
from grounding import area
from hypothesis import given
from hypothesis import strategies as st
from labelled import DATA, EDITED, in_training, rows

from assay.verify.claim_check import decide

SAMPLED = 20
"""Every so many rows of the report part."""


@pytest.mark.skipif(not DATA.is_dir(), reason="no labelled claims (set ASSAY_DATA)")
def test_a_sample_of_the_report_part() -> None:
    held_out = [row for row in rows() if not in_training(row) and len(row.doc) < 3_000]
    cited = [row for row in held_out if row.dataset in ("attributionbench", "factcheck-gpt", "begin")][::SAMPLED]
    edited = [row for row in held_out if row.dataset in EDITED][::SAMPLED]
    decided = {row.id: decide(row.claim, row.doc) for row in (*cited, *edited)}
    assert area([row.label for row in cited], [decided[row.id].score for row in cited]) > 0.65
    assert area([row.label for row in edited], [decided[row.id].score for row in edited]) > 0.5
    supported = [row.label for row in (*cited, *edited) if decided[row.id].verdict == "supported"]
    assert len(supported) >= 3
    assert sum(supported) / len(supported) > 0.75


@pytest.mark.skipif(not DATA.is_dir(), reason="no labelled claims (set ASSAY_DATA)")
def test_no_claim_is_in_both_parts_and_no_document_where_sets_can_be_parted() -> None:
    claims: dict[tuple[str, str], set[bool]] = {}
    documents: dict[tuple[str, str], set[bool]] = {}
    for row in rows():
        claims.setdefault((row.dataset, row.claim), set()).add(in_training(row))
        documents.setdefault((row.dataset, row.doc), set()).add(in_training(row))
    assert all(len(parts) == 1 for parts in claims.values())
    assert {name for (name, _), parts in documents.items() if len(parts) == 2} == {"climate-fever", "healthver"}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=40))
def test_the_area_is_the_share_of_pairs_in_the_right_order(found: list[tuple[bool, int]]) -> None:
    pairs = [(one, other) for yes, one in found if yes for no, other in found if not no]
    wanted = sum((one > other) + (one == other) / 2 for one, other in pairs) / len(pairs) if pairs else 0.5
    assert area([label for label, _ in found], [score for _, score in found]) == pytest.approx(wanted)
