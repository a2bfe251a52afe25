"""`assay table`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import click

from assay import Assay, settings
from assay.cli import destinations, options, run_options
from assay.cli.batch import claims_of, price_of, spent_fields, spent_line, work_on
from assay.cli.docs.intake import print_warnings
from assay.cli.library import open_assay
from assay.cli.options import Count, Money
from assay.cli.run_options import ResearchCommand, check_exist, paths_from
from assay.cli.terminal import Exit, TerminalOptions, clean, say, write_json
from assay.core.errors import UsageError
from assay.core.milestones import pluralize, shorten
from assay.core.ports.lists import CELL_OF
from assay.core.sources import Document
from assay.core.usage import Budget
from assay.services.batch import BadLine, Batch, BatchEnd, BatchFolder, BatchResult, BatchRow, Terms, read_orders
from assay.services.batch.answer_table import AnswerTable, answer_table, check_suffix, table_files, table_orders
from assay.services.batch.rows import MAX_LINE_BYTES

FOLDER = ".cells"
"""The suffix after the table's name: the folder with the finished cells."""


@dataclass(frozen=True, slots=True)
class TableJob:
    """The work on a table, and how to report it."""

    questions: Sequence[str]
    paths: Sequence[str] | None
    target: Path
    folder: BatchFolder
    terms: Terms
    as_json: bool
    verbosity: int


@click.command("table", cls=ResearchCommand)
@click.argument("file", metavar="QUESTIONS", type=click.File("rb"))
@click.option(
    "-o", "--output", "target", type=options.FilePath(dir_okay=False), required=True, metavar="FILE",
    help="Table to write: .csv, .xlsx, .md or .json; the same FILE continues it.",
)  # fmt: skip
@run_options.places_option()
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Number of cells at a time.")
@click.option("--max-usd", type=Money(), metavar="USD", help="Limit for the whole table in US dollars (5).")
@click.option("--max-tokens", type=Count(), metavar="COUNT", help="Limit for the whole table in tokens (2m).")
@run_options.run_options("table")
@options.json_output
@options.common_options
@click.pass_obj
def command(
    state: TerminalOptions,
    /,
    file: Any,
    target: Path,
    paths: Sequence[str],
    jobs: int,
    max_usd: float | None,
    max_tokens: int | None,
    as_json: bool,
    home: Path | None,
    **option_values: Any,
) -> int:
    """Ask every question in QUESTIONS (one per line; - is stdin) of every document, and make a table with evidence
    for each cell.

    A cell is answered from its document alone and carries the verdict of its weakest claim. Quotes and page numbers
    go into a second file (CSV), a second sheet (Excel), or below the table. Finished cells are stored in FILE.cells:
    run the same command again, even after a kill, to fill what is missing, including new documents and questions.
    Exit codes: 0 all done, 1 a cell failed, 5 a limit was reached, 130 and 143 interrupted.

    \b
        assay table questions.txt --in papers/ -o t.csv
        assay table questions.txt --in @thesis -o t.xlsx --model openai:gpt-5 --max-usd 5
    """
    check_suffix(target)
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist: make it, or name another file")
    rows = list(read_orders(destinations.lines(file, MAX_LINE_BYTES)))
    bad = [row for row in rows if isinstance(row, BadLine)]
    if bad:
        raise UsageError(f"line {bad[0].line} of the questions: {bad[0].error}; write one question per line")
    questions = list(dict.fromkeys(row.question for row in rows if isinstance(row, BatchRow)))
    if not questions:
        raise UsageError("the file has no questions: write one per line")
    option_values |= {"mode": "deep_research", "web": False, "labels": {CELL_OF: target.name}}
    terms = Terms(
        total=Budget(usd=max_usd, tokens=max_tokens), at_once=jobs, suffix=".json", options=cast("Any", option_values)
    )
    folder = BatchFolder(target.with_name(target.name + FOLDER))
    sources = check_exist(paths_from(paths)) if paths else None
    job = TableJob(questions, sources, target, folder, terms, as_json, state.verbosity)
    with folder.lock():
        return asyncio.run(_table(job, home))


