"""The names which other programs depend on: of the API, of the tools of MCP, and of the report's schema.

A name that is gone breaks who uses it. With `ASSAY_GOLDEN=write` this test writes the file again; the change is then
reviewed, and told in CHANGELOG.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.server import operations
from assay.server.openapi import openapi_document

GOLDEN = Path(__file__).parent / "golden" / "published_names.txt"


def property_names(schema: Any, path: str) -> Iterator[str]:
    """The path of each property, however deep; references are not followed, since definitions are listed once."""
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                for name, each in value.items():
                    yield f"{path}.{name}"
                    yield from property_names(each, f"{path}.{name}")
            elif key not in {"$defs", "default", "example", "examples"}:
                yield from property_names(value, path)
    elif isinstance(schema, list):
        for each in schema:
            yield from property_names(each, path)


def definition_names(definitions: dict[str, Any], group: str) -> Iterator[str]:
    for name, schema in definitions.items():
        yield f"{group} {name}"
        yield from property_names(schema, f"{group} {name}")


def api_names() -> Iterator[str]:
    document = json.loads(msgspec.json.encode(openapi_document(operations.endpoints())))
    yield from definition_names(document["components"]["schemas"], "schema")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"operation {operation['operationId']}"
            yield f"{name} = {method} {path}"
            for parameter in operation.get("parameters", ()):
                yield f"{name} {parameter['in']} {parameter['name']}"


def tool_names() -> Iterator[str]:
    server = pytest.importorskip("assay.server.mcp.mcp_server", reason="the extra `mcp` is not installed")
    for kind in server.TOOLS:
        tool = server.Tool.from_function(kind.function)
        yield f"tool {tool.name}"
        yield from property_names(tool.parameters, f"tool {tool.name} takes")
        output = tool.output_schema or {}
        yield from property_names(output, f"tool {tool.name} returns")
        yield from definition_names(output.get("$defs", {}), f"tool {tool.name} defines")


def report_names() -> Iterator[str]:
    schema = json.loads((files("assay.export") / "schemas" / "assay.report-1.json").read_text())
    yield from definition_names(schema["$defs"], "report")


def test_no_published_name_changes() -> None:
    names = sorted({*api_names(), *tool_names(), *report_names()})
    if os.environ.get("ASSAY_GOLDEN") == "write":
        GOLDEN.write_text("\n".join(names) + "\n", encoding="utf-8")
    assert names == GOLDEN.read_text(encoding="utf-8").splitlines()
