"""What an export format is, and what it is given."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports.documents import Blobs, Library
from assay.core.view import RunView


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A run as it is stored: its log, the view folded from it, and where its documents and snapshots are.

    A report is a function of the view alone; only a bundle needs the rest.
    """

    view: RunView
    log: tuple[Envelope, ...]
    library: Library
    blobs: Blobs


class Exporter(Protocol):
    """A format; its entry point in the group `assay.exporters` is named by its suffix.

    A format that needs an extra may have a method `ready()`, which raises a `ConfigError` where it is not installed: it
    is asked before a run is paid for.
    """

    @property
    def suffix(self) -> str:
        """The end of the file names it writes, in lower case (".md")."""
        ...

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """The report of a run, as far as it is written, as the bytes of a file. Blocking.

        Raises:
            ConfigError: it needs an extra which is not installed; the message names it.
            StoreError: a document it has to hold is not there, or damaged.
        """
        ...
