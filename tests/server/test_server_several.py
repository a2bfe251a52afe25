"""Two servers over one PostgreSQL: what is begun, watched, steered and answered at one of them is so at the other."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import warm
from one_agent_script import RESEARCH, TIDE, one_agent
from serving import HASTY, TIDES, Served, begun, environment, frames, served, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are killed")

PLAN = {"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "Moon"}]}
ASKS, SLOW, DYING = "Ask me first?", "Take your time?", "Who survives?"
SCRIPT: list[dict[str, Any]] = [
    {"task": "triage", "contains": ASKS, "reply": {"text": "Which Brest?"}},
    {"task": "triage", "reply": {"calls": [{"name": "generate_plan", "arguments": {"complexity": "moderate"}}]}},
    {"task": "plan", "reply": {"text": json.dumps(PLAN)}},
    {"task": "orchestrate", "turn": 0, "contains": SLOW, "delay_ms": 60_000, "reply": {"calls": [RESEARCH]}},
    {"task": "orchestrate", "turn": 0, "contains": DYING, "delay_ms": 3_000, "reply": {"calls": [RESEARCH]}},
    {"task": "find", "delay_ms": 300, "reply": {"text": TIDE}},
    {"task": "write", "delay_ms": 300, "reply": {"text": TIDE}},
    *one_agent(),
]
LEASE = 50.0
"""Seconds: what another server takes up before that, it took from a process which it knows to be dead."""


@dataclass
class Site:
    """Servers, each with a home of its own, as on machines of their own; a database and a folder are everybody's."""

    folder: Path
    database: str
    stack: ExitStack

    @property
    def shared(self) -> dict[str, str]:
        return {
            "ASSAY_MODEL": f"scripted:{self.folder / 'script.json'}",
            "ASSAY_DATABASE": self.database,
            "ASSAY_BLOBS": str(self.folder / "blobs"),
            "ASSAY_WORKERS_LEASE": str(LEASE),
        }

    def server(self, name: str, slots: int = 4) -> Served:
        home = self.folder / name / "home"
        home.parent.mkdir(exist_ok=True)
        return self.stack.enter_context(served(home, program=HASTY, **self.shared, ASSAY_WORKERS_SLOTS=str(slots)))

    def command(self, *arguments: str, typed: str) -> subprocess.CompletedProcess[str]:
        (self.folder / "asking").mkdir(exist_ok=True)
        found = self.folder / "typed"
        found.write_text(typed)
        with found.open("rb") as stdin:
            home = self.folder / "asking" / "home"
            return warm.run(*arguments, env=environment(home, **self.shared), stdin=stdin)


@pytest.fixture
def site(tmp_path: Path, new_database: Callable[[], str]) -> Iterator[Site]:
    (tmp_path / "script.json").write_text(json.dumps(SCRIPT), encoding="utf-8")
    with ExitStack() as stack:
        yield Site(tmp_path, new_database(), stack)


async def tides(client: httpx.AsyncClient) -> dict[str, Any]:
    """What a run over an uploaded document asks for."""
    answer = await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
    answer.raise_for_status()
    return {"mode": "deep_research", "scope": {"collections": ["tides"]}}


async def watched(server: Served, run: str, after: int = 0, last: str = "") -> list[dict[str, Any]]:
    """The events of a run behind a number until its stream ends, or one of the type `last` has come."""
    found: list[dict[str, Any]] = []
    async with server.client() as client, client.stream("GET", f"/api/v1/runs/{run}/events?after={after}") as stream:
        assert stream.status_code == 200, await stream.aread()
        async for frame in frames(stream):
            found.append(frame.json)
            if frame.json["type"] == last:
                break
    return found


async def test_a_run_is_watched_live_at_both_servers_whichever_executes_it(site: Site) -> None:
    one, two = site.server("one"), site.server("two")
    async with one.client() as first, two.client() as second:
        wanted = await tides(first)
        runs = [await begun(client, f"How far? {n}", **wanted) for n, client in enumerate((first, second))]
        seen = await asyncio.gather(*(watched(server, run) for run in runs for server in (one, two)))
        for run, at_one, at_two in ((runs[0], *seen[:2]), (runs[1], *seen[2:])):
            last = (await until(first, run))["last_seq"]
            assert [event["seq"] for event in at_one] == list(range(1, last + 1))
            assert at_two == at_one
        held = await begun(first, SLOW, **wanted)  # what is heard of it is heard while it goes on
        heard = await asyncio.gather(*(watched(server, held, last="plan.proposed") for server in (one, two)))
        assert heard[0] == heard[1]
        assert (await second.get(f"/api/v1/runs/{held}")).json()["status"] == "running"
        await first.post(f"/api/v1/runs/{held}/cancel")
        await until(second, held, "cancelled")
        assert len((await second.get("/api/v1/runs")).json()["runs"]) == 3


