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
MOST_FIELDS = 300
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
    """A field to fill: `many` for a list of values, of at most `most` (None: any number)."""

    name: str
    leaf: Leaf
    description: str = ""
    many: bool = False
    least: int = 0
    most: int | None = None


class FieldGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Fields filled together: of the answer itself (`name` empty), of an object in it, or of each item of a list."""

    name: str = ""
    description: str = ""
    many: bool = False
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
    given = _decode_schema(schema if isinstance(schema, str) else _schema_json(schema))
    try:
        text = _schema_json(_inline_definitions(given))
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
            described = getattr(schema, "model_json_schema", None)  # of a class of pydantic
            schema = described() if described else msgspec.json.schema(schema)
        return msgspec.json.encode(dict(schema) if isinstance(schema, Mapping) else schema).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the schema is not JSON ({error}): correct it") from error


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
    known = {f"#/{group}/{name}": each for group, definitions in groups.items() for name, each in definitions.items()}
    size = 0

    def inlined(part: Any, within: frozenset[str]) -> Any:
        nonlocal size
        if isinstance(part, list):
            return [inlined(each, within) for each in part]
        if not isinstance(part, dict):
            return part
        name = part.get("$ref")
        if isinstance(name, str) and name not in within and isinstance(meant := known.get(name), dict):
            size += len(_schema_json(meant))
            if size > MAX_SCHEMA_CHARS:
                raise _too_large(size)
            beside = {key: value for key, value in part.items() if key != "$ref"}
            return inlined(meant | beside, within | {name})
        return {key: inlined(value, within) for key, value in part.items()}

    return inlined({key: value for key, value in schema.items() if key not in groups}, frozenset())


def read_schema(text: str) -> Form:
    """The fields a schema asks for.

    Raises:
        UsageError: as `canonical_schema`.
    """
    schema = _decode_schema(text)
    properties = _properties(schema, "#")
    parts = _parts(properties)
    count = sum(len(part.slots) for part in parts)
    if count > MOST_FIELDS:
        raise UsageError(f"the schema has {count} fields; at most {MOST_FIELDS} are filled")
    return Form(title=_text(schema.get("title")), parts=parts, order=tuple(properties))


def _parts(properties: Mapping[str, Any]) -> tuple[FieldGroup, ...]:
    own: list[FieldSlot] = []
    parts: list[FieldGroup] = []
    for name, given in properties.items():
        place = f"#/properties/{name}"
        schema = _drop_null(given, place)
        if schema.get("type") == "object":
            parts.append(FieldGroup(name=name, description=_description(schema), slots=_slots(schema, place)))
        elif _type(schema) == "array" and (items := _items(schema, place)).get("type") == "object":
            _check_keywords(schema, _OF_ARRAY, place)
            description = _description(schema) or _description(items)
            parts.append(
                FieldGroup(name=name, description=description, many=True, slots=_slots(items, f"{place}/items"))
            )
        else:
            own.append(_slot(name, schema, place))
    return (*([FieldGroup(slots=tuple(own))] if own else []), *parts)


def _slots(schema: Mapping[str, Any], place: str) -> tuple[FieldSlot, ...]:
    return tuple(
        _slot(name, _drop_null(given, f"{place}/properties/{name}"), f"{place}/properties/{name}")
        for name, given in _properties(schema, place).items()
    )


def _properties(schema: object, place: str) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise UsageError(f"the schema at {place} is not an object; {SUPPORTED}")
    _check_keywords(schema, _OF_OBJECT, place)
    if schema.get("type", "object") != "object":
        raise UsageError(f"the schema at {place} has type {schema['type']!r} and must be an object; {SUPPORTED}")
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        raise UsageError(f"the schema at {place} has no properties; {SUPPORTED}")
    for name in properties:
        if not any(sign.isalnum() for sign in name) or len(name) > 80:
            raise UsageError(
                f"the schema at {place} has a property named {name[:100]!r}: a name has 1 to 80 characters"
            )
    return properties


def _drop_null(schema: object, place: str) -> dict[str, Any]:
    """The schema without null, since every field may be null: `["string", "null"]`, or `anyOf` with null."""
    if not isinstance(schema, dict):
        raise UsageError(f"the schema at {place} is not an object; {SUPPORTED}")
    choices = schema.get("anyOf", schema.get("oneOf"))
    if isinstance(choices, list):
        others = [each for each in choices if each != {"type": "null"}]
        if len(others) == 1 and len(choices) == 2 and isinstance(others[0], dict):
            outer = {key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}
            return _drop_null(others[0] | outer, place)
    kinds = schema.get("type")
    if isinstance(kinds, list):
        named = [kind for kind in kinds if kind != "null"]
        if len(named) == 1:
            return {**schema, "type": named[0]}
    return schema


def _items(schema: Mapping[str, Any], place: str) -> dict[str, Any]:
    if "items" not in schema:
        raise UsageError(f"the schema at {place} does not say what its items are; {SUPPORTED}")
    return _drop_null(schema["items"], f"{place}/items")


def _slot(name: str, schema: Mapping[str, Any], place: str) -> FieldSlot:
    if _type(schema) != "array":
        return FieldSlot(name=name, leaf=_leaf(schema, place), description=_description(schema))
    _check_keywords(schema, _OF_ARRAY, place)
    items = _items(schema, place)
    return FieldSlot(
        name=name,
        leaf=_leaf(items, f"{place}/items"),
        description=_description(schema) or _description(items),
        many=True,
        least=_read_count(schema, "minItems", place) or 0,
        most=_read_count(schema, "maxItems", place),
    )


def _leaf(schema: Mapping[str, Any], place: str) -> Leaf:
    _check_keywords(schema, _OF_LEAF, place)
    enum = _enum(schema, place)
    kind = next((each for each in _TYPES if each == (schema.get("type") or _enum_type(enum))), None)
    if kind is None:
        raise UsageError(f"the schema at {place} has type {schema.get('type')!r}; {SUPPORTED}")
    bounds = {key: _number(schema, key, place) for key in _BOUNDS[:4]}
    format = schema.get("format", "")
    if format not in ("", *_FORMATS, *_FREE_FORMATS):
        raise UsageError(f"the schema at {place} has format {format!r}; {SUPPORTED}")
    bounds |= {key: _read_count(schema, key, place) for key in _BOUNDS[4:]}
    given = {key: value for key, value in bounds.items() if value is not None}
    return Leaf(type=kind, enum=enum, format=format if format in _FORMATS else "", bounds=given)


def _enum(schema: Mapping[str, Any], place: str) -> tuple[Scalar, ...]:
    given = [schema["const"]] if "const" in schema else schema.get("enum", [])
    if not isinstance(given, list) or ("enum" in schema and not given):
        raise UsageError(f"the schema at {place} has an enum that is not a list: write a list of values")
    values = [each for each in given if each is not None]
    if not all(isinstance(each, str | int | float | bool) for each in values):
        raise UsageError(
            f"the schema at {place} has an enum with other values than texts, numbers and booleans: use these only"
        )
    return tuple(values)


def _enum_type(enum: tuple[Scalar, ...]) -> Type:
    if enum and all(isinstance(each, bool) for each in enum):
        return "boolean"
    if enum and all(isinstance(each, int | float) and not isinstance(each, bool) for each in enum):
        return "integer" if all(isinstance(each, int) for each in enum) else "number"
    return "string"


def _type(schema: Mapping[str, Any]) -> object:
    return schema.get("type") or ("array" if "items" in schema else None)


def _check_keywords(schema: Mapping[str, Any], keywords: frozenset[str], place: str) -> None:
    for key in schema:
        if key not in keywords and not key.startswith("x-"):
            raise UsageError(f"the schema at {place} uses {key!r}; {SUPPORTED}")


def _number(schema: Mapping[str, Any], key: str, place: str) -> float | None:
    value = schema.get(key)
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise UsageError(f"the schema at {place} has {key} {value!r}, which is not a number: write one")


def _read_count(schema: Mapping[str, Any], key: str, place: str) -> int | None:
    value = _number(schema, key, place)
    if value is None or (value >= 0 and value == int(value)):
        return None if value is None else int(value)
    raise UsageError(f"the schema at {place} has {key} {value!r}, which is not a count: write a whole number")


def _description(schema: Mapping[str, Any]) -> str:
    return " ".join(text for text in (_text(schema.get("title")), _text(schema.get("description"))) if text)


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
