"""Search engines of the web, and Wikipedia: each builds its query and reads its answer."""

from __future__ import annotations

from urllib.parse import quote

import msgspec

from assay.core.errors import ConfigError
from assay.core.languages import country_name
from assay.core.ports import Query
from assay.search.web.http import (
    FIRST_DAY,
    LAST_DAY,
    Ask,
    HttpProvider,
    Results,
    SearchAccess,
    WebHit,
    convert_rows,
    decode,
    iso_date,
    plain,
    with_sites,
)


class _BraveResult(msgspec.Struct):
    url: str
    title: str = ""
    description: str = ""
    page_age: str | None = None


class _BraveWeb(msgspec.Struct):
    results: list[msgspec.Raw] = []


class _BraveAnswer(msgspec.Struct):
    web: _BraveWeb = msgspec.field(default_factory=_BraveWeb)


class Brave(HttpProvider):
    """Brave Search: https://api-dashboard.search.brave.com/app/documentation/web-search."""

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
            params["freshness"] = f"{query.rules.since or FIRST_DAY}to{query.rules.until or LAST_DAY}"
        return Ask(path="/web/search", params=params, headers={"x-subscription-token": self.key})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=result.url,
                title=plain(result.title),
                snippet=plain(result.description),
                published=iso_date(result.page_age),
            )
            for result in convert_rows(decode(data, _BraveAnswer).web.results, _BraveResult)
        ]


class _ExaResult(msgspec.Struct):
    url: str
    title: str | None = ""
    published: str | None = msgspec.field(default=None, name="publishedDate")
    author: str | None = ""
    highlights: list[str] = []


class Exa(HttpProvider):
    """Exa: https://docs.exa.ai/reference/search."""

    name = "exa"
    base = "https://api.exa.ai"
    needs_key = True

    def ask(self, query: Query) -> Ask:
        rules = query.rules
        filters = {
            "includeDomains": [*rules.domains],
            "excludeDomains": [*rules.denied],
            "startPublishedDate": rules.since and f"{rules.since}T00:00:00.000Z",
            "endPublishedDate": rules.until and f"{rules.until}T23:59:59.999Z",
            "userLocation": rules.country.upper(),
        }
        body: dict[str, object] = {"query": query.text, "numResults": min(query.limit, self.most)}
        body |= {"contents": {"highlights": True}, **{name: value for name, value in filters.items() if value}}
        return Ask(path="/search", headers={"x-api-key": self.key}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=result.url,
                title=result.title or "",
                snippet=plain(" … ".join(result.highlights)),
                published=iso_date(result.published),
                author=result.author or "",
            )
            for result in convert_rows(decode(data, Results).results, _ExaResult)
        ]


class _GoogleItem(msgspec.Struct):
    link: str
    title: str = ""
    snippet: str = ""


class _GoogleAnswer(msgspec.Struct):
    items: list[msgspec.Raw] = []


class GooglePSE(HttpProvider):
    """Google's Programmable Search Engine; the engine's id (`cx`) is its option.

    https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list.
    """

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
            days = (query.rules.since or FIRST_DAY, query.rules.until or LAST_DAY)
            params["sort"] = "date:r:" + ":".join(day.replace("-", "") for day in days)
        return Ask(params=params, headers={"x-goog-api-key": self.key})

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=item.link, title=item.title, snippet=plain(item.snippet))
            for item in convert_rows(decode(data, _GoogleAnswer).items, _GoogleItem)
        ]


class _SearXNGResult(msgspec.Struct):
    url: str
    title: str = ""
    content: str | None = ""
    published: str | None = msgspec.field(default=None, name="publishedDate")


class SearXNG(HttpProvider):
    """SearXNG, a self-hosted metasearch engine; its JSON format must be switched on (`search.formats`).

    https://docs.searxng.org/dev/search_api.html.
    """

    name = "searxng"
    forbids = "; add `json` to `search.formats` in its settings"

    def ask(self, query: Query) -> Ask:
        params: dict[str, str | int] = {"q": with_sites(query), "format": "json"}
        country = query.rules.country
        if query.language:
            params["language"] = f"{query.language}-{country.upper()}" if country else query.language
        return Ask(path="/search", params=params)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=result.url, title=result.title, snippet=plain(result.content), published=iso_date(result.published)
            )
            for result in convert_rows(decode(data, Results).results, _SearXNGResult)
        ]


class _SerperResult(msgspec.Struct):
    link: str
    title: str = ""
    snippet: str = ""
    date: str | None = None


class _SerperAnswer(msgspec.Struct):
    organic: list[msgspec.Raw] = []


class Serper(HttpProvider):
    """Serper, which has Google's results: https://serper.dev."""

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
            first, last = _american_date(query.rules.since or FIRST_DAY), _american_date(query.rules.until or LAST_DAY)
            body["tbs"] = f"cdr:1,cd_min:{first},cd_max:{last}"
        return Ask(path="/search", headers={"x-api-key": self.key}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(url=result.link, title=result.title, snippet=plain(result.snippet), published=iso_date(result.date))
            for result in convert_rows(decode(data, _SerperAnswer).organic, _SerperResult)
        ]


def _american_date(day: str) -> str:
    year, month, day = day.split("-")
    return f"{month}/{day}/{year}"


class _TavilyResult(msgspec.Struct):
    url: str
    title: str = ""
    content: str | None = ""
    published_date: str | None = None


class Tavily(HttpProvider):
    """Tavily: https://docs.tavily.com/documentation/api-reference/endpoint/search."""

    name = "tavily"
    base = "https://api.tavily.com"
    needs_key = True

    def ask(self, query: Query) -> Ask:
        rules = query.rules
        filters = {
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
        body |= {name: value for name, value in filters.items() if value}
        return Ask(path="/search", headers={"authorization": f"Bearer {self.key}"}, body=body)

    def hits(self, data: bytes) -> list[WebHit]:
        return [
            WebHit(
                url=result.url,
                title=result.title,
                snippet=plain(result.content),
                published=iso_date(result.published_date),
            )
            for result in convert_rows(decode(data, Results).results, _TavilyResult)
        ]


class _WikipediaPage(msgspec.Struct):
    title: str
    snippet: str = ""
    timestamp: str | None = None


class _WikipediaQuery(msgspec.Struct):
    search: list[msgspec.Raw]


class _WikipediaAnswer(msgspec.Struct):
    query: _WikipediaQuery


class Wikipedia(HttpProvider):
    """Wikipedia, in the language of the question, else in English: `{language}` in its address stands for that.

    https://www.mediawiki.org/wiki/API:Search.
    """

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
                url=f"/wiki/{quote(page.title.replace(' ', '_'))}",
                title=page.title,
                snippet=plain(page.snippet),
                published=iso_date(page.timestamp),
            )
            for page in convert_rows(decode(data, _WikipediaAnswer).query.search, _WikipediaPage)
        ]
