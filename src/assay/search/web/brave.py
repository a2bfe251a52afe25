"""Brave Search."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import FIRST, LAST, Ask, HttpProvider, WebHit, decode, iso_date, plain, with_sites


class _Result(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""
    page_age: str | None = None


class _Web(msgspec.Struct):
    results: list[_Result] = []


class _Answer(msgspec.Struct):
    web: _Web = msgspec.field(default_factory=_Web)


class Brave(HttpProvider):
    """https://api-dashboard.search.brave.com/app/documentation/web-search."""

    name = "brave"
    base = "https://api.search.brave.com/res/v1"
    needs_key = True
    pause = 1.0

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"q": with_sites(query), "count": min(query.limit, self.most)}
        if query.language:
            params["search_lang"] = query.language
        if query.rules.country:
            params["country"] = query.rules.country.upper()
        if query.rules.since or query.rules.until:
            params["freshness"] = f"{query.rules.since or FIRST}to{query.rules.until or LAST}"
        return Ask(path="/web/search", params=params, headers={"x-subscription-token": self.key})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=each.url,
                title=plain(each.title),
                snippet=plain(each.description),
                published=iso_date(each.page_age),
            )
            for each in decode(data, _Answer).web.results
        ]
