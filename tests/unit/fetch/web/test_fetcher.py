import asyncio
import gzip
import time
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from web import AGENT, Names, fetcher, moved, response, site

from assay.core.errors import FetchFailed
from assay.core.web_addresses import WebRules
from assay.fetch import web as module

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


async def test_a_page():
    async with site() as there, fetcher() as web:
        there.pages["/a?b=1"] = response(
            "<html>ü</html>", Content_Type="text/html; charset=utf-8", ETag='"1"', Set_Cookie="x"
        )
        page = await web.fetch(there.url("/a?b=1#part"))
    assert (page.status, page.media_type, page.body.decode()) == (200, "text/html", "<html>ü</html>")
    assert (page.url, page.final_url, page.redirects) == (there.url("/a?b=1#part"), there.url("/a?b=1"), ())
    assert page.headers == {"content-type": "text/html; charset=utf-8", "etag": '"1"'}
    assert f"User-Agent: {AGENT}\r\n" in there.seen[0]
    assert "Cookie" not in there.seen[0]


async def test_redirects_are_followed_and_told():
    async with site() as there, fetcher() as web:
        there.pages |= {"/1": moved("/2", 301), "/2": moved("3?x=1#y", 307), "/3?x=1": response("end")}
        page = await web.fetch(there.url("/1"))
    assert page.body == b"end"
    assert page.redirects == (there.url("/1"), there.url("/2"))
    assert page.final_url == there.url("/3?x=1")


async def test_a_redirect_may_be_written_in_utf8():
    async with site() as there, fetcher() as web:
        there.pages |= {"/": moved("/größe".encode().decode("latin-1")), "/gr%C3%B6%C3%9Fe": response("a")}
        there.pages |= {"/old": moved("/größe")}
        for path in ("/", "/old"):
            assert (await web.fetch(there.url(path))).body == b"a"


REFRESH = '<!DOCTYPE html><html><head><meta http-equiv=refresh content="{}"></head><body>Moved.</body></html>'


@pytest.mark.parametrize(
    "content",
    ["0; url=en/new?a=1", "0;URL=en/new?a=1", "0; url='en/new?a=1'", "1,URL = 'en/new?a=1'", "0; url=en/new?a=1#part"],
)
async def test_a_page_that_only_leads_on_is_a_redirect(content: str):
    async with site() as there, fetcher() as web:
        html = {"Content_Type": "text/html"}
        there.pages |= {"/": response(REFRESH.format(content), **html), "/en/new?a=1": response("<html>here", **html)}
        page = await web.fetch(there.url())
        assert (page.body, page.redirects) == (b"<html>here", (there.url(),))
        assert page.final_url == there.url("/en/new?a=1")


@pytest.mark.parametrize(
    "content",
    ["30; url=/other", "0", "5", "0; url=", "0; url=#part", "0; url=/", "0; url=javascript:x()", "0; url=file:///x"],
)
async def test_a_page_that_reloads_itself_or_leads_nowhere_is_a_page(content: str):
    async with site() as there, fetcher() as web:
        there.pages["/"] = response(REFRESH.format(content), Content_Type="text/html")
        page = await web.fetch(there.url())
    assert (page.redirects, b"Moved" in page.body) == ((), True)
    assert there.asked == ["/"]


async def test_a_page_with_a_text_of_its_own_is_not_left():
    async with site() as there, fetcher() as web:
        long = REFRESH.format("0; url=/other").replace("Moved.", "word " * 500)
        noscript = "<html><head><noscript><meta http-equiv=refresh content='0; url=/other'></noscript></head>Text."
        there.pages["/"] = response(long, Content_Type="text/html")
        there.pages["/noscript"] = response(noscript, Content_Type="text/html")
        assert (await web.fetch(there.url())).redirects == ()
        assert (await web.fetch(there.url("/noscript"))).redirects == ()


async def test_a_part_of_a_page_is_not_the_page():
    async with site() as there, fetcher() as web:
        there.pages["/"] = response("ab", 206, Content_Range="bytes 0-1/4")
        with pytest.raises(FetchFailed, match=r"damaged: 127.0.0.1 sent only a part of the page"):
            await web.fetch(there.url())
        there.pages["/whole"] = response("abcd", 206, Content_Range="bytes 0-3/4")
        assert (await web.fetch(there.url("/whole"))).body == b"abcd"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (response(status=404), "not found: 127.0.0.1 answered 404"),
        (response(status=403), "forbidden: "),
        (response(status=401), "forbidden: "),
        (response(status=402), "paywall: "),
        (response(status=410), "gone: "),
        (response(status=500), "refused: 127.0.0.1 answered 500"),
        (response(status=304), "refused: "),
        (moved("/x"), "redirects: in a loop"),
        (b"", "unreachable: "),
        (b"no http at all\r\n\r\n", "unreachable: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort", "unreachable: "),
        (response("x" * 300_000), "too large: more than 0.2 MB (the setting web.max_mb)"),
        (response(gzip.compress(b"x" * 5_000_000, mtime=0), Content_Encoding="gzip"), "too large: "),
        (response(b"\x1f\x8b\x08nonsense", Content_Encoding="gzip"), "damaged: its compression is broken"),
        (response(b"x", Content_Encoding="br"), "damaged: packed as 'br'"),
        ([b"HTTP/1.1 200 OK\r\nX: ", *[b"y" * 65_536] * 10], "unreachable: "),
    ],
)
async def test_failures_are_told_by_kind(reply: bytes, reason: str):
    async with site() as there, fetcher(bytes=200_000) as web:
        there.pages["/x"] = reply
        with pytest.raises(FetchFailed) as failed:
            await web.fetch(there.url("/x"))
    assert failed.value.reason.startswith(reason)


