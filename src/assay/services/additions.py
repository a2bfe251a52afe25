"""Documents that users add: uploaded files, and places read in the background.

A file is streamed to disk up to a limit, and stored where a sync finds it again. An addition in the background begins
at once, reports its progress, and continues after a kill.
"""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import os
import secrets
import tempfile
from collections.abc import AsyncIterable, AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from assay.core.errors import AssayError, TooLarge, UsageError
from assay.core.full_disks import unwritable_error
from assay.core.ports.collections import ADDITION_ENDED, Addition, AdditionStart
from assay.evidence.ingest import UPLOAD_SUFFIX, IngestResult
from assay.run.process import is_dead, new_id, this_process
from assay.run.tasks import wait_for_event
from assay.services import collections
from assay.services.argument_types import check_types
from assay.services.arguments import ProgressLog, Sources, sources_to_add
from assay.services.context import Context
from assay.services.shelves import check_name

# Uploaded files.

UPLOADS_FOLDER = "uploads"
MAX_NAME_BYTES = 200
"""Bytes of a file's name; a longer one is cut before its suffix."""


class ArrivingFile(NamedTuple):
    """A file that arrives in pieces: its name, its place, and its largest size in bytes."""

    name: str
    pieces: AsyncIterable[bytes]
    collection: str
    max_bytes: int
    media_type: str = ""


async def add_upload(
    context: Context,
    name: str,
    pieces: AsyncIterable[bytes],
    collection: str,
    max_bytes: int,
    progress: ProgressLog | None,
) -> IngestResult:
    """Read an uploaded file into a collection; see `DocumentLibrary.upload`."""
    file = await store_upload(context, ArrivingFile(name, pieces, collection, max_bytes))
    return await collections.add(context, [str(file)], collection, progress)


async def store_upload(context: Context, arriving_file: ArrivingFile) -> Path:
    """Store an upload and return its file, once it is complete on disk.

    Raises:
        TooLarge: it is larger than allowed; nothing of it is kept.
        UsageError: the name of the file or collection is not valid.
        StoreError: it cannot be stored.
    """
    await check_name(context, arriving_file.collection)
    file = upload_folder(context, arriving_file.collection) / safe_name(
        _add_suffix(arriving_file.name, arriving_file.media_type)
    )
    await _write_file(file, arriving_file.pieces, arriving_file.max_bytes)
    return file


def _add_suffix(name: str, media_type: str) -> str:
    """Add the suffix of its media type to a name without one."""
    if "." in name.strip(".") or not media_type:
        return name
    return name + (mimetypes.guess_extension(media_type.partition(";")[0].strip().lower()) or "")


