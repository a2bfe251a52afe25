"""What was found out before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Nothing is known yet."""
    op.create_table(
        "memos",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_memos"),
        sqlite_with_rowid=False,
    )
