"""What admins see of all users: numbers and names, and nothing of what was asked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from accounts import accounts
from serving import HASTY, TIDES, Served, begun, command, served, until
from waiting import looked

QUESTION = "Which zebra is striped at Brest?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("overseen") / "home", ana="admin", bob="member")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, program=HASTY, ASSAY_SERVER_RUNS_PER_HOUR="30", ASSAY_LIMITS_USER_RUNS_PER_DAY="40") as server:
        yield server


async def test_usage_and_runs_of_all_are_an_admins_to_see(server: Served, home: Path) -> None:
    admin = {"Authorization": f"Bearer {command(home, 'users', 'token', 'ana', '--scope', 'admin', '--scope', 'read')}"}
    member = {"Authorization": f"Bearer {command(home, 'users', 'token', 'bob')}"}
    async with server.client(headers=admin) as ana, server.client(headers=member) as bob:
        await bob.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(bob, QUESTION, scope={"collections": ["tides"]}, thread="zebras")
        await until(bob, run)
        used = (await bob.get(f"/api/v1/runs/{run}/usage")).json()["usage"]["total"]
        for path in ("usage", "runs", "audit", "queue"):
            assert (await bob.get(f"/api/v1/admin/{path}")).status_code == 403

        answer = await ana.get("/api/v1/admin/usage")
        [row] = answer.json()["usage"]
        today = datetime.now(UTC).date()
        assert row["day"] in (today.isoformat(), (today - timedelta(days=1)).isoformat())
        assert (row["user"], row["model"], row["runs"]) == ("bob", "extractive", 1)
        for name in ("model_calls", "input_tokens", "output_tokens"):
            assert row[name] == used[name] > 0
        limits = answer.json()["limits"]
        assert (limits["requests_per_minute"], limits["runs_per_hour"], limits["runs_per_day"]) == (600, 30, 40)
        assert limits["usd_per_day"] is None
        assert (await ana.get("/api/v1/admin/usage?user=ana")).json()["usage"] == []
        assert (await ana.get("/api/v1/admin/usage?until=2020-01-01")).json()["usage"] == []

        async def look() -> Any:
            return (await ana.get("/api/v1/admin/queue")).json()

        queue = await looked(look, lambda queue: not queue["depth"]["executed"])  # it is let go of when it has ended
        assert queue == {"depth": {"waiting": 0, "executed": 0, "parked": 0}, "oldest": "", "workers": []}

        runs = await ana.get("/api/v1/admin/runs")
        [shown] = runs.json()["runs"]
        assert (shown["id"], shown["user"], shown["status"], shown["executed"]) == (run, "bob", "completed", False)
        assert "zebra" not in runs.text
        assert "zebra" not in answer.text
        assert (await ana.get("/api/v1/admin/runs?q=zebra")).status_code == 422
        assert (await ana.get("/api/v1/admin/runs?status=failed")).json()["runs"] == []
        assert (await ana.get("/api/v1/admin/runs?user=ana")).json()["runs"] == []
        assert (await ana.get(f"/api/v1/runs/{run}")).status_code == 404  # what it is about stays bob's

        second = await begun(bob, QUESTION)
        page = (await ana.get("/api/v1/admin/runs?limit=1")).json()
        assert [each["id"] for each in page["runs"]] == [second]
        rest = (await ana.get("/api/v1/admin/runs", params={"cursor": page["next"]})).json()
        assert [each["id"] for each in rest["runs"]] == [run]


async def test_one_users_limits_are_an_admins_to_set(server: Served, home: Path) -> None:
    admin = {"Authorization": f"Bearer {command(home, 'users', 'token', 'ana', '--scope', 'admin', '--scope', 'read')}"}
    command(home, "users", "add", "cleo", stdin="correct horse battery\n")
    member = {"Authorization": f"Bearer {command(home, 'users', 'token', 'cleo')}"}
    async with server.client(headers=admin) as ana, server.client(headers=member) as cleo:
        path = "/api/v1/admin/limits/cleo"
        assert (await cleo.put(path, json={"runs_per_day": None})).status_code == 403
        assert (await ana.put("/api/v1/admin/limits/nobody", json={})).status_code == 404
        for wrong in ({"runs_per_hour": 0}, {"usd_per_day": -1}, {"pages": 1}):
            assert (await ana.put(path, json=wrong)).status_code == 422
        answer = await ana.put(path, json={"runs_per_day": 1, "runs_per_hour": None, "requests_per_minute": 7})
        assert answer.json()["given"] == ["requests_per_minute", "runs_per_day", "runs_per_hour"]
        limits = answer.json()["limits"]
        assert (limits["runs_per_day"], limits["runs_per_hour"], limits["runs_at_once"]) == (1, None, None)
        assert (await ana.get("/api/v1/admin/limits")).json()["users"] == [answer.json()]

        assert (await cleo.get("/api/v1/limits")).json()["limits"]["runs_per_day"] == 1
        first = await cleo.post("/api/v1/runs", json={"question": QUESTION})
        assert first.headers["ratelimit-policy"] == '"requests";q=7;w=60'
        second = await cleo.post("/api/v1/runs", json={"question": QUESTION})
        assert (first.status_code, second.status_code) == (202, 429)
        assert "user_runs_per_day" in second.json()["detail"]

        await ana.put(path, json={"runs_per_day": 1})
        schedule = {"every": "7d", "run": {"question": QUESTION}}
        made = (await cleo.post("/api/v1/schedules", json=schedule)).json()

        async def listed() -> Any:
            return (await cleo.get("/api/v1/schedules")).json()["schedules"]

        [due] = await looked(listed, lambda every: every[0]["next_at"] != made["next_at"])
        assert due["next_at"] > made["next_at"]  # it was due, and refused
        assert (due["runs"], due["current"]) == ([], "")
        assert len((await cleo.get("/api/v1/runs")).json()["runs"]) == 1

        assert (await ana.delete(path)).status_code == 204
        assert (await ana.get("/api/v1/admin/limits")).json()["users"] == []
        again = await cleo.get("/api/v1/limits")
        assert again.json()["limits"]["runs_per_day"] == 40
        assert again.headers["ratelimit-policy"] == '"requests";q=600;w=60'

        await ana.put(path, json={"runs_per_day": 1})
        command(home, "users", "rm", "cleo")

        async def limited() -> Any:
            return (await ana.get("/api/v1/admin/limits")).json()["users"]

        assert not await looked(limited, lambda users: not users), "the limits of a user stay when he goes"
