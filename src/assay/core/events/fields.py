"""Events of typed answers."""

from __future__ import annotations

from assay.core.events.envelope import Event, kind
from assay.core.typed_answers import Field


@kind("fields.filled")
class FieldsFilled(Event, frozen=True):
    """Every field of the schema, in its order: filled from passages, or empty with the reason."""

    fields: tuple[Field, ...]
