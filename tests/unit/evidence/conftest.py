"""Fixtures that several tests of reading share."""

import pytest

from assay.core.ports.store import Store
from assay.store.memory import memory_store


@pytest.fixture
def store() -> Store:
    return memory_store()
