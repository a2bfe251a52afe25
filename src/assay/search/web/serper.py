"""Serper: Google's results."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.asking import WebHit
from assay.search.web.http import Ask, HttpProvider, decode
from assay.search.web.words import iso_date, plain


class _Result(msgspec.Struct):
    link: str
    title: str = ""
    snippet: str = ""
    date: str | None = None


class _Answer(msgspec.Struct):
    organic: list[_Result] = []


class Serper(HttpProvider):
    """https://serper.dev."""

    name = "serper"
    base = "https://google.serper.dev"
    needs_key = True

    def ask(self, query: Query) -> Ask:
        body: dict[str, str | int] = {"q": query.text, "num": min(query.limit, self.most)}
        if query.language:
            body["hl"] = query.language
        return Ask(path="/search", headers={"x-api-key": self.key}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=each.link, title=each.title, snippet=plain(each.snippet), published=iso_date(each.date))
            for each in decode(data, _Answer).organic
        ]
