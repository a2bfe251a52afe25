"""The audit log of a server: what was done and refused is in it, and no secret or question."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest
from accounts import accounts, logged_in, session
from serving import PASSWORD, TIDES, Served, begun, command, until

from assay.server import page
from assay.server.audit_middleware import OTHER_ACTIONS, UNRECORDED_PATHS

QUESTION = "Which zebra is striped at Brest?"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("audited") / "home", ana="admin", bob="member")


async def entries(client: httpx.AsyncClient, **wanted: Any) -> list[dict[str, Any]]:
    answer = await client.get("/api/v1/admin/audit", params={"limit": 1000, **wanted})
    assert answer.status_code == 200, answer.text
    return list(answer.json()["entries"])


def facts(found: list[dict[str, Any]]) -> list[tuple[str, str, str, str, int]]:
    return [(each["actor"], each["action"], each["subject"], each["via"], each["status"]) for each in found]


async def test_who_did_what_is_kept(server: Served, home: Path) -> None:
    async with session(server, "ana") as client, session(server, "bob") as other:
        await logged_in(other, "bob", "swordfish, wrong")
        await logged_in(other, "swordfish in the wrong field", "x")
        made = (await client.post("/api/v1/tokens", json={"name": "nightly"})).json()
        body = {"name": "cleo", "password": "another long swordfish", "role": "reader"}
        await client.post("/api/v1/users", json=body)
        await client.patch("/api/v1/users/cleo", json={"role": "member"})
        await client.delete("/api/v1/users/cleo")
        assert (await other.delete("/api/v1/users/ana")).status_code == 403
        path = "/api/v1/collections/tides"
        await other.post(f"{path}/documents?name=tides.md", content=TIDES.encode())
        await other.put(path, json={"readers": ["ana"]})
        run = await begun(other, QUESTION, scope={"collections": ["tides"]})
        await until(other, run)
        await other.delete("/api/v1/runs/last")
        token = {"Authorization": f"Bearer {made['secret']}", "Cookie": ""}
        asked = {"model": "assay-light", "input": QUESTION, "background": True}
        second = await client.post("/v1/responses", json=asked, headers=token)
        await client.delete(f"/v1/responses/{second.json()['id']}", headers=token)
        await client.delete(f"/api/v1/tokens/{made['token']['id']}")
        second_run = second.json()["id"].removeprefix("resp_")
        found = await entries(client)
        added, done = facts(found)[:-3:-1], facts(found)[15::-1]
        assert added == [("", "add_user", "ana", "command", 0), ("", "add_user", "bob", "command", 0)]
        assert done == [
            ("ana", "log_in", "", "login", 200),
            ("bob", "log_in", "", "login", 200),
            ("bob", "log_in", "", "login", 401),
            ("", "log_in", "", "login", 401),
            ("ana", "make_token", made["token"]["id"], "session", 201),
            ("ana", "add_user", "cleo", "session", 201),
            ("ana", "change_user", "cleo", "session", 200),
            ("ana", "remove_user", "cleo", "session", 204),
            ("bob", "remove_user", "ana", "session", 403),
            ("bob", "upload_documents", "tides", "session", 201),
            ("bob", "mark_collection", "tides", "session", 200),
            ("bob", "create_run", run, "session", 202),
            ("bob", "delete_run", run, "session", 204),
            ("ana", "create_run", second_run, "token", 202),
            ("ana", "delete_run", second.json()["id"], "token", 200),
            ("ana", "revoke_token", made["token"]["id"], "session", 204),
        ]
        assert {each["address"] for each in found if each["via"] != "command"} == {"127.0.0.1"}
        with sqlite3.connect(home / "assay.db") as stored:
            everything = json.dumps(stored.execute("SELECT * FROM audit").fetchall())
        for secret in (PASSWORD, "swordfish", "zebra", made["secret"]):
            assert secret not in everything


async def test_only_admins_read_it_page_by_page(server: Served, home: Path) -> None:
    async with session(server, "ana") as client, session(server, "bob") as other:
        assert (await other.get("/api/v1/admin/audit")).status_code == 403
        whole = await entries(client)
        page = (await client.get("/api/v1/admin/audit?limit=2")).json()
        rest = await entries(client, cursor=page["next"])
        assert page["entries"] + rest == whole
        assert {each["action"] for each in await entries(client, action="log_in", actor="bob")} == {"log_in"}
        assert await entries(client, until="2020-01-01") == []
        assert (await client.get("/api/v1/admin/audit?since=yesterday")).status_code == 422
        data = json.loads(command(home, "users", "audit", "--user", "bob", "--action", "log_in", "--json"))
        assert data == await entries(client, action="log_in", actor="bob")


async def test_what_is_done_on_the_page_is_kept_too(server: Served) -> None:
    async with session(server, "ana") as admin, server.client() as client:
        form = {"name": "bob", "password": f"{PASSWORD} of bob", "next": "/"}
        answer = await client.post("/login", data=form)
        assert answer.status_code == 303
        client.headers["Cookie"] = answer.headers["set-cookie"].partition(";")[0]
        client.cookies.clear()
        assert (await client.post("/library", data={"name": "tides"})).status_code == 303
        assert (await client.post("/library/tides/drop")).status_code == 303
        assert (await client.post("/logout")).status_code == 303
        wrong = {"name": "bob", "password": "swordfish, wrong", "next": "/"}
        assert (await server.client().post("/login", data=wrong)).status_code == 401
        found = [each[:3] + each[4:] for each in facts(await entries(admin))]
    for entry in (
        ("bob", "log_in", "", 303),
        ("bob", "mark_collection", "", 303),
        ("bob", "drop_collection", "tides", 303),
        ("bob", "log_in", "", 401),
    ):
        assert entry in found


def test_every_form_of_the_page_is_an_operation_or_changes_nothing() -> None:
    forms = {route.path for route in page.ROUTES if "POST" in (route.methods or ())}
    noted = {path for method, path in OTHER_ACTIONS if method == "POST" and not path.startswith("/v1/")}
    assert {re.sub(r":\w+\}", "}", path) for path in forms} == noted | UNRECORDED_PATHS
