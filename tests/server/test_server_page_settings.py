"""Settings on the page: defaults, limits, a test call, webhooks, a new password; and who may change what."""

from __future__ import annotations

from pathlib import Path

import pytest
from accounts import accounts, session
from serving import PASSWORD, Served

OLD = f"{PASSWORD} of eve"
READ = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("settings") / "home", ana="admin", bob="member", eve="member")


async def test_an_admin_changes_defaults_and_limits(server: Served) -> None:
    async with session(server, "ana") as ana:
        form = {"depth": "light", "length": "normal", "strategy": "orchestrated"}
        sent = await ana.post("/settings/values", data=form, headers=READ)
        assert (sent.status_code, sent.headers["location"]) == (303, "/settings")
        await ana.post("/settings/values", data={"limits.usd": "2.5", "limits.agents": ""}, headers=READ)
        await ana.post("/settings/values", data={"name": "server.runs_per_hour", "value": "7"}, headers=READ)
        known = (await ana.get("/api/v1/settings")).json()
        found = {each["name"]: each["next"] for each in known["settings"]}
        assert (found["depth"], found["limits.usd"], found["server.runs_per_hour"]) == ("light", "2.5", "7")
        assert known["restart"]
        entries = (await ana.get("/api/v1/admin/audit")).json()["entries"]
        changes = [each["subject"] for each in entries if each["action"] == "change_settings"]
        assert changes[:3] == ["server.runs_per_hour", "limits.usd", "depth"]
        page = (await ana.get("/settings", headers=READ)).text
        assert "Some settings were changed" in page
        assert 'href="#defaults"' in page
        for wrong in ({"limits.usd": "much"}, {"name": "nothing", "value": "1"}, {"name": "home", "value": "/etc"}):
            refused = await ana.post("/settings/values", data=wrong, headers=READ)
            assert refused.status_code in (404, 422), wrong
            assert 'role="alert"' in refused.text


async def test_who_is_no_admin_changes_nothing_and_calls_no_model(server: Served) -> None:
    async with session(server, "bob") as bob:
        for path, form in (("values", {"depth": "light"}), ("models/test", {"model": "extractive"})):
            assert (await bob.post(f"/settings/{path}", data=form, headers=READ)).status_code == 403
        page = (await bob.get("/settings", headers=READ)).text
        assert "/settings/values" not in page
        assert "#defaults" not in page
        assert "/settings/models/test" not in page


async def test_a_model_is_tried(server: Served, tmp_path: Path) -> None:
    async with session(server, "ana") as ana:
        there = await ana.post("/settings/models/test", data={"model": "extractive"}, headers=READ)
        assert (there.status_code, "it quotes documents" in there.text) == (200, True)
        script = tmp_path / "script.json"
        script.write_text('[{"task": "triage", "reply": {"text": "ready <b>"}}]')
        scripted = await ana.post("/settings/models/test", data={"model": f"scripted:{script}"}, headers=READ)
        assert "ready &lt;b&gt;" in scripted.text
        silent = await ana.post("/settings/models/test", data={"model": "ollama:nothing"}, headers=READ)
        assert "did not answer" in silent.text
        unknown = await ana.post("/settings/models/test", data={"model": "nobody:x"}, headers=READ)
        assert (unknown.status_code, 'role="alert"' in unknown.text) == (422, True)


async def test_a_webhook_is_made_and_removed_and_its_secret_shown_once(server: Served) -> None:
    async with session(server, "bob") as bob:
        made = await bob.post("/settings/webhooks", data={"url": "https://93.184.215.14/hook"}, headers=READ)
        assert made.status_code == 200
        assert "whsec_" in made.text
        assert "whsec_" not in (await bob.get("/settings", headers=READ)).text
        [hook] = (await bob.get("/api/v1/webhooks")).json()["webhooks"]
        gone = await bob.post(f"/settings/webhooks/{hook['id']}/remove", headers=READ)
        assert gone.status_code == 303
        assert (await bob.get("/api/v1/webhooks")).json()["webhooks"] == []
        inside = await bob.post("/settings/webhooks", data={"url": "https://127.0.0.1/hook"}, headers=READ)
        assert 'role="alert"' in inside.text


async def test_a_password_is_changed_and_ends_all_sessions(server: Served) -> None:
    async with session(server, "eve") as eve:
        new = "another long password"
        for form in (
            {"old": OLD, "new": new, "again": "something else"},
            {"old": "wrong one here", "new": new, "again": new},
            {"old": OLD, "new": "short", "again": "short"},
        ):
            refused = await eve.post("/settings/password", data=form, headers=READ)
            assert 'role="alert"' in refused.text
            assert new not in refused.text
        form = {"old": OLD, "new": new, "again": new}
        sent = await eve.post("/settings/password", data=form, headers=READ)
        assert (sent.status_code, sent.headers["location"]) == (303, "/login")
        assert (await eve.get("/api/v1/runs")).status_code == 401
        answer = await eve.post("/api/v1/auth/login", json={"name": "eve", "password": new})
        assert answer.status_code == 200
