"""The ranking of local search: Cranfield and NFCorpus (nDCG@10), CACM (average precision), through `LocalSearch`.

    python bench/retrieval.py            prints one line per collection

The data are read from $ASSAY_DATA, else from ../shared/data beside the project. Published BM25 baselines for
comparison: Cranfield nDCG@10 0.367, CACM average precision 0.321.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Mapping
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

from assay.core.ports import Query
from assay.core.sources import Document, Snapshot, sha256
from assay.evidence.documents import DocumentReader
from assay.search.local import LocalSearch
from assay.store.memory import MemoryBlobs, MemoryLibrary

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "retrieval"

Texts = Mapping[str, tuple[str, str]]
Judged = Mapping[str, Mapping[str, int]]
Collection = tuple[Texts, Mapping[str, str], Judged]


def cranfield() -> Collection:
    """1,400 abstracts; the query file numbers queries in its own way, the judgements in order."""
    folder = DATA / "cranfield"
    texts = {}
    for entry in _xml(folder / "cran.all.1400.xml").iter("doc"):
        texts[_text(entry, "docno")] = (_text(entry, "title"), _text(entry, "text"))
    queries = {}
    for number, entry in enumerate(_xml(folder / "cran.qry.xml").iter("top"), 1):
        queries[str(number)] = _text(entry, "title")
    return texts, queries, _judged(folder / "cranqrel.trec.txt")


def cacm() -> Collection:
    """3,204 titles and abstracts."""
    folder = DATA / "cacm"
    texts = {}
    with tarfile.open(folder / "cacm.tar.gz") as archive:
        for member in archive:
            stream = archive.extractfile(member) if member.isfile() else None
            if stream is None or not member.name.endswith(".html"):
                continue
            body = unescape(re.sub(r"<[^>]+>", "", stream.read().decode("latin-1"))).strip()
            title, _, rest = body.partition("\n\n")
            texts[Path(member.name).stem] = (" ".join(title.split()), rest)
    queries = {}
    for topic in re.finditer(
        r"<DOCNO>\s*(\d+)\s*</DOCNO>(.*?)</DOC>", (folder / "topics.cacm.txt").read_text(), re.DOTALL
    ):
        queries[topic[1]] = " ".join(topic[2].split())
    return texts, queries, _judged(folder / "qrels.cacm.txt")


def nfcorpus() -> Collection:
    """Medical abstracts; the queries are titles of articles for everybody (dev)."""
    folder = DATA / "nfcorpus"
    texts = {}
    for part in ("dev.docs.gz", "test.docs.gz"):
        for line in gzip.decompress((folder / part).read_bytes()).decode().splitlines():
            name, _, text = line.rstrip("\n").partition("\t")
            texts[name] = ("", text)
    rows = (line.split("\t", 1) for line in (folder / "dev.titles.queries").read_text().splitlines())
    return texts, dict(rows), _judged(folder / "dev.2-1-0.qrel")


def searching(texts: Texts) -> Callable[[str, int], list[str]]:
    """A function which answers a question with the names of documents.

    A text which a collection has under two names is one document here; found, it is both.
    """
    library, blobs = MemoryLibrary(), MemoryBlobs()
    names: dict[str, list[str]] = {}
    entries = []
    for name, (title, body) in texts.items():
        text = f"# {title}\n\n{body}\n" if title else body
        names.setdefault(blobs.put(text.encode()), []).append(name)
        entries.append(entry(text, title, name))
    library.add(entries, "default")
    search = LocalSearch(None, library, DocumentReader(blobs).spans)
    search.sync()
    return lambda text, limit: [
        name for hit in search.search_blocking(Query(text=text, limit=limit)) for name in names[hit.document.sha256]
    ][:limit]


def entry(text: str, title: str, name: str) -> tuple[Snapshot, Document]:
    size, digest = len(text.encode()), sha256(text.encode())
    snapshot = Snapshot(sha256=digest, url="", media_type="text/plain", size=size, fetched_at="")
    document = Document(
        sha256=digest,
        snapshot_sha256=digest,
        extractor="bench/1",
        url="",
        title=title,
        name=name,
        media_type="text/plain",
        syntax="markdown",
        size=size,
        fetched_at="",
        language="en",
    )
    return snapshot, document


def ndcg(found: list[str], judged: Mapping[str, int], depth: int = 10) -> float:
    """Normalized discounted cumulative gain (Järvelin and Kekäläinen 2002), gains as judged."""
    ideal = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:depth]
    best = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(ideal))
    got = sum(max(judged.get(name, 0), 0) / math.log2(rank + 2) for rank, name in enumerate(found[:depth]))
    return got / best if best else 0.0


def average_precision(found: list[str], judged: Mapping[str, int]) -> float:
    """Mean of the precision at each relevant document; those not found count 0."""
    relevant = {name for name, grade in judged.items() if grade > 0}
    seen, total = 0, 0.0
    for rank, name in enumerate(found, 1):
        if name in relevant:
            seen += 1
            total += seen / rank
    return total / len(relevant) if relevant else 0.0


def measure(collection: Collection, depth: int) -> tuple[float, float, float, int]:
    """Mean nDCG@10, mean average precision, milliseconds a query, queries with a relevant document."""
    texts, queries, judgements = collection
    search = searching(texts)
    gains, precisions, started = [], [], time.perf_counter()
    for number, question in queries.items():
        judged = judgements.get(number, {})
        if not any(grade > 0 for grade in judged.values()):
            continue
        found = search(question, depth)
        gains.append(ndcg(found, judged))
        precisions.append(average_precision(found, judged))
    count = len(gains)
    return sum(gains) / count, sum(precisions) / count, (time.perf_counter() - started) / count * 1e3, count


def _judged(path: Path) -> Judged:
    judged: dict[str, dict[str, int]] = {}
    for query, _, name, grade in _columns(path):
        judged.setdefault(query, {})[name] = int(grade)
    return judged


def _columns(path: Path) -> Iterator[list[str]]:
    for line in path.read_text().splitlines():
        if line.strip():
            yield line.split()[:4]


def _xml(path: Path) -> ElementTree.Element:
    text = path.read_text(encoding="utf-8", errors="replace")
    return ElementTree.fromstring(f"<all>{re.sub(r'<[?!][^>]*>', '', text)}</all>")


def _text(entry: ElementTree.Element, tag: str) -> str:
    return " ".join((entry.findtext(tag) or "").split())


def main() -> int:
    """Print the figures; 2 when the data are not there."""
    if not DATA.is_dir():
        print(f"no data in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    print("collection  queries  nDCG@10     MAP  ms/query")
    for name, load, depth in (("cranfield", cranfield, 100), ("cacm", cacm, 1000), ("nfcorpus", nfcorpus, 100)):
        gain, precision, milliseconds, count = measure(load(), depth)
        print(f"{name:<10} {count:>8}   {gain:.4f}  {precision:.4f}  {milliseconds:8.1f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
