"""Creates the adapters that `services.ports.Wiring` asks for, from a context; and what reads files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay import plugins
from assay.core.brief import Brief
from assay.core.claims import VERDICTS
from assay.core.errors import ConfigError, ExtractError
from assay.core.lazy import lazy_module
from assay.core.ports import Archive, Extractor, LibrarySearch, PageCache, Similarity
from assay.core.sources import PassageSpan, Syntax
from assay.evidence.documents import BATCH_BYTES, DocumentReader, Spans, Texts, cut_all, segment_utf8
from assay.evidence.segment import SEGMENTER, BatchCutter, PassageCutter, pack_texts, passages_of, passages_of_each
from assay.fetch.workers import ExtractorHere, Workers
from assay.search.local import LocalSearch
from assay.search.runs import RunIndex
from assay.search.shared_index import INDEX_WORK, OwnedSearch, WriteTurn, file_lock
from assay.services.arguments import ProgressLog, read_text_argument
from assay.services.context import Context
from assay.services.home_paths import index_folder, pages_folder, runs_folder, writable_folder
from assay.services.providers import search_rate_limiter
from assay.services.results import replace_file
from assay.settings import Settings
from assay.settings.environment import reader_environment
from assay.store.pages import FolderPages, MemoryPages

if TYPE_CHECKING:
    from assay.app import assay, embeddings, verification
    from assay.app import online as web
    from assay.fetch.web import poster as web_poster
    from assay.search.vectors import hybrid
    from assay.search.vectors.hybrid import WordIndex
    from assay.services.jobs.specifications import VerifyJob
else:
    assay = lazy_module("assay.app.assay")
    verification = lazy_module("assay.app.verification")
    embeddings = lazy_module("assay.app.embeddings")
    hybrid = lazy_module("assay.search.vectors.hybrid")
    web_poster = lazy_module("assay.fetch.web.poster")
    web = lazy_module("assay.app.online")


PAGE_SECONDS = 20.0
"""Seconds for reading one fetched page."""

PICTURES = "assay.fetch.pdf.pictures"
"""Loads PDFium, which takes a tenth of a second: only needed to draw pages."""
PICTURE_SECONDS = 15.0
"""Seconds for drawing a page."""
LONG_TEXT_BYTES = 8_000
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
        extractors: list[Extractor] = [plugins.load("extractors", name)() for name in plugins.names("extractors")]
        return [self._isolate(extractor) for extractor in extractors]

    def _isolate(self, extractor: Extractor) -> Extractor:
        if getattr(extractor, "isolated", False):
            return self._workers.isolate(extractor)
        return (
            ExtractorHere(extractor) if getattr(extractor, "streams", False) else self._workers.isolate_large(extractor)
        )

    def page_extractors(self) -> list[Extractor]:
        """All installed ones, each in a process of its own.

        So a page, however large or odd, blocks nothing else in this process, and can only harm its own extractor.

        Raises:
            ConfigError: one cannot be loaded.
        """
        if not self._of_pages:
            extractors: list[Extractor] = [plugins.load("extractors", name)() for name in plugins.names("extractors")]
            self._of_pages = [self._workers.isolate(extractor, PAGE_SECONDS) for extractor in extractors]
        return self._of_pages

    def pdf_page_reader(self) -> Extractor:
        """Draws pages of PDFs, and finds passages on them, in a process of its own."""
        if self._of_printed is None:
            pictures: type[Extractor] = import_module(PICTURES).PagePictures
            self._of_printed = self._workers.isolate(pictures(), PICTURE_SECONDS)
        return self._of_printed

    def segment(self, text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
        """The passages of a text in UTF-8. A long one is cut in another process, if one is running already.
        Blocking.
        """
        if len(text) >= LONG_TEXT_BYTES and self._workers.pids():
            try:
                return passages_of(next(iter(self._cutter.extract(text, syntax))))
            except (ExtractError, RuntimeError):  # the process has ended, or all have: cut the text here
                return segment_utf8(text, syntax)
        return segment_utf8(text, syntax)

    def begin_segmenting(self, texts: Texts) -> Callable[[], Sequence[Spans]]:
        """Start to cut texts, a full batch in a process; the result waits for the passages of each. Blocking."""
        if sum(len(text) for text, _ in texts) < BATCH_BYTES and not self._workers.pids():
            return lambda: cut_all(texts)
        try:
            answer = self._batch_cutter.extract(pack_texts(texts), "")
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


# The adapters.


def reader(context: Context) -> DocumentReader:
    """What reads the passages of documents."""

    def segment(text: bytes, syntax: Syntax) -> tuple[PassageSpan, ...]:
        return context.readers.segment(text, syntax)  # created on first use

    def begin(texts: Texts) -> Callable[[], Sequence[Spans]]:
        return context.readers.begin_segmenting(texts)

    return DocumentReader(context.store.blobs, cut=segment, begin=begin)


def readers() -> LazyReaders:
    """What takes the text out of files."""
    return LazyReaders()


def search(context: Context) -> LibrarySearch:
    """The index in the home, in the database or in OpenSearch, as in the settings; without a home, one in memory.

    If an embedder is named, search by meaning is included; a library in memory has no vectors.

    Raises:
        ConfigError: the index should be in a database and there is none, or there is no such embedder.
    """
    index = _index(context)
    return embeddings.hybrid_search(context, index) if context.home and context.settings.embedder.model else index


def owned_search(context: Context, brief: Brief | None = None) -> OwnedSearch:
    """The index as the owner of a context may query it; by words alone if the embedder may not see the run's
    queries.
    """
    index = context.search
    if brief is not None and brief.scope.private and isinstance(index, hybrid.HybridSearch):
        index = index if embeddings.vectors(context).may_be_told_private else index.index
    return OwnedSearch(index, context.store.library)


def _index(context: Context) -> WordIndex:
    if context.home is not None and context.settings.search.index == "postgres":
        return _postgres_index(context)
    if context.home is not None and context.settings.search.index == "opensearch":
        return _opensearch_index(context, context.home)
    folder = None if context.home is None else writable_folder(index_folder(context.home))
    return LocalSearch(folder, context.full_store.library, context.reader.spans, context.reader.each_spans)


def _postgres_index(context: Context) -> WordIndex:
    if context.settings.database is None:
        raise ConfigError(
            "search.index is postgres, and no PostgreSQL database is set: set ASSAY_DATABASE, or search.index to local"
        )
    # Imported by name: its driver is an extra, and slow to load.
    backend = import_module("assay.store.sql.postgres").Postgres(context.settings.database.reveal())
    engine = backend.engine(present=False)
    index: WordIndex = import_module("assay.search.postgres").PostgresSearch(
        engine, context.full_store.library, context.reader.spans, SEGMENTER, backend.session_lock_engine(engine)
    )
    return index


def _opensearch_index(context: Context, home: Path) -> WordIndex:
    address = context.settings.search.opensearch
    if address is None:
        raise ConfigError(
            "search.index is opensearch, and no address is set: set ASSAY_SEARCH_OPENSEARCH to "
            "https://USER:PASSWORD@HOST:9200, or search.index to local"
        )
    # Imported by name: not needed with another index.
    opensearch = import_module("assay.search.opensearch")
    index: WordIndex = opensearch.OpenSearchSearch(
        opensearch.OpenSearchClient(address.reveal()),
        context.full_store.library,
        context.reader.each_spans,
        SEGMENTER,
        context.settings.search.opensearch_name,
        _index_lock(context, home),
    )
    return index


def _index_lock(context: Context, home: Path) -> WriteTurn:
    """The lock for writing an index that the processes of a home share, or the machines of a database."""
    if context.settings.database is None:
        return partial(file_lock, index_folder(home), INDEX_WORK)
    backend = import_module("assay.store.sql.postgres").Postgres(context.settings.database.reveal())
    return partial(
        import_module("assay.search.postgres.tables").postgres_lock, backend.direct_engine(), INDEX_WORK
    )  # nobody would close a pool


def run_index(context: Context) -> RunIndex:
    """The index of the questions and reports of all runs, in the home; without one, in memory."""
    return RunIndex(None if context.home is None else writable_folder(runs_folder(context.home), "runs-*/"))


def page_cache(context: Context) -> PageCache:
    """The cache of web pages, in the home."""
    return MemoryPages() if context.home is None else FolderPages(pages_folder(context.home), context.store.blobs)


def online(context: Context) -> web.Online:
    """What all runs share for using the web."""
    return web.Online(
        context.settings,
        web.PageIntake(
            library=context.full_store.library,
            blobs=context.store.blobs,
            clock=context.clock,
            readers=context.readers,
            spans=context.reader.spans,
        ),
        context.page_cache,
        search_rate_limiter(context.store, context.settings),
    )


def poster(settings: Settings) -> web_poster.WebPoster:
    """Posts to the addresses of webhooks."""
    return web_poster.WebPoster(
        agent=f"Assay/{version('assay')} (webhooks)",
        allow=settings.server.webhook_hosts,
        setting="server.webhook_hosts",
    )


def similarity(context: Context, brief: Brief) -> Similarity | None:
    """Compares texts of a run by meaning; None if no embedder is named."""
    return embeddings.similarity(context, brief) if context.settings.embedder.model else None


async def embed(context: Context, progress: ProgressLog | None, *, anew: bool) -> dict[str, object]:
    """Update the vectors from the library; return figures, by name."""
    return msgspec.structs.asdict(await embeddings.embed(context, progress, anew=anew))


def library(context: Context) -> assay.Assay:
    """The library as the owner of a context sees it."""
    return assay.Assay.from_context(context)


async def verify(context: Context, job: VerifyJob, progress: ProgressLog) -> dict[str, object]:
    """Check a text as the command does: against the documents it names, with a library in memory."""
    file, output = Path(job.file), Path(job.output)
    text = await asyncio.to_thread(read_text_argument, file, "the text", verification.MAX_TEXT_CHARS)
    async with assay.Assay(context.settings, models=context.own_models) as alone:
        verified_text = await alone.verify(
            text,
            sources=job.paths,
            folder=file.parent,
            web=job.web,
            find=job.find,
            model=job.model,
            answers=context.home if job.model else None,
            allow_private=job.allow_private,
            max_usd=job.max_usd,
            max_tokens=job.max_tokens,
            progress=progress,
        )
    await asyncio.to_thread(replace_file, output, msgspec.json.format(msgspec.json.encode(verified_text)))
    counts: dict[str, int] = {
        verdict: count for verdict in VERDICTS if (count := getattr(verified_text.summary, verdict))
    }
    return {
        **counts,
        "claims": verified_text.summary.claims,
        "file": str(output),
        "warnings": list(verified_text.warnings),
    }
