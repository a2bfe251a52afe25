"""Reads documents of large places in parts, with all workers.

The job lists the files once and cuts the list into parts. A part names its files, so that whoever continues the job
need not list them again, whatever has changed in the place since; what comes later is for a sync. When all parts have
ended, the places are stored as a single reader would store them.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import UsageError
from assay.core.ports import ListedFile, Origin, SkippedFile
from assay.core.ports.jobs import JOB_ENDED, Job, JobFilter
from assay.run.job_worker import JobInHand, Result
from assay.services import collections, places
from assay.services.briefs import check_online
from assay.services.context import Context
from assay.services.jobs.specifications import AddJob, FilesJob
from assay.services.places import FILES, ListedPlace, connector_of

FILES_PER_PART = 200
"""Files of a part."""
PARTS_PER_BATCH, MAX_WAITING_PARTS = 100, 10_000
"""Parts that are stored together, and the most that wait: the listing is never too far ahead of the readers."""
PART_KIND = "files"
_NO_LIMIT = 1_000_000
LISTED, BESIDE, COPIES = "listed", "beside", "kept"
"""Notes of a job: that each of its files is in a part, the result of what was read beside the parts, and the copies
of places that were made to list them."""


async def add(context: Context, hand: JobInHand) -> Result:
    """Read places into a collection: here at once, or in parts if they have more files than one part."""
    wanted = hand.decoded_arguments(AddJob)
    if LISTED in hand.job.notes:
        try:
            await _read_parts(hand)
            return await _merge_parts(context, hand, wanted.collection)
        finally:
            await _delete_copies(context, hand.job.notes.get(COPIES, ()))
    split = bool(await hand.jobs.count(hand.job.id))
    asked = places.sort_places(wanted.paths)
    hand.set_progress("listing files")
    found, missing = await asyncio.to_thread(places.files_of, asked.paths)
    if missing and not any(found.values()) and not (asked.urls or asked.connected or split):
        raise UsageError("; ".join(missing.values()))
    every = [ListedPlace(place, "", tuple(map(ListedFile, files))) for place, files in found.items()]
    listed, others = await _list_places(context, hand, asked.connected)
    every += listed
    if not split and sum(len(each.files) for each in every) <= FILES_PER_PART:
        await _delete_copies(context, [each.place for each in listed])
        return _ingestion_result(
            await collections.add(context, list(wanted.paths), wanted.collection, hand.set_progress)
        )
    others = [*asked.urls, *others]
    try:
        if others and BESIDE not in hand.job.notes:  # what cannot be listed
            read = await collections.add(context, others, wanted.collection, hand.set_progress)
            hand.add_notes(**{BESIDE: _ingestion_result(read)})
            await hand.store_changes()
        await _queue_parts(hand, every)
        await _read_parts(hand)
        return await _merge_parts(context, hand, wanted.collection)
    finally:
        await _delete_copies(context, [each.place for each in listed])


async def unfinished_jobs(context: Context, collection: str) -> list[Job]:
    """The jobs that will add documents to a collection, without later turns of periodic ones."""
    if context.store.jobs is None:
        return []
    going = await context.store.jobs.list(JobFilter(states=frozenset(("waiting", "running")), limit=_NO_LIMIT))
    return [
        job
        for job in going
        if job.kind in ("add", "crawl")
        and job.arguments["collection"] == collection
        and not (job.every and job.due and not job.tries)
    ]


async def _delete_copies(context: Context, listed: Iterable[str]) -> None:
    """Delete fetched copies of places here."""
    for place in listed:
        await asyncio.to_thread(context.listed_places.forget, place)


async def _list_places(context: Context, hand: JobInHand, named: Sequence[str]) -> tuple[list[ListedPlace], list[str]]:
    """The places that connectors can list, as they were when this job first looked, and the others."""
    largest = int(context.settings.documents.max_file_mb * 1_000_000)
    kept: dict[str, str] = dict(hand.job.notes.get(COPIES, {}))
    found: list[ListedPlace] = []
    others: list[str] = []
    for place in named:
        connector = connector_of(place, context.allowed_hosts)
        if connector.reaches_out(place):
            check_online(context.settings)
        hand.set_progress(f"listing {place}")
        reached = (connector, place, kept.get(place, ""), context.clock, largest)
        try:
            listed = await asyncio.to_thread(context.listed_places.list_files, *reached)
        except asyncio.CancelledError:  # the thread would go on by itself
            context.listed_places.stop(place)
            raise
        if listed is None:
            others.append(place)
        else:
            found.append(listed)
            kept[place] = listed.kept
    if found:
        hand.add_notes(**{COPIES: kept})
        await hand.store_changes()
    return found, others


async def read_part(context: Context, hand: JobInHand) -> Result:
    """Read one part."""
    started = context.clock.monotonic()
    wanted, gone = hand.decoded_arguments(FilesJob), list[str]()
    if wanted.kept:
        connector = connector_of(wanted.place, context.allowed_hosts)
        if connector.reaches_out(wanted.place):
            check_online(context.settings)
        part = ListedPlace(wanted.place, wanted.kept, tuple(map(ListedFile, wanted.files, wanted.versions)))
        fetched = context.listed_places.read(connector, part, context.clock)
        try:
            done = await collections.read_listed(context, fetched, wanted.place, wanted.collection, hand.set_progress)
        except asyncio.CancelledError:
            context.listed_places.stop(wanted.place)
            raise
        left = await hand.jobs.count(hand.job.parent)
        if not left.get("waiting"):
            await _delete_copies(context, [wanted.place])
    else:
        here = await asyncio.to_thread(_existing_files, wanted)
        gone = [file for file in wanted.files if file not in here]
        done = await collections.read_files(context, here, wanted.collection, hand.set_progress)
    hand.add_notes(
        worker=hand.job.holder,
        parts=1,
        files=done.files,
        added=done.added,
        seconds=round(context.clock.monotonic() - started, 3),
    )
    return {
        "documents": list(done.documents),
        "skipped": [msgspec.structs.asdict(each) for each in done.skipped],
        "warnings": [*done.warnings, *(f"{file} was deleted before it was read" for file in gone)],
        "gone": gone,
        "added": done.added,
        "files": done.files,
    }


def _existing_files(wanted: FilesJob) -> list[str]:
    """The files of a part without those deleted since the listing; all of them if the place is not here."""
    found = [file for file in wanted.files if Path(file).exists()]
    return found if found or Path(wanted.place).exists() else list(wanted.files)


def _ingestion_result(done: collections.IngestResult) -> Result:
    return {
        "collection": done.collection,
        "documents": done.documents,
        "added": done.added,
        "files": done.files,
        "warnings": list(done.warnings),
    }


async def _queue_parts(hand: JobInHand, found: Sequence[ListedPlace]) -> None:
    """Cut files that are in no part yet into parts, and help to read if too many parts wait."""
    before = await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_NO_LIMIT))
    known = {(part.arguments["place"], file) for part in before for file in part.arguments["files"]}
    left = [_drop_assigned(each, known) for each in found]
    cut = _split_into_parts(hand.job, left, len(before))
    total = len(before) + sum(-(-len(each.files) // FILES_PER_PART) for each in left)
    while LISTED not in hand.job.notes:
        finished, waiting, _ = await _count_parts(hand)
        room = min(PARTS_PER_BATCH, MAX_WAITING_PARTS - waiting)
        if room <= 0:
            await hand.do_part_or_wait()
            continue
        new = list(itertools.islice(cut, room))
        if len(new) < room:
            hand.add_notes(**{LISTED: True})
        await hand.store_changes(new, finished=finished, total=total)


async def _read_parts(hand: JobInHand) -> None:
    """Help to read until all parts have ended."""
    while True:
        finished, _, every = await _count_parts(hand)
        if finished != hand.job.finished:
            hand.set_progress(f"{finished} of {every} parts read")
            await hand.store_changes(finished=finished)
        elif finished == every:
            return
        else:
            await hand.do_part_or_wait()


async def _count_parts(hand: JobInHand) -> tuple[int, int, int]:
    """How many parts have ended, how many wait, and how many there are."""
    counts = await hand.jobs.count(hand.job.id)
    finished = sum(many for state, many in counts.items() if state in JOB_ENDED)
    return finished, counts.get("waiting", 0), sum(counts.values())


def _drop_assigned(place: ListedPlace, known: set[tuple[str, str]]) -> ListedPlace:
    """A place without the files that are in a part already."""
    return msgspec.structs.replace(place, files=tuple(f for f in place.files if (place.place, f.name) not in known))


def _split_into_parts(job: Job, left: Iterable[ListedPlace], number: int) -> Iterator[Job]:
    """Parts for these files; `number` is the first free one."""
    for each in left:
        for start in range(0, len(each.files), FILES_PER_PART):
            part = each.files[start : start + FILES_PER_PART]
            yield Job(
                id=f"{job.id}.{number}",
                kind=PART_KIND,
                name=f"{job.name}, part {number + 1}",
                parent=job.id,
                owner=job.owner,
                release=job.release,
                priority=job.priority,
                created_at=job.updated_at,
                updated_at=job.updated_at,
                arguments=_part_arguments(each, part, job.arguments["collection"]),
            )
            number += 1


def _part_arguments(place: ListedPlace, files: Sequence[ListedFile], collection: str) -> dict[str, Any]:
    named = {"place": place.place, "files": [file.name for file in files], "collection": collection}
    return {**named, "kept": place.kept, "versions": [file.version for file in files]} if place.kept else named


async def _merge_parts(context: Context, hand: JobInHand, collection: str) -> Result:
    """Store the places as they were read, and report the results of all parts.

    The documents are in the collection since they were read. So this step takes seconds with a million of them, and a
    worker that dies in it costs no more. Those of files that were deleted after a reading that was cut short are taken
    out again.

    Raises:
        UsageError: parts have failed; the rest is stored.
    """
    parts = (await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_NO_LIMIT)))[::-1]
    done = [part for part in parts if part.state == "done"]
    hand.set_progress("indexing")
    origins = _origins(done)
    gone = [file for part in done for file in part.result.get("gone", ())]
    await collections.drop_files(context, gone, collection, origins)
    await collections.store_and_index(context, collection, origins, hand.set_progress)
    failed = [part for part in parts if part.state != "done"]
    if failed:
        raise UsageError(
            f"{len(failed)} of {len(parts)} parts could not be read "
            f"({failed[0].id}: {failed[0].error or 'cancelled'}); to read them again: assay jobs retry {hand.job.id}"
        )
    documents = {sha for part in done for sha in part.result["documents"]}
    beside: Result = hand.job.notes.get(BESIDE, {})
    warnings = dict.fromkeys(itertools.chain(beside.get("warnings", ()), *(part.result["warnings"] for part in done)))
    return {
        "collection": collection,
        "documents": len(documents) + beside.get("documents", 0),
        "added": sum(part.result["added"] for part in done) + beside.get("added", 0),
        "files": sum(part.result["files"] for part in done) + beside.get("files", 0),
        "warnings": list(warnings)[:MOST_WARNINGS],
    }


MOST_WARNINGS = 1_000
"""Warnings stored with a job."""


def _origins(done: Sequence[Job]) -> list[Origin]:
    """The places, with the documents of their parts."""
    gave: dict[str, dict[str, None]] = {}
    skipped: dict[str, list[SkippedFile]] = {}
    kinds: dict[str, str] = {}
    for part in done:
        place = part.arguments["place"]
        kinds[place] = place.partition(":")[0] if part.arguments.get("kept") else FILES
        gave.setdefault(place, {}).update(dict.fromkeys(part.result["documents"]))
        skipped.setdefault(place, []).extend(SkippedFile(**each) for each in part.result["skipped"])
    return [
        Origin(
            place=place,
            kind=kinds[place],
            documents=tuple(each),
            skipped=tuple(skipped[place])[: places.MOST_SKIPPED],
        )
        for place, each in gave.items()
    ]


class WorkerFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one worker on a job: parts, files, documents new to the library, and the seconds it took."""

    worker: str
    parts: int
    files: int
    added: int
    seconds: float


def figures_by_worker(noted: Iterable[Mapping[str, Any]]) -> list[WorkerFigures]:
    """The figures of each worker, from the notes of completed parts."""
    sums: dict[str, WorkerFigures] = {}
    for each in noted:
        one = msgspec.convert(each, WorkerFigures)
        before = sums.get(one.worker, WorkerFigures(worker=one.worker, parts=0, files=0, added=0, seconds=0.0))
        sums[one.worker] = WorkerFigures(
            worker=one.worker,
            parts=before.parts + one.parts,
            files=before.files + one.files,
            added=before.added + one.added,
            seconds=round(before.seconds + one.seconds, 3),
        )
    return [sums[name] for name in sorted(sums)]
