"""Collections: who may read them, their documents, their vectors, their summary."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click
import msgspec

from assay import Assay
from assay.app.assay import DEFAULT_COLLECTION
from assay.app.embeddings import BuildResult
from assay.cli import options, run_options
from assay.cli.completion import collection_names
from assay.cli.figures import format_size
from assay.cli.jobs import queue_jobs, queue_option
from assay.cli.library import (
    HOW_TO_ADD,
    check_collection,
    empty_collection_message,
    library_exists,
    open_assay,
    open_existing,
    read_library,
    settings_with_embedder,
)
from assay.cli.options import embedder_option
from assay.cli.run_watch import Output, execute_run
from assay.cli.terminal import Exit, TerminalOptions, clean, print_list, say, write, write_json
from assay.core.milestones import pluralize, shorten
from assay.core.ports import Origin
from assay.services.collection_summary import CollectionOverview, collection_summary, start_summary
from assay.services.jobs.specifications import EmbedJob


@click.command("collections")
@options.json_output
@options.common_options
def list_collections(as_json: bool, home: Path | None) -> None:
    """List collections, with their numbers of documents and sources.

    To research in one: `assay QUESTION --in @NAME`.

    \b
        assay docs collections
        assay docs collections --json
    """
    rows = read_library(home, lambda assay: assay.collections()) if library_exists(home) else []
    if not rows:
        say(HOW_TO_ADD)
    cells = [
        (row.name, str(row.documents), pluralize(row.origins, "place"), "private" if row.private else "")
        for row in rows
    ]
    print_list(rows, ("collection", "documents", "from", ""), cells, as_json=as_json)


@click.command("collection")
@click.argument("name", shell_complete=collection_names)
@click.option(
    "--private/--public",
    "private",
    default=None,
    help="Keep its documents on this machine: remote models never see them, and no web search runs beside them.",
)
@click.option(
    "--readers",
    metavar="USERS",
    help="Users of `assay serve` who may read it: names separated by commas, `all`, or `none`.",
)
@click.option("--user", default="", help="Use the collection of this user of `assay serve`; default: your own.")
@options.common_options
@options.run_async
async def collection_command(
    name: str, private: bool | None, readers: str | None, user: str, home: Path | None
) -> None:
    """Show where the collection NAME came from, or mark it as private (also before you add anything).

    --readers lets others read it as OWNER/NAME; they cannot change it. A collection made without a login is /NAME to
    them.

    Assay refuses a run that would show private documents to a remote model, or search the web with them in scope,
    before anything is sent. --allow-private permits it.

    \b
        assay docs collection diary --private
        assay docs add ~/diary -c diary
        assay docs collection papers --readers bob,cleo
        assay docs collection papers --user ana --readers all
    """
    if private is None and readers is None:
        await _show(name, user, home)
        return
    async with open_assay(home) as whole:
        assay = whole.owned_by(user)
        if private is not None:
            await assay.mark(name, private=private)
            say(f"the collection {name} is {'private' if private else 'not private'}")
        if readers is not None:
            say(await _share(whole, user, name, readers))


async def _share(whole: Assay, user: str, name: str, readers: str) -> str:
    """Let others read a user's collection, and return a message about who may now."""
    named = () if readers == "none" else tuple(filter(None, (each.strip() for each in readers.split(","))))
    if "all" in named or not named:
        if readers not in ("all", "none"):
            raise click.UsageError("--readers takes names of users, separated by commas, or `all` or `none` alone")
        await whole.owned_by(user).share(name, "all" if named else ())
    else:
        for each in named:
            await whole.users.find(each)
        await whole.owned_by(user).share(name, named)
    await whole.note("mark_collection", f"{user}/{name}" if user else name)
    if not named:
        return f"nobody else may read the collection {name}"
    who = "every user" if named == ("all",) else ", ".join(named)
    return f"{who} may read the collection {name}, and {'calls' if len(named) == 1 else 'call'} it {user}/{name}"


async def _show(name: str, user: str, home: Path | None) -> None:
    async with open_existing(home) as whole:
        assay = whole.owned_by(user)
        await assay.check_collection(name)
        write(await _line(assay, name))
        for origin in await assay.origins(name):
            write(_origin_line(origin))


async def _line(assay: Assay, name: str) -> str:
    row = next(row for row in await assay.collections() if row.name == name)
    private = ", private" if row.private else ""
    who = "every user" if row.open else ", ".join(map(clean, row.readers))
    read = f", read by {who} too" if who else ""
    return f"{clean(row.name)}: {pluralize(row.documents, 'document')}{private}{read}"


def _origin_line(origin: Origin) -> str:
    out = f", {len(origin.left_out)} taken out" if origin.left_out else ""
    given = pluralize(len(origin.documents), "document")
    return f"  {clean(origin.place)}  ({origin.kind}, {given}{out}, looked at {origin.synced_at})"


