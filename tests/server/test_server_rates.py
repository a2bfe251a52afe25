"""How often a user may ask, and begin runs: refused with a time, told in headers, counted by all servers together."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import time
from pathlib import Path

import httpx
import msgspec
import pytest
from accounts import accounts
from serving import TIDE, begun, command, served
from waiting import looked, until

EVERY = 3
"""Seconds after which one more request is allowed."""
LIMITS = {"ASSAY_SERVER_REQUESTS_PER_MINUTE": "20", "ASSAY_SERVER_RUNS_PER_HOUR": "2"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    users = {"ana": "admin", "bob": "member", "cleo": "member", "dora": "member"}
    return accounts(tmp_path_factory.mktemp("rated") / "home", **users)


def bearer(home: Path, name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {command(home, 'users', 'token', name)}"}


def standing(answer: httpx.Response) -> dict[str, tuple[int, int]]:
    """What is left, and in how many seconds all of it is there again, by limit."""
    found = re.findall(r'"(\w+)";r=(\d+);t=(\d+)', answer.headers["ratelimit"])
    return {name: (int(left), int(seconds)) for name, left, seconds in found}


async def test_requests_have_a_rate(home: Path) -> None:
    headers, other = bearer(home, "ana"), bearer(home, "bob")
    with served(home, **LIMITS) as server, served(home, **LIMITS) as second:
        async with server.client(headers=headers) as client, second.client(headers=headers) as beside:
            began = time.monotonic()
            first = await client.get("/api/v1/runs")
            assert first.headers["ratelimit-policy"] == '"requests";q=20;w=60'
            assert standing(first)["requests"] == (19, EVERY)
            both = (client, beside)
            answers = await asyncio.gather(*(both[n % 2].get("/api/v1/runs") for n in range(30)))
            refused = [each for each in answers if each.status_code == 429]
            back = int((time.monotonic() - began) / EVERY) + 1
            assert 11 - back <= len(refused) <= 11
            data = refused[0].json()
            assert data["type"] == "urn:assay:problem:rate-limited"
            assert 1 <= int(refused[0].headers["retry-after"]) == data["retry_after"] <= EVERY
            assert standing(refused[0])["requests"][0] == 0
            assert refused[0].headers["x-content-type-options"] == "nosniff"
            asked = await looked(lambda: client.get("/v1/models"), lambda answer: answer.status_code == 429)
            assert (asked.status_code, "error" in asked.json()) == (429, True)  # as OpenAI's clients know it
            await asyncio.sleep(int(asked.headers["retry-after"]))
            assert (await client.get("/api/v1/runs")).status_code == 200
        async with server.client(headers=other) as client:
            assert (await client.get("/api/v1/runs")).status_code == 200
            health = await client.get("/livez", headers={"Authorization": ""})
            assert "ratelimit" not in health.headers


async def test_runs_have_a_rate_and_the_same_request_counts_once(home: Path) -> None:
    headers = bearer(home, "cleo")
    with served(home, **LIMITS) as server:
        async with server.client(headers=headers) as client:
            path, key = "/api/v1/runs", {"Idempotency-Key": '"1"'}
            first = await client.post(path, json={"question": TIDE}, headers=key)
            assert standing(first)["runs"][0] == 1
            assert first.headers["ratelimit-policy"] == '"requests";q=20;w=60, "runs";q=2;w=3600'
            again = await client.post(path, json={"question": TIDE}, headers=key)
            assert again.json()["id"] == first.json()["id"]
            assert "runs" not in standing(again)
            wrong = await client.post(path, json={"question": TIDE, "continues": "none"})
            assert wrong.status_code == 422  # what was not begun does not count
            await begun(client)
            refused = await client.post(path, json={"question": TIDE})
            assert (refused.status_code, refused.json()["type"]) == (429, "urn:assay:problem:too-many")
            assert 1_700 < int(refused.headers["retry-after"]) <= 1_800
            chat = {"model": "assay-light", "messages": [{"role": "user", "content": TIDE}]}
            assert (await client.post("/v1/chat/completions", json=chat)).status_code == 429


async def test_without_users_there_is_no_limit(tmp_path: Path) -> None:
    with served(tmp_path / "home", **LIMITS) as server:
        async with server.client() as client:
            answers = [await client.get("/api/v1/runs") for _ in range(30)]
            assert {each.status_code for each in answers} == {200}
            assert "ratelimit" not in answers[0].headers


async def test_requests_are_forgotten_after_a_day(tmp_path: Path) -> None:
    home, headers = tmp_path / "home", {"Idempotency-Key": '"once"'}
    with served(home) as server:
        async with server.client() as client:
            runs = [
                (await client.post("/api/v1/runs", json={"question": TIDE}, headers=headers)).json()["id"]
                for _ in range(2)
            ]
            assert runs[0] == runs[1]
    with sqlite3.connect(home / "assay.db") as stored:
        [(key, data)] = stored.execute(
            "SELECT key, data FROM memos WHERE key LIKE 'request/%' AND key NOT LIKE '%done'"
        )
        old = msgspec.json.decode(data) | {"at": msgspec.json.decode(data)["at"] - 90_000}
        stored.execute("UPDATE memos SET data = ? WHERE key = ?", (msgspec.json.encode(old), key))
    stored.close()
    with served(home) as server:
        async with server.client() as client:

            def left() -> int:
                with sqlite3.connect(home / "assay.db") as stored:
                    return int(stored.execute("SELECT count(*) FROM memos WHERE key LIKE 'request/%'").fetchone()[0])

            await until(lambda: left() == 0)
            again = await client.post("/api/v1/runs", json={"question": TIDE}, headers=headers)
            assert again.json()["id"] != runs[0]
