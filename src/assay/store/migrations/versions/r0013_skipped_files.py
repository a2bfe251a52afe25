"""What was skipped where a collection was added from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Nothing is known of what was skipped before; the next sync says it."""
    op.add_column("origins", sa.Column("skipped", sa.JSON(), nullable=False, server_default="[]"))
