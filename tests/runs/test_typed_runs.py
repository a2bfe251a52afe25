"""Whole runs with a schema: the events, the fields in the report, and what a model does wrong."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from research import (
    ONE_STEP,
    TIDE,
    Log,
    Sea,
    first_agent,
    planned,
    report_wanted,
    sends,
    whole,
)

from assay.core import events as e
from assay.core.claims import HOLDING
from assay.core.report import Report, build_report
from assay.core.view import fold_events
from assay.export.json import render, report_schema
from assay.models.script import Scene, calls, says

SCHEMA = {
    "type": "object",
    "properties": {
        "rise": {"type": "integer", "description": "How many metres the tide rises"},
        "cause": {"type": "string"},
        "port": {"type": "string"},
    },
}


def value(value: Any, *passages: str, reason: str = "") -> dict[str, Any]:
    return {"value": value, "passages": list(passages), "reason": reason}


def fills(fields: dict[str, Any], subject: str = "the tide at Brest", **scene: Any) -> Scene:
    return calls(("fill_fields", {"subject": subject, "fields": fields}), task="fill", **scene)


def researched() -> list[Scene]:
    return [*planned(ONE_STEP), sends(TIDE), *first_agent(), report_wanted()]


async def typed(*scenes: Scene, schema: Any = SCHEMA, **changes: Any) -> tuple[Log, Report]:
    log = await Sea().run([*researched(), *scenes], schema=json.dumps(schema), **changes)
    return log, build_report(fold_events(log.envelopes))


async def test_the_report_is_its_fields_each_a_claim() -> None:
    log, report = await typed(
        fills({"rise": value(7, "S1001.1"), "cause": value("moon", "S1001.1"), "port": value(None, reason="not said")})
    )
    filled = log.last(e.FieldsFilled).fields
    assert [(field.name, field.value) for field in filled] == [("rise", 7), ("cause", None), ("port", None)]
    assert log.written == (
        "- Rise of the tide at Brest: 7 [S1001.1]\n\n## What could not be found\n\n"
        "- Cause: 'moon' is not in what it cites\n- Port: not said"
    )
    assert whole(log)
    assert [claim.text for claim in report.claims] == ["Rise of the tide at Brest: 7"]
    rise, cause, port = (report.fields[name] for name in ("rise", "cause", "port"))
    assert (rise.value, rise.claims, rise.passages) == (7, ("c1",), ("S1001.1",))
    assert rise.verdict == report.claims[0].verdict
    assert (cause.value, cause.reason) == (None, "'moon' is not in what it cites")
    assert (port.value, port.reason) == (None, "not said")
    assert report.data == {"rise": 7, "cause": None, "port": None}
    assert report.assurance is not None
    assert (report.assurance.answered, report.verified) == (True, rise.verdict in HOLDING)


@pytest.mark.parametrize("key", ["field_1", "Höhe der Flut (m)"])
async def test_a_field_whose_name_cannot_be_a_key_of_a_tool_has_a_number(key: str) -> None:
    """Services refuse letters with accents, spaces and brackets; a model may use the name nonetheless."""
    schema = {"type": "object", "properties": {"Höhe der Flut (m)": {"type": "number"}}}
    log, report = await typed(fills({key: value(7, "S1001.1")}), schema=schema)
    assert report.data == {"Höhe der Flut (m)": 7}
    (tool,) = next(request for request in log.model.requests if request.task == "fill").tools
    fields = tool.parameters["properties"]["fields"]["properties"]
    assert list(fields) == ["field_1"]
    assert fields["field_1"]["description"] == "Höhe der Flut (m)"


async def test_everyone_who_searches_is_told_the_fields() -> None:
    log, _ = await typed(fills({"rise": value(7, "S1001.1")}))
    asked = [request for request in log.model.requests if request.task in ("plan", "fill")]
    assert all("How many metres the tide rises" in request.user_texts("fields")[0] for request in asked)
    agent = next(request for request in log.model.requests if request.task == "research")
    assert "How many metres the tide rises" in agent.user_texts("brief")[0]
    fill = next(request for request in log.model.requests if request.task == "fill")
    assert fill.tool_choice == "fill_fields"
    assert "[S1001.1]" in fill.user_texts("evidence")[0]


async def test_the_export_satisfies_the_schema_of_reports() -> None:
    log, _ = await typed(fills({"rise": value(7, "S1001.1")}))
    data = json.loads(render(fold_events(log.envelopes)))
    jsonschema_rs.validate(report_schema(), data)
    assert data["data"] == {"rise": 7, "cause": None, "port": None}
    assert data["fields"]["cause"] == {
        "value": None,
        "verdict": "",
        "reason": "no passage says it",
        "claims": [],
        "passages": [],
    }


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more() -> None:
    log, report = await typed(says("the rise is 7", task="fill"), fills({"rise": value(7, "S1001.1")}))
    assert report.data["rise"] == 7
    again = [request for request in log.model.requests if request.task == "fill"][-1]
    assert "could not be read" in again.user_texts("note")[0]


async def test_a_call_written_as_text_is_read() -> None:
    written = {"name": "fill_fields", "arguments": {"subject": "Brest", "fields": {"rise": value(7, "S1001.1")}}}
    _, report = await typed(says(json.dumps(written), task="fill"))
    assert report.data["rise"] == 7


async def test_a_model_that_never_fills_leaves_every_field_null() -> None:
    log, report = await typed(says("no", task="fill"), says("no", task="fill"))
    assert report.data == {"rise": None, "cause": None, "port": None}
    assert "fields were left empty: the model did not fill them" in [each.message for each in log.of(e.Warned)]
    assert log.last(e.RunCompleted).stop_reason == "unwritten"


async def test_items_of_a_list_are_filled_once_each() -> None:
    wanted = {"properties": {"tides": {"type": "array", "items": SCHEMA}}}
    item = {"subject": "the tide at Brest", "fields": {"rise": value(7, "S1001.1")}}
    empty = {"subject": "x", "fields": {"rise": value(None)}}
    _, report = await typed(calls(("fill_fields", {"items": [item, item, empty, "x"]}), task="fill"), schema=wanted)
    assert list(report.fields) == ["tides[0].rise", "tides[0].cause", "tides[0].port"]
    assert report.data == {"tides": [{"rise": 7, "cause": None, "port": None}]}


async def test_many_fields_are_asked_for_in_batches() -> None:
    names = [f"field{number}" for number in range(60)]
    wanted = {"properties": {name: {"type": "string"} for name in names} | {"rise": {"type": "integer"}}}
    scenes = [fills({"field0": value("Brest", "S1001.1")}), fills({}), fills({"rise": value(7, "S1001.1")})]
    log, report = await typed(*scenes, schema=wanted)
    asked = [request for request in log.model.requests if request.task == "fill"]
    counts = [len(request.tools[0].parameters["properties"]["fields"]["properties"]) for request in asked]
    assert counts[:1] == [25]
    assert len(report.fields) == 61
    assert (report.data["field0"], report.data["rise"]) == ("Brest", 7)


async def test_the_report_waits_for_no_prose_writer_and_answers_nothing_at_once() -> None:
    scenes = [calls(("answer", {"text": "Hello!"}), task="triage"), *researched()[1:], fills({})]
    log = await Sea().run(scenes, schema=json.dumps(SCHEMA))
    assert "write" not in {request.task for request in log.model.requests}
    assert log.last(e.TriageClassified).triage.answer is None