@click.command("embed")
@embedder_option
@click.option("--anew", is_flag=True, help="Rebuild all vectors, not only missing ones.")
@click.option("--status", is_flag=True, help="Show how many vectors exist, and build none.")
@queue_option
@options.json_output
@options.common_options
@click.pass_obj
def embed(
    state: TerminalOptions,
    embedder: str | None,
    anew: bool,
    status: bool,
    queued: bool,
    as_json: bool,
    home: Path | None,
) -> int:
    """Compute the vectors for search by meaning, for all passages that have none yet.

    The embedder is --embedder or the setting embedder.model. Run it again to continue after an interruption. Exits
    with 5 if a limit stopped it.

    \b
        assay docs embed --embedder ollama:nomic-embed-text
        assay docs embed
    """
    if queued and (status or as_json):
        raise click.UsageError("--queue leaves it to a worker: leave out --status and --json")
    if status:
        asyncio.run(_status(embedder, as_json, home))
        return Exit.DONE
    if queued:
        queue_jobs([EmbedJob(anew=anew)], home, settings_with_embedder(embedder, elsewhere=True), state.verbosity)
        return Exit.DONE
    built = asyncio.run(_embed(embedder, anew, home, state.verbosity))
    if as_json:
        write_json(built)
    elif state.verbosity >= 0:
        for line in _progress_line(built):
            say(line)
    return Exit.LIMIT if built.stopped else Exit.DONE


async def _embed(embedder: str | None, anew: bool, home: Path | None, verbosity: int) -> BuildResult:
    async with open_existing(home, embedder) as assay:
        return await assay.embed(say if verbosity >= 0 else None, anew=anew)


async def _status(embedder: str | None, as_json: bool, home: Path | None) -> None:
    async with open_existing(home, embedder) as assay:
        found = await assay.embedding_status()
    if as_json:
        write_json(found)
        return
    withheld = f", {found.withheld:,} of them private and withheld" if found.withheld else ""
    write(f"{found.model}: {pluralize(found.documents, 'document')} with vectors, {found.missing:,} without{withheld}")
    write(f"{found.tokens:,} tokens, ${found.usd:.4f} so far")


def _progress_line(built: BuildResult) -> list[str]:
    cost = f" (${built.usd:.4f})" if built.usd else ""
    done = f"vectors of {pluralize(built.passages, 'passage')} of {pluralize(built.documents, 'document')}"
    lines = [f"{done}, {built.embedded:,} of them embedded now: {built.tokens:,} tokens{cost}"]
    if built.withheld:
        lines.append(
            f"{pluralize(built.withheld, 'private document')} left out: the embedder is not on this machine"
            " (embedder.allow_private lets it have them)"
        )
    return [*lines, f"stopped: {built.stopped}"] if built.stopped else lines


WIDE = 100


@click.command("summary")
@click.argument("collection", default=DEFAULT_COLLECTION, shell_complete=collection_names)
@click.option(
    "--questions",
    type=click.IntRange(0, 20),
    default=5,
    show_default=True,
    help="Number of questions to suggest at most; each is tried first.",
)
@run_options.run_options("summary")
@options.json_output
@options.common_options
@click.pass_obj
@options.run_async
async def summary(
    state: TerminalOptions, /, collection: str, questions: int, as_json: bool, home: Path | None, **wanted: Any
) -> int:
    """Summarize COLLECTION: kinds of documents, dates, languages, subjects, and questions it can answer.

    All of this is computed on this machine, and every suggested question is tried on the built-in model first.
    Subjects are words that many, but not most, passages contain. With --model, that model also writes a summary, with
    citations and verdicts like any report, and it is stored as a run.

    \b
        assay docs summary
        assay docs summary thesis --questions 10 --json
        assay docs summary thesis --model ollama:qwen3
    """
    output = Output(stdout="json" if as_json else "report", verbosity=state.verbosity)
    collection = collection.removeprefix("@")
    async with open_existing(home) as assay:
        await check_collection(assay, collection)
        found = await collection_summary(assay, collection, questions)
        run = start_summary(assay, found, **wanted) if wanted["models"] and found.documents else None
        if output.stdout == "json":
            if run is not None:
                text = (await run.report()).markdown
                found = msgspec.structs.replace(found, summary=text, run_id=run.run_id)
            write_json(found)
            return Exit.DONE
        if not found.documents:
            say(await empty_collection_message(assay, collection))
            return Exit.DONE
        for line in _lines(found):
            write(line)
        if run is None:
            return Exit.DONE
        write("")
        return await execute_run(assay, run, output)


def _lines(found: CollectionOverview) -> list[str]:
    lines = [
        f"{clean(found.collection)}: {pluralize(found.documents, 'document')}, {format_size(found.bytes)} of text",
        f"kinds      {_counts(found.kinds)}",
        f"languages  {_counts(found.languages)}",
        f"dates      {_dates(found)}",
    ]
    if found.subjects:
        some = f" (of {found.looked_into} documents)" if found.looked_into < found.documents else ""
        lines += ["", f"Subjects{some}"]
        lines += [f"  {clean(each.term)}: {shorten('; '.join(each.documents), WIDE)}" for each in found.subjects]
    if found.questions:
        lines += ["", "Questions it answers"]
    for each in found.questions:
        page = f", p. {each.page}" if each.page else ""
        lines += [f"  {each.question}", f"    {shorten(each.answer, WIDE)} ({shorten(each.document, 40)}{page})"]
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{clean(name)} {count}" for name, count in counts.items())


def _dates(found: CollectionOverview) -> str:
    if not found.first:
        return "none stated"
    between = clean(found.first) if found.first == found.last else clean(f"{found.first} to {found.last}")
    return f"{between}; {found.undated} without" if found.undated else between
