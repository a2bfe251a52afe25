"""How long reading and indexing the 11,000 documents takes, and the memory it needs, in one process.

python bench/index.py            prints the figures; the data are looked for in $ASSAY_DATA, else ../shared/data
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

from corpus import DATA, machine, read_all

from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.store.sql import open_store


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
    store = open_store(home)
    search = LocalSearch(home / "index", store.library, DocumentReader(store.blobs).spans)
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
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    processor = resource.getrusage(resource.RUSAGE_SELF)
    size = sum(file.stat().st_size for file in (home / "index").rglob("*") if file.is_file()) >> 20
    print(f"peak memory {peak} MB, processor time {processor.ru_utime + processor.ru_stime:.1f} s of {total:.1f} s")
    print(f"index {size} MB; {machine()}")


if __name__ == "__main__":
    sys.exit(main())
