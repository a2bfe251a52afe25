"""The tables as this release defines them. `store/migrations` creates the same ones step by step."""

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
)

from assay.store.sql.schema import AnyText, Number
from assay.store.sql.schema import metadata as metadata
from assay.store.sql.server_tables import audit as audit
from assay.store.sql.server_tables import buckets as buckets
from assay.store.sql.server_tables import credentials as credentials
from assay.store.sql.server_tables import deliveries as deliveries
from assay.store.sql.server_tables import heard as heard
from assay.store.sql.server_tables import jobs as jobs
from assay.store.sql.server_tables import limits as limits
from assay.store.sql.server_tables import shares as shares
from assay.store.sql.server_tables import users as users
from assay.store.sql.server_tables import webhooks as webhooks

HEAD = "0018"
"""The last migration. A database at this version is opened without loading Alembic."""

version = Table("assay_schema", metadata, Column("version_num", Text, primary_key=True))

# runs

runs = Table(
    "runs",
    metadata,
    Column("number", Number, primary_key=True),
    Column("run_id", AnyText, nullable=False),
    Column("question", AnyText, nullable=False),
    Column("brief", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("holder", Text, nullable=False),
    Column("lease_until", Float, nullable=False),
    Column("fence", BigInteger, nullable=False),
    Column("control", Text, nullable=False),
    Column("active_seconds", Float, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("thread", AnyText, nullable=False, server_default=""),
    Column("owner", Text, nullable=False, server_default=""),
    Column("lookup", Text, nullable=False, server_default=""),  # the question as `store.common.fold` folds it
    Column("collections", AnyText, nullable=False, server_default=""),  # what it searches (`store.common.searched`)
    Column("labels", AnyText, nullable=False, server_default=""),  # in the form of `store.common`
    UniqueConstraint("run_id"),
    Index(None, "thread"),
    Index(None, "owner", "number"),
    Index(None, "status"),
    sqlite_autoincrement=True,
)

events = Table(
    "events",
    metadata,
    Column("run", Number, ForeignKey("runs.number"), primary_key=True),
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
    Column("run", Number, ForeignKey("runs.number"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("input_hash", Text, nullable=False),
    Column("tag", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

holds = Table(
    "holds",
    metadata,
    Column("run", Number, ForeignKey("runs.number"), primary_key=True),
    Column("step", Text, primary_key=True),
    Column("account", Text, nullable=False),
    Column("amount", JSON, nullable=False),
    Column("state", Text, nullable=False),
    sqlite_with_rowid=False,  # small rows, one tree instead of two
)

ledger = Table(
    "ledger",
    metadata,
    Column("number", Number, primary_key=True),
    Column("run", Number, ForeignKey("runs.number"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("id", Text, nullable=False),
    Column("lane", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    UniqueConstraint("run", "kind", "id"),
)

inbox = Table(
    "inbox",
    metadata,
    Column("number", Number, primary_key=True),
    Column("run", Number, ForeignKey("runs.number"), nullable=False),
    Column("topic", Text, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Index(None, "run", "topic"),
)

threads = Table(
    "threads",
    metadata,
    Column("number", Number, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("title", AnyText, nullable=False, server_default=""),
    Column("owner", Text, nullable=False, server_default=""),
    Column("lookup", Text, nullable=False, server_default=""),  # the title, folded
    UniqueConstraint("owner", "name"),
    sqlite_autoincrement=True,
)

# the library

queue = Table(
    "queue",
    metadata,
    Column("run", Number, ForeignKey("runs.number"), primary_key=True, autoincrement=False),
    Column("owner", AnyText, nullable=False),  # `user` is a reserved word in SQL
    Column("priority", Integer, nullable=False),
    Column("ready", Integer, nullable=False),
    Column("taken", Integer, nullable=False),
    Column("release", AnyText, nullable=False, server_default=""),
)

permits = Table(
    "permits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("service", AnyText, nullable=False),
    Column("until", Float, nullable=False),
    Index(None, "service"),
    sqlite_with_rowid=False,
)

snapshots = Table(
    "snapshots",
    metadata,
    Column("sha256", Text, primary_key=True),
    Column("url", AnyText, nullable=False),
    Column("media_type", AnyText, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("fetched_at", AnyText, nullable=False),
    Column("headers", JSON, nullable=False),
    Column("redirects", JSON, nullable=False, server_default="[]"),
    Column("status", Integer, nullable=False, server_default="0"),
    Column("owner", Text, primary_key=True, server_default=""),
)

documents = Table(
    "documents",
    metadata,
    Column("row", Number, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("snapshot_sha256", Text, nullable=False),
    Column("extractor", AnyText, nullable=False),
    Column("url", AnyText, nullable=False),
    Column("title", AnyText, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("media_type", AnyText, nullable=False),
    Column("syntax", AnyText, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("fetched_at", AnyText, nullable=False),
    Column("author", AnyText, nullable=False),
    Column("published", AnyText, nullable=False),
    Column("language", AnyText, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("lookup", Text, nullable=False),  # name, URL and title as `store.common.lookup` folds them
    Column("owner", Text, nullable=False, server_default=""),
    ForeignKeyConstraint(["snapshot_sha256", "owner"], ["snapshots.sha256", "snapshots.owner"]),
    UniqueConstraint("sha256", "owner"),
    Index(None, "snapshot_sha256", "owner"),
    sqlite_autoincrement=True,  # a row number is never reused
)

collections = Table(
    "collections",
    metadata,
    Column("number", Number, primary_key=True),
    Column("name", AnyText, nullable=False),
    Column("private", Integer, nullable=False, server_default="0"),
    Column("owner", Text, nullable=False, server_default=""),
    Column("open", Integer, nullable=False, server_default="0"),  # everybody may read it
    UniqueConstraint("owner", "name"),
)

readers = Table(
    "readers",
    metadata,
    Column("collection", Number, ForeignKey("collections.number"), primary_key=True),
    Column("reader", Text, primary_key=True),
    sqlite_with_rowid=False,
)

members = Table(
    "members",
    metadata,
    Column("collection", Number, ForeignKey("collections.number"), primary_key=True),
    Column("document", Number, ForeignKey("documents.row"), primary_key=True),
    sqlite_with_rowid=False,
)

origins = Table(
    "origins",
    metadata,
    Column("collection", Number, ForeignKey("collections.number"), primary_key=True),
    Column("place", LargeBinary, primary_key=True),  # a path, as bytes like that of a file
    Column("kind", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("documents", JSON, nullable=False),
    Column("left_out", JSON, nullable=False),
    Column("synced_at", Text, nullable=False),
    Column("skipped", JSON, nullable=False, server_default="[]"),
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
    Column("owner", Text, primary_key=True, server_default=""),
)

additions = Table(
    "additions",
    metadata,
    Column("number", Number, primary_key=True),
    Column("id", Text, nullable=False),
    Column("collection", AnyText, nullable=False),
    Column("name", AnyText, nullable=False),
    Column("sources", JSON, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("line", AnyText, nullable=False),
    Column("documents", BigInteger, nullable=False),
    Column("added", BigInteger, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("error", AnyText, nullable=False),
    Column("holder", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("kind", Text, nullable=False, server_default="add"),
    Column("options", JSON, nullable=False, server_default="{}"),
    UniqueConstraint("id"),
    Index(None, "owner", "number"),
)

# cached results

memos = Table(
    "memos",
    metadata,
    Column("key", Text, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
