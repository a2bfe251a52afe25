"""Login at an OpenID Connect provider: authorization code with PKCE, checked by OpenID Connect Core 3.1.3.7.

The provider's metadata (OpenID Connect Discovery) and keys are cached. Its tokens are checked with its published keys,
only with public-key algorithms: `none` and shared secrets are never accepted.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlencode

import httpx2
import msgspec
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from assay.core.errors import ConfigError, NotLoggedIn, ProviderFailed
from assay.core.ports.users import Credential, UserRole
from assay.core.remote_services import connection_problem, tls_context
from assay.server.id_claims import LEEWAY, Claims, claim_of, claims_in, describe_clock_skew, subject
from assay.services.users import Person
from assay.settings import Settings
from assay.settings.server import OidcSettings, check_secure_url

log = logging.getLogger(__name__)

TIMEOUT_SECONDS = 15.0
"""Seconds one answer of a provider may take."""
ANSWER_BYTES = 1_000_000
KEPT_SECONDS = 3_600.0
"""Seconds for which a provider's metadata is cached."""
KEYS_AGAIN_SECONDS = 30.0
"""Seconds between two requests for an unknown key."""
FAILED_SECONDS = 10.0
"""Seconds for which a failure is remembered: whoever comes meanwhile is told so at once, instead of waiting again."""
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
CLIENT_ERRORS = frozenset(("invalid_client", "unauthorized_client"))
"""Errors of OAuth 2 (RFC 6749, 5.2) about this server: no user can mend them."""
ACCESS_TYPES = ("at+jwt", "application/at+jwt")

T = TypeVar("T")


class _PublishedDocument(Generic[T]):
    """A document that the provider publishes: cached, and requested once for all who need it."""

    def __init__(self) -> None:
        self._cached: tuple[float, T] | None = None
        self._failure: tuple[float, str] | None = None
        self._lock = asyncio.Lock()

    async def get(self, request: Callable[[], Awaitable[T]], seconds: float = KEPT_SECONDS) -> T:
        """The document, requested now unless it was in the last `seconds`.

        Raises:
            ProviderFailed: the provider cannot be reached, perhaps a moment ago, or publishes something else.
        """
        if self._cached is not None and time.monotonic() - self._cached[0] <= seconds:
            return self._cached[1]  # without the lock: a failing request delays only those who need it
        async with self._lock:
            if self._cached is not None and time.monotonic() - self._cached[0] <= seconds:
                return self._cached[1]
            if self._failure is not None and time.monotonic() - self._failure[0] <= FAILED_SECONDS:
                raise ProviderFailed(self._failure[1])
            try:
                document = await request()
            except ProviderFailed as error:
                self._failure = time.monotonic(), str(error)
                raise
            self._cached, self._failure = (time.monotonic(), document), None
            return document


class LoginAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A login in progress, stored by the browser: nobody else has all three values. `back` is where it goes
    afterwards.
    """

    state: str
    nonce: str
    verifier: str
    back: str = "/"


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """A provider's metadata."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str = ""
    end_session_endpoint: str = ""
    id_token_signing_alg_values_supported: tuple[str, ...] = ("RS256",)
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class OidcProvider:
    """The provider in the settings."""

    def __init__(self, settings: OidcSettings, secret: str | None) -> None:
        self.settings, self._secret = settings, secret
        self._metadata, self._keys = _PublishedDocument[Metadata](), _PublishedDocument[KeySet]()

    # a login

    async def begin_login(self, redirect: str, back: str) -> tuple[str, LoginAttempt]:
        """The address where a browser logs in, and what it stores meanwhile.

        Raises:
            ProviderFailed: the provider cannot be reached, or is another one.
        """
        metadata = await self.metadata()
        attempt = LoginAttempt(
            state=secrets.token_urlsafe(24),
            nonce=secrets.token_urlsafe(24),
            verifier=secrets.token_urlsafe(48),
            back=back,
        )
        async with self._client(metadata, redirect) as client:
            url, _ = client.create_authorization_url(
                metadata.authorization_endpoint,
                state=attempt.state,
                nonce=attempt.nonce,
                code_verifier=attempt.verifier,
            )
        return str(url), attempt

    async def finish_login(self, attempt: LoginAttempt, code: str, redirect: str, issuer: str = "") -> Person:
        """Return who has logged in. `issuer` is who sent the browser back, if the provider says so (RFC 9207).

        Raises:
            NotLoggedIn: the provider's answer to the code is not valid.
            ProviderFailed: the provider cannot be reached, or is another one.
        """
        metadata = await self.metadata()
        if (issuer or metadata.authorization_response_iss_parameter_supported) and issuer != metadata.issuer:
            raise NotLoggedIn("another provider sent this answer")
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS), self._client(metadata, redirect) as client:
                token = await client.fetch_token(
                    metadata.token_endpoint,
                    grant_type="authorization_code",
                    code=code,
                    code_verifier=attempt.verifier,
                    redirect_uri=redirect,
                )
        except (httpx2.HTTPError, TimeoutError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise _provider_failure(error, metadata.token_endpoint) from error
        except AuthlibBaseError as error:
            words = str(error.error)[:80]
            if words in CLIENT_ERRORS:
                raise ProviderFailed(
                    f"the login provider refuses this server ({words}): check server.oidc.client_id, and the client's "
                    "secret (assay keys set oidc)"
                ) from error
            raise NotLoggedIn(f"the provider no longer accepts this login ({words}): begin again") from error
        if not isinstance(token, dict) or not isinstance(token.get("id_token"), str):
            raise NotLoggedIn("the provider gave no ID token")
        claims = await self._identity(metadata, token["id_token"], attempt.nonce, str(token.get("access_token", "")))
        person = self._person(await self._complete(metadata, claims, str(token.get("access_token", ""))))
        return msgspec.structs.replace(person, id_token=token["id_token"])

    async def logout_url(self, session: Credential, return_url: str) -> str:
        """The address where a browser ends its login at the provider too; "" if there is none.

        It follows OpenID Connect RP-Initiated Logout 1.0, 2. The provider sends the browser `return_url` if it knows
        that address.
        """
        if session.issuer != self.settings.issuer:
            return ""
        try:
            url = (await self.metadata()).end_session_endpoint
        except ProviderFailed as error:  # the session here has ended all the same
            log.warning("logout: %s", error)
            return ""
        if not url:
            return ""
        parameters = {"client_id": self.settings.client_id, "post_logout_redirect_uri": return_url}
        if session.id_token:
            parameters["id_token_hint"] = session.id_token
        return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"

    # tokens

    async def authenticate(self, token: str) -> Person:
        """Return who presents an access token of the provider (RFC 9068) for this server.

        Raises:
            NotLoggedIn: it is not valid, or not for this server.
            ProviderFailed: the provider cannot be reached, or is another one.
        """
        if not self.settings.audience:
            raise NotLoggedIn("access tokens of the provider are not accepted here")
        metadata = await self.metadata()
        header, claims = await self._decode(metadata, token)
        if str(header.get("typ", "")).lower() not in ACCESS_TYPES:
            raise NotLoggedIn("this is not an access token (typ at+jwt)")
        options = {
            "iss": {"essential": True, "value": metadata.issuer},
            "aud": {"essential": True, "value": self.settings.audience},
            "exp": {"essential": True},
            "sub": {"essential": True},
        }
        try:
            jwt.JWTClaimsRegistry(leeway=LEEWAY, **cast(Any, options)).validate(dict(claims))
        except JoseError as error:
            raise NotLoggedIn(f"the token is not valid: {error}") from error
        name, groups = (claim_of(claims, claim) for claim in (self.settings.name_claim, self.settings.group_claim))
        by_name = name is not None and (self.settings.name_claim != "email" or claims.get("email_verified") is True)
        if by_name and (groups is not None or not self._uses_groups):
            return msgspec.structs.replace(self._person(claims), link=False)
        return Person(subject=subject(claims), name="")  # it says too little to create a user

    async def _identity(self, metadata: Metadata, token: str, nonce: str, access: str) -> Claims:
        """The claims of an ID token, fully checked."""
        header, claims = await self._decode(metadata, token)
        options = {
            "iss": {"essential": True, "values": [metadata.issuer]},
            "aud": {"essential": True, "values": [self.settings.client_id]},
        }
        params = {"nonce": nonce, "client_id": self.settings.client_id, "access_token": access}
        try:
            CodeIDToken(claims, header, options, params).validate(leeway=LEEWAY)
        except (JoseError, AuthlibBaseError, KeyError, TypeError, ValueError) as error:
            raise NotLoggedIn(f"the provider's ID token is not valid: {error}{describe_clock_skew(claims)}") from error
        return claims

    async def _decode(self, metadata: Metadata, token: str) -> tuple[dict[str, Any], Claims]:
        """Header and claims of a token signed by the provider."""
        names = [name for name in metadata.id_token_signing_alg_values_supported if name in ALGORITHMS]
        registry = JWSRegistry(algorithms=names, strict_check_header=False)
        try:
            try:
                decoded = jws.deserialize_compact(token, await self._key_set(metadata), registry=registry)
            except InvalidKeyIdError:  # the provider may have a new key
                decoded = jws.deserialize_compact(token, await self._key_set(metadata, anew=True), registry=registry)
        except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
            reason = getattr(error, "description", "")
            raise NotLoggedIn(
                f"the token is not signed with a key of the provider{f': {reason}' if reason else ''}"
            ) from error
        return decoded.headers(), claims_in(decoded.payload)

    # the user

    async def _complete(self, metadata: Metadata, claims: Claims, access: str) -> Claims:
        """The claims, completed by those that the provider returns only on request (OpenID Connect Core 5.3)."""
        claim_name = self.settings.group_claim if self._uses_groups else self.settings.name_claim
        if not metadata.userinfo_endpoint or not access:
            return claims
        if claim_of(claims, claim_name) is not None and claim_of(claims, self.settings.name_claim) is not None:
            return claims
        answer = await self._json(metadata.userinfo_endpoint, {"Authorization": f"Bearer {access}"})
        if answer.get("sub") != claims["sub"]:
            raise NotLoggedIn("the provider described another user")
        return {**answer, **claims}

    @property
    def _uses_groups(self) -> bool:
        return bool(self.settings.admins or self.settings.members or self.settings.readers)

    def _person(self, claims: Claims) -> Person:
        claim_name = self.settings.name_claim
        name = claim_of(claims, claim_name)
        if claim_name == "email" and claims.get("email_verified") is not True:
            raise NotLoggedIn("the provider has not verified your address")
        if not isinstance(name, str) or not name.isprintable() or not name:
            raise NotLoggedIn(f"the provider does not say your {claim_name} (setting server.oidc.name_claim)")
        role = self._role(claim_of(claims, self.settings.group_claim))
        if role is None and self.settings.role == "none":
            raise NotLoggedIn("your groups do not allow you in here")
        user_role = cast(UserRole, self.settings.role) if role is None else role
        return Person(
            subject=subject(claims),
            name=name,
            role=user_role if self._uses_groups else None,  # else a known user keeps the role that an admin set
            first=user_role,
            create=self.settings.create,
            link=self.settings.link,
        )

    def _role(self, value: object) -> UserRole | None:
        """The highest role of any of the groups."""
        names = value.replace(",", " ").split() if isinstance(value, str) else value
        groups = {group for group in names if isinstance(group, str)} if isinstance(names, list) else set()
        groups_by_role: dict[UserRole, tuple[str, ...]] = {
            "admin": self.settings.admins,
            "member": self.settings.members,
            "reader": self.settings.readers,
        }
        return next((role for role, role_groups in groups_by_role.items() if groups & set(role_groups)), None)

    # the provider's metadata

    async def metadata(self) -> Metadata:
        """The provider's metadata.

        Raises:
            ProviderFailed: it cannot be reached, or is another one than in the settings.
        """
        return await self._metadata.get(self._discover)

    async def _discover(self) -> Metadata:
        issuer = self.settings.issuer
        metadata = await self._json(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        try:
            provider_metadata = msgspec.convert(metadata, Metadata)
            endpoints = (
                provider_metadata.authorization_endpoint,
                provider_metadata.token_endpoint,
                provider_metadata.jwks_uri,
                provider_metadata.userinfo_endpoint,
            )
            for url in (*endpoints, provider_metadata.end_session_endpoint):
                check_secure_url(url.partition("?")[0])
        except (msgspec.ValidationError, ValueError) as error:
            raise ProviderFailed(f"{issuer} has invalid metadata: {error}") from error
        if provider_metadata.issuer != issuer:
            raise ProviderFailed(
                f"{issuer} says that it is {provider_metadata.issuer[:200]!r}: name it so in server.oidc.issuer"
            )
        return provider_metadata

    async def _key_set(self, metadata: Metadata, *, anew: bool = False) -> KeySet:
        async def request() -> KeySet:
            keys = await self._json(metadata.jwks_uri)
            try:
                return KeySet.import_key_set(cast(Any, keys))
            except (JoseError, KeyError, TypeError, ValueError) as error:
                raise ProviderFailed(f"the login provider has no valid keys at {metadata.jwks_uri}") from error

        return await self._keys.get(request, KEYS_AGAIN_SECONDS if anew else KEPT_SECONDS)

    async def _json(self, url: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
        try:
            async with (
                asyncio.timeout(TIMEOUT_SECONDS),
                httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, verify=tls_context(from_environment=True)) as client,
                client.stream("GET", url, headers={"Accept": "application/json"} | (headers or {})) as response,
            ):
                response.raise_for_status()
                data = b""
                async for piece in response.aiter_bytes():
                    data += piece
                    if len(data) > ANSWER_BYTES:
                        raise ProviderFailed(f"{url} answers with more than {ANSWER_BYTES:,} bytes")
            return msgspec.json.decode(data, type=dict[str, Any])
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, msgspec.MsgspecError) as error:
            raise _provider_failure(error, url) from error

    def _client(self, metadata: Metadata, redirect: str) -> Any:
        methods = metadata.token_endpoint_auth_methods_supported
        method = "client_secret_basic" if "client_secret_basic" in methods else "client_secret_post"
        return AsyncOAuth2Client(
            client_id=self.settings.client_id,
            client_secret=self._secret,
            token_endpoint_auth_method=method if self._secret else "none",
            scope=" ".join(self.settings.scopes),
            redirect_uri=redirect,
            code_challenge_method="S256",
            timeout=TIMEOUT_SECONDS,
        )


def _provider_failure(error: Exception, url: str) -> ProviderFailed:
    """Why the provider gave no answer at `url` that can be read, and what to do."""
    advice = "try again later, or check server.oidc.issuer"
    if isinstance(error, httpx2.HTTPStatusError):
        return ProviderFailed(f"the login provider answers {error.response.status_code} at {url}: {advice}")
    if isinstance(error, httpx2.TransportError | TimeoutError):
        problem = connection_problem(error, url)
        return ProviderFailed(f"the login provider (server.oidc.issuer) cannot be reached: {problem}")
    return ProviderFailed(f"the login provider does not answer as it should at {url}: {advice}")


def provider_of(settings: Settings) -> OidcProvider:
    """The provider in the settings, which name one.

    Raises:
        ConfigError: its settings are incomplete.
    """
    oidc = settings.server.oidc
    if not oidc.client_id:
        raise ConfigError(
            "server.oidc.issuer is set, but server.oidc.client_id is not: set it to the id your provider gave you"
        )
    key = settings.keys.oidc
    return OidcProvider(oidc, key.reveal() if key is not None else None)
