"""What the operation of a server needs: runs counted by status, token buckets, an audit log, webhooks, limits."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.store.sql.schema import EscapedText

revision = "0011"
down_revision = "0010"

_NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ANY = sa.Text().with_variant(EscapedText(), "postgresql")


def upgrade() -> None:
    """Runs are counted whenever numbers are asked for: by an index, not by reading them."""
    op.create_index("ix_runs_status", "runs", ["status"])
    op.create_table(
        "buckets",
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("rate", sa.Text(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("owner", "rate", name="pk_buckets"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit",
        sa.Column("number", _NUMBER, nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("actor", _ANY, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("subject", _ANY, nullable=False),
        sa.Column("via", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "limits",
        sa.Column("user_name", sa.Text(), nullable=False),
        sa.Column("given", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("user_name", name="pk_limits"),
        sqlite_with_rowid=False,
    )
    _make_webhooks()


def _make_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("disabled", sa.Text(), nullable=False),
        sa.Column("after", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_webhooks_owner", "webhooks", ["owner"])
    op.create_table(
        "heard",
        sa.Column("run", _NUMBER, nullable=False, autoincrement=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["run"], ["runs.number"], name="fk_heard_run"),
        sa.PrimaryKeyConstraint("run", name="pk_heard"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("webhook", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("due", sa.Float(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_deliveries_state_due", "deliveries", ["state", "due"])
    op.create_index("ix_deliveries_webhook", "deliveries", ["webhook"])