@pytest.mark.parametrize(
    ("reply", "limits", "reason"),
    [
        ([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na", 30.0], {"silence": 0.5}, "timeout: "),
        ([30.0], {"silence": 0.5}, "timeout: "),
        (
            [b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n", *[b"a", 0.1] * 60],
            {"seconds": 1.0},
            "timeout: incomplete after 1 s",
        ),
    ],
)
async def test_who_takes_too_long_is_not_waited_for(reply: list[bytes | float], limits: dict[str, float], reason: str):
    async with site() as there, fetcher(**limits) as web:
        there.pages["/x"] = reply
        with pytest.raises(FetchFailed) as failed:
            await web.fetch(there.url("/x"))
    assert failed.value.reason.startswith(reason)


async def test_who_is_not_there():
    async with fetcher(Names(nobody_example=[[]])) as web:
        with pytest.raises(FetchFailed, match=r"unreachable: the host nobody.example has no address"):
            await web.fetch("http://nobody.example/")
        with pytest.raises(FetchFailed, match="unreachable"):
            await web.fetch("http://127.0.0.1:9/")


async def test_after_a_redirect_the_host_that_fails_is_named():
    async with site() as there, fetcher() as web:
        there.pages["/old"] = moved("http://127.0.0.1:9/new")
        with pytest.raises(FetchFailed, match=r"unreachable: 127\.0\.0\.1:9 refuses the connection"):
            await web.fetch(there.url("/old"))


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(b"hello " * 1000, mtime=0)),
        ("deflate", zlib.compress(b"hello " * 1000)),
        ("deflate", zlib.compress(b"hello " * 1000)[2:-4]),
        ("identity", b"hello " * 1000),
    ],
)
async def test_packed_bodies(encoding: str, packed: bytes):
    async with site() as there, fetcher() as web:
        there.pages["/"] = response(packed, Content_Encoding=encoding)
        assert (await web.fetch(there.url())).body == b"hello " * 1000


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("text/html", b"%PDF-1.7 ...", "application/pdf"),
        ("", b"  <!DOCTYPE html><p>x", "text/html"),
        ("text/plain", b"<html><p>x", "text/html"),
        ("application/xhtml+xml; charset=utf-8", b"<html>", "application/xhtml+xml"),
        ("", b"words", "text/plain"),
        ("application/octet-stream", b"a\0b", "application/octet-stream"),
        ("application/json", b"{}", "application/json"),
        ("text/html", b"\x89PNG...", "image/png"),
        ("", b"\xef\xbb\xbf<!DOCTYPE html>", "text/html"),
        ("text/plain", b"<!-- made\nby hand --> <!-- -->\n<!doctype html>", "text/html"),
        ("text/plain", b'<?xml version="1.0"?>\n<html>', "text/html"),
        ("text/plain", b"<!-- made by hand", "text/plain"),
        ("application/pdf", b"\xef\xbb\xbf%PDF-1.4", "application/pdf"),
        ("text/html", b"\xef\xbb\xbf\r\n%PDF-1.4", "application/pdf"),
        (DOCX, b"PK\x03\x04...", DOCX),
        ("application/epub+zip", b"PK\x03\x04...", "application/epub+zip"),
        ("text/html", b"PK\x03\x04...", "application/zip"),
    ],
)
async def test_kinds_of_content(declared: str, body: bytes, kind: str):
    async with site() as there, fetcher() as web:
        there.pages["/"] = response(body, Content_Type=declared)
        assert (await web.fetch(there.url())).media_type == kind


async def test_one_page_is_fetched_once_whoever_asks():
    async with site() as there, fetcher() as web:
        there.pages["/p"] = [0.1, response("x")]
        same = [there.url("/p"), there.url("/p#a"), there.url("/p?utm_source=y")]
        pages = await asyncio.gather(*(web.fetch(url) for url in same * 3))
        there.pages["/none"] = [0.1, response(status=404)]
        failed = await asyncio.gather(*(web.fetch(there.url("/none")) for _ in range(3)), return_exceptions=True)
    assert {page.body for page in pages} == {b"x"}
    assert [type(each) for each in failed] == [FetchFailed] * 3
    assert there.asked == ["/p", "/none"]


