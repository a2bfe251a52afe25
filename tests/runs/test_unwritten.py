"""Where no model can write the report, the cited findings are the report: in memory, on SQLite, and taken up again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from research import (
    BLEW,
    MISTRAL,
    ROSE,
    TIDE,
    Log,
    Sea,
    both_agents,
    planned,
    report_wanted,
    sends,
    stop_at,
    whole,
)
from sampling import crossed

from assay.cli.run_watch import exit_code
from assay.cli.terminal import Exit
from assay.core import events as e
from assay.core.messages import Reply
from assay.core.ports import World
from assay.core.ports.store import Store
from assay.core.sources import sha256
from assay.core.view import fold_events
from assay.models.script import Scene, Scripted, fails, says
from assay.phases.write import NOT_WRITTEN
from assay.store.memory import memory_store
from assay.store.sql import open_store

FINDINGS = f"## Tide at Brest\n\n{ROSE}\n\n## Winds of the mistral\n\n{BLEW}"
FAILING: dict[str, list[Scene]] = {
    "first token": [fails("broken", transient=False, task="write")],
    "midway": [fails("broken", transient=False, task="write", partial="It rises sev")],
    "always overloaded": [fails("overloaded", task="write", retry_after=0.0)] * 3,
    "empty": [says("", task="write"), says(" ", task="write")],
    "cut off twice": [Scene(answer=Reply(text="It rises", stop="length"), task="write")] * 2,
    "looping": [says("The tide rises at Brest by far. " * 5, task="write")] * 2,
}


def store(kind: str, folder: Path) -> Store:
    return memory_store() if kind == "memory" else open_store(folder)


def checked(log: Log) -> None:
    """The run ended with the findings, each of which is still cited, and says so."""
    assert log.written == FINDINGS
    assert log.last(e.ReportFinished).limits[0] == NOT_WRITTEN
    assert log.last(e.RunCompleted).stop_reason == "unwritten"
    assert {event.text.split(" [")[0] for event in log.of(e.ClaimFound)} == {ROSE[:-10], BLEW[:-10]}
    assert exit_code(fold_events(log.envelopes)) == Exit.LIMIT
    assert whole(log)


@pytest.mark.parametrize(("failing", "kind"), crossed(FAILING, ["memory", "sqlite"]))
async def test_the_findings_are_the_report(failing: str, kind: str, tmp_path: Path) -> None:
    sea = Sea(store=store(kind, tmp_path))
    try:
        checked(await sea.run([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), *FAILING[failing]]))
    finally:
        await sea.store.close()


@pytest.mark.parametrize("writer", FAILING.values(), ids=FAILING)
async def test_a_run_taken_up_inside_the_writer_ends_the_same(writer: list[Scene], tmp_path: Path) -> None:
    sea = Sea(store=store("sqlite", tmp_path))
    stuck = says(ROSE, task="write", partial="It ri", hang=asyncio.Event())
    first = Scripted([*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), stuck])
    handle = sea.start(first)
    await stop_at(handle, "report.delta")
    second = Scripted(writer)
    log = await sea.resume(handle.run_id, second)
    assert {request.task for request in second.requests} == {"write"}
    checked(log)
    await sea.store.close()


async def test_a_run_taken_up_after_the_writer_failed_does_not_ask_again(tmp_path: Path) -> None:
    sea = Sea(store=store("sqlite", tmp_path))
    scenes = [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), *FAILING["cut off twice"]]
    handle = sea.start(Scripted(scenes))
    await stop_at(handle, "report.revised")
    checked(await sea.resume(handle.run_id, Scripted([])))
    await sea.store.close()


class Doubled(Sea):
    """A sea with a second model."""

    def world(self, model: Scripted) -> World:
        made = super().world(model)
        return msgspec.structs.replace(made, models={**made.models, "second": SECOND})


SECOND = Scripted([says(ROSE, task="write")])


async def test_the_report_of_a_fallback_is_the_report() -> None:
    scenes = [*planned(), sends(TIDE, MISTRAL), *both_agents(), report_wanted(), *FAILING["midway"]]
    roles = dict.fromkeys(("simple", "analytical", "judge"), ("scripted",))
    log = await Doubled().run(scenes, models={**roles, "complex": ("scripted", "second")})
    text = fold_events(log.envelopes).report.text
    assert text.startswith(f"{ROSE}\n\n*As of ")
    assert log.last(e.ReportFinished).text_sha256 == sha256(text.encode())
    assert log.last(e.RunCompleted).stop_reason == "done"
