"""The protocol of export formats, and what they receive."""

from __future__ import annotations

from typing import Protocol

import msgspec

from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports.documents import Blobs, Library
from assay.core.view import RunView


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A stored run: its log, the view folded from it, and access to its documents and snapshots.

    A report is a function of the view alone; only a bundle needs the rest. An unpickled report has no library.
    """

    view: RunView
    log: tuple[Envelope, ...]
    library: Library | None = None
    blobs: Blobs | None = None


class Exporter(Protocol):
    """A format. Its entry point in the group `assay.exporters` is named by its suffix.

    A format that needs an extra may have a method `ready()` that raises a `ConfigError` if the extra is not installed.
    It is called before a run costs anything.
    """

    @property
    def suffix(self) -> str:
        """The end of the file names it writes, in lower case (".md")."""

    def render(self, record: Record, citations: CitationMode = "numbers") -> bytes:
        """Render the report of a run, as far as it is written, as the bytes of a file. Blocking.

        Raises:
            ConfigError: it needs an extra that is not installed; the message names it.
            StoreError: a document it needs is missing or damaged.
        """
