"""SearXNG, a self-hosted metasearch engine; its JSON format must be switched on (`search.formats`)."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain, with_sites


class _Result(msgspec.Struct):
    url: str
    title: str = ""
    content: str | None = ""
    published: str | None = msgspec.field(default=None, name="publishedDate")


class _Answer(msgspec.Struct):
    results: list[_Result]


class SearXNG(HttpProvider):
    """https://docs.searxng.org/dev/search_api.html."""

    name = "searxng"

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"q": with_sites(query), "format": "json"}
        country = query.rules.country
        if query.language:
            params["language"] = f"{query.language}-{country.upper()}" if country else query.language
        return Ask(path="/search", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=each.url, title=each.title, snippet=plain(each.content), published=iso_date(each.published))
            for each in decode(data, _Answer).results
        ]
