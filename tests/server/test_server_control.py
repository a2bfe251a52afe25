"""What a run's owner does to it over HTTP: answers it, reviews its plan, steers, pauses and ends it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from one_agent_script import RESEARCH, TIDE, one_agent
from serving import HASTY, TIDES, WAIT, Served, begun, served, until

PLAN: dict[str, Any] = {"title": "Brest", "steps": [{"title": "Tide at Brest"}, {"title": "Moon"}]}
ASKS, PLANS, WORKS = "Ask me first?", "Plan it?", "How far does the tide rise?"
THINKS = "Which agent thinks for ever?"
SCRIPT: list[dict[str, Any]] = [
    {"task": "triage", "contains": ASKS, "reply": {"text": "Which Brest?\nSpring tide?"}},
    {"task": "triage", "reply": {"calls": [{"name": "generate_plan", "arguments": {"complexity": "moderate"}}]}},
    {"task": "plan", "contains": THINKS, "reply": {"text": json.dumps(PLAN | {"steps": PLAN["steps"][:1]})}},
    {"task": "plan", "reply": {"text": json.dumps(PLAN)}},
    {"task": "orchestrate", "turn": 0, "contains": WORKS, "delay_ms": 600_000, "reply": {"calls": [RESEARCH]}},
    {"task": "find", "contains": THINKS, "delay_ms": 600_000, "reply": {"text": TIDE}},
    *one_agent(),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder: Path = tmp_path_factory.mktemp("controlled")
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    with served(folder / "home", program=HASTY, ASSAY_MODEL=f"scripted:{script}") as server:
        httpx.post(
            f"{server.url}/api/v1/collections/tides/documents?name=tides.md",
            content=TIDES.encode(),
            trust_env=False,
            timeout=WAIT,
        ).raise_for_status()
        yield server


WANTED: dict[str, Any] = {"mode": "deep_research", "scope": {"collections": ["tides"]}}


def code(answer: httpx.Response) -> str:
    return str(answer.json()["type"].removeprefix("urn:assay:problem:"))


async def test_a_run_waits_for_answers_and_goes_on_with_them(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, ASKS, ask="required", **WANTED)
        path = f"/api/v1/runs/{run}"
        shown = (await client.get(f"{path}?wait=60", timeout=90)).json()
        assert shown["status"] == "waiting"  # told as soon as it does
        assert (shown["waiting_for"], shown["questions"]) == ("answers", ["Which Brest?", "Spring tide?"])
        assert code(await client.post(f"{path}/plan/approve", json={})) == "wrong-state"
        assert code(await client.post(f"{path}/answers", json={"answers": ["a", "b", "c"]})) == "invalid"
        assert code(await client.post(f"{path}/answers", json={"answers": 5})) == "invalid"
        answered = await client.post(f"{path}/answers", json={"answers": {"Which Brest?": "the one in Brittany"}})
        assert answered.status_code == 202
        done = await until(client, run)
        assert done["answers"] == ["the one in Brittany", ""]
        assert code(await client.post(f"{path}/answers", json={"answers": ["late"]})) == "wrong-state"


async def test_a_run_that_was_cancelled_before_its_plan_has_none(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, ASKS, ask="required", **WANTED)
        path = f"/api/v1/runs/{run}"
        assert "ask again later" in (await client.get(f"{path}/plan")).json()["detail"]
        await client.post(f"{path}/cancel")
        await until(client, run, "cancelled")
        assert (await client.get(f"{path}/plan")).json()["detail"] == f"run {run} has no plan: it is cancelled"


async def test_a_plan_is_read_changed_and_approved(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, PLANS, review_plan="required", **WANTED)
        path = f"/api/v1/runs/{run}/plan"
        await until(client, run, "waiting")
        read = await client.get(path)
        plan, tag = read.json(), read.headers["etag"]
        assert plan["waits"]
        answered = await client.post(f"/api/v1/runs/{run}/answers", json={"answers": ["seven metres"]})
        assert answered.json()["detail"].endswith(
            f"not for answers: POST {path}/approve"
        )  # words of the API, no command
        assert [step["title"] for step in plan["plan"]["steps"]] == ["Tide at Brest", "Moon"]
        form = plan["form"].replace("Moon", "The moon's share")
        stale = await client.put(path, json={"form": form}, headers={"If-Match": '"another"'})
        assert (stale.status_code, code(stale)) == (412, "changed-meanwhile")
        assert code(await client.put(path, json={})) == "invalid"
        assert code(await client.put(path, json={"form": "no plan"})) == "invalid"
        assert (await client.put(path, json={"form": form}, headers={"If-Match": tag})).status_code == 202
        await until(client, run)
        after = (await client.get(path)).json()
        assert [step["title"] for step in after["plan"]["steps"]] == ["Tide at Brest", "The moon's share"]
        assert not after["waits"]
        assert code(await client.post(f"{path}/approve", json={})) == "wrong-state"


async def test_a_run_is_paused_resumed_and_steered(server: Served) -> None:
    async with server.client() as client:
        run = await begun(client, WORKS, **WANTED)
        path = f"/api/v1/runs/{run}"
        await until(client, run, "running")
        assert (await client.get(f"{path}?wait=0.1")).json()["status"] == "running"
        waited = asyncio.create_task(client.get(f"{path}?wait=60", timeout=90))
        paused = await client.post(f"{path}/pause")
        assert paused.json()["outcome"] in ("applied", "stored")  # a busy machine may take longer than an answer waits
        await until(client, run, "paused")
        assert (await waited).json()["status"] == "paused"
        assert code(await client.post(f"{path}/pause")) == "wrong-state"
        assert code(await client.post(f"{path}/steer", json={"text": ""})) == "invalid"
        steered = await client.post(f"{path}/steer", json={"text": "leave out the moon"})
        assert steered.json()["state"] == "accepted"  # it waits, as the run does
        assert (await client.post(f"{path}/resume")).status_code == 202
        await until(client, run, "running")
        assert (await client.post(f"{path}/finish")).json()["outcome"] in ("applied", "stored")
        shown = (await client.get(f"{path}?wait=60", timeout=90)).json()
        assert shown["status"] == "completed"
        assert [(each["text"], each["state"]) for each in shown["steering"]] == [("leave out the moon", "applied")]
        for action in ("cancel", "pause", "finish", "resume"):
            assert code(await client.post(f"{path}/{action}")) == "wrong-state"


async def test_a_run_is_cancelled_and_one_is_finished_early(server: Served) -> None:
    async with server.client() as client:
        run, other = await begun(client, WORKS, **WANTED), await begun(client, WORKS, **WANTED)
        await until(client, run, "running")
        assert code(await client.delete(f"/api/v1/runs/{run}")) == "held-elsewhere"
        assert (await client.post(f"/api/v1/runs/{run}/cancel")).json()["outcome"] in ("applied", "stored")
        await until(client, run, "cancelled")
        assert code(await client.get(f"/api/v1/runs/{run}/report")) == "wrong-state"
        assert (await client.delete(f"/api/v1/runs/{run}")).status_code == 204
        await until(client, other, "running")
        assert (await client.post(f"/api/v1/runs/{other}/finish")).json()["outcome"] in ("applied", "stored")
        assert (await until(client, other))["report_state"] == "finished"


@pytest.mark.parametrize("root", ["/api/v1/runs", "/runs"])
async def test_one_agent_is_stopped_and_the_run_comes_to_its_report(server: Served, root: str) -> None:
    """By a program, and by the button of the page."""
    async with server.client() as client:
        run = await begun(client, THINKS, **WANTED)
        path, finding = f"/api/v1/runs/{run}", False
        async with asyncio.timeout(60):
            while not finding:
                events = await client.get(
                    f"{path}/events?types=finding.started", headers={"Accept": "application/json"}
                )
                finding = bool(events.json()["events"])
        assert "Stop this agent" in (await client.get(f"/runs/{run}/activity")).text
        none = await client.post(f"{path}/agents/7/cancel")
        assert (none.status_code, code(none), "its agents: 1" in none.text) == (404, "unknown-name", True)
        stopped = await client.post(f"{root}/{run}/agents/1/cancel")
        if root == "/runs":
            assert stopped.status_code in (200, 303)
        else:
            assert (stopped.status_code, stopped.json()["id"]) == (200, run)
            assert stopped.json()["outcome"] in ("applied", "stored")  # as above
        assert (await until(client, run))["status"] == "completed"
        report = (await client.get(f"{path}/report")).text
        assert "the agent was stopped on request" in report
        late = await client.post(f"{path}/agents/1/cancel")
        assert (late.status_code, code(late)) == (409, "wrong-state")
