"""Which extractor read a file, and what was said about it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Files read before are read once more: no extractor is called ""."""
    op.add_column("files", sa.Column("extractor", sa.Text(), nullable=False, server_default=""))
    op.add_column("files", sa.Column("warnings", sa.JSON(), nullable=False, server_default="[]"))
