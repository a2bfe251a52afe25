"""Which network addresses may be connected to: public ones, and those a user names."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec

from assay.core.errors import ConfigError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

PUBLIC_6 = IPv6Network("2000::/3")
TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv4 behind a translator (RFC 6052, RFC 8215): the address is the last 32 bits."""
SPECIAL = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))
"""Special-purpose blocks (IANA's registries) which not every Python knows as such; 6to4 and Teredo are no more used."""
ISATAP = (0x00005EFE, 0x02005EFE)
"""The interface identifiers of RFC 5214, before an IPv4 address."""
METADATA = frozenset(
    map(ip_address, ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"))
)
"""What cloud machines ask for their own credentials; never connected to, whatever a user names."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a user allows beyond public addresses: hosts by name (perhaps with a port), and networks, in a `setting`."""

    hosts: frozenset[str] = frozenset()
    networks: tuple[Network, ...] = ()
    setting: str = "web.allow"

    def names(self, host: str, port: int) -> bool:
        """Whether the user named this host."""
        return host.lower() in self.hosts or f"{host.lower()}:{port}" in self.hosts


PUBLIC = Policy()


def policy(allowed: Sequence[str], setting: str = "web.allow") -> Policy:
    """What a setting like `web.allow` says: `wiki.corp`, `localhost:8080`, `10.1.0.0/16`.

    Raises:
        ConfigError: an entry is neither a host nor a network.
    """
    hosts, networks = set[str](), list[Network]()
    for entry in allowed:
        try:
            if "/" in entry:
                networks.append(ip_network(entry, strict=False))
            else:
                hosts.add(entry.lower().strip("[]").rstrip("."))
        except ValueError as error:
            raise ConfigError(
                f"{setting}: {entry!r} is neither a host nor a network: write one such as wiki.corp or 10.1.0.0/16"
            ) from error
    return Policy(hosts=frozenset(hosts), networks=tuple(networks), setting=setting)


def refused(text: str, policy: Policy, *, named: bool) -> str:
    """Why this address (as a resolver writes it) may not be connected to; "" when it may. `named`: by the user."""
    try:
        address = ip_address(text)
    except ValueError:
        return "not a network address"
    meant = (address, *_within(address))
    if any(each in METADATA for each in meant):
        return "the address of a cloud's metadata service"
    if named or any(
        each in network for network in policy.networks for each in meant if each.version == network.version
    ):
        return ""
    return next(filter(None, map(_kind, meant)), "")


def _kind(address: Address) -> str:
    """What an address is when it is not public; "" when it is."""
    kinds = ("loopback", "link_local", "multicast", "unspecified", "private", "reserved")
    for kind in kinds:
        if getattr(address, f"is_{kind}"):
            return f"a {kind.replace('_', '-')} address"
    if isinstance(address, IPv6Address) and (address not in PUBLIC_6 or address.scope_id):
        return "not a public address"
    special = any(address in network for network in SPECIAL if network.version == address.version)
    return "not a public address" if special or not address.is_global else ""


def _within(address: Address) -> tuple[Address, ...]:
    """IPv4 addresses an IPv6 address stands for: who connects to the one may reach the other."""
    if isinstance(address, IPv4Address):
        return ()
    number = int(address)
    low = IPv4Address(number & 0xFFFFFFFF)
    found: list[Address] = []
    if address.ipv4_mapped is not None:
        found.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        found.append(address.sixtofour)
    if address.teredo is not None:
        found.extend(address.teredo)
    if any(address in network for network in TRANSLATED) or (number >> 32) & 0xFFFFFFFF in ISATAP or number >> 32 == 0:
        found.append(low)
    return tuple(found)
