"""Whose turn it is to write: what a turn in PostgreSQL holds open."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
import pytest
from sqlalchemy import text

from assay.core.errors import SearchError
from assay.search.postgres import tables
from assay.search.postgres.tables import postgres_lock
from assay.search.shared_index import INDEX_WORK, VECTORS_WORK, SharedWork
from assay.store.sql.postgres import Postgres

WORK = SharedWork(name="the work of this test", lock=0x61737401, pause=0.01)
HELD = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = :lock AND granted")
SESSION = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")


def test_a_turn_holds_one_session_and_leaves_none_behind(new_database: Callable[[], str]) -> None:
    backend = Postgres(new_database())
    with backend.direct_engine().connect() as watching:
        with postgres_lock(backend.direct_engine(), WORK, print):
            assert watching.execute(HELD, {"lock": WORK.lock}).scalar_one() == 1
            pid = watching.execute(
                text("SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = :lock"), {"lock": WORK.lock}
            ).scalar_one()
        until = time.monotonic() + 120
        while watching.execute(SESSION, {"pid": pid}).scalar_one() and time.monotonic() < until:
            watching.rollback()  # what a transaction has seen of the sessions stays as it was
            time.sleep(0.02)
        watching.rollback()
        assert watching.execute(HELD, {"lock": WORK.lock}).scalar_one() == 0
        assert watching.execute(SESSION, {"pid": pid}).scalar_one() == 0


@pytest.mark.parametrize("work", [WORK, VECTORS_WORK, INDEX_WORK])
def test_libraries_in_two_schemas_of_one_database_do_not_wait_for_each_other(
    new_database: Callable[[], str], work: SharedWork
) -> None:
    here = msgspec.structs.replace(work, patience=0.1, pause=0.01)
    lines: list[str] = []
    one, other = (Postgres(new_database()).direct_engine() for _ in range(2))
    with postgres_lock(one, here, lines.append):
        with postgres_lock(other, here, lines.append):
            assert lines == []
        with pytest.raises(SearchError, match="another machine"), postgres_lock(one, here, lines.append):
            pass
    assert lines == [f"waiting for another process to finish {work.name}"]


def test_their_indexes_are_written_side_by_side(new_database: Callable[[], str]) -> None:
    one, other = (Postgres(new_database()).direct_engine() for _ in range(2))
    with (
        one.connect().execution_options(isolation_level="AUTOCOMMIT") as first,
        other.connect().execution_options(isolation_level="AUTOCOMMIT") as second,
        tables.try_indexing_lock(first, "search_1_x") as mine,
        tables.try_indexing_lock(second, "search_1_x") as theirs,
    ):
        assert (mine, theirs) == (True, True)
    with one.begin() as first, other.begin() as second:
        tables.lock_index(first, "search_1_x")
        second.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
        tables.lock_index(second, "search_1_x")
