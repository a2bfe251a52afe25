"""What reads files: the extractors and archive formats installed, and the processes some of them work in."""

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
"""What reading one page of the web may take, once it is here."""

PICTURES = "assay.fetch.pdf.pictures"
"""Loads PDFium, a tenth of a second: only who looks at pages needs it."""
PICTURE_SECONDS = 15.0
"""What drawing a page may take."""
LONG = 8_000
"""Bytes from which on a text is cut elsewhere: sending a shorter one there costs as much as cutting it."""


class LazyReaders:
    """Loads readers when the first file needs one; processes start with the first file for them."""

    def __init__(self) -> None:
        self._workers = Workers(environment=reader_environment())
        self._of_pages: list[Extractor] = []
        self._of_printed: Extractor | None = None
        self._cutter = self._workers.isolate(PassageCutter(), PAGE_SECONDS)
        self._batch_cutter = self._workers.isolate(BatchCutter())

    def extractors(self) -> list[Extractor]:
        """All installed, those which ask for a process of their own in one. Every large file is read in one too, so
        that reading it has an end; but where each row is a document, given as soon as it is read.

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
        """All installed, every one in a process of its own: no page, however large or odd, holds up what else goes on
        in this one, and what it does to its reader it does to that alone.

        Raises:
            ConfigError: one cannot be loaded.
        """
        if not self._of_pages:
            found: list[Extractor] = [plugins.load("extractors", name)() for name in plugins.names("extractors")]
            self._of_pages = [self._workers.isolate(each, PAGE_SECONDS) for each in found]
        return self._of_pages

    def of_printed_pages(self) -> Extractor:
        """What draws pages of PDFs, and finds passages on them, in a process of its own."""
        if self._of_printed is None:
            pictures: type[Extractor] = import_module(PICTURES).PagePictures
            self._of_printed = self._workers.isolate(pictures(), PICTURE_SECONDS)
        return self._of_printed

    def cut(self, text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
        """The passages of a text in UTF-8. A long one is cut in a process, where one lives already. Blocking."""
        if len(text) >= LONG and self._workers.pids():
            try:
                return passages(next(iter(self._cutter.extract(text, syntax))))
            except (ExtractError, RuntimeError):  # the process was ended, or all are: the text is here as well
                return cut(text, syntax)
        return cut(text, syntax)

    def begin_cutting(self, texts: Texts) -> Callable[[], Sequence[Spans]]:
        """Begin to cut texts, a full batch in a process; what is given waits for the passages of each. Blocking."""
        if sum(len(text) for text, _ in texts) < BATCH_BYTES and not self._workers.pids():
            return lambda: cut_all(texts)
        try:
            answer = self._batch_cutter.extract(packed(texts), "")
        except RuntimeError:  # the processes are ended
            return lambda: cut_all(texts)

        def wait() -> Sequence[Spans]:
            try:
                return passages_of_each(next(iter(answer)))
            except ExtractError:
                return cut_all(texts)

        return wait

    def archives(self) -> list[Archive]:
        """All installed.

        Raises:
            ConfigError: one cannot be loaded.
        """
        return [plugins.load("archives", name)() for name in plugins.names("archives")]

    def close(self) -> None:
        """End the processes. Blocking, for a moment."""
        self._workers.close()
