"""The tables `[server]` and `[server.oidc]`: what `assay serve` listens to, whom it lets in, and how much it takes."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from assay.settings.sections import Key, SettingsTable
from assay.settings.texts import address_parts, split_names


def check_sites(values: tuple[str, ...]) -> tuple[str, ...]:
    """Sites as browsers name them: scheme, host and port, or `*` for all."""
    for value in values:
        parts = address_parts(value)
        if value != "*" and (parts.scheme not in ("http", "https") or value != f"{parts.scheme}://{parts.netloc}"):
            raise ValueError("a site is named as browsers do: https://app.corp, with a port where it has one, or *")
    return tuple(value.lower() for value in values)


MIN_PREFIX_BITS = {4: 8, 6: 7}
"""The shortest prefixes of networks of proxies, those of the private 10.0.0.0/8 and fc00::/7."""


def check_networks(values: tuple[str, ...]) -> tuple[str, ...]:
    """Addresses and networks of proxies. Not `*` or 0.0.0.0/0: anybody could then claim any address."""
    for value in values:
        try:
            network = ipaddress.ip_network(value)
        except ValueError:
            raise ValueError("name a proxy by its address or its network: 10.0.0.5, 10.0.0.0/8") from None
        if (
            isinstance(network, ipaddress.IPv6Network)
            and network.network_address.ipv4_mapped
            and network.prefixlen >= 96
        ):
            network = ipaddress.ip_network(f"{network.network_address.ipv4_mapped}/{network.prefixlen - 96}")
        if network.prefixlen < MIN_PREFIX_BITS[network.version]:
            raise ValueError(f"{value} is too wide, anybody could claim any address: name your proxy's own, 10.0.0.5")
    return values


def check_secure_url(value: str) -> str:
    """An address of a provider: nobody between may read or change what it says."""
    parts = address_parts(value.strip())
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if value and (parts.scheme not in ("https", "http") or not parts.netloc or parts.query or parts.fragment):
        raise ValueError("expected an address: https://login.example.org")
    if value and parts.scheme == "http" and not local:
        raise ValueError("give an address that begins with https://: http can be changed on the way")
    return value.strip()


class OidcSettings(SettingsTable, frozen=True, kw_only=True):
    """Login at a provider of OpenID Connect; off where no issuer is named. The client's secret is `keys.oidc`."""

    issuer: Annotated[
        str,
        Meta(description="address of the OpenID provider whose users may log in; unset: no such login"),
        check_secure_url,
    ] = ""
    client_id: Annotated[str, Meta(description="the provider's id for this server")] = ""
    scopes: Annotated[tuple[str, ...], split_names, Meta(description="scopes to request from the provider")] = (
        "openid",
        "profile",
        "email",
    )
    name_claim: Annotated[str, Meta(description="claim with the user's name")] = "preferred_username"
    group_claim: Annotated[str, Meta(description="claim with groups or roles; a dot names a field of an object")] = (
        "groups"
    )
    admins: Annotated[tuple[str, ...], split_names, Meta(description="groups whose users are admins")] = ()
    members: Annotated[tuple[str, ...], split_names, Meta(description="groups whose users are members")] = ()
    readers: Annotated[tuple[str, ...], split_names, Meta(description="groups whose users are readers")] = ()
    role: Annotated[
        Literal["admin", "member", "reader", "none"],
        Meta(description="role of users in none of these groups; none: they may not log in"),
    ] = "member"
    create: Annotated[bool, Meta(description="whether a first login creates a user")] = True
    link: Annotated[bool, Meta(description="whether a first login may take over the local user of that name")] = False
    audience: Annotated[
        str, Meta(description="audience of access tokens to accept from the provider (https://HOST/mcp); unset: none")
    ] = ""


class ServerSettings(SettingsTable, frozen=True, kw_only=True):
    """`assay serve`."""

    host: Annotated[str, Meta(description="address the server listens on; anything but loopback needs users")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=0, le=65_535, description="port the server listens on; 0: any free port")] = 8484
    hosts: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="host names of the server (research.corp), beside those of this machine"),
    ] = ()
    proxies: Annotated[
        tuple[str, ...],
        split_names,
        Meta(
            description="addresses and networks of proxies on other machines that are believed (10.0.0.5, 10.0.0.0/8)"
        ),
        check_networks,
    ] = ()
    folders: Annotated[
        tuple[Path, ...], split_names, Meta(description="folders whose files runs may read by path")
    ] = ()
    origins: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="other sites whose pages may use the API (https://app.corp; CORS); *: all, without cookies"),
        check_sites,
    ] = ()
    upload_mb: Annotated[int, Meta(ge=1, le=100_000, description="largest uploaded file, in MB")] = 200
    streams: Annotated[int, Meta(ge=1, le=100_000, description="streams of events one user may have open")] = 50
    all_streams: Annotated[
        int,
        Meta(ge=1, le=1_000_000, description="streams of events that all users together may have open on one server"),
    ] = 10_000
    requests_per_minute: Annotated[
        int, Meta(ge=0, le=1_000_000, description="requests a user may send a minute; 0: no limit")
    ] = 600
    runs_per_hour: Annotated[
        int, Meta(ge=0, le=1_000_000, description="runs and jobs a user may begin an hour; 0: no limit")
    ] = 0
    webhook_hosts: Annotated[
        tuple[str, ...],
        split_names,
        Meta(description="private hosts and networks that may receive webhooks (hooks.corp, 10.1.0.0/16)"),
    ] = ()
    audit_days: Annotated[
        float, Meta(gt=0, description="days to keep the audit log; at most its last 100,000 entries")
    ] = 365
    shares: Annotated[bool, Meta(description="whether reports may be shared by links that need no login")] = True
    metrics_token: Annotated[
        Key, Meta(description="bearer token that may read /metrics, also while the database is away; unset: none")
    ] = None
    mcp_private: Annotated[bool, Meta(description="let clients of /mcp see documents of private collections")] = False
    oidc: OidcSettings = OidcSettings()
