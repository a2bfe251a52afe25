"""1,000 pages of a local server with 32 in flight: pages per second fetched, and fetched and read; memory over time.

apt-get install python3.11-doc postgresql-doc sqlite3-doc
python bench/pages.py [PAGES]
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import psutil
from corpus import machine
from local_web import NO_DATA, serving
from web_server import ADDRESSES, manuals

from assay.app.components import LazyReaders
from assay.app.online import Online, PageIntake
from assay.evidence.documents import DocumentReader
from assay.run.process import SystemClock
from assay.services.extraction import make_fetcher
from assay.settings import load
from assay.store.pages import FolderPages
from assay.store.sql import open_store

IN_FLIGHT = 32
STEPS = 5


def urls(port: int, count: int) -> list[str]:
    """So many different addresses of pages, on 16 hosts in turn: a host is asked for two at once."""
    paths = [
        f"{name}/{file.relative_to(folder)}" for name, folder in manuals().items() for file in folder.rglob("*.html")
    ]
    hosts: Iterator[str] = cycle(ADDRESSES)
    return [f"http://{next(hosts)}:{port}/{path}" for path in islice(cycle(paths), count)]


async def all_of(wanted: list[str], read: Callable[[str], Awaitable[object]]) -> float:
    """Read all, so many at once; seconds."""
    queue, begun = iter(wanted), time.perf_counter()

    async def work() -> None:
        for url in queue:
            await read(url)

    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    return time.perf_counter() - begun


async def measure(port: int, count: int, home: Path) -> None:
    """Print the figures."""
    settings, clock, me = load(web={"allow": "127.0.0.0/8"}), SystemClock(), psutil.Process()
    fetcher = make_fetcher(settings.web, clock)
    took = await all_of(urls(port, count), fetcher.fetch)
    await fetcher.close()
    print(f"fetched: {count / took:.0f} pages a second; {me.memory_info().rss / 1e6:.0f} MB")
    store, readers = open_store(home), LazyReaders()
    kept = FolderPages(home / "pages", store.blobs)
    intake = PageIntake(
        library=store.library, blobs=store.blobs, clock=clock, readers=readers, spans=DocumentReader(store.blobs).spans
    )
    online = Online(settings, intake, kept)
    part, begun = count // STEPS, me.cpu_times()
    for step in range(STEPS):
        took = await all_of(urls(port, count)[step * part : (step + 1) * part], online.read)
        print(f"fetched and read: {part / took:.0f} pages a second; {me.memory_info().rss / 1e6:.0f} MB")
    used = me.cpu_times()
    print(f"processor time a page, of this process: {1000 * (used.user - begun.user) / count:.1f} ms")
    await online.close()
    readers.close()
    await store.close()


def main(arguments: list[str]) -> int:
    """Measure."""
    with serving() as port, tempfile.TemporaryDirectory() as folder:
        if not port:
            print("none of python3.11-doc, postgresql-doc, sqlite3-doc is installed")
            return NO_DATA
        print(machine())
        asyncio.run(measure(port, int(arguments[0]) if arguments else 1_000, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
