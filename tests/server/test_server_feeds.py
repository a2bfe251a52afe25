"""Feeds of schedules: what changed from report to report, for whoever has the address and nobody else."""

from __future__ import annotations

import asyncio
import string
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree

import httpx
import msgspec
import pytest
from accounts import accounts, session
from hypothesis import given
from hypothesis import strategies as st
from serving import TIDE, WAIT, Served, begun, until

from assay.export.atom import ATOM, AtomFeed, render_feed
from assay.services.schedules import ScheduleBook

LOW = "# Tides\n\nThe tide at Brest rises seven metres.\n"
HIGH = "# Tides\n\nThe tide at Brest rises eight metres, says <b>the almanac</b> & others.\n"


def tag(name: str) -> str:
    return f"{{{ATOM}}}{name}"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("feeds") / "home", ana="admin", bob="member")


@pytest.fixture(scope="module")
def schedule(server: Served, home: Path) -> str:
    """A schedule of bob's, whose two reports say different things; it is not due."""

    async def made() -> list[str]:
        runs = []
        async with session(server, "bob") as bob:
            for name, text in (("low", LOW), ("high", HIGH)):
                await bob.post(f"/api/v1/collections/{name}/documents?name=tides.md", content=text.encode())
                runs.append(await begun(bob, TIDE, scope={"collections": [name]}))
                await until(bob, runs[-1])
        return runs

    runs = asyncio.run(made())
    book = ScheduleBook(home, "bob")
    added = book.add(TIDE, 604_800, ["@low"], {}, datetime(2100, 1, 1, tzinfo=UTC))
    book.change(added.id, lambda old: msgspec.structs.replace(old, runs=(runs[0], "gone", runs[1])))
    return added.id


async def opened(server: Served, schedule: str) -> str:
    async with session(server, "bob") as bob:
        made = await bob.post(f"/api/v1/schedules/{schedule}/feed")
        assert made.status_code == 201, made.text
        return str(made.json()["url"])


async def test_it_tells_what_changed_from_report_to_report(server: Served, schedule: str) -> None:
    url = await opened(server, schedule)
    async with httpx.AsyncClient(trust_env=False, timeout=WAIT) as nobody:
        answer = await nobody.get(url)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/atom+xml")
        again = await nobody.get(url, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    root = ElementTree.fromstring(answer.content)
    assert root.tag == tag("feed")
    assert root.findtext(tag("title")) == TIDE
    assert root.findtext(tag("updated")) == root.findtext(f"{tag('entry')}/{tag('updated')}")
    assert [link.get("href") for link in root.findall(tag("link")) if link.get("rel") == "self"] == [url]
    latest, first = root.findall(tag("entry"))
    assert (first.findtext(tag("title")) or "").startswith("First report, 1 claim:")
    assert (latest.findtext(tag("title")) or "").startswith("Claims: ")
    content = latest.findtext(tag("content")) or ""
    assert "eight metres" in content
    assert "<del>" in content or "Dropped" in content
    assert "&lt;b&gt;" in content or "almanac" not in content
    assert len({entry.findtext(tag("id")) for entry in (latest, first)}) == 2


async def test_an_address_leads_nowhere_when_it_is_closed_or_another_was_made(server: Served, schedule: str) -> None:
    first, second = await opened(server, schedule), await opened(server, schedule)
    async with httpx.AsyncClient(trust_env=False, timeout=WAIT) as nobody, session(server, "bob") as bob:
        assert (await nobody.get(first)).status_code == 404
        assert (await nobody.get(second)).status_code == 200
        shown = (await bob.get("/api/v1/schedules")).json()["schedules"][0]
        assert shown["has_feed"]
        assert second.rpartition("/")[2] not in str(shown)
        assert (await nobody.post(f"{server.url}/api/v1/schedules/{schedule}/feed")).status_code == 401
        assert (await bob.delete(f"/api/v1/schedules/{schedule}/feed")).status_code == 204
        assert (await nobody.get(second)).status_code == 404
        assert (await nobody.get(f"{server.url}/feed/")).status_code in (401, 404)


async def test_another_s_schedule_has_no_feed_for_one(server: Served, schedule: str) -> None:
    async with session(server, "ana") as ana:
        assert (await ana.post(f"/api/v1/schedules/{schedule}/feed")).status_code == 404
        assert (await ana.delete(f"/api/v1/schedules/{schedule}/feed")).status_code == 404


async def test_the_page_makes_one_and_shows_its_address_once(server: Served, schedule: str) -> None:
    async with session(server, "bob") as bob:
        page = await bob.post(f"/schedules/{schedule}/feed", headers={"Accept": "text/html"})
        assert page.status_code == 200
        assert f"{server.url}/feed/" in page.text
        assert "/feed/" not in (await bob.get("/schedules")).text.replace("/feed/close", "")
        closed = await bob.post(f"/schedules/{schedule}/feed/close", headers={"Accept": "text/html"})
        assert closed.status_code == 303


@given(st.text(string.printable + "\x00\x0b\ud800\uffff<&>]]>é", max_size=60))
def test_it_is_xml_whatever_was_asked(text: str) -> None:
    at, url = "2026-01-01T00:00:00Z", "http://x/feed/y"
    feed = AtomFeed(id="a", question=text, created_at=at, url=url, site="http://x", entries=())
    root = ElementTree.fromstring(render_feed(feed))
    assert root.find(tag("title")) is not None
