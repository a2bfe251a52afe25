"""The speed of local search over the 11,000 documents, and whether it finds the document that a question names.

python bench/search.py           makes questions from titles; the data are read from $ASSAY_DATA, else ../shared/data
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from corpus import DATA, machine, read_all

from assay.core.ports import Library, Query
from assay.core.sources import Document
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.search.local.index import INDEX_FORMAT, LocalIndex
from assay.search.local.local_ranks import IndexSnapshot
from assay.search.local.words import Words
from assay.store.sql import open_store

QUESTIONS = 400
FORMS = ("{}", "what does {} say?", "When was {} created and who wrote it?", "main limitations of {}")


def main() -> int:
    """Print the figures; 2 when the data are not there."""
    if not DATA.is_dir():
        print(f"no data in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = open_store(home)
        search = LocalSearch(home / "index", store.library, DocumentReader(store.blobs).spans)
        found = read_all(store)
        search.sync()
        print(f"{found.documents:,} documents; {machine()}")
        report(search, store.library)
        queries(home / "index", named(store.library, random.Random(7)))
    return 0


def report(search: LocalSearch, library: Library) -> None:
    """Measure all scopes."""
    chance = random.Random(7)
    documents = library.documents(["default"])
    chosen = named(library, chance)
    print(f"{'scope':<10} {'p50 ms':>7} {'p95 ms':>7} {'first':>6} {'in 10':>6}")
    for scope in (len(documents), 5000, 300, 3):
        members = chance.sample(documents, scope)
        name = library.collection_for([document.sha256 for document in members])
        asked = chosen if scope == len(documents) else [chance.choice(members) for _ in range(QUESTIONS)]
        measure(search, asked, name, scope)


def named(library: Library, chance: random.Random) -> list[Document]:
    """Documents whose titles questions are made of."""
    return chance.sample([each for each in library.documents(["default"]) if " " in each.title], QUESTIONS)


def queries(folder: Path, asked: Sequence[Document]) -> None:
    """Measure what the index of passages takes for a question, alone: the ten best of all passages."""
    index = LocalIndex(folder / INDEX_FORMAT)
    view, times = IndexSnapshot(index), []
    for number, document in enumerate(asked):
        words = Words(FORMS[number % len(FORMS)].format(document.title), index.analyses).select_informative(
            view.documents
        )
        query = words.passage_query()
        started = time.perf_counter()
        view.passages.search(query, 10, count=False)
        times.append((time.perf_counter() - started) * 1e3)
    p95 = statistics.quantiles(times, n=20)[-1]
    print(f"a query of {view.passages.num_docs:,} passages: p50 {statistics.median(times):.2f} ms, p95 {p95:.2f} ms")


def measure(search: LocalSearch, asked: Sequence[Document], collection: str, scope: int) -> None:
    """Ask for each document by its title."""
    times, first, within = [], 0, 0
    for number, document in enumerate(asked):
        question = FORMS[number % len(FORMS)].format(document.title)
        started = time.perf_counter()
        hits = search.search_blocking(Query(text=question, limit=10, collections=(collection,)))
        times.append((time.perf_counter() - started) * 1e3)
        titles = [hit.document.title for hit in hits]
        first += titles[:1] == [document.title]
        within += document.title in titles
    p95 = statistics.quantiles(times, n=20)[-1]
    share = 100 / len(asked)
    print(f"{scope:<10} {statistics.median(times):>7.1f} {p95:>7.1f} {first * share:>5.0f}% {within * share:>5.0f}%")


if __name__ == "__main__":
    sys.exit(main())
