"""A run's handle when the run is over, or its library is closed: what is asked of it is done or refused, never lost."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay import Assay, AssayError, RunHandle, research
from assay.core.brief import ROLES
from assay.core.errors import Cancelled, NotNow, Paused, StoreClosed, UnknownName, UsageError
from assay.core.ports import Lease
from assay.models.script import Scripted, says


@pytest.fixture
def tides(tmp_path: Path) -> Path:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    return tmp_path


async def begun(assay: Assay, folder: Path) -> RunHandle:
    """A run whose model never answers, when it has been asked."""
    model = Scripted([says("never", task="triage", hang=asyncio.Event())])
    assay._context.own_models[model.profile.name] = model
    models = dict.fromkeys(ROLES, (model.profile.name,))
    run = assay.start("How far does the tide rise?", sources=folder / "tides.md", models=models)
    async with asyncio.timeout(120):
        while model.unused:
            await asyncio.sleep(0.01)
    return run


async def test_an_ended_run_takes_no_answer_and_no_approval(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = assay.start("How far does the tide rise at Brest?", sources=tides / "tides.md", depth="light")
        await run.report()
        with pytest.raises(NotNow, match="does not wait for answers"):
            await run.answer(["The one in Brittany"])
        with pytest.raises(NotNow, match="does not wait for its plan"):
            await run.approve()


async def test_a_waiting_run_is_approved_by_its_handle_and_goes_on_when_resumed(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = assay.start(
            "How far does the tide rise at Brest?", sources=tides / "tides.md", depth="light", review_plan="required"
        )
        assert (await run.view()).status == "waiting"
        await run.approve()
        with pytest.raises(NotNow, match="approved already"):
            await run.approve()
        assert (await (await assay.resume(run.run_id)).report()).status == "completed"


async def test_a_service_that_begins_again_finds_what_it_left(tides: Path) -> None:
    """Whatever the question, and behind runs that have ended since."""
    question, sources = "How far does the tide rise at Brest?", tides / "tides.md"
    async with Assay(home=tides / "home") as assay:
        left = [await assay.create(each, sources=sources, depth="light") for each in (question, "And at Roscoff?")]
        for _ in range(2):
            await assay.start(question, sources=sources, depth="light").report()
    async with Assay(home=tides / "home") as assay:
        assert [row.run_id for row in await assay.unfinished(limit=2)] == left[::-1]
        assert [row.run_id for row in await assay.unfinished(question)] == left[:1]
        runs = [await assay.resume(row.run_id) for row in await assay.unfinished()]
        assert await assay.unfinished() == []
        assert {(await run.report()).status for run in runs} == {"completed"}


@pytest.mark.parametrize("stored", [True, False])
async def test_a_run_is_known_as_soon_as_it_is_started(tides: Path, stored: bool) -> None:
    async with Assay(home=tides / "home" if stored else None) as assay:
        question, options = "How far does the tide rise at Brest?", {"sources": tides / "tides.md", "depth": "light"}
        runs = [assay.start(question, **options, review_plan="required") for _ in range(4)]  # type: ignore[arg-type]
        assert (await assay.find(runs[0].run_id)).run_id == runs[0].run_id
        assert (await anext(aiter(assay.follow(runs[1].run_id)))).type == "run.created"
        assert await assay.label(runs[2].run_id, {"starred": ""}) == {"starred": ""}
        await runs[3].approve()
        assert (await runs[3].report()).status == "completed"
        with pytest.raises(UnknownName):
            await assay.find("nobody")
        lost = [assay.start(question, sources=tides / "missing.md") for _ in range(2)]
        with pytest.raises(UnknownName):
            await assay.find(lost[0].run_id)
        with pytest.raises(UsageError, match=r"no file or folder .*missing\.md"):
            await lost[1].answer(["The one in Brittany"])


async def test_what_is_done_to_a_run_at_once_is_done_when_it_is_stored(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        question, sources = "How far does the tide rise at Brest?", tides / "tides.md"
        finished, paused, cancelled = (assay.start(question, sources=sources) for _ in range(3))
        finished.finish()
        paused.pause()
        cancelled.cancel()
        report = await finished.report()
        assert (report.status, report.stop_reason) == ("completed", "finished_early")
        with pytest.raises(Paused, match=f"assay runs resume {paused.run_id}"):
            await paused.report()
        assert (await (await assay.resume(paused.run_id)).report()).stop_reason == "done"
        with pytest.raises(Cancelled, match="cancelled before the run was created"):
            await cancelled.report()


async def test_all_that_is_asked_of_a_run_at_once_is_done(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = assay.start("How far does the tide rise at Brest?", sources=tides / "tides.md")
        run.finish()
        run.pause()
        with pytest.raises(Paused):
            await run.report()
        assert (await (await assay.resume(run.run_id)).report()).stop_reason == "finished_early"


async def test_a_resumed_run_that_is_cancelled_at_once_is_cancelled(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = assay.start("How far does the tide rise at Brest?", sources=tides / "tides.md")
        run.pause()
        with pytest.raises(Paused):
            await run.report()
        resumed = await assay.resume(run.run_id)
        resumed.cancel()
        assert (await resumed.view()).status == "cancelled"


async def test_a_run_that_is_executed_here_is_not_begun_again(tides: Path) -> None:
    """Two requests of a service that resume one run share it: a second execution would repeat its calls."""
    async with Assay(home=tides / "home") as assay:
        run = await begun(assay, tides)
        assert (await assay.resume(run.run_id)).run_id == run.run_id
        run.pause()
        resumed = await asyncio.gather(*(assay.resume(run.run_id) for _ in range(3)))
        with pytest.raises(Paused):
            await run.report()
        for each in resumed:
            each.cancel()
            with pytest.raises(Cancelled):
                await each.report()
        kinds = [event.type for event in await assay.events(run.run_id)]
        assert (kinds.count("run.started"), kinds.count("run.resumed")) == (1, 1)


async def test_a_resume_that_fails_when_nobody_waits_is_no_lost_error(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        lost: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: lost.append(context))
        engine = assay._context.engine
        resuming = [
            asyncio.create_task(engine.resume("nosuch", lambda brief: pytest.fail("there is none"))) for _ in range(2)
        ]
        await asyncio.sleep(0)
        for task in resuming:
            task.cancel()
        await asyncio.gather(*resuming, return_exceptions=True)
        while engine._resuming:
            await asyncio.sleep(0.01)
        gc.collect()
    assert lost == []


async def test_a_run_left_waiting_goes_on_although_its_handle_has_not_ended(
    tides: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever sees that it waits may answer at once, before the process that asked has given it up."""
    async with Assay(home=tides / "home") as assay:
        give_up, may_end = assay._context.engine.journal.release, asyncio.Event()

        async def release(lease: Lease) -> None:
            await may_end.wait()
            await give_up(lease)

        monkeypatch.setattr(assay._context.engine.journal, "release", release)
        question = "How far does the tide rise at Brest?"
        run = assay.start(question, sources=tides / "tides.md", depth="light", review_plan="required")
        async with asyncio.timeout(60):
            while not run.created or (await assay.find(run.run_id)).status != "waiting":
                await asyncio.sleep(0.01)
        await run.approve()
        resuming = asyncio.create_task(assay.resume(run.run_id))
        await asyncio.sleep(0.1)
        may_end.set()
        assert (await (await resuming).report()).status == "completed"


