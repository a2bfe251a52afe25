"""Collections: where they were added from, and whether they are private."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Of collections made before nothing of that is known."""
    op.add_column("collections", sa.Column("private", sa.Integer(), nullable=False, server_default="0"))
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "origins",
        sa.Column("collection", number, nullable=False),
        sa.Column("place", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=False),
        sa.Column("synced_at", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["collection"], ["collections.number"], name="fk_origins_collection"),
        sa.PrimaryKeyConstraint("collection", "place", name="pk_origins"),
        sqlite_with_rowid=False,
    )
