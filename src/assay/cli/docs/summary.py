"""`assay docs summary`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import click
import msgspec

from assay.app.assay import DEFAULT
from assay.cli import options, run_options
from assay.cli.completion import collection_names
from assay.cli.library import check_collection, stored, without_documents
from assay.cli.run_watch import Output, watch
from assay.cli.terminal import Exit, TerminalOptions, clean, say, write
from assay.core.milestones import counted, shorten
from assay.services.collection_summary import CollectionOverview, collection_summary, start_summary

WIDE = 100


@click.command("summary")
@click.argument("collection", default=DEFAULT, shell_complete=collection_names)
@click.option(
    "--questions",
    type=click.IntRange(0, 20),
    default=5,
    show_default=True,
    help="Most questions to suggest; each is tried first.",
)
@run_options.run_options("summary")
@options.json_output
@options.common
@click.pass_obj
def summary(
    state: TerminalOptions, /, collection: str, questions: int, as_json: bool, home: Path | None, **options: Any
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
    return asyncio.run(_summary(collection.removeprefix("@"), questions, options, output, home))


async def _summary(collection: str, questions: int, options: dict[str, Any], output: Output, home: Path | None) -> Exit:
    async with stored(home) as assay:
        await check_collection(assay, collection)
        found = await collection_summary(assay, collection, questions)
        run = start_summary(assay, found, **options) if options["models"] and found.documents else None
        if output.stdout == "json":
            if run is not None:
                text = (await run.report()).markdown
                found = msgspec.structs.replace(found, summary=text, run_id=run.run_id)
            write(msgspec.json.format(msgspec.json.encode(found)).decode())
            return Exit.DONE
        if not found.documents:
            say(await without_documents(assay, collection))
            return Exit.DONE
        for line in _lines(found):
            write(line)
        if run is None:
            return Exit.DONE
        write("")
        return await watch(assay, run, output)


def _lines(found: CollectionOverview) -> list[str]:
    lines = [
        f"{clean(found.collection)}: {counted(found.documents, 'document')}, {found.bytes / 1_000_000:.1f} MB of text",
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
