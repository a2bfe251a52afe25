"""One question, one call."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from assay.app.assay import Assay
from assay.core.errors import EventLoopError
from assay.services.arguments import ProgressLog, Sources, checked_keywords
from assay.settings import Settings

if TYPE_CHECKING:
    from assay.core.run_options import RunOptions
    from assay.services.results import ResearchReport


@checked_keywords("assay.core.run_options:RunOptions")
async def research(
    question: str,
    *,
    sources: Sources | None = None,
    home: str | Path | None = None,
    settings: Settings | None = None,
    progress: ProgressLog | None = None,
    **options: Unpack[RunOptions],
) -> ResearchReport:
    """Research one question and return the report; without `home` in memory. See `Assay.start` for the options.

    Raises:
        UnknownOption: there is no such option; the message suggests the nearest.
        AssayError: the run failed, or its input is wrong.
    """
    async with Assay(settings, home=home) as assay:
        return await assay.start(question, sources=sources, progress=progress, **options).report()


@checked_keywords("assay.core.run_options:RunOptions")
def research_sync(
    question: str,
    *,
    sources: Sources | None = None,
    home: str | Path | None = None,
    settings: Settings | None = None,
    progress: ProgressLog | None = None,
    **options: Unpack[RunOptions],
) -> ResearchReport:
    """Do `research`, blocking, for scripts without an event loop.

    Raises:
        EventLoopError: called inside a running event loop, as in notebooks.
        UnknownOption, AssayError: as `research`.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(
            research(question, sources=sources, home=home, settings=settings, progress=progress, **options)
        )
    raise EventLoopError(
        "research_sync cannot be called while an event loop is running, as in a notebook: write "
        "`await assay.research(…)` there"
    )
