"""Decides which network addresses may be connected to: public ones, and those a user names; and posts to such ones.

Posts are checked like pages, follow no redirect, and leave the answer unread.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import zip_longest

import httpcore2
import msgspec
from ada_url import idna_to_ascii

from assay.core.errors import ConfigError, FetchFailed
from assay.core.web_addresses import BadUrl, Url, parse_url

IPAddress = IPv4Address | IPv6Address
IPNetwork = IPv4Network | IPv6Network
PUBLIC_6 = IPv6Network("2000::/3")
TRANSLATED = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv4 behind a translator (RFC 6052, RFC 8215): the address is the last 32 bits."""
SPECIAL_NETWORKS = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))
"""Special-purpose blocks (IANA's registries) that not every Python knows as such; 6to4 and Teredo are obsolete."""
ISATAP = (0x00005EFE, 0x02005EFE)
"""The interface identifiers of RFC 5214, before an IPv4 address."""
METADATA_ADDRESSES = frozenset(
    map(ip_address, ("169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"))
)
"""Where cloud machines get their own credentials; never connected to, whatever a user names."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What a user allows beyond public addresses, in the setting `setting`: hosts (with or without port), and
    networks.
    """

    hosts: frozenset[str] = frozenset()
    networks: tuple[IPNetwork, ...] = ()
    setting: str = "web.allow"

    def is_named(self, host: str, port: int) -> bool:
        """True if the user named this host."""
        return host.lower() in self.hosts or f"{host.lower()}:{port}" in self.hosts


PUBLIC = Policy()


def parse_policy(allowed: Sequence[str], setting: str = "web.allow") -> Policy:
    """Parse a setting like `web.allow`: `wiki.corp`, `localhost:8080`, `10.1.0.0/16`.

    Raises:
        ConfigError: an entry is neither a host nor a network.
    """
    hosts, networks = set[str](), list[IPNetwork]()
    for entry in allowed:
        try:
            if "/" in entry:
                networks.append(ip_network(entry, strict=False))
            else:
                hosts.add(_host(entry))
        except ValueError as error:
            raise ConfigError(
                f"{setting}: {entry!r} is neither a host nor a network: write one such as wiki.corp or 10.1.0.0/16"
            ) from error
    return Policy(hosts=frozenset(hosts), networks=tuple(networks), setting=setting)


def _host(entry: str) -> str:
    """A host, perhaps with its port, as `Policy.is_named` writes it: without brackets, and in ASCII."""
    name = entry.lower().replace("[", "").replace("]", "").rstrip(".")
    if name.isascii():
        return name
    host, colon, port = name.partition(":")
    return f"{idna_to_ascii(host).decode()}{colon}{port}"


def refusal_reason(text: str, policy: Policy, *, named: bool) -> str:
    """Why this address (in a resolver's form) may not be connected to; "" if it may. `named`: the user named its
    host.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return "not a network address"
    candidates = (address, *_embedded_addresses(address))
    if any(candidate in METADATA_ADDRESSES for candidate in candidates):
        return "the address of a cloud's metadata service"
    if named or any(
        candidate in network
        for network in policy.networks
        for candidate in candidates
        if candidate.version == network.version
    ):
        return ""
    return next(filter(None, map(_kind, candidates)), "")


def _kind(address: IPAddress) -> str:
    """The kind of an address that is not public; "" if it is public."""
    kinds = ("loopback", "link_local", "multicast", "unspecified", "private", "reserved")
    for kind in kinds:
        if getattr(address, f"is_{kind}"):
            return f"a {kind.replace('_', '-')} address"
    if isinstance(address, IPv6Address) and (address not in PUBLIC_6 or address.scope_id):
        return "not a public address"
    special = any(address in network for network in SPECIAL_NETWORKS if network.version == address.version)
    return "not a public address" if special or not address.is_global else ""


def _embedded_addresses(address: IPAddress) -> tuple[IPAddress, ...]:
    """The IPv4 addresses that an IPv6 address contains: a connection to one may reach the other."""
    if isinstance(address, IPv4Address):
        return ()
    number = int(address)
    low = IPv4Address(number & 0xFFFFFFFF)
    embedded: list[IPAddress] = []
    if address.ipv4_mapped is not None:
        embedded.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        embedded.append(address.sixtofour)
    if address.teredo is not None:
        embedded.extend(address.teredo)
    if any(address in network for network in TRANSLATED) or (number >> 32) & 0xFFFFFFFF in ISATAP or number >> 32 == 0:
        embedded.append(low)
    return tuple(embedded)


# The fetcher's network: a name is resolved once, and only checked addresses are connected to.

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
SocketOption = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]
MAX_ADDRESSES = 8
PINNED_SECONDS = 1_800.0
"""Seconds for which a resolver's answer is kept."""
MAX_PINNED_ANSWERS = 1_000
"""Answers kept; the oldest is dropped first, and a new answer for its name is checked again."""


CONNECT_ATTEMPT_SECONDS = 2.0
"""Seconds for which an address may take to accept while there are others: IPv6 leads nowhere from some networks."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, in the order of the machine's resolver.

    Raises:
        OSError: it has none.
    """
    results = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


