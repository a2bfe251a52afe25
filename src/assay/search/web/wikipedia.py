"""Wikipedia, in the language of the question."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain


class _Page(msgspec.Struct):
    title: str
    snippet: str = ""
    timestamp: str | None = None


class _Query(msgspec.Struct):
    search: list[_Page]


class _Answer(msgspec.Struct):
    query: _Query


class Wikipedia(HttpProvider):
    """https://www.mediawiki.org/wiki/API:Search. `{language}` in its address is the question's, else English."""

    name = "wikipedia"
    base = "https://{language}.wikipedia.org"
    pause = 0.2

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {
            "action": "query",
            "list": "search",
            "format": "json",
            "formatversion": 2,
            "srsearch": query.text,
            "srlimit": min(query.limit, self.most),
            "srprop": "snippet|timestamp",
        }
        return Ask(base=self.url.replace("{language}", query.language or "en"), path="/w/api.php", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=f"/wiki/{quote(each.title.replace(' ', '_'))}",
                title=each.title,
                snippet=plain(each.snippet),
                published=iso_date(each.timestamp),
            )
            for each in decode(data, _Answer).query.search
        ]
