"""Search by words, by meaning, and by both: nDCG@10 on Cranfield, NFCorpus, CACM and XQuAD's English paragraphs.

    python bench/hybrid.py FOLDER [CACHE]    prints one line a collection
    python bench/hybrid.py FOLDER --library  vectors of the 11,000 documents: time, size, a question over them

FOLDER has an ONNX model with its tokenizer, as sentence-transformers export them (bench/embedding_models.py makes one
from packages). It is served at `/v1/embeddings` on loopback, and called through the adapter for any such service. CACHE
(default: a folder that is deleted afterwards) stores the vectors for the next time. `retrieval.py` says where the data
are read from.

`both` is the product's own ranking, `rrf` reciprocal rank fusion of the same two rankings. The weight of meaning (0.5)
was chosen on Cranfield, without looking at the other collections.
"""

from __future__ import annotations

import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from corpus import machine, read_all
from embedding_server import model_in, serving
from retrieval import DATA, Collection, cacm, cranfield, entry, ndcg, nfcorpus

from assay.core.ports import Access, Query
from assay.evidence.documents import DocumentReader
from assay.evidence.segment import SEGMENTER
from assay.models.embedding.service import create
from assay.search.local import LocalSearch
from assay.search.vectors import BuildResult, EmbeddingLimits, HybridSearch, VectorBuilder, VectorStore
from assay.search.vectors.hybrid import FusedRank, merge_rankings
from assay.settings.research import EmbedderSettings
from assay.store.memory import MemoryBlobs, MemoryLibrary
from assay.store.sql import open_store
from assay.store.sql.sqlite import create_sqlite_engine

QA = DATA.parent / "qa"
DEPTH, RANKED = 10, 100
"""Documents which are judged, and how far two rankings are looked at for a third."""

Order = Callable[[str], list[str]]


class Figures(msgspec.Struct, frozen=True):
    """A way to search: its mean score, and the median of milliseconds a question."""

    score: float
    milliseconds: float


def xquad() -> Collection:
    """Paragraphs of Wikipedia and questions, each about one of them (Artetxe, Ruder and Yogatama 2020)."""
    texts = {row["id"]: (row["title"], row["text"]) for row in _rows(QA / "xquad-en-documents.jsonl.gz")}
    questions = list(_rows(QA / "xquad-en-questions.jsonl.gz"))
    queries = {row["id"]: row["question"] for row in questions}
    return texts, queries, {row["id"]: {row["document"]: 1} for row in questions}


class Scene:
    """A collection's library, with its index, its vectors and the search over both."""

    def __init__(self, collection: Collection, url: str, folder: Path) -> None:
        self.texts, self.queries, self.judged = collection
        library, blobs = MemoryLibrary(), MemoryBlobs()
        self.names: dict[str, list[str]] = {}
        entries = []
        for name, (title, body) in self.texts.items():
            text = f"# {title}\n\n{body}\n" if title else body
            self.names.setdefault(blobs.put(text.encode()), []).append(name)
            entries.append(entry(text, title, name))
        library.add(entries, "default")
        spans = DocumentReader(blobs).spans
        self.embedder = create("vllm:bench", Access(url=url))
        self.store = VectorStore(create_sqlite_engine(folder), "bench", SEGMENTER)
        self.builder = VectorBuilder(self.store, self.embedder, library, spans, _nobody_else)
        self.index = LocalSearch(None, library, spans)
        weight = EmbedderSettings().weight
        self.both = HybridSearch(self.index, self.store, self.embedder, library, lambda names: True, weight)

    def build(self) -> tuple[BuildResult, float]:
        """Make index and vectors; the seconds the vectors took."""
        self.index.sync()
        started = time.perf_counter()
        return self.builder.build(EmbeddingLimits(batch=32), set()), time.perf_counter() - started

    def by_words(self, text: str) -> list[str]:
        """The index alone."""
        return self._named([hit.document.sha256 for hit in self.index.search_blocking(Query(text=text, limit=DEPTH))])

    def by_both(self, text: str) -> list[str]:
        """As the product does."""
        return self._named([hit.document.sha256 for hit in self.both.search_blocking(Query(text=text, limit=DEPTH))])

    def by_meaning(self, text: str) -> list[str]:
        """The vectors alone."""
        return self._named(_ranking(self._ranked(text), "cosine_rank"))

    def by_ranks(self, text: str) -> list[str]:
        """Reciprocal rank fusion."""
        found = self._ranked(text)
        return self._named(merge_rankings(_ranking(found, "lexical_rank"), _ranking(found, "cosine_rank")))

    def measure(self, order: Order) -> Figures:
        """A way to search over all questions which have an answer."""
        scores, took = [], []
        for number, question in self.queries.items():
            judged = self.judged.get(number, {})
            if any(grade > 0 for grade in judged.values()):
                started = time.perf_counter()
                found = order(question)
                took.append((time.perf_counter() - started) * 1e3)
                scores.append(ndcg(found, judged, DEPTH))
        return Figures(statistics.mean(scores), statistics.median(took))

    def _ranked(self, text: str) -> list[FusedRank]:
        return [fused for _, fused in self.both.rank_documents(Query(text=text, limit=RANKED)) or ()]

    def _named(self, hashes: Sequence[str]) -> list[str]:
        return [name for each in hashes for name in self.names[each]][:DEPTH]


