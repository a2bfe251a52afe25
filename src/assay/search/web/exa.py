"""Exa."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain


class _Result(msgspec.Struct):
    url: str
    title: str | None = ""
    published: str | None = msgspec.field(default=None, name="publishedDate")
    author: str | None = ""
    highlights: list[str] = []


class _Answer(msgspec.Struct):
    results: list[_Result]


class Exa(HttpProvider):
    """https://docs.exa.ai/reference/search."""

    name = "exa"
    base = "https://api.exa.ai"
    needs_key = True

    def ask(self, query: Query) -> Ask:
        rules = query.rules
        more = {
            "includeDomains": [*rules.domains],
            "excludeDomains": [*rules.denied],
            "startPublishedDate": rules.since and f"{rules.since}T00:00:00.000Z",
            "endPublishedDate": rules.until and f"{rules.until}T23:59:59.999Z",
            "userLocation": rules.country.upper(),
        }
        body: dict[str, object] = {"query": query.text, "numResults": min(query.limit, self.most)}
        body |= {"contents": {"highlights": True}, **{name: value for name, value in more.items() if value}}
        return Ask(path="/search", headers={"x-api-key": self.key}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=each.url,
                title=each.title or "",
                snippet=plain(" … ".join(each.highlights)),
                published=iso_date(each.published),
                author=each.author or "",
            )
            for each in decode(data, _Answer).results
        ]
