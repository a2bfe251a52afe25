"""Search by meaning: the embedder in the settings, its vectors of the library, and what it may see."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import import_module

import msgspec
from sqlalchemy import Engine

from assay import plugins
from assay.core.brief import Brief
from assay.core.errors import UnknownName, UsageError
from assay.core.ports import Embedder, Library, Similarity
from assay.evidence.ingest import ReadingMonitor
from assay.evidence.segment import SEGMENTER
from assay.search.shared_index import VECTORS_WORK, WriteTurn, file_lock
from assay.search.vectors import BuildResult as BuildResult
from assay.search.vectors import EmbedderSimilarity, EmbeddingLimits, HybridSearch, VectorBuilder, VectorStore
from assay.search.vectors.hybrid import WordIndex
from assay.services.arguments import Say
from assay.services.context import Context
from assay.services.home_paths import vectors_file
from assay.services.privacy import is_local
from assay.services.providers import COMPATIBLE_ADAPTER, provider_access
from assay.settings import Settings
from assay.store.sql.sqlite import create_sqlite_engine


class Vectors(msgspec.Struct, frozen=True):
    """An embedder, its vectors, and the lock for making more.

    `may_be_told_private` says whether it may see private documents, and queries about them. `database` has the vectors
    if that is PostgreSQL.
    """

    embedder: Embedder
    store: VectorStore
    turn: WriteTurn
    may_be_told_private: bool
    database: Engine | None = None


class EmbeddingStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of the vectors of a library: documents with and without, and the cost so far."""

    model: str
    documents: int
    missing: int
    withheld: int
    tokens: int
    usd: float


def load_embedder(settings: Settings, name: str) -> Embedder:
    """Load the embedder called `name` (PROVIDER:MODEL).

    Raises:
        UnknownName: there is no such adapter or service.
        ConfigError: the adapter cannot create it (no key, no address, an extra missing).
    """
    provider, _ = plugins.split(name)
    installed = plugins.names("embedders")
    if provider not in installed and provider not in settings.services:
        raise UnknownName("embedder", provider, {*installed, *settings.services})
    own = settings.embedder
    model_access = provider_access(settings, name)
    if own.query_prefix is not None or own.passage_prefix is not None:
        model_access = msgspec.structs.replace(
            model_access, prefixes=(own.query_prefix or "", own.passage_prefix or "")
        )
    made: Embedder = plugins.load("embedders", provider if provider in installed else COMPATIBLE_ADAPTER)(
        name, model_access
    )
    return made


def vectors(context: Context) -> Vectors:
    """The embedder in the settings, and its vectors; opened once.

    Raises:
        UsageError: the settings name none, or the library is in memory.
    """
    return context.get_or_create("vectors", _vectors)


def _vectors(context: Context) -> Vectors:
    name = context.settings.embedder.model
    if not name:
        raise UsageError("no embedder is set: set embedder.model, or use --embedder (ollama:nomic-embed-text)")
    if context.home is None:
        raise UsageError("a library in memory has no vectors: open Assay with a home")
    embedder = load_embedder(context.settings, name)
    own = context.settings.embedder
    stays = is_local(context.settings, name, local=embedder.local)
    model = f"{name}\n{own.passage_prefix}" if own.passage_prefix else name
    if context.settings.search.index == "postgres" and context.settings.database is not None:
        backend = import_module("assay.store.sql.postgres").Postgres(context.settings.database.reveal())
        made = backend.engine(present=False)
        return Vectors(
            embedder,
            VectorStore(made, model, SEGMENTER),
            partial(
                import_module("assay.search.postgres.tables").postgres_lock,
                backend.session_lock_engine(made),
                VECTORS_WORK,
            ),
            stays or own.allow_private,
            made,
        )
    file = vectors_file(context.home)
    file.parent.mkdir(parents=True, exist_ok=True)
    store = VectorStore(create_sqlite_engine(file), model, SEGMENTER)
    return Vectors(embedder, store, partial(file_lock, file, VECTORS_WORK), stays or own.allow_private)


def hybrid_search(context: Context, index: WordIndex) -> HybridSearch:
    """Search by words and by meaning; what the embedder may not see is searched by words."""
    of = vectors(context)
    library = context.whole.library

    def allowed(collections: Sequence[str]) -> bool:
        return of.may_be_told_private or not library.private_among(collections)

    found = HybridSearch(index, of.store, of.embedder, library, allowed, context.settings.embedder.weight)
    if of.database is not None and context.settings.embedder.pgvector:
        found.neighbours = import_module("assay.search.vectors.pgvector").PgvectorNeighbours(of.database, of.store)
    return found


def similarity(context: Context, brief: Brief) -> Similarity | None:
    """Compares texts of a run by meaning; None if no embedder is named, or its costs cannot be limited.

    The rule for private documents is that of the search, checked at each call.
    """
    if not isinstance(context.search, HybridSearch):
        return None
    of, library = vectors(context), context.whole.library
    if brief.budget.usd is not None and of.embedder.price is None:
        return None
    meant = context.store.library.resolve_names(brief.scope.collections)

    def may_see_private() -> bool:
        return of.may_be_told_private or not (brief.scope.private or library.private_among(meant))

    remembered, batch = context.search.recent_vectors, context.settings.embedder.batch
    return EmbedderSimilarity(of.embedder, of.store, remembered, may_see_private, batch)


async def embed(context: Context, progress: Say | None, *, anew: bool) -> BuildResult:
    """Update the vectors from the library; see `DocumentLibrary.embed`."""
    of, own = vectors(context), context.settings.embedder
    limits = EmbeddingLimits(usd=own.max_usd, tokens=own.max_tokens, batch=own.batch)
    builder = VectorBuilder(of.store, of.embedder, context.whole.library, context.reader.spans, of.turn)
    reading = ReadingMonitor(progress, context.clock)

    def work() -> BuildResult:
        private = set[int]() if of.may_be_told_private else _private(context.whole.library)
        if anew:
            of.store.clear()
        built = builder.build(limits, private, reading.report_line)
        if own.pgvector and isinstance(context.search, HybridSearch):
            context.search.neighbours.update()  # a search need not wait for it
        return built

    try:
        return await asyncio.to_thread(work)
    finally:
        reading.stop()  # nobody waits any more: the thread makes no more vectors, and spends nothing more


async def embedding_status(context: Context) -> EmbeddingStatus:
    """Progress of the vectors of the library; see `DocumentLibrary.embedding_status`."""
    of = vectors(context)

    def look() -> EmbeddingStatus:
        progress, (_, documents), withheld = (
            of.store.progress(),
            of.store.highest_id_and_count(),
            len(of.store.withheld_rows()),
        )
        rest = sum(1 for _ in _rows_after(context.whole.library, progress.row))
        return EmbeddingStatus(
            model=of.embedder.name,
            documents=documents - withheld,
            missing=rest,
            withheld=withheld,
            tokens=progress.tokens,
            usd=progress.usd,
        )

    return await asyncio.to_thread(look)


def _rows_after(library: Library, row: int) -> Iterator[int]:
    while page := library.documents_after(row, 500):
        for row, _ in page:
            yield row


def _private(library: Library) -> set[int]:
    """The rows of all documents in private collections."""
    names = [collection.name for collection in library.collections() if collection.private]
    return library.members(names) if names else set()
