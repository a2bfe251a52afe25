"""Login at a provider of OpenID Connect, and everything that may be wrong with what it sends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from accounts import accounts, code, logged_in, session
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from oidc_browser import BEGIN, Browser, variables
from oidc_provider import AUDIENCE, CLIENT, SECRET, Running
from serving import WAIT, Served, command, served


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("oidc") / "home", ana="admin")


@pytest.fixture(scope="module")
def server(home: Path, idp: Running) -> Iterator[Served]:
    with served(home, **variables(idp.issuer)) as server:
        yield server


async def test_who_logs_in_at_the_provider_is_a_user_with_a_session(server: Served, idp: Running, home: Path) -> None:
    idp.logs_in(sub="7", preferred_username="dora", groups=["staff"])
    async with server.client() as client:
        browser = Browser(client)
        methods = (await client.get("/api/v1/auth/methods")).json()
        assert methods == {"needed": True, "password": True, "provider": idp.issuer}
        begun = await browser.get(f"{BEGIN}?back=/docs")
        asked = {name: value[0] for name, value in parse_qs(urlsplit(begun.headers["location"]).query).items()}
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert len(asked["state"]) > 20
        assert len(asked["nonce"]) > 20
        assert {"HttpOnly", "Secure", "SameSite=lax", "Path=/"} <= {
            part.strip() for part in begun.headers["set-cookie"].split(";")
        }
        ended = await browser.logs_in()
        assert (ended.status_code, ended.headers["location"]) == (303, "/docs")
        assert set(browser.cookies) == {"__Host-assay"}
        me = await browser.me()
        assert (me["name"], me["role"], me["via"]) == ("dora", "member", "session")
        cookie = {"Cookie": f"__Host-assay={browser.cookies['__Host-assay']}"}
        assert (await client.post("/api/v1/auth/logout", headers=cookie)).status_code == 200
        assert (await client.get("/api/v1/auth/me", headers=cookie)).status_code == 401
        assert code(await logged_in(client, "dora", "")) == "login-failed"  # there is no password
    stored = sqlite3.connect(home / "assay.db").execute("SELECT name, password, subject FROM users").fetchall()
    assert ("dora", "", f"{idp.issuer} 7") in stored
    assert SECRET not in server.output()


@pytest.mark.parametrize(
    ("groups", "role"),
    [(["root", "guests"], "admin"), (["guests"], "reader"), ("guests, x", "reader"), ([], "member"), (7, "member")],
)
async def test_groups_decide_the_role_at_each_login(server: Served, idp: Running, groups: Any, role: str) -> None:
    idp.logs_in(sub="8", preferred_username="emil", groups=groups)
    async with server.client() as client:
        browser = Browser(client)
        assert (await browser.logs_in()).status_code == 303
        assert (await browser.me())["role"] == role


async def test_an_account_stays_the_same_user_and_no_other_takes_his_name(server: Served, idp: Running) -> None:
    async with server.client() as client:
        for sub, name, becomes in (
            ("9", "finn", "finn"),
            ("9", "renamed", "finn"),
            ("10", "finn", ""),
            ("11", "ana", ""),
        ):
            idp.logs_in(sub=sub, preferred_username=name)
            browser = Browser(client)
            answer = await browser.logs_in()
            assert (answer.status_code == 303) == bool(becomes), answer.text
            assert (await browser.me()).get("name", "") == becomes
        assert "local user" in answer.json()["detail"]


async def test_what_the_token_does_not_tell_userinfo_does(server: Served, idp: Running) -> None:
    idp.logs_in(sub="12", userinfo_preferred_username="gina", userinfo_groups=["guests"])
    async with server.client() as client:
        browser = Browser(client)
        assert (await browser.logs_in()).status_code == 303
        assert (await browser.me())["role"] == "reader"
        idp.logs_in("userinfo of another", sub="13", userinfo_preferred_username="gina")
        assert code(await Browser(client).logs_in()) == "login-failed"


FAULTS = (
    "wrong nonce",
    "wrong audience",
    "several audiences",
    "wrong issuer",
    "wrong access token",
    "expired",
    "no subject",
    "unknown key",
    "signed by another",
    "algorithm none",
    "public key as secret",
    "answers for another",
    "denied",
)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_wrong_answer_of_the_provider_logs_nobody_in(server: Served, idp: Running, fault: str) -> None:
    idp.logs_in(fault, sub="14", preferred_username="hugo", groups=["root"])
    async with server.client() as client:
        browser = Browser(client)
        answer = await browser.logs_in()
        assert (answer.status_code, code(answer)) == (401, "login-failed"), answer.text
        assert "__Host-assay" not in browser.cookies
        idp.logs_in(sub="14", preferred_username="hugo", groups=["root"])
        assert (await Browser(client).logs_in()).status_code == 303


async def test_a_new_key_of_the_provider_is_found(tmp_path: Path, idp: Running) -> None:
    idp.logs_in(sub="15", preferred_username="ines")
    with served(tmp_path / "home", **variables(idp.issuer)) as server:
        async with server.client() as client:
            assert (await Browser(client).logs_in()).status_code == 303
            idp.logs_in("new key", sub="15", preferred_username="ines")
            first = await Browser(client).logs_in()
            assert first.status_code == 401  # its keys were looked at a moment ago
    with served(tmp_path / "home", **variables(idp.issuer)) as server:
        async with server.client() as client:
            assert (await Browser(client).logs_in()).status_code == 303


async def test_a_login_ends_once_and_in_its_browser_alone(server: Served, idp: Running) -> None:
    idp.logs_in(sub="16", preferred_username="jo")
    async with server.client() as client:
        browser, other = Browser(client), Browser(client)
        callback = await browser.at_callback()
        assert code(await other.get(callback)) == "login-failed"  # login CSRF: no cookie
        await other.get(BEGIN)
        assert code(await other.get(callback)) == "login-failed"  # the cookie of another login
        kept = dict(browser.cookies)
        assert (await browser.get(callback)).status_code == 303
        assert code(await browser.get(callback)) == "login-failed"
        browser.cookies = kept
        assert code(await browser.get(callback)) == "login-failed"  # the code was used
        again = Browser(client)
        fresh = parse_qs(urlsplit(await again.at_callback()).query)["code"][0]
        old = parse_qs(urlsplit(callback).query)
        browser.cookies = kept
        replayed = f"{BEGIN}/callback?state={old['state'][0]}&iss={old['iss'][0]}&code={fresh}"
        assert code(await browser.get(replayed)) == "login-failed"  # PKCE: the code is of another login


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "/%09/evil.example", "x"]
)
async def test_a_login_goes_on_at_this_server_alone(server: Served, back: str) -> None:
    async with server.client() as client:
        assert code(await client.get(f"{BEGIN}?back={back}")) == "invalid"


async def test_a_session_chosen_beforehand_is_not_taken_up(server: Served, idp: Running) -> None:
    idp.logs_in(sub="17", preferred_username="kim")
    async with server.client() as client, session(server, "ana") as ana:
        browser = Browser(client)
        browser.cookies["__Host-assay"] = ana.headers["Cookie"].partition("=")[2]
        assert (await browser.logs_in()).status_code == 303
        assert (await browser.me())["name"] == "kim"
        assert browser.cookies["__Host-assay"] not in ana.headers["Cookie"]


async def test_a_user_whom_an_admin_added_takes_up_his_account(tmp_path: Path, idp: Running) -> None:
    home = tmp_path / "home"
    command(home, "users", "add", "ana", stdin="a long password\n")
    command(home, "users", "add", "mia", "--no-password", "--role", "reader")
    idp.logs_in(sub="19", preferred_username="mia", groups=["root"])
    more = {"ASSAY_SERVER_OIDC_CREATE": "false", "ASSAY_SERVER_OIDC_ADMINS": "", "ASSAY_SERVER_OIDC_READERS": ""}
    with served(home, **variables(idp.issuer, **more)) as server:
        async with server.client() as client:
            browser = Browser(client)
            assert (await browser.logs_in()).status_code == 303
            assert (await browser.me())["role"] == "reader"
    idp.logs_in(sub="20", preferred_username="ana")
    with served(home, **variables(idp.issuer, **more, ASSAY_SERVER_OIDC_LINK="true")) as server:
        async with server.client() as client:
            browser = Browser(client)
            assert (await browser.logs_in()).status_code == 303
            assert (await browser.me())["role"] == "admin"


async def test_who_is_unknown_may_be_kept_out(tmp_path: Path, idp: Running) -> None:
    idp.logs_in(sub="18", preferred_username="lou")
    more = {"ASSAY_SERVER_OIDC_CREATE": "false"}
    with served(tmp_path / "home", **variables(idp.issuer, **more)) as server:
        async with server.client() as client:
            answer = await Browser(client).logs_in()
            assert (answer.status_code, "not a user of this server" in answer.json()["detail"]) == (401, True)
    with served(tmp_path / "home", **variables(idp.issuer, ASSAY_SERVER_OIDC_ROLE="none")) as server:
        async with server.client() as client:
            assert "groups do not allow" in (await Browser(client).logs_in()).json()["detail"]


async def test_a_provider_which_says_it_is_another_is_none(tmp_path: Path, idp: Running) -> None:
    with served(tmp_path / "home", **variables(f"{idp.issuer}/another")) as server:
        async with server.client() as client:
            answer = await client.get(BEGIN)
            assert (answer.status_code, code(answer)) == (502, "service-failed")
            assert "server.oidc.issuer" in answer.json()["detail"]


async def test_a_provider_which_is_away_is_said(tmp_path: Path) -> None:
    with served(tmp_path / "home", **variables("http://127.0.0.1:9")) as server:
        async with server.client() as client:
            away = await client.get(BEGIN)
            assert code(away) == "service-failed"
            said = away.json()["detail"]
            assert said.startswith("the login provider (server.oidc.issuer) cannot be reached: 127.0.0.1:9 refuses")
            assert code(await client.get("/api/v1/runs")) == "login-needed"  # nobody is let in meanwhile


def test_settings_of_a_provider_are_checked(tmp_path: Path) -> None:
    for more in ({"ASSAY_SERVER_OIDC_ISSUER": "http://login.example.org"}, {"ASSAY_SERVER_OIDC_CLIENT_ID": ""}):
        with served(
            tmp_path / "home",
            ready=False,
            **variables(
                "http://127.0.0.1:9",
            )
            | more,
        ) as server:
            assert server.process.wait(timeout=300) != 0
            assert "server.oidc" in server.output()


# access tokens


@pytest.fixture(scope="module")
def resource(tmp_path_factory: pytest.TempPathFactory, idp: Running) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("resource") / "home"
    with served(home, **variables(idp.issuer, ASSAY_SERVER_OIDC_AUDIENCE=AUDIENCE, ASSAY_SEARCH_WEB="false")) as server:
        yield server


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_a_client_of_mcp_is_told_where_to_log_in_and_its_token_is_taken(resource: Served, idp: Running) -> None:
    async with resource.client() as client:
        for path in ("/mcp", "/v1/responses"):
            answer = await client.post(path, json={})
            url = "https://research.corp/.well-known/oauth-protected-resource/mcp"
            assert f'resource_metadata="{url}"' in answer.headers["www-authenticate"]
        for path in (urlsplit(url).path, "/.well-known/oauth-protected-resource"):
            data = (await client.get(path)).json()
            assert (data["resource"], data["authorization_servers"]) == (AUDIENCE, [idp.issuer])
    token = idp.logs_in(sub="30", preferred_username="nora", groups=["root"])
    async with (
        httpx2.AsyncClient(headers=bearer(token), timeout=WAIT, trust_env=False) as http,
        Client(streamable_http_client(f"{resource.url}/mcp", http_client=http)) as mcp,
    ):
        assert (await mcp.call_tool("list_runs", {})).structured_content == {"runs": []}
    async with resource.client(headers=bearer(token)) as client:
        me = (await client.get("/api/v1/auth/me")).json()
        assert (me["name"], me["permissions"], me["via"]) == ("nora", ["read", "write"], "token")
        assert code(await client.get("/api/v1/users")) == "forbidden"
        assert code(await client.post("/api/v1/tokens", json={})) == "forbidden"


@pytest.mark.parametrize(
    "wrong",
    [
        {"aud": "https://elsewhere.example/mcp"},
        {"aud": CLIENT},
        {"iss": "https://elsewhere.example"},
        {"exp": 1_000_000_000},
        {"typ": "JWT"},
        {"sub": ""},
    ],
)
async def test_a_token_for_another_or_of_another_kind_is_none(
    resource: Served, idp: Running, wrong: dict[str, Any]
) -> None:
    token = idp.logs_in(access=wrong, sub="31", preferred_username="otto", groups=[])
    async with resource.client(headers=bearer(token)) as client:
        assert code(await client.get("/api/v1/auth/me")) == "login-needed"
    broken = token.rsplit(".", 1)[0]
    for each in (f"{broken}.", f"{broken}.AAAA", "a.b.c", ".."):
        async with resource.client(headers=bearer(each)) as client:
            assert code(await client.get("/api/v1/auth/me")) == "login-needed"


async def test_a_token_which_says_little_is_good_for_a_known_user_alone(resource: Served, idp: Running) -> None:
    token = idp.logs_in(sub="32")
    async with resource.client() as client:
        assert code(await client.get("/api/v1/auth/me", headers=bearer(token))) == "login-needed"
        idp.logs_in(sub="32", preferred_username="pia", groups=["guests"])
        assert (await Browser(client).logs_in()).status_code == 303
        me = (await client.get("/api/v1/auth/me", headers=bearer(token))).json()
        assert (me["name"], me["role"], me["permissions"]) == ("pia", "reader", ["read"])


async def test_without_an_audience_no_token_of_the_provider_is_taken(server: Served, idp: Running) -> None:
    token = idp.logs_in(sub="33", preferred_username="quin")
    async with server.client() as client:
        answer = await client.get("/api/v1/auth/me", headers=bearer(token))
        assert answer.headers["www-authenticate"] == 'Bearer realm="assay"'
        assert (await client.get("/.well-known/oauth-protected-resource/mcp")).status_code == 404
