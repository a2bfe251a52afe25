"""A provider of OpenID Connect in a process of its own, on a free port of loopback: standards-true, wrong on request.

It keeps to OpenID Connect Core and Discovery, RFC 6749 (codes once, exact redirects), RFC 7636 (S256 demanded), RFC
9068 (access tokens) and RFC 9207 (`iss` in answers). Nobody types a password at it: `POST /control` says who is logged
in, and what is to go wrong.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

import httpx
import uvicorn
import warm
from joserfc import jwt
from joserfc.jwk import RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

CLIENT, SECRET = "assay-test", "the-secret-of-the-client"
AUDIENCE = "https://research.corp/mcp"
WAIT = 120.0


@dataclass
class Grant:
    """A code which was given."""

    redirect: str
    challenge: str
    nonce: str
    person: dict[str, Any]


@dataclass
class Provider:
    """What the process knows."""

    issuer: str
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))
    other: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "two", "use": "sig"}))
    person: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    codes: dict[str, Grant] = field(default_factory=dict)
    access: dict[str, dict[str, Any]] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)

    def metadata(self, _request: Request) -> JSONResponse:
        return JSONResponse(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                "jwks_uri": f"{self.issuer}/jwks",
                "end_session_endpoint": f"{self.issuer}/logout",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "code_challenge_methods_supported": ["S256"],
                "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
                "authorization_response_iss_parameter_supported": True,
            }
        )

    def jwks(self, _request: Request) -> JSONResponse:
        keys = [self.key, self.other] if self.fault == "new key" else [self.key]
        return JSONResponse({"keys": [key.as_dict(private=False) for key in keys]})

    def authorize(self, request: Request) -> Any:
        asked = request.query_params
        if asked.get("client_id") != CLIENT or not asked.get("redirect_uri", "").endswith("/api/v1/auth/oidc/callback"):
            return JSONResponse({"error": "invalid_request"}, 400)
        back = {"state": asked.get("state", ""), "iss": self.issuer}
        if self.fault == "denied":
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back | {'error': 'access_denied'})}", 302)
        wrong = asked.get("response_type") != "code" or "openid" not in asked.get("scope", "").split()
        if wrong or asked.get("code_challenge_method") != "S256" or not asked.get("nonce") or not back["state"]:
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back | {'error': 'invalid_request'})}", 302)
        code = secrets.token_urlsafe(16)
        self.codes[code] = Grant(asked["redirect_uri"], asked["code_challenge"], asked["nonce"], dict(self.person))
        if self.fault == "answers for another":
            back["iss"] = "https://elsewhere.example"
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back | {'code': code})}", 302)

    async def token(self, request: Request) -> JSONResponse:
        form = await request.form()
        name, _, secret = (
            base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode().partition(":")
        )
        if (name, secret) != (CLIENT, SECRET):
            return JSONResponse({"error": "invalid_client"}, 401)
        grant = self.codes.pop(str(form.get("code", "")), None)  # once
        verifier = str(form.get("code_verifier", ""))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        if (
            grant is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != grant.redirect
            or not secrets.compare_digest(challenge, grant.challenge)
        ):
            return JSONResponse({"error": "invalid_grant"}, 400)
        access = self.signed_access(grant.person)
        self.access[access] = grant.person
        body = {"access_token": access, "token_type": "Bearer", "expires_in": 300}
        return JSONResponse(body | {"id_token": self.identity(grant, access)}, headers={"Cache-Control": "no-store"})

    def identity(self, grant: Grant, access: str) -> str:
        """An ID token, with the fault asked for."""
        now = int(time.time())
        half = hashlib.sha256(access.encode()).digest()[:16]
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": grant.nonce,
            "at_hash": base64.urlsafe_b64encode(half).rstrip(b"=").decode(),
            **{name: value for name, value in grant.person.items() if not name.startswith("userinfo_")},
        }
        claims |= FAULTS.get(self.fault, {})
        if self.fault == "expired":
            claims |= {"iat": now - 4_000, "exp": now - 3_600}
        if self.fault == "no subject":
            del claims["sub"]
        if self.fault == "algorithm none":
            return f"{_part({'alg': 'none'})}.{_part(claims)}."
        if self.fault == "public key as secret":
            signed = f"{_part({'alg': 'HS256', 'kid': 'one'})}.{_part(claims)}"
            mac = hmac.digest(self.key.as_pem(private=False), signed.encode(), "sha256")
            return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
        if self.fault in ("unknown key", "new key"):
            return jwt.encode({"alg": "RS256", "kid": "two"}, claims, self.other)
        if self.fault == "signed by another":
            return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.other)
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)

    def signed_access(self, person: dict[str, Any], **more: Any) -> str:
        """An access token of RFC 9068 for the MCP server."""
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "client_id": CLIENT,
            "iat": now,
            "exp": now + 300,
            "jti": secrets.token_hex(8),
        }
        typ = more.pop("typ", "at+jwt")
        return jwt.encode({"alg": "RS256", "kid": "one", "typ": typ}, claims | person | more, self.key)

    def userinfo(self, request: Request) -> JSONResponse:
        person = self.access.get(request.headers.get("authorization", "").removeprefix("Bearer "))
        if person is None:
            return JSONResponse({"error": "invalid_token"}, 401)
        text = {name.removeprefix("userinfo_"): value for name, value in person.items() if name != "sub"}
        return JSONResponse(text | {"sub": "another" if self.fault == "userinfo of another" else person["sub"]})

    def logout(self, request: Request) -> Any:
        """RP-Initiated Logout 1.0: the hint says whose session ends, and only a known address is gone back to."""
        found = request.query_params
        try:
            hint = jwt.decode(found.get("id_token_hint", ""), self.key, algorithms=["RS256"]).claims
        except ValueError as error:
            return JSONResponse({"error": type(error).__name__}, 400)
        back = found.get("post_logout_redirect_uri", "")
        if found.get("client_id") != CLIENT or hint["aud"] != CLIENT or not back.endswith("/login"):
            return JSONResponse({"error": "invalid_request"}, 400)
        self.ended.append(str(hint["sub"]))
        return RedirectResponse(back, 302)

    async def control(self, request: Request) -> JSONResponse:
        given = await request.json()
        self.person, self.fault = given.get("person", self.person), given.get("fault", "")
        access = {**given.get("access", {})}
        return JSONResponse({"access_token": self.signed_access(self.person, **access), "ended": self.ended})


FAULTS: dict[str, dict[str, Any]] = {
    "wrong nonce": {"nonce": "another"},
    "wrong audience": {"aud": "another-client"},
    "several audiences": {"aud": [CLIENT, "another-client"], "azp": "another-client"},
    "wrong issuer": {"iss": "https://elsewhere.example"},
    "wrong access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


def _part(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def main(port: int) -> None:
    provider = Provider(f"http://127.0.0.1:{port}")
    routes = [
        Route("/.well-known/openid-configuration", provider.metadata),
        Route("/another/.well-known/openid-configuration", provider.metadata),
        Route("/jwks", provider.jwks),
        Route("/authorize", provider.authorize),
        Route("/token", provider.token, methods=["POST"]),
        Route("/userinfo", provider.userinfo),
        Route("/logout", provider.logout),
        Route("/control", provider.control, methods=["POST"]),
    ]
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


@dataclass
class Running:
    """The process, from outside."""

    issuer: str

    def logs_in(self, fault: str = "", access: dict[str, Any] | None = None, **person: Any) -> str:
        """Who is logged in at the provider from now on, and what goes wrong; an access token of his."""
        body = {"fault": fault, "access": access or {}, **({"person": person} if person else {})}
        answer = httpx.post(f"{self.issuer}/control", json=body, timeout=WAIT, trust_env=False, verify=False)
        return str(answer.json()["access_token"])

    def ended(self) -> list[str]:
        """Whose sessions ended at the provider."""
        answer = httpx.post(f"{self.issuer}/control", json={}, timeout=WAIT, trust_env=False, verify=False)
        return list(answer.json()["ended"])


@contextmanager
def provider() -> Iterator[Running]:
    """A provider, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = warm.call(main, port)
    try:
        end = time.monotonic() + WAIT
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/jwks", trust_env=False, timeout=WAIT, verify=False)
                break
            except httpx.HTTPError:
                assert time.monotonic() < end, "the provider did not come up"
                time.sleep(0.05)
        yield Running(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait(timeout=WAIT)
