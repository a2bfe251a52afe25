"""What search providers are told of domains, days and a country, each in its own words; when they are left alone."""

from __future__ import annotations

import asyncio
from typing import ClassVar
from urllib.parse import unquote_plus

import pytest
from search_wire import WIRES, Wire, provider_of
from web import Site, response, site

from assay import plugins
from assay.core.errors import SearchError
from assay.core.ports import Query
from assay.core.web_addresses import WebRules
from assay.evidence.documents import DocumentReader
from assay.run.process import SystemClock
from assay.search.web import http
from assay.search.web.ddgs import Ddgs
from assay.search.web.http import SearchAccess, WebHit
from assay.search.web.online import OnlineSearch
from assay.services.providers import search_rate_limiter
from assay.settings import load
from assay.store.memory import memory_store

RULES = WebRules(domains=("a.org", "b.org"), denied=("c.org",), since="2024-02-03", until="2024-12-31", country="de")
SITES = "(site:a.org OR site:b.org) -site:c.org"
TOLD = {
    "arxiv": ["submittedDate:[202402030000 TO 202412312359]"],
    "brave": [SITES, "country=DE", "freshness=2024-02-03to2024-12-31"],
    "crossref": ["filter=from-pub-date:2024-02-03,until-pub-date:2024-12-31"],
    "exa": [
        '"includeDomains":["a.org","b.org"]',
        '"excludeDomains":["c.org"]',
        '"startPublishedDate":"2024-02-03T00:00:00.000Z"',
        '"endPublishedDate":"2024-12-31T23:59:59.999Z"',
        '"userLocation":"DE"',
    ],
    "google_search": [SITES, "gl=de", "sort=date:r:20240203:20241231"],
    "openalex": ["filter=from_publication_date:2024-02-03,to_publication_date:2024-12-31"],
    "pubmed": ["mindate=2024/02/03", "maxdate=2024/12/31", "datetype=pdat"],
    "searxng": [SITES, "language=en-DE"],
    "semantic_scholar": ["publicationDateOrYear=2024-02-03:2024-12-31"],
    "serper": [SITES, '"gl":"de"', '"tbs":"cdr:1,cd_min:02/03/2024,cd_max:12/31/2024"'],
    "tavily": [
        '"include_domains":["a.org","b.org"]',
        '"exclude_domains":["c.org"]',
        '"start_date":"2024-02-03"',
        '"end_date":"2024-12-31"',
        '"country":"germany"',
    ],
    "wikipedia": [],
}
every = pytest.mark.parametrize("wire", WIRES, ids=[wire.provider for wire in WIRES])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for wire in WIRES:
        monkeypatch.setattr(plugins.load("searches", wire.provider), "pause", 0.0)


async def asked(wire: Wire, query: Query) -> str:
    """What reaches the provider's server, in words."""
    async with site() as there:
        there.pages = _Anything()  # type: ignore[assignment]
        provider = provider_of(wire, there.url("").rstrip("/"))
        with pytest.raises(SearchError):
            await provider.find(query)
        await provider.close()
        return unquote_plus(there.seen[0])


class _Anything(dict[str, bytes]):
    def get(self, path: str, default: object = None) -> bytes:  # type: ignore[override]
        return response(status=500)


@every
@pytest.mark.usefixtures("quick")
async def test_each_is_told_in_its_own_words(wire: Wire):
    found = await asked(wire, Query(text="tides", language="en", rules=RULES))
    assert [part for part in TOLD[wire.provider] if part not in found] == []


@every
@pytest.mark.usefixtures("quick")
async def test_without_rules_nothing_is_said_of_them(wire: Wire):
    found = await asked(wire, Query(text="tides", language="en"))
    assert not [part for part in TOLD[wire.provider] if part in found]
    assert "site:" not in found


def test_every_provider_is_in_the_table():
    assert set(TOLD) == {wire.provider for wire in WIRES}


