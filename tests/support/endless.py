"""A writer who never comes to an end, so that a run's deadline passes while its report is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from assay.core.messages import Delta, Reply, Request
from assay.models.extractive import Extractive

SECONDS = 15.0
"""Until the deadline. Two fifths of it are the agents' for searching and reading, on a busy machine too."""


class Endless(Extractive):
    """The built-in model, which never comes to the end of a report."""

    async def stream(self, request: Request) -> AsyncGenerator[Delta | Reply, None]:
        if request.task == "write":
            await asyncio.sleep(600)
        async for each in super().stream(request):
            yield each
