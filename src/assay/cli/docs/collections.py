"""Collections: who may read them, their documents, their vectors, their summary."""

from __future__ import annotations

import asyncio
from collections import Counter
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
    format_name,
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
    async with open_assay(home) as local_assay:
        assay = local_assay.owned_by(user)
        if private is not None:
            is_new = private and name not in [row.name for row in await assay.collections()]
            await assay.mark(name, private=private, create=private)
            say(f"the {'new ' if is_new else ''}collection {name} is {'private' if private else 'not private'}")
        if readers is not None:
            say(await _share(local_assay, user, name, readers))


async def _share(local_assay: Assay, user: str, name: str, readers: str) -> str:
    """Let others read a user's collection, and return a message about who may now."""
    reader_names = () if readers == "none" else tuple(filter(None, (reader.strip() for reader in readers.split(","))))
    if "all" in reader_names or not reader_names:
        if readers not in ("all", "none"):
            raise click.UsageError("--readers takes names of users, separated by commas, or `all` or `none` alone")
        await local_assay.owned_by(user).share(name, "all" if reader_names else ())
    else:
        for reader in reader_names:
            await local_assay.users.find(reader)
        await local_assay.owned_by(user).share(name, reader_names)
    await local_assay.note("mark_collection", f"{user}/{name}" if user else name)
    if not reader_names:
        return f"nobody else may read the collection {name}"
    audience = "every user" if reader_names == ("all",) else ", ".join(reader_names)
    return (
        f"{audience} may read the collection {name}, and {'calls' if len(reader_names) == 1 else 'call'} "
        f"it {user}/{name}"
    )


async def _show(name: str, user: str, home: Path | None) -> None:
    async with open_existing(home) as local_assay:
        assay = local_assay.owned_by(user)
        await assay.check_collection(name)
        write(await _line(assay, name))
        for origin in await assay.origins(name):
            write(_origin_line(origin))


async def _line(assay: Assay, name: str) -> str:
    row = next(row for row in await assay.collections() if row.name == name)
    private = ", private" if row.private else ""
    audience = "every user" if row.open else ", ".join(map(clean, row.readers))
    readers = f", read by {audience} too" if audience else ""
    return f"{clean(row.name)}: {pluralize(row.documents, 'document')}{private}{readers}"


def _origin_line(origin: Origin) -> str:
    left_out = f", {len(origin.left_out)} taken out" if origin.left_out else ""
    documents = pluralize(len(origin.documents), "document")
    return f"  {clean(origin.place)}  ({origin.kind}, {documents}{left_out}, looked at {origin.synced_at})"


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
    result = asyncio.run(_embed(embedder, anew, home, state.verbosity))
    if as_json:
        write_json(result)
    elif state.verbosity >= 0:
        for line in _progress_line(result):
            say(line)
    return Exit.LIMIT if result.stopped else Exit.DONE


async def _embed(embedder: str | None, anew: bool, home: Path | None, verbosity: int) -> BuildResult:
    async with open_existing(home, embedder) as assay:
        return await assay.embed(say if verbosity >= 0 else None, anew=anew)


async def _status(embedder: str | None, as_json: bool, home: Path | None) -> None:
    async with open_existing(home, embedder) as assay:
        status = await assay.embedding_status()
    if as_json:
        write_json(status)
        return
    withheld = f", {status.withheld:,} of them private and withheld" if status.withheld else ""
    write(
        f"{status.model}: {pluralize(status.documents, 'document')} with vectors, {status.missing:,} without{withheld}"
    )
    write(f"{status.tokens:,} tokens, ${status.usd:.4f} so far")


def _progress_line(result: BuildResult) -> list[str]:
    cost = f" (${result.usd:.4f})" if result.usd else ""
    total = f"vectors of {pluralize(result.passages, 'passage')} of {pluralize(result.documents, 'document')}"
    lines = [f"{total}, {result.embedded:,} of them embedded now: {result.tokens:,} tokens{cost}"]
    if result.withheld:
        lines.append(
            f"{pluralize(result.withheld, 'private document')} left out: the embedder is not on this machine"
            " (embedder.allow_private lets it have them)"
        )
    return [*lines, f"stopped: {result.stopped}"] if result.stopped else lines


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
    state: TerminalOptions, /, collection: str, questions: int, as_json: bool, home: Path | None, **option_values: Any
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
        overview = await collection_summary(assay, collection, questions)
        run = (
            start_summary(assay, overview, **option_values) if option_values["models"] and overview.documents else None
        )
        if output.stdout == "json":
            if run is not None:
                text = (await run.report()).markdown
                overview = msgspec.structs.replace(overview, summary=text, run_id=run.run_id)
            write_json(overview)
            return Exit.DONE
        if not overview.documents:
            say(await empty_collection_message(assay, collection))
            return Exit.DONE
        for line in _lines(overview):
            write(line)
        if run is None:
            return Exit.DONE
        write("")
        return await execute_run(assay, run, output)


def _lines(overview: CollectionOverview) -> list[str]:
    kinds = Counter[str]()
    for media_type, count in overview.kinds.items():
        kinds[format_name(media_type)] += count
    lines = [
        (
            f"{clean(overview.collection)}: {pluralize(overview.documents, 'document')}, "
            f"{format_size(overview.bytes)} of text"
        ),
        f"kinds      {_counts(kinds)}",
        f"languages  {_counts(overview.languages)}",
        f"dates      {_dates(overview)}",
    ]
    if overview.subjects:
        sample = f" (of {overview.looked_into} documents)" if overview.looked_into < overview.documents else ""
        lines += ["", f"Subjects{sample}"]
        lines += [
            f"  {clean(subject.term)}: {shorten('; '.join(subject.documents), WIDE)}" for subject in overview.subjects
        ]
    if overview.questions:
        lines += ["", "Questions it answers"]
    for question in overview.questions:
        page = f", p. {question.page}" if question.page else ""
        lines += [
            f"  {question.question}",
            f"    {shorten(question.answer, WIDE)} ({shorten(question.document, 40)}{page})",
        ]
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{clean(name)} {count}" for name, count in counts.items())


def _dates(overview: CollectionOverview) -> str:
    if not overview.first:
        return "none stated"
    period = clean(overview.first) if overview.first == overview.last else clean(f"{overview.first} to {overview.last}")
    return f"{period}; {overview.undated} without" if overview.undated else period
