"""The tables `[server]` and `[server.oidc]`: what `assay serve` listens to, whom it lets in, and how much it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_settings import NoDecode

from assay.settings.sections import SettingsTable, names


def sites(values: tuple[str, ...]) -> tuple[str, ...]:
    """Sites as browsers name them: scheme, host and port, or `*` for all."""
    for value in values:
        parts = urlsplit(value)
        if value != "*" and (parts.scheme not in ("http", "https") or value != f"{parts.scheme}://{parts.netloc}"):
            raise ValueError("a site is named as browsers do: https://app.corp, with a port where it has one, or *")
    return tuple(value.lower() for value in values)


def secure(value: str) -> str:
    """An address of a provider: nobody between may read or change what it says."""
    parts = urlsplit(value.strip())
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if value and (parts.scheme not in ("https", "http") or not parts.netloc or parts.query or parts.fragment):
        raise ValueError("wanted is an address: https://login.example.org")
    if value and parts.scheme == "http" and not local:
        raise ValueError("give an address that begins with https://: http can be changed on the way")
    return value.strip()


class OidcSettings(SettingsTable):
    """Login at a provider of OpenID Connect; off where no issuer is named. The client's secret is `keys.oidc`."""

    issuer: Annotated[str, AfterValidator(secure)] = Field(
        "", description="address of the OpenID provider whose users may log in; unset: no such login"
    )
    client_id: str = Field("", description="the provider's id for this server")
    scopes: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        ("openid", "profile", "email"), description="scopes to request from the provider"
    )
    name_claim: str = Field("preferred_username", description="claim with the user's name")
    group_claim: str = Field("groups", description="claim with groups or roles; a dot names a field of an object")
    admins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="groups whose users are admins"
    )
    members: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="groups whose users are members"
    )
    readers: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="groups whose users are readers"
    )
    role: Literal["admin", "member", "reader", "none"] = Field(
        "member", description="role of users in none of these groups; none: they may not log in"
    )
    create: bool = Field(True, description="whether a first login creates a user")
    link: bool = Field(False, description="whether a first login may take over the local user of that name")
    audience: str = Field(
        "", description="audience of access tokens to accept from the provider (https://HOST/mcp); unset: none"
    )


class ServerSettings(SettingsTable):
    """`assay serve`."""

    host: str = Field("127.0.0.1", description="address the server listens on; anything but loopback needs users")
    port: int = Field(8484, ge=0, le=65_535, description="port the server listens on; 0: any free port")
    hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="host names of the server (research.corp), beside those of this machine"
    )
    folders: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="folders whose files runs may read by path"
    )
    origins: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names), AfterValidator(sites)] = Field(
        (), description="other sites whose pages may use the API (https://app.corp; CORS); *: all, without cookies"
    )
    upload_mb: int = Field(200, ge=1, le=100_000, description="largest uploaded file, in MB")
    streams: int = Field(50, ge=1, le=100_000, description="streams of events one user may have open")
    all_streams: int = Field(
        10_000, ge=1, le=1_000_000, description="streams of events that all users together may have open on one server"
    )
    requests_per_minute: int = Field(
        600, ge=0, le=1_000_000, description="requests a user may send a minute; 0: no limit"
    )
    runs_per_hour: int = Field(0, ge=0, le=1_000_000, description="runs and jobs a user may begin an hour; 0: no limit")
    webhook_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(names)] = Field(
        (), description="private hosts and networks that may receive webhooks (hooks.corp, 10.1.0.0/16)"
    )
    audit_days: float = Field(365, gt=0, description="days to keep the audit log; at most its last 100,000 entries")
    shares: bool = Field(True, description="whether reports may be shared by links that need no login")
    mcp_private: bool = Field(False, description="let clients of /mcp see documents of private collections")
    oidc: OidcSettings = OidcSettings()

    @model_validator(mode="before")
    @classmethod
    def _of_the_environment(cls, values: Any) -> Any:
        """`ASSAY_SERVER_OIDC_ISSUER` arrives as `oidc_issuer`."""
        if not isinstance(values, dict):
            return values
        given = {name.removeprefix("oidc_"): value for name, value in values.items() if name.startswith("oidc_")}
        kept = {name: value for name, value in values.items() if not name.startswith("oidc_")}
        table = kept.get("oidc", {})
        return {**kept, "oidc": {**table, **given}} if given and isinstance(table, dict) else kept
