"""What a provider is asked, and what it answers."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.ports import Query
from assay.core.secrets import Secret


class SearchAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How to reach a provider: `url` in place of its own, `option` for what else it needs (an engine, an e-mail).

    `pause` is in seconds between two questions, None for what the provider asks for.
    """

    url: str = ""
    key: Secret | None = None
    option: str = ""
    pause: float | None = None


class WebHit(msgspec.Struct, frozen=True, kw_only=True):
    """A page a provider found. `snippet` is plain text; `published` an ISO date or its year, "" where unknown."""

    url: str
    title: str
    snippet: str = ""
    published: str = ""
    author: str = ""


class WebSearchProvider(Protocol):
    """A search provider of the web."""

    @property
    def name(self) -> str: ...

    async def find(self, query: Query) -> list[WebHit]:
        """At most `query.limit` pages, best first.

        Raises:
            SearchFailed: it could not answer; the reason names what to do, where something can be done.
        """
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...
