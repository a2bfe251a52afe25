"""Posts to addresses that are checked like those of pages: without redirects, and without reading the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import httpcore2

from assay.core.errors import FetchFailed
from assay.core.ports.webhooks import PostResult
from assay.core.remote_services import connection_problem, retry_after, tls_context
from assay.core.web_addresses import Url
from assay.fetch.web.addresses import (
    PUBLIC,
    GuardedBackend,
    Resolve,
    headers_of,
    parse_address,
    parse_policy,
    refusal_reason,
    system_resolve,
)


class WebPoster:
    """Posts to public addresses, and to those that the settings name. Close it after use."""

    def __init__(
        self,
        *,
        agent: str,
        allow: Sequence[str],
        setting: str,
        seconds: float = 15.0,
        resolve: Resolve = system_resolve,
    ) -> None:
        """`allow` are hosts and networks that are not public, from `setting`; `seconds` is the limit of one request.

        Raises:
            ConfigError: `allow` contains something that is neither a host nor a network.
        """
        self._agent, self._seconds = agent, seconds
        self._policy = parse_policy(allow, setting)
        self._network = GuardedBackend(self._policy, resolve)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=tls_context(from_environment=True),
            network_backend=self._network,
            max_connections=16,
            keepalive_expiry=5.0,
        )

    async def check_address(self, url: str) -> None:
        """Check that an address may be posted to; only the resolver is queried.

        Raises:
            FetchFailed: it may not; the message says why.
        """
        address = parse_address(url)
        ip_addresses = await self._network.addresses(address.host, address.port)
        named = self._policy.is_named(address.host, address.port)
        if (
            address.scheme != "https"
            and not named
            and not all(refusal_reason(ip, PUBLIC, named=False) for ip in ip_addresses)
        ):
            raise FetchFailed("blocked: an address outside is reached by https only")

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> PostResult:
        """Post a body and return the answer's status.

        Raises:
            FetchFailed: the address may not be posted to, or does not answer; the reason begins with its kind.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self.check_address(url)
                return await self._send(parse_address(url), headers, body)
        except TimeoutError as error:
            raise FetchFailed(f"timeout: no answer within {self._seconds:g} s") from error
        except httpcore2.TimeoutException as error:
            raise FetchFailed("timeout: the server does not answer") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise FetchFailed(f"unreachable: {connection_problem(error, url)}") from error

    async def _send(self, address: Url, headers: Mapping[str, str], body: bytes) -> PostResult:
        request_headers: dict[bytes | str, bytes | str] = {
            "Host": address.authority,
            "User-Agent": self._agent,
            "Content-Length": str(len(body)),
        }
        request_headers.update(headers.items())
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), self._seconds)
        request = self._pool.stream(
            "POST", address.href, headers=request_headers, content=body, extensions={"timeout": timeouts}
        )
        async with request as response:
            return PostResult(response.status, retry_after(headers_of(response)))

    async def close(self) -> None:
        await self._pool.aclose()
