"""Fixtures that several tests of the server share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Served, served


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home) as server:
        yield server
