"""A server whose database went away: it says so without its address, and can still be scraped."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import postgres as servers
import pytest
from serving import PASSWORD, command, served

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="PostgreSQL is started")

TOKEN = "scrape-4711"
SECONDS = 9.0
"""Prometheus waits 10 by itself."""


@pytest.fixture
def database() -> Iterator[servers.Server]:
    """A server of this test's own, to be stopped."""
    found = servers.binaries()
    if found is None or servers.reason_to_skip():
        pytest.skip(servers.MISSING)
    server = servers.new_server(found)
    yield server
    server.remove()


async def test_metrics_are_read_and_probes_name_no_address(tmp_path: Path, database: servers.Server) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets" / "assay_server_metrics_token").write_text(f"{TOKEN}\n")
    home, log = tmp_path / "home", tmp_path / "log"
    named = {"ASSAY_DATABASE": database.url, "ASSAY_SECRETS": str(tmp_path / "secrets"), "ASSAY_LOG_FILE": str(log)}
    command(home, "users", "add", "ana", stdin=f"{PASSWORD}\n", **named)
    scraper = {"Authorization": f"Bearer {TOKEN}"}
    with served(home, **named) as server:
        async with server.client() as client:
            up = await client.get("/metrics", headers=scraper)
            assert up.status_code == 200
            assert "assay_store_up 1.0" in up.text
            assert 'assay_runs{status="running"} 0.0' in up.text
            assert (await client.get("/metrics", headers={"Authorization": "Bearer scrape"})).status_code == 401
            assert (await client.get("/api/v1/runs", headers=scraper)).status_code == 401
            database.stop()
            began = time.monotonic()
            away = await client.get("/metrics", headers=scraper)
            assert time.monotonic() - began < SECONDS
            assert away.status_code == 200
            assert "assay_store_up 0.0" in away.text
            assert "assay_runs{" not in away.text
            assert "process_cpu_seconds_total" in away.text
            probe = await client.get("/readyz")
            assert probe.status_code == 503
            assert probe.json() == {"status": "not ready", "why": "the database does not answer"}
            stranger = await client.get("/api/v1/runs", headers={"Authorization": "Bearer assay_no"})
            assert stranger.status_code == 503
            assert stranger.json()["detail"] == "the database does not answer"
            assert f":{database.port}" in log.read_text()
