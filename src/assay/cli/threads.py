"""`assay threads`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli import options
from assay.cli.completion import thread_names
from assay.cli.library import library_exists, open_existing, read_library
from assay.cli.runs.removal import describe_swept
from assay.cli.terminal import clean, confirm, print_table, say, strip_controls, write, write_json
from assay.core.lazy import lazy_module
from assay.core.milestones import pluralize

if TYPE_CHECKING:
    from assay.services import run_lists
else:
    run_lists = lazy_module("assay.services.run_lists")


# Threads as a table, and as JSON.

HOW_TO_BEGIN = "there are no threads yet: assay QUESTION --thread NAME begins one, --continue ID continues from a run"


def threads_page(home: Path | None, text: str, cursor: str, limit: int) -> run_lists.ThreadsPage:
    """A page of threads; empty if there is no home yet."""
    if not library_exists(home):
        return run_lists.ThreadsPage(threads=())
    return read_library(home, lambda assay: assay.threads(text, cursor=cursor, limit=limit))


def print_page(page: run_lists.ThreadsPage, nothing: str, *, as_json: bool) -> None:
    """Print a page of threads on stdout, and where the list continues."""
    if as_json:
        write_json(page)
        return
    if not page.threads:
        say(nothing)
    print_table(
        ("thread", "last run", "", "title or first question"),
        [
            (row.name, row.last_at[:16].replace("T", " "), pluralize(row.runs, "run"), row.title or row.question)
            for row in page.threads
        ],
    )
    if page.next:
        say(f"more follow: --cursor {page.next}")


@click.command("list")
@options.paging_options
@options.json_output
@options.common_options
def list_threads(limit: int, cursor: str, as_json: bool, home: Path | None) -> None:
    """List threads, latest first: name, last run, number of runs, title or first question.

    --thread NAME starts a thread, and so does continuing from a run (--continue).

    \b
        assay threads list
        assay threads list --json -n 20
    """
    print_page(threads_page(home, "", cursor, limit), HOW_TO_BEGIN, as_json=as_json)


@click.command("show")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@options.json_output
@options.common_options
def show_thread(reference: str, as_json: bool, home: Path | None) -> None:
    """Show the conversation in THREAD, oldest first: questions, clarifying questions, and reports without citations.

    \b
        assay threads show tides
        assay threads show tides --json
    """
    conversation = read_library(home, lambda assay: assay.messages(reference))
    if as_json:
        write_json(conversation)
        return
    run_id = ""
    for message in conversation:
        if message.run_id != run_id:
            run_id = message.run_id
            write(f"── {run_id}  {message.created_at[:16].replace('T', ' ')}")
        mark = ">" if message.by == "user" else " "
        write("\n".join(f"{mark} {line}" for line in strip_controls(message.text).splitlines()) + "\n")


@click.command("search")
@click.argument("text")
@options.paging_options
@options.json_output
@options.common_options
def search_threads(text: str, limit: int, cursor: str, as_json: bool, home: Path | None) -> None:
    """Search for threads with TEXT in their title or in a question (case does not matter).

    `assay runs list --search` looks in reports too.

    \b
        assay threads search "signal tower"
        assay threads search tides --json
    """
    print_page(threads_page(home, text, cursor, limit), "no thread says that", as_json=as_json)


@click.command("rename")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@click.argument("title")
@options.common_options
@options.run_async
async def rename_thread(reference: str, title: str, home: Path | None) -> None:
    """Set the title of THREAD; an empty TITLE removes it. The name used with --thread stays the same.

    \b
        assay threads rename tides "Tides of Brittany"
        assay threads rename tides ""
    """
    async with open_existing(home) as assay:
        row = await assay.rename_thread(reference, title)
    say(f"{clean(row.name)}: {clean(row.title) or 'no title'}")


@click.command("rm")
@click.argument("reference", metavar="THREAD", shell_complete=thread_names)
@options.yes_option
@options.common_options
@options.run_async
async def remove_threads(reference: str, yes: bool, home: Path | None) -> None:
    """Delete THREAD with all its runs, and documents no other run has read.

    Nothing is deleted while one of the runs is in progress.

    \b
        assay threads rm tides
        assay threads rm tides --yes
    """
    async with open_existing(home) as assay:
        row = await assay.thread(reference)
        description = f"{clean(row.name)}  {row.last_at[:10]}  {clean(row.title or row.question)}"
        confirm(f"Delete the thread with {pluralize(row.runs, 'run')}?", [description], yes=yes)
        deleted = await assay.delete_thread(row.name)
        swept = await assay.tidy()
    say(f"{pluralize(len(deleted), 'run')} deleted{describe_swept(swept)}")
