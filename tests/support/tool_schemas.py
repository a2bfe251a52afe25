"""What services demand of the JSON Schemas in a request: sound, complete, and in the forms that all of them take."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs


def check_schemas(body: Mapping[str, Any]) -> None:
    """Check the tools of a request's body, in the wire form of OpenAI, Anthropic or Google."""
    for tool in body.get("tools") or []:
        for definition in tool.get("functionDeclarations") or [tool.get("function", tool)]:
            for name in ("parameters", "input_schema", "parametersJsonSchema"):
                if name in definition:
                    check_schema(definition[name])


def check_schema(schema: Mapping[str, Any]) -> None:
    """Refuse what some service refuses: references that lead nowhere, values without a type, empty choices."""
    jsonschema_rs.Draft202012Validator(dict(schema))
    assert schema["type"] == "object"
    for part in _parts(schema):
        assert all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) for name in part.get("properties", ())), part
        assert "$ref" not in part, part
        assert "type" in part, part
        assert all(part.get("enum", ["one"])), part
        assert part["type"] != "array" or "items" in part, part


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield schema
    for inner in (*schema.get("properties", {}).values(), *(schema[key] for key in ("items",) if key in schema)):
        yield from _parts(inner)
