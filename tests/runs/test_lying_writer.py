"""Whole runs in which the writer lies in known ways: what the checks say of each sentence, and which rule said it."""

from __future__ import annotations

import pytest
from research import ONE_STEP, Sea, agent, planned, report_wanted, sends, whole

from assay.core import events as e
from assay.core.claims import CHECKS, CheckName
from assay.models.script import says

TASK = "Find how many people the two harbours of Brest employ"
HARBOURS = (
    "# Harbours\n\nThe northern harbour of Brest employs 400 people.\n\n"
    "The southern harbour of Brest did not employ children after 1890.\n\n"
    "Trade in the northern harbour fell by 12 percent on 4 March 2021.\n"
)
FOUND = "The northern harbour of Brest employs 400 people. [S1001.1]"

LIES = [
    ("The northern harbour of Brest employs 900 people. [S1001.1]", "number", "contradicted"),
    ("The northern harbour of Brest employs 400 thousand people. [S1001.1]", "number", "contradicted"),
    ("The southern harbour of Brest employed children after 1890. [S1001.2]", "negation", "contradicted"),
    ("Trade in the northern harbour rose by 12 percent on 4 March 2021. [S1001.3]", "direction", "contradicted"),
    ("Trade in the northern harbour fell by 12 percentage points on 4 March 2021. [S1001.3]", "number", "contradicted"),
    ("Trade in the northern harbour fell by 12 percent on 4 March 2020. [S1001.3]", "date", "contradicted"),
    ('The harbour master said "trade has ended". [S1001.3]', "quote", "unsupported"),
    ("The northern harbour of Brest employs 400 people. [S1001.3]", "number", "unsupported"),
    ("The northern harbour of Brest employs 400 people. [S7.7]", "citation", "unsupported"),
    ("The northern harbour of Brest employs 400 people.", "citation", "unsupported"),
]


async def verdict(sentence: str, off: tuple[CheckName, ...] = ()) -> e.ClaimChecked:
    """The verdict on a report's only claim, in a run whose writer wrote `sentence`."""
    sea = Sea({"harbours.md": HARBOURS})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people children trade", FOUND),
        report_wanted(),
        says(sentence, task="write"),
    ]
    log = await sea.run(script, checks_off=off, repair=False)
    assert whole(log)
    assert log.written == sentence
    [checked] = log.of(e.ClaimChecked)
    summary = log.last(e.VerifySummary).summary
    assert (summary.claims, getattr(summary, checked.verdict)) == (1, 1)
    return checked


@pytest.mark.parametrize(("sentence", "rule", "expected"), LIES)
async def test_a_lie_never_leaves_as_supported_and_the_rule_is_told(sentence: str, rule: str, expected: str) -> None:
    checked = await verdict(sentence)
    assert (checked.rule, checked.verdict) == (rule, expected), checked.reason


async def test_what_the_passage_says_instead_is_told() -> None:
    checked = await verdict(LIES[0][0])
    assert checked.reason == "the claim says '900', S1001.1 says '400'"


async def test_the_truth_leaves_as_supported() -> None:
    assert (await verdict(FOUND)).verdict == "quoted"


async def test_a_run_asks_no_check_which_its_brief_switches_off() -> None:
    for sentence, rule, _ in LIES[:7]:
        checked = await verdict(sentence, off=CHECKS)
        assert (checked.rule, checked.verdict) == ("judge", "unchecked"), rule