class Failing:
    """A provider which fails so many times, each after so many seconds."""

    name = "failing"

    def __init__(self, times: int, seconds: float = 0.0) -> None:
        self.left, self.seconds, self.asked = times, seconds, 0

    async def find(self, query: Query) -> list[WebHit]:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if self.left:
            self.left -= 1
            raise SearchError("failing did not answer")
        return [WebHit(url="https://a.org/", title="A")]

    async def close(self) -> None:
        """Nothing is open."""


def online(provider: Failing) -> OnlineSearch:
    store = memory_store()
    return OnlineSearch(provider, store.library, store.blobs, SystemClock(), DocumentReader(store.blobs).spans)


async def outcomes(search: OnlineSearch, times: int) -> list[str]:
    lines = []
    for _ in range(times):
        try:
            lines.append(f"{len(await search.search(Query(text='x')))} hit")
        except SearchError as failed:
            lines.append(failed.reason)
    return lines


async def test_who_fails_twice_is_left_alone():
    provider = Failing(9)
    assert set(await outcomes(online(provider), 5)) == {"failing did not answer"}
    assert provider.asked == 2


async def test_who_fails_after_long_is_left_alone_at_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "SLOW_SECONDS", 0.05)
    provider = Failing(9, seconds=0.06)
    await outcomes(online(provider), 3)
    assert provider.asked == 1


async def test_one_failure_is_no_reason(monkeypatch: pytest.MonkeyPatch):
    provider = Failing(1)
    assert await outcomes(online(provider), 3) == ["failing did not answer", "1 hit", "1 hit"]


async def test_after_a_while_it_is_asked_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http, "REST_SECONDS", 0.05)
    provider, search = Failing(2), None
    search = online(provider)
    await outcomes(search, 3)
    await asyncio.sleep(0.06)
    assert await outcomes(search, 1) == ["1 hit"]


@pytest.mark.parametrize("pause", [0.1, 0.0])
async def test_the_pace_a_user_sets(pause: float):
    wire = next(each for each in WIRES if each.provider == "searxng")
    async with site() as there:
        answering: Site = there
        answering.pages = _Anything()  # type: ignore[assignment]
        access = SearchAccess(url=there.url("").rstrip("/"), pause=pause)
        provider = plugins.load("searches", wire.provider)(access)
        begun = asyncio.get_running_loop().time()
        for _ in range(3):
            with pytest.raises(SearchError):
                await provider.find(Query(text="x"))
        took = asyncio.get_running_loop().time() - begun
        await provider.close()
    assert took >= 2 * pause


async def test_the_keyless_engines_are_paced_too(monkeypatch: pytest.MonkeyPatch):
    provider = Ddgs(SearchAccess(pause=0.1))
    monkeypatch.setattr(provider, "_find", lambda query: [{"href": "https://a.org/", "title": query.text}])
    begun = asyncio.get_running_loop().time()
    found = [await provider.find(Query(text=str(number))) for number in range(3)]
    assert [hit.title for hits in found for hit in hits] == ["0", "1", "2"]
    assert asyncio.get_running_loop().time() - begun >= 0.2


class Slow(Failing):
    """Answers after a moment, and notes how many questions it has at once, with all of its kind."""

    going: ClassVar[list[int]] = []

    async def find(self, query: Query) -> list[WebHit]:
        self.going.append(self.going[-1] + 1 if self.going else 1)
        try:
            return await super().find(query)
        finally:
            self.going.append(self.going[-1] - 1)


@pytest.mark.parametrize(("limit", "most"), [({"failing": 2}, 2), ({"other": 1}, 6)])
async def test_a_provider_gets_so_many_questions_at_once(limit: dict[str, int], most: int):
    store, Slow.going[:] = memory_store(), []
    settings = load(search={"calls_at_once": limit}, limits={"calls_at_once": {"failing": 1}})
    spans = DocumentReader(store.blobs).spans
    asked = [
        OnlineSearch(
            Slow(0, 0.01), store.library, store.blobs, SystemClock(), spans, search_rate_limiter(store, settings)
        )
        for _ in range(2)
    ]
    found = await asyncio.gather(*(search.search(Query(text=str(place))) for place in range(3) for search in asked))
    assert [len(hits) for hits in found] == [1] * 6
    assert (max(Slow.going), Slow.going[-1]) == (most, 0)
