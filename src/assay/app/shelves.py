"""The library as it is: its collections, their documents, and what is found in them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from assay.app import places
from assay.app.context import Context
from assay.core.errors import UnknownName, UsageError
from assay.core.ports import CollectionRow, Explanation, Hit, Origin, Query
from assay.core.sources import Document

NAMED = 5
"""Of many, so many are named in an error."""


async def drop(context: Context, collection: str) -> None:
    """Forget a collection; its documents stay in the library; see `Library.drop`."""
    await check_collection(context, collection)
    held = await documents(context, collection)
    await asyncio.to_thread(context.store.library.drop, collection)
    await asyncio.to_thread(forget_pages, context, held)


def forget_pages(context: Context, documents: Iterable[Document]) -> None:
    """Keep pages no more for the next run which a person took out: who wants one again asks its server. Blocking."""
    snapshots = (context.store.library.snapshot(each.snapshot_sha256) for each in documents)
    for snapshot in snapshots:
        if snapshot is not None and snapshot.status:
            context.kept.forget(snapshot.url)


async def collections(context: Context) -> list[CollectionRow]:
    """The collections people have made, by name."""
    rows = await asyncio.to_thread(context.store.library.collections)
    return [row for row in rows if places.is_named(row)]


async def origins(context: Context, collection: str) -> list[Origin]:
    """Where a collection was added from."""
    return await asyncio.to_thread(context.store.library.origins, collection)


async def mark(context: Context, collection: str, *, private: bool) -> None:
    """Say whether a collection is private; see `Library.mark`."""
    places.checked_name(collection)
    await asyncio.to_thread(context.store.library.mark, collection, private=private)


async def check_collection(context: Context, collection: str) -> None:
    """Make sure that there is such a collection; see `Library.check_collection`."""
    known = [row.name for row in await collections(context)]
    if collection not in known:
        raise places.unknown(collection, known)


async def text(context: Context, reference: str, collection: str | None) -> tuple[Document, str]:
    """A document with its text; see `Library.text`."""
    names = [collection] if collection else [row.name for row in await collections(context)]
    document = await asyncio.to_thread(one, context.store.library.find(reference, names), reference, names)
    body = await asyncio.to_thread(context.store.blobs.get, document.sha256)
    return document, body.decode()


async def documents(context: Context, collection: str) -> list[Document]:
    """The documents of a collection, in the order of adding."""
    return await asyncio.to_thread(context.store.library.documents, [collection])


async def search(context: Context, text: str, limit: int, collection: str) -> list[Hit]:
    """The best documents of a collection for `text`, best first."""
    return await context.search.search(Query(text=text, limit=limit, collections=(collection,)))


async def explain(context: Context, text: str, limit: int, collection: str) -> list[Explanation]:
    """The same documents, each with why it stands where it stands."""
    return await context.search.explain(Query(text=text, limit=limit, collections=(collection,)))


def one(found: Sequence[Document], reference: str, collections: Sequence[str]) -> Document:
    """The one document a reference means.

    Raises:
        UnknownName: there is none.
        UsageError: there are several, none of which it names exactly.
    """
    if not found:
        where = ", ".join(collections) or "the library, which is empty"
        raise UnknownName("document", reference, hint=f"in {where} (assay docs list shows what there is)")
    exact = [each for each in found if reference in (each.sha256, each.name, each.url, each.title)]
    chosen = exact or found
    if len(chosen) > 1:
        some = ", ".join(f"{each.sha256[:8]} ({each.title or each.name})" for each in chosen[:NAMED])
        raise UsageError(f"{reference!r} means {len(chosen)} documents: {some}; name one by its number")
    return chosen[0]
