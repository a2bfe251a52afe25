"""What each kind of job does. A new kind is a function here and a line in `KINDS`.

Each calls what the same command calls where it runs at once. All can be begun again at any moment: what was read,
embedded or deleted before is seen and left alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import msgspec

from assay import app
from assay.app import collections
from assay.app.assay import Assay
from assay.app.cited_texts import LONGEST
from assay.app.context import Context
from assay.app.jobs import ingestion, research
from assay.app.jobs.specifications import CrawlJob, EmbedJob, ExportJob, SyncJob, VerifyJob
from assay.app.research_report import format_of, replace_file
from assay.app.texts import text_of
from assay.core.claims import VERDICTS
from assay.evidence.monitor import ReadingMonitor
from assay.run.job_hand import Handler, JobInHand, Result


async def _crawl(context: Context, hand: JobInHand) -> Result:
    """Read the pages of a site."""
    wanted = hand.work(CrawlJob)
    done = await collections.crawl(context, wanted.url, wanted.collection, wanted.pages, wanted.depth, hand.tell)
    return {"documents": done.documents, "added": done.added, "warnings": list(done.warnings)}


async def _sync(context: Context, hand: JobInHand) -> Result:
    """Look again at all a collection was added from."""
    done = await collections.sync(context, hand.work(SyncJob).collection, hand.tell)
    return {
        "documents": done.documents,
        "added": done.added,
        "updated": done.updated,
        "removed": done.removed,
        "warnings": list(done.warnings),
    }


async def _embed(context: Context, hand: JobInHand) -> Result:
    """Make the vectors which are missing, or all of them anew."""
    built = await app.embeddings.embed(context, hand.tell, anew=hand.work(EmbedJob).anew)
    return msgspec.structs.asdict(built)


async def _index(context: Context, hand: JobInHand) -> Result:
    """Index what the library has and the index has not."""
    reading = ReadingMonitor(hand.tell, context.clock)
    try:
        await asyncio.to_thread(context.search.sync, reading.say)
    finally:
        reading.stop()
    return {}


async def _verify(context: Context, hand: JobInHand) -> Result:
    """Check a text as the command does: over the documents it names, with a library in memory."""
    wanted = hand.work(VerifyJob)
    file, output = Path(wanted.file), Path(wanted.output)
    text = await asyncio.to_thread(text_of, file, "the text", LONGEST)
    async with Assay(context.settings, models=context.own_models) as alone:
        found = await alone.verify(
            text,
            sources=wanted.paths,
            folder=file.parent,
            web=wanted.web,
            find=wanted.find,
            model=wanted.model,
            answers=context.home if wanted.model else None,
            allow_private=wanted.allow_private,
            max_usd=wanted.max_usd,
            max_tokens=wanted.max_tokens,
            progress=hand.tell,
        )
    await asyncio.to_thread(replace_file, output, msgspec.json.format(msgspec.json.encode(found)))
    counts: dict[str, int] = {verdict: many for verdict in VERDICTS if (many := getattr(found.summary, verdict))}
    return {**counts, "claims": found.summary.claims, "file": str(output), "warnings": list(found.warnings)}


async def _notices(context: Context, hand: JobInHand) -> Result:
    """Tell webhooks what is due."""
    return {"sent": await context.teller.once()}


async def _export(context: Context, hand: JobInHand) -> Result:
    """Write the report of a run to a file, in the format of its name."""
    wanted = hand.work(ExportJob)
    file = Path(wanted.file)
    made = await app.results.export(context, wanted.run, format_of(file), wanted.citations)
    await asyncio.to_thread(replace_file, file, made)
    return {"file": str(file), "bytes": len(made)}


async def _prune(context: Context, hand: JobInHand) -> Result:
    """Delete the runs which the settings do not keep, and what nobody refers to any more."""
    done = await app.retention.prune(context, None, dry_run=False)
    return {"runs": [row.run_id for row in done.runs]}


OwnedHandler = Callable[[Context, JobInHand], Awaitable[Result]]
"""Does a job as its owner knows the library."""
KINDS: Mapping[str, OwnedHandler] = {
    "add": ingestion.add,
    ingestion.PART_KIND: ingestion.files,
    "crawl": _crawl,
    "sync": _sync,
    "embed": _embed,
    "index": _index,
    "export": _export,
    "verify": _verify,
    "batch": research.batch,
    "due": research.due,
    "notices": _notices,
    "prune": _prune,
}


def handlers(context: Context) -> dict[str, Handler]:
    """What does each kind of job, over a library which knows all owners."""
    return {kind: _owned(context, handler) for kind, handler in KINDS.items()}


def _owned(context: Context, handler: OwnedHandler) -> Handler:
    async def done(hand: JobInHand) -> Result:
        return await handler(context.owned_by(hand.job.owner), hand)

    return done
