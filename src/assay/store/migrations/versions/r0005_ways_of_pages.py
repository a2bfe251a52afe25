"""How a page was come by: its redirects and its status."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Of pages fetched before it is not known."""
    op.add_column("snapshots", sa.Column("redirects", sa.JSON(), nullable=False, server_default="[]"))
    op.add_column("snapshots", sa.Column("status", sa.Integer(), nullable=False, server_default="0"))
