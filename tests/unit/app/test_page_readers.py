"""Pages of the web are read apart from this process, whatever they are, and within a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.app import components as module
from assay.app.components import LazyReaders
from assay.app.online import Online, PageIntake
from assay.core.errors import ExtractError, FetchFailed
from assay.core.sources import Fetched
from assay.core.web_addresses import ANYTHING, WebRules
from assay.evidence.documents import DocumentReader
from assay.run.process import SystemClock
from assay.services.extraction import read_page
from assay.settings import load
from assay.store.memory import memory_store

SLOW = b"<html><body><article>" + b"<nav><p>x</p>" * 400_000 + b"The end."


@pytest.fixture
def readers() -> Iterator[LazyReaders]:
    made = LazyReaders()
    yield made
    made.close()


def test_every_kind_of_page_is_read_elsewhere(readers: LazyReaders):
    found = readers.page_extractors()
    assert {each.media_type for each in found} == {each.media_type for each in readers.extractors()}
    assert all(each.isolated for each in found)


def test_a_page_is_read(readers: LazyReaders):
    html = next(each for each in readers.page_extractors() if each.media_type == "text/html")
    (read,) = html.extract(b"<html><title>Tides</title><body><p>The tide rises.", "tides")
    assert (read.title, read.text.strip()) == ("Tides", "The tide rises.")


def test_a_page_made_to_be_slow_is_given_up(readers: LazyReaders, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "PAGE_SECONDS", 1.0)
    html = next(each for each in readers.page_extractors() if each.media_type == "text/html")
    with pytest.raises(ExtractError, match="not read within 1 seconds"):
        list(html.extract(SLOW, "slow"))


class Serving:
    """A fetcher of one page."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    async def fetch(self, url: str, rules: WebRules = ANYTHING) -> Fetched:
        """The page, whatever was asked for."""
        now = SystemClock().now()
        return Fetched(url=url, final_url=url, status=200, media_type="text/html", body=self.body, fetched_at=now)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(("page", "seconds", "kind"), [(SLOW, 1.0, "too slow: "), (b"<p></p>", 20.0, "not text: ")])
async def test_the_failure_of_a_page_begins_with_its_kind(
    readers: LazyReaders, monkeypatch: pytest.MonkeyPatch, page: bytes, seconds: float, kind: str
):
    monkeypatch.setattr(module, "PAGE_SECONDS", seconds)
    store = memory_store()
    intake = PageIntake(
        library=store.library,
        blobs=store.blobs,
        clock=SystemClock(),
        readers=readers,
        spans=DocumentReader(store.blobs).spans,
    )
    online = Online(load(), intake)
    online.use_fetcher(Serving(page))
    with pytest.raises(FetchFailed, match=f"^{kind}"):
        await online.read("https://example.org/slow")
    with pytest.raises(FetchFailed, match=f"^{kind}"):
        await read_page(Serving(page), readers, "https://example.org/slow")
