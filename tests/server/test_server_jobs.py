"""Jobs over HTTP: begun, shown, ended, tried again; done by a worker beside the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accounts import accounts
from serving import TIDES, Served, command, served


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def server(home: Path) -> Iterator[Served]:
    with served(home) as server:
        yield server


async def test_a_job_is_begun_ended_tried_again_and_done_by_a_worker(server: Served, home: Path) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        made = await client.post("/api/v1/jobs", json={"sync": "tides"})
        assert made.status_code == 202, made.text
        job = made.json()["id"]
        assert (made.json()["state"], made.json()["name"]) == ("waiting", "sync tides")
        assert [each["id"] for each in (await client.get("/api/v1/jobs")).json()["jobs"]] == [job]
        assert (await client.post(f"/api/v1/jobs/{job}/cancel")).json()["state"] == "cancelled"
        again = await client.post(f"/api/v1/jobs/{job}/retry")
        assert again.json()["state"] == "waiting"
        refused = await client.post(f"/api/v1/jobs/{job}/retry")
        assert refused.status_code == 422
        assert "waiting" in refused.json()["detail"]
        command(home, "worker", "--until-empty", "-q")
        done = (await client.get(f"/api/v1/jobs/{job}")).json()
        assert (done["state"], done["error"], done["seq"] > made.json()["seq"]) == ("done", "", True)
        assert (await client.post("/api/v1/jobs", json={"sync": "none"})).status_code == 422
        assert (await client.get("/api/v1/jobs/none")).status_code == 404


async def test_a_user_begins_no_more_jobs_than_he_may(home: Path) -> None:
    accounts(home, ana="admin", bob="member")
    headers = {name: {"Authorization": f"Bearer {command(home, 'users', 'token', name)}"} for name in ("ana", "bob")}
    with served(home, ASSAY_LIMITS_USER_RUNS_AT_ONCE="2", ASSAY_SERVER_RUNS_PER_HOUR="4") as server:
        async with server.client(headers=headers["ana"]) as ana, server.client(headers=headers["bob"]) as bob:
            for client in (ana, bob):
                await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            made = [await ana.post("/api/v1/jobs", json={"sync": "tides"}) for _ in range(2)]
            assert [each.status_code for each in made] == [202, 202]
            refused = await ana.post("/api/v1/jobs", json={"sync": "tides"})
            assert (refused.status_code, refused.json()["type"]) == (429, "urn:assay:problem:too-many")
            assert "2 at once are allowed (limits.user_runs_at_once)" in refused.json()["detail"]
            assert "POST /api/v1/jobs/ID/cancel" in refused.json()["detail"]
            assert (await bob.post("/api/v1/jobs", json={"sync": "tides"})).status_code == 202
            first = made[0].json()["id"]
            await ana.post(f"/api/v1/jobs/{first}/cancel")
            third = await ana.post("/api/v1/jobs", json={"sync": "tides"})
            assert third.status_code == 202  # the one which was refused did not count
            assert (await ana.post(f"/api/v1/jobs/{first}/retry")).status_code == 429
            await ana.post(f"/api/v1/jobs/{third.json()['id']}/cancel")
            assert (await ana.post(f"/api/v1/jobs/{first}/retry")).status_code == 200
            await ana.post(f"/api/v1/jobs/{first}/cancel")
            spent = await ana.post("/api/v1/jobs", json={"sync": "tides"})
            assert spent.status_code == 429
            assert "4 runs and jobs an hour" in spent.json()["detail"]
            assert int(spent.headers["retry-after"]) > 0
