"""A corpus nothing here was tuned on: PostgreSQL's manual as Debian ships it, some 1,170 HTML pages.

apt-get install postgresql-doc
python bench/manual.py [--in /usr/share/doc/postgresql-doc-15/html] [--show]

The questions and the strings a right answer has to contain are facts written down here by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from corpus import machine

from assay import Assay
from assay.core.report import Report
from assay.store.sql import open_store

PAGES = Path("/usr/share/doc/postgresql-doc-15/html")


class Fact(NamedTuple):
    """A question, what its answer says, and the page which says it; neither where nothing answers it."""

    question: str
    expected: str = ""
    page: str = ""


FACTS = (
    Fact("Which TCP port does the PostgreSQL server listen on by default?", "5432", "runtime-config-connection.html"),
    Fact("What is the maximum number of columns per table?", "1,600", "limits.html"),
    Fact("What is the default of shared_buffers?", "128 megabytes", "runtime-config-resource.html"),
    Fact("What is the default of max_connections?", "100 connections", "runtime-config-connection.html"),
    Fact("What is the default of work_mem?", "four megabytes", "runtime-config-resource.html"),
    Fact("Which transaction isolation level is the default?", "Read Committed", "transaction-iso.html"),
    Fact("What is the maximum length of an identifier in bytes?", "63 bytes", "limits.html"),
    Fact("How many bytes does the bigint type use?", "8 bytes", "datatype-numeric.html"),
    Fact("What does the VACUUM command reclaim?", "storage occupied by dead tuples", "sql-vacuum.html"),
    Fact("Which index type is the default of CREATE INDEX?", "B-tree", "indexes-types.html"),
    Fact("How many moons does the planet Jupiter have?"),
    Fact("Who won the football world cup of 1998?"),
)


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


def main() -> int:
    """Ask and print; 2 when the manual is not there."""
    options = _options()
    pages = sorted(options.pages.glob("*.html"))
    if not pages:
        print(f"no pages in {options.pages}: apt-get install postgresql-doc", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        asked = asyncio.run(_ask_all(pages, Path(folder)))
    for each in asked:
        _show(each, options.show)
    _summarize(asked)
    return 0


async def _ask_all(pages: Sequence[Path], home: Path) -> list[Asked]:
    asked = []
    async with Assay(home=home) as assay:
        started = time.perf_counter()
        found = await assay.add(pages, None)
        print(f"{found.documents:,} documents read and indexed in {time.perf_counter() - started:.1f} s; {machine()}")
        for fact in FACTS:
            started = time.perf_counter()
            report = await assay.start(fact.question, sources=pages).report()
            asked.append(_score(fact, report, home, pages[0].parent, time.perf_counter() - started))
    return asked


def _score(fact: Fact, report: Report, home: Path, folder: Path, seconds: float) -> Asked:
    body = report.markdown.split("\n## Sources", 1)[0].replace("\\", "")
    numbered = [source for source in report.sources if source.number is not None]
    return Asked(
        fact=fact,
        report=report,
        first=_states(body.split("\n## ", 1)[0], fact.expected),
        stated=_states(body, fact.expected),
        cited=any(Path(source.url).name == fact.page for source in numbered),
        citations=len(report.passages),
        exact=_exact(report, home, folder),
        seconds=seconds,
    )


def _states(text: str, expected: str) -> bool:
    """Whether the words stand in the text, as whole words."""
    return bool(expected) and re.search(rf"(?<!\w){re.escape(expected)}(?!\w)", text, re.IGNORECASE) is not None


def _exact(report: Report, home: Path, folder: Path) -> int:
    """Passages whose bytes stand in a text made of a page which still is as it lies on the disk."""
    store = open_store(home)
    exact = 0
    for passage in report.passages:
        document = store.library.document(passage.document_sha256)
        if document is None:
            continue
        page = (folder / Path(document.url).name).read_bytes()
        cut = store.blobs.get(passage.document_sha256)[passage.start : passage.end]
        same = cut.decode() == passage.text and sha256(cut).hexdigest() == passage.text_sha256
        exact += same and sha256(page).hexdigest() == document.snapshot_sha256
    return exact


def _show(asked: Asked, whole: bool) -> None:
    fact = asked.fact
    if fact.expected:
        verdict = f"first {asked.first!s:5} stated {asked.stated!s:5} cited {asked.cited!s:5}"
    else:
        verdict = f"abstained {not asked.citations}"
    print(f"{verdict:<38} {asked.exact}/{asked.citations} exact  {asked.seconds:5.2f} s  {fact.question}")
    if whole:
        print(asked.report.markdown, end="\n\n")


def _summarize(asked: Sequence[Asked]) -> None:
    answerable = [each for each in asked if each.fact.expected]
    without = [each for each in asked if not each.fact.expected]
    print(f"answer stated first: {sum(each.first for each in answerable)} of {len(answerable)}")
    print(f"answer stated anywhere: {sum(each.stated for each in answerable)} of {len(answerable)}")
    print(f"page cited: {sum(each.cited for each in answerable)} of {len(answerable)}")
    print(f"byte-exact: {sum(each.exact for each in asked)} of {sum(each.citations for each in asked)} citations")
    print(f"abstained: {sum(not each.citations for each in without)} of {len(without)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in", dest="pages", type=Path, default=PAGES, help="a folder of the manual's pages")
    parser.add_argument("--show", action="store_true", help="print the reports")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
