"""Adds documents: `add`, `sync`, `watch`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from assay import Assay, settings
from assay.app.assay import DEFAULT_COLLECTION
from assay.cli import options
from assay.cli.completion import any_path, collection_names
from assay.cli.detached_run import start_process
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import open_assay, read_library, settings_with_embedder
from assay.cli.options import collection_option, embedder_option
from assay.cli.run_options import paths_from
from assay.cli.signals import TerminationSignal, cancel_on_signal, on_interrupts
from assay.cli.terminal import Exit, TerminalOptions, clean, say
from assay.core.errors import AssayError, UsageError
from assay.core.lazy import lazy_module
from assay.core.milestones import pluralize, summarize_warnings
from assay.core.ports import SkippedFile
from assay.services.collections import IngestResult
from assay.services.home_paths import log_file
from assay.services.jobs.specifications import AddJob, CrawlJob, JobWork, SyncJob
from assay.settings import Settings

if TYPE_CHECKING:
    import watchfiles
else:
    watchfiles = lazy_module("watchfiles")


# Messages about reading: warnings always, deliberately skipped files with `-v`, and their number at the end.

SkippedFiles = Mapping[str, Sequence[SkippedFile]]


def print_warnings(warnings: Sequence[str], notes: Sequence[str], skipped: SkippedFiles, verbosity: int) -> None:
    """Print warnings, those about many files as one without `-v`; with `-v` also notes, and each skipped file."""
    for warning in warnings if verbosity > 0 else summarize_warnings(warnings):
        say(f"warning: {warning}")
    if verbosity <= 0:
        return
    for note in notes:
        say(note)
    distinct = set(warnings)
    for line in (line for files in skipped.values() for line in map(skipped_line, files)):
        if line not in distinct:
            say(line)


def skipped_line(file: SkippedFile) -> str:
    """A skipped file with the reason, as a warning would state it."""
    return clean(f"{'partly read' if file.partly else 'skipped'} {file.path}: {file.reason}")


def skipped_count(skipped: SkippedFiles, collection: str) -> str:
    """How many files were skipped, for the end of the last line; "" if none was."""
    all_files = [file for files in skipped.values() for file in files]
    partly = sum(file.partly for file in all_files)
    parts = [f"{len(all_files) - partly} skipped"] if len(all_files) > partly else []
    parts += [f"{pluralize(partly, 'file')} partly read"] if partly else []
    option = "" if collection == "default" else f" -c {collection}"
    return f"; {', '.join(parts)} (`assay docs list --skipped{option}`)" if parts else ""


# Vectors are made in the background after documents were added: by `assay docs embed`, in a separate process.

LOG = "vectors"
"""The name of its log, in the folder of the runs' logs."""


def embed_in_background(config: Settings, home: Path | None, verbosity: int) -> None:
    """Start making the missing vectors, if an embedder is named. A second process waits for the first.

    Raises:
        StoreError: the process cannot be started, or its log cannot be written.
    """
    if not config.embedder.model:
        return
    home_path = (home or config.home).expanduser().absolute()
    log = log_file(home_path, LOG)
    line = [sys.executable, "-P", "-m", "assay", "docs", "embed", "--embedder", config.embedder.model]
    start_process([*line, "--home", str(home_path)], log)
    if verbosity >= 0:
        say(f"vectors are made in the background; `assay docs embed` waits for them (log: {log})")


class CrawlLimits(msgspec.Struct, frozen=True):
    """How much of a site is read: the most pages, and the most links away from the start."""

    pages: int
    depth: int


@click.command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH|URL…", shell_complete=any_path)
@collection_option
@click.option("--crawl", is_flag=True, help="Read the whole site at URL: all pages at or below its path.")
@click.option(
    "--max-pages",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="Number of pages to read at most with --crawl.",
)
@click.option(
    "--depth",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="Number of links to follow from URL with --crawl.",
)
@embedder_option
@queue_option
@options.common_options
@click.pass_obj
def add_documents(
    state: TerminalOptions,
    paths: Sequence[str],
    collection: str,
    crawl: bool,
    max_pages: int,
    depth: int,
    embedder: str | None,
    queued: bool,
    home: Path | None,
) -> None:
    """Add files, folders, globs, web pages and repositories (- reads them from stdin). Unchanged files are skipped.

    \b
        assay docs add notes/ "papers/*.pdf" -c thesis
        assay docs add https://example.org/harbor.html
        assay docs add https://example.org/manual/ --crawl --max-pages 500 -c manual
        assay docs add git+https://github.com/owner/project@v1.2 -c project

    Assay remembers where a collection came from, and `assay docs sync` updates it. With --queue, workers read the
    documents, and share large folders; they must have access to the same files.
    """
    limits = CrawlLimits(max_pages, depth) if crawl else None
    config = settings_with_embedder(embedder, elsewhere=queued)
    if queued:
        queue_jobs(_make_job_works(paths_from(paths), collection, limits), home, config, state.verbosity)
        return
    asyncio.run(_add(paths_from(paths), collection, limits, home, config, state.verbosity))
    embed_in_background(config, home, state.verbosity)


