"""Runs which follow one another: what is told to whom, and what a run goes on from."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from research import (
    ONE_STEP,
    ROSE,
    TIDE,
    Log,
    Sea,
    agent,
    one_agent,
    report_wanted,
    sends,
    stop_at,
    whole,
)

from assay.core import events as e
from assay.core.brief import Brief
from assay.core.errors import NothingSearched, UsageError
from assay.core.report import build_report
from assay.core.sources import lane_of_source
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, calls, says
from assay.phases.without_plan import UNSOURCED
from assay.services.threads import add_thread

AGAIN = "And what causes it?"
RESTATED = "What causes the tide at Brest?"
MOON = "The moon causes most of it. [S3001.2]"


def follow_up(
    *writes: str, follow: str = "complex_follow_up", query: str = "moon tide", found: str = MOON
) -> list[Scene]:
    """A second run: one agent which searches once, and a report."""
    asked = {"complexity": "simple", "follow_up": follow, "restated": RESTATED}
    return [
        calls(("generate_plan", asked), task="triage"),
        calls(("search", {"query": query}), task="background"),
        says(ONE_STEP, task="plan"),
        sends(TIDE),
        *agent(TIDE, query, found),
        report_wanted(),
        *(says(text, task="write") for text in writes),
    ]


class Thread:
    """Runs on one store, each placed where it stands."""

    def __init__(self, sea: Sea | None = None) -> None:
        self.sea = sea or Sea()

    async def run(self, script: list[Scene], question: str = AGAIN, **wanted: Any) -> Log:
        at = await add_thread(self.sea.journal, Brief(question=question, date="2026-01-01", **wanted))
        fields = {name: getattr(at, name) for name in ("thread", "conversation", "parent", "lane", "scope")}
        return await self.sea.run(script, **{"question": question, **wanted, **fields})


def run_id(log: Log) -> str:
    return log.envelopes[0].run_id


def asked_of(log: Log, task: str) -> Any:
    return next(request for request in log.model.requests if request.task == task)


async def test_a_run_goes_on_from_another() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    second = await thread.run(
        follow_up(f"{MOON} The tide at Brest rises seven metres. [S1001.1]"), parent=run_id(first)
    )

    continued = second.last(e.RunContinued)
    assert (continued.parent, continued.sources, continued.queries) == (
        run_id(first),
        2,
        2,
    )  # two agents met both documents
    added = {event.source.id: event.source.title for event in second.of(e.SourceAdded)}
    assert {lane_of_source(id) for id in added} == {1, 2, 3}
    assert added["S1001"] == "Tides"  # of the first run, announced because it is cited
    assert [event.lane for event in second.of(e.AgentStarted)] == [3]
    report = build_report(fold_events(second.envelopes))
    assert {passage.id for passage in report.passages} == {"S3001.2", "S1001.1"}
    assert {claim.verdict for claim in report.claims} == {"quoted"}
    assert second.last(e.RunCompleted).verified
    assert whole(second)


async def test_ids_of_a_chain_of_runs_never_meet() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    second = await thread.run(follow_up(MOON), parent=run_id(first))
    script = follow_up("It blows. [S5001.1]", found="The mistral blows. [S5001.1]", query="mistral")
    third = await thread.run(script, parent=run_id(second))
    met = [
        {event.source.id for event in log.of(e.SourceAdded) if lane_of_source(event.source.id) >= first_lane}
        for log, first_lane in ((first, 0), (second, 2), (third, 4))
    ]
    assert all(met)
    assert not met[0] & met[1]
    assert not met[1] & met[2]
    documents = {event.source.document_sha256 for log in (first, second) for event in log.of(e.SourceAdded)}
    assert third.last(e.RunContinued).sources == len(documents)


async def test_what_was_searched_before_costs_nothing() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    asked = list(thread.sea.search.queries)  # type: ignore[attr-defined]
    second = await thread.run(follow_up(ROSE, query="tide Brest", found="It rises. [S3001.1]"), parent=run_id(first))
    assert thread.sea.search.queries == asked  # type: ignore[attr-defined]
    assert {event.shared for event in second.of(e.SearchPerformed)} == {True}
    assert not any(event.usage.searches for event in second.of(e.UsageUpdated))
    assert '"searched":["tide Brest"]' in asked_of(second, "research").user_texts("brief")[0]


async def test_other_documents_are_searched_anew() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    Sea({"moon.md": "# Moon\n\nThe tide at Brest follows the moon.\n"}, store=thread.sea.store)
    second = await thread.run(follow_up(ROSE, query="tide Brest", found="It rises. [S3001.1]"), parent=run_id(first))
    assert [event.shared for event in second.of(e.SearchPerformed)] == [False, True]
    assert "Moon" in {event.source.title for event in second.of(e.SourceAdded)}


async def test_an_agent_recalls_what_the_earlier_run_read() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    script = [
        calls(("generate_plan", {"complexity": "simple", "follow_up": "clarification"}), task="triage"),
        calls(("search", {"query": "mistral"}), task="background"),
        says(ONE_STEP, task="plan"),
        sends(TIDE),
        calls(("recall", {"query": "metres"}), task="research", turn=0),
        says("done", task="research", turn=1),
        says("It rises seven metres. [S3001.1]", task="find"),
        report_wanted(),
        says("It rises seven metres. [S3001.1]", task="write"),
    ]
    second = await thread.run(script, parent=run_id(first))
    found = asked_of(second, "find").messages
    assert any("rises seven metres" in message.text for message in found if message.role == "tool")
    assert second.last(e.RunCompleted).verified


async def test_a_new_topic_ignores_the_evidence() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    script = follow_up("It rises. [S1001.1]", follow="new_topic", query="tide Brest", found="It rises. [S3001.1]")
    second = await thread.run(script, parent=run_id(first), repair=False)
    assert False in {event.shared for event in second.of(e.SearchPerformed)}
    assert '"finished":[]' in asked_of(second, "research").user_texts("brief")[0]
    assert second.last(e.VerifySummary).summary.dropped_markers == 1
    assert "S1001" not in {event.source.id for event in second.of(e.SourceAdded)}


async def test_an_earlier_run_may_be_deleted_and_is_never_written() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    journal = thread.sea.journal
    before = await journal.load(run_id(first))
    second = await thread.run(follow_up("It rises. [S1001.1]", found="It does. [S3001.1]"), parent=run_id(first))
    assert await journal.load(run_id(first)) == before
    await journal.delete(run_id(first))
    script = follow_up("It rises. [S1001.1]", found="It does. [S5001.1]")
    third = await thread.run(script, parent=run_id(second))
    assert third.last(e.RunCompleted).verified
    assert {passage.id for passage in build_report(fold_events(third.envelopes)).passages} == {"S1001.1"}


async def test_triage_and_planner_are_told_what_was_said_and_agents_are_not() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?", thread="sea")
    second = await thread.run(follow_up("The moon does. [S1001.2]", found="The moon does. [S1001.2]"), thread="sea")
    for task in ("triage", "plan"):
        message = asked_of(second, task).user_texts("conversation")[0]
        assert "How far does the tide rise at Brest?" in message
        assert "Seven." in message
        assert "[S1001.1]" not in message
    for request in second.model.requests:
        if request.task not in ("triage", "plan"):
            assert not request.user_texts("conversation")
    assert asked_of(second, "research").user_texts("brief")[0].count(RESTATED) == 1
    assert f"The question was read as “{RESTATED}”." in second.last(e.ReportFinished).limits
    assert not asked_of(first, "triage").user_texts("conversation")
    assert not second.of(e.RunContinued)


async def test_only_the_last_five_messages_of_the_user_are_told() -> None:
    thread = Thread()
    for number in range(7):
        await thread.run([calls(("answer", {"text": f"Reply {number}"}), task="triage")], f"Hello {number}", thread="t")
    at = await add_thread(thread.sea.journal, Brief(question="?", date="2026-01-01", thread="t"))
    assert [each.text for each in at.conversation if each.by == "user"] == [f"Hello {number}" for number in range(2, 7)]
    assert at.conversation[-1].text == "Reply 6"


async def test_nothing_goes_on_from_a_run_which_has_not_ended() -> None:
    sea = Sea()
    handle = sea.start(Scripted([says("Which Brest?", task="triage")]), ask="required")
    with pytest.raises(Exception, match="waits for answers"):
        await handle.wait()
    with pytest.raises(UsageError, match=f"has not ended .waiting.*first: assay runs answer {handle.run_id}"):
        await add_thread(sea.journal, Brief(question="?", date="2026-01-01", parent=handle.run_id))


async def test_answers_which_came_late_are_part_of_the_conversation() -> None:
    sea = Sea()
    handle = sea.start(Scripted([says("Which Brest?", task="triage")]), ask="required", thread="t")
    with pytest.raises(Exception, match="waits for answers"):
        await handle.wait()
    await handle.answer("answers", ("The one in Brittany",))  # the run has not gone on since
    at = await add_thread(sea.journal, Brief(question="?", date="2026-01-01", thread="t"))
    assert [(each.by, each.text) for each in at.conversation] == [
        ("user", "How far does the tide rise at Brest?"),
        ("assistant", "Which Brest?"),
        ("user", "Which Brest? — The one in Brittany"),
    ]


async def test_questions_nobody_was_asked_are_no_part_of_the_conversation() -> None:
    thread = Thread()
    script = [says("Which Brest?", task="triage"), *one_agent()[1:]]
    await thread.run(script, "How far does the tide rise at Brest?", thread="t")
    at = await add_thread(thread.sea.journal, Brief(question="?", date="2026-01-01", thread="t"))
    assert [each.by for each in at.conversation] == ["user", "assistant"]
    assert "Which Brest?" not in [each.text for each in at.conversation]


async def test_a_question_about_a_runs_evidence_searches_nothing() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    asked = list(thread.sea.search.queries)  # type: ignore[attr-defined]
    script = [
        calls(("generate_plan", {"follow_up": "new_topic", "restated": RESTATED}), task="triage"),
        says("The tide at Brest rises seven metres. [S1.1]", task="answer"),
    ]
    second = await thread.run(script, parent=run_id(first), mode="simple", tools=("recall",))
    assert thread.sea.search.queries == asked  # type: ignore[attr-defined]
    evidence = asked_of(second, "answer").user_texts("evidence")[0]
    assert "The tide at Brest rises seven metres." in evidence
    assert second.last(e.RunCompleted) == e.RunCompleted(stop_reason="done", verified=True)
    assert [event.source.id for event in second.of(e.SourceAdded)] == ["S1", "S2"]  # those it was shown
    assert whole(second)


async def test_what_the_evidence_does_not_hold_is_said() -> None:
    thread = Thread()
    first = await thread.run([*one_agent()], "How far does the tide rise at Brest?")
    script = [calls(("generate_plan", {}), task="triage"), says("The documents do not say it.", task="answer")]
    second = await thread.run(script, "Who rows at Brest?", parent=run_id(first), mode="simple", tools=("recall",))
    assert second.last(e.RunCompleted).stop_reason == "no_evidence"
    assert second.text.startswith(f"*{UNSOURCED}*")


async def test_a_question_in_other_words_is_answered_by_whoever_understands_it() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    script = [calls(("generate_plan", {}), task="triage"), says("Sieben Meter. [S1.1]", task="answer")]
    second = await thread.run(script, "Wie hoch?", parent=run_id(first), mode="simple", tools=("recall",))
    assert second.last(e.RunCompleted).stop_reason == "done"


async def test_a_run_which_read_nothing_answers_nothing() -> None:
    thread = Thread()
    first = await thread.run([calls(("answer", {"text": "Hello!"}), task="triage")], "Hi there")
    script = [calls(("generate_plan", {}), task="triage")]
    with pytest.raises(NothingSearched, match="there is nothing to answer from"):
        await thread.run(script, "How far?", parent=run_id(first), mode="simple", tools=("recall",))


async def test_a_continued_run_is_taken_up_after_a_crash_and_without_the_earlier_one() -> None:
    thread = Thread()
    first = await thread.run(one_agent(), "How far does the tide rise at Brest?")
    text = f"{MOON} The tide at Brest rises seven metres. [S1001.1]"
    whole_run = await thread.run(follow_up(text), parent=run_id(first))
    at = await add_thread(thread.sea.journal, Brief(question=AGAIN, date="2026-01-01", parent=run_id(first)))
    fields = {name: getattr(at, name) for name in ("question", "thread", "conversation", "parent", "lane", "scope")}
    never = asyncio.Event()
    *before, last = follow_up(text)
    handle = thread.sea.start(Scripted([*before, msgspec.structs.replace(last, hang=never)]), **fields)
    await stop_at(handle, "report.started")
    await thread.sea.journal.delete(run_id(first))
    log = await thread.sea.resume(handle.run_id, Scripted([last]))
    assert not log.of(e.StepDiverged)
    assert log.text == whole_run.text
    assert log.last(e.RunCompleted).verified
    assert [event.source.id for event in log.of(e.SourceAdded)] == [
        event.source.id for event in whole_run.of(e.SourceAdded)
    ]
    assert whole(log)


async def test_a_run_whose_parent_is_gone_before_it_begins_fails_with_the_reason() -> None:
    log = await Sea().fail([], UsageError, question=AGAIN, parent="gone", lane=1)
    assert "the run this one continues was deleted" in log.last(e.RunFailed).error
