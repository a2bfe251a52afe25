"""Whose turn it is to write: what a turn in PostgreSQL holds open."""

from __future__ import annotations

import time
from collections.abc import Callable

from sqlalchemy import text

from assay.search.turns import SharedWork, postgres_turn
from assay.store.sql.postgres import Postgres

WORK = SharedWork(name="the work of this test", lock=0x61737401, pause=0.01)
HELD = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = :lock AND granted")
SESSION = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")


def test_a_turn_holds_one_session_and_leaves_none_behind(new_database: Callable[[], str]) -> None:
    backend = Postgres(new_database())
    with backend.unpooled().connect() as watching:
        with postgres_turn(backend.unpooled(), WORK, print):
            assert watching.execute(HELD, {"lock": WORK.lock}).scalar_one() == 1
            pid = watching.execute(
                text("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = :lock"), {"lock": WORK.lock}
            ).scalar_one()
        until = time.monotonic() + 10
        while watching.execute(SESSION, {"pid": pid}).scalar_one() and time.monotonic() < until:
            watching.rollback()  # what a transaction has seen of the sessions stays as it was
            time.sleep(0.02)
        watching.rollback()
        assert watching.execute(HELD, {"lock": WORK.lock}).scalar_one() == 0
        assert watching.execute(SESSION, {"pid": pid}).scalar_one() == 0
