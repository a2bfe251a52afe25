"""Fields filled by the built-in model from passages as a model is shown them."""

from __future__ import annotations

from typing import Any

from assay.core.messages import Message, Request
from assay.models.extractive import respond
from assay.phases.fields.answer import fill_tool
from assay.phases.fields.schema import FieldGroup, read_schema


def fill(question: str, evidence: str, schema: str) -> dict[str, Any]:
    """The fields, or items, of the first part of a schema."""
    part: FieldGroup = read_schema(schema).parts[0]
    messages = [
        Message(role="user", name="evidence", text=evidence),
        Message(role="user", name="question", text=question),
    ]
    request = Request(
        task="fill",
        system="",
        messages=tuple(messages),
        tools=(fill_tool(part, part.slots),),
        tool_choice="fill_fields",
    )
    _, (call,) = respond(request)
    assert call.name == "fill_fields"
    return call.arguments
