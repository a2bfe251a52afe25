"""A view as exporters are given it, for tests which need no store behind it."""

from __future__ import annotations

from assay import plugins
from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.ports.exporters import Record
from assay.core.view import RunView, fold_events
from assay.store.memory import memory_store


def record(view: RunView, log: tuple[Envelope, ...] = ()) -> Record:
    """`view` with an empty library behind it."""
    store = memory_store()
    return Record(view=view, log=log, library=store.library, blobs=store.blobs)


def recorded(log: list[Envelope]) -> Record:
    """The record of a log."""
    return record(fold_events(log), tuple(log))


class Holding:
    """What a command asks of an `Assay` when it hands over the report of `view`."""

    def __init__(self, view: RunView) -> None:
        self.held = view

    async def export(self, reference: str, suffix: str, citations: CitationMode = "numbers") -> bytes:
        """As `Assay.export`."""
        data: bytes = plugins.load("exporters", suffix).render(record(self.held), citations)
        return data
