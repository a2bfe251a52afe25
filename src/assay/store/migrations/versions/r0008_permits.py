"""Which release queued a run, and how many calls a service gets at once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Of runs which are queued already no release is known: any worker may take them up, as before."""
    op.add_column("queue", sa.Column("release", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "permits",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("service", sa.Text(), nullable=False),
        sa.Column("until", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_permits"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_permits_service", "permits", ["service"])
