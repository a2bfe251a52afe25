"""Fixtures that several tests of the server share."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from oidc_provider import Running, provider
from serving import Served, served


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home) as server:
        yield server


@pytest.fixture(scope="module")
def idp() -> Iterator[Running]:
    """A login provider."""
    with provider() as running:
        yield running
