"""Who said it, and who did it."""

from __future__ import annotations

import pytest

from assay.verify.analyzed_text import analyze_text, read_texts
from assay.verify.checks import check_by_code
from assay.verify.evidence import SlotFinding, text_evidence
from assay.verify.rules.subjects import find

BRIDGE = (
    "The mayor, Ama Osei, said that the bridge was safe for heavy lorries. Piet Kerr asked for a second report. "
    "Judge Lind dissented. Judge Marr signed the order. Orla Tam called the survey “far too short”."
)


def findings(claim: str, evidence: str = BRIDGE) -> list[SlotFinding]:
    return list(find(analyze_text(claim), read_texts([("S1.1", evidence)])))


@pytest.mark.parametrize(
    ("claim", "name", "said"),
    [
        ("Piet Kerr replied that the bridge was safe for heavy lorries.", "Piet Kerr", "Ama Osei"),
        ("“The bridge was safe for heavy lorries,” said Kerr.", "Kerr", "Ama Osei"),
        ("Ama Osei asked for a second report.", "Ama Osei", "Piet Kerr"),
        ("Judge Marr dissented.", "Judge Marr", "Judge Lind"),
        ("Kerr called the survey “far too short”.", "Kerr", "Orla Tam"),
    ],
)
def test_somebody_else(claim: str, name: str, said: str) -> None:
    (finding,) = findings(claim)
    assert (finding.rule, finding.slot.text, finding.said, finding.certain) == ("name", name, said, True)
    assert check_by_code(claim, text_evidence(BRIDGE), has_markers=True).verdict == "contradicted"


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Osei said that the bridge was safe for heavy lorries.", BRIDGE),
        ("Kerr asked for a report.", BRIDGE),
        ("Nadia Bell asked for a second report.", BRIDGE),
        (
            "Teresa founded the order in Calcutta.",
            "Agnes Bojaxhiu, known as Teresa, was a nun. Agnes founded the order in Calcutta.",
        ),
        ("Piet Kerr is a poker player.", "Who is Piet Kerr? The American writer is a poker player."),
        ("Piet Kerr asked for a second report.", f"{BRIDGE} Ama Osei asked for a second report."),
        (
            "Piet Kerr won two medals in Oslo.",
            "Piet Kerr is a rower. He won two medals in Oslo. Ama Osei won two medals.",
        ),
        ("Das Werk beschäftigt 400 Menschen.", "Die Fabrik beschäftigt 400 Menschen. Das Werk liegt in Kiel."),
        ("Die Fabrik beschäftigt 400 Menschen.", "Die Anlage beschäftigt 400 Menschen. Die Fabrik wurde 1931 gebaut."),
        ("The Home Office closed the port.", "Ama Osei closed the port. The Home Office praised it."),
        ("The Senate passed the bill.", "The House passed the bill in May. The Senate passed it in June."),
        ("Kerr resigned in 2020.", "Piet Kerr was mayor. He resigned in 2020. Ama Osei resigned in 2020, too."),
    ],
)
def test_the_same(claim: str, evidence: str) -> None:
    assert findings(claim, evidence) == []
