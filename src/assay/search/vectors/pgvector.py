"""Vectors in PostgreSQL, with its extension pgvector: the server finds the nearest, and no worker holds them.

They are a second copy of the bytes in `store`, updated before each search. Each is examined, so that nothing near is
missed, until somebody creates an index of neighbours (docs/search-by-meaning.md).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, text

from assay.search.vectors.neighbours import NearestPassages, PassageKey
from assay.search.vectors.store import VectorStore, database_errors

INSTALL_LOCK, WRITE_LOCK = 0x61737370, 0x61737371
"""Keys of the advisory locks for installing the extension, once per database, and for writing here."""
LOT_PASSAGES = 2_000
"""Passages written at a time."""
QUERY_SECONDS = 60
WITHOUT_IT = " (embedder.pgvector = false does without it)"


class PgvectorNeighbours:
    """Implements `neighbours.Neighbours`. `engine` is the database with the bytes of `store`."""

    def __init__(self, engine: Engine, store: VectorStore) -> None:
        self._engine, self._store = engine, store
        self._table = f"{store.prefix}_pg_{hashlib.sha256(store.segmenter.encode()).hexdigest()[:8]}"
        self.dimensions = 0
        self._extent, self._schema = (0, 0), ""

    def update(self) -> None:
        """One process at a time writes; others wait for it."""
        dimensions = self._store.progress().dimensions
        if not dimensions:
            self.dimensions = 0
            return
        extent = self._store.highest_id_and_count()
        if extent == self._extent and dimensions == self.dimensions and self._last_id() == extent[0]:
            return  # ids only grow: an equal maximum and an equal count mean equal contents
        with self._transaction() as connection:
            self._install(connection)
            path_hash = "hashtext(current_setting('search_path'))"
            connection.execute(text(f"SELECT pg_advisory_xact_lock(:lock, {path_hash})"), {"lock": WRITE_LOCK})
            self._create_table(connection, dimensions)
            exists = f"SELECT 1 FROM {self._store.prefix}_documents d WHERE d.id = t.id"
            connection.execute(text(f"DELETE FROM {self._table} t WHERE NOT EXISTS ({exists})"))
            self._fill(connection, self._highest(connection))
        self.dimensions, self._extent = dimensions, extent

    def find_nearest(self, query: bytes, scope: Collection[int] | None, limit: int) -> NearestPassages:
        with self._transaction() as connection:
            connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{QUERY_SECONDS}s'")
            where = "" if scope is None else "WHERE row = ANY(:rows)"
            statement = text(
                f"SELECT row, place, sha256, 1 - (vector <=> CAST(:query AS halfvec)) FROM {self._table} {where}"
                " ORDER BY vector <=> CAST(:query AS halfvec), id, place LIMIT :most"
            )
            values = {"query": _vector_literal(query), "most": limit} | ({} if scope is None else {"rows": list(scope)})
            rows = connection.execute(statement, values).all()
        nearest = [((int(row), int(place)), float(cosine)) for row, place, _, cosine in rows]
        return _InDatabase(self, query, scope, nearest, {int(row): str(name) for row, _, name, _ in rows})

    def passage_cosines(
        self, query: bytes, scope: Collection[int] | None, documents: Collection[str]
    ) -> Iterator[tuple[int, str, float]]:
        """Row, hash and cosine of each passage of these documents, in their order."""
        condition = "" if scope is None else "AND row = ANY(:rows)"
        statement = text(
            f"SELECT row, sha256, 1 - (vector <=> CAST(:query AS halfvec)) FROM {self._table}"
            f" WHERE sha256 = ANY(:documents) {condition} ORDER BY row, place"
        )
        values: dict[str, object] = {"query": _vector_literal(query), "documents": list(documents)}
        values |= {} if scope is None else {"rows": list(scope)}
        with self._transaction() as connection:
            for row, name, cosine in connection.execute(statement, values):
                yield int(row), str(name), float(cosine)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A transaction in which the extension's type and operators are known, in whatever schema they are."""
        with database_errors(" with pgvector", WITHOUT_IT), self._engine.begin() as connection:
            if self._schema:
                _add_to_search_path(connection, self._schema)
            yield connection

    def _last_id(self) -> int:
        with self._transaction() as connection:
            return self._highest(connection)

    def _highest(self, connection: Connection) -> int:
        """The id of the last document here."""
        return int(connection.execute(text(f"SELECT coalesce(max(id), 0) FROM {self._table}")).scalar_one())

    def _install(self, connection: Connection) -> None:
        """Install the extension in the database if necessary, and find its schema."""
        where = text("SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'")
        if connection.execute(where).scalar_one_or_none() is None:
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": INSTALL_LOCK})
            connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        self._schema = str(connection.execute(where).scalar_one())
        _add_to_search_path(connection, self._schema)

    def _create_table(self, connection: Connection, dimensions: int) -> None:
        """Create the table; one with vectors of another length is replaced."""
        length = text("SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass(:name) AND attname = 'vector'")
        current = connection.execute(length, {"name": self._table}).scalar_one_or_none()
        if current is not None and current != dimensions:
            connection.exec_driver_sql(f"DROP TABLE {self._table}")
        connection.exec_driver_sql(
            f"CREATE TABLE IF NOT EXISTS {self._table} (id bigint, row bigint NOT NULL, place integer,"
            f" sha256 text NOT NULL, vector halfvec({dimensions}) NOT NULL, PRIMARY KEY (id, place))"
        )
        connection.exec_driver_sql(f"CREATE INDEX IF NOT EXISTS {self._table}_by_sha256 ON {self._table} (sha256)")

    def _fill(self, connection: Connection, after: int) -> None:
        """Write what the store has beyond `after`."""
        insert = text(f"INSERT INTO {self._table} VALUES (:id, :row, :place, :sha256, CAST(:vector AS halfvec))")
        lot: list[dict[str, object]] = []
        for id, row, sha256, count, vectors in self._store.documents(after):
            length = len(vectors) // count
            lot += (
                {
                    "id": id,
                    "row": row,
                    "place": place,
                    "sha256": sha256,
                    "vector": _vector_literal(vectors[place * length : (place + 1) * length]),
                }
                for place in range(count)
            )
            if len(lot) >= LOT_PASSAGES:
                connection.execute(insert, lot)
                lot = []
        if lot:
            connection.execute(insert, lot)


