"""JSON as text: lists of objects as rows, all else in lines; from files, and from pages that are JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.sources import Extracted, Fetched
from assay.evidence.ingest import extractor_for
from assay.evidence.ingest.units import page_name, page_text
from assay.fetch.html import HtmlExtractor
from assay.fetch.json_text import number_repeated_names, read_json
from assay.fetch.text import CodeExtractor, CsvExtractor, TextExtractor
from assay.fetch.web.response import media_type

HARBOURS = [
    {"name": "Vendel", "built": 1902, "depth": 5.20, "owner": {"city": "Oster", "since": None}, "ferries": ["A", "B"]},
    {"name": "Brest", "built": 1631, "depth": 11.5, "owner": {"city": "Brest", "since": 1800}, "ferries": []},
]
ROWS = (
    "name: Vendel | built: 1902 | depth: 5.2 | owner.city: Oster | ferries: A, B\n\n"
    "name: Brest | built: 1631 | depth: 11.5 | owner.city: Brest | owner.since: 1800\n"
)


def read(text: str, name: str = "harbours.json") -> Extracted:
    (found,) = CodeExtractor().extract(text.encode(), name)
    return found


def test_a_list_of_objects_is_a_table() -> None:
    found = read(json.dumps(HARBOURS))
    assert (found.text, found.syntax, found.extractor) == (ROWS, "rows", "json/2")
    assert found.metadata == {
        "format": "JSON",
        "rows": "2",
        "columns": "name, built, depth, owner.city, owner.since, ferries",
    }


def test_numbers_stay_as_they_are_written() -> None:
    found = read('[{"a": 1.10, "b": 12345678901234567890.5}, {"a": 1e3, "b": -0}]')
    assert found.text == "a: 1.10 | b: 12345678901234567890.5\n\na: 1e3 | b: -0\n"


def test_a_name_that_an_object_gives_twice_keeps_both_values() -> None:
    found = read('[{"a": 1, "b": 2, "a": 3}, {"a": 4, "b": 5, "a (2)": 6, "a": 7}]')
    assert found.text == "a: 1 | b: 2 | a (2): 3\n\na: 4 | b: 5 | a (2): 6 | a (3): 7\n"


@given(st.lists(st.tuples(st.sampled_from(["a", "a (2)", "a (3)", "b"]), st.integers())))
def test_no_value_of_an_object_is_lost(pairs: list[tuple[str, int]]) -> None:
    kept = number_repeated_names(pairs)
    assert sorted(kept.values()) == sorted(value for _, value in pairs)
    assert list(kept.items()) == pairs or len(dict(pairs)) < len(pairs)


def test_a_list_in_an_envelope_keeps_what_is_beside_it() -> None:
    found = read(json.dumps({"status": "ok", "count": 2, "next": None, "results": HARBOURS}))
    assert found.text == f"status: ok\n\ncount: 2\n\n{ROWS}"


def test_places_on_a_map_are_rows() -> None:
    features = [
        {
            "type": "Feature",
            "properties": {"name": each["name"]},
            "geometry": {"type": "Point", "coordinates": [1.5, 2]},
        }
        for each in HARBOURS
    ]
    found = read(json.dumps({"type": "FeatureCollection", "features": features}))
    assert found.text.splitlines()[0] == "name: Vendel | geometry.type: Point | geometry.coordinates: 1.5, 2"
    assert (found.metadata["format"], found.syntax) == ("GeoJSON", "rows")


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        (
            {"@context": "https://schema.org", "name": "Harbour of Vendel", "depth": {"value": 5.2}, "tides": None},
            ["@context: https://schema.org", "name: Harbour of Vendel", "depth.value: 5.2", "tides: (empty)"],
        ),
        ([1, 2, 3], ["- 1", "- 2", "- 3"]),
        ([[1.50, 2], [3, 4]], ["- 1.5, 2", "- 3, 4"]),
        ([{"a": 1}, {"b": 2}, {"c": 3}], ["# 1", "a: 1", "# 2", "b: 2", "# 3", "c: 3"]),
        (
            [{"a": 1, "b": [{"c": "x" * 2_000}]}, {"a": 2, "b": []}],
            ["# 1", "a: 1", "## b", "### b 1", f"c: {'x' * 2_000}", "# 2", "a: 2", "b: (empty)"],
        ),
        ([{"name": "Vendel", "built": 1902}], ["# Vendel", "name: Vendel", "built: 1902"]),
        ({"one": HARBOURS[:1] * 2, "b": {"c": True}}, ["b.c: true", "# one", *[f"| {ROWS.splitlines()[0]} |"] * 2]),
    ],
)
def test_all_else_is_keys_and_values(value: Any, lines: list[str]) -> None:
    found = read(json.dumps(value))
    assert (found.syntax, found.extractor) == ("markdown", "json/2")
    assert [line for line in found.text.splitlines() if line] == lines


def test_what_is_too_deep_or_too_long_is_shown_in_lines() -> None:
    deep: Any = {"name": "Größe", "at": "https://port"}
    for level in range(60):
        deep = {f"level {level}": deep, "beside": level}
    for value in (deep, {"title": "Größe", "cells": [[number] for number in range(120_000)]}):
        found = read(json.dumps(value).replace("/", "\\/"))
        assert (found.syntax, found.extractor) == ("code", "json/2")
        assert json.loads(found.text) == value
        assert "Größe" in found.text
    assert max(map(len, found.text.splitlines())) <= 500


def test_escaped_letters_are_written_out() -> None:
    found = read('{"title": "Gr\\u00f6\\u00dfe \\ud83d\\ude00 \\"\\\\u0041\\" \\u0000", "at": "https:\\/\\/port"}')
    assert found.text == 'title: Größe 😀 "\\u0041" \ufffd\n\nat: https://port\n'
    assert found.title.startswith("Größe")


@pytest.mark.parametrize(("text", "name"), [("{not json}", "a.json"), ("[1]", "a.js"), ('// x\n{"a": 1}', "t.json")])
def test_what_is_no_json_stays_code(text: str, name: str) -> None:
    found = read(text, name)
    assert (found.text, found.syntax, found.extractor) == (text, "code", "code/3")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=30,
)


@given(JSON, st.booleans())
def test_any_json_is_a_text(value: Any, ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii).replace("/", "\\/")
    found = read(text.encode(errors="replace").decode())
    assert found.text.encode()
    if found.extractor == "json/2" and found.syntax == "code" and "NaN" not in text:
        assert json.loads(found.text) == json.loads(text.encode(errors="replace").decode())


@pytest.mark.parametrize(
    "declared",
    ["application/json", "application/ld+json; charset=utf-8", "application/geo+json", "text/html", "text/plain", ""],
)
@pytest.mark.parametrize("path", ["/api/harbours", "/harbours.json", "/harbours.html"])
def test_a_page_that_is_json_is_read_as_a_file_of_json_is(declared: str, path: str) -> None:
    body = json.dumps(HARBOURS).encode()
    page = Fetched(
        url=f"https://port.example{path}",
        final_url=f"https://port.example{path}",
        media_type=media_type(declared, body),
        headers={"content-type": declared},
        body=body,
        fetched_at="",
    )
    assert page.media_type.endswith("json")
    reader = extractor_for(page, [TextExtractor(), CodeExtractor(), CsvExtractor(), HtmlExtractor()])
    assert reader is not None
    (found,) = reader.extract(page_text(page), page_name(page))
    assert (found.text, found.syntax) == (ROWS, "rows")


@pytest.mark.parametrize("body", [b"{{ template }} <p>Tides</p>", b"[1] See below.", b'{"a": 1}\n{"a": 2}\n'])
def test_what_only_begins_like_json_stays_text(body: bytes) -> None:
    assert media_type("text/html", body) == "text/html"


@pytest.mark.parametrize("depth", [80, 500])
def test_json_that_lies_deep_does_not_become_many_times_as_long(depth: int) -> None:
    text = "[" * depth + "1," * 10_000 + "1" + "]" * depth
    found = read_json(text, "a.json")
    assert found is None or len(found.text) < 10 * len(text)


def test_json_of_any_depth_is_no_error() -> None:
    for depth in range(850, 1_000):
        read_json('[{"b":1,"a":' + "[" * depth + "]" * depth + '},{"a":1,"b":2}]', "a.json")
