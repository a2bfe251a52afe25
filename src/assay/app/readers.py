"""Reads files: the installed extractors and archive formats, and the processes in which some of them run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

from assay import plugins
from assay.core.errors import ExtractError
from assay.core.ports import Archive, Extractor
from assay.core.sources import PassageSpan, Syntax
from assay.evidence.documents import BATCH_BYTES, Spans, Texts, cut, cut_all
from assay.evidence.segment.elsewhere import BatchCutter, PassageCutter, packed, passages, passages_of_each
from assay.fetch.workers import Workers
from assay.settings.environment import reader_environment

PAGE_SECONDS = 20.0
"""Seconds for reading one fetched page."""

PICTURES = "assay.fetch.pdf.pictures"
"""Loads PDFium, which takes a tenth of a second: only needed to draw pages."""
PICTURE_SECONDS = 15.0
"""Seconds for drawing a page."""
LONG = 8_000
"""Bytes from which on a text is cut in another process: sending a shorter one costs as much as cutting it."""


class LazyReaders:
    """Loads extractors when the first file needs one; processes start with the first file for them."""

    def __init__(self) -> None:
        self._workers = Workers(environment=reader_environment())
        self._of_pages: list[Extractor] = []
        self._of_printed: Extractor | None = None
        self._cutter = self._workers.isolate(PassageCutter(), PAGE_SECONDS)
        self._batch_cutter = self._workers.isolate(BatchCutter())

    def extractors(self) -> list[Extractor]:
        """All installed ones; those that ask for a process of their own run in one.

        Large files are read in one too, so that reading them has a limit, unless each row is a document that is
        returned at once.

        Raises:
            ConfigError: one cannot be loaded.
        """
        found: list[Extractor] = [plugins.load("extractors", name)() for name in plugins.names("extractors")]
        return [self._placed(each) for each in found]

    def _placed(self, extractor: Extractor) -> Extractor:
        if getattr(extractor, "isolated", False):
            return self._workers.isolate(extractor)
        return extractor if getattr(extractor, "streams", False) else self._workers.bound(extractor)

    def of_pages(self) -> list[Extractor]:
        """All installed ones, each in a process of its own.

        So a page, however large or odd, blocks nothing else in this process, and can only harm its own extractor.

        Raises:
            ConfigError: one cannot be loaded.
        """
        if not self._of_pages:
            found: list[Extractor] = [plugins.load("extractors", name)() for name in plugins.names("extractors")]
            self._of_pages = [self._workers.isolate(each, PAGE_SECONDS) for each in found]
        return self._of_pages

    def of_printed_pages(self) -> Extractor:
        """Draws pages of PDFs, and finds passages on them, in a process of its own."""
        if self._of_printed is None:
            pictures: type[Extractor] = import_module(PICTURES).PagePictures
            self._of_printed = self._workers.isolate(pictures(), PICTURE_SECONDS)
        return self._of_printed

    def cut(self, text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
        """The passages of a text in UTF-8. A long one is cut in another process, if one is running already.
        Blocking.
        """
        if len(text) >= LONG and self._workers.pids():
            try:
                return passages(next(iter(self._cutter.extract(text, syntax))))
            except (ExtractError, RuntimeError):  # the process has ended, or all have: cut the text here
                return cut(text, syntax)
        return cut(text, syntax)

    def begin_cutting(self, texts: Texts) -> Callable[[], Sequence[Spans]]:
        """Start to cut texts, a full batch in a process; the result waits for the passages of each. Blocking."""
        if sum(len(text) for text, _ in texts) < BATCH_BYTES and not self._workers.pids():
            return lambda: cut_all(texts)
        try:
            answer = self._batch_cutter.extract(packed(texts), "")
        except RuntimeError:  # the processes have ended
            return lambda: cut_all(texts)

        def wait() -> Sequence[Spans]:
            try:
                return passages_of_each(next(iter(answer)))
            except ExtractError:
                return cut_all(texts)

        return wait

    def archives(self) -> list[Archive]:
        """All installed ones.

        Raises:
            ConfigError: one cannot be loaded.
        """
        return [plugins.load("archives", name)() for name in plugins.names("archives")]

    def close(self) -> None:
        """End the processes. Blocking for a moment."""
        self._workers.close()
