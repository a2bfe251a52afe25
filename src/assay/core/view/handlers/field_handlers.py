"""What the events of typed answers change."""

from __future__ import annotations

from assay.core import events as e
from assay.core.view.handlers.registry import on
from assay.core.view.state import ViewState


@on(e.FieldsFilled)
def _fields_filled(state: ViewState, envelope: e.Envelope, event: e.FieldsFilled) -> None:
    state.fields = event.fields
