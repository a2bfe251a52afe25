"""What was made without a login, handed to the first user."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import httpx
import pytest
from accounts import session
from serving import HASTY, TIDE, TIDES, begun, command, served, until
from waiting import looked

from assay import Assay
from assay.services.schedules import ScheduleBook

PASSWORD = "correct horse battery of ana\n"


async def made_without_login(home: Path) -> str:
    """A run over an upload, a link to it, and a schedule; the run."""
    with served(home, program=HASTY, ASSAY_SEARCH_WEB="false") as server:
        async with server.client() as client:
            path = "/api/v1/collections/papers"
            assert (await client.post(f"{path}/documents?name=tides.md", content=TIDES.encode())).status_code == 201
            run = await begun(client, TIDE, thread="talk", scope={"collections": ["papers"]})
            await until(client, run)
            assert await found(client) == [run]
            assert (await client.post(f"/api/v1/runs/{run}/shares", json={})).status_code == 201
            schedule = {"every": "999d", "run": {"question": TIDE, "scope": {"collections": ["papers"]}}}
            assert (await client.post("/api/v1/schedules", json=schedule)).status_code == 201
            while len(every := await ids(client)) < 2:  # it is asked at once
                await asyncio.sleep(0.05)
            await until(client, every[0])
            await looked(lambda: client.get("/api/v1/runs"), left_alone)
    return run


def left_alone(answer: httpx.Response) -> bool:
    """Whether no process has any of these runs: one killed too early keeps what has ended for as long as its lease."""
    return not any(each["executed"] for each in answer.json()["runs"])


async def ids(client: httpx.AsyncClient) -> list[str]:
    """Runs, the newest first."""
    return [each["id"] for each in (await client.get("/api/v1/runs")).json()["runs"]]


async def found(client: httpx.AsyncClient) -> list[str]:
    """The runs which a search finds."""
    answer = await client.get("/api/v1/search/runs", params={"q": "tide"})
    return [each["run"]["id"] for each in answer.json()["runs"]]


async def test_the_first_user_gets_all_that_was_made_before(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run = await made_without_login(home)
    command(home, "users", "add", "ana", stdin=PASSWORD)
    planned = json.loads(command(home, "users", "adopt", "ana", "--dry-run", "--json"))
    assert run in command(home, "runs", "list")
    done = json.loads(command(home, "users", "adopt", "ana", "--yes", "--json"))
    assert done["schedules"] == planned["schedules"] == 1
    assert done["belongings"] == planned["belongings"]
    assert done["belongings"]["runs"] == 2
    assert done["belongings"]["collections"] == done["belongings"]["links"] == 1
    assert run not in command(home, "runs", "list")
    with served(home, program=HASTY, ASSAY_SEARCH_WEB="false") as server:
        async with session(server, "ana") as ana:
            assert (await ids(ana))[-1] == run
            assert run in await found(ana)
            assert len((await ana.get("/api/v1/schedules")).json()["schedules"]) == 1
            assert (await ana.get("/api/v1/threads/talk")).status_code == 200
            path = "/api/v1/collections/papers"
            assert (await ana.post(f"{path}/sync", json={})).status_code in (200, 202)
            (document,) = (await ana.get(f"{path}/documents")).json()["documents"]
            assert document["url"].endswith("/tides.md")
            other = await begun(ana, TIDE, thread="talk", scope={"collections": ["papers"]})
            assert (await until(ana, other))["summary"]["claims"] > 0
            asked = await ana.post(f"/api/v1/runs/{run}/ask", json={"question": "How far does the tide rise?"})
            assert asked.status_code in (200, 202), asked.text


async def test_killed_in_the_middle_and_said_again_it_ends_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    await made_without_login(home)
    (old,) = (home / "uploads").iterdir()
    command(home, "users", "add", "ana", stdin=PASSWORD)

    def killed(*_: object) -> int:
        raise KeyboardInterrupt

    async with Assay(home=home) as assay:
        with monkeypatch.context() as patched:
            patched.setattr(ScheduleBook, "transfer_to", killed)
            with pytest.raises(KeyboardInterrupt):
                await assay.adopt("", "ana")
        assert len(ScheduleBook(home, "").all()) == 1
        again = await assay.adopt("", "ana")
        assert (again.belongings.runs, again.schedules) == (0, 1)
        (new,) = (home / "uploads").iterdir()
        assert new != old
        assert [each.name for each in new.iterdir()] == ["tides.md"]
        mine = assay.owned_by("ana")
        assert [origin.place for origin in await mine.origins("papers")] == [str(new / "tides.md")]
        assert len(ScheduleBook(home, "ana").all()) == 1