def _ranking(found: Sequence[FusedRank], by: str) -> list[str]:
    ranked = [(getattr(each, by), each.document) for each in found if getattr(each, by) is not None]
    return [sha256 for _, sha256 in sorted(ranked)]


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@contextmanager
def _nobody_else(say: object) -> Iterator[None]:
    yield


def report(name: str, scene: Scene, file: Path) -> None:
    """Build, measure, and print a line."""
    built, seconds = scene.build()
    ways = [scene.by_words, scene.by_meaning, scene.by_both, scene.by_ranks]
    found = [scene.measure(way) for way in ways]
    passages = sum(count for _, _, _, count, _ in scene.store.documents(0))
    scores = " ".join(f"{each.score:8.4f}" for each in found)
    times = f"{found[0].milliseconds:6.1f} {found[2].milliseconds:6.1f}"
    embedded = f"{built.embedded:,} in {seconds:.0f} s" if built.embedded else "kept"
    size = f"{file.stat().st_size / 1e6:5.1f} MB"
    print(f"{name:<10} {len(scene.texts):>6} {passages:>9} {scores}  {times}  {size}  {embedded}", flush=True)


def library(home: Path, url: str) -> None:
    """Read, index and embed all documents, and ask; the model works in this process, and its time counts."""
    opened = open_store(home)
    spans = DocumentReader(opened.blobs).spans
    count = read_all(opened).documents
    index = LocalSearch(home / "index", opened.library, spans)
    index.sync()
    file = home / "vectors.db"
    embedder, store = create("vllm:bench", Access(url=url)), VectorStore(create_sqlite_engine(file), "bench", SEGMENTER)
    started, worked = time.perf_counter(), time.process_time()
    built = VectorBuilder(store, embedder, opened.library, spans, _nobody_else).build(EmbeddingLimits(), set())
    took, work = time.perf_counter() - started, time.process_time() - worked
    print(f"{count:,} documents, {built.passages:,} passages, {built.embedded:,} texts embedded: {took:.0f} s,")
    print(f"{work:.0f} s of processor time; vectors {file.stat().st_size / 1e6:.0f} MB")
    both = HybridSearch(index, store, embedder, opened.library, lambda names: True, EmbedderSettings().weight)
    asked = [f"Why was {word} changed?" for word in ("the grammar", "gas pricing", "the scheduler", "async", "a token")]
    started = time.perf_counter()
    both.search_blocking(Query(text="What is this?"))
    print(f"the first question {time.perf_counter() - started:.2f} s; ", end="")
    for name, way in (("words", index.search_blocking), ("both", both.search_blocking)):
        times = []
        for question in asked:
            started = time.perf_counter()
            way(Query(text=question, limit=DEPTH))
            times.append((time.perf_counter() - started) * 1e3)
        print(f"{name} {statistics.median(times):.0f} ms; ", end="")
    print(machine())


def main() -> int:
    """Print the figures; 2 when the data or the model are not there."""
    if len(sys.argv) < 2 or not DATA.is_dir():
        print(__doc__ if len(sys.argv) < 2 else f"no data in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    collections = (("cranfield", cranfield), ("nfcorpus", nfcorpus), ("cacm", cacm), ("xquad", xquad))
    with tempfile.TemporaryDirectory() as temporary, serving(model_in(sys.argv[1])) as server:
        if sys.argv[2:] == ["--library"]:
            library(Path(temporary), server.url)
            return 0
        cache = Path(sys.argv[2] if len(sys.argv) > 2 else temporary)
        print("collection  texts  passages    words  meaning     both      rrf   ms w.  ms b.  vectors")
        for name, load in collections:
            file = cache / f"{name}.db"
            report(name, Scene(load(), server.url, file), file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
