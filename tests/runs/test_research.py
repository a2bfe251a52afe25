"""Whole runs of the pipeline with a scripted model: what the log says of each."""

from __future__ import annotations

import msgspec
from research import (
    BLEW,
    DOCUMENTS,
    MISTRAL,
    ONE_STEP,
    PLAN,
    REPORT,
    ROSE,
    TIDE,
    Sea,
    agent,
    both_agents,
    direct_answer,
    first_agent,
    kinds,
    one_agent,
    planned,
    report_wanted,
    sends,
    two_agents,
    whole,
)

from assay.core import events as e
from assay.core.messages import Profile
from assay.models.script import Scene, Scripted, says
from assay.phases.without_plan import UNSOURCED


async def test_direct_answer() -> None:
    log = await Sea().run(direct_answer(), question="Hi there")
    assert kinds(log, "claim.found", "claim.checked") == [
        *("run.created", "run.started", "scope.counted"),
        *("phase.started", "triage.classified", "phase.finished"),
        *("phase.started", "report.started", "phase.finished"),
        *("phase.started", "claims.graded", "verify.summary", "report.finished", "phase.finished"),
        "run.completed",
    ]
    assert log.last(e.TriageClassified).mode == "simple"
    assert log.text == "Hello!"
    assert {event.verdict for event in log.of(e.ClaimChecked)} <= {"unchecked"}
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_one_agent() -> None:
    log = await Sea().run(one_agent())
    assert kinds(log, "claim.found", "claim.checked") == [
        *("run.created", "run.started", "scope.counted"),
        *("phase.started", "triage.classified", "phase.finished"),
        *("phase.started", "tool.started", "search.performed", "tool.finished", "source.added", "source.added"),
        "phase.finished",
        *("phase.started", "plan.started", "plan.proposed", "plan.approved", "phase.finished"),
        *("phase.started", "agents.planned", "agent.started", "plan.changed"),
        *("tool.started", "search.performed", "tool.finished", "source.added", "source.added"),
        *("finding.started", "finding.added", "agent.finished", "plan.changed"),
        *("coverage.assessed", "phase.finished"),
        *("phase.started", "report.started", "phase.finished"),
        *(
            "phase.started",
            "citations.located",
            "coverage.assessed",
            "claims.graded",
            "verify.summary",
            "report.finished",
        ),
        "phase.finished",
        "run.completed",
    ]
    (finding,) = log.of(e.FindingAdded)
    assert [passage.id for passage in finding.passages] == ["S1001.1"]
    assert finding.passages[0].text.encode() in DOCUMENTS["tides.md"].encode()
    assert [each.status for each in log.last(e.CoverageAssessed).coverage] == ["answered", "answered"]
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_two_agents_number_their_own_sources() -> None:
    log = await Sea().run(two_agents())
    assert log.of(e.AgentsPlanned)[-1].lanes == (1, 2)
    assert log.types().index("agents.planned") < log.types().index("agent.started")
    added = {event.source.id: event.source.title for event in log.of(e.SourceAdded)}
    assert added == {"S1": "Tides", "S2": "Winds", "S1001": "Tides", "S1002": "Winds", "S2001": "Winds"}
    assert [step.status for step in log.last(e.PlanChanged).plan.steps] == ["completed", "completed"]
    assert log.written == REPORT
    assert whole(log)


async def test_what_agents_see_does_not_depend_on_timing() -> None:
    def script(first: float, second: float) -> list[Scene]:
        slow = [msgspec.structs.replace(scene, delay=first) for scene in first_agent()]
        quick = [msgspec.structs.replace(scene, delay=second) for scene in agent(MISTRAL, "tide Brest", BLEW)]
        return [*planned(), sends(TIDE, MISTRAL), *slow, *quick, report_wanted(), says(REPORT, task="write")]

    logs = [await Sea().run(script(*delays)) for delays in ((0.0, 0.03), (0.03, 0.0))]
    requests = [sorted(msgspec.json.encode(request) for request in log.model.requests) for log in logs]
    assert requests[0] == requests[1]
    assert [event.shared for event in logs[0].of(e.SearchPerformed)].count(True) == 2


