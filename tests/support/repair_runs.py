"""Whole runs whose writer lies, for the tests of repair."""

from __future__ import annotations

from research import ONE_STEP, Log, Sea, agent, planned, report_wanted, sends, whole

from assay.core.messages import Price, Profile
from assay.core.sources import sha256
from assay.core.view import RunView, fold_events
from assay.models.script import Scene, Scripted, says

TASK = "Find how many people the two harbours of Brest employ"
HARBOURS = (
    "# Harbours\n\nThe northern harbour of Brest employs 400 people.\n\n"
    "The southern harbour of Brest did not employ children after 1890.\n\n"
    "Trade in the northern harbour fell by 12 percent on 4 March 2021.\n"
)
HISTORY = "# History of the harbour of Brest\n\n" + "".join(
    f"Pier {number} of the old port was built by the Tanguy family in {1700 + number}.\n\n" for number in range(1, 60)
)
FOUND = "The northern harbour of Brest employs 400 people. [S1001.1]"
CLEVER = Profile(name="clever", price=Price(input=0.0, output=0.0))

LIES = [
    "The northern harbour of Brest employs 900 people. [S1001.1]",
    "The northern harbour of Brest employs 400 thousand people. [S1001.1]",
    "The southern harbour of Brest employed children after 1890. [S1001.2]",
    "Trade in the northern harbour rose by 12 percent on 4 March 2021. [S1001.3]",
    "Trade in the northern harbour fell by 12 percentage points on 4 March 2021. [S1001.3]",
    "Trade in the northern harbour fell by 12 percent on 4 March 2020. [S1001.3]",
    'The harbour master said "trade has ended". [S1001.3]',
    "The harbour of Lorient employs 7,000 people.",
    "The harbour of Lorient employs 7,000 people. [S7.7]",
]


async def run(report: str, *scenes: Scene, clever: bool = False, **changes: object) -> Log:
    """A run whose writer writes `report`; a `clever` model judges and revises as `scenes` say."""
    sea = Sea({"harbours.md": HARBOURS, "history.md": HISTORY})
    script = [
        *planned(ONE_STEP),
        sends(TASK),
        *agent(TASK, "harbour Brest employ people children trade", FOUND),
        report_wanted(),
        says(report, task="write"),
        *scenes,
    ]
    model = Scripted(script, profile=CLEVER) if clever else Scripted(script)
    log = await sea.run(model, **changes)
    assert whole(log)
    return log


def view_of(log: Log) -> RunView:
    """The run as any reader sees it; text, hash and places agree."""
    view = fold_events(log.envelopes)
    assert view.report.text == log.text
    assert view.report.text_sha256 == sha256(log.text.encode())
    for claim in view.claims:
        there = view.report.text[claim.start : claim.end]
        assert there.split()[0] == claim.text.split()[0], (there, claim.text)
    assert view.gate is not None
    assert view.gate.passed, view.gate.problems
    assert view.gate.summary == view.summary
    return view
