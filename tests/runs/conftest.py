"""Fixtures that several tests of whole runs share."""

from collections.abc import AsyncIterator

import pytest
from local_web import LocalWeb
from web import site


@pytest.fixture
async def web() -> AsyncIterator[LocalWeb]:
    async with site() as there:
        yield LocalWeb(there)
