"""What the command line says of a reflector's decisions."""

import pytest

from assay.cli.runs.lists import _plan
from assay.core.events import ReflectDecided
from assay.core.milestones import milestone_line
from assay.core.plan import Plan, PlanStep
from assay.core.view import Reflection, RunView


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (ReflectDecided(decision="continue", reasoning="fits"), ""),
        (ReflectDecided(decision="adjust", reasoning="Nothing found."), "the plan is changed: Nothing found."),
        (ReflectDecided(decision="complete"), "research is complete"),
        (ReflectDecided(decision="complete", note="too early"), "research continues as planned: too early"),
    ],
)
def test_progress_tells_what_changes(event: ReflectDecided, line: str):
    assert milestone_line(event) == line


def test_show_tells_each_decision():
    view = RunView(
        plan=Plan(title="Tides", steps=(PlanStep(id=1, title="Brest", status="completed"),)),
        reflections=(
            Reflection(decision="adjust", step=1, reasoning="None\x1b[31m.", changes=("look at Genoa",)),
            Reflection(decision="continue", step=2),
        ),
    )
    lines = list(_plan(view))
    assert "\x1b" not in "".join(lines)
    assert lines[2].endswith("look at Genoa")
    assert lines[2].startswith("    after step 1: adjust: None")
    assert lines[3] == "    after step 2: continue"
