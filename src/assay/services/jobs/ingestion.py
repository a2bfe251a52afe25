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
    arguments = hand.decoded_arguments(AddJob)
    if LISTED in hand.job.notes:
        try:
            await _read_parts(hand)
            return await _merge_parts(context, hand, arguments.collection)
        finally:
            await _delete_copies(context, hand.job.notes.get(COPIES, ()))
    split = bool(await hand.jobs.count(hand.job.id))
    input_places = places.sort_places(arguments.paths)
    hand.set_progress("listing files")
    files_by_place, missing = await asyncio.to_thread(places.files_of, input_places.paths)
    if (
        missing
        and not any(files_by_place.values())
        and not (input_places.urls or input_places.connector_places or split)
    ):
        raise UsageError("; ".join(missing.values()))
    every = [ListedPlace(place, "", tuple(map(ListedFile, files))) for place, files in files_by_place.items()]
    listed_places, unlisted = await _list_places(context, hand, input_places.connector_places)
    every += listed_places
    if not split and sum(len(listed_place.files) for listed_place in every) <= FILES_PER_PART:
        await _delete_copies(context, [listed_place.place for listed_place in listed_places])
        return _ingestion_result(
            await collections.add(context, list(arguments.paths), arguments.collection, hand.set_progress)
        )
    unlisted = [*input_places.urls, *unlisted]
    try:
        if unlisted and BESIDE not in hand.job.notes:  # what cannot be listed
            result = await collections.add(context, unlisted, arguments.collection, hand.set_progress)
            hand.add_notes(**{BESIDE: _ingestion_result(result)})
            await hand.store_changes()
        await _queue_parts(hand, every)
        await _read_parts(hand)
        return await _merge_parts(context, hand, arguments.collection)
    finally:
        await _delete_copies(context, [listed_place.place for listed_place in listed_places])


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


async def _delete_copies(context: Context, place_names: Iterable[str]) -> None:
    """Delete fetched copies of places here."""
    for place in place_names:
        await asyncio.to_thread(context.listed_places.forget, place)


async def _list_places(
    context: Context, hand: JobInHand, place_names: Sequence[str]
) -> tuple[list[ListedPlace], list[str]]:
    """The places that connectors can list, as they were when this job first looked, and the others."""
    largest = int(context.settings.documents.max_file_mb * 1_000_000)
    pinned_places: dict[str, str] = dict(hand.job.notes.get(COPIES, {}))
    listed_places: list[ListedPlace] = []
    unlisted: list[str] = []
    for place in place_names:
        connector = connector_of(place, context.allowed_hosts)
        if connector.reaches_out(place):
            check_online(context.settings)
        hand.set_progress(f"listing {place}")
        list_arguments = (connector, place, pinned_places.get(place, ""), context.clock, largest)
        try:
            listed_place = await asyncio.to_thread(context.listed_places.list_files, *list_arguments)
        except asyncio.CancelledError:  # the thread would go on by itself
            context.listed_places.stop(place)
            raise
        if listed_place is None:
            unlisted.append(place)
        else:
            listed_places.append(listed_place)
            pinned_places[place] = listed_place.pinned_place
    if listed_places:
        hand.add_notes(**{COPIES: pinned_places})
        await hand.store_changes()
    return listed_places, unlisted


async def read_part(context: Context, hand: JobInHand) -> Result:
    """Read one part."""
    start = context.clock.monotonic()
    arguments, missing = hand.decoded_arguments(FilesJob), list[str]()
    if arguments.kept:
        connector = connector_of(arguments.place, context.allowed_hosts)
        if connector.reaches_out(arguments.place):
            check_online(context.settings)
        part = ListedPlace(arguments.place, arguments.kept, tuple(map(ListedFile, arguments.files, arguments.versions)))
        fetched = context.listed_places.read(connector, part, context.clock)
        try:
            result = await collections.read_listed(
                context, fetched, arguments.place, arguments.collection, hand.set_progress
            )
        except asyncio.CancelledError:
            context.listed_places.stop(arguments.place)
            raise
        counts = await hand.jobs.count(hand.job.parent)
        if not counts.get("waiting"):
            await _delete_copies(context, [arguments.place])
    else:
        existing = await asyncio.to_thread(_existing_files, arguments)
        missing = [file for file in arguments.files if file not in existing]
        result = await collections.read_files(context, existing, arguments.collection, hand.set_progress)
    hand.add_notes(
        worker=hand.job.holder,
        parts=1,
        files=result.files,
        added=result.added,
        seconds=round(context.clock.monotonic() - start, 3),
    )
    return {
        "documents": list(result.documents),
        "skipped": [msgspec.structs.asdict(skipped_file) for skipped_file in result.skipped],
        "warnings": [*result.warnings, *(f"{file} was deleted before it was read" for file in missing)],
        "gone": missing,
        "added": result.added,
        "files": result.files,
    }


def _existing_files(arguments: FilesJob) -> list[str]:
    """The files of a part without those deleted since the listing; all of them if the place is not here."""
    existing = [file for file in arguments.files if Path(file).exists()]
    return existing if existing or Path(arguments.place).exists() else list(arguments.files)


def _ingestion_result(result: collections.IngestResult) -> Result:
    return {
        "collection": result.collection,
        "documents": result.documents,
        "added": result.added,
        "files": result.files,
        "warnings": list(result.warnings),
    }


