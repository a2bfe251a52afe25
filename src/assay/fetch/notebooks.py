"""Jupyter notebooks as text: what is written, the code, and the texts that it printed, in the order of the cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.core.lazy import regex
from assay.fetch.text_form import clean

SUFFIX = ".ipynb"
_TICKS = regex("`{3,}")
MAX_OUTPUT_CHARS = 10_000
"""The most characters of an output that are read."""


class _Cell(msgspec.Struct):
    cell_type: str = ""
    source: str | list[str] = ""
    outputs: list[dict[str, Any]] = []


class _Notebook(msgspec.Struct):
    cells: list[_Cell]


def read_notebook(text: str) -> str:
    """The text of a notebook in Markdown; "" if it is none, or empty. Pictures are omitted."""
    try:
        notebook = msgspec.json.decode(text.encode(), type=_Notebook)
    except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
        return ""
    blocks = [block for cell in notebook.cells for block in _cell_blocks(cell)]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _cell_blocks(cell: _Cell) -> Iterator[str]:
    source = _join_lines(cell.source)
    if cell.cell_type == "markdown" and source:
        yield source
    elif cell.cell_type == "code" and source:
        yield _fence(source)
        for output in cell.outputs:
            data = output.get("data")
            printed = output.get("text") or (data.get("text/plain") if isinstance(data, dict) else "")
            if shown := _join_lines(printed)[:MAX_OUTPUT_CHARS]:
                yield _fence(shown)


def _join_lines(lines: Any) -> str:
    """A text, which may be given as a list of its lines."""
    lines = [lines] if isinstance(lines, str) else lines
    return (
        clean("".join(line for line in lines if isinstance(line, str))).strip("\n") if isinstance(lines, list) else ""
    )


def _fence(text: str) -> str:
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{ticks}\n{text}\n{ticks}"
