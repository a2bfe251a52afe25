"""Whose runs, threads, collections and documents are, and who else may read a collection."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from assay.store.common import fold_text
from assay.store.sql.schema import EscapedText

revision = "0009"
down_revision = "0008"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_DOCUMENT = (
    *("row", "sha256", "snapshot_sha256", "extractor", "url", "title", "name", "media_type", "syntax", "size"),
    *("fetched_at", "author", "published", "language", "metadata", "lookup"),
)
_SNAPSHOT = ("sha256", "url", "media_type", "size", "fetched_at", "headers", "redirects", "status")
_COLLECTION = ("number", "name", "private")
_ORIGIN = ("collection", "place", "kind", "options", "documents", "left_out", "synced_at")
_FILE = ("path", "size", "mtime_ns", "documents", "extractor", "warnings")


def upgrade() -> None:
    """All there is belongs to the one local user, whose name is empty."""
    op.add_column("runs", _owner())
    op.create_index("ix_runs_owner_number", "runs", ["owner", "number"])
    op.add_column("runs", _lookup())
    _fold_questions()
    _threads()
    if op.get_context().dialect.name == "sqlite":
        _rebuild()
    else:
        _alter()
    op.create_index("ix_documents_snapshot_sha256_owner", "documents", ["snapshot_sha256", "owner"])
    op.create_table(
        "readers",
        sa.Column("collection", _NUMBER, nullable=False),
        sa.Column("reader", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collections.number"], name="fk_readers_collection"),
        sa.PrimaryKeyConstraint("collection", "reader", name="pk_readers"),
        sqlite_with_rowid=False,
    )
    _additions()


def _additions() -> None:
    """What is added in the background."""
    texts = ("id", "collection", "name", "created_at", "updated_at", "state", "line", "error", "holder", "owner")
    numbers = ("seq", "documents", "added")
    columns: dict[str, sa.Column[Any]] = {name: sa.Column(name, sa.Text(), nullable=False) for name in texts}
    columns |= {name: sa.Column(name, sa.BigInteger(), nullable=False) for name in numbers}
    columns |= {name: sa.Column(name, sa.JSON(), nullable=False) for name in ("sources", "warnings")}
    order = (
        *("id", "collection", "name", "sources", "created_at", "updated_at", "state", "seq", "line"),
        *("documents", "added", "warnings", "error", "holder", "owner"),
    )
    op.create_table(
        "additions",
        sa.Column("number", _NUMBER, nullable=False),
        *(columns[name] for name in order),
        sa.PrimaryKeyConstraint("number", name="pk_additions"),
        sa.UniqueConstraint("id", name="uq_additions_id"),
    )
    op.create_index("ix_additions_owner_number", "additions", ["owner", "number"])


def _owner() -> sa.Column[str]:
    return sa.Column("owner", sa.Text(), nullable=False, server_default="")


def _lookup() -> sa.Column[str]:
    return sa.Column("lookup", sa.Text(), nullable=False, server_default="")


def _fold_questions() -> None:
    """Questions are looked up as they are folded in code; no two databases fold alike."""
    runs = sa.table("runs", sa.column("number"), sa.column("question", EscapedText()), sa.column("lookup"))
    connection = op.get_bind()
    asked = connection.execute(sa.select(runs.c.number, runs.c.question)).all()
    changed = sa.update(runs).where(runs.c.number == sa.bindparam("of")).values(lookup=sa.bindparam("folded"))
    if asked:
        connection.execute(changed, [{"of": number, "folded": fold_text(question)} for number, question in asked])


def _open() -> sa.Column[int]:
    return sa.Column("open", sa.Integer(), nullable=False, server_default="0")


def _threads() -> None:
    op.create_table(
        "threads",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False, server_default=""),
        _owner(),
        _lookup(),
        sa.PrimaryKeyConstraint("number", name="pk_threads"),
        sa.UniqueConstraint("owner", "name", name="uq_threads_owner_name"),
        sqlite_autoincrement=True,
    )
    op.execute("UPDATE runs SET thread = run_id WHERE thread = '' AND run_id IN (SELECT thread FROM runs)")
    op.execute(
        "INSERT INTO threads (name, owner)"
        " SELECT thread, '' FROM runs WHERE thread <> '' GROUP BY thread ORDER BY min(number)"
    )


def _alter() -> None:
    """What PostgreSQL changes in place."""
    for table in ("snapshots", "documents", "collections", "files"):
        op.add_column(table, _owner())
    op.add_column("collections", _open())
    op.drop_constraint("fk_documents_snapshot_sha256", "documents", type_="foreignkey")
    op.drop_constraint("pk_snapshots", "snapshots", type_="primary")
    op.create_primary_key("pk_snapshots", "snapshots", ["sha256", "owner"])
    op.create_foreign_key(
        "fk_documents_snapshot_sha256_owner",
        "documents",
        "snapshots",
        ["snapshot_sha256", "owner"],
        ["sha256", "owner"],
    )
    op.drop_constraint("uq_documents_sha256", "documents", type_="unique")
    op.create_unique_constraint("uq_documents_sha256_owner", "documents", ["sha256", "owner"])
    op.drop_constraint("uq_collections_name", "collections", type_="unique")
    op.create_unique_constraint("uq_collections_owner_name", "collections", ["owner", "name"])
    op.drop_constraint("pk_files", "files", type_="primary")
    op.create_primary_key("pk_files", "files", ["path", "owner"])


def _rebuild() -> None:
    """SQLite drops no constraint: tables are copied, and those which refer to them too.

    New tables are filled before old ones go, those which refer first: no reference is ever without its row.
    """
    highest = op.get_bind().execute(sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'documents'")).scalar()
    _new_documents()
    _new_collections()
    _new_files()
    for table, columns in (
        ("snapshots", _SNAPSHOT),
        ("documents", _DOCUMENT),
        ("collections", _COLLECTION),
        ("members", ("collection", "document")),
        ("origins", _ORIGIN),
        ("files", _FILE),
    ):
        names = ", ".join(f'"{column}"' for column in columns)
        op.execute(f'INSERT INTO "new_{table}" ({names}) SELECT {names} FROM "{table}"')
    for table in ("members", "origins", "files", "collections", "documents", "snapshots"):
        op.drop_table(table)
    for table in ("snapshots", "documents", "collections", "members", "origins", "files"):
        op.rename_table(f"new_{table}", table)
    if highest is not None:  # a row number is never given twice, though its document be gone
        left = sa.text("DELETE FROM sqlite_sequence WHERE name = 'documents'")
        op.get_bind().execute(left)
        kept = sa.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('documents', :highest)")
        op.get_bind().execute(kept, {"highest": highest})


def _new_documents() -> None:
    texts = ("extractor", "url", "title", "name", "media_type", "syntax")
    more = ("fetched_at", "author", "published", "language")
    op.create_table(
        "new_snapshots",
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("fetched_at", sa.Text(), nullable=False),
        sa.Column("headers", sa.JSON(), nullable=False),
        sa.Column("redirects", sa.JSON(), nullable=False, server_default="[]"),
        sa.Column("status", sa.Integer(), nullable=False, server_default="0"),
        _owner(),
        sa.PrimaryKeyConstraint("sha256", "owner", name="pk_snapshots"),
    )
    op.create_table(
        "new_documents",
        sa.Column("row", _NUMBER, nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("snapshot_sha256", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in texts),
        sa.Column("size", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in more),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("lookup", sa.Text(), nullable=False),
        _owner(),
        sa.ForeignKeyConstraint(
            ["snapshot_sha256", "owner"],
            ["new_snapshots.sha256", "new_snapshots.owner"],
            name="fk_documents_snapshot_sha256_owner",
        ),
        sa.PrimaryKeyConstraint("row", name="pk_documents"),
        sa.UniqueConstraint("sha256", "owner", name="uq_documents_sha256_owner"),
        sqlite_autoincrement=True,
    )


def _new_collections() -> None:
    op.create_table(
        "new_collections",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("private", sa.Integer(), nullable=False, server_default="0"),
        _owner(),
        _open(),
        sa.PrimaryKeyConstraint("number", name="pk_collections"),
        sa.UniqueConstraint("owner", "name", name="uq_collections_owner_name"),
    )
    op.create_table(
        "new_members",
        sa.Column("collection", _NUMBER, nullable=False),
        sa.Column("document", _NUMBER, nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["new_collections.number"], name="fk_members_collection"),
        sa.ForeignKeyConstraint(["document"], ["new_documents.row"], name="fk_members_document"),
        sa.PrimaryKeyConstraint("collection", "document", name="pk_members"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "new_origins",
        sa.Column("collection", _NUMBER, nullable=False),
        sa.Column("place", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=False),
        sa.Column("synced_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["new_collections.number"], name="fk_origins_collection"),
        sa.PrimaryKeyConstraint("collection", "place", name="pk_origins"),
        sqlite_with_rowid=False,
    )


def _new_files() -> None:
    op.create_table(
        "new_files",
        sa.Column("path", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("extractor", sa.Text(), nullable=False, server_default=""),
        sa.Column("warnings", sa.JSON(), nullable=False, server_default="[]"),
        _owner(),
        sa.PrimaryKeyConstraint("path", "owner", name="pk_files"),
    )
