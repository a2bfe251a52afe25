"""Logout at the provider of logins: the session there ends with the one here (RP-Initiated Logout 1.0)."""

from __future__ import annotations

import html
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from accounts import accounts, cookie_of, logged_in
from oidc_browser import Browser, variables
from oidc_provider import CLIENT, Running, provider
from serving import Served, served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("logout") / "home", ana="admin")


@pytest.fixture(scope="module")
def server(home: Path, idp: Running) -> Iterator[Served]:
    with served(home, **variables(idp.issuer)) as server:
        yield server


async def test_the_api_says_where_the_login_at_the_provider_ends(server: Served, idp: Running, home: Path) -> None:
    idp.logs_in(sub="31", preferred_username="lena")
    async with server.client() as client:
        browser = Browser(client)
        assert (await browser.logs_in()).status_code == 303
        cookie = {"Cookie": f"__Host-assay={browser.cookies['__Host-assay']}"}
        ended = await client.post("/api/v1/auth/logout", headers=cookie)
        url = ended.json()["provider"]
        found = {name: value[0] for name, value in parse_qs(urlsplit(url).query).items()}
        assert url.startswith(f"{idp.issuer}/logout?")
        assert (found["client_id"], found["post_logout_redirect_uri"]) == (CLIENT, f"{server.url}/login")
        assert (await client.get("/api/v1/auth/me", headers=cookie)).status_code == 401
        answer = await client.get(url)
        assert (answer.status_code, answer.headers["location"]) == (302, f"{server.url}/login"), answer.text
        assert idp.ended()[-1] == "31"
        assert found["id_token_hint"] not in server.output()
        again = await client.post("/api/v1/auth/logout", headers=cookie)
        assert (again.status_code, again.json()) == (200, {"provider": ""})
    with sqlite3.connect(home / "assay.db") as database:
        assert database.execute("SELECT count(*) FROM credentials WHERE id_token != ''").fetchone() == (0,)


async def test_the_page_leads_to_the_provider(server: Served, idp: Running) -> None:
    idp.logs_in(sub="32", preferred_username="mara")
    async with server.client() as client:
        browser = Browser(client)
        assert (await browser.logs_in()).status_code == 303
        cookie = {"Cookie": f"__Host-assay={browser.cookies['__Host-assay']}"}
        page = await client.post("/logout", headers=cookie)
        assert page.status_code == 200
        assert "Max-Age=0" in page.headers["set-cookie"]
        [url] = re.findall(r'http-equiv="refresh" content="0; url=([^"]*)"', page.text)
        assert (await client.get(html.unescape(url))).status_code == 302
        assert idp.ended()[-1] == "32"


async def test_who_logged_in_by_a_password_or_whose_provider_is_away_is_logged_out_here(
    tmp_path: Path, idp: Running
) -> None:
    home = accounts(tmp_path / "home", ana="admin")
    with provider() as away, served(home, **variables(away.issuer)) as server:
        away.logs_in(sub="33", preferred_username="nils")
        async with server.client() as client:
            browser = Browser(client)
            assert (await browser.logs_in()).status_code == 303
    with served(home, **variables(away.issuer)) as server:
        async with server.client() as client:
            local = cookie_of(await logged_in(client, "ana"))
            client.cookies.clear()
            cookie = {"Cookie": f"__Host-assay={browser.cookies['__Host-assay']}"}
            for each in (cookie, local):
                assert (await client.get("/api/v1/auth/me", headers=each)).status_code == 200
                answer = await client.post("/api/v1/auth/logout", headers=each)
                assert (answer.status_code, answer.json()) == (200, {"provider": ""})
                assert (await client.get("/api/v1/auth/me", headers=each)).status_code == 401
    with served(home, **variables(idp.issuer)) as server:  # another provider now: it knows nothing of that login
        async with server.client() as client:
            assert (await client.post("/api/v1/auth/logout", headers=cookie)).json() == {"provider": ""}
