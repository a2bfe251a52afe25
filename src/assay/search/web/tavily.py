"""Tavily."""

from __future__ import annotations

import msgspec

from assay.core.languages import country_name
from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain


class _Result(msgspec.Struct):
    url: str
    title: str = ""
    content: str | None = ""
    published_date: str | None = None


class _Answer(msgspec.Struct):
    results: list[_Result]


class Tavily(HttpProvider):
    """https://docs.tavily.com/documentation/api-reference/endpoint/search."""

    name = "tavily"
    base = "https://api.tavily.com"
    needs_key = True

    def ask(self, query: Query) -> Ask:
        rules = query.rules
        more = {
            "include_domains": [*rules.domains],
            "exclude_domains": [*rules.denied],
            "start_date": rules.since,
            "end_date": rules.until,
            "country": country_name(rules.country).lower(),
        }
        body: dict[str, object] = {
            "query": query.text,
            "max_results": min(query.limit, self.most),
            "search_depth": "basic",
        }
        body |= {name: value for name, value in more.items() if value}
        return Ask(path="/search", headers={"authorization": f"Bearer {self.key}"}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=each.url, title=each.title, snippet=plain(each.content), published=iso_date(each.published_date))
            for each in decode(data, _Answer).results
        ]
