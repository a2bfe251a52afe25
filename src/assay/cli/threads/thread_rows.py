"""Threads as a table, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.cli.library import exists, stored
from assay.cli.progress import counted
from assay.cli.tables import table
from assay.cli.terminal import say, write
from assay.core.later import later

if TYPE_CHECKING:
    from assay.app import run_lists
else:
    run_lists = later("assay.app.run_lists")

HOW_TO_BEGIN = "there are no threads yet: assay QUESTION --thread NAME begins one, --continue ID goes on from a run"


async def page_of(home: Path | None, text: str, cursor: str, limit: int) -> run_lists.ThreadsPage:
    """Some threads; none where there is no home yet."""
    if not exists(home):
        return run_lists.ThreadsPage(threads=())
    async with stored(home) as assay:
        return await assay.threads(text, cursor=cursor, limit=limit)


def tell(page: run_lists.ThreadsPage, nothing: str, *, as_json: bool) -> None:
    """A page of threads on stdout, and where the list goes on."""
    if as_json:
        write(msgspec.json.format(msgspec.json.encode(page)).decode())
        return
    if not page.threads:
        say(nothing)
    table(
        ("thread", "last run", "", "title or first question"),
        [
            (row.name, row.last_at[:16].replace("T", " "), counted(row.runs, "run"), row.title or row.question)
            for row in page.threads
        ],
    )
    if page.next:
        say(f"there are more: --cursor {page.next}")
