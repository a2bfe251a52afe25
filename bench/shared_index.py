"""The search index of a home compared with that in PostgreSQL: building it, adding a second machine, searching it.

python bench/shared_index.py [PASSAGES]      uses that many passages of the documents in $ASSAY_DATA (20,000)
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

import postgres as server
from corpus import DATA, machine, read_all
from sqlalchemy import Engine

from assay.core.ports import Library, Query
from assay.core.ports.store import Store
from assay.core.sources import Document
from assay.evidence.documents import DocumentReader
from assay.evidence.segment import SEGMENTER
from assay.search.local import LocalSearch
from assay.search.postgres import PostgresSearch
from assay.store.memory import memory_store
from assay.store.sql.database import Database
from assay.store.sql.postgres import Postgres

QUESTIONS = 200
Indexed = LocalSearch | PostgresSearch
FORMS = ("{}", "what does {} say?", "When was {} created and who wrote it?", "main limitations of {}")


def main(names: list[str]) -> int:
    """Print the figures; 2 when the data or a server are not there."""
    if not DATA.is_dir() or server.reason_to_skip():
        print(f"no data in {DATA} (set ASSAY_DATA), or: {server.reason_to_skip()}", file=sys.stderr)
        return 2
    wanted = int(names[0]) if names else 20_000
    everything = memory_store()
    read_all(everything)
    with tempfile.TemporaryDirectory() as folder, server.running() as url:
        measure(everything, wanted, Path(folder), url)
    return 0


def measure(everything: Store, wanted: int, folder: Path, url: str) -> None:
    """Take documents until there are enough passages, then index and ask them both ways."""
    reader = DocumentReader(everything.blobs)
    store, passages = memory_store(), 0
    documents = everything.library.documents(["default"])
    random.Random(7).shuffle(documents)
    for some in _batched(documents):
        snapshots = [everything.library.snapshot(each.snapshot_sha256) for each in some]
        store.library.add([pair for pair in zip(snapshots, some, strict=True) if pair[0] is not None], "default")
        passages += sum(len(reader.spans(each)) for each in some)
        if passages >= wanted:
            break
    print(f"{passages:,} passages of {store.library.last_row():,} documents; {machine()}")
    spans = DocumentReader(everything.blobs).spans
    schema = server.with_schema(url)
    Database(Postgres(schema)).close()
    engine = Postgres(schema).engine()

    def of_home(name: str) -> Indexed:
        return LocalSearch(folder / name, store.library, spans)

    def of_server(_: str) -> Indexed:
        return PostgresSearch(engine, store.library, spans, SEGMENTER)

    for kind, made in (("in each home", of_home), ("in PostgreSQL", of_server)):
        report(kind, made, store.library)
    print(f"sizes: {_size(folder):.0f} MB in a home, {_tables(engine):.0f} MB in PostgreSQL")
    engine.dispose()
    server.drop(schema)


def report(kind: str, made: Callable[[str], Indexed], library: Library) -> None:
    """Make the index, let a second machine join, ask."""
    first, second = _timed(lambda: made("one").sync()), _timed(lambda: made("two").sync())
    search = made("one")
    titled = [each for each in library.documents(["default"]) if " " in each.title]
    asked = random.Random(7).sample(titled, min(QUESTIONS, len(titled)))
    times, right = [], 0
    for number, document in enumerate(asked):
        seconds, found = _ask(search, document, FORMS[number % len(FORMS)])
        times.append(seconds * 1e3)
        right += document.title in found
    p95 = statistics.quantiles(times, n=20)[-1]
    print(
        f"{kind:<14} made {first:.1f} s, a second machine {second:.1f} s; "
        f"a question p50 {statistics.median(times):.1f} ms, p95 {p95:.1f} ms; "
        f"the named document in 10: {100 * right / len(asked):.0f} %"
    )


def _ask(search: Indexed, document: Document, form: str) -> tuple[float, list[str]]:
    started = time.perf_counter()
    hits = search.search_blocking(Query(text=form.format(document.title), limit=10))
    return time.perf_counter() - started, [hit.document.title for hit in hits]


def _timed(work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _batched(documents: list[Document]) -> list[list[Document]]:
    return [documents[first : first + 100] for first in range(0, len(documents), 100)]


def _size(folder: Path) -> float:
    return sum(each.stat().st_size for each in (folder / "one").rglob("*") if each.is_file()) / 1e6


def _tables(engine: Engine) -> float:
    with engine.begin() as connection:
        rows = (
            "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND starts_with(relname, %(of)s)"
        )
        return float(connection.exec_driver_sql(rows, {"of": "search_"}).scalar() or 0) / 1e6


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
