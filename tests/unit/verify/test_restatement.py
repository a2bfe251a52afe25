"""Numbers in other signs are the same number, and the weight of words knows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.verify.checks import examine
from assay.verify.claim_check import decide, without_citations
from assay.verify.evidence import reword_numbers, text_evidence
from assay.verify.verifier.verdicts import weigh


@pytest.mark.parametrize(
    ("claim", "text", "read"),
    [
        ("Almost nine percent of adults smoke.", "In 2020, 8.9 % of adults smoked.", "8.9 % of adults smoke."),
        ("About 400 people work there.", "398 people work there.", "398 people work there."),
        ("Close to ten thousand people came.", "9,870 people came.", "9,870 people came."),
        ("Sales rose to about 1.5 million.", "Sales rose to 1.46 million.", "Sales rose to 1.46 million."),
        ("Almost nine percent of adults smoke.", "In 2020, 12 % smoked.", "Almost nine percent of adults smoke."),
        ("398 people work there.", "398 people work there.", "398 people work there."),
    ],
)
def test_a_number_is_read_as_the_evidence_has_it(claim: str, text: str, read: str) -> None:
    assert reword_numbers(claim, examine(claim, text_evidence(text))) == read


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (
            "The bridge opened in 2025.",
            "The bridge opened. It is of stone. Ships pass. Trains pass. On 24 March 2025 it rained.",
        ),
        (
            "The bridge opened in March 2025.",
            "The bridge opened early. The firm of Lyon got its pay on March 24, 2025.",
        ),
        ("The bridge opened in 2025.", "On 24 March 2025 the bridge opened."),
        (
            "The bridge cost 45 million.",
            "The bridge cost much. In Lyon 45.1 million live, and 45 million francs are paid.",
        ),
    ],
)
def test_a_claim_need_not_say_the_rest_of_what_the_evidence_says(claim: str, text: str) -> None:
    findings = examine(claim, text_evidence(text))
    longer, shorter = (reword_numbers(claim, findings, adding=adding) for adding in (True, False))
    assert shorter == claim != longer
    decision = decide(claim, text)
    assert decision.score == max(weigh(wording, text).score for wording in (longer, shorter))
    assert decision.reasons == weigh(claim, text).reasons
    assert not {"24", "1"} & set(" ".join(decision.reasons).replace(",", " ").split())


@pytest.mark.parametrize(
    ("claim", "text", "verdict"),
    [
        ("Almost nine percent of adults smoke.", "In 2020, 8.9 % of adults smoked.", "supported"),
        ("Close to ten thousand people came.", "9,870 people came.", "supported"),
        ("Almost nine percent of adults smoke.", "In 2020, 12.4 % of adults smoked.", "contradicted"),
        ("Close to ten thousand people came.", "19,870 people came.", "contradicted"),
    ],
)
def test_rounding_is_no_other_number(claim: str, text: str, verdict: str) -> None:
    assert decide(claim, text).verdict == verdict


@given(st.integers(1, 999), st.sampled_from(["[{}]", " [{}, 3]", "[{}][2]", " [^{}]", "【{}†source】"]))
def test_citations_by_number_are_no_part_of_a_claim(number: int, form: str) -> None:
    text = "The plant employs 4,000 people in Lyon."
    claim = text[:-1] + form.format(number) + "."
    assert without_citations(claim, text) == text
    assert decide(claim, text).verdict == "quoted"


def test_what_the_text_has_in_brackets_stays() -> None:
    assert without_citations("arr[1] is the second.", "Take arr[1] of it.") == "arr[1] is the second."
    assert without_citations("[2024] it was.", "") == "[2024] it was."
