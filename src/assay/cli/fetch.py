"""`assay fetch`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click
import msgspec

from assay import Assay
from assay.cli import options
from assay.cli.exits import Exit
from assay.cli.terminal import clean, say, write
from assay.core.errors import FetchFailed


class Failure(msgspec.Struct, frozen=True):
    """What `--json` says of a page that cannot be read; `kind` is the first word of the reason."""

    url: str
    kind: str
    reason: str


@click.command("fetch")
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--browser", is_flag=True, help="Run the scripts of every page, even if it has text without them.")
@options.json_output
def command(urls: Sequence[str], browser: bool, as_json: bool) -> int:
    """Print what a run would read of a page: its text, and on stderr what is known of it. Nothing is kept.

    \b
        assay fetch https://example.org/paper
        assay fetch --json https://example.org/a https://example.org/b    # a line each
        assay fetch --browser https://example.org/app                     # what its scripts make of it

    Only public addresses are read (setting web.allow names others), as robots.txt allows. Exit code 1 when a page
    cannot be read.
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
                    write(msgspec.json.encode(Failure(url, kind, failed.reason)).decode())
                else:
                    say(f"{url}: {failed.reason}")
                continue
            if as_json:
                write(msgspec.json.encode(page).decode())
                continue
            about = (page.title, page.author, page.published, page.language, page.media_type, f"{page.size:,} bytes")
            say(" · ".join(clean(each) for each in about if each))
            say(f"{page.final_url} · sha256 {page.sha256} · {page.extractor}{_by(page.rendered)}")
            write(page.text)
    return code


def _by(browser: str) -> str:
    return f" · rendered by {browser}" if browser else ""
