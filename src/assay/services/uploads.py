"""Files which came over the network: streamed to disk with a bound, and kept where a sync finds them again."""

from __future__ import annotations

import asyncio
import hashlib
import mimetypes
import os
import secrets
import tempfile
from collections.abc import AsyncIterable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from assay.core.errors import StoreError, TooLarge, UsageError
from assay.evidence.ingest import UPLOADED, Ingested
from assay.services import collections
from assay.services.context import Context
from assay.services.places import checked_name
from assay.services.texts import Say

FOLDER = "uploads"
LONGEST_NAME = 200
"""Bytes of a file's name; the rest of it is left out, but for its end."""


class Arriving(NamedTuple):
    """A file which comes piece by piece: what it is called, where it goes, and how many bytes it may have."""

    name: str
    pieces: AsyncIterable[bytes]
    collection: str
    most: int
    media_type: str = ""


async def add(
    context: Context, name: str, pieces: AsyncIterable[bytes], collection: str, most: int, progress: Say | None
) -> Ingested:
    """Read an uploaded file into a collection; see `DocumentLibrary.upload`."""
    file = await stored(context, Arriving(name, pieces, collection, most))
    return await collections.add(context, [str(file)], collection, progress)


async def stored(context: Context, arriving: Arriving) -> Path:
    """The file an upload becomes, once it is whole on the disk.

    Raises:
        TooLarge: it has more bytes than it may have; nothing of it is kept.
        UsageError: this is no name of a file or collection.
        StoreError: it cannot be stored.
    """
    checked_name(arriving.collection)
    file = place_of(context, arriving.collection) / safe_name(_with_suffix(arriving.name, arriving.media_type))
    await _stored(file, arriving.pieces, arriving.most)
    return file


def _with_suffix(name: str, media_type: str) -> str:
    """A name whose end says how it is read, as its media type does where it has none."""
    if "." in name.strip(".") or not media_type:
        return name
    return name + (mimetypes.guess_extension(media_type.partition(";")[0].strip().lower()) or "")


def safe_name(name: str) -> str:
    """A file's name without folders, and without what a file system or a terminal could take for something else.

    Raises:
        UsageError: nothing is left of it.
    """
    last = PurePosixPath(name.replace("\\", "/")).name
    kept = "".join(char for char in last if char.isprintable() and char not in '/\\:*?"<>|').strip(" .")
    stem, dot, end = kept.rpartition(".")
    if len(os.fsencode(kept)) > LONGEST_NAME:
        short = os.fsencode(stem or end)[: LONGEST_NAME - 40].decode(errors="ignore")
        kept = f"{short}{dot}{end[:20]}" if stem else short
    if not kept or kept in (".", ".."):
        raise UsageError(f"{name[:80]!r} is not a valid file name: leave out / and control characters")
    return kept


def place_of(context: Context, collection: str) -> Path:
    """A folder of the collection; its name is no part of a path, whatever is in it."""
    if context.home is None:
        return Path(tempfile.mkdtemp(prefix="assay-", suffix=UPLOADED))
    name = hashlib.sha256(f"{context.owner}/{collection}".encode()).hexdigest()[:16]
    return context.home / FOLDER / f"{name}{UPLOADED}"


async def _stored(file: Path, pieces: AsyncIterable[bytes], most: int) -> None:
    """Write what comes beside the file, and put it in its place when it is whole."""
    draft = file.with_name(f".{secrets.token_hex(8)}")
    size = 0
    try:
        await asyncio.to_thread(file.parent.mkdir, 0o700, True, True)
        with draft.open("xb") as out:
            async for piece in pieces:
                size += len(piece)
                if size > most:
                    raise TooLarge(f"an uploaded file has at most {most:,} bytes")
                await asyncio.to_thread(out.write, piece)
        await asyncio.to_thread(draft.replace, file)
    except OSError as error:
        raise StoreError(
            f"{file.name} cannot be stored ({error.strerror}): check the space and the permissions of the home"
        ) from error
    finally:
        draft.unlink(missing_ok=True)
