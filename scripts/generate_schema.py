"""Writes the JSON Schema of `report.json` from the types in assay.core.report.

Run `python scripts/generate_schema.py` after changing them; a test compares. Later releases only add fields.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import msgspec

from assay.core.report import SCHEMA, Report
from assay.core.usage import Usage

TARGET = Path(__file__).parents[1] / "src/assay/export/schemas/assay.report-1.json"
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
OFFSETS = ("start", "end")
PUBLISHED = {"SearchSummary": "Looked"}
"""Types that readers of the schema know under another name than the code."""


def schema() -> dict[str, Any]:
    """The schema: every field that is always written is required, unknown fields are allowed."""
    (root,), components = msgspec.json.schema_components([Report], ref_template="#/$defs/{name}")
    text = msgspec.json.encode(components).decode()
    for name, public in PUBLISHED.items():
        text = text.replace(f'"{name}"', f'"{public}"').replace(f'"#/$defs/{name}"', f'"#/$defs/{public}"')
    definitions = {name: _strict(name, each) for name, each in sorted(msgspec.json.decode(text).items())}
    definitions["Report"]["properties"]["schema"] = {"const": SCHEMA}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:" + SCHEMA.replace("/", ":"),
        "title": "A report of Assay",
        **root,
        "$defs": definitions,
    }


def _strict(name: str, definition: dict[str, Any]) -> dict[str, Any]:
    properties = {field: _strict_field(field, each) for field, each in definition.get("properties", {}).items()}
    required = [] if name == Usage.__name__ else list(properties)
    description = inspect.cleandoc(definition.get("description", ""))
    return {**definition, "description": description, "properties": properties, "required": required}


def _strict_field(field: str, definition: dict[str, Any]) -> dict[str, Any]:
    if field.endswith("sha256"):
        return HASH
    kept = {key: value for key, value in definition.items() if key != "default"}
    return {**kept, "minimum": 0} if field in OFFSETS else kept


def text() -> str:
    """The file's text."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
