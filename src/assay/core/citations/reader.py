"""Reading a model's text: wrapped citations made plain, and the fence around it taken away.

What comes out, joined, does not depend on how the stream was cut. A text without ids the run gave out stays as it is,
but for a fence around the whole of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from assay.core.citations.fences import MARKDOWN, Fences
from assay.core.citations.placement import Hoisting
from assay.core.citations.prose import Knows, Prose

DATA = MARKDOWN | {"json", "jsonc", "json5", ""}
"""The languages of a fence around data a model was asked for."""


class TextReader(Protocol):
    """Rewrites a text while it streams."""

    def feed(self, chunk: str) -> str:
        """Take more of the text; what is certain of the new one."""
        ...

    def finish(self) -> str:
        """The rest; nothing may be fed afterwards."""
        ...


Reading = Callable[[], TextReader]
"""Begins to read a text."""


class CitationReader:
    """Reads a text which cites; `knows` says whether the run gave out an id."""

    def __init__(self, knows: Knows) -> None:
        self._stages: tuple[TextReader, ...] = (Fences(knows), Hoisting(knows), Prose(knows))

    def feed(self, chunk: str) -> str:
        """Take more of the text; what is certain of the new one."""
        for stage in self._stages:
            chunk = stage.feed(chunk)
        return chunk

    def finish(self) -> str:
        """The rest; nothing may be fed afterwards."""
        said = ""
        for stage in self._stages:
            said = stage.feed(said) + stage.finish()
        return said


def citing(knows: Knows) -> Reading:
    """How a text is read which cites ids that `knows` knows."""
    return lambda: CitationReader(knows)


def unwrapped() -> TextReader:
    """How data are read which a model may have wrapped in a fence."""
    return Fences(wrapping=DATA)


def read_all(reading: Reading, text: str) -> str:
    """A whole text as `reading` reads it."""
    reader = reading()
    return reader.feed(text) + reader.finish()
