"""Whole runs with a web on loopback: HTML manuals from Debian, searched in SearXNG's format, with redirects, slow and
dead pages, a 5 MB page, injected instructions, a wrong charset, and a robots.txt.

apt-get install python3.11-doc postgresql-doc sqlite3-doc
python bench/local_web.py [--show]    exits with 1 if something was fetched twice, or a citation is not in its snapshot
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corpus import machine

from assay import Assay
from assay.core.report import Report
from assay.core.sources import sha256
from assay.settings import load
from assay.store.sql import open_store

NO_DATA = 2
QUESTIONS = (
    "What does the asyncio.timeout context manager do?",
    "How does VACUUM FULL differ from VACUUM in PostgreSQL?",
    "What is the default page size of an SQLite database?",
    "Which exception does int() raise for text which is no number?",
    "What is a write-ahead log good for in PostgreSQL?",
)


@contextmanager
def serving() -> Iterator[int]:
    """The server; the port, 0 where it has nothing to serve."""
    server = Path(__file__).with_name("web_server.py")
    with subprocess.Popen([sys.executable, str(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline() or 0)
        finally:
            process.kill()


def asked(port: int) -> Counter[str]:
    """What was asked for since the last time."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/-/asked", timeout=10) as answer:
        return Counter(json.load(answer))


async def research(question: str, home: Path, port: int) -> Report:
    """One run with the built-in model and the whole of that web."""
    service = {"searxng": {"url": f"http://127.0.0.1:{port}"}}
    settings = load(search={"providers": "searxng", "services": service}, web={"allow": "127.0.0.1"})
    async with Assay(settings, home=home) as assay:
        return await assay.start(question, web=True, depth="medium").report()


def wrong(report: Report, home: Path, paths: Counter[str], first: bool) -> list[str]:
    """What must not be: requests made twice, forbidden ones, citations which are not what their snapshot says."""
    found = [f"{path} was asked for {count} times" for path, count in paths.items() if count > 1 and first]
    found += [f"{path} is forbidden" for path in paths if path.startswith("/forbidden")]
    store = open_store(home)
    for passage in report.passages:
        document = store.library.document(passage.document_sha256)
        text = store.blobs.get(passage.document_sha256)[passage.start : passage.end]
        if document is None or not store.blobs.has(document.snapshot_sha256) or sha256(text) != passage.text_sha256:
            found.append(f"{passage.id} is not in its snapshot")
    asyncio.run(store.close())
    if "PWNED" in report.markdown:
        found.append("the report says what a page told it to say")
    return found


def main(arguments: list[str]) -> int:
    """Ask and print."""
    with serving() as port, tempfile.TemporaryDirectory() as folder:
        if not port:
            print("none of python3.11-doc, postgresql-doc, sqlite3-doc is installed")
            return NO_DATA
        problems: list[str] = []
        for number, question in enumerate((*QUESTIONS, QUESTIONS[0])):
            home = Path(folder) / str(number % len(QUESTIONS))
            asked(port)
            begun = time.perf_counter()
            report = asyncio.run(research(question, home, port))
            took, paths = time.perf_counter() - begun, asked(port)
            problems += wrong(report, home, paths, first=number < len(QUESTIONS))
            cited = sum(source.number is not None for source in report.sources)
            verdicts = dict(Counter(claim.verdict for claim in report.claims))
            counted = f"{sum(paths.values())} requests for {len(paths)} pages"
            print(f"{question}\n  {took:.1f} s, {counted}, {cited} sources cited, {verdicts}")
            for limit in report.limits:
                print(f"  {limit}")
            if "--show" in arguments:
                print(report.markdown)
        print(f"{machine()}; {len(problems)} wrong")
        print("\n".join(problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
