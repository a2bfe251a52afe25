"""A run that failed because nobody answered is resumed: models, services and pages are asked again, nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from local_web import QUESTION as WEB_QUESTION
from local_web import LocalWeb
from research import ONE_STEP, TIDE, Sea, WordSearch, first_agent, planned, report_wanted, sends

from assay import Assay, RunView, settings
from assay.core.errors import ModelError, ModelFailed
from assay.core.events import RunFailed
from assay.core.messages import Delta, Reply, Request
from assay.core.ports import FINAL
from assay.core.report import build_report
from assay.core.view import fold_events
from assay.models.extractive import Extractive
from assay.models.script import Scripted, fails, says

QUESTION = "Who wrote the Harbor report, and when was the bridge at Sandmouth opened?"
TEXT = """# Reports

The Harbor report was written by Ada Byron in 1843.

The bridge at Sandmouth was opened in 1851. It is 120 metres long.
"""
EVERYTHING = ("triage", "background", "plan", "orchestrate", "research", "find", "reflect", "write", "answer")
WANTED: Any = {"model": "mine", "mode": "deep_research", "depth": "medium"}
AGENTS = ("research", "find")


class Away(Extractive):
    """The built-in model, which does not answer some tasks while it is away."""

    def __init__(self, tasks: tuple[str, ...]) -> None:
        super().__init__()
        self.tasks, self.asked = tasks, list[str]()

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.asked.append(request.task)
        if request.task in self.tasks:
            raise ModelError("no quota", transient=False)
        async for item in super().stream(request):
            yield item


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text(TEXT)
    return tmp_path / "notes.md"


def opened(home: Path, model: Extractive) -> Assay:
    return Assay(settings.load(), home=home, models={"mine": model})


async def fail(home: Path, notes: Path, tasks: tuple[str, ...], **wanted: str) -> str:
    """A run that fails since its model does not answer these tasks."""
    async with opened(home, Away(tasks)) as assay:
        handle = assay.start(QUESTION, sources=notes, **WANTED, **wanted)
        with pytest.raises(ModelFailed, match="no quota; resume the run later"):
            await handle.report()
    return handle.run_id


@pytest.mark.parametrize(
    ("strategy", "tasks"), [("orchestrated", EVERYTHING), ("orchestrated", AGENTS), ("reflective", AGENTS)]
)
async def test_what_failed_is_asked_again_and_the_rest_is_not(
    tmp_path: Path, notes: Path, strategy: str, tasks: tuple[str, ...]
) -> None:
    async with opened(tmp_path / "whole", Extractive()) as assay:
        whole = await assay.start(QUESTION, sources=notes, strategy=strategy, **WANTED).report()
    home, model = tmp_path / "home", Away(())
    run_id = await fail(home, notes, tasks, strategy=strategy)
    async with opened(home, model) as assay:
        failed = await assay.view(run_id)
        assert (failed.status, failed.stop_reason) == ("failed", "no_model")
        report = await (await assay.resume(run_id)).report()
        assert report.markdown == whole.markdown
        view = await assay.view(run_id)
        assert not any(lane.error for lane in view.lanes)
        assert not any("no quota" in warning.message for warning in view.warnings)
        replayed = await assay.replay(run_id)
        assert (replayed.differences, replayed.same_report) == ((), True)
    assert ("plan" in model.asked) == (tasks == EVERYTHING)


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_a_fork_has_the_course_that_counts(tmp_path: Path, notes: Path, strategy: str) -> None:
    """The phase that it begins with has begun twice, and what was found was found before the second time."""
    home = tmp_path / "home"
    run_id = await fail(home, notes, AGENTS, strategy=strategy)
    async with opened(home, Away(())) as assay:
        report = await (await assay.resume(run_id)).report()
        forked = await (await assay.resume(await assay.fork(run_id, "write"))).report()
    assert forked.markdown == report.markdown


async def test_a_model_that_is_still_away_is_asked_once_more_each_time(tmp_path: Path, notes: Path) -> None:
    home, model = tmp_path / "home", Away(AGENTS)
    run_id = await fail(home, notes, AGENTS)
    async with opened(home, model) as assay:
        before = await assay.view(run_id)
        for _ in range(2):
            with pytest.raises(ModelFailed, match="no quota"):
                await (await assay.resume(run_id)).report()
        after = await assay.view(run_id)
    assert set(model.asked) == {"research"}
    assert (after.error, len(after.lanes)) == (before.error, len(before.lanes))


@pytest.mark.parametrize("tasks", [EVERYTHING, AGENTS])
async def test_a_resumed_run_is_interrupted_anywhere(tmp_path: Path, notes: Path, tasks: tuple[str, ...]) -> None:
    home = tmp_path / "home"
    run_id = await fail(home, notes, tasks)
    stops = 0
    async with opened(home, Away(())) as assay:
        while (await assay.find(run_id)).status not in FINAL or not stops:
            handle = await assay.resume(run_id)
            last = len(await assay.events(run_id))
            async for envelope in handle.events():
                if envelope.seq >= last + 4:
                    handle.pause()
                    break
            await handle.view()
            stops += 1
        view = fold_events(await assay.events(run_id))
        replayed = await assay.replay(run_id)
    assert stops > 3
    assert view.status == "completed"
    assert (replayed.differences, replayed.same_report) == ((), True)
    assert "Ada Byron" in view.report.text


async def end(assay: Assay, run_id: str = "", **wanted: Any) -> RunView:
    """The view of a run that is begun, or resumed, and has ended."""
    handle = await assay.resume(run_id) if run_id else assay.start(WEB_QUESTION, web=True, depth="light", **wanted)
    return await handle.view()


@pytest.mark.parametrize("strategy", ["orchestrated", "reflective"])
async def test_search_services_that_did_not_answer_are_asked_again(
    tmp_path: Path, web: LocalWeb, strategy: str
) -> None:
    away = web.settings(services={"searxng": {"url": "http://127.0.0.1:9"}})
    async with Assay(web.settings(), home=tmp_path / "whole") as assay:
        whole = await end(assay, strategy=strategy)
    async with Assay(away, home=tmp_path / "home") as assay:
        failed = await end(assay, strategy=strategy)
        again = await end(assay, failed.run_id)
    assert (failed.status, failed.stop_reason) == (again.status, again.stop_reason) == ("failed", "no_search")
    assert again.error == failed.error
    async with Assay(web.settings(), home=tmp_path / "home") as assay:
        resumed = await end(assay, failed.run_id)
        replayed = await assay.replay(failed.run_id)
    assert (replayed.differences, replayed.same_report) == ((), True)
    assert "Ada Byron" in whole.report.text
    assert build_report(resumed).markdown == build_report(whole).markdown
    assert (resumed.warnings, resumed.unreadable) == (whole.warnings, whole.unreadable)


async def test_where_models_failed_searches_are_asked_again_too() -> None:
    """The network was down; the planner hears what its first search finds now."""
    sea = Sea()
    there = sea.search
    sea.search = WordSearch(sea.store.library, sea.reader, failing=True)
    failing = fails("no quota", transient=False, task="research", repeat=True)
    before = [*planned(ONE_STEP), sends(TIDE), first_agent()[0], failing, report_wanted()]
    log = await sea.fail(before, ModelFailed)
    assert log.last(RunFailed).stop_reason == "no_model"
    sea.search = there
    asked_again = [planned(ONE_STEP)[-1], sends(TIDE), *first_agent()[1:], report_wanted()]
    model = Scripted([*asked_again, says("It rises seven metres. [S1001.1]", task="write")])
    resumed = await sea.resume(log.envelopes[0].run_id, model)
    assert resumed.written == "It rises seven metres. [S1001.1]"
    assert not model.unused
    assert there.queries == ["tide Brest"]  # the agent gets what the first search found
