"""The places of an owner's documents in SQL: where they were read, and their new ones when a file was moved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, select, update

from assay.core.ports import DocumentMove, StoredPlace
from assay.store import common
from assay.store.sql.shelves import batches
from assay.store.sql.tables import documents

_PLACES = select(documents.c.sha256, documents.c.row, documents.c.url, documents.c.snapshot_sha256).where(
    documents.c.sha256.in_(bindparam("some", expanding=True)), documents.c.owner == bindparam("whose")
)
_TITLES = select(documents.c.sha256, documents.c.title).where(
    documents.c.sha256.in_(bindparam("some", expanding=True)), documents.c.owner == bindparam("whose")
)
_MOVE = (
    update(documents)
    .where(
        documents.c.sha256 == bindparam("of"),
        documents.c.owner == bindparam("whose"),
        documents.c.url == bindparam("before"),
    )
    .values(url=bindparam("to"), name=bindparam("called"), lookup=bindparam("found_by"))
)


def stored_places(connection: Connection, owner: str, hashes: Iterable[str]) -> dict[str, StoredPlace]:
    """See `Library.stored_places`."""
    places: dict[str, StoredPlace] = {}
    for batch in batches(list(hashes)):
        rows = connection.execute(_PLACES, {"some": batch, "whose": owner})
        places.update((sha, StoredPlace(*place)) for sha, *place in rows)
    return places


def move(connection: Connection, owner: str, moves: Sequence[DocumentMove]) -> None:
    """Give documents of an owner their new places, in one order: two writers never deadlock."""
    for batch in batches(sorted(moves, key=lambda document_move: document_move.sha256)):
        titles = connection.execute(
            _TITLES, {"some": [document_move.sha256 for document_move in batch], "whose": owner}
        )
        title_of = {row.sha256: row.title for row in titles}
        rows = [
            {
                "of": document_move.sha256,
                "whose": owner,
                "before": document_move.before,
                "to": document_move.url,
                "called": document_move.name,
                "found_by": common.lookup_text(document_move.name, document_move.url, title_of[document_move.sha256]),
            }
            for document_move in batch
            if document_move.sha256 in title_of
        ]
        if rows:
            connection.execute(_MOVE, rows)
