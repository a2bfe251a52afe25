"""Asks the questions of a manual through the library, and scores the reports against the facts."""

from __future__ import annotations

import argparse
import asyncio
import gzip
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from answers import Baseline, Document
from corpus import machine

from assay import Assay
from assay.core.report import Report
from assay.store.sql import open_store
from manuals.facts import Fact, Manual

NO_DATA = 2
MOST_PAGES = 10_000


class Asked(NamedTuple):
    """What came of one question: `exact` of `citations` have the bytes they say.

    `first`: the answer stands before the first heading; `stated`: anywhere but in the list of sources.
    """

    fact: Fact
    report: Report
    first: bool
    stated: bool
    cited: bool
    citations: int
    exact: int
    seconds: float


def main(*manuals: Manual, baseline: bool = False) -> int:
    """Ask and print; 2 when none of the manuals is there. `baseline` prints what BM25's best sentences answer too."""
    options = _options()
    there = [manual for manual in manuals if _there(manual)]
    for manual in there:
        with tempfile.TemporaryDirectory() as folder:
            home = Path(options.home or folder) / manual.package
            asked = asyncio.run(_ask_all(manual, home))
            plain = _plain(manual, home / "home") if baseline else 0
        for each in asked:
            _show(each, options.show)
        _summarize(asked)
        if baseline:
            print(f"answer in the two best sentences of BM25's best paragraph: {plain}")
    return 0 if there else NO_DATA


def _there(manual: Manual) -> bool:
    found = any(manual.folder.glob(manual.files))
    if not found:
        print(f"no {manual.files} in {manual.folder}: apt-get install {manual.package}", file=sys.stderr)
    return found


def _pages(manual: Manual, unpacked: Path) -> list[Path]:
    """The manual's files; compressed ones are unpacked into `unpacked`."""
    pages = sorted(manual.folder.glob(manual.files))
    if not manual.files.endswith(".gz"):
        return pages
    unpacked.mkdir(parents=True, exist_ok=True)
    for page in pages:
        (unpacked / page.stem).write_bytes(gzip.decompress(page.read_bytes()))
    return sorted(unpacked.iterdir())


async def _ask_all(manual: Manual, folder: Path) -> list[Asked]:
    pages, asked, home = _pages(manual, folder / "unpacked"), [], folder / "home"
    async with Assay(home=home) as assay:
        started = time.perf_counter()
        found = await assay.add(pages, None)
        print(
            f"{manual.package}: {found.documents:,} documents read and indexed in "
            f"{time.perf_counter() - started:.1f} s; {machine()}"
        )
        for fact in manual.facts:
            started = time.perf_counter()
            report = await assay.start(fact.question, sources=pages).report()
            asked.append(_score(fact, report, home, pages, time.perf_counter() - started))
    return asked


def _score(fact: Fact, report: Report, home: Path, pages: Sequence[Path], seconds: float) -> Asked:
    body = report.markdown.split("\n## Sources", 1)[0].replace("\\", "")
    numbered = [source for source in report.sources if source.number is not None]
    names = [Path(source.url).name for source in numbered]
    return Asked(
        fact=fact,
        report=report,
        first=not _abstained(report) and _states(body.split("\n## ", 1)[0], fact.expected),
        stated=_states(body, fact.expected),
        cited=any(fnmatch(name, page) for name in names for page in fact.pages),
        citations=len(report.passages),
        exact=_exact(report, home, pages),
        seconds=seconds,
    )


def _states(text: str, expected: Sequence[str]) -> bool:
    """Whether one of the strings stands in the text, not inside longer words; white space counts as one space."""
    flat = " ".join(text.split())
    return any(re.search(rf"(?<!\w){re.escape(each)}(?!\w)", flat, re.IGNORECASE) for each in expected)


def _exact(report: Report, home: Path, pages: Sequence[Path]) -> int:
    """Passages whose bytes stand in a text made of a page which still is as it lies on the disk."""
    store = open_store(home)
    on_disk = {sha256(page.read_bytes()).hexdigest() for page in pages}
    exact = 0
    for passage in report.passages:
        document = store.library.document(passage.document_sha256)
        if document is None:
            continue
        cut = store.blobs.get(passage.document_sha256)[passage.start : passage.end]
        same = cut.decode() == passage.text and sha256(cut).hexdigest() == passage.text_sha256
        exact += same and document.snapshot_sha256 in on_disk
    return exact


def _plain(manual: Manual, home: Path) -> int:
    """How many questions BM25's best paragraph answers with the two sentences that hold most of their words."""
    store = open_store(home)
    texts = [store.blobs.get(document.sha256).decode() for _, document in store.library.documents_after(0, MOST_PAGES)]
    paragraphs = [part for text in texts for part in re.split(r"\n\s*\n", text) if part.strip()]
    plain = Baseline([Document(str(at), "", "", part) for at, part in enumerate(paragraphs)])
    answerable = [fact for fact in manual.facts if fact.expected]
    return sum(_states(plain.answer(fact.question)[1], fact.expected) for fact in answerable)


def _show(asked: Asked, whole: bool) -> None:
    fact = asked.fact
    if fact.expected:
        verdict = f"first {asked.first!s:5} stated {asked.stated!s:5} cited {asked.cited!s:5}"
    else:
        verdict = f"abstained {_abstained(asked.report)}"
    print(f"{verdict:<38} {asked.exact}/{asked.citations} exact  {asked.seconds:5.2f} s  {fact.question}")
    if whole:
        print(asked.report.markdown, end="\n\n")


def _abstained(report: Report) -> bool:
    """Whether the run says that it found no answer, whatever comes nearest."""
    return report.stop_reason == "no_evidence"


def _summarize(asked: Sequence[Asked]) -> None:
    answerable = [each for each in asked if each.fact.expected]
    without = [each for each in asked if not each.fact.expected]
    print(f"answer stated first: {sum(each.first for each in answerable)} of {len(answerable)}")
    print(f"answer stated anywhere: {sum(each.stated for each in answerable)} of {len(answerable)}")
    print(f"page cited: {sum(each.cited for each in answerable)} of {len(answerable)}")
    print(f"byte-exact: {sum(each.exact for each in asked)} of {sum(each.citations for each in asked)} citations")
    print(f"abstained: {sum(_abstained(each.report) for each in without)} of {len(without)}")
    print(f"seconds a question: {sum(each.seconds for each in asked) / len(asked):.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="a folder to keep what was read in, for the next time")
    parser.add_argument("--show", action="store_true", help="print the reports")
    return parser.parse_args()
