"""A provider that is away: one request waits for it, the others are told, and tokens of Assay itself need it not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from away_provider import away, metadata_of
from joserfc import jws
from joserfc.jwk import RSAKey
from starlette.requests import HTTPConnection

from assay import Assay
from assay.core.errors import NotLoggedIn, ProviderFailed
from assay.server import oidc
from assay.server.gate import identify


async def test_a_failure_is_remembered_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oidc, "TIMEOUT_SECONDS", 1.0)
    async with away() as (there, provider):
        told = await asyncio.gather(*(provider.authenticate("a.b.c") for _ in range(20)), return_exceptions=True)
        assert {type(each) for each in told} == {ProviderFailed}
        assert len({str(each) for each in told}) == 1
        assert there.connections <= 1  # a busy machine may not even connect in time
        there.connections = 0
        monkeypatch.setattr(oidc, "TIMEOUT_SECONDS", 60.0)
        monkeypatch.setattr(oidc, "FAILED_SECONDS", 0.0)
        issuer = provider.settings.issuer
        there.answer = metadata_of(provider)
        assert (await provider.metadata()).issuer == issuer
        there.answer = b""
        assert (await provider.metadata()).issuer == issuer  # cached
        assert there.connections == 1


ATTEMPT = oidc.LoginAttempt(state="s", nonce="n", verifier="v")
ADVICE = "try again later, or check server.oidc.issuer"


@pytest.mark.parametrize(
    ("status", "answer", "said"),
    [
        (503, b"", f"answers 503 at {{url}}: {ADVICE}"),
        (200, b"<html>", f"does not answer as it should at {{url}}: {ADVICE}"),
        (
            200,
            b"",
            "(server.oidc.issuer) cannot be reached: {host} does not answer in time: check the address and the network",
        ),
    ],
)
async def test_what_is_wrong_is_said_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, status: int, answer: bytes, said: str
) -> None:
    async with away() as (there, provider):
        issuer, host = provider.settings.issuer, provider.settings.issuer.removeprefix("http://")
        there.answer = metadata_of(provider)
        await provider.metadata()
        there.status, there.answer = status, answer
        if status == 200 and not answer:
            monkeypatch.setattr(oidc, "TIMEOUT_SECONDS", 1.0)
        other = oidc.OidcProvider(provider.settings, None)
        for ask, url in (
            (other.metadata(), f"{issuer}/.well-known/openid-configuration"),
            (provider.finish_login(ATTEMPT, "code", "http://here/back"), f"{issuer}/token"),
        ):
            with pytest.raises(ProviderFailed) as failed:
                await ask
            assert str(failed.value) == f"the login provider {said.format(url=url, host=host)}"


async def test_what_is_wrong_with_keys_and_signatures() -> None:
    async with away() as (there, provider):
        there.answer = metadata_of(provider)
        with pytest.raises(ProviderFailed, match=f"has no valid keys at {provider.settings.issuer}/jwks"):
            await provider.authenticate("a.b.c")
    for token, said in (
        ("a.b.c", "the token is not signed with a key of the provider: Invalid header"),
        (
            jws.serialize_compact({"alg": "RS256"}, b"{}", RSAKey.generate_key()),
            "not signed with a key of the provider$",
        ),
    ):
        async with away() as (there, provider):
            there.answer = metadata_of(provider)
            await provider.metadata()
            there.answer = json.dumps({"keys": [RSAKey.generate_key().as_dict(private=False)]}).encode()
            with pytest.raises(NotLoggedIn, match=said):
                await provider.authenticate(token)


async def test_nobody_listens_there() -> None:
    async with away() as (there, provider):
        there.answer = metadata_of(provider)
        await provider.metadata()
    other = oidc.OidcProvider(provider.settings, None)
    host = provider.settings.issuer.removeprefix("http://")
    for ask in (other.metadata(), provider.finish_login(ATTEMPT, "code", "http://here/back")):
        with pytest.raises(
            ProviderFailed, match=f"cannot be reached: {host} refuses the connection: check the address"
        ):
            await ask


async def test_a_token_of_assay_never_waits_for_the_provider(tmp_path: Path) -> None:
    async with away() as (there, provider), Assay(home=tmp_path / "home") as assay:
        await assay.users.add("ana", None)
        _, secret = await assay.users.new_token("ana", "t")
        waiting = asyncio.ensure_future(provider.metadata())
        while not there.connections:
            await asyncio.sleep(0.01)
        for sent in (secret, "assay_a.b.c"):
            scope = {"type": "http", "headers": [(b"authorization", f"Bearer {sent}".encode())]}
            async with asyncio.timeout(oidc.TIMEOUT_SECONDS / 2):
                who = await identify(assay.users, HTTPConnection(scope), provider)
            assert (who.name if who else None) == ("ana" if sent == secret else None)
        assert not waiting.done()
        waiting.cancel()
