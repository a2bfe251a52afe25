"""What all tables share: their metadata and the types of columns which databases do not agree on."""

from __future__ import annotations

from sqlalchemy import BigInteger, Dialect, Integer, MetaData, Text
from sqlalchemy.types import TypeDecorator

# Text which may hold anything, for databases which keep no NUL in text.

_ESCAPE, _NUL, _ITSELF = "\x1b", "\x1b0", "\x1b1"


class Escaped(TypeDecorator[str]):
    """Text in which a NUL is written as an escape sequence; every other text, but that of escapes, stays as it is."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """As it is stored."""
        return None if value is None else escape(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """As it was."""
        return None if value is None else unescape(value)


def escape(text: str) -> str:
    """`text` without NUL; `unescape` gives it back."""
    return text.replace(_ESCAPE, _ITSELF).replace("\0", _NUL)


def unescape(text: str) -> str:
    """What was given to `escape`."""
    return text.replace(_NUL, "\0").replace(_ITSELF, _ESCAPE) if _ESCAPE in text else text


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

# Postgres keeps no NUL in text; what is escaped is looked up nowhere.
AnyText = Text().with_variant(Escaped(), "postgresql")
