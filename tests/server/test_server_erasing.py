"""A user who leaves, with all that is his."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import httpx
from accounts import accounts, code, session
from serving import TIDE, TIDES, Served, begun, command, served, slow, until

SECRET_WORD = "Kermorvan"


async def filled(client: httpx.AsyncClient, text: str) -> str:
    """What a user has: documents, a run, a schedule, a thread, links, a collection which others read."""
    path = "/api/v1/collections/papers"
    assert (await client.post(f"{path}/documents?name=tides.md", content=text.encode())).status_code == 201
    assert (await client.put(path, json={"readers": "all"})).status_code == 200
    run = await begun(client, TIDE, thread="talk", scope={"collections": ["papers"]})
    await until(client, run)
    await client.post(f"/api/v1/runs/{run}/shares", json={})
    await client.post("/api/v1/schedules", json={"every": "999d", "run": {"question": TIDE}})
    return run


def rows_of(home: Path, name: str) -> dict[str, int]:
    """How many rows each table has which are a user's."""
    stored = sqlite3.connect(home / "assay.db")
    tables = [row[0] for row in stored.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {}
    for table in tables:
        columns = {row[1] for row in stored.execute(f"PRAGMA table_info({table})")}
        for column in columns & {"owner", "reader"}:
            count = stored.execute(f"SELECT count(*) FROM {table} WHERE {column} = ?", (name,)).fetchone()[0]
            found |= {table: count} if count else {}
    return found


def files_with(home: Path, word: str) -> list[str]:
    """Files of a home in which a word still is."""
    return [str(each) for each in home.rglob("*") if each.is_file() and word.encode() in each.read_bytes()]


async def remove(server: Served, name: str) -> httpx.Response:
    async with session(server, "ana") as ana:
        return await ana.delete(f"/api/v1/users/{name}", params={"data": "all"})


async def test_one_call_deletes_a_user_with_all_data(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin", bob="member")
    with served(home, ASSAY_SEARCH_WEB="false") as server:
        async with session(server, "bob") as bob, session(server, "ana") as ana:
            mine = await filled(ana, TIDES)
            await filled(bob, TIDES.replace("Brest", SECRET_WORD))
            assert rows_of(home, "bob")
            assert (await ana.delete("/api/v1/users/ana", params={"data": "all"})).status_code == 422
            assert code(await bob.delete("/api/v1/users/ana", params={"data": "all"})) == "forbidden"
            assert (await ana.delete("/api/v1/users/nobody", params={"data": "all"})).status_code == 404
            while not all(each["status"] in ("completed", "failed") for each in await runs(bob)):
                await asyncio.sleep(0.1)
            answer = await remove(server, "bob")
            assert answer.status_code == 200, answer.text
            data = answer.json()
            assert (data["collections"], data["schedules"]) == (1, 1)
            assert data["runs"] >= 1
            assert (await bob.get("/api/v1/runs")).status_code == 401
            assert (await ana.get(f"/api/v1/runs/{mine}/report")).status_code == 200
            assert [each["owner"] for each in (await ana.get("/api/v1/collections")).json()["collections"]] == ["ana"]
            await ana.post("/api/v1/users", json={"name": "bob", "password": "correct horse battery of bob"})
        async with session(server, "bob") as again:
            for path in ("runs", "threads", "collections", "schedules", "additions", "jobs"):
                [listed] = [each for each in (await again.get(f"/api/v1/{path}")).json().values() if each != ""]
                assert listed == [] or all(each["owner"] == "ana" for each in listed), path
    if data["swept"]:
        assert set(rows_of(home, "bob")) <= {"credentials", "buckets"}  # those of the new bob
    command(home, "runs", "prune", "--keep", "1000")
    assert set(rows_of(home, "bob")) <= {"credentials", "buckets"}  # those of the new bob
    names = {Path(each).name for each in files_with(home, SECRET_WORD)}
    assert names <= {"assay.db", "assay.db-wal"}, names


async def runs(client: httpx.AsyncClient) -> list[dict[str, object]]:
    found: list[dict[str, object]] = (await client.get("/api/v1/runs")).json()["runs"]
    return found


async def test_a_run_which_goes_on_is_cancelled_and_deleted(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin", bob="member")
    with served(home, **slow(tmp_path)) as server:
        async with session(server, "bob") as bob:
            scope = {"paths": [str(tmp_path / "documents")]}
            run = await begun(bob, "How far does the tide rise?", mode="deep_research", scope=scope)
            await until(bob, run, "running")
        answer = await remove(server, "bob")
        assert (answer.status_code, answer.json()["runs"]) == (200, 1), answer.text
    assert "runs" not in rows_of(home, "bob")


def test_the_command_does_the_same(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin", bob="member")
    command(home, "users", "rm", "bob", "--data", "--yes")
    assert rows_of(home, "bob") == {}
    assert "bob" not in command(home, "users", "list")
