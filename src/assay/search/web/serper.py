"""Serper: Google's results."""

from __future__ import annotations

import msgspec

from assay.core.ports import Query
from assay.search.web.http import FIRST, LAST, Ask, HttpProvider, WebHit, decode, iso_date, plain, with_sites


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
        body: dict[str, str | int] = {"q": with_sites(query), "num": min(query.limit, self.most)}
        if query.language:
            body["hl"] = query.language
        if query.rules.country:
            body["gl"] = query.rules.country
        if query.rules.since or query.rules.until:
            first, last = _american(query.rules.since or FIRST), _american(query.rules.until or LAST)
            body["tbs"] = f"cdr:1,cd_min:{first},cd_max:{last}"
        return Ask(path="/search", headers={"x-api-key": self.key}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=each.link, title=each.title, snippet=plain(each.snippet), published=iso_date(each.date))
            for each in decode(data, _Answer).organic
        ]


def _american(day: str) -> str:
    year, month, day = day.split("-")
    return f"{month}/{day}/{year}"
