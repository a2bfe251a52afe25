"""The 11,000 documents in a library on disk: shared by the measurements."""

from __future__ import annotations

import os
import timeit
from pathlib import Path

from assay.core.ports.store import Store
from assay.evidence.ingest import FileReaders, IngestResult, IngestTarget, ingest
from assay.fetch.text import JsonLinesExtractor
from assay.run.process import SystemClock

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "documents"


def read_all(store: Store) -> IngestResult:
    """Read them into `store`'s default collection."""
    target = IngestTarget(library=store.library, blobs=store.blobs, clock=SystemClock(), collection="default")
    return ingest([DATA / "*.jsonl.gz"], target, FileReaders(extractors=[JsonLinesExtractor()]))


def machine() -> str:
    """The processors and their pace: two of one name differ by a factor of three, so figures need it beside them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    pace = min(timeit.repeat("sum(at * at for at in range(1_000_000))", number=1, repeat=5))
    return f"{os.cpu_count()} x {names[0] if names else 'unknown processor'}, {pace * 1e3:.0f} ms a million squares"
