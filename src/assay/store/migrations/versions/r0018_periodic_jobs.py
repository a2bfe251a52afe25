"""Periodic jobs: seconds between two of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Jobs so far are done once."""
    with op.batch_alter_table("jobs") as table:
        table.add_column(sa.Column("every", sa.BigInteger(), nullable=False, server_default="0"))
