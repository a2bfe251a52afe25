"""All rows of one database put into another, whatever the two are."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from sqlalchemy import Connection, Integer, Table, func, insert, inspect, select, text

from assay.core.errors import StoreError
from assay.store.sql.tables import metadata, version

_AT_ONCE = 500
_DERIVED = re.compile(r"search_[0-9]+_[a-z0-9_]+_(?:state|documents|passages|words)")
"""Tables of the index which lies beside a library (`search.postgres`), of any release."""


def copy_rows(source: Connection, target: Connection) -> dict[str, int]:
    """Copy every table of this release's schema; how many rows each had. The target's are empty.

    Raises:
        StoreError: what is in a row cannot be read.
    """
    return {table.name: _copy(table, source, target) for table in metadata.sorted_tables if table is not version}


def is_empty(connection: Connection) -> bool:
    """Whether there is no row in any table."""
    tables = (table for table in metadata.sorted_tables if table is not version)
    return not any(connection.execute(select(func.count()).select_from(table)).scalar() for table in tables)


def empty_derived(connection: Connection) -> None:
    """Empty the index beside the library: it is of other rows, and would take new ones by their numbers for its own.

    The tables stay, for those who have them open; whoever searches next fills them again.
    """
    names = [name for name in inspect(connection).get_table_names() if _DERIVED.fullmatch(name)]
    if names:
        connection.execute(text("TRUNCATE " + ", ".join(f'"{name}"' for name in names)))


def _copy(table: Table, source: Connection, target: Connection) -> int:
    count, adding = 0, insert(table)
    order = select(table).order_by(*table.primary_key.columns)
    try:
        for part in source.execute(order.execution_options(yield_per=_AT_ONCE)).partitions():
            rows: list[dict[str, Any]] = [dict(row._mapping) for row in part]
            target.execute(adding, rows)
            count += len(rows)
    except msgspec.DecodeError as error:
        raise StoreError(f"a row of {table.name} cannot be read: {error}; `assay db check` looks for damage") from error
    if count and target.dialect.name == "postgresql":
        _go_on_numbering(table, target)
    return count


def _go_on_numbering(table: Table, target: Connection) -> None:
    """Rows came with their numbers: new ones follow the highest."""
    (key, *others) = table.primary_key.columns
    if others or not isinstance(key.type, Integer):
        return
    sequence = target.execute(
        text("SELECT pg_get_serial_sequence(:of, :column)"), {"of": table.name, "column": key.name}
    ).scalar()
    if sequence is not None:
        highest = select(func.max(key)).scalar_subquery()
        target.execute(select(func.setval(text(":sequence").bindparams(sequence=sequence), highest)))