async def _add(
    paths: list[str],
    collection: str,
    crawl: CrawlLimits | None,
    home: Path | None,
    config: Settings,
    verbosity: int,
) -> None:
    if crawl is not None:
        _check_sites(paths)
    async with open_assay(home, config) as assay:
        if crawl is None:
            result = await assay.add(paths, collection=collection, progress=say if verbosity >= 0 else None)
            _report(result, collection, verbosity)
            return
        for url in paths:
            await _crawl(assay, url, collection, crawl, verbosity)


def _make_job_works(paths: list[str], collection: str, crawl: CrawlLimits | None) -> list[JobWork]:
    if crawl is None:
        return [AddJob(paths=tuple(paths), collection=collection)]
    _check_sites(paths)
    return [CrawlJob(url=url, collection=collection, pages=crawl.pages, depth=crawl.depth) for url in paths]


def _check_sites(paths: Sequence[str]) -> None:
    if not all(path.lower().startswith(("http://", "https://")) for path in paths):
        raise UsageError("--crawl reads sites: name addresses like https://example.org/manual/")


async def _crawl(assay: Assay, url: str, collection: str, crawl: CrawlLimits, verbosity: int) -> None:
    progress = say if verbosity >= 0 else None
    result = await assay.crawl(url, collection, pages=crawl.pages, depth=crawl.depth, progress=progress)
    _report(result, collection, verbosity, "page")


def _report(result: IngestResult, collection: str, verbosity: int, noun: str = "file") -> None:
    print_warnings(result.warnings, result.notes, result.skipped, verbosity)
    if verbosity >= 0:
        skipped = skipped_count(result.skipped, collection)
        documents = f"{pluralize(result.documents, 'document')} from {pluralize(result.files, noun)}"
        copies = f"; {pluralize(result.copies, 'copy', 'copies')}" if result.copies else ""
        say(f"{documents}, {result.added:,} of them new{copies}{skipped}")


@click.command("sync")
@click.argument("name", required=False, shell_complete=collection_names)
@collection_option
@embedder_option
@queue_option
@options.common_options
@click.pass_obj
def sync(
    state: TerminalOptions, name: str | None, collection: str, embedder: str | None, queued: bool, home: Path | None
) -> None:
    """Update a collection from where it came: add new documents, replace changed ones, drop deleted ones.

    NAME is the collection, as in -c NAME; @NAME works too.

    Dropped documents stay in the library for the reports that cite them. A page or a repository that cannot be
    reached stays as it was, and so do the documents of a folder that is missing or empty, as that of an unmounted
    drive; if they are really gone, drop them with `assay docs rm FOLDER`.

    \b
        assay docs sync thesis
        assay docs sync
    """
    if name is not None:
        if collection != DEFAULT_COLLECTION:
            raise click.UsageError("name the collection once: NAME, or -c NAME")
        collection = name.removeprefix("@")
    if queued:
        queue_jobs(
            [SyncJob(collection=collection)], home, settings_with_embedder(embedder, elsewhere=True), state.verbosity
        )
        return
    progress, config = say if state.verbosity >= 0 else None, settings_with_embedder(embedder)
    result = read_library(home, lambda assay: assay.sync(collection, progress=progress))
    embed_in_background(config, home, state.verbosity)
    print_warnings(result.warnings, result.notes, result.skipped, state.verbosity)
    if state.verbosity >= 0:
        say(
            f"{result.added} added, {result.updated} updated, {result.removed} removed: "
            f"{pluralize(result.documents, 'document')}{skipped_count(result.skipped, result.collection)}"
        )


QUIET_SECONDS = 1.5
"""Changes that follow each other faster than this are handled together."""
FIRST_SECONDS = 0.5
"""How long the first reading waits until watching has begun."""
MAX_DEBOUNCE_SECONDS = 60.0
"""If changes never stop, those so far are handled after this long."""


