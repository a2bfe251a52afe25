"""What a report answers, by the claims it has after verification."""

from __future__ import annotations

import pytest

from assay.core.claims import Check, Verdict
from assay.core.plan import Coverage
from assay.core.report_sentences import claims
from assay.core.sources import Passage
from assay.phases.final import reassess_coverage
from assay.phases.form import add_missing, add_section, missing_parts
from assay.verify.claim_check import ClaimResult
from assay.verify.evidence import ClaimEvidence

BEFORE = (
    Coverage(step=0, part="How far, and which winds?", status="answered", passages=("S1001.1", "S2001.1")),
    Coverage(step=1, part="Tide", status="answered", passages=("S1001.1",)),
    Coverage(step=2, part="Winds", status="answered", passages=("S2001.1",)),
    Coverage(step=3, part="Compare", status="answered"),
)


def passage(id: str) -> Passage:
    source = id.partition(".")[0]
    return Passage(id=id, source=source, document_sha256=source, start=0, end=1, text="x", text_sha256="")


PASSAGES = {id: passage(id) for id in ("S1001.1", "S2001.1", "S3001.1")}


def claim(id: str, verdict: Verdict) -> ClaimResult:
    [sentence] = claims("The tide rises seven metres.")
    evidence = ClaimEvidence(passages=(passage(id),), sources={})
    return ClaimResult(id=id, sentence=sentence, evidence=evidence, check=Check(rule="judge", verdict=verdict))


def statuses(standing: list[ClaimResult], removed: list[ClaimResult]) -> list[str]:
    return [each.status for each in reassess_coverage(BEFORE, PASSAGES, standing, removed)]


@pytest.mark.parametrize(
    ("standing", "removed", "expected"),
    [
        ([claim("S1001.1", "supported"), claim("S2001.1", "supported")], [], ["answered"] * 4),
        (
            [claim("S1001.1", "supported"), claim("S2001.1", "unchecked")],
            [],
            ["partly", "answered", "partly", "partly"],
        ),
        ([claim("S1001.1", "supported")], [claim("S2001.1", "contradicted")], ["partly", "answered", "not", "partly"]),
        ([claim("S1001.1", "supported")], [], ["partly", "answered", "partly", "partly"]),
        ([], [claim("S1001.1", "unsupported"), claim("S2001.1", "unsupported")], ["not"] * 4),
        (
            [claim("S1001.1", "supported"), claim("S2001.1", "supported")],
            [claim("S2001.1", "contradicted")],
            ["answered"] * 4,
        ),
    ],
)
def test_a_part_is_answered_by_supported_claims(
    standing: list[ClaimResult], removed: list[ClaimResult], expected: list[str]
) -> None:
    assert statuses(standing, removed) == expected


def test_what_was_not_found_before_is_not_found_after() -> None:
    before = (BEFORE[0], Coverage(step=1, part="Tide", status="not"), *BEFORE[2:3])
    after = reassess_coverage(before, PASSAGES, [claim("S1001.1", "supported"), claim("S2001.1", "supported")], [])
    assert [each.status for each in after] == ["partly", "not", "answered"]


def test_a_passage_under_another_id_is_the_same_place() -> None:
    twice = {**PASSAGES, "S1001.1": PASSAGES["S3001.1"]}
    assert reassess_coverage(BEFORE[:2], twice, [claim("S3001.1", "supported")], [])[1].status == "answered"


def test_what_is_not_found_after_all_stands_at_the_end_and_nothing_before_moves() -> None:
    text = "It rises. [S1001.1]"
    assert add_missing(text, []) == text
    first = add_missing(text, ["Winds"])
    assert first == f"{text}\n\n## What could not be found\n\n- Winds"
    assert add_missing(first, ["Tide"]) == f"{first}\n- Tide"


def test_a_section_stands_before_what_could_not_be_found() -> None:
    text = "It rises.\n\n## What could not be found\n\n- Winds"
    conflicts_text = "## Where sources disagree\n\nA or B:"
    assert (
        add_section(text, conflicts_text) == f"It rises.\n\n{conflicts_text}\n\n## What could not be found\n\n- Winds"
    )
    assert add_section("It rises.", conflicts_text) == f"It rises.\n\n{conflicts_text}"
    assert add_section("It rises.\n\n```\nopen", conflicts_text).endswith(f"```\n\n{conflicts_text}")


def test_parts_of_the_question_can_be_missing_too() -> None:
    parts = (*BEFORE[:1], Coverage(step=0, part="Why?", status="not"), Coverage(step=2, part="Winds", status="not"))
    assert missing_parts(parts) == ("Why?", "Winds")
    assert missing_parts((Coverage(step=0, part="All of it", status="not"),)) == ()
