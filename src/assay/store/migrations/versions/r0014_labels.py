"""Labels of runs, to be changed and looked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from assay.store.common import given_labels, labels_text
from assay.store.sql.schema import EscapedText

revision = "0014"
down_revision = "0013"

_TEXT = sa.Text().with_variant(EscapedText(), "postgresql")


def upgrade() -> None:
    """Each run has the labels it was begun with, as its brief says."""
    op.add_column("runs", sa.Column("labels", _TEXT, nullable=False, server_default=""))
    runs = sa.table(
        "runs", sa.column("number", sa.BigInteger), sa.column("brief", sa.LargeBinary), sa.column("labels", _TEXT)
    )
    connection = op.get_bind()
    for number in connection.execute(sa.select(runs.c.number)).scalars().all():
        brief = connection.execute(sa.select(runs.c.brief).where(runs.c.number == number)).scalar_one()
        if text := labels_text(given_labels(brief)):
            connection.execute(runs.update().where(runs.c.number == number).values(labels=text))
