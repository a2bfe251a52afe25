"""Alembic, which upgrades an older database to this release's schema. Imported only if one is older.

A new migration is a file `versions/r0002_what.py` with `revision`, `down_revision` and `upgrade`; then change
`store/sql/tables.py` to match and move its `HEAD`. There is no downgrade: an older release refuses a newer database.
"""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, select

from assay.core.errors import StoreError
from assay.store.sql.tables import HEAD, version


def config() -> Config:
    """Alembic's configuration: the scripts in the package."""
    made = Config()
    folder = str(Path(__file__).parent)
    made.set_main_option("script_location", folder.replace("%", "%%"))
    return made


def revisions() -> set[str]:
    """The schema versions that this release knows."""
    return {script.revision for script in ScriptDirectory.from_config(config()).walk_revisions()}


def upgrade(connection: Connection, place: str) -> None:
    """Upgrade the database behind `connection`, inside its transaction.

    Raises:
        StoreError: it was written by a newer release.
    """
    stored = connection.execute(select(version.c.version_num)).scalar()
    if stored is not None and stored not in revisions():
        raise StoreError(
            f"{place} was written by a newer Assay (schema {stored}, this release knows {HEAD}): "
            "update Assay, or name another home"
        )
    settings = config()
    settings.attributes["connection"] = connection
    command.upgrade(settings, "head")
