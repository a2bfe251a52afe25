"""PDFs: pages per second, and whether page counts, encryption and damaged files are handled right.

python -m bench pdf [--rounds 5]      reads pdf/py-pdf-samples (described) and pdf/pdfjs-odd.tar.xz (odd, from bug
                                      reports) below $ASSAY_DATA, else ../shared/data
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from corpus import machine

from assay.core.errors import ExtractError
from assay.core.sources import Extracted
from assay.fetch.pdf import PdfExtractor
from assay.fetch.workers import TIMEOUT_SECONDS, Workers

DATA = Path(os.environ.get("ASSAY_DATA", Path(__file__).parents[2] / "shared" / "data")) / "pdf"
SAMPLES, ODD = DATA / "py-pdf-samples", DATA / "pdfjs-odd.tar.xz"
BROKEN = frozenset(("017-unreadable-meta-data/unreadablemetadata.pdf",))
"""Cannot be opened by PDFium: told as damaged, which is right for us, though another reader finds four pages."""
KINDS = {
    "encrypted": "encrypted",
    "no text on": "no text",
    "damaged": "damaged",
    "not read within": "over the time cap",
    "its reader crashed": "crashed",
}


class Described(msgspec.Struct, frozen=True):
    """What is known of a sample."""

    path: str
    encrypted: bool
    pages: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What came of a file: its document, if any, and what was said of the rest."""

    name: str
    found: Extracted | None
    failure: str

    @property
    def pages(self) -> int:
        return int(self.found.metadata["pages"]) if self.found is not None else 0

    @property
    def kind(self) -> str:
        known = (kind for start, kind in KINDS.items() if self.failure.startswith(start))
        if self.found is not None:
            return "partly read" if self.failure else "read"
        return next(known, "other: " + self.failure)


def main() -> int:
    """Print the figures; 1 when something is wrong, 2 when the data are not there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    if not SAMPLES.is_dir() or not ODD.is_file():
        print(f"no PDFs in {DATA}: set ASSAY_DATA", file=sys.stderr)
        return 2
    listed = msgspec.convert(json.loads((SAMPLES / "files.json").read_text())["data"], list[Described])
    known = {each.path: each for each in listed if (SAMPLES / each.path).is_file()}
    described = [(path, (SAMPLES / path).read_bytes()) for path in known]
    odd = list(_odd())
    _speed({"described": described, "odd": odd}, rounds)
    wrong = _right(_read(described, 2), known)
    trouble = _survived(_read(odd, 2))
    _slowest([*described, *odd])
    print(machine())
    return int(bool(wrong or trouble))


def _odd() -> Iterator[tuple[str, bytes]]:
    with tarfile.open(ODD) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".pdf"):
                stream = archive.extractfile(member)
                assert stream is not None
                yield member.name, stream.read()


def _read(files: Sequence[tuple[str, bytes]], count: int) -> list[Outcome]:
    workers = Workers(count)
    try:
        # with less time than usual pages without letters are left out, also where the extra `ocr` would recognize them
        isolated = workers.isolate(PdfExtractor(), TIMEOUT_SECONDS - 1)
        asked = [(name, isolated.extract(data, name)) for name, data in files]
        return [_outcome(name, documents) for name, documents in asked]
    finally:
        workers.close()


def _outcome(name: str, documents: Iterator[Extracted]) -> Outcome:
    found = None
    try:
        for document in documents:
            found = document
    except ExtractError as error:
        return Outcome(name, found, str(error))
    return Outcome(name, found, "")


def _speed(sets: dict[str, list[tuple[str, bytes]]], rounds: int) -> None:
    for name, files in sets.items():
        for count in (1, 2):
            times, pages = [], 0
            for _ in range(rounds):
                started = time.perf_counter()
                pages = sum(outcome.pages for outcome in _read(files, count))
                times.append(pages / (time.perf_counter() - started))
            print(
                f"{name}: {len(files)} files, {pages} pages with text, {count} process{'es' if count > 1 else ''}: "
                f"{statistics.median(times):.0f} pages/s ({min(times):.0f}-{max(times):.0f}, {rounds} times)"
            )


def _right(outcomes: Sequence[Outcome], known: dict[str, Described]) -> int:
    """How many page counts or encryptions are wrong, but for the one known."""
    wrong = [each for each in outcomes if not _as_described(each, known[each.name])]
    for each in wrong:
        print(f"  wrong: {each.name}: {each.failure or each.pages} (described: {known[each.name].pages} pages)")
    print(f"described: page count and encryption right for {len(outcomes) - len(wrong)} of {len(outcomes)}")
    return sum(each.name not in BROKEN for each in wrong)


def _as_described(outcome: Outcome, known: Described) -> bool:
    if outcome.found is None:
        if outcome.kind == "encrypted":
            return known.encrypted
        return outcome.failure.startswith(f"no text on its {known.pages} page") and not known.encrypted
    return outcome.pages == known.pages and ("encrypted" in outcome.found.metadata) == known.encrypted


def _survived(outcomes: Sequence[Outcome]) -> int:
    """How many crashed, hung, or were refused without one of the known reasons."""
    counts = Counter(outcome.kind for outcome in outcomes)
    print("odd: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return sum(count for kind, count in counts.items() if kind.startswith(("crashed", "over", "other")))


def _slowest(files: Sequence[tuple[str, bytes]]) -> None:
    """One file after the other: how near the slowest comes to the time a file may take."""
    workers = Workers(1)
    isolated = workers.isolate(PdfExtractor())
    times = []
    for name, data in files:
        started = time.perf_counter()
        _outcome(name, isolated.extract(data, name))
        times.append((time.perf_counter() - started, name))
    workers.close()
    slowest, name = max(times[1:])  # the first waits for the process to start
    middle = statistics.median(taken for taken, _ in times)
    print(
        f"one file: median {middle * 1e3:.1f} ms, slowest {slowest:.2f} s of the {TIMEOUT_SECONDS:g} s allowed ({name})"
    )


if __name__ == "__main__":
    sys.exit(main())
