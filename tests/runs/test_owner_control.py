"""Cancel, pause and finish from outside: who executes the run heeds it; where nobody does, it is done at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, ChatServer, chat_server, chunk
from research import ONE_STEP, TIDE, Sea, first_agent, one_agent, planned, report_wanted, sends

from assay import Assay
from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import Cancelled, LeaseHeld, OtherRelease, Paused, UsageError
from assay.core.ports import Commit, RunStatus
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, says
from assay.run.engine import RunTask
from assay.settings import Settings

WAIT = 120.0
SLOW = Answer([*(piece for _ in range(600) for piece in (chunk({"content": "slow "}), 0.05))])


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Assay]:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    async with Assay(home=tmp_path / "home") as assay:
        yield assay


def hanging(*before: Scene, task: str) -> Scripted:
    """A model which never answers the call for `task`."""
    return Scripted([*before, says("never", task=task, hang=asyncio.Event())])  # type: ignore[arg-type]


async def until(model: Scripted) -> None:
    """Until all scenes are begun."""
    async with asyncio.timeout(WAIT):
        while model.unused:
            await asyncio.sleep(0.01)


async def started(assay: Assay, model: Scripted, tmp_path: Path, **wanted: Any) -> Any:
    assay._context.own_models[model.profile.name] = model
    models = dict.fromkeys(ROLES, (model.profile.name,))
    return assay.start("How far does the tide rise?", sources=tmp_path / "tides.md", models=models, **wanted)  # type: ignore[arg-type]


async def test_a_paused_run_lets_go_and_goes_on_without_paying_twice(home: Assay, tmp_path: Path) -> None:
    opening = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted()]
    model = hanging(*opening, task="write")
    run = await started(home, model, tmp_path, depth="medium")
    await until(model)
    assert await home.control(run.run_id, "pause", wait=WAIT) == "applied"
    view = await run.view()
    row = await home.find(run.run_id)
    assert (view.status, row.status, row.holder) == ("paused", "paused", "")
    with pytest.raises(UsageError, match="paused already"):
        await home.control(run.run_id, "pause")
    with pytest.raises(Paused, match="assay runs resume"):
        await run.report()

    home._context.own_models["scripted"] = again = Scripted([says("It rises seven metres. [S1001.1]", task="write")])
    resumed = await (await home.resume(run.run_id)).view()
    assert (resumed.status, len(again.requests)) == ("completed", 1)
    kinds = [each.type for each in await home.events(run.run_id)]
    asked, applied = kinds.index("control.accepted"), kinds.index("control.applied")
    assert asked < applied < kinds.index("run.resumed")
    assert kinds.count("control.applied") == 1


async def test_a_run_is_paused_and_taken_up_again_and_again(home: Assay, tmp_path: Path) -> None:
    """Each process gets a little further; all that was committed is asked for once."""
    script = [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted()]
    script.append(says("It rises seven metres. [S1001.1]", task="write"))
    run, asked = None, 0
    for place, scene in enumerate(script):
        model = Scripted([*script[asked:place], scene_hanging(scene)])
        home._context.own_models["scripted"] = model
        run = await (home.resume(run.run_id) if run else started(home, model, tmp_path, depth="medium"))
        await until(model)
        assert await home.control(run.run_id, "pause", wait=WAIT) == "applied"
        await run.view()
        asked = place
    home._context.own_models["scripted"] = last = Scripted(script[asked:])
    assert run is not None
    assert (await (await home.resume(run.run_id)).view()).status == "completed"
    assert not last.unused


def scene_hanging(scene: Scene) -> Scene:
    return Scene(answer=scene.answer, task=scene.task, contains=scene.contains, turn=scene.turn, hang=asyncio.Event())


async def test_finish_from_outside_writes_the_report(home: Assay, tmp_path: Path) -> None:
    opening = [*planned(ONE_STEP), sends(TIDE), *first_agent()]
    model = Scripted([*opening, says("never", task="orchestrate", hang=asyncio.Event())])
    model._scenes.append(says("It rises seven metres. [S1001.1]", task="write", repeat=True))
    run = await started(home, model, tmp_path, depth="medium")
    await until(model)
    assert await home.control(run.run_id, "finish", wait=WAIT) == "applied"
    view = await run.view()
    assert (view.status, view.stop_reason, view.report.state) == ("completed", "finished_early", "finished")


async def test_what_nobody_executes_is_cancelled_or_paused_at_once(home: Assay, tmp_path: Path) -> None:
    for action, status in (("pause", "paused"), ("cancel", "cancelled")):
        run_id = await home.create("Why?", sources=tmp_path / "tides.md")
        before = (await home.find(run_id)).fence
        assert await home.control(run_id, action) == "applied"  # type: ignore[arg-type]
        row = await home.find(run_id)
        assert (row.status, row.holder, row.fence) == (status, "", before + 1)
        view = await home.view(run_id)
        assert view.status == status
        assert [each.seq for each in await home.events(run_id)] == list(range(1, row.last_seq + 1))


async def test_a_paused_run_may_be_cancelled_and_an_ended_one_nothing(home: Assay, tmp_path: Path) -> None:
    run_id = await home.create("Why?", sources=tmp_path / "tides.md")
    await home.control(run_id, "pause")
    await home.control(run_id, "cancel")
    assert (await home.find(run_id)).status == "cancelled"
    for action in ("cancel", "pause", "finish"):
        with pytest.raises(UsageError, match=f"has ended \\(cancelled\\): there is nothing to {action}"):
            await home.control(run_id, action)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="it can no longer be steered"):
        await home.steer(run_id, "more")


async def test_a_run_asked_to_finish_before_anybody_executes_it_only_writes(home: Assay, tmp_path: Path) -> None:
    run_id = await home.create("How far does the tide rise?", sources=tmp_path / "tides.md")
    assert await home.control(run_id, "finish", wait=WAIT) == "stored"
    view = await (await home.resume(run_id)).view()
    assert (view.status, view.stop_reason) == ("completed", "finished_early")
    assert not view.lanes


async def test_steering_while_the_report_is_written_is_rejected_at_once(home: Assay, tmp_path: Path) -> None:
    model = hanging(*one_agent()[:-1], task="write")
    run = await started(home, model, tmp_path)
    await until(model)
    found = await home.steer(run.run_id, "Be brief.", wait=WAIT)
    assert (found.state, found.note) == ("rejected", "the report is being written already")
    run.cancel()
    await run.view()


async def test_who_executes_it_elsewhere_is_not_disturbed(home: Assay, tmp_path: Path) -> None:
    """A process of another machine holds the lease and heeds nothing: the request is stored, no more."""
    run_id = await home.create("Why?", sources=tmp_path / "tides.md")
    journal = home._context.store.journal
    lease = await journal.acquire(run_id, "process 1 on elsewhere since tick:1", 15)
    assert await home.control(run_id, "cancel", wait=0.3) == "stored"
    assert (await journal.renew(lease, 15)).action == "cancel"
    with pytest.raises(LeaseHeld):
        await home.resume(run_id)
    await journal.release(lease)
    assert await home.control(run_id, "cancel", wait=WAIT) == "applied"


async def test_another_assay_of_this_process_takes_no_run_that_is_executed(home: Assay, tmp_path: Path) -> None:
    model = hanging(task="triage")
    run = await started(home, model, tmp_path)
    await until(model)
    async with Assay(home=tmp_path / "home") as other:
        with pytest.raises(LeaseHeld, match=f"run {run.run_id} is running in process"):
            await other.resume(run.run_id)
        assert await other.control(run.run_id, "pause", wait=WAIT) == "applied"
        with pytest.raises(Paused):
            await run.report()


async def test_a_run_which_is_cancelled_and_not_let_go_of_yet_did_not_end_before(home: Assay, tmp_path: Path) -> None:
    run_id = await home.create("Why?", sources=tmp_path / "tides.md")
    journal = home._context.store.journal
    lease = await journal.acquire(run_id, "process 1 on elsewhere since tick:1", 60)
    asking = asyncio.ensure_future(home.control(run_id, "cancel", wait=WAIT))
    async with asyncio.timeout(WAIT):
        while (await journal.renew(lease, 60)).action != "cancel":
            await asyncio.sleep(0.01)
    await journal.commit(lease, Commit(status="cancelled"))
    await asyncio.wait([asking], timeout=0.3)
    assert not asking.done()
    await journal.release(lease)
    assert await asking == "applied"


async def test_a_run_which_has_ended_is_deleted_when_it_is_let_go_of(home: Assay, tmp_path: Path) -> None:
    """Who sees that it is completed may delete it at once; one which goes on is refused at once."""
    run_id = await home.create("Why?", sources=tmp_path / "tides.md")
    journal = home._context.store.journal
    lease = await journal.acquire(run_id, "process 1 on elsewhere since tick:1", 60)
    with pytest.raises(LeaseHeld):
        await home.delete(run_id)
    await journal.commit(lease, Commit(status="completed"))
    deleting = asyncio.ensure_future(home.delete(run_id))
    await asyncio.wait([deleting], timeout=0.3)
    assert not deleting.done()
    await journal.release(lease)
    await deleting
    assert await home.runs() == []


def spent(server: ChatServer) -> int:
    return len(server.requests)


async def test_cancel_stops_spending_within_a_second_and_keeps_findings(tmp_path: Path) -> None:
    """A real server which streams slowly: after the cancel no request comes, and the connection is gone."""
    (tmp_path / "tides.md").write_text("# Tides\n\nThe tide at Brest rises seven metres.\n")
    with chat_server(SLOW) as server:
        settings = _settings(server.url)
        async with Assay(settings, home=tmp_path / "home") as assay:
            models = {"complex": ("local:m",)}
            run = assay.start("How far does the tide rise at Brest?", sources=tmp_path / "tides.md", models=models)
            async with asyncio.timeout(WAIT):
                while not server.requests:
                    await asyncio.sleep(0.01)
            before, loop = spent(server), asyncio.get_running_loop()
            asked = loop.time()
            assert await assay.control(run.run_id, "cancel", wait=WAIT) == "applied"
            took = loop.time() - asked
            view = await run.view()
            await asyncio.sleep(1.0)
            assert spent(server) == before
            assert took < 20.0  # a second where nobody else works; here, others do; the stream lasts half a minute
            assert view.status == "cancelled"
            assert [lane.finding.text for lane in view.lanes if lane.finding.text]


def _settings(url: str) -> Settings:
    return Settings(services={"local": {"url": url}})


@pytest.mark.parametrize("status", ["completed", "cancelled"])
async def test_a_resumed_run_that_has_ended_is_only_shown(home: Assay, tmp_path: Path, status: RunStatus) -> None:
    run_id = await home.create("How far does the tide rise?", sources=tmp_path / "tides.md")
    if status == "cancelled":
        await home.control(run_id, "cancel")
    else:
        await (await home.resume(run_id)).view()
    count = len(await home.events(run_id))
    assert (await (await home.resume(run_id)).view()).status == status
    assert len(await home.events(run_id)) == count


# other releases


async def test_a_run_of_a_release_with_other_steps_names_that_release(home: Assay, tmp_path: Path) -> None:
    sea = Sea()
    handle = sea.start(Scripted(one_agent()), steps_format=99, release="9.9.9")
    with pytest.raises(OtherRelease, match=r"started by assay 9\.9\.9.*format 99.*pip install assay==9\.9\.9"):
        await handle.wait()
    row = await sea.journal.find(handle.run_id)
    assert (row.status, row.holder) == ("created", "")


async def test_a_step_in_another_form_names_the_release_and_changes_nothing() -> None:
    sea = Sea()
    model = hanging(*one_agent()[:-1], task="write")
    first: RunTask = sea.start(model, release="0.0.1")
    await until(model)
    await first.stop()
    journal: Any = sea.journal
    steps = journal._runs[first.run_id].steps
    key = next(key for key, step in steps.items() if step.tag == "reply/1")
    steps[key] = type(steps[key])(key=key, input_hash=steps[key].input_hash, tag="reply/1", data=b'{"text": 7}')
    count = len(await sea.journal.events(first.run_id))
    resumed = await sea.engine().resume(first.run_id, lambda _: sea.world(Scripted([])))
    with pytest.raises(OtherRelease, match=r"started by assay 0\.0\.1"):
        await resumed.wait()
    envelopes = await sea.journal.events(first.run_id)
    assert [each.type for each in envelopes[count:]] == ["run.resumed"]
    assert fold_events(envelopes).status == "running"


async def test_a_run_made_here_names_this_release(home: Assay, tmp_path: Path) -> None:
    run_id = await home.create("Why?", sources=tmp_path / "tides.md")
    created = next(msg for msg in map(e.decode, await home.events(run_id)) if isinstance(msg, e.RunCreated))
    assert created.brief.release
    handle = await home.resume(run_id)
    handle.cancel()
    with pytest.raises(Cancelled):
        await handle.report()


async def test_the_built_in_model_sends_an_agent_for_what_it_is_told(home: Assay, tmp_path: Path) -> None:
    (tmp_path / "winds.md").write_text("# Winds\n\nThe mistral blows from the north-west.\n")
    run_id = await home.create("How far does the tide rise at Brest?", sources=[tmp_path], mode="deep_research")
    found = await home.steer(run_id, "Where does the mistral blow from?")
    assert found.state == "accepted"
    view = await (await home.resume(run_id)).view()
    assert [(each.state, each.note) for each in view.steering] == [("applied", "research/cycle-1")]
    assert "Where does the mistral blow from?" in [lane.task for lane in view.lanes]
    assert "north-west" in view.report.text