class _InDatabase:
    """The results, and further look-ups. Implements `neighbours.NearestPassages`."""

    def __init__(
        self,
        neighbours: PgvectorNeighbours,
        query: bytes,
        scope: Collection[int] | None,
        nearest: Sequence[tuple[PassageKey, float]],
        names: Mapping[int, str],
    ) -> None:
        self._neighbours, self._query, self._scope = neighbours, query, scope
        self.nearest, self.names = nearest, dict(names)
        self._cosines: dict[int, list[float]] = {}

    def rows(self, documents: Collection[str]) -> Mapping[str, int]:
        rows_by_name: dict[str, int] = {}
        for row, name, cosine in self._neighbours.passage_cosines(self._query, self._scope, documents):
            rows_by_name[name] = row
            self.names[row] = name
            self._cosines.setdefault(row, []).append(cosine)
        return rows_by_name

    def cosines(self, row: int) -> list[float]:
        return self._cosines[row]


def _add_to_search_path(connection: Connection, schema: str) -> None:
    """Search names in a schema too, until the transaction ends."""
    statement = "SELECT set_config('search_path', current_setting('search_path') || ', ' || :schema, true)"
    connection.execute(text(statement), {"schema": schema})


def _vector_literal(vector: bytes) -> str:
    """A vector of signed bytes in pgvector's form."""
    return f"[{','.join(map(str, array('b', vector)))}]"