def safe_name(name: str) -> str:
    """A file's name without folders, and without anything special to a file system or a terminal.

    Raises:
        UsageError: nothing is left of it.
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    cleaned = "".join(char for char in last if char.isprintable() and char not in '/\\:*?"<>|').strip(" .")
    stem, dot, end = cleaned.rpartition(".")
    if len(os.fsencode(cleaned)) > MAX_NAME_BYTES:
        short = os.fsencode(stem or end)[: MAX_NAME_BYTES - 40].decode(errors="ignore")
        cleaned = f"{short}{dot}{end[:20]}" if stem else short
    if not cleaned or cleaned in (".", ".."):
        raise UsageError(f"{name[:80]!r} is not a valid file name: leave out / and control characters")
    return cleaned


def upload_folder(context: Context, collection: str) -> Path:
    """A folder for the collection, whose name is never used as a path."""
    if context.home is None:
        return Path(tempfile.mkdtemp(prefix="assay-", suffix=UPLOAD_SUFFIX))
    name = hashlib.sha256(f"{context.owner}/{collection}".encode()).hexdigest()[:16]
    return context.home / UPLOADS_FOLDER / f"{name}{UPLOAD_SUFFIX}"


async def _write_file(file: Path, pieces: AsyncIterable[bytes], max_bytes: int) -> None:
    """Write the data beside the file, and move it into place when it is complete."""
    draft = file.with_name(f".{secrets.token_hex(8)}")
    size = 0
    try:
        await asyncio.to_thread(file.parent.mkdir, 0o700, True, True)
        with draft.open("xb") as output:
            async for piece in pieces:
                size += len(piece)
                if size > max_bytes:
                    raise TooLarge(f"an uploaded file has at most {max_bytes:,} bytes")
                await asyncio.to_thread(output.write, piece)
        await asyncio.to_thread(draft.replace, file)
    except OSError as error:
        raise unwritable_error(
            f"{file.name} cannot be stored ({error.strerror}): check the space and the permissions of the home", error
        ) from error
    finally:
        draft.unlink(missing_ok=True)


# Additions in the background.

RETENTION = timedelta(days=7)
"""How long ended additions are listed."""
POLL_SECONDS = 0.5
"""Seconds between two looks at what another process adds."""
PROGRESS_SECONDS = 0.25
"""Seconds between two stored progress messages."""
DEFAULT_START = AdditionStart()


async def begin_addition(
    context: Context, sources: Sources, collection: str, start: AdditionStart = DEFAULT_START
) -> Addition:
    """Start reading documents into a collection; see `BackgroundLibrary.begin_add`, `begin_crawl` and `begin_sync`."""
    await check_name(context, collection)
    names = tuple(sources_to_add(sources))
    for name in names:  # they are stored
        check_types({"sources": name}, {"sources": str})
    now = context.clock.now()
    addition = Addition(
        id=new_id(),
        collection=collection,
        name=start.name or ", ".join(names[:3]),
        sources=names,
        kind=start.kind,
        options=start.options,
        created_at=now,
        updated_at=now,
        holder=this_process(),
        owner=context.owner or "",
    )
    await asyncio.to_thread(context.store.additions.forget, time_ago(RETENTION))
    await asyncio.to_thread(context.store.additions.put, addition)
    _start(context, addition)
    return addition


def time_ago(time: timedelta) -> str:
    """The moment so long ago (ISO 8601 UTC)."""
    return (datetime.now(UTC) - time).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def begin_upload(context: Context, arriving_file: ArrivingFile) -> Addition:
    """Start reading an uploaded file; see `BackgroundLibrary.begin_upload`."""
    file = await store_upload(context, arriving_file)
    return await begin_addition(context, [str(file)], arriving_file.collection, AdditionStart(name=file.name))


async def follow_addition(context: Context, id: str, after: int = 0) -> AsyncIterator[Addition]:
    """Yield an addition after each update, until it has ended; see `BackgroundLibrary.follow_addition`."""
    with context.adding.update_event(id) as news:
        while True:
            news.clear()
            addition = await asyncio.to_thread(context.store.additions.find, id)
            if addition.seq > after:
                after = addition.seq
                yield addition
            if addition.state in ADDITION_ENDED:
                return
            if _is_abandoned(addition):
                await resume_additions(context)
            await wait_for_event(news, POLL_SECONDS)


async def resume_additions(context: Context) -> list[Addition]:
    """Continue what killed processes of this machine left; see `BackgroundLibrary.go_on_adding`."""
    every = await asyncio.to_thread(context.store.additions.all, 1_000)
    abandoned = [addition for addition in every if _is_abandoned(addition)]
    for addition in abandoned:
        mine = msgspec.structs.replace(
            addition, holder=this_process(), seq=addition.seq + 1, updated_at=context.clock.now()
        )
        await asyncio.to_thread(context.store.additions.put, mine)
        _start(context.owned_by(addition.owner), mine)
    return abandoned


def _is_abandoned(addition: Addition) -> bool:
    return addition.state not in ADDITION_ENDED and (not addition.holder or is_dead(addition.holder))


def _start(context: Context, addition: Addition) -> None:
    context.adding.start(_Reader(context, addition).read(), addition.id)


class _Reader:
    """Reads one addition, and stores its progress."""

    def __init__(self, context: Context, addition: Addition) -> None:
        self._context, self._addition = context, addition
        self._line, self._has_ended, self._turn = "", False, asyncio.Lock()

    async def read(self) -> None:
        """Read until it ends, in whatever way."""
        await self._store_update(state="reading")
        progress_task = self._context.adding.start_task(self._store_progress(), self._addition.id)
        try:
            result = await self._read()
        except AssayError as error:
            await self._store_update(is_final=True, state="failed", error=str(error))
        else:
            await self._store_update(is_final=True, state="done", **result)
        finally:
            progress_task.cancel()
            task = asyncio.current_task()
            # a bug is logged, and waiting callers get the error
            if not self._has_ended and not (task and task.cancelling()):
                await self._store_update(
                    is_final=True, state="failed", error="an error of Assay ended it; the log says which"
                )

    async def _read(self) -> dict[str, object]:
        addition, context = self._addition, self._context
        if addition.kind == "sync":
            sync_result = await collections.sync(context, addition.collection, self._note_progress)
            line = f"{sync_result.added} added, {sync_result.updated} changed, {sync_result.removed} gone"
            fields = {"documents": sync_result.documents, "added": sync_result.added, "warnings": sync_result.warnings}
            return {**fields, "line": line}
        if addition.kind == "crawl":
            [url], pages, depth = addition.sources, addition.options.get("pages", 200), addition.options.get("depth", 5)
            result = await collections.crawl(context, url, addition.collection, pages, depth, self._note_progress)
        else:
            result = await collections.add(context, list(addition.sources), addition.collection, self._note_progress)
        return {"documents": result.documents, "added": result.added, "warnings": result.warnings, "line": ""}

    def _note_progress(self, line: str) -> None:
        """Receive a progress message from the thread that reads."""
        self._line = line

    async def _store_progress(self) -> None:
        """Store the latest progress message from time to time."""
        while True:
            await asyncio.sleep(PROGRESS_SECONDS)
            if self._line != self._addition.line:
                await self._store_update(line=self._line)

    async def _store_update(self, *, is_final: bool = False, **changes: object) -> None:
        """Store what changed; nothing is stored after the last update."""
        async with self._turn:
            if self._has_ended:
                return
            self._has_ended = is_final
            now = self._context.clock.now()
            self._addition = msgspec.structs.replace(
                self._addition, seq=self._addition.seq + 1, updated_at=now, **changes
            )
            await asyncio.to_thread(self._context.store.additions.put, self._addition)
        self._context.adding.notify(self._addition.id)
