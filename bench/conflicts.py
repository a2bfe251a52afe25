"""Conflicts between sources: those reported among real documents, and how many of those made by code are found.

Real collections: the first passages of each document are compared with those of all others; read what is reported
(`--show`) to see whether it is a conflict. Made conflicts: one document has a sentence with a figure, another has the
same sentence with the figure edited (the classes of `mutating`), and possibly reworded (`paraphrasing`).

`python -m bench.conflicts [--show] [--passages 3000]`
The data are not part of the project; they are read from $ASSAY_DATA, else from ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from corpus import DATA
from mutating import BREAKING
from mutations import Pair, pairs
from paraphrasing import FAITHFUL

from assay.core.sources import Passage, Source, sha256
from assay.evidence.segment import segment
from assay.verify.conflicts.detection import find_conflicts

COLLECTIONS = ("eips", "peps", "owid-datasets", "wikipedia-2wiki-passages", "keps", "rust-rfcs", "owasp")
CLASSES = ("times ten", "scale", "year", "day or month")
A_CLASS = 200
A_DOCUMENT = 60
"""Passages of one document, so that a sample has many documents."""


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The documents of a collection."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def source(at: int, title: str = "") -> Source:
    """The source with number `at`, of no date."""
    name = f"S{at}"
    return Source(
        id=name,
        document_sha256=sha256(name.encode()),
        snapshot_sha256="",
        url=f"file:///{name}",
        title=title,
        media_type="text/plain",
        fetched_at="",
    )


def passage(of: Source, ordinal: int, text: str, heading: tuple[str, ...] = ()) -> Passage:
    """The passage `ordinal` of a source."""
    data = text.encode()
    return Passage(
        id=f"{of.id}.{ordinal}",
        source=of.id,
        document_sha256=of.document_sha256,
        start=ordinal * 1000,
        end=ordinal * 1000 + len(data),
        text=text,
        text_sha256=sha256(data),
        heading=heading,
    )


def collection(path: Path, most: int) -> tuple[dict[str, Passage], dict[str, Source]]:
    """The first passages of a collection's documents."""
    passages: dict[str, Passage] = {}
    sources: dict[str, Source] = {}
    for at, row in enumerate(rows(path), 1001):
        if len(passages) >= most:
            break
        own = sources[f"S{at}"] = source(at, str(row.get("title", "")))
        for span in segment(row["text"][:60_000], "markdown")[:A_DOCUMENT]:
            each = passage(own, span.ordinal, span.text, span.heading)
            passages[each.id] = each
    return passages, sources


def real(data: Path, most: int, show: bool) -> None:
    """What is reported among real documents."""
    print("| collection | documents | passages | conflicts reported | seconds |\n|---|---|---|---|---|")
    for name in COLLECTIONS:
        path = data / "documents" / f"{name}.jsonl.gz"
        if not path.is_file():
            continue
        passages, sources = collection(path, most)
        started = time.process_time()
        found = find_conflicts(passages, sources, passages.keys(), {})
        seconds = time.process_time() - started
        print(f"| {name} | {len(sources)} | {len(passages)} | {len(found)} | {seconds:.1f} |")
        for each in found if show else ():
            print(f"\n   {each.text}")
            for side in each.sides:
                print(f"     {side.passage}: {' '.join(passages[side.passage].text.split())[:400]}")


def print_edited(data: Path) -> None:
    """What is seen of conflicts made by code, and of pairs which say the same in other words."""
    found = [pair for pair in pairs(data, "report") if not pair.quotes and "[" not in pair.claim]
    print("\n| edited | reworded | pairs | reported |\n|---|---|---|---|")
    for name in (*CLASSES, "none"):
        for way in ("as it is", "clause order", "synonym", "typography", "number format", "date format"):
            print(_row(found, name, way))


def _row(found: list[Pair], name: str, way: str) -> str:
    tried = seen = 0
    for at, pair in enumerate(found):
        chance = random.Random(f"{name}/{way}/{at}")
        edited = BREAKING[name](pair.claim, pair.passage, chance) if name != "none" else pair.claim
        reworded = FAITHFUL[way](edited, pair.passage, chance) if edited and way != "as it is" else edited
        if reworded is None or edited is None or (way != "as it is" and reworded == edited):
            continue
        one, other = source(1001), source(1002)
        held = {"S1001.1": passage(one, 1, pair.claim), "S1002.1": passage(other, 1, reworded)}
        tried += 1
        seen += bool(find_conflicts(held, {"S1001": one, "S1002": other}, {"S1001.1"}, {}))
        if tried >= A_CLASS:
            break
    return f"| {name} | {way} | {tried} | {seen} ({seen / tried:.0%}) |" if tried else f"| {name} | {way} | 0 | |"


def main(most: int, show: bool) -> int:
    """Print both tables; 2 when there are no data."""
    data = DATA.parent
    if not (data / "grounding").is_dir():
        print("skipped: no data; set ASSAY_DATA to a folder with grounding/ and documents/")
        return 2
    real(data, most, show)
    print_edited(data)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=3000, help="passages of each collection")
    parser.add_argument("--show", action="store_true", help="print what is reported")
    options = parser.parse_args()
    sys.exit(main(options.passages, options.show))
