"""Statements as SQL: compiled once for all databases that a process opens, not once for each."""

from __future__ import annotations

from typing import Any

from sqlalchemy.util import LRUCache

MOST = 1_000
"""Statements that are kept: twice as many as an engine keeps by itself."""


class CompiledStatements(LRUCache[tuple[Any, ...], Any]):
    """SQLAlchemy's cache, for many engines: it asks by dialect object, of which each engine has its own.

    All our engines of a driver are made with the same options, so that a statement is the same SQL over each of them,
    unless their servers are of different versions.
    """

    __slots__ = ()

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        """The compiled statement, if there is one."""
        return super().get(_shared(key), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__(_shared(key), compiled)


def _shared(key: tuple[Any, ...]) -> tuple[Any, ...]:
    dialect, *rest = key
    return (dialect.dialect_description, dialect.server_version_info, *rest)


SHARED = {"compiled_cache": CompiledStatements(MOST)}
"""Execution options of every engine."""