def check_addresses(host: str, port: int, addresses: Sequence[str], policy: Policy) -> None:
    """Check the addresses that a resolver gives for a host.

    Raises:
        FetchFailed: one of them is forbidden (so the others are not trusted either), or there is none.
    """
    if not addresses:
        raise FetchFailed(f"unreachable: the host {host} has no address")
    named = policy.is_named(host, port)
    for address in addresses:
        if why := refusal_reason(address, policy, named=named):
            raise FetchFailed(f"blocked: {host} is {why}; {policy.setting} allows such hosts")


ResolveNow = Callable[[str, int], Sequence[str]]


def resolve_now(host: str, port: int) -> Sequence[str]:
    """As `system_resolve`. Blocking.

    Raises:
        OSError: it has none.
    """
    results = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


def checked_addresses(host: str, port: int, policy: Policy, resolve: ResolveNow = resolve_now) -> tuple[str, ...]:
    """The checked addresses of a host, at least one, for a program that makes the connection itself. Blocking.

    Raises:
        FetchFailed: as `check_addresses`.
    """
    try:
        addresses = tuple(resolve(host, port))[:MAX_ADDRESSES]
    except (OSError, UnicodeError) as error:
        raise FetchFailed(
            f"unreachable: the host {host} could not be found: check the address and the network"
        ) from error
    check_addresses(host, port, addresses, policy)
    return addresses


def _alternate_families(addresses: Sequence[str]) -> list[str]:
    """The addresses in their order, those of IPv4 and IPv6 by turns (RFC 8305, section 4)."""
    first = ":" in addresses[0]
    same = [address for address in addresses if (":" in address) == first]
    other = [address for address in addresses if (":" in address) != first]
    return [address for pair in zip_longest(same, other) for address in pair if address is not None]


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the addresses that the policy permits; `resolve` returns the addresses of a host.

    The answer for a name is kept for a while, so a name that soon points elsewhere (DNS rebinding) still leads to the
    checked address, and later answers are checked again.
    """

    def __init__(
        self, policy: Policy, resolve: Resolve = system_resolve, network: httpcore2.AsyncNetworkBackend | None = None
    ) -> None:
        """`network` makes the connections; None: this machine's."""
        self._policy, self._resolve = policy, resolve
        self._network = network or httpcore2.AnyIOBackend()
        self._pinned: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's own
        local_address: str | None = None,
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first of the host's addresses that accepts. If none does, the next call looks it up again.

        Raises:
            FetchFailed: one of its addresses is forbidden, or it has none.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: none of them answers.
        """
        *others, last = _alternate_families(await self.addresses(host, port))
        for address in others:
            try:
                short = CONNECT_ATTEMPT_SECONDS if timeout is None else min(timeout, CONNECT_ATTEMPT_SECONDS)
                return await self._network.connect_tcp(address, port, short, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        try:
            return await self._network.connect_tcp(last, port, timeout, local_address, socket_options)
        except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
            self._pinned.pop(host, None)
            raise

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The checked addresses of a host; at least one.

        Raises:
            FetchFailed: one of them is forbidden (so the others are not trusted either), or there is none.
        """
        now = asyncio.get_running_loop().time()
        until, addresses = self._pinned.get(host, (now, ()))
        if until <= now:
            try:
                addresses = tuple(await self._resolve(host, port))[:MAX_ADDRESSES]
            except (OSError, UnicodeError) as error:
                raise FetchFailed(
                    f"unreachable: the host {host} could not be found: check the address and the network"
                ) from error
            self._pinned.pop(host, None)
            if addresses:
                self._pinned[host] = (now + PINNED_SECONDS, addresses)
            if len(self._pinned) > MAX_PINNED_ANSWERS:
                self._pinned.pop(next(iter(self._pinned)))
        check_addresses(host, port, addresses, self._policy)
        return addresses

    async def check_lead(self, page: Url, target: Url) -> None:
        """Check that a page may lead its reader to a place: from a public host to public ones alone.

        The policy's hosts and networks are there for whoever names them, not for pages from outside.

        Raises:
            FetchFailed: it may not, or one of the two hosts may not be connected to.
        """
        allows_more = self._policy.hosts or self._policy.networks  # else all that is connected to is public
        if allows_more and await self._is_public(page) and not await self._is_public(target):
            raise FetchFailed(
                f"blocked: {page.host} leads to {target.host}, which is not public: name that page itself"
            )

    async def _is_public(self, address: Url) -> bool:
        ip_addresses = await self.addresses(address.host, address.port)
        return not any(refusal_reason(ip, PUBLIC, named=False) for ip in ip_addresses)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's own
        socket_options: Iterable[SocketOption] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse: a socket of this machine is not a page.

        Raises:
            FetchFailed: always.
        """
        raise FetchFailed("blocked: a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def parse_address(text: str, base: str = "") -> Url:
    """The address that a text means, which may be relative to `base`.

    Raises:
        FetchFailed: it means none.
    """
    try:
        return parse_url(text, base)
    except BadUrl as error:
        raise FetchFailed(f"blocked: {error}") from error


def headers_of(response: httpcore2.Response) -> dict[str, str]:
    """The headers by name in lower case; the last of equal names counts."""
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}


def location(headers: Mapping[str, str]) -> str:
    """Where a redirect leads, "" if it does not say; headers are bytes, and servers send addresses in UTF-8."""
    value = headers.get("location", "")
    try:
        return value.encode("latin-1").decode()
    except UnicodeError:
        return value
