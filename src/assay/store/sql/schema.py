"""Shared by all databases: their tables' metadata, JSON, column types on which they differ, and compiled statements."""

from __future__ import annotations

from typing import Any

import msgspec
from sqlalchemy import BigInteger, Dialect, Integer, MetaData, Text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import TypeDecorator
from sqlalchemy.util import LRUCache

# Arbitrary text, for databases that cannot store NUL in text.

_ESCAPE, _NUL, _ITSELF = "\x1b", "\x1b0", "\x1b1"


class EscapedText(TypeDecorator[str]):
    """Text in which NUL is stored as an escape sequence; all other text, except escape sequences themselves, is
    unchanged.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Return the stored form."""
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else unescape(value)


def escape(text: str) -> str:
    """`text` without NUL; `unescape` restores it."""
    return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)


def unescape(text: str) -> str:
    """The text that was passed to `escape`."""
    return text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE) if _ESCAPE in text else text


def to_json(value: object) -> str:
    """A value for a column of JSON."""
    return msgspec.json.encode(value).decode()


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows only in a column declared INTEGER.
Number = BigInteger().with_variant(Integer, "sqlite")

# Postgres cannot store NUL in text; escaped columns are never searched.
AnyText = Text().with_variant(EscapedText(), "postgresql")


# Statements as SQL: compiled once for all databases that a process opens, not once for each.

MAX_STATEMENTS = 1_000
"""Statements that are kept: twice as many as an engine keeps by itself."""


class CompiledStatements(LRUCache[tuple[Any, ...], Any]):
    """SQLAlchemy's cache, for many engines: it asks by dialect object, of which each engine has its own.

    All our engines of a driver are made with the same options, so that a statement is the same SQL over each of them,
    unless their servers are of different versions.
    """

    __slots__ = ()

    def get(self, key: tuple[Any, ...], default: Any = None) -> Any:
        """The compiled statement, if there is one."""
        return super().get(_shared_key(key), default)

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        super().__setitem__(_shared_key(key), compiled)


def _shared_key(key: tuple[Any, ...]) -> tuple[Any, ...]:
    dialect, *rest = key
    return (dialect.dialect_description, dialect.server_version_info, *rest)


SHARED_CACHE = {"compiled_cache": CompiledStatements(MAX_STATEMENTS)}
"""Execution options of every engine."""


def driver_error(error: BaseException) -> BaseException:
    """The error that the driver raised, without SQLAlchemy's around it."""
    return error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
