"""Which conversation a run is part of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Runs made before are in none."""
    op.add_column("runs", sa.Column("thread", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_runs_thread", "runs", ["thread"])
