"""The screens of admins over HTTP, without a browser: what they do, and who is kept out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from accounts import accounts, session
from serving import TIDE, TIDES, Served, begun, served, until

from assay.server.api.admin import DayUsage
from assay.server.page.adminscreen import usage_bars

HTML = {"Accept": "text/html"}
SCREENS = ("/admin", "/admin/users", "/admin/runs", "/admin/health", "/admin/audit")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = accounts(tmp_path_factory.mktemp("administered") / "home", ana="admin", bob="member", cleo="reader")
    with served(home, ASSAY_SEARCH_WEB="false") as server:
        yield server


async def test_admins_see_numbers_and_nobody_else_does(server: Served) -> None:
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        await bob.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(bob, TIDE, scope={"collections": ["tides"]})
        await until(bob, run)
        for path in SCREENS:
            page = await ana.get(path, headers=HTML)
            assert page.status_code == 200, (path, page.text)
            assert TIDE not in page.text
            assert (await bob.get(path, headers=HTML)).status_code == 403
        for path in ("/admin", "/admin/runs", "/admin/audit"):
            assert "bob" in (await ana.get(path, headers=HTML)).text
        assert run in (await ana.get("/admin/runs?user=bob&status=completed", headers=HTML)).text
        assert run not in (await ana.get("/admin/runs?user=ana", headers=HTML)).text
        assert (await ana.get("/admin/runs?status=none", headers=HTML)).status_code == 422
        assert "/admin" not in (await bob.get("/settings", headers=HTML)).text


async def test_readers_are_told_before_they_ask(server: Served) -> None:
    async with session(server, "bob") as bob, session(server, "cleo") as cleo:
        assert 'action="/ask"' in (await bob.get("/", headers=HTML)).text
        page = (await cleo.get("/", headers=HTML)).text
        assert 'action="/ask"' not in page
        assert "not begin runs" in page


async def test_readers_are_offered_nothing_they_may_not_do(server: Served) -> None:
    async with session(server, "bob") as bob, session(server, "cleo") as cleo:
        path = "/api/v1/collections/piers/documents?name=pier.md"
        (await bob.post(path, content=b"# Pier\n\nIt is long.\n")).raise_for_status()
        (await bob.put("/api/v1/collections/piers", json={"readers": "all"})).raise_for_status()
        for path in ("/", "/runs", "/library", "/library/bob/piers", "/verify", "/schedules"):
            page = await cleo.get(path, headers=HTML)
            assert page.status_code == 200, page.text
            assert re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', page.text) == ["/logout"], path


async def test_admins_look_after_users(server: Served) -> None:
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        new = {"name": "eve", "password": " a password with spaces ", "role": "reader"}
        assert (await bob.post("/admin/users", data=new, headers=HTML)).status_code == 403
        assert (await ana.post("/admin/users", data=new, headers=HTML)).status_code == 303
        again = await ana.post("/admin/users", data=new, headers=HTML)
        assert 400 <= again.status_code < 500
        assert 'role="alert"' in again.text
        assert new["password"] not in again.text
        async with server.client() as eve:
            logged = await eve.post("/api/v1/auth/login", json={"name": "eve", "password": new["password"]})
            assert (logged.status_code, logged.json()["role"]) == (200, "reader")
        assert (await ana.post("/admin/users/eve/role", data={"role": "member"}, headers=HTML)).status_code == 303
        page = (await ana.get("/admin/users", headers=HTML)).text
        assert re.search(r"Role of eve</span><select.*?selected>member</option>", page, re.DOTALL)
        assert (await ana.post("/admin/users/eve/role", data={"role": "king"}, headers=HTML)).status_code == 422
        assert (await ana.post("/admin/users/eve/remove", headers=HTML)).status_code == 303
        assert "eve" not in (await ana.get("/admin/users", headers=HTML)).text
        kept = await ana.post("/admin/users/ana/remove", headers=HTML)
        assert 400 <= kept.status_code < 500
        log = (await ana.get("/admin/audit?actor=ana", headers=HTML)).text
        assert all(action in log for action in ("add_user", "change_user", "remove_user"))


def test_every_day_has_its_bar() -> None:
    def row(day: str, tokens: int, usd: float = 0.0) -> DayUsage:
        return DayUsage(
            day=day,
            user="",
            model="m",
            runs=1,
            model_calls=1,
            input_tokens=tokens,
            output_tokens=0,
            usd=usd,
            unpriced_calls=0,
        )

    bars = usage_bars([row("2026-02-27", 10), row("2026-03-01", 20), row("2026-03-01", 20)])
    assert [(bar.day, bar.x, bar.height) for bar in bars] == [
        ("2026-02-27", 0, 25),
        ("2026-02-28", 10, 0),
        ("2026-03-01", 20, 100),
    ]
    assert [bar.height for bar in usage_bars([row("2026-03-01", 9, 0.5), row("2026-03-02", 9, 1.0)])] == [50, 100]
    assert usage_bars([]) == ()


async def test_tokens_are_shown_once_and_revoked(server: Served) -> None:
    async with session(server, "bob") as bob:
        asked = {"name": "nightly", "scope": ["read"], "days": "30"}
        made = await bob.post("/settings/tokens", data=asked, headers=HTML)
        secret = re.search(r'id="secret"[^>]* value="([^"]+)"', made.text)
        assert secret, made.text
        page = (await bob.get("/settings", headers=HTML)).text
        assert "nightly" in page
        assert secret[1] not in page
        bearer = {"Authorization": f"Bearer {secret[1]}"}
        async with server.client(headers=bearer) as program:
            assert (await program.get("/api/v1/runs")).status_code == 200
            more = await program.post("/settings/tokens", data=asked, headers=HTML)
            assert more.status_code == 403  # it may read alone
            revoke = re.search(r"/settings/tokens/\w+/revoke", page)
            assert revoke
            assert (await bob.post(revoke[0], headers=HTML)).status_code == 303
            assert (await program.get("/api/v1/runs")).status_code == 401
        none = await bob.post("/settings/tokens", data={"name": "x", "scope": ["admin"]}, headers=HTML)
        assert 400 <= none.status_code < 500
        assert 'role="alert"' in none.text


async def test_keys_are_set_and_never_shown(server: Served) -> None:
    key = {"provider": "openai", "key": "sk-of-the-page-0123456789"}
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        assert (await bob.post("/settings/keys", data=key, headers=HTML)).status_code == 403
        assert "Keys of providers" not in (await bob.get("/settings", headers=HTML)).text
        assert (await ana.post("/settings/keys", data=key, headers=HTML)).status_code == 303
        page = (await ana.get("/settings", headers=HTML)).text
        assert key["key"] not in page
        assert "/settings/keys/openai/remove" in page
        assert "take effect when the server restarts" in page
        wrong = await ana.post("/settings/keys", data={"provider": "nobody", "key": key["key"]}, headers=HTML)
        assert 400 <= wrong.status_code < 500
        assert key["key"] not in wrong.text
        assert (await ana.post("/settings/keys/openai/remove", headers=HTML)).status_code == 303
        assert "/settings/keys/openai/remove" not in (await ana.get("/settings", headers=HTML)).text
        log = (await ana.get("/admin/audit?action=set_key", headers=HTML)).text
        assert "openai" in log
        assert key["key"] not in log
