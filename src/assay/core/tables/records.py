"""Lists of records as tables: fields `key: value`, one a passage, under a heading for each or one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.lazy import regex
from assay.core.sources import Document
from assay.core.tables.cells import KEY_VALUE, MAX_HEAD_CHARS, ReadTable, TableCell, TablePiece, TableRow, span
from assay.core.tables.figures import COMMA_LANGUAGES
from assay.core.translation import current_phrases

MIN_RECORDS = 3
MIN_FIELDS = 2
MAX_VALUE_CHARS = 120
HEADINGS_COLUMN = "column 1"
"""The column of the headings, which has no header."""


class _Record(msgspec.Struct):
    heading: tuple[str, ...]
    fields: dict[str, TableCell]
    name: TableCell | None


def record_tables(pieces: Iterable[TablePiece], title: str = "", language: str = "") -> tuple[ReadTable, ...]:
    """The lists of at least three records of two fields in a document's passages, in order."""
    tables: list[ReadTable] = []
    group: list[_Record] = []
    for record in (*_records(pieces), None):
        if (
            record is not None
            and len(record.fields) >= MIN_FIELDS
            and (not group or _continues_list(group[-1], record))
        ):
            group.append(record)
            continue
        if len(group) >= MIN_RECORDS:
            keys = dict.fromkeys(key for member in group for key in member.fields)
            table, heading = _table(group, tuple(keys), language), group[0].heading
            if table.heads[0] == HEADINGS_COLUMN:
                kind = frozenset.intersection(*(frozenset(member.heading[-1].split()) for member in group))
                table = replace(table, caption=" ".join(sorted(kind)))
                heading = heading[:-1]
            tables.append(replace(table, heading=heading, title=title))
        group = [record] if record is not None else []
    return tuple(tables)


def table_of_documents(documents: Iterable[tuple[Document, Iterable[TablePiece]]]) -> ReadTable | None:
    """The records of several documents as one table, a row for each under its title; None if fewer than three have one.

    Columns are the keys that at least three documents have. If no language is known, it is that of the answer.
    """
    records: list[_Record] = []
    languages: set[str] = set()
    for document, pieces in documents:
        fields: dict[str, TableCell] = {}
        for piece in pieces:
            if (key_value := _field(piece.text)) is not None:
                fields.setdefault(key_value[0], _cell(_REMARK.sub("", key_value[1]), piece))
        if fields:
            first_cell = next(iter(fields.values()))
            records.append(
                _Record(
                    (),
                    fields,
                    TableCell(document.title or document.name, first_cell.name, first_cell.start, first_cell.start),
                )
            )
            languages |= {document.language} - {""}
    times = Counter(key for record in records for key in record.fields)
    keys = tuple(key for key, count in times.items() if count >= MIN_RECORDS)
    records = [record for record in records if not record.fields.keys().isdisjoint(keys)]
    answer_language = (
        current_phrases().locale if current_phrases().locale in COMMA_LANGUAGES else ""
    )  # short lines rarely tell their language
    language = languages.pop() if len(languages) == 1 else "" if languages else answer_language
    return replace(_table(records, keys, language), of_documents=True) if keys else None


_REMARK = regex(r"(?<=\S)\s*\([^()]*\)\s*\Z")
"""A remark behind a value: "6.9 kg (size 54)"."""


def is_field(text: str) -> bool:
    """True if a passage is one field: `key: value`."""
    return _field(text) is not None


def _field(text: str) -> tuple[str, str] | None:
    """The key and the value of a passage that is one field; None for others."""
    line = text.strip()
    if len(line) > MAX_HEAD_CHARS + MAX_VALUE_CHARS or "|" in line or "\n" in line:
        return None
    match = KEY_VALUE.fullmatch(line)
    if match is None or len(match["value"]) > MAX_VALUE_CHARS:
        return None
    return match["head"].strip(" *"), match["value"].removeprefix("** ")


def _records(pieces: Iterable[TablePiece]) -> Iterator[_Record | None]:
    """The records in order; None where something else than their headings stands between two."""
    record: _Record | None = None
    before: TablePiece | None = None
    for piece in pieces:
        key_value = _field(piece.text)
        if key_value is None:
            if record is not None:
                yield record
            if before is not None:
                yield None
            record, before = None, piece
            continue
        is_named = before is not None and piece.heading == (*before.heading, before.text.strip())
        if before is not None and not is_named:
            yield None
        if record is None or piece.heading != record.heading or key_value[0] in record.fields:
            if record is not None:
                yield record
            name = _cell(before.text.strip(), before) if before is not None and is_named else None
            record = _Record(piece.heading, {}, name)
        record.fields[key_value[0]] = _cell(key_value[1], piece)
        before = None
    if record is not None:
        yield record


def _continues_list(last: _Record, record: _Record) -> bool:
    """True if a record belongs to the list of the last: their headings are siblings, and most keys are the same."""
    common = last.fields.keys() & record.fields.keys()
    siblings = last.heading[:-1] == record.heading[:-1]
    return siblings and len(common) >= max(MIN_FIELDS, len(record.fields) / 2)


def _table(records: Sequence[_Record], keys: tuple[str, ...], language: str) -> ReadTable:
    """The records as rows, with their names in the first column if all have one."""
    has_names = all(record.name is not None for record in records)
    rows = tuple(_row(record, (HEADINGS_COLUMN, *keys) if has_names else keys) for record in records)
    heads = tuple(key[:MAX_HEAD_CHARS] for key in ((HEADINGS_COLUMN, *keys) if has_names else keys))
    columns = tuple(tuple(row.text(index) for row in rows) for index in range(len(heads)))
    return ReadTable(heads=heads, rows=rows, language=language, columns=columns, of_records=True)


def _row(record: _Record, keys: Sequence[str]) -> TableRow:
    fields = record.fields if record.name is None else {HEADINGS_COLUMN: record.name, **record.fields}
    cells = {column: fields[key] for column, key in enumerate(keys) if key in fields}
    return TableRow(cells, tuple(dict.fromkeys(cell.name for cell in cells.values())))


def _cell(text: str, piece: TablePiece) -> TableCell:
    start = piece.text.rindex(text)
    return span(piece, start, start + len(text))
