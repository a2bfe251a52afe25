"""Tool calls as models write them, and what they are told when they write them wrong."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest
from tool_schemas import check_schema

import assay
from assay.core.errors import ToolError
from assay.core.messages import ToolDefinition
from assay.phases.dispatch import RESEARCH_AGENT, ResearchAgent
from assay.tools.arguments import define, read, usage_line
from assay.tools.open import OpenArguments, OpenTool
from assay.tools.search import SearchArguments, SearchTool


class Part(msgspec.Struct):
    name: str


class Whole(msgspec.Struct):
    parts: list[Part]
    kind: Literal["", "tall", "wide"] = ""


def test_a_definition_is_a_closed_json_schema() -> None:
    parameters = SearchTool.definition.parameters
    assert parameters["type"] == "object"
    assert parameters["required"] == ["query"]
    assert parameters["additionalProperties"] is False
    assert parameters["properties"]["limit"]["type"] == "integer"
    assert parameters["properties"]["query"]["description"]


def test_every_tool_has_a_schema_that_all_services_take() -> None:
    modules = [
        importlib.import_module(found.name)
        for package in ("agents", "phases", "tools", "verify")
        for found in pkgutil.walk_packages([str(Path(assay.__file__).parent / package)], f"assay.{package}.")
    ]
    values = [value for module in modules for value in vars(module).values()]
    tools = {tool.name: tool for tool in values if isinstance(tool, ToolDefinition)}
    tools |= {
        tool.name: tool for value in values if isinstance(tool := getattr(value, "definition", None), ToolDefinition)
    }
    assert len(tools) >= 15
    for tool in tools.values():
        check_schema(tool.parameters)


def test_a_struct_in_a_list_is_written_out() -> None:
    parameters = define("build", "Build.", Whole).parameters
    check_schema(parameters)
    assert parameters["properties"]["parts"]["items"]["properties"] == {"name": {"type": "string"}}
    assert parameters["properties"]["kind"] == {"type": "string", "enum": ["tall", "wide"]}


def test_usage_says_how_to_call() -> None:
    assert usage_line(OpenTool.definition) == "Call it as open(documents: array, find?: string)."


@pytest.mark.parametrize(
    ("arguments", "query", "limit"),
    [
        ({"query": "tide"}, "tide", 8),
        ({"query": "tide", "limit": "3"}, "tide", 3),
        ({"query": "tide", "limit": None}, "tide", 8),
        ({"query": ["tide"]}, "tide", 8),
        ({"q": "tide"}, "tide", 8),
        ({"queries": ["tide"], "limit": "3"}, "tide", 3),
        ({"query": 2024, "limit": "at most 3"}, "2024", 3),
        ({"query": None, "q": "tide", "site": None}, "tide", 8),
        ({"query": [["tide"]]}, "tide", 8),
    ],
)
def test_search_arguments(arguments: dict[str, Any], query: str, limit: int) -> None:
    assert read(SearchTool.definition, arguments, SearchArguments) == SearchArguments(query=query, limit=limit)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"step": "Step 2", "continues": 1}, (2, "1", ())),
        ({"after": "1, 2"}, (0, "", (1, 2))),
        ({"after": ["1"]}, (0, "", (1,))),
        ({"after": "agent-1, agent-2", "step": "step-2"}, (2, "", (1, 2))),
        ({"after": "", "continues": ""}, (0, "", ())),
        ({"after": "[1, 3]", "step": [2]}, (2, "", (1, 3))),
    ],
)
def test_numbers_are_read_from_texts(arguments: dict[str, Any], expected: tuple[int, str, tuple[int, ...]]) -> None:
    sent = read(RESEARCH_AGENT, {"task": "Find it."} | arguments, ResearchAgent)
    assert (sent.step, sent.continues, sent.after) == expected


@pytest.mark.parametrize("documents", ["S1", ["S1"], '["S1"]'])
def test_one_document_stands_for_a_list_of_one(documents: object) -> None:
    assert read(OpenTool.definition, {"documents": documents}, OpenArguments).documents == ["S1"]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, "query"),
        ({"query": "tide", "site": "x"}, "site"),
        ({"query": ["tide", "moon"]}, "query"),
        ({"tide": ["tide", "moon"]}, "query"),
        ({"query": "tide", "limit": "many"}, "limit"),
    ],
)
def test_a_wrong_call_is_told_what_is_wrong_and_how_to_call(arguments: dict[str, Any], names: str) -> None:
    with pytest.raises(ToolError) as failed:
        read(SearchTool.definition, arguments, SearchArguments)
    assert names in failed.value.reason
    assert "Call it as search(query: string, limit?: integer)." in failed.value.reason


def test_a_wrong_call_is_told_in_words() -> None:
    with pytest.raises(ToolError, match="The call contains the unknown field strategy"):
        read(SearchTool.definition, {"query": "tide", "strategy": "x"}, SearchArguments)
    with pytest.raises(ToolError, match="The call is missing the required field query"):
        read(SearchTool.definition, {}, SearchArguments)
    with pytest.raises(ToolError, match="Expected text, got array for 'query'"):
        read(SearchTool.definition, {"query": ["tide", "moon"]}, SearchArguments)
