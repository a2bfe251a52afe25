"""How to do what a message proposes, in the words of where it is read: a command, a request, a tool, a button.

The surface is that of whoever asks now (a context variable, which the server sets for each request); without one it is
the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Surface = Literal["terminal", "http", "mcp", "page"]
_surface: ContextVar[Surface] = ContextVar("surface", default="terminal")

_WAYS: Mapping[str, Mapping[Surface, str]] = {
    "resume": {
        "terminal": "assay runs resume {}",
        "http": "POST /api/v1/runs/{}/resume",
        "mcp": "have its owner resume run {} in Assay",
        "page": "Resume, on the page of run {}",
    },
    "cancel": {
        "terminal": "assay runs cancel {}",
        "http": "POST /api/v1/runs/{}/cancel",
        "mcp": "the tool cancel with run_id {}",
        "page": "Cancel, on the page of run {}",
    },
    "approve": {
        "terminal": "assay runs approve {}",
        "http": "POST /api/v1/runs/{}/plan/approve",
        "mcp": "have its owner approve the plan of run {} in Assay",
        "page": "Approve, on the page of run {}",
    },
    "add": {
        "terminal": "assay docs add PATH -c {}",
        "http": "POST /api/v1/collections/{}/documents",
        "mcp": "have the user add documents to {} in Assay",
        "page": "Add, in the library, to {}",
    },
}


def way(action: str, name: str) -> str:
    """How to do `action` ("resume", "cancel", "approve" a run; "add" documents to a collection) with what is named."""
    return _WAYS[action][_surface.get()].format(name)


@contextmanager
def read_on(surface: Surface) -> Iterator[None]:
    """Within the block messages are worded for this surface."""
    token = _surface.set(surface)
    try:
        yield
    finally:
        _surface.reset(token)


def now_read_on(surface: Surface) -> None:
    """From now on messages are worded for this surface, in this task and what it starts."""
    _surface.set(surface)
