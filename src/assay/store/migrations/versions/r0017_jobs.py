"""Jobs: long work beside runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.store.sql.schema import AnyText, Number

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """There are none yet."""
    op.create_table(
        "jobs",
        sa.Column("number", Number, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", AnyText, nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("parent", sa.Text(), nullable=False),
        sa.Column("release", sa.Text(), nullable=False),
        sa.Column("arguments", sa.JSON(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("created_at", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("line", AnyText, nullable=False),
        sa.Column("finished", sa.BigInteger(), nullable=False),
        sa.Column("total", sa.BigInteger(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("warnings", sa.JSON(), nullable=False),
        sa.Column("error", AnyText, nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("fence", sa.BigInteger(), nullable=False),
        sa.Column("stopping", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_jobs"),
        sa.UniqueConstraint("id", name="uq_jobs_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_jobs_state_due", "jobs", ["state", "due"])
    op.create_index("ix_jobs_parent_state", "jobs", ["parent", "state"])
    op.create_index("ix_jobs_owner_number", "jobs", ["owner", "number"])
