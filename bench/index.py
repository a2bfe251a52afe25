"""Time, memory and processor time of reading and indexing the 11,000 documents, of adding one more and deleting some.

python bench/index.py            prints the figures; the data are read from $ASSAY_DATA, else from ../shared/data
"""

from __future__ import annotations

import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from corpus import DATA, machine, read_all

from assay.app.components import LazyReaders
from assay.core.ports import Query
from assay.core.ports.store import Store
from assay.core.sources import Document, Snapshot, sha256
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.store.sql import open_store

ONE_BY_ONE = 40
"""Documents added one by one, each until it is found."""


def main() -> int:
    """Print the figures; 2 when the data are not there."""
    if not DATA.is_dir():
        print(f"no data in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))
    return 0


def measure(home: Path) -> None:
    """Read and index into `home`, then do it again."""
    store, readers = open_store(home), LazyReaders()
    reader = DocumentReader(store.blobs, cut=readers.segment, begin=readers.begin_segmenting)
    search = LocalSearch(home / "index", store.library, reader.spans, reader.each_spans)
    total = 0.0
    for name in ("first time", "again"):
        started = time.perf_counter()
        found = read_all(store)
        read = time.perf_counter()
        search.sync()
        indexed = time.perf_counter()
        print(
            f"{name}: {found.documents:,} documents, {found.added:,} new: "
            f"read {read - started:.1f} s, index {indexed - read:.1f} s, together {indexed - started:.1f} s"
        )
        total += indexed - started
    used = _used()
    one_by_one(store, search)
    deleted(store, search, home)
    started = time.perf_counter()
    search.close()
    readers.close()
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) // 1024
    size = sum(file.stat().st_size for file in (home / "index").rglob("*") if file.is_file()) >> 20
    print(f"merges went on for {time.perf_counter() - started:.1f} s at the end")
    print(
        f"peak memory {peak} MB, in the largest process; {used:.1f} s of processor time in this one in {total:.1f} s,"
    )
    print(f"with the others {_used(resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):.1f} s to the end")
    print(f"index {size} MB; {machine()}, load {os.getloadavg()[0]:.1f}")


def one_by_one(store: Store, search: LocalSearch) -> None:
    """Add documents one by one, and measure until each is in the index."""
    times, processor = [], []
    for number in range(ONE_BY_ONE):
        _add(store, number)
        started, used = time.perf_counter(), time.process_time()
        search.sync()
        times.append((time.perf_counter() - started) * 1e3)
        processor.append((time.process_time() - used) * 1e3)
        assert search.search_blocking(Query(text=f"addendum{number}", limit=1))
    p50, p95, used = statistics.median(times), statistics.quantiles(times, n=20)[-1], statistics.median(processor)
    print(f"one document more: p50 {p50:.0f} ms, p95 {p95:.0f} ms; {used:.0f} ms of processor time")


def deleted(store: Store, search: LocalSearch, home: Path) -> None:
    """Delete the documents added last as another machine does, and measure the next search over the library."""
    late = [
        document.sha256
        for _, document in store.library.documents_after(store.library.last_row() - ONE_BY_ONE, ONE_BY_ONE)
    ]
    store.library.remove(late, "default")
    assert store.upkeep is not None
    swept = store.upkeep.sweep(home / "pages")
    assert swept is not None
    used = time.process_time()
    assert search.search_blocking(Query(text="nothing had changed when the gauge was read again", limit=10))
    print(f"{len(swept.rows)} documents less: {(time.process_time() - used) * 1e3:.0f} ms of processor time")


def _add(store: Store, number: int) -> None:
    text = f"# Addendum{number}\n\n" + "The gauge was read again, and nothing had changed since. " * 60
    name = store.blobs.put(text.encode())
    size = len(text)
    about = {"sha256": sha256(text.encode()), "url": f"https://x.example/{number}", "size": size, "fetched_at": ""}
    snapshot = Snapshot(media_type="text/plain", **about)
    document = Document(
        snapshot_sha256=name,
        extractor="bench/1",
        title=f"Addendum{number}",
        name=f"{number}.md",
        media_type="text/plain",
        syntax="markdown",
        **about,
    )
    store.library.add([(snapshot, document)], "default")


def _used(*whose: int) -> float:
    """Seconds of processor time."""
    found = [resource.getrusage(who) for who in whose or (resource.RUSAGE_SELF,)]
    return sum(each.ru_utime + each.ru_stime for each in found)


if __name__ == "__main__":
    sys.exit(main())
