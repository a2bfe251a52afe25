"""A server behind a proxy: what the proxy says of the request counts if the proxy is known, and is missed aloud if not.

The proxies' addresses are those of loopback: a client may send from any of 127.0.0.0/8.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from accounts import accounts
from oidc_browser import BEGIN, variables
from oidc_provider import Running
from serving import WAIT, Served, served
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from assay.core.errors import ConfigError
from assay.server.app import trusted_proxies
from assay.settings import load

HERE, THERE, NETWORK = "127.0.0.1", "127.7.0.3", "127.7.0.0/16"
SAID = {"Host": "research.corp", "X-Forwarded-Proto": "https", "X-Forwarded-For": "198.51.100.7"}


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, idp: Running) -> Iterator[Served]:
    home = accounts(tmp_path_factory.mktemp("proxied") / "home", ana="admin")
    known = {"ASSAY_SERVER_HOSTS": "research.corp", "ASSAY_SERVER_PROXIES": NETWORK}
    with served(home, **variables(idp.issuer), **known) as server:
        yield server


async def redirect(server: Served, sender: str) -> str:
    """The address to which the provider is to send the browser back, if `sender` is the proxy."""
    transport = httpx.AsyncHTTPTransport(local_address=sender)
    async with httpx.AsyncClient(base_url=server.url, transport=transport, timeout=WAIT) as client:
        answer = await client.get(BEGIN, headers=SAID)
    return parse_qs(urlsplit(answer.headers["location"]).query)["redirect_uri"][0]


@pytest.mark.parametrize("sender", [HERE, THERE])
async def test_what_a_known_proxy_says_counts(behind: Served, sender: str) -> None:
    assert await redirect(behind, sender) == "https://research.corp/api/v1/auth/oidc/callback"
    assert "server.proxies" not in behind.output()


async def test_what_another_says_does_not_and_the_log_names_the_setting(behind: Served) -> None:
    for _ in range(2):
        assert await redirect(behind, "127.8.0.3") == "http://research.corp/api/v1/auth/oidc/callback"
    told = [line for line in behind.output().splitlines() if "server.proxies" in line]
    assert len(told) == 1
    assert "127.8.0.3" in told[0]


def test_a_socket_for_both_kinds_of_addresses_knows_the_same_proxies() -> None:
    known = ProxyHeadersMiddleware(cast(Any, None), trusted_proxies(["10.0.0.0/8", "fd00::/8"])).trusted_hosts
    assert all(each in known for each in (HERE, f"::ffff:{HERE}", "::1", "10.0.0.5", "::ffff:10.0.0.5", "fd00::5"))
    assert not any(each in known for each in ("11.0.0.5", "::ffff:11.0.0.5", "fe80::5", ""))


@pytest.mark.parametrize("users", [{}, {"ana": "admin"}])
def test_a_server_for_a_proxy_without_users_says_that_it_is_open(tmp_path: Path, users: dict[str, Any]) -> None:
    with served(accounts(tmp_path / "home", **users), ASSAY_SERVER_HOSTS="research.corp") as server:
        assert ("research.corp through a proxy needs no login" in server.output()) is not bool(users)
    with served(accounts(tmp_path / "other", **users)) as server:
        assert "needs no login" not in server.output()


@pytest.mark.parametrize("proxy", ["proxy.corp", "10.0.0.0/99", "10.0.0.5/8", "*"])
def test_a_proxy_is_an_address_or_a_network(tmp_path: Path, monkeypatch: Any, proxy: str) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_SERVER_PROXIES", proxy)
    with pytest.raises(ConfigError, match=r"10\.0\.0\.0/8"):
        load()


@pytest.mark.parametrize("proxy", ["0.0.0.0/0", "::/0", "0.0.0.0/1", "2000::/3", "::ffff:0.0.0.0/96"])
def test_a_network_of_everybody_is_no_proxy(tmp_path: Path, monkeypatch: Any, proxy: str) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_SERVER_PROXIES", proxy)
    with pytest.raises(ConfigError, match="too wide"):
        load()


@pytest.mark.parametrize("proxy", ["10.0.0.0/8", "fc00::/7", "2001:db8::1", "::ffff:10.0.0.0/104"])
def test_a_private_network_may_be_one_of_proxies(tmp_path: Path, monkeypatch: Any, proxy: str) -> None:
    monkeypatch.setenv("ASSAY_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("ASSAY_SERVER_PROXIES", proxy)
    assert load().server.proxies == (proxy,)
