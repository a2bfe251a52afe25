"""The claims of a provider's tokens: who they are about, what they say, and when they were issued."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from assay.core.errors import NotLoggedIn

LEEWAY = 60
"""Seconds by which two clocks may differ."""

Claims = Mapping[str, Any]

Time = Annotated[float, Meta(ge=0, lt=1e11)]


class Times(msgspec.Struct, frozen=True):
    """The claims that are times, in seconds since 1970."""

    iat: Time = 0
    exp: Time = 0
    nbf: Time = 0
    auth_time: Time | None = None


def claims_in(payload: bytes) -> Claims:
    """The claims in a token's payload.

    Raises:
        NotLoggedIn: it is not a JSON object (RFC 8259: no NaN, no halves of characters), or a time is none.
    """
    try:
        claims = msgspec.json.decode(payload, type=dict[str, Any])
        msgspec.convert(claims, Times)
    except (ValueError, RecursionError) as error:
        raise NotLoggedIn(f"the token's claims are not valid: {error}") from error
    return claims


def describe_clock_skew(claims: Claims) -> str:
    """A sentence about the clocks, if the token was issued at another time than now."""
    issued_at = claims.get("iat")
    if issued_at is None or abs(issued_at - time.time()) <= LEEWAY:
        return ""
    late = "ahead of" if issued_at > time.time() else "behind"
    return f" (the provider's clock is {abs(issued_at - time.time()):.0f} s {late} this server's: set both by NTP)"


def subject(claims: Claims) -> str:
    """The account of a user at the provider.

    Raises:
        NotLoggedIn: the token does not name it.
    """
    account = claims.get("sub")
    if not isinstance(account, str) or not account.isprintable() or not 0 < len(account) <= 255:
        raise NotLoggedIn("the provider does not say who you are (sub)")
    return f"{claims['iss']} {account}"


def claim_of(claims: Claims, name: str) -> object:
    """A claim; for `realm_access.roles` the `roles` in the claim `realm_access`, unless a claim has that name."""
    if name in claims or "." not in name:
        return claims.get(name)
    first, _, inner_name = name.partition(".")
    inner = claims.get(first)
    return claim_of(inner, inner_name) if isinstance(inner, dict) else None