async def test_a_busy_site_is_asked_once_more():
    async with site() as there, fetcher() as web:
        replies = [response(status=429, Retry_After="0"), response("now")]
        there.pages["/"] = lambda: replies.pop(0)
        assert (await web.fetch(there.url())).body == b"now"
        there.pages["/long"] = response(status=503, Retry_After="600")
        with pytest.raises(FetchFailed, match="503"):
            await web.fetch(there.url("/long"))
        there.pages["/date"] = response(status=503, Retry_After=format_datetime(later(600), usegmt=True))
        with pytest.raises(FetchFailed, match="503"):
            await web.fetch(there.url("/date"))
        again = [response(status=503, Retry_After=format_datetime(later(-600), usegmt=True)), response("now")]
        there.pages["/past"] = lambda: again.pop(0)
        assert (await web.fetch(there.url("/past"))).body == b"now"
    assert there.asked == ["/", "/", "/long", "/date", "/past", "/past"]


def later(seconds: int) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


async def test_a_site_is_not_overrun():
    async with site() as there, fetcher(at_once=2) as web:
        there.pages |= {f"/{number}": [0.05, response("x")] for number in range(6)}
        await asyncio.gather(*(web.fetch(there.url(f"/{number}")) for number in range(6)))
    assert there.most_at_once == 2


async def test_robots():
    async with site() as there, fetcher(robots=True) as web:
        there.pages |= {
            "/robots.txt": response(
                "User-agent: *\nDisallow: /private\n\nUser-agent: Assay\nDisallow: /no\nCrawl-delay: 0.2\n"
            ),
            "/a": response("a"),
            "/private": response("b"),
            "/no/c": response("c"),
            "/to": moved("/no/c"),
        }
        begun = time.monotonic()
        await asyncio.gather(*(web.fetch(there.url(path)) for path in ("/a", "/private")))
        took = time.monotonic() - begun
        for path in ("/no/c", "/to"):
            with pytest.raises(FetchFailed, match=r"robots: 127.0.0.1 does not want this page read by programs"):
                await web.fetch(there.url(path))
    assert there.asked.count("/robots.txt") == 1
    assert "/no/c" not in there.asked
    assert took >= 0.2


@pytest.mark.parametrize(
    ("reply", "allows"),
    [
        (response(status=404), True),
        (response(status=401), True),
        (response("\xff nonsense \0 :::"), True),
        (moved("/elsewhere.txt"), False),
        (response(status=500), False),
        (response(status=429), False),
        (b"", False),
    ],
)
async def test_a_site_without_rules_and_one_in_trouble(reply: bytes, allows: bool):
    async with site() as there, fetcher(robots=True) as web:
        there.pages |= {
            "/robots.txt": reply,
            "/elsewhere.txt": response("User-agent: *\nDisallow: /"),
            "/": response("x"),
        }
        if allows:
            assert (await web.fetch(there.url())).body == b"x"
        else:
            with pytest.raises(FetchFailed, match="robots: "):
                await web.fetch(there.url())


async def test_robots_may_begin_with_a_byte_order_mark():
    async with site() as there, fetcher(robots=True) as web:
        there.pages |= {"/robots.txt": response("\ufeffUser-agent: *\nDisallow: /no"), "/no": response("x")}
        with pytest.raises(FetchFailed, match="robots: "):
            await web.fetch(there.url("/no"))


async def test_robots_lead_to_no_host_that_is_left_out():
    names = Names(a_example=[["127.0.0.1"]], b_example=[["127.0.0.1"]])
    async with site() as there, site() as left_out, fetcher(names, robots=True) as web:
        there.pages |= {"/robots.txt": moved(left_out.url("/robots.txt", "b.example")), "/": response("x")}
        left_out.pages["/robots.txt"] = response("User-agent: *\nDisallow: /")
        here = there.url("/", "a.example")
        assert (await web.fetch(here, WebRules(denied=("b.example",)))).body == b"x"
        assert left_out.connections == 0
        with pytest.raises(FetchFailed, match="robots: "):
            await web.fetch(here)


async def test_of_an_endless_robots_file_the_first_lines_hold():
    async with site() as there, fetcher(robots=True) as web:
        endless = "User-agent: *\nDisallow: /no\n" + "# and so on\n" * 60_000 + "Disallow: /"
        there.pages |= {"/robots.txt": response(endless), "/": response("x"), "/no": response("y")}
        assert (await web.fetch(there.url())).body == b"x"
        with pytest.raises(FetchFailed, match="robots: "):
            await web.fetch(there.url("/no"))


async def test_sites_are_forgotten_in_the_end(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_SITES", 2)
    async with fetcher() as web:
        first = web._site("http://a:80")
        web._site("http://b:80")
        assert web._site("http://a:80") is first
        web._site("http://c:80")
        assert web._site("http://a:80") is first
        assert list(web._sites) == ["http://c:80", "http://a:80"]


async def test_a_cancelled_fetch_leaves_the_page_to_others():
    async with site() as there, fetcher() as web:
        there.pages["/"] = [0.2, response("x")]
        first = asyncio.create_task(web.fetch(there.url()))
        await asyncio.sleep(0.05)
        first.cancel()
        assert (await web.fetch(there.url())).body == b"x"
