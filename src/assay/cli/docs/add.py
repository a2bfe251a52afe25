"""`assay docs add`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from assay import Assay
from assay.app.collections import Ingested
from assay.cli import options
from assay.cli.arguments import paths_from
from assay.cli.docs.background import embed_in_background
from assay.cli.docs.docs_options import collection
from assay.cli.docs.docs_options import embedder as embedder_option
from assay.cli.docs.intake_report import skipped_count, tell
from assay.cli.library import configured_for, opened
from assay.cli.progress import counted
from assay.cli.shell_words import any_path
from assay.cli.terminal import TerminalOptions, say
from assay.core.errors import UsageError
from assay.settings import Settings


class CrawlLimits(msgspec.Struct, frozen=True):
    """How far a site is read: pages at most, and links away from where it begins."""

    pages: int
    depth: int


@click.command("add")
@click.argument("paths", nargs=-1, required=True, metavar="PATH|URL…", shell_complete=any_path)
@collection
@click.option("--crawl", is_flag=True, help="Read the whole site at URL: all pages at or below its path.")
@click.option(
    "--max-pages",
    type=click.IntRange(1, 100_000),
    default=200,
    show_default=True,
    help="Pages to read at most with --crawl.",
)
@click.option(
    "--depth",
    type=click.IntRange(0, 100),
    default=5,
    show_default=True,
    help="Links to follow away from URL with --crawl.",
)
@embedder_option
@options.common
@click.pass_obj
def command(
    state: TerminalOptions,
    paths: Sequence[str],
    collection: str,
    crawl: bool,
    max_pages: int,
    depth: int,
    embedder: str | None,
    home: Path | None,
) -> None:
    """Add files, folders, globs, pages and repositories (- reads them from stdin); unchanged files cost nothing.

    \b
        assay docs add notes/ "papers/*.pdf" -c thesis
        assay docs add https://example.org/harbor.html
        assay docs add https://example.org/manual/ --crawl --max-pages 500 -c manual
        assay docs add git+https://github.com/owner/project@v1.2 -c project

    What a collection was added from is remembered: `assay docs sync` looks again.
    """
    how = CrawlLimits(max_pages, depth) if crawl else None
    configured = configured_for(embedder)
    asyncio.run(_add(paths_from(paths), collection, how, home, configured, state.verbosity))
    embed_in_background(configured, home, state.verbosity)


async def _add(
    paths: list[str],
    collection: str,
    crawl: CrawlLimits | None,
    home: Path | None,
    configured: Settings,
    verbosity: int,
) -> None:
    if crawl is not None and not all(path.lower().startswith(("http://", "https://")) for path in paths):
        raise UsageError("--crawl reads sites: name addresses like https://example.org/manual/")
    async with opened(home, configured) as assay:
        if crawl is None:
            done = await assay.add(paths, collection=collection, progress=say if verbosity >= 0 else None)
            _told(done, collection, verbosity)
            return
        for url in paths:
            await _crawl(assay, url, collection, crawl, verbosity)


async def _crawl(assay: Assay, url: str, collection: str, crawl: CrawlLimits, verbosity: int) -> None:
    told = say if verbosity >= 0 else None
    done = await assay.crawl(url, collection, pages=crawl.pages, depth=crawl.depth, progress=told)
    _told(done, collection, verbosity, "page")


def _told(done: Ingested, collection: str, verbosity: int, noun: str = "file") -> None:
    tell(done.warnings, done.notes, done.skipped, verbosity)
    if verbosity >= 0:
        skipped = skipped_count(done.skipped, collection)
        say(
            f"{counted(done.documents, 'document')} from {counted(done.files, noun)}, {done.added} of them new{skipped}"
        )
