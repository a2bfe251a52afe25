"""Pages kept for the next time: when they are asked for again, and with which condition."""

from __future__ import annotations

import asyncio
import random
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web import AGENT, ALLOWED, Site, moved, response, site

from assay.core.errors import FetchFailed
from assay.core.ports import KeptPage, PageCache
from assay.core.sources import Fetched
from assay.core.web_addresses import WebRules
from assay.fetch.web import FetchManners, WebFetcher
from assay.fetch.web.addresses import GuardedBackend
from assay.fetch.web.response import MAX_FRESH_SECONDS, MOMENT_SECONDS, conditional_headers, freshness_seconds
from assay.run.process import SystemClock
from assay.store.blobs import FolderBlobs, MemoryBlobs
from assay.store.pages import FolderPages, MemoryPages

FRESH = WebRules(fresh=True)


@pytest.fixture(params=["memory", "folder"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> PageCache:
    if request.param == "memory":
        return MemoryPages()
    return FolderPages(tmp_path / "pages", FolderBlobs(tmp_path / "blobs"))


async def read(there: Site, cache: PageCache, path: str = "/a", rules: WebRules = WebRules()) -> Fetched:  # noqa: B008 - frozen
    """A page, by a fetcher of its own, as another process has."""
    web = WebFetcher(
        SystemClock(), FetchManners(agent=AGENT, robots=False), network=GuardedBackend(ALLOWED), cache=cache
    )
    try:
        return await web.fetch(there.url(path), rules)
    finally:
        await web.close()


def conditional(there: Site, body: str, **headers: str) -> None:
    """A page which is sent once, and then only said to be unchanged."""

    def reply() -> bytes:
        if "if-none-match:" in there.seen[-1].lower() or "if-modified-since:" in there.seen[-1].lower():
            return response(status=304, **headers)
        return response(body, Cache_Control="no-cache", **headers)

    there.pages["/a"] = reply


async def test_a_page_with_a_tag_is_not_sent_twice(cache: PageCache):
    async with site() as there:
        conditional(there, "The tide.", ETag='"1"', Content_Type="text/plain")
        first, second = await read(there, cache), await read(there, cache)
    assert (first.kept, second.kept) == ("", "unchanged")
    assert (second.body, second.status, second.media_type) == (b"The tide.", 200, "text/plain")
    assert second.fetched_at >= first.fetched_at
    assert [('If-None-Match: "1"' in seen) for seen in there.seen] == [False, True]


async def test_a_date_is_a_condition_too(cache: PageCache):
    async with site() as there:
        conditional(there, "The tide.", Last_Modified="Tue, 05 Mar 2024 10:00:00 GMT")
        await read(there, cache)
        assert (await read(there, cache)).kept == "unchanged"


async def test_a_page_which_is_fresh_is_not_asked_for(cache: PageCache):
    async with site() as there:
        there.pages["/a"] = response("The tide.", Cache_Control="max-age=60")
        await read(there, cache)
        again = await read(there, cache)
        assert (again.kept, again.body, there.asked) == ("fresh", b"The tide.", ["/a"])
        anew = await read(there, cache, rules=FRESH)
        assert (anew.kept, there.asked) == ("", ["/a", "/a"])
        assert "if-none-match" not in there.seen[-1].lower()


async def test_a_changed_page_takes_the_place_of_the_old_one(cache: PageCache):
    async with site() as there:
        there.pages["/a"] = response("old", Cache_Control="max-age=0", ETag='"1"')
        await read(there, cache)
        there.pages["/a"] = response("new", Cache_Control="max-age=0", ETag='"2"')
        assert (await read(there, cache)).body == b"new"
        await read(there, cache)
        assert 'If-None-Match: "2"' in there.seen[-1]


async def test_redirects_are_followed_anew(cache: PageCache):
    async with site() as there:
        conditional(there, "The tide.", ETag='"1"')
        there.pages["/old"] = moved("/a")
        await read(there, cache)
        page = await read(there, cache, "/old")
        assert (page.kept, page.url, page.final_url) == ("unchanged", there.url("/old"), there.url("/a"))
        assert page.redirects == (there.url("/old"),)


@pytest.mark.parametrize(
    "headers",
    [{"Cache-Control": "no-store", "ETag": '"1"'}, {"Vary": "*", "ETag": '"1"'}, {"Cache-Control": "max-age=0"}],
)
async def test_what_may_not_be_kept_or_would_be_of_no_use_is_not(cache: PageCache, headers: dict[str, str]):
    async with site() as there:
        there.pages["/a"] = response("x", **{name.replace("-", "_"): value for name, value in headers.items()})
        await read(there, cache)
        assert cache.get(there.url("/a")) is None


async def test_errors_are_not_kept(cache: PageCache):
    async with site() as there:
        there.pages["/a"] = response("gone", 404, Cache_Control="max-age=60")
        for _ in range(2):
            with pytest.raises(FetchFailed, match="not found"):
                await read(there, cache)
        assert there.asked == ["/a", "/a"]


async def test_a_damaged_entry_is_as_none(tmp_path: Path):
    cache = FolderPages(tmp_path / "pages", FolderBlobs(tmp_path / "blobs"))
    async with site() as there:
        there.pages["/a"] = response("The tide.", Cache_Control="max-age=60")
        await read(there, cache)
        (file,) = (tmp_path / "pages").rglob("*.json")
        file.write_bytes(file.read_bytes()[:40])
        assert (await read(there, cache)).kept == ""
        assert (await read(there, cache)).kept == "fresh"


async def test_a_place_which_cannot_be_written_keeps_nothing(tmp_path: Path):
    (tmp_path / "pages").write_text("a file")
    cache = FolderPages(tmp_path / "pages", FolderBlobs(tmp_path / "blobs"))
    async with site() as there:
        there.pages["/a"] = response("The tide.", Cache_Control="max-age=60")
        assert (await read(there, cache)).body == b"The tide."


def test_of_many_pages_the_oldest_go():
    cache = MemoryPages(max_pages=3)
    for number in range(5):
        page = Fetched(url="", final_url=f"u{number}", media_type="", body=b"", fetched_at="")
        cache.put(KeptPage(page=page, fresh_until=0))
    assert [cache.get(f"u{number}") is not None for number in range(5)] == [False, False, True, True, True]


def test_a_page_in_memory_is_packed_once_for_the_cache_and_the_blobs():
    body, again = (random.Random(5).randbytes(50_000) for _ in range(2))
    cache, blobs = MemoryPages(), MemoryBlobs()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        cache.put(KeptPage(page=Fetched(url="", final_url="u", media_type="", body=body, fetched_at=""), fresh_until=0))
        name = blobs.put(again)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 1.5 * len(body)
    cache.forget("u")
    assert blobs.get(name) == body


def test_pages_in_memory_go_when_their_bytes_are_too_many():
    cache = MemoryPages(max_bytes=10)

    def put(url: str, size: int) -> list[bool]:
        page = Fetched(url="", final_url=url, media_type="", body=b"x" * size, fetched_at="")
        cache.put(KeptPage(page=page, fresh_until=0))
        return [cache.get(each) is not None for each in ("a", "b", "c")]

    assert put("a", 4) == [True, False, False]
    assert put("b", 6) == [True, True, False]
    assert put("a", 2) == [True, True, False]  # the new page takes the place of the old one
    cache.forget("b")
    assert put("c", 8) == [True, False, True]
    assert put("b", 3) == [False, True, False]
    assert put("c", 11) == [False, False, False]


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "max-age=60", "age": "50"}, 10),
        ({"cache-control": "max-age=60", "age": "70"}, None),
        ({"cache-control": 'private, max-age="30"'}, 30),
        ({"cache-control": "max-age=99999999"}, MAX_FRESH_SECONDS),
        ({"cache-control": "no-cache, max-age=60", "etag": "x"}, 0),
        ({"expires": "Tue, 05 Mar 2024 10:01:00 GMT", "date": "Tue, 05 Mar 2024 10:00:00 GMT"}, 60),
        ({"expires": "0", "etag": "x"}, 0),
        ({"etag": "x"}, MOMENT_SECONDS),
        ({"etag": "ü", "expires": "0"}, None),
        ({}, MOMENT_SECONDS),
    ],
)
def test_how_long_a_page_is_fresh(headers: dict[str, str], wanted: float | None):
    assert freshness_seconds(headers) == wanted


