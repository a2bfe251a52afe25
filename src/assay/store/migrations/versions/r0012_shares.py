"""Accounts of users at an OpenID provider, reports which are shared by a link, collections of runs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.store.common import collections_text
from assay.store.sql.schema import EscapedText

revision = "0012"
down_revision = "0011"

_TEXT = sa.Text().with_variant(EscapedText(), "postgresql")


def upgrade() -> None:
    """No user has such an account yet, and nothing is shared; what runs searched is in their briefs."""
    op.add_column("users", sa.Column("subject", sa.Text(), nullable=False, server_default=""))
    op.create_index("ix_users_subject", "users", ["subject"])
    op.create_table(
        "shares",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_shares"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_shares_run_id", "shares", ["run_id"])
    op.create_index("ix_shares_owner", "shares", ["owner"])
    op.add_column("runs", sa.Column("collections", _TEXT, nullable=False, server_default=""))
    _note_collections()


def _note_collections() -> None:
    """Which collections each run was to search, as its brief says."""
    runs = sa.table(
        "runs", sa.column("number", sa.BigInteger), sa.column("brief", sa.LargeBinary), sa.column("collections", _TEXT)
    )
    connection = op.get_bind()
    numbers = connection.execute(sa.select(runs.c.number)).scalars().all()
    for number in numbers:
        brief = connection.execute(sa.select(runs.c.brief).where(runs.c.number == number)).scalar_one()
        if named := collections_text(brief):
            connection.execute(runs.update().where(runs.c.number == number).values(collections=named))
