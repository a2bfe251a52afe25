"""One struct defines the arguments of a tool: the model is shown its schema, and its calls are parsed with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from assay.core.errors import LimitReached, SearchError, ToolError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.lazy import regex
from assay.core.messages import Rarity, ToolDefinition
from assay.core.ports import RarityCounter
from assay.run.run import Run
from assay.run.steps import StepContext

T = TypeVar("T", bound=msgspec.Struct)
_NUMBER = regex(r"(?:(?<![\w.)\]-])-)?(?<![\d.])\d{1,9}(?![\d.]*\d)")


def define(
    name: str,
    description: str,
    arguments: type[msgspec.Struct],
    *,
    control: bool = False,
    thought: str = "",
    required: tuple[str, ...] = (),
) -> ToolDefinition:
    """A tool definition whose parameters are the fields of `arguments`.

    `required` are those the model is told to give although the call can be read without them.
    """
    (schema,), components = msgspec.json.schema_components([arguments], ref_template="{name}")
    arguments_schema = _written_out(components[schema["$ref"]], components)
    parameters = {
        "type": "object",
        "properties": arguments_schema["properties"],
        "required": [*arguments_schema.get("required", []), *required],
    }
    return ToolDefinition(
        name=name,
        description=description,
        parameters={**parameters, "additionalProperties": False},
        control=control,
        thought=thought,
    )


def _written_out(schema: Any, components: Mapping[str, Any]) -> Any:
    """A schema as every service takes it: without references, with the type of enumerated texts, and without defaults
    that only say that an argument may be left out.
    """
    if isinstance(schema, list):
        return [_written_out(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _written_out({**components[schema["$ref"]], "title": ""}, components)
    written = {
        key: _written_out(value, components)
        for key, value in schema.items()
        if value or key not in ("title", "default", "required")
    }
    if isinstance(schema.get("enum"), list):  # else it is a field of this name
        written |= {"type": "string", "enum": [value for value in schema["enum"] if value]}
    return written


def read(tool: ToolDefinition, arguments: Mapping[str, Any], arguments_type: type[T]) -> T:
    """Read the arguments of a call. Numbers in quotes are numbers; a single text is a list of one.

    Raises:
        ToolError: an argument is missing, unknown or of another type; the reason says how to call.
    """
    try:
        return msgspec.convert(_repair_arguments(tool, arguments), arguments_type, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(f"{_plain_message(error)}. {usage_line(tool)}") from error


def usage_line(tool: ToolDefinition) -> str:
    """How to call a tool, in one line, as `search(query: string, limit?: integer)`."""
    required = tool.parameters.get("required", [])
    fields = (
        f"{name}{'' if name in required else '?'}: {schema.get('type', 'any')}"
        for name, schema in tool.parameters.get("properties", {}).items()
    )
    return f"Call it as {tool.name}({', '.join(fields)})."


def _repair_arguments(tool: ToolDefinition, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as the schema wants them, where a model's own form leaves no doubt. Null is a missing argument."""
    properties = tool.parameters.get("properties", {})
    given = {name: value for name, value in arguments.items() if value is not None}
    missing = [name for name in tool.parameters.get("required", ()) if name not in given]
    unknown = [name for name in given if name not in properties]
    renamed = {unknown[0]: missing[0]} if len(missing) == len(unknown) == 1 else {}
    named = {renamed.get(name, name): value for name, value in given.items()}
    return {name: _repair_value(value, properties.get(name, {})) for name, value in named.items()}


def _repair_value(value: Any, schema: Mapping[str, Any]) -> Any:
    """A single value for a list, a list of one for a value, a number for its text ("step 2"), or the reverse."""
    while schema.get("type") in ("string", "integer") and isinstance(value, list) and len(value) == 1:
        value = value[0]
    match schema.get("type"), value:
        case "array", str() | int():
            return _decode_list(value, schema.get("items", {}))
        case "string", int() | float():
            return str(value)
        case "integer", str() if len(numbers := _NUMBER.findall(value)) == 1:
            return int(numbers[0])
    return value


def _decode_list(value: str | int, item_schema: Mapping[str, Any]) -> list[Any]:
    """A list written as text, the numbers of a text where numbers are wanted, or the value alone; empty of nothing."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            decoded = msgspec.json.decode(value)
        except DECODE_ERRORS:
            return [value]
        return decoded if isinstance(decoded, list) else [value]
    if isinstance(value, str) and item_schema.get("type") == "integer":
        return list(map(int, _NUMBER.findall(value)))
    return [value] if value != "" else []


def _plain_message(error: msgspec.ValidationError) -> str:
    """The message of msgspec without its path syntax ("Expected int, got text for 'limit'")."""
    text = re.sub(r" - at `\$\.?([^`]*)`", lambda found: f" for {found[1]!r}" if found[1] else "", str(error))
    text = text.replace("`str`", "text").replace("`", "")
    return text.replace("Object missing ", "The call is missing the ").replace(
        "Object contains ", "The call contains the "
    )


# How rare the question's words are in the documents in scope, for the built-in model and the grading of claims.


async def count_words(run: Run) -> None:
    """Count them, once per run. If that is impossible or time is up, the shown passages are counted instead."""
    provider = next((search for search in run.world.searches if isinstance(search, RarityCounter)), None)
    if provider is None:
        return
    question, collections = run.brief.question, run.brief.scope.collections

    async def count(_: StepContext) -> Rarity:
        try:
            return await provider.rarity(question, collections)
        except SearchError:
            return Rarity()  # the search itself reports the problem

    try:
        run.rarity = await run.with_gate("write").step("words", count, returns=Rarity, input=[question, *collections])
    except LimitReached:
        return
