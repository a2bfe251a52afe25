"""A fork that leaves sources out, and what may not be forked: asserted in the requests sent and on the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from research import DOCUMENTS, ONE_STEP, TIDE, planned, report_wanted, sends
from stepwise import requests

from assay import Assay, RunHandle, settings
from assay.core import events as e
from assay.core.brief import ROLES
from assay.core.errors import UnknownName, UsageError
from assay.core.messages import Profile
from assay.models.script import Scene, Scripted, calls, says

QUESTION = "How far does the tide rise at Brest?"
BOTH = "The tide at Brest rises seven metres. [S1001.1] Sailors rarely meet the mistral. [S1002.1]\n\n"
BOTH += "- The moon causes it, and the mistral does not. [S1001.2, S1002.1]\n- It blows from the north-west. [S1002.1]"
KEPT = "The tide at Brest rises seven metres. [S1001.1]\n\n- The moon causes it, and the mistral does not. [S1001.2]"
SAID = "It rises seven metres. [S1001.1]"


def script() -> list[Scene]:
    """One agent, which meets both documents and cites both."""
    looked = [
        calls(("open", {"documents": ["Tides", "Winds"]}), task="research", contains=TIDE, turn=0),
        says("done", task="research", contains=TIDE, turn=1),
        says(BOTH, task="find", contains=TIDE),
    ]
    return [*planned(ONE_STEP), sends(TIDE), *looked, report_wanted(), says("Seven. [S1001.1] [S1002.1]", task="write")]


@pytest.fixture
async def assay(tmp_path: Path) -> AsyncGenerator[Assay, None]:
    for name, text in DOCUMENTS.items():
        (tmp_path / name).write_text(text)
    async with Assay(settings.load(), home=tmp_path / "home") as made:
        yield made


def roles(name: str) -> dict[str, tuple[str, ...]]:
    return dict.fromkeys(ROLES, (name,))


async def parent(assay: Assay, folder: Path) -> str:
    """A run by the script."""
    assay._context.own_models["first"] = Scripted(script(), profile=Profile(name="first"))
    run = assay.start(
        QUESTION,
        sources=[folder / name for name in DOCUMENTS],
        models=roles("first"),
        depth="light",
        checks_off=["judge"],
    )
    await run.report()
    return run.run_id


async def forked(assay: Assay, run_id: str, scenes: list[Scene], **changes: object) -> tuple[Scripted, list[e.Event]]:
    """A fork in which another model plays these scenes; what is on its log."""
    model = Scripted(scenes, profile=Profile(name="second"))
    assay._context.own_models["second"] = model
    made = await assay.fork(run_id, models=roles("second"), **changes)  # type: ignore[arg-type]
    await (await assay.resume(made)).report()
    assert not model.unused
    return model, [event for event in map(e.decode, await assay.events(made)) if event is not None]


def never() -> Scene:
    """The orchestrator takes its time."""
    return sends(TIDE, hang=asyncio.Event())


async def until_planned(run: RunHandle) -> None:
    """Let a run go on to its plan, and cancel it then."""
    async for envelope in run:
        if envelope.type == "plan.approved":
            run.cancel()
    assert (await run.view()).status == "cancelled"


async def test_the_writer_gets_nothing_of_a_source_that_is_left_out(assay: Assay, tmp_path: Path) -> None:
    run_id = await parent(assay, tmp_path)
    for name in ("S1002", "2", "[2]", "winds.md", "Winds", "WINDS"):
        await written_without(assay, run_id, name)


async def written_without(assay: Assay, run_id: str, name: str) -> None:
    """A fork whose writer is told nothing of the winds, by whatever name they are left out."""
    model, log = await forked(assay, run_id, [says(SAID, task="write")], point="write", exclude=[name])
    (request,) = model.requests
    assert request.user_texts("findings")[0].partition("\n")[2] == KEPT
    assert "north-west" not in str(request)
    assert "S1002" not in str(request)
    (forking,) = [event for event in log if isinstance(event, e.RunForked)]
    assert (forking.point, forking.parent, forking.left_out[0]) == ("write", run_id, "Winds")
    (found,) = [event for event in log if isinstance(event, e.FindingAdded)]
    assert found.text == KEPT
    assert {passage.source for passage in found.passages} == {"S1001"}
    met = {event.source.title for event in log if isinstance(event, e.SourceAdded)}
    assert met == {"Tides"}
    assert "north-west" not in "".join(event.text for event in log if isinstance(event, e.FindingDelta))


async def test_all_that_is_kept_is_told_as_it_was(assay: Assay, tmp_path: Path) -> None:
    run_id = await parent(assay, tmp_path)
    model, log = await forked(assay, run_id, [says(SAID, task="write")], point="write", instructions="Be brief.")
    (request,) = model.requests
    assert request.user_texts("findings")[0].partition("\n")[2] == BOTH
    assert request.user_texts("instructions") == ("Be brief.",)
    assert [event.text for event in log if isinstance(event, e.FindingAdded)] == [BOTH]
    before = [event for event in map(e.decode, await assay.events(run_id)) if isinstance(event, e.CoverageAssessed)]
    assert next(event for event in log if isinstance(event, e.CoverageAssessed)) == before[0]


async def test_research_done_anew_neither_finds_nor_opens_it(assay: Assay, tmp_path: Path) -> None:
    run_id = await parent(assay, tmp_path)
    scenes = [
        sends(TIDE),
        calls(
            ("search", {"query": "mistral north-west Brest"}),
            ("open", {"documents": ["Winds"]}),
            task="research",
            turn=0,
        ),
        says("done", task="research", turn=1),
        says("Nothing about this was found.", task="find"),
        report_wanted(),
    ]
    model, log = await forked(assay, run_id, scenes, point="research", exclude=["Winds"])
    asked = requests(model, "research")
    assert "No document is called 'Winds'" in str(asked[-1])
    assert "blows" not in str(asked)
    assert "Winds" not in {event.source.title for event in log if isinstance(event, e.SourceAdded)}


async def test_the_planner_is_not_told_of_it(assay: Assay, tmp_path: Path) -> None:
    run_id = await parent(assay, tmp_path)
    model = Scripted([says(ONE_STEP, task="plan"), never()], profile=Profile(name="third"))
    assay._context.own_models["third"] = model
    made = await assay.fork(run_id, "plan", exclude=["Tides"], models=roles("third"))
    await until_planned(await assay.resume(made))
    (first, *_) = requests(model, "plan")
    assert not any("seven metres" in text for text in first.user_texts("background"))
    assert "without Tides (1 document): 1 document in scope." in first.user_texts("documents")[0]
    assert "Names: winds.md." in first.user_texts("documents")[0]


# what cannot be


async def test_what_cannot_be_forked_is_said(assay: Assay, tmp_path: Path) -> None:
    run_id = await parent(assay, tmp_path)
    with pytest.raises(UnknownName, match="no source named 'Storms'"):
        await assay.fork(run_id, "write", exclude=["Storms"])
    with pytest.raises(UnknownName, match="no source named '9'"):
        await assay.fork(run_id, "write", exclude=["9"])
    with pytest.raises(UnknownName, match="no run named"):
        await assay.fork("nosuch", "write")
    with pytest.raises(UsageError, match="a fork from write does no research"):
        await assay.fork(run_id, "write", add=[tmp_path / "tides.md"])
    with pytest.raises(UsageError, match="a fork from write keeps the findings"):
        await assay.fork(run_id, "write", plan="1. Tide\n")
    with pytest.raises(UsageError, match="a plan has 1 to"):
        await assay.fork(run_id, "plan", plan="title: Nothing\n")
    with pytest.raises(UsageError, match="--depth does not change a report"):
        await assay.fork(run_id, "write", depth="light")
    with pytest.raises(UsageError, match="fork from plan"):
        await assay.fork(run_id, "research", review_plan="required")
    assert [row.run_id for row in await assay.runs()] == [run_id]


async def test_a_run_that_has_not_ended_or_has_no_plan_is_not_forked(assay: Assay, tmp_path: Path) -> None:
    waiting = await assay.create(QUESTION, sources=tmp_path / "tides.md")
    with pytest.raises(UsageError, match=f"run {waiting} has not ended .created.*assay runs resume {waiting}"):
        await assay.fork(waiting, "plan")
    quick = assay.start(QUESTION, sources=tmp_path / "tides.md", mode="simple")
    await quick.report()
    with pytest.raises(UsageError, match="never made a plan"):
        await assay.fork(quick.run_id, "write")


async def test_a_run_that_ended_on_its_way_is_forked_from_where_it_came_to(assay: Assay, tmp_path: Path) -> None:
    assay._context.own_models["first"] = Scripted([*planned(), never()], profile=Profile(name="first"))
    run = assay.start(QUESTION, sources=tmp_path / "tides.md", models=roles("first"), checks_off=["judge"])
    await until_planned(run)
    with pytest.raises(UsageError, match=r"never reached write.*fork from plan or research"):
        await assay.fork(run.run_id, "write")
    made = await assay.fork(run.run_id, "research", models=roles("extractive"))
    assert "seven metres" in (await (await assay.resume(made)).report()).markdown