@click.command("watch")
@click.argument("folder", metavar="DIR", type=options.FilePath())
@collection_option
@options.common_options
@click.pass_obj
def watch(state: TerminalOptions, folder: Path, collection: str, home: Path | None) -> int:
    """Add DIR to a collection, and keep the collection up to date as files appear, change and disappear.

    Changes are read together once DIR has been quiet for a moment, as `assay docs sync` would. If DIR goes away or
    is empty, as an unmounted drive is, its documents stay. Ctrl-C stops it.

    \b
        assay docs watch notes/
        assay docs watch ~/papers -c thesis
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder: name one to watch")
    config = settings.load()
    folder_path, home_path = Path(os.path.abspath(folder)), (home or config.home).expanduser().absolute()
    return asyncio.run(_watch(folder_path, collection, home_path, config, state.verbosity))


async def _watch(folder: Path, collection: str, home: Path, config: settings.Settings, verbosity: int) -> Exit:
    stop = asyncio.Event()
    known_warnings: frozenset[str] | None = None
    try:
        async with open_assay(home, config) as assay:
            with cancel_on_signal(), on_interrupts(stop.set, stop.set):
                async for changed in _changes(folder, home, stop):
                    first = known_warnings is None
                    if changed:
                        known_warnings = await _read_folder(assay, str(folder), collection, verbosity, known_warnings)
                    if first and verbosity >= 0:
                        say(f"watching {clean(str(folder))}; Ctrl-C ends it")
    except TerminationSignal:
        return Exit.TERMINATED
    if verbosity >= 0:
        say("watching has ended; the documents stay")
    return Exit.DONE


async def _changes(folder: Path, home: Path, stop: asyncio.Event) -> AsyncIterator[bool]:
    """Yield True whenever files changed and the folder is quiet again, or it went or came back; now and then False.

    The folder is already watched when the first True tells the caller to read it, at the start and when the folder
    has come back, so a change during that reading is reported afterwards.
    """

    def is_watched(change: object, path: str) -> bool:
        full_path = Path(path)
        inside = full_path.relative_to(folder).parts if full_path.is_relative_to(folder) else ()
        return not full_path.is_relative_to(home) and not any(part.startswith((".", "~$")) for part in inside)

    def watch_changes() -> AsyncIterator[Collection[object]]:
        return watchfiles.awatch(
            folder,
            watch_filter=is_watched,
            debounce=int(MAX_DEBOUNCE_SECONDS * 1000),
            step=int(QUIET_SECONDS * 1000),
            rust_timeout=int(FIRST_SECONDS * 1000),
            yield_on_timeout=True,
            stop_event=stop,
        )

    while not stop.is_set():
        identity = _identity(folder)
        if identity is None:
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), FIRST_SECONDS)
            continue
        unread = True
        with suppress(FileNotFoundError):  # it went before the watch began
            async for changes in watch_changes():
                # A drive that is mounted again is another folder at the same path: the old watch is deaf to it.
                moved = _identity(folder) != identity
                yield unread or moved or bool(changes)
                unread = False
                if moved:
                    break


def _identity(folder: Path) -> tuple[int, int] | None:
    """What tells a folder from another one at the same path; None if there is none."""
    try:
        status = folder.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


async def _read_folder(
    assay: Assay, folder: str, collection: str, verbosity: int, known_warnings: frozenset[str] | None
) -> frozenset[str]:
    """Read the folder as it is now, and return the warnings about it; `known_warnings` are not repeated.

    What cannot be read is tried again with the next change.
    """
    try:
        is_new = collection not in {row.name for row in await assay.collections()}
        if is_new or folder not in {origin.place for origin in await assay.origins(collection)}:
            ingest_result = await assay.add([folder], collection=collection)
            print_warnings(ingest_result.warnings, ingest_result.notes, ingest_result.skipped, verbosity)
            line = f"{pluralize(ingest_result.documents, 'document')}{skipped_count(ingest_result.skipped, collection)}"
            warnings = ingest_result.warnings
        else:
            sync_result = await assay.sync(collection, only=[folder])
            warnings = sync_result.warnings
            new_warnings = [warning for warning in warnings if verbosity > 0 or warning not in (known_warnings or ())]
            changed = known_warnings is None or sync_result.added or sync_result.updated or sync_result.removed
            if not changed and verbosity <= 0:
                print_warnings(new_warnings, (), {}, verbosity)
                return frozenset(warnings)
            print_warnings(new_warnings, sync_result.notes, sync_result.skipped, verbosity)
            counts = f"{sync_result.added} added, {sync_result.updated} updated, {sync_result.removed} removed"
            line = (
                f"{counts}: "
                f"{pluralize(sync_result.documents, 'document')}{skipped_count(sync_result.skipped, collection)}"
            )
    except AssayError as error:
        say(f"warning: {error}")
        return known_warnings or frozenset()
    if verbosity >= 0:
        say(line)
    return frozenset(warnings)
