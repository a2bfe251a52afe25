"""Google's Programmable Search Engine; the engine's id (`cx`) is its option."""

from __future__ import annotations

import msgspec

from assay.core.errors import ConfigError
from assay.core.ports import Query
from assay.search.web.http import FIRST, LAST, Ask, HttpProvider, SearchAccess, WebHit, decode, plain, with_sites


class _Item(msgspec.Struct):
    link: str
    title: str = ""
    snippet: str = ""


class _Answer(msgspec.Struct):
    items: list[_Item] = []


class GooglePSE(HttpProvider):
    """https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list."""

    name = "google_search"
    base = "https://www.googleapis.com/customsearch/v1"
    needs_key = True
    most = 10

    def __init__(self, access: SearchAccess) -> None:
        super().__init__(access)
        if not access.option:
            where = "`option` under [search.services.google_search] in the settings file"
            raise ConfigError(f"google_search needs the id of a search engine: {where}")

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"q": with_sites(query), "num": min(query.limit, self.most), "cx": self.option}
        if query.language:
            params["lr"] = f"lang_{query.language}"
        if query.rules.country:
            params["gl"] = query.rules.country
        if query.rules.since or query.rules.until:
            days = (query.rules.since or FIRST, query.rules.until or LAST)
            params["sort"] = "date:r:" + ":".join(day.replace("-", "") for day in days)
        return Ask(params=params, headers={"x-goog-api-key": self.key})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=each.link, title=each.title, snippet=plain(each.snippet)) for each in decode(data, _Answer).items
        ]
