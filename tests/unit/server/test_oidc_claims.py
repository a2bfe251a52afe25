"""Tokens with claims of any type and size: what is no proper claim is refused by name, and nothing breaks."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from away_provider import Away, away
from joserfc import jwt
from joserfc.jwk import ECKey
from sampling import sampled

from assay.core.errors import NotLoggedIn, ProviderFailed
from assay.server.oidc import LoginAttempt, OidcProvider
from assay.services.users import Person

KEY = ECKey.generate_key("P-256", {"kid": "one", "use": "sig"})
ATTEMPT = LoginAttempt(state="s", nonce="n", verifier="v" * 43)
TIMES = ("iat", "exp", "nbf", "auth_time")
TEXTS = ("iss", "sub", "aud", "nonce", "azp", "amr", "at_hash", "jti", "preferred_username", "groups", "email_verified")
NO_TIMES: tuple[Any, ...] = (
    int("9" * 400), -(10**300), 1e300, -1e300, -5, 1e12, float("nan"), float("inf"), -float("inf"), True, "", "soon",
    "1e999", [], [5], {"a": 1},
)  # fmt: skip
ODD: tuple[Any, ...] = (*NO_TIMES, None, False, 0, "\x00", "\ud800", "x" * 100_000, [None], [[]], ["\ud800"], {"$": {}})


@asynccontextmanager
async def provider() -> AsyncIterator[tuple[Away, OidcProvider]]:
    """A provider whose metadata, keys and tokens are one document."""
    async with away() as (there, found):
        issuer = found.settings.issuer
        document = {"issuer": issuer, "jwks_uri": f"{issuer}/j", "keys": [KEY.as_dict(private=False)]}
        document |= {"authorization_endpoint": f"{issuer}/a", "token_endpoint": f"{issuer}/t"}
        there.answer = json.dumps(document | {"id_token_signing_alg_values_supported": ["ES256"]}).encode()
        await found.metadata()
        yield there, found


async def logged_in(there: Away, found: OidcProvider, **claims: Any) -> list[Person | NotLoggedIn]:
    """Who an access token and an ID token with these claims name, or the refusals."""
    now = int(time.time())
    issuer, usual = found.settings.issuer, {"sub": "7", "iat": now, "exp": now + 60, "preferred_username": "ana"}
    own = {"iss": issuer, "aud": "https://a.example"}
    access = signed({**usual, **own, **claims}, "at+jwt")
    identity = signed({**usual, **own, "aud": "c", "nonce": "n", **claims}, "JWT")
    answers: list[Person | NotLoggedIn] = []
    try:
        answers.append(await found.authenticate(access))
    except NotLoggedIn as error:
        answers.append(error)
    there.answer = json.dumps({**json.loads(there.answer), "access_token": "a", "id_token": identity}).encode()
    try:
        answers.append(await found.finish_login(ATTEMPT, "code", "https://research.corp/back"))
    except NotLoggedIn as error:
        answers.append(error)
    return answers


def signed(claims: dict[str, Any], kind: str) -> str:
    """A token with these claims, which need not be valid JSON."""
    header = {"alg": "ES256", "kid": "one", "typ": kind}
    return jwt.encode(header, claims, KEY, encoder_cls=_Ascii)


class _Ascii(json.JSONEncoder):
    """Writes halves of characters as escapes."""

    def encode(self, o: Any) -> str:
        return json.dumps(o)


async def test_a_token_in_order_logs_in() -> None:
    async with provider() as (there, found):
        for more in ({}, {"nbf": 5.5, "auth_time": None, "amr": ["pwd"]}):
            assert [each.name for each in await logged_in(there, found, **more) if isinstance(each, Person)] == [
                "ana"
            ] * 2


@pytest.mark.parametrize("name", TIMES)
async def test_a_time_that_is_none_is_refused_by_name(name: str) -> None:
    async with provider() as (there, found):
        for value in NO_TIMES:
            for answer in await logged_in(there, found, **{name: value}):
                assert isinstance(answer, NotLoggedIn), (value, answer)


async def test_a_clock_that_is_far_ahead_is_named() -> None:
    async with provider() as (there, found):
        _, answer = await logged_in(there, found, iat=5e10)
    assert "the provider's clock is" in str(answer)


@pytest.mark.parametrize("value", sampled(ODD, 5), ids=lambda value: repr(value)[:20])
async def test_claims_of_any_type_break_nothing(value: Any) -> None:
    async with provider() as (there, found):
        for name in (*TEXTS, "unknown"):
            for answer in await logged_in(there, found, **{name: value}):
                assert isinstance(answer, NotLoggedIn) or (answer.subject + answer.name).isprintable()


@pytest.mark.parametrize(
    "answer", [b"5", b'"error"', b"[]", b"null", b'{"expires_in": 1e999}', b'{"expires_at": []}', b"[" * 100_000]
)
async def test_an_answer_of_any_type_to_a_code_breaks_nothing(answer: bytes) -> None:
    async with provider() as (there, found):
        there.answer = answer
        with pytest.raises((NotLoggedIn, ProviderFailed)):
            await found.finish_login(ATTEMPT, "code", "https://research.corp/back")
