"""A completed run is computed again from its steps, whatever strategy and store; what has changed is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from chat_server import Answer, call, chat_server, chunk, fault, says
from sampling import crossed

from assay import Assay, settings
from assay.core.errors import UsageError
from assay.core.messages import ModelFacts
from assay.core.ports import Commit
from assay.settings import Settings
from assay.store.sql import open_store

NOTES = {
    "harbor.md": "# Harbor report\n\nAuthor: Ada Byron\n\nThe Harbor report was written by Ada Byron in 1843. "
    "It describes the harbor of Sandmouth.\n",
    "bridge.md": "# Bridge report\n\nThe bridge at Sandmouth was opened in 1851. It is 120 metres long.\n",
}
QUESTION = "Who wrote the Harbor report, and when was the bridge at Sandmouth opened?"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    return folder


async def _run(assay: Assay, notes: Path, **wanted: str) -> str:
    handle = assay.start(QUESTION, sources=notes, depth="light", **wanted)
    await handle.report()
    return handle.run_id


@pytest.mark.parametrize(("strategy", "stored"), crossed(["orchestrated", "reflective"], [True, False]))
async def test_a_replay_gives_the_same_report_and_asks_nothing(
    notes: Path, tmp_path: Path, strategy: str, stored: bool
) -> None:
    async with Assay(settings.load(), home=tmp_path / "home" if stored else None) as assay:
        run_id = await _run(assay, notes, strategy=strategy)
        before = await assay.events(run_id)
        found = await assay.replay(run_id)
        assert (found.differences, found.same_report) == ((), True)
        assert found.events > 20
        assert found.steps > 10
        assert await assay.events(run_id) == before


async def test_a_step_that_is_missing_is_named_and_not_done(notes: Path, tmp_path: Path) -> None:
    async with Assay(settings.load(), home=tmp_path / "home") as assay:
        run_id = await _run(assay, notes)
    await _alter(tmp_path / "home", run_id, "ask-write", input_hash="other")
    async with Assay(settings.load(), home=tmp_path / "home") as assay:
        found = await assay.replay(run_id)
    assert not found.same_report or found.differences
    assert "ask-write" in found.differences[0]
    assert "was asked otherwise" in found.differences[0]


async def test_another_reply_gives_another_report(notes: Path, tmp_path: Path) -> None:
    async with Assay(settings.load(), home=tmp_path / "home") as assay:
        run_id = await _run(assay, notes)
    await _alter(tmp_path / "home", run_id, "ask-write", data=("1851", "1852"))
    async with Assay(settings.load(), home=tmp_path / "home") as assay:
        found = await assay.replay(run_id)
    assert found.differences
    assert not found.same_report


async def _alter(home: Path, run_id: str, name: str, *, input_hash: str = "", data: tuple[str, str] = ("", "")) -> None:
    """Change one stored step of an ended run, as a fault of the disk or a hand might."""
    store = open_store(home)
    memory = await store.journal.load(run_id)
    [step] = [step for step in memory.steps.values() if f":{name}:" in step.key]
    altered = msgspec.structs.replace(
        step,
        input_hash=input_hash or step.input_hash,
        data=step.data.replace(data[0].encode(), data[1].encode()) if data[0] else step.data,
    )
    lease = await store.journal.acquire(run_id, "a hand", 5.0)
    await store.journal.commit(lease, Commit(steps=(altered,)))
    await store.journal.release(lease)
    await store.close()


async def test_only_a_completed_run_is_replayed(notes: Path) -> None:
    async with Assay(settings.load()) as assay:
        run_id = await assay.create(QUESTION, sources=notes)
        with pytest.raises(UsageError, match="created: only a completed run"):
            await assay.replay(run_id)


REFUSED = fault(400, "This model's maximum context length is 2048 tokens. However, you requested 6000 tokens.")
SEARCHED = call(0, json.dumps({"query": "Harbor report"}), id="c1", name="search")
SEARCHES = Answer([chunk(SEARCHED), chunk({}, "tool_calls")])


async def test_a_window_that_a_refusal_names_is_learnt_again_from_the_stored_refusal(notes: Path, tmp_path: Path):
    with chat_server(says("")) as server:

        async def decide(body: dict[str, Any]) -> Answer:
            called = any(message["role"] == "tool" for message in body["messages"])
            searches = "search" in [tool["function"]["name"] for tool in body.get("tools", ())] and not called
            return REFUSED if len(server.requests) == 1 else SEARCHES if searches else says("Ada Byron wrote it.")

        server.decide = decide
        configured = Settings(search={"offline": True}, services={"mine": {"url": server.url}}, model=("mine:m",))
        async with Assay(configured, home=tmp_path / "home") as assay:
            run_id = await _run(assay, notes)
            asked = [each["max_tokens"] for each in server.requests]
            assert asked[0] > 2_048 // 4 >= asked[2], "a quarter of the window"
            assert asked.count(asked[0]) <= 2, "the second is the first again, shortened"
            assert (await assay.replay(run_id)).differences == ()
            later = (await assay.view(await assay.create(QUESTION, sources=notes))).brief
            assert later
            assert later.facts == {"mine:m": ModelFacts(window=2_048)}, "it is known to the next run of this process"
        async with Assay(configured, home=tmp_path / "home") as assay:
            assert (await assay.replay(run_id)).differences == ()
        assert len(server.requests) == len(asked)
