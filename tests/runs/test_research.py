"""Whole runs of the pipeline with a scripted model: what the log says of each."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from research import (
    BLEW,
    DOCUMENTS,
    MISTRAL,
    ONE_STEP,
    PLAN,
    REPORT,
    ROSE,
    TIDE,
    Log,
    Sea,
    agent,
    both_agents,
    call,
    direct_answer,
    first_agent,
    one_agent,
    planned,
    report_wanted,
    sends,
    two_agents,
)

from assay.core import events as e
from assay.core.errors import ContextTooLong, ModelFailed
from assay.core.messages import Profile, Reply, Request
from assay.core.sources import sha256
from assay.core.usage import Budget
from assay.models.scripted import Scene, Scripted, calls, fails, says
from assay.phases.simple import UNSOURCED
from assay.phases.write import CUT_SHORT, NOT_WRITTEN


def whole(log: Log) -> bool:
    """The report that was finished is the one on the log, and its numbers have no gap."""
    assert [each.seq for each in log.envelopes] == list(range(1, len(log.envelopes) + 1))
    return log.last(e.ReportFinished).text_sha256 == sha256(log.text.encode())


def kinds(log: Log, *dropped: str) -> list[str]:
    """The kinds of events, without those that only count or stream."""
    noise = {"model.attempted", "usage.updated", "report.delta", "finding.delta", "plan.delta", *dropped}
    return [kind for kind in log.types() if kind not in noise]


async def test_direct_answer() -> None:
    log = await Sea().run(direct_answer(), question="Hi there")
    assert kinds(log, "claim.found", "claim.checked") == [
        *("run.created", "run.started"),
        *("phase.started", "triage.classified", "phase.finished"),
        *("phase.started", "report.started", "phase.finished"),
        *("phase.started", "verify.summary", "report.finished", "phase.finished"),
        "run.completed",
    ]
    assert log.last(e.TriageClassified).mode == "simple"
    assert log.text == f"{UNSOURCED}\n\nHello!"
    assert {event.verdict for event in log.of(e.ClaimChecked)} <= {"unchecked"}
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_one_agent() -> None:
    log = await Sea().run(one_agent())
    assert kinds(log, "claim.found", "claim.checked") == [
        *("run.created", "run.started"),
        *("phase.started", "triage.classified", "phase.finished"),
        *("phase.started", "tool.started", "search.performed", "tool.finished", "source.added", "source.added"),
        "phase.finished",
        *("phase.started", "plan.started", "plan.proposed", "plan.approved", "phase.finished"),
        *("phase.started", "agents.planned", "agent.started", "plan.changed"),
        *("tool.started", "search.performed", "tool.finished", "source.added", "source.added"),
        *("finding.started", "finding.added", "agent.finished", "plan.changed"),
        *("coverage.assessed", "phase.finished"),
        *("phase.started", "report.started", "phase.finished"),
        *("phase.started", "verify.summary", "report.finished", "phase.finished"),
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
    assert log.text == REPORT
    assert whole(log)


async def test_what_agents_see_does_not_depend_on_timing() -> None:
    def script(first: float, second: float) -> list[Scene]:
        slow = [msgspec.structs.replace(scene, delay=first) for scene in first_agent()]
        quick = [msgspec.structs.replace(scene, delay=second) for scene in agent(MISTRAL, "tide Brest", BLEW)]
        return [*planned(), sends(TIDE, MISTRAL), *slow, *quick, report_wanted(), says(REPORT, task="write")]

    logs = [await Sea().run(script(*delays)) for delays in ((0.0, 0.03), (0.03, 0.0))]
    requests = [sorted(msgspec.json.encode(request) for request in log.model.requests) for log in logs]
    assert requests[0] == requests[1]
    assert [event.shared for event in logs[0].of(e.SearchPerformed)].count(True) == 1


async def test_a_failing_agent_fails_alone_and_the_orchestrator_is_told() -> None:
    script = [
        *planned(),
        sends(TIDE, MISTRAL),
        fails("no quota", transient=False, task="research", contains=MISTRAL),
        *first_agent(),
        report_wanted(contains="Agent 2 failed"),
        *agent("Winds of the mistral\nWhere it blows from", "mistral", BLEW.replace("S2", "S3")),
        says("It rises seven metres. [S1001.1]", task="write"),
    ]
    log = await Sea().run(script)
    assert [(event.lane, "no quota" in event.error) for event in log.of(e.AgentFailed)] == [(2, True)]
    assert [event.lane for event in log.of(e.FindingAdded)] == [1, 3]  # its step is sent once more
    assert "no quota" in log.last(e.ReportFinished).limits[0]
    assert whole(log)


async def test_no_model_at_all_fails_the_run() -> None:
    script = [Scene(answer=fails("no quota", transient=False).answer, repeat=True)]
    log = await Sea().fail(script, ModelFailed)
    assert log.last(e.RunFailed).stop_reason == "failed"
    assert "no quota" in log.last(e.RunFailed).error


async def test_no_evidence_is_said_and_nothing_is_cited() -> None:
    nothing = "Nothing about this was found."
    script = [*planned(ONE_STEP), sends(TIDE), *agent(TIDE, "volcano", nothing), report_wanted()]
    log = await Sea().run(script)
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"
    assert log.text.startswith("Nothing that answers this question was found in the default collection")
    assert "“volcano”" in log.text
    assert [each.status for each in log.last(e.CoverageAssessed).coverage] == ["not", "not"]
    assert whole(log)


async def test_no_time_at_all_still_gives_a_report() -> None:
    log = await Sea().run([], budget=Budget(seconds=1e-6))
    assert log.text.startswith("Nothing that answers this question was found")
    assert log.text.endswith("; research was cut short: the time limit was reached.")
    assert log.last(e.RunCompleted).stop_reason == "time"
    assert "The time limit was reached." in log.last(e.ReportFinished).limits
    assert whole(log)


async def test_no_documents_cost_no_research() -> None:
    log = await Sea({}).run([calls(("generate_plan", {}), task="triage")])
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"
    assert whole(log)


@pytest.mark.parametrize(
    "writer",
    [
        [fails("broken", transient=False, task="write")],
        [fails("broken", transient=False, task="write", partial="It rises sev")],
        [says("", task="write"), says(" ", task="write")],
        [Scene(answer=Reply(text="It rises", stop="length"), task="write")] * 2,
        [says("The tide rises at Brest by far. " * 5, task="write")] * 2,
    ],
    ids=["first token", "midway", "empty", "cut off", "looping"],
)
async def test_where_the_writer_fails_the_findings_are_the_report(writer: list[Scene]) -> None:
    log = await Sea().run([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), *writer])
    assert log.text == f"## Tide at Brest\n\n{ROSE}\n\n## Winds of the mistral\n\n{BLEW}"
    assert NOT_WRITTEN in log.last(e.ReportFinished).limits
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_a_report_cut_off_once_is_written_again() -> None:
    cut = Scene(answer=Reply(text="It rises", stop="length"), task="write")
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), cut, says(ROSE, task="write")]
    log = await Sea().run(script)
    assert log.text == ROSE
    assert "cut off" in log.model.requests[-1].named("note")[0]
    assert whole(log)


@pytest.mark.parametrize(
    ("plans", "warned"),
    [(["no plan", "still none"], True), (["", '{"steps": []}'], True), (["no plan", ONE_STEP], False)],
)
async def test_an_unreadable_plan_is_repaired_or_the_question_is_the_plan(plans: list[str], warned: bool) -> None:
    triage, background, _ = planned()
    script = [triage, background, *(says(plan, task="plan") for plan in plans)]
    log = await Sea().run([*script, sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")])
    (step,) = log.last(e.PlanApproved).plan.steps
    assert step.title == ("How far does the tide rise at Brest?" if warned else "Tide at Brest")
    assert any("plan could not be read" in event.message for event in log.of(e.Warned)) is warned


async def test_bad_calls_are_answered_and_the_agent_goes_on() -> None:
    bad = Reply(
        calls=(
            call("google", id="same", query="tide"),
            call("search", id="same", words="tide"),
            call("search", id="", query="tide Brest", limit="3"),
            msgspec.structs.replace(call("search", id="same"), malformed='{"query": "ti'),
            call("open", id="five", documents="S9999"),
        ),
        stop="calls",
    )
    script = [
        *planned(ONE_STEP),
        sends(TIDE),
        Scene(answer=bad, task="research", turn=0),
        says("done", task="research", turn=1),
        says(ROSE, task="find"),
        report_wanted(),
        says(ROSE, task="write"),
    ]
    log = await Sea().run(script)
    research = [request for request in log.model.requests if request.task == "research"][-1]
    answers = [(message.call_id, message.text) for message in research.messages if message.role == "tool"]
    (said,) = [message for message in research.messages if message.role == "assistant"]
    assert [id for id, _ in answers] == [made.id for made in said.calls]
    assert len({id for id, _ in answers}) == 5
    texts = [text for _, text in answers]
    assert "no tool 'google'" in texts[0]
    assert "search(query: string, limit?: integer)" in texts[1]
    assert "## S1001 Tides" in texts[2]
    assert "not a JSON object" in texts[3]
    assert "no document is called 'S9999'" in texts[4]
    assert len(log.of(e.ToolFailed)) == 4
    assert whole(log)


async def test_a_report_wanted_beside_agents_comes_after_them() -> None:
    both = calls(("generate_report", {}), ("research_agent", {"task": TIDE}), task="orchestrate", turn=0)
    script = [
        *planned(ONE_STEP),
        both,
        *first_agent(),
        report_wanted(turn=1, contains="Decide again"),
        says(ROSE, task="write"),
    ]
    log = await Sea().run(script)
    assert len(log.of(e.FindingAdded)) == 1
    assert whole(log)


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
    second = next(r for r in log.model.requests if r.task == "research" and MISTRAL in r.named("task"))
    assert '"searched":["tide Brest"]' in second.named("brief")[0]


async def test_agents_beyond_the_cap_wait_for_a_place() -> None:
    tasks = [f"Find tide number {number}" for number in range(4)]
    at_work, most = 0, 0

    def played(request: Request) -> Scene:
        nonlocal at_work, most
        if request.task == "research" and not any(m.role == "assistant" for m in request.messages):
            at_work += 1
            most = max(most, at_work)
            return calls(("search", {"query": "tide"}), delay=0.01)
        if request.task == "find":
            at_work -= 1
        task = {"research": "done", "find": ROSE, "write": ROSE}.get(request.task, "")
        return says(task, delay=0.01) if task else next(scene for scene in opening if scene.task == request.task)

    opening = [*planned(ONE_STEP), sends(*tasks)]
    log = await Sea().run(Scripted(played), depth="light")
    assert len(log.of(e.FindingAdded)) == 4 * 2
    assert most == 2


async def test_thinking_uses_no_cycle_and_is_on_the_log() -> None:
    think = calls(("think", {"reasoning": "The tide first."}), task="orchestrate", turn=0)
    script = [*planned(ONE_STEP), think, sends(TIDE, turn=1), *first_agent(), report_wanted(turn=2)]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert log.last(e.ThinkFinished).text == "The tide first."
    assert log.last(e.AgentsPlanned).cycle == 1


async def test_a_model_that_reasons_by_itself_is_not_offered_think() -> None:
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")]
    profile = Profile(name="scripted", native_reasoning=True)
    log = await Sea().run(Scripted(script, profile=profile))
    offered = {tool.name for request in log.model.requests if request.task == "orchestrate" for tool in request.tools}
    assert offered == {"research_agent", "generate_report"}


async def test_text_where_a_call_was_wanted() -> None:
    written = 'I will call {"name": "search", "arguments": {"query": "tide Brest"}}'
    script = [
        *planned(ONE_STEP),
        says("Let us see.", task="orchestrate", turn=0),
        sends(TIDE, turn=1),
        says("I know this.", task="research", turn=0),
        says(written, task="research", turn=1),
        says("done", task="research", turn=2),
        says(ROSE, task="find"),
        says("enough", task="orchestrate", turn=2),
        says("quite", task="orchestrate", turn=3),
        says(ROSE, task="write"),
    ]
    log = await Sea().run(script)
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]


async def test_unclear_questions_without_anybody_to_ask_become_assumptions() -> None:
    asked = says("1. Which Brest?\n- Spring tide?\nI need to know.", task="triage")
    _, background, plan = planned(ONE_STEP)
    rest = [background, plan, sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")]
    log = await Sea().run([asked, *rest])
    assert log.last(e.ClarifyRequested).questions == ("Which Brest?", "Spring tide?")
    assert len(log.last(e.ClarifyAnswered).assumptions) == 2
    assert any("Which Brest?" in limit for limit in log.last(e.ReportFinished).limits)


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
        assert "The one in Brittany" in request.named("answers")[0]


async def test_finished_early_reports_what_was_found() -> None:
    hang = asyncio.Event()
    slow = calls(("open", {"documents": ["S1001"]}), task="research", turn=1, contains=TIDE, hang=hang)
    script = [*planned(ONE_STEP), sends(TIDE), first_agent()[0], slow, says(ROSE, task="write")]
    model = Scripted(script)
    handle = Sea().start(model)
    envelopes = []
    async for envelope in handle:
        envelopes.append(envelope)
        if envelope.type == "source.added" and envelope.path[0] == "research":
            handle.finish()
    await handle.wait()
    log = Log(envelopes, model)
    assert log.last(e.RunCompleted).stop_reason == "finished_early"
    (finding,) = log.of(e.FindingAdded)
    assert "The tide at Brest rises seven metres. [S1001.1]" in finding.text
    assert log.text == ROSE
    assert log.last(e.AgentFinished).stop == "finished_early"


async def test_finished_before_any_agent_offers_what_the_look_around_showed() -> None:
    hang = Scene(answer=says(ONE_STEP, task="plan").answer, task="plan", hang=asyncio.Event())
    model = Scripted([*planned()[:2], hang])
    handle = Sea().start(model)
    envelopes = []
    async for envelope in handle:
        envelopes.append(envelope)
        if envelope.type == "plan.started":
            handle.finish()
    await handle.wait()
    log = Log(envelopes, model)
    assert log.last(e.RunCompleted).stop_reason == "finished_early"
    assert log.text.startswith(f"*{CUT_SHORT} (research was ended early on request): ")
    assert "The tide at Brest rises seven metres. [S1.1]" in log.text
    assert {event.verdict for event in log.of(e.ClaimChecked)} == {"supported"}
    assert "finished_early" not in " ".join(warning.message for warning in log.of(e.Warned))
    assert whole(log)


async def test_findings_a_model_cannot_write_are_put_together_from_passages() -> None:
    failing = [*first_agent()[:2], fails("broken", transient=False, task="find")]
    script = [*planned(ONE_STEP), sends(TIDE), *failing, report_wanted(), says(ROSE, task="write")]
    log = await Sea().run(script)
    (finding,) = log.of(e.FindingAdded)
    assert finding.text.startswith("- The tide at Brest rises seven metres. [S1001.1] It turns twice a day. [S1001.1]")
    assert whole(log)


async def test_findings_that_cite_nothing_are_asked_for_once_more() -> None:
    uncited = says("The tide at Brest rises by seven metres as everybody knows. " + "word " * 60, task="find")
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent()[:2], uncited, says(ROSE, task="find"), report_wanted()]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]


async def test_citations_of_nothing_are_dropped_and_counted() -> None:
    finding = "The tide rises. [S1001.1, S1001.99] So it is said. [S7.7]"
    report = "The tide rises. [S1001.1, S5.5] It is high. [S8001.3]"
    script = [*planned(ONE_STEP), sends(TIDE), *agent(TIDE, "tide Brest", finding), report_wanted()]
    log = await Sea().run([*script, says(report, task="write")])
    assert log.last(e.FindingAdded).text == "The tide rises. [S1001.1] So it is said."
    assert log.last(e.FindingAdded).dropped_markers == 2
    assert log.text == report  # as written: what names nothing is left out when it is rendered
    assert log.last(e.VerifySummary).summary.dropped_markers == 2
    assert whole(log)


async def test_a_history_too_long_for_the_model_is_compacted_and_asked_again() -> None:
    too_long = Scene(answer=ContextTooLong("too long"), task="research", turn=1)
    script = [*planned(ONE_STEP), sends(TIDE), first_agent()[0], too_long, *first_agent()[1:], report_wanted()]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]
    assert not log.of(e.AgentFailed)


async def test_a_stream_repeated_with_other_calls_abandons_its_agent() -> None:
    hang = asyncio.Event()

    class Wavering(Scripted):
        """Calls for one agent, dies, and then calls for another."""

        async def stream(self, request: Request):  # type: ignore[no-untyped-def,override]
            async for delta in super().stream(request):
                yield delta
                if request.task == "orchestrate" and not hang.is_set() and not isinstance(delta, Reply):
                    hang.set()
                    raise fails("cut").answer  # type: ignore[misc]

    stuck = calls(("search", {"query": "tide"}), task="research", contains=MISTRAL, delay=30)
    script = [*planned(ONE_STEP), sends(MISTRAL), sends(TIDE), *first_agent(), stuck, report_wanted()]
    late = [says(ROSE.replace("S1", "S2"), task="write")]
    model = Wavering([*script, *late])
    find = model._scenes.index(next(scene for scene in model._scenes if scene.task == "find"))
    model._scenes[find] = says(ROSE.replace("S1", "S2"), task="find", contains=TIDE)
    handle = Sea().start(model)
    log = Log([envelope async for envelope in handle], model)
    assert [event.lane for event in log.of(e.AgentAbandoned)] == [1]
    assert [event.lane for event in log.of(e.FindingAdded)] == [2]
    assert log.last(e.RunCompleted).stop_reason == "done"


async def test_a_run_taken_up_again_is_the_same_run() -> None:
    def script() -> list[Scene]:
        return [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted()]

    straight = await Sea().run([*script(), says(REPORT, task="write")])
    sea = Sea()
    first = Scripted([*script(), says("", task="write", hang=asyncio.Event())])
    handle = sea.start(first)
    async for envelope in handle:
        if envelope.type == "report.started":
            await handle.stop()
            break
    second = Scripted([says(REPORT, task="write")])
    resumed = await sea.engine().resume(handle.run_id, lambda _: sea.world(second))
    log = Log([envelope async for envelope in resumed], second)
    await resumed.wait()
    assert [request.task for request in second.requests] == ["write"]
    assert second.requests[-1] == straight.model.requests[-1]
    assert log.text == straight.text
    assert whole(log)
    kept = sorted(kind for kind in kinds(log) if kind not in ("run.resumed", "step.restarted"))
    assert kept == sorted(kinds(straight))


async def test_simple_mode_answers_from_the_documents_at_hand() -> None:
    log = await Sea().run([says("Seven metres. [S1.1]", task="answer")], mode="simple")
    assert log.text == "Seven metres. [S1.1]"
    assert not log.of(e.PlanApproved)
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert whole(log)


async def test_simple_mode_without_sources_says_so_first() -> None:
    log = await Sea({}).run([says("Seven metres.", task="answer")], mode="simple")
    assert log.text == f"{UNSOURCED}\n\nSeven metres."
    assert log.last(e.RunCompleted).stop_reason == "done"
    unsure = await Sea().run([says("I do not know.", task="answer")], mode="simple")
    assert unsure.text.startswith(UNSOURCED)
    assert unsure.last(e.RunCompleted).stop_reason == "no_evidence"
    assert whole(log)
    assert whole(unsure)


async def test_a_long_research_is_written_in_parts() -> None:
    profile = Profile(name="scripted", window=8_000, max_output=2_000)
    long = " ".join(
        f"Fact {number} of the tide at Brest in the year of the great storm. [S1001.1]" for number in range(170)
    )
    script = [*planned(), sends(TIDE, MISTRAL), *agent(TIDE, "tide Brest", long), *agent(MISTRAL, "mistral", BLEW)]
    parts = [says("It rises. [S1001.1]", task="write", contains='"part":1,"parts":2')]
    parts += [says("It blows. [S2001.1]", task="write", contains='"part":2,"parts":2')]
    log = await Sea().run(Scripted([*script, report_wanted(), *parts], profile=profile))
    assert log.text == "It rises. [S1001.1]\n\nIt blows. [S2001.1]"
    assert whole(log)


def test_the_plan_in_these_tests_has_two_steps() -> None:
    assert len(msgspec.json.decode(PLAN)["steps"]) == 2
