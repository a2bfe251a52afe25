"""The control tool by which a model fills fields: built from a schema, for as many fields as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.core.messages import ToolDefinition
from assay.phases.fields.schema import FieldGroup, FieldSlot, Leaf

NAME = "fill_fields"
AT_ONCE = 25
"""Fields asked for in one call."""
_SAID = (
    "Say for each field what the passages say. `value` is null, and `reason` says why, where no passage says it; else "
    "`passages` are the ids of the passages which do."
)


def definition(part: FieldGroup, slots: Sequence[FieldSlot]) -> ToolDefinition:
    """The tool which fills `slots` of `part`."""
    fields = {slot.name: _field(slot) for slot in slots}
    about = {"type": "string", "description": "What the fields are about, in a few words, as the passages call it."}
    body: dict[str, Any] = {"type": "object", "properties": {"subject": about, "fields": _object(fields)}}
    body |= {"required": ["subject", "fields"], "additionalProperties": False}
    if part.many:
        items = {"type": "array", "items": body, "description": part.description}
        body = _object({"items": items}) | {"required": ["items"]}
    return ToolDefinition(
        name=NAME, description=_described(part), parameters={key: body[key] for key in sorted(body)}, control=True
    )


def _described(part: FieldGroup) -> str:
    named = f"{part.name}: {part.description}".rstrip(": ")
    if part.many:
        return f"Fill one item for each of {named!r}. {_SAID}"
    return f"Fill the fields of {named!r}. {_SAID}" if part.name else f"Fill the fields. {_SAID}"


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _field(slot: FieldSlot) -> dict[str, Any]:
    value = {"type": "array", "items": _schema(slot.leaf)} if slot.many else _schema(slot.leaf)
    ids = {"type": "array", "items": {"type": "string"}}
    described = {"description": slot.description} if slot.description else {}
    return _object({"value": value, "passages": ids, "reason": {"type": "string"}}) | described


def _schema(leaf: Leaf) -> dict[str, Any]:
    said: dict[str, Any] = {"type": leaf.type}
    if leaf.enum:
        said["enum"] = list(leaf.enum)
    if leaf.format:
        said["format"] = leaf.format
    bounds = {
        "minimum": leaf.minimum,
        "maximum": leaf.maximum,
        "exclusiveMinimum": leaf.exclusive_minimum,
        "exclusiveMaximum": leaf.exclusive_maximum,
        "minLength": leaf.min_length,
        "maxLength": leaf.max_length,
    }
    return said | {key: value for key, value in bounds.items() if value is not None}
