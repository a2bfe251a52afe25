"""Jobs over HTTP: begun, shown, ended, tried again; done by a worker beside the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accounts import assay
from serving import TIDES, Served, served


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
        assay(home, "worker", "--until-empty", "-q")
        done = (await client.get(f"/api/v1/jobs/{job}")).json()
        assert (done["state"], done["error"], done["seq"] > made.json()["seq"]) == ("done", "", True)
        assert (await client.post("/api/v1/jobs", json={"sync": "none"})).status_code == 422
        assert (await client.get("/api/v1/jobs/none")).status_code == 404
