"""Cause and effect, before and after, which have changed places."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.checks import check_by_code
from assay.verify.evidence import SlotFinding, text_evidence
from assay.verify.rules.relations import find

LATE = "Because the bridge is closed, the trains run late."


def findings(claim: str, evidence: str) -> list[SlotFinding]:
    return list(find(analyze_text(claim), read_texts([("S1.1", evidence)])))


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The bridge is closed because the trains run late.", LATE),
        ("The bridge is closed due to trains that run late.", LATE),
        ("Trains that run late led to the closed bridge.", LATE),
        ("The drought causes higher prices of bread.", "The drought is caused by higher prices of bread in Orley."),
        (
            "The limit of 40 km led to noise in the old town.",
            "Trams caused noise in the old town, which led to the limit of 40 km.",
        ),
        ("The mill burnt down after its owner left Orley.", "Its owner left Orley after the mill burnt down."),
        ("The mill burnt down before its owner left Orley.", "Its owner left Orley before the mill burnt down."),
        ("The mill burnt down after its owner left Orley.", "The mill burnt down before its owner left Orley."),
        ("Prices rose, so the harvest failed.", "The harvest failed, so prices rose."),
    ],
)
def test_turned_round(claim: str, evidence: str) -> None:
    (finding,) = findings(claim, evidence)
    assert (finding.rule, finding.outcome, finding.veto) == ("order", "conflict", True)
    assert check_by_code(claim, text_evidence(evidence), has_markers=True).verdict == "contradicted"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("The trains run late because the bridge is closed.", LATE),
        ("The closed bridge led to trains that run late.", LATE),
        ("The bridge is not closed because the trains run late.", LATE),
        ("The mill burnt down before its owner left Orley.", "Its owner left Orley after the mill burnt down."),
        ("The bridge is closed because the trains run late.", f"{LATE} The bridge is closed because trains run late."),
        ("The causes of the closed bridge are late trains.", LATE),
        ("The bridge is closed because it rains.", LATE),
        (
            "Buses were late because the road was closed.",
            "The road was closed because of a flood, and buses were late because of that.",
        ),
    ],
)
def test_as_it_stands(claim: str, evidence: str) -> None:
    assert findings(claim, evidence) == []
