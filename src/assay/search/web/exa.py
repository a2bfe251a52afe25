"""Exa."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.asking import WebHit
from assay.search.web.http import Ask, HttpProvider, decode
from assay.search.web.words import iso_date, plain


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
        body = {"query": query.text, "numResults": min(query.limit, self.most), "contents": {"highlights": True}}
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
