"""Posts to addresses that users name: checked like pages, without redirects, and without reading the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import httpcore2

from assay.core.errors import FetchFailed
from assay.core.ports.webhooks import Posted
from assay.core.remote_services import retry_after, trusted
from assay.core.web_addresses import BadUrl, Url, read
from assay.fetch.web.addresses import PUBLIC, GuardedBackend, Resolve, policy, refused, system_resolve


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
        self._policy = policy(allow, setting)
        self._network = GuardedBackend(self._policy, resolve)
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted(told=True), network_backend=self._network, max_connections=16, keepalive_expiry=5.0
        )

    async def check(self, url: str) -> None:
        """Check that an address may be posted to; only the resolver is queried.

        Raises:
            FetchFailed: it may not; the message says why.
        """
        place = _place(url)
        found = await self._network.addresses(place.host, place.port)
        named = self._policy.names(place.host, place.port)
        if place.scheme != "https" and not named and not all(refused(each, PUBLIC, named=False) for each in found):
            raise FetchFailed("blocked: an address outside is reached by https only")

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """Post a body and return the answer's status.

        Raises:
            FetchFailed: the address may not be posted to, or does not answer; the reason begins with its kind.
        """
        try:
            async with asyncio.timeout(self._seconds):
                await self.check(url)
                return await self._posted(_place(url), headers, body)
        except TimeoutError as error:
            raise FetchFailed(f"timeout: no answer within {self._seconds:g} s") from error
        except httpcore2.TimeoutException as error:
            raise FetchFailed("timeout: the server does not answer") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise FetchFailed(f"unreachable: {type(error).__name__}") from error

    async def _posted(self, place: Url, headers: Mapping[str, str], body: bytes) -> Posted:
        sent: dict[bytes | str, bytes | str] = {
            "Host": place.authority,
            "User-Agent": self._agent,
            "Content-Length": str(len(body)),
        }
        sent.update(headers.items())
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), self._seconds)
        asked = self._pool.stream("POST", place.href, headers=sent, content=body, extensions={"timeout": timeouts})
        async with asked as response:
            fields = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
            return Posted(response.status, retry_after(fields))

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.aclose()


def _place(url: str) -> Url:
    try:
        return read(url)
    except BadUrl as error:
        raise FetchFailed(f"blocked: {error}") from error
