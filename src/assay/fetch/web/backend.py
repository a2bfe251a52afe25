"""The network as the fetcher sees it: a name is resolved once, and only checked addresses are connected to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore2

from assay.core.errors import FetchFailed
from assay.fetch.web.addresses import Policy, refused

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
Option = tuple[int, int, int] | tuple[int, int, bytes | bytearray] | tuple[int, int, None, int]

MOST_ADDRESSES = 8
PINNED = 1_800.0
"""Seconds an answer of the resolver is kept."""
MOST_PINNED = 1_000
"""Answers kept; the oldest goes first, and what is asked for again is checked again."""


async def system_resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host, as the machine's resolver orders them.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to addresses the policy lets through; `resolve` gives the addresses of a host.

    The answer for a name is kept for a while: a name which soon points elsewhere (DNS rebinding) stays where it was
    checked, and what comes later is checked again.
    """

    def __init__(self, policy: Policy, resolve: Resolve = system_resolve) -> None:
        self._policy, self._resolve = policy, resolve
        self._network = httpcore2.AnyIOBackend()
        self._pinned: dict[str, tuple[float, tuple[str, ...]]] = {}

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's own
        local_address: str | None = None,
        socket_options: Iterable[Option] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to the first of the host's addresses that takes one.

        Raises:
            FetchFailed: one of its addresses is forbidden, or it has none.
            httpcore2.ConnectError, httpcore2.ConnectTimeout: none of them answers.
        """
        *others, last = await self.addresses(host, port)
        for address in others:
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                continue
        return await self._network.connect_tcp(last, port, timeout, local_address, socket_options)

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """The checked addresses of a host; at least one.

        Raises:
            FetchFailed: one of them is forbidden (then the others are not trusted either), or there is none.
        """
        now = asyncio.get_running_loop().time()
        until, found = self._pinned.get(host, (now, ()))
        if until <= now:
            try:
                found = tuple(await self._resolve(host, port))[:MOST_ADDRESSES]
            except (OSError, UnicodeError) as error:
                raise FetchFailed(f"unreachable: the host {host} is not known") from error
            self._pinned.pop(host, None)
            if found:
                self._pinned[host] = (now + PINNED, found)
            if len(self._pinned) > MOST_PINNED:
                self._pinned.pop(next(iter(self._pinned)))
        if not found:
            raise FetchFailed(f"unreachable: the host {host} has no address")
        named = self._policy.names(host, port)
        for address in found:
            if why := refused(address, self._policy, named=named):
                allowing = self._policy.setting
                raise FetchFailed(f"blocked: {host} is {why}; {allowing} names hosts which may be reached all the same")
        return found

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the protocol's own
        socket_options: Iterable[Option] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Never: a socket of this machine is no page.

        Raises:
            FetchFailed: always.
        """
        raise FetchFailed("blocked: a socket of this machine")

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
