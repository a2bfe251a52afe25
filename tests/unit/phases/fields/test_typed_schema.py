"""Which schemas are understood, and what is said of those which are not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from typing import Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.phases.fields.schema import MAX_FIELDS, Leaf, canonical_schema, listed_fields, read_schema


def form(properties: dict[str, Any], **more: Any) -> Any:
    return read_schema(json.dumps({"type": "object", "properties": properties, **more}))


def test_every_kind_of_property_is_read() -> None:
    found = form(
        {
            "name": {"type": "string", "description": "What it is  called"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "status": {"enum": ["Draft", "Final", None]},
            "age": {"type": ["integer", "null"], "minimum": 0},
            "born": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "description": "When"},
            "site": {"type": "object", "properties": {"open": {"type": "boolean"}}},
            "parts": {"type": "array", "items": {"type": "object", "properties": {"size": {"type": "number"}}}},
        },
        title="A thing",
    )
    own, site, parts = found.parts
    assert found.title == "A thing"
    assert found.order == ("name", "tags", "status", "age", "born", "site", "parts")
    assert [(slot.name, slot.leaf.type, slot.is_list) for slot in own.slots] == [
        ("name", "string", False),
        ("tags", "string", True),
        ("status", "string", False),
        ("age", "integer", False),
        ("born", "string", False),
    ]
    assert own.slots[0].description == "What it is called"
    assert own.slots[1].max_count == 3
    assert own.slots[2].leaf.enum == ("Draft", "Final")
    assert own.slots[3].leaf == Leaf(type="integer", bounds={"minimum": 0})
    assert (own.slots[4].leaf.format, own.slots[4].description) == ("date", "When")
    assert (site.name, site.is_list, site.slots[0].leaf.type) == ("site", False, "boolean")
    assert (parts.name, parts.is_list, parts.slots[0].leaf.type) == ("parts", True, "number")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "at # is not an object"),
        ('"text"', "at # is not an object"),
        ('{"type": "array"}', "has type 'array' and must be an object"),
        ('{"type": "object"}', "at # has no properties"),
        ('{"properties": {"a": {"$ref": "#/x"}}}', "at #/properties/a uses '$ref'"),
        ('{"properties": {"a": {"type": "string", "pattern": "x"}}}', "at #/properties/a uses 'pattern'"),
        ('{"properties": {"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}}}', "uses 'oneOf'"),
        ('{"properties": {"a": true}}', "at #/properties/a is not an object"),
        ('{"properties": {"a": {"type": "array"}}}', "does not say what its items are"),
        ('{"properties": {"a": {"type": "null"}}}', "has type 'null'"),
        ('{"properties": {"a": {"type": "string", "format": "ipv4"}}}', "has format 'ipv4'"),
        ('{"properties": {"a": {"type": "string", "enum": []}}}', "not a list: write a list of values"),
        ('{"properties": {"a": {"enum": [{}]}}}', "other values than texts, numbers and booleans"),
        ('{"properties": {"a": {"type": "integer", "minimum": "1"}}}', "minimum '1', which is not a number"),
        ('{"properties": {"a": {"type": "string", "maxLength": -1}}}', "maxLength -1"),
        ('{"properties": {" ": {"type": "string"}}}', "named ' '"),
        (
            '{"properties": {"a": {"type": "object", "properties": {"b": {"type": "object", "properties": {}}}}}}',
            "at #/properties/a/properties/b uses 'properties'",
        ),
        ('{"$defs": {"A": {"$ref": "#/$defs/A"}}, "properties": {"a": {"$ref": "#/$defs/A"}}}', "uses '$ref'"),
        ('{"$defs": {"A": true}, "properties": {"a": {"$ref": "#/$defs/A"}}}', "at #/properties/a uses '$ref'"),
        ("[" * 100_000, "is not JSON"),
        (f'{{"$comment": "{"x" * 200_001}"}}', "at most 200,000 are read"),
    ],
)
def test_what_is_not_understood_is_refused_by_place(schema: str, message: str) -> None:
    with pytest.raises(UsageError, match="schema") as error:
        canonical_schema(schema)
    assert message in str(error.value)


def test_too_many_fields_are_refused() -> None:
    with pytest.raises(UsageError, match=f"at most {MAX_FIELDS} are filled"):
        form({f"f{number}": {"type": "string"} for number in range(MAX_FIELDS + 1)})


def test_a_schema_is_kept_as_it_was_written_without_its_spaces() -> None:
    text = '{ "properties": {"b": {"type": "string"},\n "a": {"type": "integer"}} }'
    assert canonical_schema(text) == '{"properties":{"b":{"type":"string"},"a":{"type":"integer"}}}'
    assert canonical_schema(json.loads(text)) == canonical_schema(text)
    with pytest.raises(UsageError, match="is not JSON"):
        canonical_schema({"properties": {"a": object()}})


class Kind(Enum):
    """The kinds of a site."""

    QUAY = "quay"
    LOCK = "lock"


@dataclass
class Site:
    name: str
    kind: Kind | None = None


@dataclass
class Harbour:
    opened: int
    main: Site
    others: list[Site] = field(default_factory=list)


class Harbours(TypedDict):
    opened: int
    main: Site
    others: list[Site]


class Modelled:
    """As a class of pydantic writes its schema."""

    @staticmethod
    def model_json_schema() -> dict[str, Any]:
        return {
            "$defs": {
                "Kind": {"enum": ["quay", "lock"], "title": "Kind", "type": "string"},
                "Site": {
                    "properties": {
                        "name": {"title": "Name", "type": "string"},
                        "kind": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}], "default": None},
                    },
                    "required": ["name"],
                    "title": "Site",
                    "type": "object",
                },
            },
            "properties": {
                "opened": {"title": "Opened", "type": "integer"},
                "main": {"$ref": "#/$defs/Site", "description": "the first"},
                "others": {"items": {"$ref": "#/$defs/Site"}, "type": "array"},
            },
            "title": "Modelled",
            "type": "object",
        }


@pytest.mark.parametrize("kind", [Harbour, Harbours, Modelled])
def test_a_class_is_a_schema_and_types_within_types_are_read(kind: type) -> None:
    kept = canonical_schema(kind)
    assert "$" not in kept
    own, main, others = read_schema(kept).parts
    assert [slot.leaf.type for slot in own.slots] == ["integer"]
    assert (main.name, main.is_list, others.name, others.is_list) == ("main", False, "others", True)
    for part in (main, others):
        assert [slot.name for slot in part.slots] == ["name", "kind"]
        assert set(part.slots[1].leaf.enum) == {"quay", "lock"}


class Unmodelled:
    """As a class of pydantic refuses to write its schema."""

    @staticmethod
    def model_json_schema() -> dict[str, Any]:
        raise RuntimeError("cannot generate a JsonSchema for core_schema.IsInstanceSchema")


class Plain:
    """A class that declares nothing."""


@pytest.mark.parametrize("kind", [Plain, Unmodelled])
def test_a_class_without_a_schema_is_refused_by_its_name(kind: type) -> None:
    with pytest.raises(UsageError, match=f"the class {kind.__name__} has no JSON Schema: use a dataclass"):
        canonical_schema(kind)


def test_a_type_that_contains_itself_is_refused_by_place() -> None:
    one = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Site"}}}
    with pytest.raises(UsageError, match=r"at #/properties/first/properties/next uses '\$ref'"):
        canonical_schema({"$defs": {"Site": one}, "properties": {"first": {"$ref": "#/$defs/Site"}}})


def test_definitions_that_grow_beyond_all_bounds_are_refused() -> None:
    names = [f"N{number}" for number in range(40)]
    each = {
        name: {"properties": {key: {"$ref": f"#/$defs/{after}"} for key in "ab"}} for name, after in pairwise(names)
    }
    with pytest.raises(UsageError, match="at most 200,000 are read"):
        canonical_schema({"$defs": {**each, names[-1]: {"type": "string"}}, "$ref": "#/$defs/N0"})
    chain = {f"N{number}": {"$ref": f"#/$defs/N{number + 1}"} for number in range(3_000)}
    with pytest.raises(UsageError, match="the schema"):
        canonical_schema({"$defs": chain, "$ref": "#/$defs/N0"})
    for deep in range(100, 1_100, 100):
        with pytest.raises(UsageError, match="the schema"):
            canonical_schema('{"a": [' * deep + "]}" * deep)


def test_a_model_is_told_the_fields_one_a_line() -> None:
    found = form(
        {
            "a": {"type": "string", "description": "the first"},
            "b": {"type": "object", "properties": {"c": {"type": "string"}}},
        }
    )
    assert listed_fields(found) == "Fields to fill:\n- a: the first\nb\n- c"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
keywords = st.sampled_from(
    ["type", "properties", "items", "enum", "const", "format", "minimum", "maxItems", "anyOf", "title", "required"]
)


@given(st.dictionaries(keywords, json_values | st.sampled_from(["object", "array", "string", "date"])))
def test_whatever_a_schema_says_it_is_read_or_refused(schema: dict[str, Any]) -> None:
    try:
        found = read_schema(json.dumps({"type": "object", "properties": {"a": schema}}))
    except UsageError:
        return
    assert all(part.slots for part in found.parts)
