"""Frames: `KEY of SUBJECT: VALUE` against the header fields of what is cited."""

from __future__ import annotations

import pytest
from evidence_of import evidence, passage, source
from msgspec.structs import replace

from assay.core.claims import Verdict
from assay.verify.evidence import ClaimEvidence
from assay.verify.rows import check_entry_claim, check_framed_claim

HEADER = (
    passage("S1.0", "PEP: 6"),
    passage("S1.1", "Title: Bug Fix Releases"),
    passage("S1.2", "Author: Aahz <aahz@pythoncraft.com>, Anthony Baxter <anthony@interlink.com.au>"),
    passage("S1.3", "Status: Superseded"),
    passage("S1.4", "Created: 15-Mar-2001"),
    passage("S1.5", "Post-History: 15-Mar-2001, 18-Apr-2001"),
    passage("S1.6", "Requires: 2718, 2930"),
    passage("S1.7", "Note: Safe, except on Sundays"),
)
SUBJECT = "PEP 6 (Bug Fix Releases)"

CASES: list[tuple[str, Verdict | None]] = [
    (f"Status of {SUBJECT}: Superseded", "supported"),
    ("Status of PEP 6: Superseded.", "supported"),
    ("Status of PEP 0006: Superseded", "supported"),
    ("Status of Bug Fix Releases: superseded", None),
    (f"Status of {SUBJECT}: Final", "contradicted"),
    ("Status of PEP 8: Superseded", None),
    ("Status of PEP 8: Final", None),
    ("Status of the other document: Superseded", None),
    (f"Status of {SUBJECT}: not Superseded", None),
    (f"Created of {SUBJECT}: 15-Mar-2001", "supported"),
    (f"Created of {SUBJECT}: 2001-03-15", "supported"),
    (f"Created of {SUBJECT}: 15-Mar-2002", "contradicted"),
    (f"Created of {SUBJECT}: 16-Mar-2001", "contradicted"),
    (f"Author of {SUBJECT}: Aahz <aahz@pythoncraft.com>", "supported"),
    (f"Author of {SUBJECT}: Anthony Baxter <anthony@interlink.com.au>, Aahz <aahz@pythoncraft.com>", "supported"),
    (f"Author of {SUBJECT}: Guido van Rossum", "contradicted"),
    (f"Requires of {SUBJECT}: 2718", "supported"),
    (f"Requires of {SUBJECT}: 2718, 2930", "supported"),
    (f"Requires of {SUBJECT}: 2718, 2931", "contradicted"),
    (f"Requires of {SUBJECT}: 718", "contradicted"),
    (f"Post-History of {SUBJECT}: 15-Mar-2001, 18-Apr-2001", "supported"),
    (f"Note of {SUBJECT}: Safe", None),
    ("Discussion of the matter: it went on", None),
    ("Superseded", None),
]


@pytest.mark.parametrize(("claim", "verdict"), CASES)
def test_frames(claim: str, verdict: Verdict | None) -> None:
    check = check_framed_claim(claim, evidence(*HEADER))
    assert (check.verdict if check else None) == verdict


def test_the_subject_may_be_the_source_of_the_field_alone() -> None:
    """A field which points at PEP 6 does not make its document PEP 6."""
    five = (passage("S2.0", "PEP: 5"), passage("S2.3", "Status: Final"), passage("S2.4", "Superseded-By: PEP 6"))
    assert check_framed_claim("Status of PEP 6: Final", evidence(*five)) is None
    assert check_framed_claim("Status of PEP 5: Final", evidence(*five)) is not None


def test_a_title_may_begin_with_a_number() -> None:
    own = (passage("S1.0", "PEP: 8102"), passage("S1.1", "Title: 2021 Term election"), passage("S1.3", "Status: Final"))
    for claim, verdict in (
        ("Status of PEP 8102 (2021 Term election): Final", "supported"),
        ("Status of PEP 2021 (8102 Term election): Final", None),
        ("Status of PEP 8102 (2022 Term election): Final", None),
    ):
        found = check_framed_claim(claim, evidence(*own))
        assert (found.verdict if found else None) == verdict, claim


def test_the_title_of_the_source_names_it_too() -> None:
    status = passage("S3.3", "**Status:** Draft")
    titled = ClaimEvidence(passages=(status,), sources={"S3": source("S3", "EIP-1559: Fee market change")})
    check = check_framed_claim("Status of EIP-1559 (Fee market change): Draft", titled)
    assert check is not None
    assert check.verdict == "supported"
    assert check_framed_claim("Status of EIP-1558 (Fee market change): Draft", titled) is None


def test_of_two_sources_with_one_key_the_right_one_counts() -> None:
    two = (*HEADER[:4], passage("S2.0", "PEP: 8"), passage("S2.3", "Status: Active"))
    for claim, verdict in (
        ("Status of PEP 6: Superseded", "supported"),
        ("Status of PEP 8: Active", "supported"),
        ("Status of PEP 6: Active", "contradicted"),
        ("Status of PEP 8: Superseded", "contradicted"),
    ):
        check = check_framed_claim(claim, evidence(*two))
        assert check is not None
        assert check.verdict == verdict


def test_a_contradiction_says_what_the_field_says() -> None:
    check = check_framed_claim(f"Status of {SUBJECT}: Final", evidence(*HEADER))
    assert check is not None
    assert check.reason == "the cited field 'status' says 'Superseded'"


HEADS = "| kind | default |"
LISTED = (
    ("S1.3", "Default value\n    25", (), "`soak-time`"),
    ("S1.4", "If missing\n    The kiln does not start. Its lamp blinks.", (), "`cutoff`"),
    ("S1.5", "| number | 400 |", ("Pump", "4.2. max-strokes"), HEADS),
    ("S1.6", "The gauge counts once.", ("Changes", "3.2.1 (2026-08-02)", "Fixed"), ""),
    ("S1.7", "Mara: We tried clay. It cracked.", (), ""),
)
ENTRIES = tuple(replace(passage(id, text), heading=heading, label=label) for id, text, heading, label in LISTED)


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("`soak-time`: Default value 25", "supported"),
        ("`cutoff`: If missing The kiln does not start.", "supported"),
        ("max-strokes: kind: number | default: 400", "supported"),
        ("If missing: The kiln does not start.", "supported"),
        ("Default value: 25", "supported"),
        ("3.2.1 (2026-08-02) > Fixed: The gauge counts once.", "supported"),
        ("Mara: It cracked.", "supported"),
        ("Ben: It cracked.", None),
        ("3.2.0 > Fixed: The gauge counts once.", None),
        ("If missing: It starts.", None),
        ("`cutoff`: Default value 25", None),
        ("`soak-time`: Default value 250", None),
        ("`soak-time`: 25", None),
        ("`cutoff`: start.", None),
        ("max-strokes: kind: number | default: 500", None),
        ("Default value 25", None),
    ],
)
def test_a_field_behind_the_name_of_its_entry(claim: str, verdict: Verdict | None) -> None:
    check = check_entry_claim(claim, evidence(*ENTRIES))
    assert (check.verdict if check else None) == verdict
