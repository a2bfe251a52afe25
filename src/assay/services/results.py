"""The results of a run for a reader: its report as a file, the passage behind a citation, its estimate."""

from __future__ import annotations

import asyncio

from assay import plugins
from assay.core.brief import Estimate
from assay.core.errors import UnknownName
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Exporter, Record
from assay.core.report import bibliography
from assay.core.view import fold
from assay.evidence.documents import CitedPassage, show
from assay.services import estimates, worlds
from assay.services.context import Context
from assay.services.stored_runs import events, view


async def estimate(context: Context, reference: str) -> Estimate:
    """Estimate the total cost of a run; see `Assay.estimate`."""
    found = await view(context, reference)
    return await estimates.of_run(context.store.journal, found, lambda brief: worlds.world(context, brief))


async def export(context: Context, reference: str, suffix: str, citations: CitationMode) -> bytes:
    """The report of a run as the bytes of a file; see `Assay.export`."""
    exporter: Exporter = plugins.load("exporters", suffix)
    return await asyncio.to_thread(exporter.render, await record(context, reference), citations)


async def record(context: Context, reference: str) -> Record:
    """A stored run, for export formats."""
    log = tuple(await events(context, reference))
    return Record(view=fold(log), log=log, library=context.store.library, blobs=context.store.blobs)


async def passage(context: Context, reference: str, number: int) -> list[CitedPassage]:
    """The passages behind a citation; see `Assay.passage`."""
    found = await view(context, reference)
    books = bibliography(found)
    known = {entry.number: entry.source for entry in books.entries if entry.number is not None}
    if number not in known:
        hint = "" if known else f"(the report of run {found.run_id} cites nothing)"
        raise UnknownName("citation", str(number), map(str, known), hint)
    cited = [each for each in books.cited if books.numbers[each.id] == number]
    library, reader, source = context.store.library, context.reader, known[number]
    return [await asyncio.to_thread(show, library, reader, found.claims, number, source, each) for each in cited]
