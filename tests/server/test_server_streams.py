"""Streams of events: taken up again wherever they broke, by whoever, and after the server was killed."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from fleet import scenes
from ports import free_port
from serving import TIDES, WAIT, Served, begun, frames, served, until

QUESTION = "How far does the tide rise?"


def played(folder: Path, **delays: int) -> dict[str, str]:
    """Settings of a server whose model plays a whole run, `delays` are milliseconds by task, and notes its calls."""
    script = folder / "scenes.json"
    script.write_text(json.dumps(scenes(folder / "calls.log", **delays)), encoding="utf-8")
    return {"ASSAY_MODEL": f"scripted:{script}", "ASSAY_SERVER_FOLDERS": str(folder / "documents")}


def wanted(folder: Path) -> dict[str, Any]:
    return {"mode": "deep_research", "scope": {"paths": [str(folder / "documents")]}}


def folder_of(base: Path) -> Path:
    (base / "documents").mkdir()
    (base / "documents" / "tides.md").write_text(TIDES)
    return base


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("streams"))


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Served]:
    with served(folder / "home", **played(folder, plan=200, find=200, write=200)) as server:
        yield server


@dataclass
class Dropping:
    """A client which loses its connection at random, `most` times, and puts the log together all the same."""

    chance: random.Random
    most: int
    seen: list[int] = field(default_factory=lambda: [0])
    drops: int = 0
    refused: int = 0

    async def read(self, client: httpx.AsyncClient, run: str) -> None:
        """Come back, by a header and by the query in turns, until the server says that there is no more."""
        while True:
            by = {"Last-Event-ID": str(self.seen[-1])} if self.drops % 2 else {}
            query = {} if by else {"after": self.seen[-1]}
            try:
                async with client.stream("GET", f"/api/v1/runs/{run}/events", headers=by, params=query) as stream:
                    if stream.status_code == 204:
                        return
                    await self._take(stream)
            except httpx.HTTPError:  # the server is gone: it comes back
                self.refused += 1
                await asyncio.sleep(0.05)

    async def _take(self, stream: httpx.Response) -> None:
        """Some events, or none for a while, and then no more of this connection."""
        assert stream.status_code == 200, await stream.aread()
        left = self.chance.choice((0, 0, 0, 1, 1, 2)) if self.drops < self.most else None
        patience = None if left is None else self.chance.uniform(0.05, 0.3)
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                async for frame in frames(stream):
                    if left == 0:
                        break
                    self.seen.append(int(frame.id))
                    left = None if left is None else left - 1
                    if left == 0:
                        break
        self.drops += patience is not None


async def test_three_clients_drop_300_times_and_the_server_dies_once_and_each_has_the_whole_log(tmp_path: Path) -> None:
    """They know the server by its address alone: killed and started again, it goes on with the run and the streams."""
    folder = folder_of(tmp_path)
    port, variables = str(free_port()), played(folder, plan=300, find=1000, write=300)
    clients = [Dropping(random.Random(seed), 100) for seed in range(3)]
    with served(folder / "home", "--port", port, **variables) as first:
        async with first.client() as client:
            run = await begun(client, QUESTION, **wanted(folder))
            reading = [asyncio.create_task(each.read(client, run)) for each in clients]
            await until_said(client, run, "agent.started")
            first.kill()
            with ExitStack() as stack:
                second = served(folder / "home", "--port", port, **variables)
                await asyncio.to_thread(stack.enter_context, second)  # the clients come back meanwhile, in vain
                async with asyncio.timeout(WAIT):
                    await asyncio.gather(*reading)
                last = (await until(client, run))["last_seq"]
                page = await client.get(f"/api/v1/runs/{run}/events", headers={"Accept": "application/json"})
    assert [each["seq"] for each in page.json()["events"]] == list(range(1, last + 1))
    assert "run.resumed" in {each["type"] for each in page.json()["events"]}
    assert [each.seen for each in clients] == [list(range(last + 1))] * 3
    assert [each.drops for each in clients] == [100] * 3
    assert any(each.refused for each in clients)
    calls = (folder / "calls.log").read_text().splitlines()
    assert sum("triage" in call for call in calls) == 1  # what was paid for is not paid for again


async def until_said(client: httpx.AsyncClient, run: str, type: str) -> None:
    async with client.stream("GET", f"/api/v1/runs/{run}/events", params={"types": type}) as stream:
        async for _ in frames(stream):
            return


async def test_a_run_whose_server_dies_as_it_is_begun_is_taken_up_by_the_next(tmp_path: Path) -> None:
    """It is stored and queued in one: what is answered, or stored at all, comes to an end."""
    folder = folder_of(tmp_path)
    variables = played(folder, triage=3000)
    with served(folder / "home", **variables) as first:
        async with first.client() as client:
            runs = [await begun(client, QUESTION, **wanted(folder))]
            begin = [asyncio.create_task(begun(client, f"{QUESTION} {n}", **wanted(folder))) for n in range(8)]
            while not any(each.done() for each in begin):
                await asyncio.sleep(0.001)
            first.kill()
            runs += [each for each in await asyncio.gather(*begin, return_exceptions=True) if isinstance(each, str)]
    assert len(runs) > 1
    with served(folder / "home", **played(folder)) as second:
        async with second.client() as client:
            stored = (await client.get("/api/v1/runs")).json()["runs"]
            assert {each["id"] for each in stored} >= set(runs)
            for each in stored:
                await until(client, each["id"])


async def test_a_stream_is_of_the_types_asked_for_and_tells_who_comes_too_late_to_stay_away(
    server: Served, folder: Path
) -> None:
    async with server.client() as client:
        run = await begun(client, QUESTION, **wanted(folder))
        path = f"/api/v1/runs/{run}/events"
        async with client.stream("GET", path, params={"types": "plan.*,run.completed"}) as stream:
            assert stream.headers["cache-control"] == "no-cache, no-transform"
            seen = [frame async for frame in frames(stream)]
        assert {frame.event.partition(".")[0] for frame in seen} == {"plan", "run"}
        assert seen[-1].event == "run.completed"
        late = await client.get(path, params={"after": seen[-1].id})
        assert (late.status_code, late.content) == (204, b"")
        head = await client.head(path)
        assert (head.status_code, head.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        future = await client.get(path, params={"after": 100_000})
        assert (future.status_code, future.json()["type"]) == (422, "urn:assay:problem:invalid")
        other = await client.get(path, headers={"Accept": "text/html"})
        assert other.status_code == 406


async def test_pages_of_events(server: Served, folder: Path) -> None:
    async with server.client(headers={"Accept": "application/json"}) as client:
        run = await begun(client, QUESTION, **wanted(folder))
        last = (await until(client, run))["last_seq"]
        seen, after = [], 0
        while after is not None:
            page = (await client.get(f"/api/v1/runs/{run}/events", params={"after": after, "limit": 7})).json()
            seen += [each["seq"] for each in page["events"]]
            after = page["next"]
        assert seen == list(range(1, last + 1))
