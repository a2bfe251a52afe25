"""Runs, their log and their ledger; documents and collections."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    _runs()
    _log()
    _accounts()
    _documents()
    _collections()


def _runs() -> None:
    """Runs and the messages left for them."""
    op.create_table(
        "runs",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("brief", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("control", sa.Text(), nullable=False),
        sa.Column("active_seconds", sa.Float(), nullable=False),
        sa.Column("last_seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_runs")),
        sa.UniqueConstraint("run_id", name=op.f("uq_runs_run_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "inbox",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("topic", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_inbox_run")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_inbox")),
    )
    op.create_index(op.f("ix_inbox_run_topic"), "inbox", ["run", "topic"])


def _log() -> None:
    """What happened, and what need not happen again."""
    op.create_table(
        "events",
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("at", sa.Text(), nullable=False),
        sa.Column("path", sa.JSON(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_events_run")),
        sa.PrimaryKeyConstraint("run", "seq", name=op.f("pk_events")),
        sa.UniqueConstraint("run", "key", name=op.f("uq_events_run_key")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "steps",
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("input_hash", sa.Text(), nullable=False),
        sa.Column("tag", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_steps_run")),
        sa.PrimaryKeyConstraint("run", "key", name=op.f("pk_steps")),
        sqlite_with_rowid=False,
    )


def _accounts() -> None:
    """What was spent, and what was seen."""
    op.create_table(
        "holds",
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("step", sa.Text(), nullable=False),
        sa.Column("account", sa.Text(), nullable=False),
        sa.Column("amount", sa.JSON(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_holds_run")),
        sa.PrimaryKeyConstraint("run", "step", name=op.f("pk_holds")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ledger",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("run", _NUMBER, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("lane", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name=op.f("fk_ledger_run")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_ledger")),
        sa.UniqueConstraint("run", "kind", "id", name=op.f("uq_ledger_run_kind_id")),
    )


def _documents() -> None:
    """Documents and what they were made from."""
    op.create_table(
        "snapshots",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", sa.Text(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "documents",
        sa.Column("row", _NUMBER, nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("snapshot_sha256", sa.Text(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("syntax", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("published", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("lookup", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["snapshot_sha256"], ["snapshots.sha256"], name=op.f("fk_documents_snapshot_sha256")),
        sa.PrimaryKeyConstraint("row", name=op.f("pk_documents")),
        sa.UniqueConstraint("sha256", name=op.f("uq_documents_sha256")),
        sqlite_autoincrement=True,
    )


def _collections() -> None:
    """Which documents belong together, and which files were read."""
    op.create_table(
        "collections",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_collections")),
        sa.UniqueConstraint("name", name=op.f("uq_collections_name")),
    )
    op.create_table(
        "members",
        sa.Column("collection", _NUMBER, nullable=False),
        sa.Column("document", _NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collections.number"], name=op.f("fk_members_collection")),
        sa.ForeignKeyConstraint(["document"], ["documents.row"], name=op.f("fk_members_document")),
        sa.PrimaryKeyConstraint("collection", "document", name=op.f("pk_members")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "files",
        sa.Column("path", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("path", name=op.f("pk_files")),
    )
