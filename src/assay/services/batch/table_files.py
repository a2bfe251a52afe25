"""A table of answers as files: CSV with the evidence in a second file, Excel in a second sheet, Markdown, JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from assay.core.clean import inert, one_line
from assay.core.errors import ConfigError, UsageError
from assay.services.batch.answer_table import AnswerCell, AnswerRow, AnswerTable, CellEvidence

SUFFIXES = (".csv", ".xlsx", ".md", ".json")
EVIDENCE = ("document", "question", "claim", "verdict", "why", "quote", "page", "heading", "file", "read by", "run")
MOST_IN_CELL = 32_000
"""Characters in a cell of Excel, which takes 32,767."""
WIDE = 60


def check_suffix(path: Path) -> str:
    """The suffix of the form a table is to have, which can be written here.

    Raises:
        UsageError: there is no such form.
        ConfigError: an extra is needed.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise UsageError(f"{path.name} must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")
    if suffix == ".xlsx" and find_spec("xlsxwriter") is None:
        raise ConfigError("Excel files need xlsxwriter; install it with: pip install 'assay[office]'")
    return suffix


def table_files(table: AnswerTable, path: Path) -> dict[Path, bytes]:
    """What is to be written, and where."""
    suffix = check_suffix(path)
    if suffix == ".csv":
        beside = path.with_name(f"{path.stem}.evidence.csv")
        return {path: _csv(_head(table), map(_answers, table.rows)), beside: _csv(EVIDENCE, map(_said, table.evidence))}
    if suffix == ".xlsx":
        return {path: _excel(table)}
    if suffix == ".md":
        return {path: _markdown(table)}
    return {path: msgspec.json.format(msgspec.json.encode(table)) + b"\n"}


def _head(table: AnswerTable) -> list[str]:
    """Two columns for each question: the answer, and what it is worth."""
    return ["document", "file", *(name for question in table.questions for name in (question, "verdict"))]


def _answers(row: AnswerRow) -> list[str]:
    return [_name(row), row.where, *(text for cell in row.cells for text in (cell.answer, _worth(cell)))]


def _name(row: AnswerRow) -> str:
    return f"{row.title} (read by OCR)" if row.read_by else row.title


def _worth(cell: AnswerCell) -> str:
    """The verdict, with the pages of the passages; of a cell without an answer, why there is none."""
    if cell.verdict is None:
        return f"{cell.status}: {cell.error}" if cell.error else cell.status
    pages = sorted({each.page for each in cell.evidence if each.page})
    return f"{cell.verdict} (p. {', '.join(map(str, pages))})" if pages else cell.verdict


def _said(each: CellEvidence) -> list[str]:
    page = str(each.page) if each.page else ""
    return [
        each.title, each.question, each.claim, each.verdict, each.reason, each.quote, page, each.heading, each.url,
        each.read_by, each.run,
    ]  # fmt: skip


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerows([inert(one_line(cell)) for cell in row] for row in (head, *rows))
    return written.getvalue().encode("utf-8", "replace")


def _excel(table: AnswerTable) -> bytes:
    import xlsxwriter  # noqa: PLC0415 - an extra

    written = io.BytesIO()
    book = xlsxwriter.Workbook(written, {"in_memory": True})
    _sheet(book, "Answers", (_head(table), *map(_answers, table.rows)))
    _sheet(book, "Evidence", (EVIDENCE, *map(_said, table.evidence)))
    book.close()
    return written.getvalue()


def _sheet(book: Any, name: str, rows: Sequence[Sequence[str]]) -> None:
    sheet = book.add_worksheet(name)
    plain, bold = (book.add_format({"text_wrap": True, "valign": "top", "bold": bold}) for bold in (False, True))
    for at, row in enumerate(rows):
        for column, text in enumerate(row):
            # a string, and no formula or link, whatever it looks like
            sheet.write_string(at, column, one_line(text)[:MOST_IN_CELL], plain if at else bold)
    for column in range(len(rows[0])):
        sheet.set_column(column, column, min(WIDE, 2 + max(len(row[column]) for row in rows)))
    sheet.freeze_panes(1, 1)


def _markdown(table: AnswerTable) -> bytes:
    numbers = {id(each): number for number, each in enumerate(table.evidence, 1)}
    lines = [_line(["document", *table.questions]), _line(["---"] * (1 + len(table.questions)))]
    lines += [_line([_name(row), *(_with_numbers(cell, numbers) for cell in row.cells)]) for row in table.rows]
    lines += ["", "## Evidence", ""]
    for number, each in enumerate(table.evidence, 1):
        place = ", ".join(
            filter(None, (each.title, f"p. {each.page}" if each.page else "", each.heading, each.read_by))
        )
        lines.append(f"{number}. {each.verdict}: “{_plain(each.quote)}” ({_plain(place)})")
    return ("\n".join(lines) + "\n").encode("utf-8", "replace")


def _with_numbers(cell: AnswerCell, numbers: dict[int, int]) -> str:
    if cell.verdict is None:
        return _worth(cell)
    return f"{cell.answer} [{', '.join(str(numbers[id(each)]) for each in cell.evidence)}] ({cell.verdict})"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(_plain, cells))} |"


def _plain(text: str) -> str:
    """Text which Markdown shows as it is: no cell ends early, no link or markup begins."""
    kept = one_line(text)
    for mark in "\\|`*_<>[]":
        kept = kept.replace(mark, f"\\{mark}")
    return kept
