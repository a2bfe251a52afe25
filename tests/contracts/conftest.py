"""The stores every contract suite runs over; each is opened twice, as two processes would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from runtime import Journals

from assay.core.ports import Journal
from assay.core.ports.jobs import Jobs
from assay.core.ports.store import Store
from assay.store.memory import memory_store
from assay.store.sql import open_store


class Wall:
    """A wall clock the test moves."""

    def __init__(self) -> None:
        self.seconds = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@dataclass
class Stores:
    """One home, opened twice (the memory store is only ever one)."""

    one: Store
    two: Store
    wall: Wall


def _memory(home: Path, wall: Wall, request: pytest.FixtureRequest) -> tuple[Store, Store]:
    store = memory_store(wall)
    return store, store


def _sqlite(home: Path, wall: Wall, request: pytest.FixtureRequest) -> tuple[Store, Store]:
    return open_store(home, wall), open_store(home, wall)


def _postgres(home: Path, wall: Wall, request: pytest.FixtureRequest) -> tuple[Store, Store]:
    url = request.getfixturevalue("new_database")()
    return open_store(home, wall, database=url), open_store(home, wall, database=url)


OPENED = {"memory": _memory, "sqlite": _sqlite, "postgres": _postgres}


@pytest.fixture(params=list(OPENED))
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    wall = Wall()
    one, two = OPENED[request.param](tmp_path, wall, request)
    yield Stores(one, two, wall)
    asyncio.run(one.close())
    asyncio.run(two.close())


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def journals(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Journals]:
    database = request.getfixturevalue("new_database")() if request.param == "postgres" else ""
    journals = Journals(request.param, tmp_path, database)
    yield journals
    await journals.close()


@pytest.fixture
def journal(stores) -> Journal:
    return stores.one.journal


@pytest.fixture
def other(stores) -> Journal:
    return stores.two.journal


@pytest.fixture
def jobs(stores) -> Jobs:
    return stores.one.jobs
