"""Links to reports: read without login, and nothing else with them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from accounts import accounts, code, session
from serving import Served, begun, command, served, until

from assay.services.stored_runs import SHARES_PATH

TIDES = "# Tides\n\nThe tide at Brest rises <script>alert(1)</script> seven metres. It turns twice a day.\n"
TIDE = "How far does the tide at Brest rise? <script>alert(2)</script>"
GONE = "this link leads nowhere: it is none, was revoked, or has expired"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("shares") / "home", ana="admin", bob="member")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_SEARCH_WEB="false", ASSAY_LOG_LEVEL="debug", ASSAY_LOG_STDERR="true") as server:
        yield server


@pytest.fixture(scope="module")
def run(server: Served) -> str:
    async def made() -> str:
        async with session(server, "bob") as bob:
            await bob.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            run = await begun(bob, TIDE, scope={"collections": ["tides"]}, labels={"client": "Contoso"})
            await until(bob, run)
            return run

    return asyncio.run(made())


async def shared(server: Served, run: str, **body: object) -> tuple[str, str]:
    """The id of a new link, and its path."""
    async with session(server, "bob") as bob:
        made = await bob.post(f"/api/v1/runs/{run}/shares", json=body)
        assert made.status_code == 201, made.text
        url = str(made.json()["url"])
        assert url.startswith(server.url + SHARES_PATH)
        return str(made.json()["share"]["id"]), url.removeprefix(server.url)


async def test_whoever_has_a_link_reads_the_report_and_nothing_else(server: Served, run: str) -> None:
    _, path = await shared(server, run)
    assert len(path) > 40
    async with server.client() as client:
        page = await client.get(path, headers={"Accept": "text/html,*/*;q=0.8"})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "seven metres" in page.text
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
        assert "no-store" in page.headers["cache-control"]
        assert page.headers["x-robots-tag"] == "noindex"
        assert "set-cookie" not in page.headers
        assert "<script>alert" not in page.text
        data = await client.get(path, headers={"Accept": "application/json"})
        assert data.json()["question"] == TIDE
        assert "Contoso" not in data.text + page.text
        assert "bob" not in data.text + page.text
        assert (await client.get(path, headers={"Accept": "image/png"})).status_code == 406
        assert (await client.head(path)).status_code == 200
        for method in ("POST", "PUT", "PATCH", "DELETE"):
            assert (await client.request(method, path)).status_code == 401
        for beyond in (f"{path}/events", f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/report", f"{path}/.."):
            assert (await client.get(beyond)).status_code in (401, 404), beyond
        bearer = {"Authorization": f"Bearer {path.removeprefix(SHARES_PATH)}"}
        assert (await client.get("/api/v1/runs", headers=bearer)).status_code == 401


async def test_a_revoked_link_an_expired_one_and_none_are_answered_the_same(server: Served, run: str) -> None:
    id, revoked = await shared(server, run)
    _, expired = await shared(server, run, days=0.5 / 86_400)
    async with session(server, "bob") as bob, session(server, "ana") as ana, server.client() as client:
        assert [await client.get(revoked), (await client.get(revoked)).status_code][1] == 200
        listed = (await bob.get(f"/api/v1/runs/{run}/shares")).json()["shares"]
        assert id in [each["id"] for each in listed]
        assert revoked.removeprefix(SHARES_PATH) not in json.dumps(listed)
        assert (await ana.delete(f"/api/v1/runs/{run}/shares/{id}")).status_code == 404
        assert (await bob.delete(f"/api/v1/runs/{run}/shares/{id}")).status_code == 204
        assert (await bob.delete(f"/api/v1/runs/{run}/shares/{id}")).status_code == 404
        await asyncio.sleep(0.6)
        answers = [await client.get(path) for path in (revoked, expired, f"{SHARES_PATH}none", f"{SHARES_PATH}%00%ff")]
        assert {(each.status_code, each.json()["detail"]) for each in answers} == {(404, GONE)}
        assert len({each.text for each in answers}) == 1
        for days in (0, -1, 1e9, "x"):
            assert code(await bob.post(f"/api/v1/runs/{run}/shares", json={"days": days})) == "invalid"


async def test_a_link_ends_with_its_run_and_with_its_user(server: Served) -> None:
    async with session(server, "ana") as ana, server.client() as client:
        await ana.post("/api/v1/users", json={"name": "cleo", "password": "correct horse battery of cleo"})
        async with session(server, "cleo") as cleo:
            await cleo.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            paths = []
            for _ in range(2):
                run = await begun(cleo, TIDE, scope={"collections": ["tides"]})
                await until(cleo, run)
                made = (await cleo.post(f"/api/v1/runs/{run}/shares", json={})).json()
                paths.append(made["url"].removeprefix(server.url))
                assert (await client.get(paths[-1])).status_code == 200
            assert (await cleo.delete(f"/api/v1/runs/{run}")).status_code == 204
            assert (await client.get(paths[1])).status_code == 404
        assert (await ana.delete("/api/v1/users/cleo")).status_code == 204
        assert (await client.get(paths[0])).status_code == 404


async def test_the_secret_is_stored_hashed_and_in_no_log(server: Served, home: Path, run: str) -> None:
    _, path = await shared(server, run)
    async with server.client() as client:
        assert (await client.get(path)).status_code == 200
        assert (await client.post(path)).status_code == 401
    secret = path.removeprefix(SHARES_PATH)
    stored = sqlite3.connect(home / "assay.db")
    assert stored.execute("SELECT count(*) FROM shares").fetchone()[0] > 0
    assert not [line for line in stored.iterdump() if secret in line]
    assert secret not in server.output()


async def test_links_are_made_and_revoked_by_the_command(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with served(home, ASSAY_SEARCH_WEB="false") as server:
        async with server.client() as client:
            await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
            run = await begun(client, TIDE, scope={"collections": ["tides"]})
            await until(client, run)
            url = command(home, "runs", "share", run, "--days", "2", "--url", f"{server.url}/").strip()
            assert (await client.get(url)).status_code == 200
            [link] = json.loads(command(home, "runs", "share", run, "--list", "--json"))
            assert link["expires"] > link["created"]
            command(home, "runs", "share", "last", "--revoke", link["id"])
            assert (await client.get(url)).status_code == 404
            assert json.loads(command(home, "runs", "share", run, "--list", "--json")) == []
            assert command(home, "runs", "share", run).startswith("http://127.0.0.1:8484/s/")


async def test_links_may_be_forbidden(tmp_path: Path) -> None:
    with served(tmp_path / "home", ASSAY_SERVER_SHARES="false") as server:
        async with server.client() as client:
            for answer in (
                await client.get(f"{SHARES_PATH}x"),
                await client.post("/api/v1/runs/last/shares", json={}),
                await client.get("/api/v1/runs/last/shares"),
            ):
                assert code(answer) == "not-set-up"
