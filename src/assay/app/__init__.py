"""The composition root: settings in, a working engine out. The library's whole surface is the class `Assay`.

async with Assay(home="~/research") as assay:
    run = assay.start("What changed in 2.0?", sources=["docs/"])
    async for event in run:
        ...
    report = await run.report()
"""

from assay.app.assay import DEFAULT, Assay
from assay.app.handle import RunHandle
from assay.app.shortcuts import research, research_sync

__all__ = ["DEFAULT", "Assay", "RunHandle", "research", "research_sync"]
