"""Pages of other sites (CORS): none by default, those named with cookies, all only without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accounts import accounts, code, cookie_of, logged_in
from serving import Served, command, served

APP, OTHER = "https://app.corp", "https://evil.example"
ASKED = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type, authorization"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("origins") / "home", ana="admin")


@pytest.fixture(scope="module")
def closed(home: Path) -> Iterator[Served]:
    with served(home) as server:
        yield server


@pytest.fixture(scope="module")
def named(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_SERVER_ORIGINS=APP) as server:
        yield server


@pytest.fixture(scope="module")
def opened(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_SERVER_ORIGINS="*") as server:
        yield server


async def test_no_other_site_is_answered_by_default(closed: Served) -> None:
    async with closed.client(headers={"Origin": APP}) as client:
        for answer in (await client.get("/version"), await client.options("/api/v1/runs", headers=ASKED)):
            assert not [name for name in answer.headers if name.startswith("access-control-")]


async def test_a_named_site_is_answered_with_cookies_and_no_other_is(named: Served) -> None:
    async with named.client() as client:
        cookie = cookie_of(await logged_in(client, "ana"))
        client.cookies.clear()
        preflight = await client.options("/api/v1/runs", headers={"Origin": APP, **ASKED})
        assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, APP)
        assert preflight.headers["access-control-allow-credentials"] == "true"
        browser = {"Origin": APP, "Sec-Fetch-Site": "same-site", **cookie}
        made = await client.post("/api/v1/tokens", json={}, headers=browser)
        assert (made.status_code, made.headers["access-control-allow-origin"]) == (201, APP)
        refused = await client.post("/api/v1/tokens", json={}, headers=browser | {"Origin": OTHER})
        assert code(refused) == "other-site"
        assert "access-control-allow-origin" not in refused.headers
        unseen = await client.get("/api/v1/auth/me", headers={"Origin": OTHER, **cookie})
        assert "access-control-allow-origin" not in unseen.headers
        assert (await client.options("/api/v1/runs", headers={"Origin": OTHER, **ASKED})).status_code == 400
        nobody = await client.get("/api/v1/runs", headers={"Origin": APP})
        assert (nobody.status_code, nobody.headers["access-control-allow-origin"]) == (401, APP)


async def test_all_sites_are_answered_without_cookies_alone(opened: Served, home: Path) -> None:
    secret = command(home, "users", "token", "ana").splitlines()[0]
    async with opened.client() as client:
        cookie = cookie_of(await logged_in(client, "ana"))
        client.cookies.clear()
        browser = {"Origin": OTHER, "Sec-Fetch-Site": "cross-site"}
        preflight = await client.options("/api/v1/runs", headers=browser | ASKED)
        assert preflight.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in preflight.headers
        read = await client.get("/api/v1/auth/me", headers=browser | cookie)
        assert "access-control-allow-credentials" not in read.headers  # a page which sends cookies may not read it
        assert code(await client.post("/api/v1/tokens", json={}, headers=browser | cookie)) == "other-site"
        bearer = browser | {"Authorization": f"Bearer {secret}"}
        answer = await client.post("/api/v1/estimate", json={"question": "x"}, headers=bearer)
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
        assert code(await client.post("/api/v1/tokens", json={}, headers={"Origin": "null"})) == "other-site"


@pytest.mark.parametrize("origin", ["app.corp", "https://app.corp/", "null", "https://app.corp/path", "file://x"])
def test_a_site_is_named_as_browsers_do(tmp_path: Path, origin: str) -> None:
    with served(tmp_path / "home", ready=False, ASSAY_SERVER_ORIGINS=origin) as server:
        assert server.process.wait(timeout=300) != 0
        assert "server.origins" in server.output()
