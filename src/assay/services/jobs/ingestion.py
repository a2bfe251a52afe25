"""Documents of large places, read in parts by all workers.

The job lists the files and cuts the list into parts, a few ahead of those who read them. A part names its files, so
that whoever goes on with the job knows which are left, whatever has changed in the folder since. When all parts have
ended, the places are kept as one who reads them alone would keep them.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.core.errors import UsageError
from assay.core.ports import Origin, SkippedFile
from assay.core.ports.jobs import JOB_ENDED, Job, JobFilter
from assay.run.job_hand import JobInHand, Result
from assay.services import collections, places
from assay.services.context import Context
from assay.services.jobs.specifications import AddJob, FilesJob
from assay.services.places import FILES

PART = 200
"""Files of a part."""
AHEAD = 32
"""Parts which wait at most: what lists is never far ahead of what reads."""
PART_KIND = "files"
_EVERY = 1_000_000


async def add(context: Context, hand: JobInHand) -> Result:
    """Read places into a collection: here at once, or in parts where they hold more files than one part has."""
    wanted = hand.work(AddJob)
    named, collection = list(wanted.paths), wanted.collection
    asked = places.sorted_out(named)
    hand.tell("listing files")
    found, missing = await asyncio.to_thread(places.files_of, asked.paths)
    if missing and not any(found.values()) and not (asked.urls or asked.connected):
        raise UsageError("; ".join(missing.values()))
    if sum(map(len, found.values())) <= PART:
        return _whole(await collections.add(context, named, collection, hand.tell))
    others = [*asked.urls, *asked.connected]
    beside = _whole(await collections.add(context, others, collection, hand.tell)) if others else {}
    await _parts(context, hand, found)
    return await _joined(context, hand, collection, beside)


async def files(context: Context, hand: JobInHand) -> Result:
    """Read one part."""
    started = context.clock.monotonic()
    wanted = hand.work(FilesJob)
    done = await collections.read_files(context, wanted.files, wanted.collection, hand.tell)
    return {
        "documents": list(done.documents),
        "skipped": [msgspec.structs.asdict(each) for each in done.skipped],
        "warnings": list(done.warnings),
        "added": done.added,
        "files": done.files,
        "seconds": round(context.clock.monotonic() - started, 3),
        "worker": hand.job.holder,
    }


def _whole(done: collections.Ingested) -> Result:
    return {
        "collection": done.collection,
        "documents": done.documents,
        "added": done.added,
        "files": done.files,
        "warnings": list(done.warnings),
    }


async def _parts(context: Context, hand: JobInHand, found: Mapping[str, Sequence[str]]) -> None:
    """Cut what is not in a part yet, and read along until all parts have ended."""
    before = await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_EVERY))
    known = {file for part in before for file in part.arguments["files"]}
    left = _cut(context, hand.job, found, known, len(before))
    total = len(before) + sum(-(-len([file for file in each if file not in known]) // PART) for each in found.values())
    more = True
    while True:
        counts = await hand.jobs.count(hand.job.id)
        finished = sum(many for state, many in counts.items() if state in JOB_ENDED)
        if more:
            new = list(itertools.islice(left, max(AHEAD - counts.get("waiting", 0), 0)))
            more = bool(new) or counts.get("waiting", 0) >= AHEAD
            hand.tell(f"{finished} of {total} parts read")
            await hand.keep(new, finished=finished, total=total)
        elif finished != hand.job.finished:
            hand.tell(f"{finished} of {total} parts read")
            await hand.keep(finished=finished)
        elif finished == sum(counts.values()):
            return
        else:
            await hand.help()


def _cut(context: Context, job: Job, found: Mapping[str, Sequence[str]], known: set[str], number: int) -> Iterator[Job]:
    """Parts for the files which are in none; `number` is the first which is free."""
    now = context.clock.now()
    for place, each in found.items():
        left = [file for file in each if file not in known]
        for start in range(0, len(left), PART):
            part = left[start : start + PART]
            yield Job(
                id=f"{job.id}.{number}",
                kind=PART_KIND,
                name=f"{job.name}, part {number + 1}",
                parent=job.id,
                owner=job.owner,
                release=job.release,
                priority=job.priority,
                created_at=now,
                updated_at=now,
                arguments={"place": place, "files": part, "collection": job.arguments["collection"]},
            )
            number += 1


async def _joined(context: Context, hand: JobInHand, collection: str, beside: Result) -> Result:
    """Keep the places as they were read, and tell what came of all parts.

    Raises:
        UsageError: parts have failed; the rest is kept.
    """
    parts = (await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_EVERY)))[::-1]
    done = [part for part in parts if part.state == "done"]
    hand.tell("indexing")
    await collections.keep(context, collection, _origins(done), hand.tell)
    failed = [part for part in parts if part.state != "done"]
    if failed:
        raise UsageError(
            f"{len(failed)} of {len(parts)} parts could not be read "
            f"({failed[0].id}: {failed[0].error or 'cancelled'}); to read them again: assay jobs retry {hand.job.id}"
        )
    documents = {sha for part in done for sha in part.result["documents"]}
    warnings = dict.fromkeys(itertools.chain(beside.get("warnings", ()), *(part.result["warnings"] for part in done)))
    return {
        "collection": collection,
        "documents": len(documents) + beside.get("documents", 0),
        "added": sum(part.result["added"] for part in done) + beside.get("added", 0),
        "files": sum(part.result["files"] for part in done) + beside.get("files", 0),
        "warnings": list(warnings)[:MOST_WARNINGS],
        "workers": _by_worker(done),
    }


MOST_WARNINGS = 1_000
"""Warnings a job keeps."""


def _origins(done: Sequence[Job]) -> list[Origin]:
    """The places, with what their parts gave."""
    gave: dict[str, dict[str, None]] = {}
    skipped: dict[str, list[SkippedFile]] = {}
    for part in done:
        place = part.arguments["place"]
        gave.setdefault(place, {}).update(dict.fromkeys(part.result["documents"]))
        skipped.setdefault(place, []).extend(SkippedFile(**each) for each in part.result["skipped"])
    return [
        Origin(place=place, kind=FILES, documents=tuple(each), skipped=tuple(skipped[place])[: places.MOST_SKIPPED])
        for place, each in gave.items()
    ]


def _by_worker(done: Sequence[Job]) -> list[dict[str, Any]]:
    """What each worker read: parts, files, seconds."""
    sums: dict[str, dict[str, Any]] = {}
    for part in done:
        of = sums.setdefault(
            part.result["worker"], {"worker": part.result["worker"], "parts": 0, "files": 0, "seconds": 0.0}
        )
        of["parts"] += 1
        of["files"] += part.result["files"]
        of["seconds"] = round(of["seconds"] + part.result["seconds"], 3)
    return [sums[name] for name in sorted(sums)]
