"""What each kind of job does. A new kind is a function here and a line in `KINDS`.

Each calls what the same command calls where it runs at once. All can be begun again at any moment: what was read,
embedded or deleted before is seen and left alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from assay.core.ports.jobs import Job, JobFilter
from assay.evidence.monitor import ReadingMonitor
from assay.run.job_hand import Handler, JobInHand, Result
from assay.services import collections, results, retention
from assay.services.context import Context
from assay.services.jobs import ingestion, research
from assay.services.jobs.specifications import CrawlJob, EmbedJob, ExportJob, SyncJob, VerifyJob
from assay.services.research_report import format_of, replace_file


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
    """Make the vectors which are missing, or all of them anew: who goes on with that does not begin again."""

    def told(line: str) -> None:
        hand.note(cleared=True)  # nothing is told before that is done
        hand.tell(line)

    anew = hand.work(EmbedJob).anew and not hand.job.notes.get("cleared")
    return await context.wiring.embed(context, told, anew=anew)


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
    return await context.wiring.verify(context, hand.work(VerifyJob), hand.tell)


async def _notices(context: Context, hand: JobInHand) -> Result:
    """Tell webhooks what is due."""
    return {"sent": await context.teller.once()}


async def _export(context: Context, hand: JobInHand) -> Result:
    """Write the report of a run to a file, in the format of its name."""
    wanted = hand.work(ExportJob)
    file = Path(wanted.file)
    made = await results.export(context, wanted.run, format_of(file), wanted.citations)
    await asyncio.to_thread(replace_file, file, made)
    return {"file": str(file), "bytes": len(made)}


async def _prune(context: Context, hand: JobInHand) -> Result:
    """Delete the runs which the settings do not keep, and what nobody refers to any more."""
    done = await retention.prune(context, None, dry_run=False)
    return {"runs": [row.run_id for row in done.runs]}


async def _with_vectors(context: Context, hand: JobInHand, done: Result) -> Result:
    """What came of reading documents; where an embedder is named, a job of its own makes their vectors.

    One which waits already makes these too. Its id is made of this job's: whoever does this again begins no second one.
    """
    if not context.settings.embedder.model:
        return done
    waiting = await hand.jobs.list(JobFilter(states=frozenset(("waiting",)), limit=MOST_LOOKED_AT))
    before = next((each.id for each in waiting if each.kind == "embed" and not each.every), "")
    job, now = hand.job, context.clock.now()
    made = Job(
        id=before or f"{job.id}-vectors",
        kind="embed",
        name=EmbedJob().title,
        owner=job.owner,
        release=job.release,
        priority=job.priority,
        created_at=now,
        updated_at=now,
    )
    await hand.jobs.put([made])
    return {**done, "vectors": made.id}


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


INTAKE = (ingestion.add, _crawl, _sync)
"""What brings documents; their vectors are made afterwards."""
MOST_LOOKED_AT = 1_000


def handlers(context: Context) -> dict[str, Handler]:
    """What does each kind of job, over a library which knows all owners."""
    return {kind: _owned(context, handler) for kind, handler in KINDS.items()}


def _owned(context: Context, handler: OwnedHandler) -> Handler:
    async def done(hand: JobInHand) -> Result:
        own = context.owned_by(hand.job.owner)
        came = await handler(own, hand)
        return await _with_vectors(own, hand, came) if handler in INTAKE else came

    return done