@given(st.dictionaries(st.sampled_from(("cache-control", "age", "expires", "date", "etag", "vary")), st.text()))
def test_no_header_breaks_the_reading(headers: dict[str, str]):
    fresh = freshness_seconds(headers)
    assert fresh is None or 0 <= fresh <= MAX_FRESH_SECONDS
    assert all(value.isprintable() for value in conditional_headers(headers).values())


def test_a_kept_page_is_plain_data():
    page = Fetched(url="u", final_url="u", media_type="text/html", body=b"\x00", fetched_at="2024-01-01T00:00:00.000Z")
    cache = KeptPage(page=page, fresh_until=1.5)
    assert msgspec.json.decode(msgspec.json.encode(cache), type=KeptPage) == cache


async def test_two_addresses_of_one_page_at_once_are_one_request():
    async with site() as there:
        there.pages |= {"/a": [0.1, response("The tide.")], "/old": moved("/a"), "/older": moved("/a")}
        web = WebFetcher(SystemClock(), FetchManners(agent=AGENT, robots=False), network=GuardedBackend(ALLOWED))
        pages = await asyncio.gather(*(web.fetch(there.url(path)) for path in ("/a", "/old", "/older")))
        await web.close()
    assert sorted(there.asked) == ["/a", "/old", "/older"]
    assert [page.url for page in pages] == [there.url(path) for path in ("/a", "/old", "/older")]
    assert [len(page.redirects) for page in pages] == [0, 1, 1]
