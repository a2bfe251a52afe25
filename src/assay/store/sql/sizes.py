"""How much each run takes in the database."""

from __future__ import annotations

from sqlalchemy import func, select

from assay.store.sql.database import Database
from assay.store.sql.tables import events, ledger, runs, steps


def sizes(database: Database) -> dict[str, int]:
    """Bytes of what is stored for each run, by its id: events, steps and ledger. Blocking.

    Raises:
        StoreError: the database cannot be read.
    """
    with database.read() as connection:
        briefs = connection.execute(select(runs.c.run_id, func.length(runs.c.brief)))
        found = {str(run_id): int(size) for run_id, size in briefs}
        for table in (events, steps, ledger):
            summed = select(runs.c.run_id, func.sum(func.length(table.c.data))).join(runs, runs.c.number == table.c.run)
            for run_id, size in connection.execute(summed.group_by(runs.c.run_id)):
                found[run_id] = found.get(run_id, 0) + int(size or 0)
    return found
