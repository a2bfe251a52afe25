"""The text of JSON: rows for a list of objects, as for CSV, else keys and values under the headings of their path."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.sources import Extracted
from assay.fetch.data_trees import (
    MAX_CHARS,
    MAX_COLUMNS,
    MIN_FILLED_SHARE,
    DataBranch,
    tree_document,
    tree_of,
)
from assay.fetch.data_trees import MAX_DEPTH as MAX_DATA_DEPTH
from assay.fetch.fields import clean_title, title_from_name
from assay.fetch.text_form import Row, clean, one_cell, row_lines, unique_column_names

NAME = "json/2"
MAX_CELL_CHARS = 1_000
"""Characters of a nested value in a cell."""
MAX_LINE_CHARS = 500
"""Characters; JSON with longer lines was not written for readers."""
MAX_CELL_DEPTH = 3
MAX_DEPTH = 100
"""JSON in more levels than this was not written for readers, and could not be shown with all of them."""
MAX_GROWTH = 10
"""How many times longer JSON may become by lines of its own for each value."""
_TITLES = ("title", "headline", "name")
_KINDS = {"FeatureCollection": "GeoJSON", "Feature": "GeoJSON"}

Objects = Sequence[Mapping[str, Any]]
V = TypeVar("V")


def read_json(text: str, name: str) -> Extracted | None:
    """The document in a text that is JSON, whose numbers stay as they are written; None if it is none.

    A list of objects, alone or with a few values beside it, becomes rows, all else the text of a tree. What is too long
    or too deep for that is shown as it is, broken into lines if these are too long to be read.
    """
    try:  # not msgspec: it would round the numbers
        value = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=number_repeated_names)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, (dict, list)) or not value or (depth := _depth(value)) > MAX_DEPTH:
        return None
    facts = {"format": _kind(value)}
    title = _title(value) or title_from_name(name)
    singles, objects = _objects(value)
    rows = [_cells(record) for record in objects]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    if _is_table(rows, columns):
        header = unique_column_names([clean(column) for column in columns])
        lines = [
            line for name, cell in singles.items() for line in row_lines([cell], unique_column_names([clean(name)]))
        ]
        for row in rows:
            lines += row_lines([row.get(column, "") for column in columns], header)
        facts |= {"rows": str(len(rows)), "columns": ", ".join(header)[:1000]}
        return Extracted(text="\n\n".join(lines) + "\n", extractor=NAME, syntax="rows", title=title, metadata=facts)
    if len(text) <= MAX_CHARS and depth <= MAX_DATA_DEPTH:
        tree = tree_of(value)
        document = tree_document(tree, name, "JSON", len(text)) if isinstance(tree, DataBranch) else None
        if document is not None:
            return replace(document, extractor=NAME, title=title, metadata=facts)
    return Extracted(text=_one_value_per_line(text, depth), extractor=NAME, syntax="code", title=title, metadata=facts)


def number_repeated_names(pairs: Sequence[tuple[str, V]]) -> dict[str, V]:
    """An object with all values of names that it gives several times: a second `year` becomes `year (2)`."""
    numbered, times = dict(pairs), Counter[str]()
    for name, value in pairs if len(numbered) < len(pairs) else ():
        times[name] += 1
        while times[name] > 1 and f"{name} ({times[name]})" in numbered:
            times[name] += 1
        numbered[name if times[name] == 1 else f"{name} ({times[name]})"] = value
    return numbered


def _depth(value: Any) -> int:
    """The number of levels in JSON, up to one more than are read."""
    depth, level = 0, [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        inner = (item.values() if isinstance(item, dict) else item for item in level)
        level = [item for values in inner for item in values if isinstance(item, (dict, list))]
    return depth


def _kind(value: Any) -> str:
    if not isinstance(value, dict):
        return "JSON"
    return "JSON-LD" if "@context" in value else _KINDS.get(str(value.get("type")), "JSON")


def _title(value: Any) -> str:
    titles = (value.get(key) for key in _TITLES) if isinstance(value, dict) else ()
    return next((clean_title(clean(title)) for title in titles if isinstance(title, str) and title.strip()), "")


def _objects(value: Any) -> tuple[dict[str, str], Objects]:
    """The list of objects that JSON holds, and the single values beside it; none if it holds anything else."""
    if isinstance(value, list):
        return {}, value if all(isinstance(item, dict) for item in value) else ()
    lists = [item for item in value.values() if isinstance(item, list) and item and isinstance(item[0], dict)]
    singles = {key: item for key, item in value.items() if not isinstance(item, list)}
    if len(lists) != 1 or len(singles) < len(value) - 1 or any(isinstance(item, dict) for item in singles.values()):
        return {}, ()
    if not all(isinstance(item, dict) for item in lists[0]):
        return {}, ()
    if value.get("type") == "FeatureCollection":
        return {}, [_feature(item) for item in lists[0]]
    return {key: cell for key, item in singles.items() if (cell := _cell(item))}, lists[0]


def _feature(feature: Mapping[str, Any]) -> Mapping[str, Any]:
    """A place on a map: what is said of it, and where it is."""
    properties = feature.get("properties")
    rest = {key: value for key, value in feature.items() if key not in ("type", "properties")}
    return {**(properties if isinstance(properties, dict) else {}), **rest}


def _cells(record: Mapping[str, Any], above: str = "", depth: int = MAX_CELL_DEPTH) -> dict[str, str]:
    """The cells of an object, those of an object in it under both names (`address.city`)."""
    cells: dict[str, str] = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and depth > 1:
            cells |= _cells(value, f"{above}{key}.", depth - 1)
        else:
            cells[f"{above}{key}"] = _cell(value)
    return cells


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return one_cell(clean(value))
        case list() if not any(isinstance(item, (dict, list)) for item in value):
            return ", ".join(filter(None, map(_cell, value)))
    return one_cell(clean(json.dumps(value, ensure_ascii=False))) if value else ""


def _is_table(rows: Sequence[Mapping[str, str]], columns: Row) -> bool:
    """True if objects are of one kind, with values that fit into cells."""
    if len(rows) < 2 or not 1 < len(columns) <= MAX_COLUMNS:
        return False
    filled_share = sum(map(len, rows)) / (len(rows) * len(columns))
    nested_cells = (cell for row in rows for cell in row.values() if cell.startswith(("{", "[")))
    return filled_share >= MIN_FILLED_SHARE and all(len(cell) <= MAX_CELL_CHARS for cell in nested_cells)


_ESCAPED = regex(r"\\\\|\\/|(?:\\u[0-9a-fA-F]{4})+")
"""A backslash, which begins nothing; a slash; characters that need no escape in a text in UTF-8."""


def _one_value_per_line(text: str, depth: int) -> str:
    """JSON with one value a line, unless it is so already, or would become too long; letters that were escaped are
    written out.
    """
    lines = text.count(",") + 2 * (text.count("[") + text.count("{"))
    short = lines * (2 * depth + 1) <= MAX_GROWTH * len(text)
    if short and max(map(len, text.splitlines()), default=0) > MAX_LINE_CHARS:
        with suppress(*DECODE_ERRORS):
            text = msgspec.json.format(text, indent=2)
    return _ESCAPED.sub(lambda found: _unescape(found[0]), text)


def _unescape(escape: str) -> str:
    if escape == "\\/":
        return "/"
    if escape == "\\\\":
        return escape
    letters: str = json.loads(f'"{escape}"')
    is_printable = letters.isprintable() and not set(letters) & {'"', "\\"}
    return letters if is_printable else escape
