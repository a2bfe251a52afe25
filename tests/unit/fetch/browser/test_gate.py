"""What a page that runs may have: nothing but scripts and data, from where it may, within limits."""

from __future__ import annotations

import asyncio

import pytest

from assay.core.errors import FetchFailed
from assay.core.sources import Fetched
from assay.core.web_addresses import ANYTHING, WebRules
from assay.fetch.browser import MAX_CONCURRENT_REQUESTS, GateLimits, GateResponse, PageGate, PageRequest

HOME = "http://app.example/start"


def page(url: str = HOME, body: bytes = b"<p>", **headers: str) -> Fetched:
    return Fetched(
        url=url, final_url=url, media_type="text/html", headers=headers, body=body, fetched_at="2024-01-01T00:00:00Z"
    )


class Web:
    """Answers with `body`, after `wait` seconds; notes what it was asked, under which rules."""

    def __init__(self, body: bytes = b"x" * 100, wait: float = 0.0, **headers: str) -> None:
        self.body, self.wait, self.headers = body, wait, headers
        self.asked: list[tuple[str, WebRules]] = []

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        self.asked.append((url, rules))
        await asyncio.sleep(self.wait)
        if "dead" in url:
            raise FetchFailed("not found: 404")
        return page(url, self.body, **self.headers)

    async def close(self) -> None:
        """Nothing is open."""


def gate(web: Web, *, inside: bool = False, requests: int = 5, size: int = 1_000, seconds: float = 5.0) -> PageGate:
    deadline = asyncio.get_running_loop().time() + seconds
    return PageGate(page(), web, ANYTHING, GateLimits(requests=requests, bytes=size, deadline=deadline), inside=inside)


def wish(url: str, kind: str = "script", method: str = "GET") -> PageRequest:
    return PageRequest(url=url, method=method, kind=kind)


async def test_the_page_itself_comes_from_what_was_fetched_and_goes_nowhere():
    web = Web()
    made = gate(web)
    first = await made.answer_request(wish(HOME, "document"))
    assert first == GateResponse(status=200, headers={"content-type": "text/html"}, body=b"<p>")
    for url in (HOME, "http://elsewhere.example/", "file:///etc/passwd"):
        assert await made.answer_request(wish(url, "document")) == GateResponse(status=204)
    assert web.asked == []


@pytest.mark.parametrize(
    "kind", ["image", "media", "font", "websocket", "ping", "eventsource", "other", "manifest", ""]
)
async def test_other_kinds_are_not_asked_for(kind: str):
    web = Web()
    assert await gate(web).answer_request(wish("http://app.example/x", kind)) is None
    assert web.asked == []


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://x.example/", "http://a@b.example/", "blob:x", "data:,x", ""]
)
async def test_what_is_no_address_is_not_asked_for(url: str):
    web = Web()
    assert await gate(web).answer_request(wish(url)) is None
    assert web.asked == []


async def test_nothing_is_sent():
    web = Web()
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
        assert await gate(web).answer_request(wish("http://app.example/x", "fetch", method)) is None
    assert web.asked == []


async def test_styles_are_answered_with_nothing():
    web = Web()
    assert await gate(web).answer_request(wish("http://app.example/x.css", "stylesheet")) == GateResponse(
        headers={"content-type": "text/css"}
    )
    assert web.asked == []


async def test_the_browser_hears_who_may_read_an_answer_and_nothing_else():
    web = Web(**{"content-type": "application/json", "access-control-allow-origin": "*", "etag": "1"})
    given = await gate(web).answer_request(wish("http://data.example/x", "xhr"))
    assert given is not None
    assert dict(given.headers) == {"content-type": "application/json", "access-control-allow-origin": "*"}


async def test_a_page_inside_has_what_is_on_its_host_and_leads_nowhere_else():
    web = Web()
    made = gate(web, inside=True)
    for url in ("http://app.example:81/x", "https://app.example/x", "http://x.app.example/", "http://public.example/x"):
        assert await made.answer_request(wish(url)) is None
    assert await made.answer_request(wish("http://app.example/x")) is not None
    assert web.asked == [("http://app.example/x", WebRules(domains=("app.example",)))]


async def test_requests_and_bytes_are_counted():
    web = Web()
    few = gate(web, requests=2)
    assert [await few.answer_request(wish(f"http://app.example/{n}")) is None for n in range(4)] == [
        False,
        False,
        True,
        True,
    ]
    assert len(web.asked) == 2
    small = gate(web, size=250)
    given = [await small.answer_request(wish(f"http://app.example/{n}")) is None for n in range(5)]
    assert given == [False, False, True, True, True]
    assert len(web.asked) == 2 + 3  # who has had more than enough is not even asked for


async def test_few_answers_are_on_their_way_at_once():
    class Counting(Web):
        now = most = 0

        async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                return await super().fetch(url, rules)
            finally:
                self.now -= 1

    web = Counting(wait=0.01)
    made = gate(web, requests=20, size=550, seconds=60)
    given = await asyncio.gather(*(made.answer_request(wish(f"http://app{n}.example/x")) for n in range(20)))
    assert web.most == MAX_CONCURRENT_REQUESTS
    assert [each is not None for each in given] == [True] * 5 + [False] * 15
    assert len(web.asked) <= 5 + MAX_CONCURRENT_REQUESTS  # who came after too much was there is not even asked for


async def test_what_cannot_be_had_is_refused():
    assert await gate(Web()).answer_request(wish("http://app.example/dead")) is None
    assert await gate(Web(wait=30), seconds=0.05).answer_request(wish("http://app.example/slow")) is None


async def test_a_closed_gate_gives_up_what_is_being_asked_for():
    web = Web(wait=600)
    made = gate(web, seconds=300)
    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        asking = tasks.create_task(made.answer_request(wish("http://app.example/slow")))
        await asyncio.sleep(0.05)
        made.close()
    assert asking.result() is None
    assert await made.answer_request(wish("http://app.example/x")) is None
    assert len(web.asked) == 1
