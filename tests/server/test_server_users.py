"""Users of a server: who is let in, by what, and what he may do."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from accounts import accounts, code, cookie_of, logged_in, session
from serving import PASSWORD, TIDE, WAIT, Served, command, served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("users") / "home", ana="admin", bob="member", cleo="reader")


async def test_nobody_is_let_in_who_is_not_known(server: Served) -> None:
    async with server.client() as client:
        described = (await client.get("/openapi.json")).json()
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                if not operation["security"]:
                    continue
                answer = await client.request(method, path.replace("{", "").replace("}", ""))
                assert (answer.status_code, code(answer)) == (401, "login-needed"), (method, path)
                assert answer.headers["www-authenticate"].startswith("Bearer")
        for path in ("/v1/models", "/mcp", "/nowhere", "/api/v1/"):
            assert (await client.post(path, json={})).status_code == 401
        for headers in (
            {"Authorization": "Bearer assay_wrong"},
            {"Cookie": "__Host-assay=wrong"},
            {"Authorization": "x"},
        ):
            assert (await client.get("/api/v1/runs", headers=headers)).status_code == 401
        assert (await client.get("/livez")).status_code == 200


async def test_a_session_begins_with_the_password_and_ends_with_logout(server: Served) -> None:
    async with server.client() as client:
        fixed = {"Cookie": "__Host-assay=chosen-by-somebody-else"}
        answer = await client.post(
            "/api/v1/auth/login", json={"name": "bob", "password": f"{PASSWORD} of bob"}, headers=fixed
        )
        set_cookie = answer.headers["set-cookie"]
        assert set_cookie.startswith("__Host-assay=")
        assert {"Secure", "HttpOnly", "Path=/", "SameSite=lax"} <= {part.strip() for part in set_cookie.split(";")}
        assert "chosen" not in set_cookie
        headers = cookie_of(answer)
        client.cookies.clear()
        me = (await client.get("/api/v1/auth/me", headers=headers)).json()
        assert (me["name"], me["permissions"], me["via"]) == ("bob", ["read", "write"], "session")
        refused = await client.post("/api/v1/auth/logout", headers=headers | {"Sec-Fetch-Site": "cross-site"})
        assert code(refused) == "other-site"
        assert (await client.post("/api/v1/auth/logout", headers=headers)).status_code == 200
        assert (await client.get("/api/v1/auth/me", headers=headers)).status_code == 401


async def test_roles_allow_what_they_say(server: Served) -> None:
    async with session(server, "ana") as ana, session(server, "bob") as bob, session(server, "cleo") as cleo:
        assert (await cleo.get("/api/v1/runs")).status_code == 200
        assert code(await cleo.post("/api/v1/runs", json={"question": TIDE})) == "forbidden"
        for path in ("/api/v1/users", "/api/v1/settings", "/api/v1/doctor"):
            assert code(await bob.get(path)) == "forbidden"
            assert (await ana.get(path)).status_code == 200
        assert [each["name"] for each in (await ana.get("/api/v1/users")).json()["users"]] == ["ana", "bob", "cleo"]


async def test_an_admin_looks_after_users_and_is_never_the_last_to_go(server: Served) -> None:
    async with session(server, "ana") as ana, server.client() as client:
        made = await ana.post("/api/v1/users", json={"name": "dora", "password": "a long password", "role": "reader"})
        assert (made.status_code, made.json()["role"]) == (201, "reader")
        assert code(await ana.post("/api/v1/users", json={"name": "dora", "password": "a long password"})) == "invalid"
        assert code(await ana.post("/api/v1/users", json={"name": "a/b", "password": "a long password"})) == "invalid"
        assert code(await ana.post("/api/v1/users", json={"name": "eve", "password": "short"})) == "invalid"
        headers = cookie_of(await logged_in(client, "dora", "a long password"))
        client.cookies.clear()
        assert (await ana.patch("/api/v1/users/dora", json={"role": "member"})).json()["role"] == "member"
        assert "write" in (await client.get("/api/v1/auth/me", headers=headers)).json()["permissions"]
        refused = await ana.patch("/api/v1/users/dora", json={"role": "admin", "password": "short"})
        assert code(refused) == "invalid"
        assert (await ana.patch("/api/v1/users/dora", json={})).json()["role"] == "member"
        assert (await ana.patch("/api/v1/users/dora", json={"password": "another password"})).status_code == 200
        assert (await client.get("/api/v1/auth/me", headers=headers)).status_code == 401
        assert (await ana.delete("/api/v1/users/dora")).status_code == 204
        assert (await ana.delete("/api/v1/users/dora")).status_code == 404
        assert code(await ana.delete("/api/v1/users/ana")) == "invalid"
        assert code(await ana.patch("/api/v1/users/ana", json={"role": "member"})) == "invalid"


async def test_every_role_changes_its_own_password_and_tokens(server: Served) -> None:
    async with session(server, "ana") as ana, server.client() as client:
        await ana.post("/api/v1/users", json={"name": "dina", "password": "a long password", "role": "reader"})
        client.headers.update(cookie_of(await logged_in(client, "dina", "a long password")))
        made = (await client.post("/api/v1/tokens", json={"scopes": ["read"]})).json()
        bearer = {"Authorization": f"Bearer {made['secret']}"}
        assert (await client.get("/api/v1/auth/me", headers=bearer)).json()["via"] == "token"
        assert code(await client.delete(f"/api/v1/tokens/{made['token']['id']}", headers=bearer)) == "forbidden"
        assert (await client.delete(f"/api/v1/tokens/{made['token']['id']}")).status_code == 204
        assert code(await client.post("/api/v1/tokens", json={"scopes": ["write"]})) == "invalid"
        assert (await client.post("/settings/tokens", data={"name": "page", "scope": "read"})).status_code == 200
        change = {"old": "a long password", "new": "another password", "again": "another password"}
        assert (await client.post("/settings/password", data=change)).status_code == 303
        assert (await logged_in(client, "dina", "another password")).status_code == 200
        assert (await ana.delete("/api/v1/users/dina")).status_code == 204


async def test_wrong_passwords_lock_a_user_and_say_nothing_of_names(server: Served, home: Path) -> None:
    async with server.client() as client:
        nobody = await logged_in(client, "nobody", "a wrong password")
        answers = [await logged_in(client, "cleo", "a wrong password") for _ in range(5)]
        assert {answer.json()["detail"] for answer in (nobody, *answers)} == {"name or password is wrong"}
        locked = await logged_in(client, "cleo")
        assert (locked.status_code, code(locked)) == (429, "locked")
        assert int(locked.headers["retry-after"]) > 0
        command(home, "users", "passwd", "cleo", stdin=f"{PASSWORD} of cleo\n")
        assert (await logged_in(client, "cleo")).status_code == 200
        for ahead, status in ((600, 429), (86_400, 200)):  # a lock from before the clock was set back is none
            with closing(sqlite3.connect(home / "assay.db")) as stored, stored:
                stored.execute("UPDATE users SET locked_until = ? WHERE name = 'cleo'", (time.time() + ahead,))
            assert (await logged_in(client, "cleo")).status_code == status


async def test_a_token_stands_for_its_user_within_its_scopes(server: Served, home: Path) -> None:
    secret = command(home, "users", "token", "bob", "--name", "nightly", "--scope", "read").splitlines()[0]
    async with server.client(headers={"Authorization": f"Bearer {secret}"}) as client, session(server, "bob") as bob:
        assert (await client.get("/api/v1/auth/me")).json() == {
            "name": "bob",
            "role": "member",
            "permissions": ["read"],
            "via": "token",
        }
        assert code(await client.post("/api/v1/runs", json={"question": TIDE})) == "forbidden"
        assert code(await client.post("/api/v1/tokens", json={})) == "forbidden"
        [token] = (await bob.get("/api/v1/tokens")).json()["tokens"]
        assert (token["name"], token["scopes"], bool(token["used_at"])) == ("nightly", ["read"], True)
        beyond = await bob.post("/api/v1/tokens", json={"scopes": ["admin"]})
        assert code(beyond) == "invalid"
        made = (await bob.post("/api/v1/tokens", json={"name": "own", "days": 1})).json()
        assert made["secret"].startswith("assay_")
        assert (await bob.delete(f"/api/v1/tokens/{token['id']}")).status_code == 204
        assert (await client.get("/api/v1/auth/me")).status_code == 401
        assert (await bob.delete("/api/v1/tokens/none")).status_code == 404
        stored = sqlite3.connect(home / "assay.db")
        everything = json.dumps(
            stored.execute("SELECT * FROM credentials").fetchall() + stored.execute("SELECT * FROM users").fetchall()
        )
        assert made["secret"] not in everything
        assert PASSWORD not in everything
        assert secret not in server.output()


async def test_a_token_that_may_begin_a_run_may_read_it(server: Served, home: Path) -> None:
    secret = command(home, "users", "token", "bob", "--scope", "write").splitlines()[0]
    async with server.client(headers={"Authorization": f"Bearer {secret}"}) as client:
        begun = await client.post("/api/v1/runs?wait=60", json={"question": TIDE})
        assert begun.status_code == 202
        assert (await client.get(begun.json()["url"])).status_code == 200
        assert (await client.get("/api/v1/auth/me")).json()["permissions"] == ["read", "write"]
        assert code(await client.get("/api/v1/users")) == "forbidden"


def test_a_server_which_others_reach_does_not_start_without_users(tmp_path: Path) -> None:
    with served(tmp_path / "home", "--host", "0.0.0.0", ready=False) as server:
        assert server.process.wait(timeout=WAIT) == 2
        assert "assay users add" in server.output()


async def test_without_users_this_machine_is_one_user(tmp_path: Path) -> None:
    with served(tmp_path / "home") as server:
        async with server.client() as client:
            assert (await client.get("/api/v1/auth/me")).json()["via"] == "none"
            assert code(await client.get("/api/v1/tokens")) == "wrong-state"


async def test_a_stream_ends_with_the_access_of_its_user(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin", bob="member")
    secrets = {
        each[0]: command(home, "users", "token", *each).splitlines()[0]
        for each in (("ana", "--scope", "read", "--scope", "admin"), ("bob",))
    }
    soon = "from assay.server import streams\nstreams.ACCESS_SECONDS, streams.HEARTBEAT = 0.2, 0.1"
    with served(home, program=soon) as server:
        ana, bob = ({"Authorization": f"Bearer {secrets[name]}"} for name in ("ana", "bob"))
        async with (
            server.client() as client,
            client.stream("GET", "/api/v1/events", headers=bob) as removed,
            client.stream("GET", "/api/v1/events", headers=ana) as kept,
        ):
            parts, others = removed.aiter_raw(), kept.aiter_raw()
            for _ in range(6):  # beyond the first looks
                assert await anext(parts)
            assert (await client.delete("/api/v1/users/bob", headers=ana)).status_code == 204
            async with asyncio.timeout(WAIT):
                assert all([part async for part in parts])
            for _ in range(6):
                assert await anext(others)
            assert (await client.get("/api/v1/events", headers=bob)).status_code == 401