async def _table(job: TableJob, home: Path | None) -> int:
    async with open_assay(home, settings.load()) as assay:
        documents = await _documents(assay, job)
        orders = await table_orders(assay, documents, job.questions)
        batch = Batch(assay, orders, job.folder, job.terms, _Progress(job, documents, len(orders)))
        if batch.skipped and job.verbosity >= 0:
            say(f"{pluralize(batch.skipped, 'cell')} of {len(orders)} done already")
        try:
            end = await work_on(batch)
        finally:
            job.folder.sort_results()
            table = answer_table(documents, job.questions, job.folder)
            _save(table, job.target)
    return Exit.TERMINATED if end is None else _report(job, batch, table, end)


async def _documents(assay: Assay, job: TableJob) -> list[Document]:
    """The documents of everything that was named, or of the default collection."""
    if job.paths is None:
        default_documents = await assay.documents()
        if not default_documents:
            raise UsageError("the default collection has no documents: name some with --in PATH")
        return default_documents
    documents: dict[str, Document] = {}
    collection_paths = [path for path in job.paths if path.startswith("@")]
    file_paths = [path for path in job.paths if not path.startswith("@")]
    for name in collection_paths:
        await assay.check_collection(name[1:])
        documents |= {document.sha256: document for document in await assay.documents(name[1:])}
    if file_paths:
        result = await assay.add(file_paths, collection=None, progress=say if job.verbosity >= 0 else None)
        print_warnings(result.warnings, result.notes, result.skipped, job.verbosity)
        documents |= {document.sha256: document for document in await assay.documents(result.collection)}
    return list(documents.values())


def _save(table: AnswerTable, target: Path) -> None:
    for path, data in table_files(table, target).items():
        BatchFolder(path.parent).save(path.name, data)


class _Progress:
    """Prints a line on stderr for each finished cell."""

    def __init__(self, job: TableJob, documents: Sequence[Document], cells: int) -> None:
        self._job, self._documents, self._cells = job, documents, cells

    def __call__(self, order: BatchRow, row: BatchResult) -> None:
        if self._job.verbosity < 0 and row.status == "completed":
            return
        document = self._documents[(order.line - 1) // len(self._job.questions)]
        name = document.title or document.name
        cell = answer_table([document], [order.question], self._job.folder).rows[0].cells[0]
        claims = claims_of(row) if cell.status == "answered" else "nothing found"
        outcome = row.error or claims if row.status == "completed" else f"{row.status} {row.error}".strip()
        label = f"{shorten(clean(name), 40)} · {shorten(clean(order.question), 50)}"
        say(f"cell {order.line} of {self._cells}: {label}: {outcome}{price_of(row)}")


def _report(job: TableJob, batch: Batch, table: AnswerTable, end: BatchEnd) -> Exit:
    cells = [cell for row in table.rows for cell in row.cells]
    answered = sum(cell.verdict is not None for cell in cells)
    undone = sum(cell.status not in ("answered", "nothing found") for cell in cells)
    if job.as_json:
        fields = {
            "ended": end, "documents": len(table.rows), "questions": len(table.questions), "answered": answered,
            "nothing_found": len(cells) - answered - undone, "undone": undone, **spent_fields(batch),
            "files": [str(path) for path in table_files(table, job.target)],
        }  # fmt: skip
        write_json(fields, line=True)
    elif job.verbosity >= 0:
        reason_note = "; the limits do not pay for another cell (--max-usd, --max-tokens)" if end == "spent" else ""
        undone_note = f", {undone} not done" if undone else ""
        cost = f"; {spent_line(batch)}"
        size = f"{pluralize(len(table.rows), 'document')} by {pluralize(len(table.questions), 'question')}"
        say(
            f"{size}: {answered} answered, {len(cells) - answered - undone} without an "
            f"answer{undone_note}{cost}{reason_note}"
        )
        for path in table_files(table, job.target):
            say(f"wrote {path}")
    if end == "stopped":
        return Exit.CANCELLED
    if end == "spent":
        return Exit.LIMIT
    return Exit.FAILED if undone else Exit.DONE
