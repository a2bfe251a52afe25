"""`assay extract`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.arguments import paths_from
from assay.cli.exits import Exit
from assay.cli.shell_words import any_path
from assay.cli.terminal import clean, say, write
from assay.core.errors import UsageError
from assay.services.extraction import ReadDocument, Unread


@click.command("extract")
@click.argument("files", nargs=-1, required=True, metavar="FILE…", shell_complete=any_path)
@options.json_output
def command(files: Sequence[str], as_json: bool) -> int:
    """Print what a run would read of files: the text, and on stderr what is known of it. Nothing is kept.

    \b
        assay extract paper.pdf
        assay extract --json papers/ notes.md | jq .title     # a line for each document
        find . -name '*.csv' | assay extract --json -

    Folders, globs and archives are read as `assay docs add` reads them, in order. With --json a document is its text,
    what is known of it (title, author, date, language), its passages as byte ranges, and the hashes of the file's bytes
    and of the text; what cannot be read is a line with the reason. Exit code 1 when something cannot be read.
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
            async for found in assay.extract(file):
                if isinstance(found, Unread):
                    code = Exit.FAILED
                if as_json:
                    write(msgspec.json.encode(found).decode())
                elif isinstance(found, Unread):
                    say(f"{_place(found)}: {clean(found.reason)}")
                else:
                    _show(found)
    return code


def _show(found: ReadDocument) -> None:
    about = (found.title, found.author, found.published, found.language, found.media_type, f"{found.size:,} bytes")
    say(" · ".join(clean(each) for each in about if each))
    say(f"{_place(found)} · sha256 {found.sha256} · {found.extractor}")
    for warning in found.warnings:
        say(f"warning: {clean(warning)}")
    write(found.text)


def _place(found: ReadDocument | Unread) -> str:
    return clean(f"{found.file}!/{found.member}" if found.member else found.file)
