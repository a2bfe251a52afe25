"""What all tables share: their metadata and the types of columns which databases do not agree on."""

from __future__ import annotations

from sqlalchemy import BigInteger, Integer, MetaData, Text

from assay.store.sql.nul_escape import Escaped

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
