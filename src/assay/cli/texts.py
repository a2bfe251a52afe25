"""`assay fetch` and `assay extract`: the text a run would read from a page or a file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.completion import any_path
from assay.cli.run_options import paths_from
from assay.cli.terminal import Exit, clean, say, write, write_json
from assay.core.errors import FetchFailed, UsageError
from assay.services.extraction import ReadDocument, Unread


class Failure(msgspec.Struct, frozen=True):
    """The output of `--json` for an unreadable page; `kind` is the first word of the reason."""

    url: str
    kind: str
    reason: str


@click.command("fetch")
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--browser", is_flag=True, help="Run the scripts of every page, even if it has text without them.")
@options.json_output
def fetch(urls: Sequence[str], browser: bool, as_json: bool) -> int:
    """Print a page as a run would read it: the text on stdout, its metadata on stderr. Nothing is stored.

    \b
        assay fetch https://example.org/paper
        assay fetch --json https://example.org/a https://example.org/b    # a line each
        assay fetch --browser https://example.org/app                     # with its scripts run

    Only public addresses are read, and only as robots.txt allows; the setting web.allow adds others. Exits with 1 if
    a page cannot be read.
    """
    return asyncio.run(_fetch(urls, browser, as_json))


async def _fetch(urls: Sequence[str], browser: bool, as_json: bool) -> int:
    code = Exit.DONE
    async with Assay() as assay:
        for url in urls:
            try:
                page = await assay.fetch(url, browser=browser)
            except FetchFailed as failed:
                code = Exit.FAILED
                kind = failed.reason.partition(":")[0]
                if as_json:
                    write_json(Failure(url, kind, failed.reason), line=True)
                else:
                    say(f"{url}: {failed.reason}")
                continue
            if as_json:
                write_json(page, line=True)
                continue
            facts = (page.title, page.author, page.published, page.language, page.media_type, f"{page.size:,} bytes")
            say(" · ".join(clean(fact) for fact in facts if fact))
            rendered_note = f" · rendered by {page.rendered}" if page.rendered else ""
            say(f"{page.final_url} · sha256 {page.sha256} · {page.extractor}{rendered_note}")
            write(page.text)
    return code


@click.command("extract")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=any_path)
@options.json_output
def extract(files: Sequence[str], as_json: bool) -> int:
    """Print files as a run would read them: the text on stdout, metadata on stderr. Nothing is stored.

    \b
        assay extract paper.pdf
        assay extract --json papers/ notes.md | jq .title     # a line for each document
        find . -name '*.csv' | assay extract --json -

    Folders, globs and archives are read in order, as `assay docs add` reads them. --json prints one line per
    document: text, metadata (title, author, date, language), passages as byte ranges, and the hashes of file and
    text; an unreadable file gives a line with the reason. Exits with 1 if anything cannot be read.
    """
    paths = paths_from(files)
    for path in paths:
        if path.lower().startswith(("http://", "https://")):
            raise UsageError(f"{path[:200]} is a page, and `assay extract` reads files: assay fetch {path[:200]}")
    return asyncio.run(_extract(paths, as_json))


async def _extract(files: Sequence[str], as_json: bool) -> int:
    code = Exit.DONE
    async with Assay() as assay:
        for file in files:
            async for result in assay.extract(file):
                if isinstance(result, Unread):
                    code = Exit.FAILED
                if as_json:
                    write_json(result, line=True)
                elif isinstance(result, Unread):
                    say(f"{_place(result)}: {clean(result.reason)}")
                else:
                    _show(result)
    return code


def _show(document: ReadDocument) -> None:
    facts = (
        document.title,
        document.author,
        document.published,
        document.language,
        document.media_type,
        f"{document.size:,} bytes",
    )
    say(" · ".join(clean(fact) for fact in facts if fact))
    say(f"{_place(document)} · sha256 {document.sha256} · {document.extractor}")
    for warning in document.warnings:
        say(f"warning: {clean(warning)}")
    write(document.text)


def _place(result: ReadDocument | Unread) -> str:
    return clean(f"{result.file}!/{result.member}" if result.member else result.file)
