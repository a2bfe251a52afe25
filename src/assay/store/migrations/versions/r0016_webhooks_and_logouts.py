"""Webhooks of one run alone; sessions which were begun at a provider can be ended there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """All webhooks which were added before are told of every run, all sessions end here alone."""
    op.add_column("webhooks", sa.Column("run", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_webhooks_run", "webhooks", ["run"])
    op.add_column("credentials", sa.Column("issuer", sa.Text(), nullable=False, server_default=""))
    op.add_column("credentials", sa.Column("id_token", sa.Text(), nullable=False, server_default=""))
