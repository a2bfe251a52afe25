"""Every search provider of the web, against a server which speaks its format."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sampling import crossed, scaled
from search_wire import WIRES, Wire, provider_of
from web import Site, response, site

from assay import plugins
from assay.core.errors import ConfigError, SearchError
from assay.core.ports import Query
from assay.search.web import http
from assay.search.web.http import Ask, HttpProvider, SearchAccess, WebHit

QUERY = Query(text='tides "old harbor"', limit=5, language="en")
every = pytest.mark.parametrize("wire", WIRES, ids=[wire.provider for wire in WIRES])


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for wire in WIRES:
        monkeypatch.setattr(plugins.load("searches", wire.provider), "pause", 0.0)


def answering(there: Site, wire: Wire, reply: object = None) -> None:
    """Have a site answer as the provider does, or with `reply`, whatever the question."""

    class Pages(dict[str, object]):
        def get(self, path: str, default: object = None) -> object:
            name = path.partition("?")[0].removesuffix("/") if path.startswith("/?") else path.partition("?")[0]
            found = wire.answers.get(name)
            return (
                default
                if found is None
                else reply
                if reply is not None
                else response(found, Content_Type="application/json")
            )

    there.pages = Pages()  # type: ignore[assignment]


def test_every_provider_over_http_is_in_the_suite():
    listed = {name for name in plugins.names("searches") if issubclass(plugins.load("searches", name), HttpProvider)}
    assert listed == {wire.provider for wire in WIRES}


@every
async def test_pages_as_the_provider_tells_them(wire: Wire):
    async with site() as there:
        answering(there, wire)
        provider = provider_of(wire, there.url("").rstrip("/"))
        hits = await provider.find(QUERY)
        await provider.close()
    assert [hit.url.removeprefix(there.url("").rstrip("/")) for hit in hits] == list(wire.urls)
    assert [hit.title for hit in hits] == ["First", "Second & last"]
    assert [hit.snippet.partition(".")[0] for hit in hits] == ["It says one", "It says two"]
    assert tuple(hit.published for hit in hits) == wire.published
    assert tuple(hit.author for hit in hits) == wire.authors
    head = there.seen[0]
    assert "\r\nuser-agent: assay/" in head.lower()
    assert "tides" in head
    assert "harbor" in head
    assert wire.key_in.lower() in head.lower()


@every
async def test_no_more_than_asked_for(wire: Wire):
    async with site() as there:
        answering(there, wire)
        provider = provider_of(wire, there.url("").rstrip("/"))
        assert len(await provider.find(Query(text="x", limit=1))) == 1
        await provider.close()


FAILURES = [
    (response("bad key k3y", 401), "refused the key (401)"),
    (response(status=403), "refused the key (403)"),
    (response(status=500), "answered 500"),
    (response("<html>busy</html>", 503), "answered 503"),
    (response(status=429), "too many questions (429)"),
    (response(status=429, Retry_After="77"), "again in 77 s"),
    (response(status=429, Retry_After="Fri, 01 Jan 2100 00:00:00 GMT"), "again in 2"),
    (response(status=302, Location="http://127.66.0.1/"), "answered 302"),
    (response("{"), "sent an answer that cannot be read"),
    (response("[]"), "sent an answer that cannot be read"),
    (response("null"), "sent an answer that cannot be read"),
    (response("[" * 100_000), "sent an answer that cannot be read"),
    (response("<html>"), "sent an answer that cannot be read"),
    (response(b"\xff\xfe\0"), "sent an answer that cannot be read"),
    (response(b"x" * 5_000_000), "answered with more than 4 MB"),
    (b"", "cannot be reached"),
    ([30.0], "did not answer in 0.3 s"),
    ([b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", 30.0], "did not answer in 0.3 s"),
]


@pytest.mark.parametrize(("failure", "wire"), crossed(range(len(FAILURES)), WIRES))
async def test_failures_are_told(wire: Wire, failure: int, monkeypatch: pytest.MonkeyPatch):
    """They are told by what all providers have in common: each meets some of them here."""
    reply, says = FAILURES[failure]
    if isinstance(reply, list):
        monkeypatch.setattr(http, "TIMEOUT_SECONDS", 0.3)
    async with site() as there:
        answering(there, wire, reply)
        provider = provider_of(wire, there.url("").rstrip("/"))
        with pytest.raises(SearchError) as failed:
            await provider.find(QUERY)
        await provider.close()
    assert failed.value.reason.startswith(wire.provider)
    assert says in failed.value.reason
    assert "k3y" not in failed.value.reason


@every
async def test_nobody_there(wire: Wire):
    provider = provider_of(wire, "http://127.0.0.1:9")
    with pytest.raises(SearchError, match="cannot be reached"):
        await provider.find(QUERY)
    await provider.close()


@every
async def test_a_busy_provider_is_asked_once_more(wire: Wire):
    async with site() as there:
        answering(there, wire)
        good, busy = there.pages.get, [response(status=429, Retry_After="0")]
        there.pages.get = lambda path, default=None: busy.pop() if busy else good(path, default)  # type: ignore
        provider = provider_of(wire, there.url("").rstrip("/"))
        assert len(await provider.find(QUERY)) == 2
        await provider.close()


@every
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scaled(40))
@given(data=st.binary(max_size=200) | st.text(alphabet='{}[]":,resultdao null1', max_size=80).map(str.encode))
def test_no_answer_breaks_the_reader(wire: Wire, data: bytes):
    provider = provider_of(wire, "http://127.0.0.1:9")
    try:
        hits = provider.read(data, provider.url)
    except SearchError:
        return
    assert all(hit.url.startswith(("http://", "https://")) for hit in hits)


@every
def test_a_missing_key_is_named(wire: Wire):
    if wire.key_in:
        with pytest.raises(ConfigError, match=f"{wire.provider} needs a key: assay keys set {wire.provider}"):
            provider_of(wire, "", key="")


def test_what_else_is_missing_is_named():
    with pytest.raises(ConfigError, match=r"\[search\.services\.searxng\]"):
        plugins.load("searches", "searxng")(SearchAccess())


async def test_the_pace_a_provider_asks_for(monkeypatch: pytest.MonkeyPatch):
    wire = next(each for each in WIRES if each.provider == "arxiv")
    monkeypatch.setattr(plugins.load("searches", "arxiv"), "pause", 0.2)
    async with site() as there:
        answering(there, wire)
        provider = provider_of(wire, there.url("").rstrip("/"))
        begun = asyncio.get_running_loop().time()
        await asyncio.gather(*(provider.find(QUERY) for _ in range(3)))
        took = asyncio.get_running_loop().time() - begun
        await provider.close()
    assert took >= 0.4


class Told(HttpProvider):
    name = "told"
    base = "https://a.org"

    def ask(self, query: Query) -> Ask:
        return Ask()

    def hits(self, data: bytes) -> list[WebHit]:
        return [WebHit(url=url, title="x") for url in data.decode().split()]


def test_a_hit_which_is_no_address_spoils_no_others():
    found = Told().read(b"http://[bad /a javascript:x https://u:p@b.org/ https://b.org/c", "https://a.org")
    assert [hit.url for hit in found] == ["https://a.org/a", "https://b.org/c"]


async def test_who_has_no_key_is_not_told_that_it_is_refused():
    async with site() as there:
        wire = next(each for each in WIRES if each.provider == "searxng")
        answering(there, wire, response("no such format", 403))
        provider = provider_of(wire, there.url("").rstrip("/"), key="")
        with pytest.raises(SearchError) as failed:
            await provider.find(QUERY)
        await provider.close()
    hint = "add `json` to `search.formats` in its settings"
    assert failed.value.reason == f"searxng refuses to answer (403): no such format; {hint}"


ROWS = {
    "searxng": '{"results": [%s]}',
    "brave": '{"web": {"results": [%s]}}',
    "exa": '{"results": [%s]}',
    "google_search": '{"items": [%s]}',
    "serper": '{"organic": [%s]}',
    "tavily": '{"results": [%s]}',
    "openalex": '{"results": [%s]}',
    "semantic_scholar": '{"data": [%s]}',
}
GOOD = '{"id": "https://a.org/b", "url": "https://a.org/b", "link": "https://a.org/b", "title": "A"}'


@pytest.mark.parametrize("name", ROWS)
def test_an_odd_hit_spoils_no_others(name: str):
    wire = next(each for each in WIRES if each.provider == name)
    provider = provider_of(wire, "http://127.0.0.1:9")
    odd = ["7", '{"url": null, "link": null, "id": null}', r'{"url": 5, "link": 5, "id": 6, "title": "\ud83d"}']
    found = provider.read((ROWS[name] % ", ".join([*odd, GOOD])).encode(), provider.url)
    assert [hit.url for hit in found] == ["https://a.org/b"]
    with pytest.raises(SearchError, match="sent an answer that cannot be read"):
        provider.read((ROWS[name] % odd[0]).encode(), provider.url)


def test_half_an_emoji_spoils_nothing():
    stated = http.decode(rb'["\ud83d\ude00 \ud83d cut \ude00", "\\ud83d", "\\\ud83d"]', list[str])
    assert stated == ["\U0001f600 \ufffd cut \ufffd", r"\ud83d", "\\\ufffd"]


def test_articles_without_their_records_are_no_answer():
    wire = next(each for each in WIRES if each.provider == "pubmed")
    provider = provider_of(wire, "http://127.0.0.1:9")
    for result in ("{}", '{"uids": ["1"]}', '{"uids": ["1"], "1": 5}'):
        with pytest.raises(SearchError, match="sent an answer that cannot be read"):
            provider.read(f'{{"result": {result}}}'.encode(), provider.url)


@pytest.mark.parametrize(
    ("stated", "day"),
    [
        ("04.03.2024", "2024-03-04"),
        ("25.12.2023, 10:00", "2023-12-25"),
        ("4/3/2024", "2024"),
        ("4/4/2024", "2024-04-04"),
        ("13/3/2024", "2024-03-13"),
        ("3/13/2024", "2024-03-13"),
        ("32.13.2024", ""),
        ("2024-03-04T10:00:00Z", "2024-03-04"),
        ("Mar 4, 2024", "2024-03-04"),
        ("2 days ago", ""),
    ],
)
def test_dates_are_read_only_as_far_as_they_are_certain(stated: str, day: str):
    assert http.iso_date(stated) == day
