"""The tables as this release knows them. `store/migrations` makes the same ones step by step."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

from assay.store.sql.escaping import Escaped

HEAD = "0008"
"""The last migration. A database at this version is opened without loading Alembic."""

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows only in a column declared INTEGER.
_Number = BigInteger().with_variant(Integer, "sqlite")

# Postgres keeps no NUL in text; what is escaped is looked up nowhere.
_Any = Text().with_variant(Escaped(), "postgresql")

version = Table("assay_schema", metadata, Column("version_num", Text, primary_key=True))

# runs

runs = Table(
    "runs",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("run_id", _Any, nullable=False),
    Column("question", _Any, nullable=False),
    Column("brief", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("holder", Text, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("control", Text, nullable=False),
    Column("active_seconds", Float, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("thread", _Any, nullable=False, server_default=""),
    UniqueConstraint("run_id"),
    Index(None, "thread"),
    sqlite_autoincrement=True,
)

events = Table(
    "events",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("key", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("at", Text, nullable=False),
    Column("path", JSON, nullable=False),
    Column("type", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("run", "key"),
    sqlite_with_rowid=False,  # one tree less to write: a fifth of a commit
)

steps = Table(
    "steps",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("input_hash", Text, nullable=False),
    Column("tag", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

holds = Table(
    "holds",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True),
    Column("step", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("amount", JSON, nullable=False),
    Column("state", Text, nullable=False),
    sqlite_with_rowid=False,  # small rows, one tree instead of two
)

ledger = Table(
    "ledger",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("lane", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("run", "kind", "id"),
)

inbox = Table(
    "inbox",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("run", _Number, ForeignKey("runs.number"), nullable=False),
    Column("topic", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index(None, "run", "topic"),
)

# the library

queue = Table(
    "queue",
    metadata,
    Column("run", _Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("owner", _Any, nullable=False),  # `user` is a word of SQL's
    Column("priority", Integer, nullable=False),
    Column("ready", Integer, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("release", _Any, nullable=False, server_default=""),
)

permits = Table(
    "permits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("service", _Any, nullable=False),
    Column("until", Float, nullable=False),
    Index(None, "service"),
    sqlite_with_rowid=False,
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("url", _Any, nullable=False),
    Column("media_type", _Any, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("fetched_at", _Any, nullable=False),
    Column("headers", JSON, nullable=False),
    Column("redirects", JSON, nullable=False, server_default="[]"),
    Column("status", Integer, nullable=False, server_default="0"),
)

documents = Table(
    "documents",
    metadata,
    Column("row", _Number, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("snapshot_sha256", Text, ForeignKey("snapshots.sha256"), nullable=False),
    Column("extractor", _Any, nullable=False),
    Column("url", _Any, nullable=False),
    Column("title", _Any, nullable=False),
    Column("name", _Any, nullable=False),
    Column("media_type", _Any, nullable=False),
    Column("syntax", _Any, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("fetched_at", _Any, nullable=False),
    Column("author", _Any, nullable=False),
    Column("published", _Any, nullable=False),
    Column("language", _Any, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("lookup", Text, nullable=False),  # name, URL and title as `store.common.lookup` folds them
    UniqueConstraint("sha256"),
    sqlite_autoincrement=True,  # a row number is never given twice
)

collections = Table(
    "collections",
    metadata,
    Column("number", _Number, primary_key=True),
    Column("name", _Any, nullable=False),
    Column("private", Integer, nullable=False, server_default="0"),
    UniqueConstraint("name"),
)

members = Table(
    "members",
    metadata,
    Column("collection", _Number, ForeignKey("collections.number"), primary_key=True),
    Column("document", _Number, ForeignKey("documents.row"), primary_key=True),
    sqlite_with_rowid=False,
)

origins = Table(
    "origins",
    metadata,
    Column("collection", _Number, ForeignKey("collections.number"), primary_key=True),
    Column("place", LargeBinary, primary_key=True),  # a path, as that of a file
    Column("kind", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("documents", JSON, nullable=False),
    Column("left_out", JSON, nullable=False),
    Column("synced_at", Text, nullable=False),
    sqlite_with_rowid=False,
)

files = Table(
    "files",
    metadata,
    Column("path", LargeBinary, primary_key=True),  # a file name need not be text
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("documents", JSON, nullable=False),
    Column("extractor", Text, nullable=False, server_default=""),
    Column("warnings", JSON, nullable=False, server_default="[]"),
)

# what was found out before

memos = Table(
    "memos",
    metadata,
    Column("key", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
