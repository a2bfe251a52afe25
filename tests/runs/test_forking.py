"""Runs forked off others, at each point, by each strategy, in each store: what is taken over is free, and stays."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from assay import Assay, plugins, settings
from assay.core.brief import ForkPoint
from assay.core.difference import difference
from assay.core.errors import UnknownName
from assay.core.events import Envelope
from assay.core.messages import Delta, Profile, Reply, Request
from assay.core.ports import Access, Model
from assay.core.report import build_report
from assay.core.usage import Usage
from assay.core.view import RunView

NOTES = {
    "harbor.md": "# Harbor report\n\nAuthor: Ada Byron\n\nThe Harbor report was written by Ada Byron in 1843. "
    "It describes the harbor of Sandmouth.\n",
    "bridge.md": "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. It is 120 metres long.\n",
}
QUESTION = "Who wrote the Harbor report, and when was the bridge at Sandmouth opened?"
BEFORE = {
    "plan": ("triage", "background"),
    "research": ("triage", "background", "plan"),
    "write": ("triage", "background", "plan", "research"),
}
EARLY = {"triage", "background"}
ASKED: dict[str, set[str]] = {"plan": EARLY, "research": EARLY | {"plan"}, "write": EARLY | {"plan", "research"}}
POINTS: tuple[ForkPoint, ...] = ("plan", "research", "write")


class Counting:
    """The built-in model; what it was asked is counted here, outside of any store."""

    def __init__(self) -> None:
        self._inner: Model = plugins.load("models", "extractive")("", Access())
        self.asked: list[str] = []

    @property
    def profile(self) -> Profile:
        return self._inner.profile

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        self.asked.append(request.task)
        async for item in self._inner.stream(request):
            yield item

    async def close(self) -> None:
        await self._inner.close()


class Desk:
    """An Assay over a few notes, and the model which is asked there."""

    def __init__(self, folder: Path, strategy: str, store: str) -> None:
        self.notes, self.strategy = folder / "notes", strategy
        self.notes.mkdir()
        for name, text in NOTES.items():
            (self.notes / name).write_text(text)
        self.model = Counting()
        self.assay = Assay(
            settings.load(), home=folder / "home" if store == "sqlite" else None, models={"extractive": self.model}
        )

    async def run(self, **wanted: object) -> RunView:
        handle = self.assay.start(
            QUESTION, **{"sources": self.notes, "depth": "light", "strategy": self.strategy, **wanted}
        )  # type: ignore[arg-type]
        await handle.report()
        return await self.assay.view(handle.run_id)

    async def fork(self, run_id: str, point: ForkPoint, **changes: object) -> RunView:
        """The fork, executed to its end; the model has been asked for nothing else then."""
        made = await self.assay.fork(run_id, point, **changes)  # type: ignore[arg-type]
        self.model.asked.clear()
        handle = await self.assay.resume(made)
        await handle.report()
        return await self.assay.view(made)


BOTH = [("orchestrated", "sqlite"), ("reflective", "memory")]
REST = [("orchestrated", "memory"), ("reflective", "sqlite")]
OTHERS = [pytest.param(each, marks=pytest.mark.campaign) for each in REST]


@pytest.fixture(params=[*BOTH, *OTHERS], ids="-".join)
async def any_desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk, None]:
    made = Desk(tmp_path, *request.param)
    yield made
    await made.assay.close()


@pytest.fixture(params=BOTH, ids="-".join)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Desk, None]:
    made = Desk(tmp_path, *request.param)
    yield made
    await made.assay.close()


def kinds(log: list[Envelope], *without: str) -> list[str]:
    return [each.type for each in log if not each.type.startswith(without)]


async def test_what_came_before_is_taken_over_at_no_cost(desk: Desk) -> None:
    parent = await desk.run()
    before = await desk.assay.events(parent.run_id)
    for point in POINTS:
        await taken_over(desk, parent, before, point)


async def taken_over(desk: Desk, parent: RunView, before: list[Envelope], point: ForkPoint) -> None:
    """A fork from a point has what its parent came to before it, and asks for none of that."""
    fork = await desk.fork(parent.run_id, point)
    asked = Counter(desk.model.asked)
    assert not asked.keys() & ASKED[point]
    assert asked["write"] == 1
    assert fork.usage.total.model_calls == asked.total()
    assert fork.report.text == parent.report.text
    assert difference(build_report(parent, "none"), build_report(fork, "none")).is_empty

    log = await desk.assay.events(fork.run_id)
    assert [each.seq for each in log] == list(range(1, len(log) + 1))
    assert kinds(log)[:2] == ["run.created", "run.forked"]
    start = kinds(log).index("run.started")
    taken = [(each.type, each.path, bytes(each.data)) for each in log[2:start] if each.type != "model.attempted"]
    found = [(each.type, each.path, bytes(each.data)) for each in before]
    assert taken == [each for each in found if each in taken]
    assert {each.path[0] for each in log[2:start]} == set(BEFORE[point])
    assert not {"usage.updated", "run.started", "run.created"} & {kind for kind, _, _ in taken}
    assert "step.diverged" not in kinds(log)


async def test_it_stands_alone(any_desk: Desk) -> None:
    parent = await any_desk.run()
    forks = [await any_desk.assay.fork(parent.run_id, point) for point in POINTS]
    await any_desk.assay.delete(parent.run_id)
    for made in forks:
        await (await any_desk.assay.resume(made)).report()
        view = await any_desk.assay.view(made)
        assert view.report.text == parent.report.text
        assert view.verified
        (cited, *_) = await any_desk.assay.passage(made, 1)
        assert cited.passage.text in NOTES["harbor.md"] + NOTES["bridge.md"]
        again = await any_desk.assay.replay(made)
        assert (again.differences, again.same_report) == ((), True)
        await any_desk.assay.delete(made)  # nor does the next lean on this one


async def test_a_fork_is_forked_in_its_turn_at_an_earlier_point(desk: Desk) -> None:
    parent = await desk.run()
    first = await desk.fork(parent.run_id, "write")
    await desk.assay.delete(parent.run_id)
    for point in POINTS:
        second = await desk.fork(first.run_id, point)
        assert not set(desk.model.asked) & ASKED[point]
        assert second.report.text == parent.report.text
        assert second.brief is not None
        assert second.brief.fork is not None
        assert (second.brief.fork.run, second.brief.fork.point) == (first.run_id, point)
        assert (await desk.assay.replay(second.run_id)).is_same


async def test_research_done_anew_asks_no_search_twice_where_nothing_of_its_scope_changed(desk: Desk) -> None:
    parent = await desk.run()
    again = await desk.fork(parent.run_id, "research")
    assert parent.usage.total.searches > 0
    assert again.usage.total.searches == 0
    third = await desk.fork(again.run_id, "research")
    assert third.usage.total.searches == 0


async def test_added_documents_are_researched(desk: Desk, tmp_path: Path) -> None:
    parent = await desk.run()
    (tmp_path / "tower.md").write_text("# Tower\n\nThe bridge at Sandmouth was opened again in 1907 after a fire.\n")
    fork = await desk.fork(parent.run_id, "research", add=tmp_path / "tower.md")
    assert fork.brief is not None
    assert "(3 documents)" in fork.brief.scope.label
    assert "Tower" in {source.title for source in fork.sources.values()}
    assert "Tower" not in {source.title for source in parent.sources.values()}


async def test_a_plan_that_is_given_is_followed_and_nobody_is_asked_for_one(desk: Desk) -> None:
    parent = await desk.run()
    for point in ("plan", "research"):
        fork = await desk.fork(parent.run_id, point, plan="title: Bridge\n1. When the bridge at Sandmouth was opened\n")
        assert "plan" not in desk.model.asked
        assert fork.plan is not None
        assert fork.plan_approved_by == "user"
        assert [step.title for step in fork.plan.steps] == ["When the bridge at Sandmouth was opened"]
        assert "1851" in fork.report.text
    unplanned = await desk.fork(fork.run_id, "plan")
    assert "plan" in desk.model.asked
    assert unplanned.plan is not None
    assert parent.plan is not None
    assert [step.title for step in unplanned.plan.steps] == [step.title for step in parent.plan.steps]


async def test_its_limits_and_its_usage_are_its_own(desk: Desk) -> None:
    parent = await desk.run()
    spent = parent.usage.total.tokens
    fork = await desk.fork(parent.run_id, "write", max_tokens=max(4_000, spent // 2 + 1))
    assert fork.stop_reason == "done"
    assert Usage() != fork.usage.total != parent.usage.total
    assert fork.usage.total.tokens < spent
    assert (await desk.assay.find(fork.run_id)).active_seconds < 60


async def test_a_run_that_went_on_from_another_is_forked_when_that_is_gone(desk: Desk) -> None:
    first = await desk.run()
    handle = desk.assay.start(
        "How long is the bridge at Sandmouth?", continues=first.run_id, depth="light", strategy=desk.strategy
    )
    await handle.report()
    second = await desk.assay.view(handle.run_id)
    await desk.assay.delete(first.run_id)
    for point in POINTS:
        fork = await desk.fork(second.run_id, point)
        assert fork.report.text == second.report.text
    last = desk.assay.start("Who wrote the Harbor report?", continues=fork.run_id, depth="light")
    assert "Ada Byron" in (await last.report()).markdown


async def test_a_fork_takes_the_place_of_the_last_run_of_its_thread(desk: Desk) -> None:
    first = await desk.run(thread="sea")
    fork = await desk.fork(first.run_id, "write")
    assert (await desk.assay.find(fork.run_id)).thread == "sea"
    in_background = await desk.fork(first.run_id, "write")
    assert (await desk.assay.find(in_background.run_id)).thread == ""
    with pytest.raises(UnknownName):
        await desk.assay.find("sea")