async def test_what_one_server_executes_the_other_answers_steers_and_ends(site: Site) -> None:
    one, two = site.server("one"), site.server("two")
    async with one.client() as first, two.client() as second:
        wanted = await tides(first)
        asking = await begun(first, ASKS, ask="required", **wanted)
        await until(second, asking, "waiting")
        answers = await second.post(f"/api/v1/runs/{asking}/answers", json={"answers": ["the one in Brittany"]})
        assert answers.status_code == 202, answers.text
        assert (await until(first, asking))["answers"] == ["the one in Brittany"]

        slow = await begun(second, SLOW, **wanted)
        await until(first, slow, "running")
        steered = await first.post(f"/api/v1/runs/{slow}/steer", json={"text": "leave out the moon"})
        assert steered.json()["state"] in {"accepted", "applied"}, steered.text  # applied: before the first cycle asked
        shown = (await second.get(f"/api/v1/runs/{slow}")).json()
        assert [each["text"] for each in shown["steering"]] == ["leave out the moon"]
        watching = asyncio.create_task(watched(one, slow, shown["last_seq"]))
        for client in (first, second):  # whichever does not execute it is one of them
            paused = await client.post(f"/api/v1/runs/{slow}/pause")
            assert paused.status_code == 200, paused.text
            await until(client, slow, "paused")
            assert (await client.post(f"/api/v1/runs/{slow}/resume")).status_code == 202
            await until(client, slow, "running")
        assert (await first.post(f"/api/v1/runs/{slow}/cancel")).json()["outcome"] in ("applied", "stored")
        assert (await watching)[-1]["type"] == "run.cancelled"
        assert (await second.get(f"/api/v1/runs/{slow}")).json()["status"] == "cancelled"


async def test_the_same_request_is_done_once_at_whichever_server_it_comes(site: Site) -> None:
    one, two = site.server("one"), site.server("two")
    async with one.client() as first, two.client() as second:
        body = {"question": "How far?", **await tides(first)}
        key = {"Idempotency-Key": '"4711"'}
        runs = [(await client.post("/api/v1/runs", json=body, headers=key)).json()["id"] for client in (first, second)]
        assert runs[0] == runs[1]
        other = await second.post("/api/v1/runs", json={**body, "question": "How deep?"}, headers=key)
        assert other.status_code == 422


async def test_a_killed_servers_run_and_its_streams_go_on_at_the_other(site: Site) -> None:
    one = site.server("one")
    async with one.client() as first:
        wanted = await tides(first)
        run = await begun(first, DYING, **wanted)
        await until(first, run, "running")  # there is no other server yet: this one has it
        two = site.server("two")
        elsewhere = asyncio.create_task(watched(two, run))
        seen: list[int] = []
        with suppress(httpx.HTTPError):  # it breaks, or just ends
            async with first.stream("GET", f"/api/v1/runs/{run}/events") as stream:
                async for frame in frames(stream):
                    seen.append(int(frame.id))
                    if frame.event == "plan.proposed":
                        one.kill()
        started = time.monotonic()
        whole = await elsewhere
        assert time.monotonic() - started < LEASE
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert whole[-1]["type"] == "run.completed"
    assert "run.resumed" in {event["type"] for event in whole}
    rest = [event["seq"] for event in await watched(two, run, seen[-1])]
    assert seen + rest == list(range(1, len(whole) + 1))


async def test_who_logged_in_at_one_server_is_logged_in_at_the_other(site: Site) -> None:
    for name, role in (("ana", "admin"), ("bob", "member")):
        added = site.command("users", "add", name, "--role", role, typed="long enough 4711\n")
        assert added.returncode == 0, added.stderr
    one, two = site.server("one"), site.server("two")
    async with one.client() as first, two.client() as second:
        assert (await second.get("/api/v1/runs")).status_code == 401
        login = await first.post("/api/v1/auth/login", json={"name": "ana", "password": "long enough 4711"})
        assert login.status_code == 200, login.text
        session = {"Cookie": login.headers["set-cookie"].partition(";")[0]}
        assert (await second.get("/api/v1/auth/me", headers=session)).json()["name"] == "ana"
        assert (await second.post("/api/v1/auth/logout", headers=session)).is_success
        assert (await first.get("/api/v1/auth/me", headers=session)).status_code == 401
