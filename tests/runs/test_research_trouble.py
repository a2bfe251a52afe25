"""Whole runs in which something goes wrong: models that fail or answer badly, limits, early ends, repeats."""

from __future__ import annotations

import asyncio

import msgspec
import pytest
from research import (
    BLEW,
    MISTRAL,
    ONE_STEP,
    REPORT,
    ROSE,
    TIDE,
    Log,
    Sea,
    agent,
    both_agents,
    call,
    first_agent,
    kinds,
    planned,
    report_wanted,
    sends,
    stop_at,
    whole,
)

from assay.core import events as e
from assay.core.errors import ContextTooLong, ModelFailed
from assay.core.messages import CallDone, Reply, Request, input_tokens
from assay.core.usage import Budget
from assay.models.script import Scene, Scripted, calls, fails, says
from assay.phases.write import CUT_SHORT


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
    assert log.last(e.RunFailed).stop_reason == "no_model"
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


async def test_nothing_answers_in_a_report_that_found_nothing() -> None:
    nothing = "Nothing about this was found."
    script = [*planned(ONE_STEP), sends(TIDE), *agent(TIDE, "tide at Brest", nothing), report_wanted()]
    log = await Sea().run(script)
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"
    assert "[S1.1]" in log.text  # the nearest passages are cited
    assert "answers" not in log.last(e.ClaimsGraded).relevance.values()
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), says(ROSE, task="write")]
    found = await Sea().run(script)
    assert "answers" in found.last(e.ClaimsGraded).relevance.values()


async def test_no_time_at_all_still_gives_a_report() -> None:
    log = await Sea().run([], budget=Budget(seconds=1e-6))
    assert log.text.startswith("Nothing was searched")
    assert log.text.endswith("; research was cut short: the time limit was reached.")
    assert log.last(e.RunCompleted).stop_reason == "time"
    assert "The time limit was reached." in log.last(e.ReportFinished).limits
    assert whole(log)


async def test_a_report_cut_off_once_is_written_again() -> None:
    cut = Scene(answer=Reply(text="It rises", stop="length"), task="write")
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted(), cut, says(ROSE, task="write")]
    log = await Sea().run(script)
    assert log.written == ROSE
    assert "cut off" in log.model.requests[-1].user_texts("note")[0]
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
            call("search", id="same", words="tide", site="Brest"),
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
    (note,) = [message for message in research.messages if message.role == "assistant"]
    assert [id for id, _ in answers] == [made.id for made in note.calls]
    assert len({id for id, _ in answers}) == 5
    texts = [text for _, text in answers]
    assert "no tool 'google'" in texts[0]
    assert "search(query: string, limit?: integer)" in texts[1]
    assert "## S1001 Tides" in texts[2]
    assert "not a JSON object" in texts[3]
    assert "No document is called 'S9999'" in texts[4]
    assert len(log.of(e.ToolFailed)) == 4
    assert whole(log)


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
    assert log.written == ROSE
    assert log.last(e.AgentFinished).stop == "finished_early"
    assert log.last(e.Warned).message == "research was ended early on request"  # by no limit


async def finished_while_planning(write: Scene) -> Log:
    hang = Scene(answer=says(ONE_STEP, task="plan").answer, task="plan", hang=asyncio.Event())
    model = Scripted([*planned()[:2], hang, write])
    handle = Sea().start(model)
    envelopes = []
    async for envelope in handle:
        envelopes.append(envelope)
        if envelope.type == "plan.started":
            handle.finish()
    await handle.wait()
    log = Log(envelopes, model)
    assert log.last(e.RunCompleted).stop_reason == "finished_early"
    assert whole(log)
    return log


async def test_finished_before_any_agent_writes_up_what_the_look_around_showed() -> None:
    log = await finished_while_planning(says("It rises seven metres. [S1.1]", task="write"))
    assert log.written == "It rises seven metres. [S1.1]"
    shown = log.model.requests[-1]
    assert "The tide at Brest rises seven metres. [S1.1]" in "\n".join(message.text for message in shown.messages)


async def test_what_the_look_around_showed_is_the_report_if_the_writer_fails() -> None:
    log = await finished_while_planning(fails("broken", transient=False, task="write"))
    assert log.text.startswith(f"*{CUT_SHORT.format(why='research was ended early on request')}")
    assert "The tide at Brest rises seven metres. [S1.1]" in log.text
    assert {event.verdict for event in log.of(e.ClaimChecked)} == {"quoted"}
    assert "finished_early" not in " ".join(warning.message for warning in log.of(e.Warned))


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
    log = await Sea().run([*script, says(report, task="write")], repair=False)
    assert log.last(e.FindingAdded).text == "The tide rises. [S1001.1] So it is said."
    assert log.last(e.FindingAdded).dropped_markers == 2
    assert log.written == report  # as written: what names nothing is left out when it is rendered
    assert log.last(e.VerifySummary).summary.dropped_markers == 2
    assert whole(log)


async def test_a_history_too_long_for_the_model_is_compacted_and_asked_again() -> None:
    too_long = Scene(answer=ContextTooLong("too long"), task="research", turn=1)
    script = [*planned(ONE_STEP), sends(TIDE), first_agent()[0], too_long, *first_agent()[1:], report_wanted()]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]
    assert not log.of(e.AgentFailed)
    full, shorter = [r for r in log.model.requests if r.task == "research"][1:3]
    assert input_tokens(shorter) < input_tokens(full)  # though either is a small part of the window we were told


async def test_a_task_whose_requests_never_fit_is_searched_for_once() -> None:
    too_long = [Scene(answer=ContextTooLong("too long"), task="research")] * 2
    script = [*planned(ONE_STEP), sends(TIDE), *too_long, says(ROSE, task="find"), report_wanted()]
    log = await Sea().run([*script, says(ROSE, task="write")])
    assert [event.text for event in log.of(e.FindingAdded)] == [ROSE]
    assert [event.stop for event in log.of(e.AgentFinished)] == [ContextTooLong.kind]
    assert not log.of(e.AgentFailed)


async def test_a_stream_repeated_with_other_calls_abandons_its_agent() -> None:
    hang = asyncio.Event()

    class Wavering(Scripted):
        """Calls for one agent, dies, and then calls for another."""

        async def stream(self, request: Request):  # type: ignore[no-untyped-def,override]
            async for delta in super().stream(request):
                yield delta
                if request.task == "orchestrate" and not hang.is_set() and isinstance(delta, CallDone):
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
    await stop_at(handle, "report.started")
    second = Scripted([says(REPORT, task="write")])
    log = await sea.resume(handle.run_id, second)
    assert [request.task for request in second.requests] == ["write"]
    assert second.requests[-1] == straight.model.requests[-1]
    assert log.text == straight.text
    assert whole(log)
    kept = sorted(kind for kind in kinds(log) if kind not in ("run.resumed", "step.restarted"))
    assert kept == sorted(kinds(straight))
