"""Semantic Scholar; a key is optional, and helps."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import Ask, HttpProvider, WebHit, decode, iso_date, plain

FIELDS = "title,abstract,url,year,publicationDate,authors"


class _Name(msgspec.Struct):
    name: str | None = ""


class _Paper(msgspec.Struct):
    url: str | None = ""
    title: str | None = ""
    abstract: str | None = None
    year: int | None = None
    published: str | None = msgspec.field(default=None, name="publicationDate")
    authors: list[_Name] = []


class _Answer(msgspec.Struct):
    data: list[_Paper] = []


class SemanticScholar(HttpProvider):
    """https://api.semanticscholar.org/api-docs/graph#tag/Paper-Data/operation/get_graph_paper_relevance_search."""

    name = "semantic_scholar"
    base = "https://api.semanticscholar.org/graph/v1"
    pause = 1.0

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"query": query.text, "limit": min(query.limit, self.most), "fields": FIELDS}
        if query.rules.since or query.rules.until:
            params["publicationDateOrYear"] = f"{query.rules.since}:{query.rules.until}"
        return Ask(path="/paper/search", params=params, headers={"x-api-key": self.key} if self.key else {})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=each.url or "",
                title=plain(each.title),
                snippet=plain(each.abstract),
                published=iso_date(each.published or each.year),
                author="; ".join(name.name for name in each.authors if name.name),
            )
            for each in decode(data, _Answer).data
        ]
