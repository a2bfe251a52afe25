"""Login at a provider as a person sees it: the page leads there, and says in the page what went wrong."""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from accounts import accounts
from oidc_browser import BEGIN, Browser, variables
from oidc_provider import Running
from serving import Served, served

from assay.server.id_claims import describe_clock_skew

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, idp: Running) -> Iterator[Served]:
    home = accounts(tmp_path_factory.mktemp("login") / "home", ana="admin")
    with served(home, **variables(idp.issuer)) as server:
        yield server


def way(page: httpx.Response) -> str:
    """The address to which the page leads for a login at the provider."""
    [found] = re.findall(r'<a class="button first" href="([^"]*)"', page.text)
    return html.unescape(found)


async def test_the_page_leads_to_the_provider_and_back_to_where_one_was(server: Served, idp: Running) -> None:
    idp.logs_in(sub="41", preferred_username="olga")
    async with server.client() as client:
        asked = await client.get("/runs?q=tide", headers=HTML)
        login = await client.get(asked.headers["location"], headers=HTML)
        browser = Browser(client)
        begun = await browser.get(way(login))
        ended = await browser.get((await browser.get(begun.headers["location"])).headers["location"])
        assert (ended.status_code, ended.headers["location"]) == (303, "/runs?q=tide")
        assert (await browser.me())["name"] == "olga"


async def test_a_failed_login_is_told_in_the_page_and_can_be_tried_again(server: Served, idp: Running) -> None:
    idp.logs_in("denied", sub="42")
    async with server.client() as client:
        browser = Browser(client)
        back = await browser.at_callback()
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        answer = await client.get(back, headers=HTML | {"Cookie": cookies})
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")
        assert "access_denied" in answer.text
        assert way(answer) == f"{BEGIN}?back=%2F"
        program = await client.get(back, headers={"Cookie": cookies})
        assert program.headers["content-type"] == "application/problem+json"


async def test_a_provider_that_refuses_the_server_is_not_the_users_fault(tmp_path: Path, idp: Running) -> None:
    idp.logs_in(sub="43", preferred_username="pia")
    home = accounts(tmp_path / "home", ana="admin")
    with served(home, **variables(idp.issuer, ASSAY_KEYS_OIDC="another")) as server:
        async with server.client() as client:
            answer = await Browser(client).logs_in()
            assert answer.status_code == 502
            assert "check server.oidc.client_id" in answer.json()["detail"]
        assert "invalid_client" in server.output()


async def test_without_a_provider_the_page_has_only_its_own_form(tmp_path: Path) -> None:
    home = accounts(tmp_path / "home", ana="admin")
    with served(home) as server:
        async with server.client() as client:
            page = await client.get("/login", headers=HTML)
            assert 'name="password"' in page.text
            assert BEGIN not in page.text


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, ""), (30, ""), (300, "300 s ahead of this server's"), (-300, "300 s behind this server's")],
)
def test_clocks_that_differ_are_named(seconds: int, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    found = describe_clock_skew({"iat": 1_000_000 + seconds})
    assert said in found
    assert bool(found) == bool(said)