async def test_a_library_closed_while_a_run_is_resumed_keeps_no_lease(
    tides: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assay = Assay(home=tides / "home")
    run_id = await assay.create("How far does the tide rise?", sources=tides / "tides.md", depth="light")
    take, taking = assay._context.engine.journal.acquire, asyncio.Event()

    async def acquire(run_id: str, holder: str, ttl: float, evict: str = "") -> Lease:
        lease = await take(run_id, holder, ttl, evict)
        taking.set()
        await asyncio.sleep(0.1)
        return lease

    monkeypatch.setattr(assay._context.engine.journal, "acquire", acquire)
    resuming = asyncio.create_task(assay.resume(run_id))
    await taking.wait()
    await assay.close()
    await asyncio.gather(resuming, return_exceptions=True)
    async with Assay(home=tides / "home") as again:
        assert [row.run_id for row in await again.unfinished()] == [run_id]


async def test_who_asks_further_about_an_active_run_is_told_how_it_ends(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        active = await begun(assay, tides)
        wait = (
            f"nothing can continue from it; wait until it ends, or end its research: assay runs finish {active.run_id}"
        )
        with pytest.raises(NotNow, match=wait):
            await assay.start("And at Saint-Malo?", continues=active.run_id).report()
        with pytest.raises(NotNow, match="it cannot be forked; wait until it ends"):
            await assay.fork(active.run_id, "write")
        active.cancel()


async def test_who_waits_for_a_report_is_told_that_the_library_was_closed(tides: Path) -> None:
    assay = Assay(home=tides / "home")
    run = await begun(assay, tides)
    waiting = asyncio.ensure_future(run.report())
    await asyncio.sleep(0)
    await assay.close()
    with pytest.raises(Paused, match=f"to continue: assay runs resume {run.run_id}"):
        await waiting
    async with Assay(home=tides / "home") as again:
        assert (await again.find(run.run_id)).status == "running"  # and nobody executes it: it can be resumed


@pytest.mark.parametrize("stored", [True, False])
async def test_a_closed_library_opens_nothing_any_more(tides: Path, stored: bool) -> None:
    """No connection, no run and no process that nobody would end; what was in memory can still be read."""
    assay = Assay(home=tides / "home" if stored else None)
    run = assay.start("How far does the tide rise at Brest?", sources=tides / "tides.md", depth="light")
    report = await run.report()
    await assay.close()
    with pytest.raises(StoreClosed, match="open another one"):
        assay.start("And at Roscoff?", sources=tides / "tides.md")
    if stored:
        for read in (assay.runs(), run.report(), assay.collections()):
            with pytest.raises(StoreClosed):
                await read
    else:
        assert await run.report() == report
    await assay.close()


async def test_who_is_cancelled_while_waiting_stays_cancelled(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = await begun(assay, tides)
        waiting = asyncio.ensure_future(run.report())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not run.ended


async def test_an_action_that_does_not_exist_changes_nothing(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = await begun(assay, tides)
        with pytest.raises(UnknownName, match="no action named 'stop'; use one of: cancel, finish, pause"):
            await assay.control(run.run_id, "stop")  # type: ignore[arg-type]
        assert not any(event.type.startswith("control.") for event in await assay.events(run.run_id))
        run.cancel()
        with pytest.raises(AssayError):
            await run.report()


async def test_a_form_of_citations_that_does_not_exist_is_refused(tides: Path) -> None:
    async with Assay(home=tides / "home") as assay:
        run = assay.start("How far does the tide rise at Brest?", sources=tides / "tides.md", depth="light")
        report = await run.report()
        with pytest.raises(UnknownName, match="no form of citations named 'footnote'; did you mean 'footnotes'"):
            await assay.export(run.run_id, ".md", "footnote")  # type: ignore[arg-type]
        with pytest.raises(UnknownName, match="did you mean 'footnotes'"):
            report.save(tides / "report.md", citations="footnote")  # type: ignore[arg-type]


async def test_a_report_in_memory_is_exported_as_bytes(tides: Path) -> None:
    report = await research("How far does the tide rise at Brest?", sources=tides / "tides.md", depth="light")
    found = msgspec.json.decode(report.export(".json"))
    assert found["markdown"] == report.markdown
    report.save(tides / "report.md", citations="footnotes")
    assert report.export(".md", "footnotes") == (tides / "report.md").read_bytes()
    with pytest.raises(UnknownName, match="tex"):
        report.export(".tex")
