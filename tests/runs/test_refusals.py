"""Whole runs whose models decline to answer: the next model is asked, and nothing half said stays in the report."""

from __future__ import annotations

from research import ONE_STEP, TIDE, Sea, first_agent, planned, report_wanted, sends, whole

from assay.core import events as e
from assay.core.errors import ModelFailed
from assay.core.messages import Reply, Task
from assay.models.script import Scene
from assay.phases.write import NOT_WRITTEN


def declines(task: Task, text: str = "") -> Scene:
    return Scene(answer=Reply(text=text, stop="refused"), task=task, repeat=True)


def script(*last: Scene) -> list[Scene]:
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), *last]


async def test_a_writer_which_declines_in_the_middle_leaves_the_findings_as_the_report() -> None:
    log = await Sea().run(script(declines("write", "The tide is a dangerous")))
    assert whole(log)
    assert NOT_WRITTEN in log.last(e.ReportFinished).limits
    assert "dangerous" not in log.text
    assert "seven metres" in log.text
    refused = [each for each in log.of(e.ModelAttempted) if each.task == "write"]
    assert refused
    assert all(each.outcome == "it refused to answer: The tide is a dangerous" for each in refused)
    assert refused[0].usage.output_tokens > 0  # it is paid for all the same


async def test_an_agent_whose_model_declines_says_why_it_failed() -> None:
    script = [*planned(ONE_STEP), sends(TIDE), declines("research"), report_wanted(repeat=True)]
    log = await Sea().fail(script, ModelFailed)
    assert all("it refused to answer" in each.error for each in log.of(e.AgentFailed))
    assert log.of(e.AgentFailed)
    assert "it refused to answer" in log.last(e.RunFailed).error
