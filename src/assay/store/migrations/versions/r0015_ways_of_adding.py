"""Sites read and collections synced in the background, as files are."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """All which were begun before add what they name."""
    op.add_column("additions", sa.Column("kind", sa.Text(), nullable=False, server_default="add"))
    op.add_column("additions", sa.Column("options", sa.JSON(), nullable=False, server_default="{}"))