async def test_a_step_nobody_took_up_is_sent_once_more() -> None:
    script = [
        *planned(),
        sends(TIDE),
        *first_agent(),
        report_wanted(),
        *agent("Winds of the mistral\nWhere it blows from", "mistral", BLEW),
        says(REPORT, task="write"),
    ]
    log = await Sea().run(script)
    assert [(event.lane, event.step) for event in log.of(e.AgentStarted)] == [(1, 1), (2, 2)]
    assert [each.status for each in log.last(e.CoverageAssessed).coverage] == ["answered"] * 3
    assert log.of(e.AgentsPlanned)[-1].cycle == 2


async def test_the_last_cycle_ends_without_asking() -> None:
    script = [
        *planned(ONE_STEP),
        sends(TIDE, turn=0),
        sends(MISTRAL, turn=1, contains="Before you decide again"),
        *both_agents(),
        says(REPORT, task="write"),
    ]
    log = await Sea().run(script)  # light has two cycles
    assert [event.cycle for event in log.of(e.AgentsPlanned)] == [1, 2]
    second = next(r for r in log.model.requests if r.task == "research" and MISTRAL in r.user_texts("task"))
    assert '"searched":["tide Brest"]' in second.user_texts("brief")[0]


async def test_a_thought_written_as_text_is_on_the_log_once() -> None:
    written = says('{"name": "think", "arguments": {"reasoning": "The tide first."}}', task="orchestrate", turn=0)
    script = [*planned(ONE_STEP), written, sends(TIDE, turn=1), *first_agent(), report_wanted(turn=2)]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert [each.text for each in log.of(e.ThinkFinished)] == ["The tide first."]


async def test_answers_reach_planner_orchestrator_and_writer() -> None:
    _, background, plan = planned(ONE_STEP)
    script = [says("Which Brest?", task="triage"), background, plan, sends(TIDE), *first_agent(), report_wanted()]
    model = Scripted([*script, says(ROSE, task="write")])
    handle = Sea().start(model, ask="optional")
    async for envelope in handle:
        if envelope.type == "run.waiting":
            await handle.answer("answers", ("The one in Brittany",))
    await handle.wait()
    for task in ("plan", "orchestrate", "write"):
        request = next(request for request in model.requests if request.task == task)
        assert "The one in Brittany" in request.user_texts("answers")[0]


async def test_simple_mode_answers_from_the_documents_at_hand() -> None:
    log = await Sea().run([says("Seven metres. [S1.1]", task="answer")], mode="simple")
    assert log.text.startswith("Seven metres. [S1.1]\n\n*As of ")
    assert not log.of(e.PlanApproved)
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_simple_mode_without_sources_says_so_first() -> None:
    log = await Sea({}).run([says("Seven metres.", task="answer")], mode="simple")
    assert log.text == f"*{UNSOURCED}*\n\nSeven metres."
    assert log.last(e.RunCompleted).stop_reason == "done"
    unsure = await Sea().run([says("I do not know.", task="answer")], mode="simple")
    assert unsure.text.startswith(f"*{UNSOURCED}*")
    assert unsure.last(e.RunCompleted).stop_reason == "no_evidence"
    assert whole(log)
    assert whole(unsure)


async def test_a_long_research_is_written_in_parts() -> None:
    profile = Profile(name="scripted", window=8_000, max_output=2_000)
    long = " ".join(
        f"Fact {number} of the tide at Brest in the year of the great storm. [S1001.1]" for number in range(170)
    )
    script = [*planned(), sends(TIDE, MISTRAL), *agent(TIDE, "tide Brest", long), *agent(MISTRAL, "mistral", BLEW)]
    parts = [says("It rises. [S1001.1]", task="write", contains="part 1 of 2")]
    parts += [says("It blows. [S2001.1]", task="write", contains="part 2 of 2")]
    parts += [says("It depends.", task="write", contains="only the beginning")]
    log = await Sea().run(Scripted([*script, report_wanted(), *parts], profile=profile))
    assert log.written == "It rises. [S1001.1]\n\nIt blows. [S2001.1]"
    assert whole(log)


def test_the_plan_in_these_tests_has_two_steps() -> None:
    assert len(msgspec.json.decode(PLAN)["steps"]) == 2
