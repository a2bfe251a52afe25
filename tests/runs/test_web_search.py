"""The mode which searches a moment and answers: evidence in hand in time, else an answer that says it has none."""

from __future__ import annotations

import asyncio

from research import Sea, WordSearch, stop_at, whole
from simulated_time import in_simulated_time

from assay.core import events as e
from assay.core.depths import DepthRules, SetDepth, changed_depths
from assay.core.ports import Hit, Query
from assay.models.script import Scripted, calls, says
from assay.phases.without_plan import CUT, LATE, UNSOURCED

QUERIES = calls(("search", {"query": "tide Brest"}), ("search", {"query": "tide rises"}), task="background")


class Slow(WordSearch):
    """A search which takes its time, at once for queries that say so."""

    seconds = 30.0

    async def search(self, query: Query) -> list[Hit]:
        if "rises" in query.text:
            await asyncio.sleep(self.seconds)
        return await super().search(query)


def sea(slow: bool = False) -> Sea:
    made = Sea()
    if slow:
        made.search = Slow(made.store.library, made.reader)
    return made


def hurried(seconds: float) -> dict[SetDepth, DepthRules]:
    return changed_depths("orchestrated", {"light": {"look_seconds": seconds}})


async def test_two_searches_the_best_documents_and_an_answer() -> None:
    log = await sea().run([QUERIES, says("Seven metres. [S1.1]", task="answer")], mode="web_search")
    assert log.last(e.TriageClassified).mode == "web_search"
    assert log.last(e.TriageClassified).depth == "light"
    assert [event.tool for event in log.of(e.ToolStarted)] == ["search", "search", "open", "open"]
    assert not log.of(e.PlanProposed)
    assert not log.of(e.AgentStarted)
    answer = next(request for request in log.model.requests if request.task == "answer")
    assert "The moon causes most of it." in answer.user_texts("evidence")[0]  # read, not only found
    assert log.written == "Seven metres. [S1.1]"
    assert log.last(e.RunCompleted) == e.RunCompleted(stop_reason="done", verified=True)
    assert whole(log)


@in_simulated_time
async def test_what_is_in_hand_in_time_is_used() -> None:
    script = [QUERIES, says("Seven metres. [S1.1]", task="answer")]
    log = await sea(slow=True).run(script, mode="web_search", depths=hurried(0.2))
    assert log.written == "Seven metres. [S1.1]"
    assert log.last(e.ReportFinished).limits == (CUT.format(seconds=0),)
    assert log.last(e.RunCompleted).stop_reason == "done"
    assert not log.of(e.RunExhausted)


@in_simulated_time
async def test_nothing_in_time_is_answered_without_sources_and_said() -> None:
    only = calls(("search", {"query": "tide rises"}), task="background")
    log = await sea(slow=True).run(
        [only, says("Seven metres, I think.", task="answer")], mode="web_search", depths=hurried(0.1)
    )
    assert log.written == f"*{UNSOURCED}*\n\nSeven metres, I think."
    assert log.last(e.ReportFinished).limits == (LATE.format(seconds=0),)
    assert {event.reason for event in log.of(e.ClaimChecked)} == {"no sources"}
    assert whole(log)


async def test_a_search_which_finds_nothing_says_so() -> None:
    only = calls(("search", {"query": "tungsten"}), task="background")
    log = await sea().run([only], mode="web_search", question="What is tungsten?")
    assert log.text.startswith("Nothing that answers this question was found")
    assert log.last(e.RunCompleted).stop_reason == "no_evidence"


async def test_a_search_which_was_killed_goes_on_with_the_time_it_had() -> None:
    made = sea()
    hanging = asyncio.Event()
    handle = made.start(
        Scripted([QUERIES, says("Seven metres. [S1.1]", task="answer", hang=hanging)]), mode="web_search"
    )
    await stop_at(handle, "report.started")
    again = Scripted([says("Seven metres. [S1.1]", task="answer")])
    log = await made.resume(handle.run_id, again)
    assert log.written == "Seven metres. [S1.1]"
    assert not log.of(e.StepDiverged)
    assert len(log.of(e.SearchPerformed)) == 2
    memory = await made.journal.load(handle.run_id)
    assert [key for key, step in memory.steps.items() if step.tag == "until/1"] == ["research:hurried:0"]