async def _queue_parts(hand: JobInHand, listed_places: Sequence[ListedPlace]) -> None:
    """Cut files that are in no part yet into parts, and help to read if too many parts wait."""
    before = await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_NO_LIMIT))
    assigned = {(part.arguments["place"], file) for part in before for file in part.arguments["files"]}
    unassigned = [_drop_assigned(listed_place, assigned) for listed_place in listed_places]
    new_parts = _split_into_parts(hand.job, unassigned, len(before))
    total = len(before) + sum(-(-len(listed_place.files) // FILES_PER_PART) for listed_place in unassigned)
    while LISTED not in hand.job.notes:
        finished, waiting, _ = await _count_parts(hand)
        room = min(PARTS_PER_BATCH, MAX_WAITING_PARTS - waiting)
        if room <= 0:
            await hand.do_part_or_wait()
            continue
        new = list(itertools.islice(new_parts, room))
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
    finished = sum(count for state, count in counts.items() if state in JOB_ENDED)
    return finished, counts.get("waiting", 0), sum(counts.values())


def _drop_assigned(listed_place: ListedPlace, assigned: set[tuple[str, str]]) -> ListedPlace:
    """A place without the files that are in a part already."""
    return msgspec.structs.replace(
        listed_place, files=tuple(f for f in listed_place.files if (listed_place.place, f.name) not in assigned)
    )


def _split_into_parts(job: Job, listed_places: Iterable[ListedPlace], number: int) -> Iterator[Job]:
    """Parts for these files; `number` is the first free one."""
    for listed_place in listed_places:
        for start in range(0, len(listed_place.files), FILES_PER_PART):
            part = listed_place.files[start : start + FILES_PER_PART]
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
                arguments=_part_arguments(listed_place, part, job.arguments["collection"]),
            )
            number += 1


def _part_arguments(listed_place: ListedPlace, files: Sequence[ListedFile], collection: str) -> dict[str, Any]:
    arguments = {"place": listed_place.place, "files": [file.name for file in files], "collection": collection}
    return (
        {**arguments, "kept": listed_place.pinned_place, "versions": [file.version for file in files]}
        if listed_place.pinned_place
        else arguments
    )


async def _merge_parts(context: Context, hand: JobInHand, collection: str) -> Result:
    """Store the places as they were read, and report the results of all parts.

    The documents are in the collection since they were read. So this step takes seconds with a million of them, and a
    worker that dies in it costs no more. Those of files that were deleted after a reading that was cut short are taken
    out again.

    Raises:
        UsageError: parts have failed; the rest is stored.
    """
    parts = (await hand.jobs.list(JobFilter(parent=hand.job.id, limit=_NO_LIMIT)))[::-1]
    done_parts = [part for part in parts if part.state == "done"]
    hand.set_progress("indexing")
    origins = _origins(done_parts)
    missing_files = [file for part in done_parts for file in part.result.get("gone", ())]
    await collections.drop_files(context, missing_files, collection, origins)
    await collections.store_and_index(context, collection, origins, hand.set_progress)
    failed_parts = [part for part in parts if part.state != "done"]
    if failed_parts:
        raise UsageError(
            f"{len(failed_parts)} of {len(parts)} parts could not be read "
            f"({failed_parts[0].id}: {failed_parts[0].error or 'cancelled'}); to read them again: assay jobs "
            f"retry {hand.job.id}"
        )
    documents = {sha for part in done_parts for sha in part.result["documents"]}
    unlisted_result: Result = hand.job.notes.get(BESIDE, {})
    warnings = dict.fromkeys(
        itertools.chain(unlisted_result.get("warnings", ()), *(part.result["warnings"] for part in done_parts))
    )
    return {
        "collection": collection,
        "documents": len(documents) + unlisted_result.get("documents", 0),
        "added": sum(part.result["added"] for part in done_parts) + unlisted_result.get("added", 0),
        "files": sum(part.result["files"] for part in done_parts) + unlisted_result.get("files", 0),
        "warnings": list(warnings)[:MAX_WARNINGS],
    }


MAX_WARNINGS = 1_000
"""Warnings stored with a job."""


def _origins(parts: Sequence[Job]) -> list[Origin]:
    """The places, with the documents of their parts."""
    gave: dict[str, dict[str, None]] = {}
    skipped: dict[str, list[SkippedFile]] = {}
    kinds: dict[str, str] = {}
    for part in parts:
        place = part.arguments["place"]
        kinds[place] = place.partition(":")[0] if part.arguments.get("kept") else FILES
        gave.setdefault(place, {}).update(dict.fromkeys(part.result["documents"]))
        skipped.setdefault(place, []).extend(SkippedFile(**skipped_file) for skipped_file in part.result["skipped"])
    return [
        Origin(
            place=place,
            kind=kinds[place],
            documents=tuple(hashes),
            skipped=tuple(skipped[place])[: places.MAX_SKIPPED_FILES],
        )
        for place, hashes in gave.items()
    ]


class WorkerFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one worker on a job: parts, files, documents new to the library, and the seconds it took."""

    worker: str
    parts: int
    files: int
    added: int
    seconds: float


def figures_by_worker(notes: Iterable[Mapping[str, Any]]) -> list[WorkerFigures]:
    """The figures of each worker, from the notes of completed parts."""
    sums: dict[str, WorkerFigures] = {}
    for note in notes:
        figures = msgspec.convert(note, WorkerFigures)
        before = sums.get(figures.worker, WorkerFigures(worker=figures.worker, parts=0, files=0, added=0, seconds=0.0))
        sums[figures.worker] = WorkerFigures(
            worker=figures.worker,
            parts=before.parts + figures.parts,
            files=before.files + figures.files,
            added=before.added + figures.added,
            seconds=round(before.seconds + figures.seconds, 3),
        )
    return [sums[name] for name in sorted(sums)]
