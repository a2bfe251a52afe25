"""The schema of a typed answer: reads the supported part of JSON Schema into fields to fill.

A schema is an object with properties. A property is a string, number, integer or boolean, an enum of those, a list of
them, an object of such properties, or a list of such objects. A schema with anything that is not enforced is refused.
A class of pydantic, a dataclass, a `TypedDict` or a struct of msgspec is read by the schema that its library makes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

import msgspec

from assay.core.errors import UsageError
from assay.core.json_decoders import DECODE_ERRORS
from assay.core.typed_answers import Scalar

Type = Literal["string", "integer", "number", "boolean"]
Format = Literal["", "date", "date-time"]

MAX_SCHEMA_CHARS = 200_000
"""The most characters of a schema."""
MAX_FIELDS = 300
SUPPORTED = (
    "supported are an object with properties of type string, number, integer or boolean, enum and const, format "
    "date and date-time, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, arrays of these "
    "(minItems, maxItems), and one level of objects or arrays of objects"
)
_TYPES: tuple[Type, ...] = get_args(Type)
_NOTES = frozenset(
    ("title", "description", "examples", "example", "default", "$comment", "$schema", "$id", "deprecated", "readOnly")
)
_OF_OBJECT = _NOTES | {"type", "properties", "required", "additionalProperties"}
_OF_ARRAY = _NOTES | {"type", "items", "minItems", "maxItems", "uniqueItems"}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength")
_OF_LEAF = _NOTES | {"type", "enum", "const", "format", *_BOUNDS}
_FORMATS = ("date", "date-time")
_FREE_FORMATS = ("uri", "email", "uuid", "hostname", "time", "duration")
"""Formats of texts that are not enforced."""


class Leaf(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements for one value. `bounds` are named as in JSON Schema; lengths are in code points."""

    type: Type
    enum: tuple[Scalar, ...] = ()
    format: Format = ""
    bounds: dict[str, float] = {}


class FieldSlot(msgspec.Struct, frozen=True, kw_only=True):
    """A field to fill: `is_list` for a list of values, of at most `max_count` (None: any number)."""

    name: str
    leaf: Leaf
    description: str = ""
    is_list: bool = False
    min_count: int = 0
    max_count: int | None = None


class FieldGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Fields filled together: of the answer itself (`name` empty), of an object in it, or of each item of a list."""

    name: str = ""
    description: str = ""
    is_list: bool = False
    slots: tuple[FieldSlot, ...] = ()


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """All fields of a schema, in parts; `order` has its property names in their order."""

    title: str
    parts: tuple[FieldGroup, ...]
    order: tuple[str, ...]


def canonical_schema(schema: str | Mapping[str, Any] | type) -> str:
    """The text of a valid schema, with its properties in their order and its definitions in place of the references
    to them, as a brief stores it.

    Raises:
        UsageError: it is not JSON, too large, or says what is not supported; the message names the place.
    """
    decoded = _decode_schema(schema if isinstance(schema, str) else _schema_json(schema))
    try:
        text = _schema_json(_inline_definitions(decoded))
    except RecursionError as error:
        raise UsageError(f"the schema is not JSON ({error}): correct it") from error
    read_schema(text)
    return text


def listed_fields(form: Form) -> str:
    """The fields, one per line, for a model that looks for them."""
    lines = ["Fields to fill:"]
    for part in form.parts:
        lines += [f"{part.name}: {part.description}".rstrip(": ")] if part.name else []
        lines += [f"- {slot.name}: {slot.description}".rstrip(": ") for slot in part.slots]
    return "\n".join(lines)


def _schema_json(schema: object) -> str:
    try:
        if isinstance(schema, type):
            schema = _class_schema(schema)
        return msgspec.json.encode(dict(schema) if isinstance(schema, Mapping) else schema).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the schema is not JSON ({error}): correct it") from error


def _class_schema(schema: type) -> Any:
    try:
        json_schema = getattr(schema, "model_json_schema", None)  # of a class of pydantic
        return json_schema() if json_schema else msgspec.json.schema(schema)
    except (TypeError, RuntimeError) as error:  # pydantic's is a RuntimeError
        raise UsageError(
            f"the class {schema.__name__} has no JSON Schema: use a dataclass, a TypedDict, a struct of msgspec or a "
            "model of pydantic, with fields that JSON can hold"
        ) from error


def _decode_schema(text: str) -> Any:
    if len(text) > MAX_SCHEMA_CHARS:
        raise _too_large(len(text))
    try:
        return msgspec.json.decode(text)
    except DECODE_ERRORS as error:
        raise UsageError(f"the schema is not JSON ({error}): correct it") from error


def _too_large(size: int) -> UsageError:
    return UsageError(f"the schema has {size:,} characters; at most {MAX_SCHEMA_CHARS:,} are read")


def _inline_definitions(schema: Any) -> Any:
    """The schema with its definitions in place of the references to them (`#/$defs/NAME`), by which libraries describe
    types within types. A definition that refers to itself keeps the reference, which `read_schema` refuses.
    """
    if not isinstance(schema, dict):
        return schema
    groups = {name: schema[name] for name in ("$defs", "definitions") if isinstance(schema.get(name), dict)}
    definitions_by_ref = {
        f"#/{group}/{name}": content for group, definitions in groups.items() for name, content in definitions.items()
    }
    size = 0

    def inline(part: Any, ancestors: frozenset[str]) -> Any:
        nonlocal size
        if isinstance(part, list):
            return [inline(item, ancestors) for item in part]
        if not isinstance(part, dict):
            return part
        name = part.get("$ref")
        if (
            isinstance(name, str)
            and name not in ancestors
            and isinstance(definition := definitions_by_ref.get(name), dict)
        ):
            size += len(_schema_json(definition))
            if size > MAX_SCHEMA_CHARS:
                raise _too_large(size)
            siblings = {key: value for key, value in part.items() if key != "$ref"}
            return inline(definition | siblings, ancestors | {name})
        return {key: inline(value, ancestors) for key, value in part.items()}

    return inline({key: value for key, value in schema.items() if key not in groups}, frozenset())


def read_schema(text: str) -> Form:
    """The fields a schema asks for.

    Raises:
        UsageError: as `canonical_schema`.
    """
    schema = _decode_schema(text)
    properties = _properties(schema, "#")
    parts = _parts(properties)
    count = sum(len(part.slots) for part in parts)
    if count > MAX_FIELDS:
        raise UsageError(f"the schema has {count} fields; at most {MAX_FIELDS} are filled")
    return Form(title=_text(schema.get("title")), parts=parts, order=tuple(properties))


def _parts(properties: Mapping[str, Any]) -> tuple[FieldGroup, ...]:
    slots: list[FieldSlot] = []
    parts: list[FieldGroup] = []
    for name, property_schema in properties.items():
        location = f"#/properties/{name}"
        schema = _drop_null(property_schema, location)
        if schema.get("type") == "object":
            parts.append(FieldGroup(name=name, description=_description(schema), slots=_slots(schema, location)))
        elif _type(schema) == "array" and (items := _items(schema, location)).get("type") == "object":
            _check_keywords(schema, _OF_ARRAY, location)
            description = _description(schema) or _description(items)
            parts.append(
                FieldGroup(name=name, description=description, is_list=True, slots=_slots(items, f"{location}/items"))
            )
        else:
            slots.append(_slot(name, schema, location))
    return (*([FieldGroup(slots=tuple(slots))] if slots else []), *parts)


def _slots(schema: Mapping[str, Any], location: str) -> tuple[FieldSlot, ...]:
    return tuple(
        _slot(name, _drop_null(property_schema, f"{location}/properties/{name}"), f"{location}/properties/{name}")
        for name, property_schema in _properties(schema, location).items()
    )


def _properties(schema: object, location: str) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise UsageError(f"the schema at {location} is not an object; {SUPPORTED}")
    _check_keywords(schema, _OF_OBJECT, location)
    if schema.get("type", "object") != "object":
        raise UsageError(f"the schema at {location} has type {schema['type']!r} and must be an object; {SUPPORTED}")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise UsageError(f"the schema at {location} has no properties; {SUPPORTED}")
    for name in properties:
        if not any(sign.isalnum() for sign in name) or len(name) > 80:
            raise UsageError(
                f"the schema at {location} has a property named {name[:100]!r}: a name has 1 to 80 characters"
            )
    return properties


def _drop_null(schema: object, location: str) -> dict[str, Any]:
    """The schema without null, since every field may be null: `["string", "null"]`, or `anyOf` with null."""
    if not isinstance(schema, dict):
        raise UsageError(f"the schema at {location} is not an object; {SUPPORTED}")
    choices = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(choices, list):
        non_null = [choice for choice in choices if choice != {"type": "null"}]
        if len(non_null) == 1 and len(choices) == 2 and isinstance(non_null[0], dict):
            outer = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return _drop_null(non_null[0] | outer, location)
    kinds = schema.get("type")
    if isinstance(kinds, list):
        other_kinds = [kind for kind in kinds if kind != "null"]
        if len(other_kinds) == 1:
            return {**schema, "type": other_kinds[0]}
    return schema


def _items(schema: Mapping[str, Any], location: str) -> dict[str, Any]:
    if "items" not in schema:
        raise UsageError(f"the schema at {location} does not say what its items are; {SUPPORTED}")
    return _drop_null(schema["items"], f"{location}/items")


def _slot(name: str, schema: Mapping[str, Any], location: str) -> FieldSlot:
    if _type(schema) != "array":
        return FieldSlot(name=name, leaf=_leaf(schema, location), description=_description(schema))
    _check_keywords(schema, _OF_ARRAY, location)
    items = _items(schema, location)
    return FieldSlot(
        name=name,
        leaf=_leaf(items, f"{location}/items"),
        description=_description(schema) or _description(items),
        is_list=True,
        min_count=_read_count(schema, "minItems", location) or 0,
        max_count=_read_count(schema, "maxItems", location),
    )


def _leaf(schema: Mapping[str, Any], location: str) -> Leaf:
    _check_keywords(schema, _OF_LEAF, location)
    enum = _enum(schema, location)
    kind = next((name for name in _TYPES if name == (schema.get("type") or _enum_type(enum))), None)
    if kind is None:
        raise UsageError(f"the schema at {location} has type {schema.get('type')!r}; {SUPPORTED}")
    bounds = {key: _number(schema, key, location) for key in _BOUNDS[:4]}
    format = schema.get("format", "")
    if format not in ("", *_FORMATS, *_FREE_FORMATS):
        raise UsageError(f"the schema at {location} has format {format!r}; {SUPPORTED}")
    bounds |= {key: _read_count(schema, key, location) for key in _BOUNDS[4:]}
    given_bounds = {key: value for key, value in bounds.items() if value is not None}
    return Leaf(type=kind, enum=enum, format=format if format in _FORMATS else "", bounds=given_bounds)


def _enum(schema: Mapping[str, Any], location: str) -> tuple[Scalar, ...]:
    members = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if not isinstance(members, list) or ("enum" in schema and not members):
        raise UsageError(f"the schema at {location} has an enum that is not a list: write a list of values")
    values = [member for member in members if member is not None]
    if not all(isinstance(member, str | int | float | bool) for member in values):
        raise UsageError(
            f"the schema at {location} has an enum with other values than texts, numbers and booleans: use these only"
        )
    return tuple(values)


def _enum_type(enum: tuple[Scalar, ...]) -> Type:
    if enum and all(isinstance(member, bool) for member in enum):
        return "boolean"
    if enum and all(isinstance(member, int | float) and not isinstance(member, bool) for member in enum):
        return "integer" if all(isinstance(member, int) for member in enum) else "number"
    return "string"


def _type(schema: Mapping[str, Any]) -> object:
    return schema.get("type") or ("array" if "items" in schema else None)


def _check_keywords(schema: Mapping[str, Any], keywords: frozenset[str], location: str) -> None:
    for key in schema:
        if key not in keywords and not key.startswith("x-"):
            raise UsageError(f"the schema at {location} uses {key!r}; {SUPPORTED}")


def _number(schema: Mapping[str, Any], key: str, location: str) -> float | None:
    value = schema.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise UsageError(f"the schema at {location} has {key} {value!r}, which is not a number: write one")


def _read_count(schema: Mapping[str, Any], key: str, location: str) -> int | None:
    value = _number(schema, key, location)
    if value is None or (value >= 0 and value == int(value)):
        return None if value is None else int(value)
    raise UsageError(f"the schema at {location} has {key} {value!r}, which is not a count: write a whole number")


def _description(schema: Mapping[str, Any]) -> str:
    return " ".join(text for text in (_text(schema.get("title")), _text(schema.get("description"))) if text)


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
