"""A context opened over a home, as the settings have it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.app.layout import store_of
from assay.app.observers import watch_for
from assay.core.later import later
from assay.core.ports import Model
from assay.services.context import Context
from assay.services.ports import Wiring
from assay.settings import Settings
from assay.store.presence import Presence

if TYPE_CHECKING:
    from assay.app import components
else:
    components = later("assay.app.components")


def opened(settings: Settings, home: Path | None, models: Mapping[str, Model] = {}) -> Context:
    """The context of a home; its store is opened at once, so that what is wrong with it is said at once.

    Raises:
        StoreError: the store cannot be made, read or reached.
        ConfigError: what reaches it is not installed, or the log's file cannot be written.
    """
    wiring: Wiring = components
    store = store_of(home, settings)
    context = Context(settings, home, store=store, wiring=wiring, presence=Presence(home), models=models)
    watch = watch_for(settings)
    if watch is not None:
        context.add_watch(watch)
    return context
