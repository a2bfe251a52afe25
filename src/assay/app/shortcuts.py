"""One question, one call."""

from __future__ import annotations

import asyncio
from typing import Any

from assay.app.assay import Assay, Sources
from assay.core.report import Report


async def research(question: str, *, sources: Sources | None = None, **options: Any) -> Report:
    """Research one question, in memory, and give its report; see `Assay.start` for the options.

    Raises:
        AssayError: the run failed, or its input is wrong.
    """
    async with Assay(options.pop("settings", None), home=options.pop("home", None)) as assay:
        return await assay.start(question, sources=sources, **options).report()


def research_sync(question: str, *, sources: Sources | None = None, **options: Any) -> Report:
    """`research`, blocking; for scripts without an event loop.

    Raises:
        RuntimeError: called inside a running event loop; use `await assay.research(...)` there.
        AssayError: as `research`.
    """
    return asyncio.run(research(question, sources=sources, **options))
