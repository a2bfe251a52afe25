"""Questions through the library, as a user's program asks them: one home, and documents that are read once."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import assay
from assay.core.brief import Depth, Mode
from assay.core.report import Report as EngineReport
from questions.corpus import Row
from questions.scoring import Report

HITS = 8
"""Documents an agent's search shows."""


class Runs:
    """An engine with a home of its own; use as a context manager."""

    def __init__(
        self, files: Sequence[Path], rows: Sequence[Row], strategy: str = "orchestrated", depth: Depth = "auto"
    ) -> None:
        self._files = [str(path) for path in files]
        self._strategy, self._depth = strategy, depth
        texts = (row.text.encode() for row in rows)
        self._texts = {sha256(text).hexdigest(): text for text in texts}
        self._loop = asyncio.new_event_loop()
        self._home = tempfile.TemporaryDirectory(prefix="assay-bench-")

    def __enter__(self) -> Runs:
        self._assay = assay.Assay(home=self._home.name)
        started = time.perf_counter()
        self._loop.run_until_complete(self._assay.add(self._files))
        print(f"read and indexed in {time.perf_counter() - started:.1f} s")
        return self

    def __exit__(self, *ended: object) -> None:
        self._loop.run_until_complete(self._assay.close())
        self._loop.close()
        self._home.cleanup()

    def run(self, question: str, mode: Mode = "auto") -> Report:
        """One run, with what its report cites."""
        started = time.perf_counter()
        report = self._loop.run_until_complete(self._run(question, mode))
        cited = {citation.source for claim in report.claims for citation in claim.citations}
        numbered = [source for source in report.sources if source.id in cited or source.number is not None]
        urls = tuple(source.url for source in numbered)
        exact = sum(self._exact(passage) for passage in report.passages)
        seconds, used = time.perf_counter() - started, report.usage
        return Report(
            report.markdown,
            urls,
            len(report.passages),
            exact,
            seconds,
            calls=used.model_calls,
            searches=used.searches,
            pages=used.pages,
            nothing=report.stop_reason == "no_evidence",
        )

    def hits(self, question: str) -> tuple[str, ...]:
        """The addresses a single search gives, as an agent would make it."""
        return tuple(hit.document.url for hit in self._loop.run_until_complete(self._assay.search(question, HITS)))

    async def _run(self, question: str, mode: Mode) -> EngineReport:
        ways = {"strategy": self._strategy, "depth": self._depth, "mode": mode}
        return await self._assay.start(question, sources=self._files, **ways).report()

    def _exact(self, passage: object) -> bool:
        """Whether the bytes of the document, read from the data and not from the engine, are those cited."""
        text = self._texts.get(passage.document_sha256, b"")
        cut = text[passage.start : passage.end]
        return bool(cut) and cut.decode() == passage.text and sha256(cut).hexdigest() == passage.text_sha256
