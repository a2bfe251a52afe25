"""`assay docs watch`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay import Assay, settings
from assay.cli import options
from assay.cli.docs.docs_options import collection as collection_option
from assay.cli.docs.intake_report import skipped_count, tell
from assay.cli.exits import Exit
from assay.cli.interrupts import Terminated, interrupts, termination
from assay.cli.library import opened
from assay.cli.progress import counted
from assay.cli.terminal import TerminalOptions, clean, say
from assay.core.errors import AssayError, UsageError
from assay.core.later import later

if TYPE_CHECKING:
    import watchfiles
else:
    watchfiles = later("watchfiles")

QUIET_SECONDS = 1.5
"""Changes which follow one another faster than this are looked at together."""
FIRST_SECONDS = 0.5
"""How long the first look waits for the watching to begin."""
LONGEST_SECONDS = 60.0
"""Where changes never cease, what came so far is looked at after this long."""


@click.command("watch")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@collection_option
@options.common
@click.pass_obj
def command(state: TerminalOptions, folder: Path, collection: str, home: Path | None) -> int:
    """Add DIR to a collection and keep it level with it: what comes, changes or goes there does so in the collection.

    Changes are looked at together when DIR has been quiet for a moment, as `assay docs sync` does. Ctrl-C ends it.

    \b
        assay docs watch notes/
        assay docs watch ~/papers -c thesis
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is no folder: name one to watch")
    configured = settings.load()
    place, kept = Path(os.path.abspath(folder)), (home or configured.home).expanduser().absolute()
    return asyncio.run(_watch(place, collection, kept, configured, state.verbosity))


async def _watch(folder: Path, collection: str, home: Path, configured: settings.Settings, verbosity: int) -> Exit:
    stop = asyncio.Event()
    watching = False
    try:
        async with opened(home, configured) as assay:
            with termination(), interrupts(stop.set, stop.set):
                # Read for the first time when it is being watched already: what changes meanwhile is told afterwards.
                async for changes in _changes(folder, home, stop):
                    if changes or not watching:
                        await _level(assay, str(folder), collection, verbosity, first=not watching)
                    if not watching and verbosity >= 0:
                        say(f"watching {clean(str(folder))}; Ctrl-C ends it")
                    watching = True
    except Terminated:
        return Exit.TERMINATED
    if verbosity >= 0:
        say("watching has ended; the documents stay")
    return Exit.DONE


def _changes(folder: Path, home: Path, stop: asyncio.Event) -> AsyncIterator[Collection[object]]:
    """The files which changed, each time the folder is quiet again; now and then none."""

    def wanted(change: object, path: str) -> bool:
        at = Path(path)
        inside = at.relative_to(folder).parts if at.is_relative_to(folder) else ()
        return not at.is_relative_to(home) and not any(part.startswith(".") for part in inside)

    return watchfiles.awatch(
        folder,
        watch_filter=wanted,
        debounce=int(LONGEST_SECONDS * 1000),
        step=int(QUIET_SECONDS * 1000),
        rust_timeout=int(FIRST_SECONDS * 1000),
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
    )


async def _level(assay: Assay, place: str, collection: str, verbosity: int, *, first: bool) -> None:
    """Read the folder as it is now. What cannot be read is said, and looked at again with the next change."""
    try:
        if place not in {origin.place for origin in await assay.origins(collection)}:
            added = await assay.add([place], collection=collection)
            tell(added.warnings, added.notes, added.skipped, verbosity)
            line = f"{counted(added.documents, 'document')}{skipped_count(added.skipped, collection)}"
        else:
            done = await assay.sync(collection, only=[place])
            if not (first or done.added or done.updated or done.removed or verbosity > 0):
                return
            tell(done.warnings, done.notes, done.skipped, verbosity)
            counts = f"{done.added} added, {done.updated} updated, {done.removed} removed"
            line = f"{counts}: {counted(done.documents, 'document')}{skipped_count(done.skipped, collection)}"
    except AssayError as error:
        say(f"warning: {error}")
        return
    if verbosity >= 0:
        say(line)
