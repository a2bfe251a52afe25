"""Whether reading pages delays other work of a process: the worst gap of its event loop, and the time per page.

python bench/stalls.py    generates its pages: ordinary ones, 4 MB ones, and ones designed to be slow
"""

from __future__ import annotations

import asyncio
import functools
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from corpus import machine

from assay.app.components import LazyReaders
from assay.app.online import Online, PageIntake
from assay.core.errors import FetchFailed, StoreError
from assay.core.sources import Document, Fetched
from assay.evidence.documents import DocumentReader
from assay.run.process import SystemClock
from assay.settings import load
from assay.store.memory import memory_store

TICK = 0.001
PARAGRAPH = "<p>" + "The harbor was measured in 1843 by Ada Byron, and again <b>later</b>. " * 6 + "</p>"
NAV = "<nav><a href=/>home</a></nav>"


def page(size: int, around: str = "") -> bytes:
    """A page of about `size` bytes; with something `around` its text it is read as an article, not in full."""
    part = f"<h2>Part</h2>{PARAGRAPH * 5}"
    return f"<!doctype html><title>Page</title><body>{around}<div>{part * (size // len(part) + 1)}</div>".encode()


@functools.cache
def pages() -> dict[str, bytes]:
    """The pages read; 25 MB, which who only measures gaps does not want."""
    return {
        "20 kB documentation": page(20_000),
        "20 kB article": page(20_000, NAV),
        "100 kB documentation": page(100_000),
        "100 kB article": page(100_000, NAV),
        "4 MB documentation": page(4_000_000),
        "4 MB article": page(4_000_000, NAV),
        "4 MB of one line": b"<html><body><p>" + b"a very long line. " * 222_000,
        "4 MB of one word": b"<html><body><p>" + b"a" * 4_000_000,
        "50,000 nested boxes": b"<html><body>" + b"<div>" * 50_000 + b"The end. " * 40,
        "4 MB of open tags": b"<html><body>" + b"<b><table><a href=x>y" * 190_000,
        "60,000 menus": b"<html><body><article>" + b"<nav><p>x</p>" * 60_000 + PARAGRAPH.encode(),
        "4 MB of attributes": b"<html><body><p " + b"a=b " * 1_000_000 + b">" + PARAGRAPH.encode(),
    }


class Still:
    """A fetcher which has the pages already."""

    async def fetch(self, url: str, *_: object) -> Fetched:
        body = pages()[url.rpartition("/")[2].replace("_", " ")]
        return Fetched(url=url, final_url=url, media_type="text/html", body=body, fetched_at=SystemClock().now())

    async def close(self) -> None:
        """Nothing is open."""


@asynccontextmanager
async def watched(gaps: list[float]) -> AsyncIterator[None]:
    """Measure how late the event loop is, as long as the block lasts."""
    ended = asyncio.Event()

    async def tick() -> None:
        while not ended.is_set():
            begun = time.perf_counter()
            await asyncio.sleep(TICK)
            gaps.append(time.perf_counter() - begun - TICK)

    ticking = asyncio.ensure_future(tick())
    try:
        yield
    finally:
        ended.set()
        await ticking


async def measure(name: str, read: Callable[[str], Awaitable[int]]) -> float:
    """Read one page; the worst gap in seconds."""
    gaps: list[float] = []
    begun = time.perf_counter()
    async with watched(gaps):
        try:
            what = f"{await read('https://example.org/' + name.replace(' ', '_')):>6} passages"
        except (FetchFailed, StoreError) as failed:
            what = str(failed)
    took = time.perf_counter() - begun
    print(f"{name:<24} worst gap {max(gaps) * 1000:5.1f} ms, {took:6.2f} s  {what[:60]}", flush=True)
    return max(gaps)


async def still() -> None:
    """What the machine itself does to the loop, for comparison."""
    gaps: list[float] = []
    async with watched(gaps):
        await asyncio.sleep(2)
    middle = statistics.median(gaps)
    print(f"{'nothing':<24} worst gap {max(gaps) * 1000:5.1f} ms, median {middle * 1000:.2f} ms; {machine()}")


async def run() -> float:
    """Read all pages, one after the other, as a run does: text, then passages."""
    store, readers, clock = memory_store(), LazyReaders(), SystemClock()
    reader = DocumentReader(store.blobs)
    intake = PageIntake(library=store.library, blobs=store.blobs, clock=clock, readers=readers, spans=reader.spans)
    online = Online(load(), intake)
    online.use_fetcher(Still())

    async def read(url: str) -> int:
        documents: tuple[Document, ...] = await online.read(url)
        return sum([len(await asyncio.to_thread(reader.spans, each)) for each in documents])

    await still()
    await online.read("https://example.org/20_kB_documentation")  # the processes are there
    try:
        return max([await measure(name, read) for name in pages()])
    finally:
        await online.close()
        readers.close()


def main() -> int:
    """Print the figures; 1 when the loop stood still for 50 ms."""
    worst = asyncio.run(run())
    print(f"worst of all: {worst * 1000:.1f} ms")
    return int(worst > 0.05)


if __name__ == "__main__":
    sys.exit(main())
