"""Public search engines without a key, through the library ddgs, which reads their result pages."""

from __future__ import annotations

import asyncio

from ddgs import DDGS
from ddgs.exceptions import DDGSException

from assay.core.errors import SearchError
from assay.core.ports import Query
from assay.search.web.http import QueryPace, SearchAccess, WebHit, plain, with_sites

TIMEOUT_SECONDS = 6
"""For one engine; several are asked in parallel."""
PAUSE_SECONDS = 1.0
_NO_NETWORK = "their hosts could not be found or connected to: check the network"
_REASONS = {"DNSError": _NO_NETWORK, "DNSTimeoutError": _NO_NETWORK, "ConnectError": _NO_NETWORK}
"""What errors of the library mean, by their names."""


class Ddgs:
    """Queries the engines named in its option ("duckduckgo, mojeek"), or those that ddgs chooses.

    Each engine has its own rules for programs and may change its pages: use this to try things out, and an engine with
    a key, or SearXNG, for real work.
    """

    name = "ddgs"

    def __init__(self, access: SearchAccess) -> None:
        self._engines = access.option or "auto"
        self._pace = QueryPace(PAUSE_SECONDS if access.pause is None else access.pause)

    async def find(self, query: Query) -> list[WebHit]:
        await self._pace.wait_for_turn()
        try:
            async with asyncio.timeout(2 * TIMEOUT_SECONDS):
                results = await asyncio.to_thread(self._find, query)
        except TimeoutError as error:
            raise SearchError(f"ddgs did not answer in {2 * TIMEOUT_SECONDS} s") from error
        except DDGSException as error:
            if "No results" in str(error):
                return []
            # Its message contains every engine's address with the query; the cause comes before them.
            message = str(error).partition(":")[0][:80] or type(error).__name__
            reason = _REASONS.get(message, message)
            raise SearchError(f"ddgs: none of its engines answered: {reason}") from error
        return [
            WebHit(url=result["href"], title=plain(result.get("title")), snippet=plain(result.get("body")))
            for result in results
            if result.get("href", "").startswith(("http://", "https://"))
        ]

    async def close(self) -> None:
        """Do nothing: nothing is open."""

    def _find(self, query: Query) -> list[dict[str, str]]:
        results: list[dict[str, str]] = DDGS(timeout=TIMEOUT_SECONDS).text(
            with_sites(query),
            region=f"{query.rules.country or 'us'}-{query.language[:2] or 'en'}",
            max_results=query.limit,
            backend=self._engines,
            safesearch="moderate",
        )
        return results
