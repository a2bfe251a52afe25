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
from assay.services.arguments import ProgressLog
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
    config = settings.embedder
    model_access = provider_access(settings, name)
    if config.query_prefix is not None or config.passage_prefix is not None:
        model_access = msgspec.structs.replace(
            model_access, prefixes=(config.query_prefix or "", config.passage_prefix or "")
        )
    embedder: Embedder = plugins.load("embedders", provider if provider in installed else COMPATIBLE_ADAPTER)(
        name, model_access
    )
    return embedder


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
    config = context.settings.embedder
    stays = is_local(context.settings, name, local=embedder.local)
    model = f"{name}\n{config.passage_prefix}" if config.passage_prefix else name
    if context.settings.search.index == "postgres" and context.settings.database is not None:
        backend = import_module("assay.store.sql.postgres").Postgres(context.settings.database.reveal())
        engine = backend.engine(present=False)
        return Vectors(
            embedder,
            VectorStore(engine, model, SEGMENTER),
            partial(
                import_module("assay.search.postgres.tables").postgres_lock,
                backend.session_lock_engine(engine),
                VECTORS_WORK,
            ),
            stays or config.allow_private,
            engine,
        )
    file = vectors_file(context.home)
    file.parent.mkdir(parents=True, exist_ok=True)
    store = VectorStore(create_sqlite_engine(file), model, SEGMENTER)
    return Vectors(embedder, store, partial(file_lock, file, VECTORS_WORK), stays or config.allow_private)


def hybrid_search(context: Context, index: WordIndex) -> HybridSearch:
    """Search by words and by meaning; what the embedder may not see is searched by words."""
    vector_index = vectors(context)
    library = context.full_store.library

    def may_embed(collections: Sequence[str]) -> bool:
        return vector_index.may_be_told_private or not library.private_among(collections)

    search = HybridSearch(
        index, vector_index.store, vector_index.embedder, library, may_embed, context.settings.embedder.weight
    )
    if vector_index.database is not None and context.settings.embedder.pgvector:
        search.neighbours = import_module("assay.search.vectors.pgvector").PgvectorNeighbours(
            vector_index.database, vector_index.store
        )
    return search


def similarity(context: Context, brief: Brief) -> Similarity | None:
    """Compares texts of a run by meaning; None if no embedder is named, or its costs cannot be limited.

    The rule for private documents is that of the search, checked at each call.
    """
    if not isinstance(context.search, HybridSearch):
        return None
    vector_index, library = vectors(context), context.full_store.library
    if brief.budget.usd is not None and vector_index.embedder.price is None:
        return None
    collections = context.store.library.resolve_names(brief.scope.collections)

    def may_see_private() -> bool:
        return vector_index.may_be_told_private or not (brief.scope.private or library.private_among(collections))

    vector_cache, batch = context.search.recent_vectors, context.settings.embedder.batch
    return EmbedderSimilarity(vector_index.embedder, vector_index.store, vector_cache, may_see_private, batch)


async def embed(context: Context, progress: ProgressLog | None, *, anew: bool) -> BuildResult:
    """Update the vectors from the library; see `DocumentLibrary.embed`."""
    vector_index, config = vectors(context), context.settings.embedder
    limits = EmbeddingLimits(usd=config.max_usd, tokens=config.max_tokens, batch=config.batch)
    builder = VectorBuilder(
        vector_index.store, vector_index.embedder, context.full_store.library, context.reader.spans, vector_index.turn
    )
    monitor = ReadingMonitor(progress, context.clock)

    def work() -> BuildResult:
        private = set[int]() if vector_index.may_be_told_private else _private(context.full_store.library)
        if anew:
            vector_index.store.clear()
        result = builder.build(limits, private, monitor.report_line)
        if config.pgvector and isinstance(context.search, HybridSearch):
            context.search.neighbours.update()  # a search need not wait for it
        return result

    try:
        return await asyncio.to_thread(work)
    finally:
        monitor.stop()  # nobody waits any more: the thread makes no more vectors, and spends nothing more


async def embedding_status(context: Context) -> EmbeddingStatus:
    """Progress of the vectors of the library; see `DocumentLibrary.embedding_status`."""
    vector_index = vectors(context)

    def read_status() -> EmbeddingStatus:
        progress, (_, documents), withheld = (
            vector_index.store.progress(),
            vector_index.store.highest_id_and_count(),
            len(vector_index.store.withheld_rows()),
        )
        missing = sum(1 for _ in _rows_after(context.full_store.library, progress.row))
        return EmbeddingStatus(
            model=vector_index.embedder.name,
            documents=documents - withheld,
            missing=missing,
            withheld=withheld,
            tokens=progress.tokens,
            usd=progress.usd,
        )

    return await asyncio.to_thread(read_status)


def _rows_after(library: Library, row: int) -> Iterator[int]:
    while page := library.documents_after(row, 500):
        for row, _ in page:
            yield row


def _private(library: Library) -> set[int]:
    """The rows of all documents in private collections."""
    names = [collection.name for collection in library.collections() if collection.private]
    return library.members(names) if names else set()
