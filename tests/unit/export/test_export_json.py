"""`report.json` and the event lines: the packaged schema, stability, printability."""

import json
from typing import get_args

import jsonschema_rs
import logs
import msgspec
import pytest
from records import record

from assay.core.events import Envelope
from assay.core.markers import CitationMode
from assay.core.report import Report, build_report
from assay.core.view import fold_events
from assay.export import json as events
from assay.export.json import EXPORTER, render, report_schema

VALIDATOR = jsonschema_rs.Draft202012Validator(report_schema())


def test_the_schema_is_one() -> None:
    jsonschema_rs.meta.validate(report_schema())


@pytest.mark.parametrize("name", sorted(logs.SCENARIOS))
def test_every_report_satisfies_the_schema(name: str) -> None:
    log = logs.SCENARIOS[name]().events
    for count in (0, len(log) // 2, len(log)):
        data = render(fold_events(log[:count]))
        VALIDATOR.validate(json.loads(data))
        assert data.endswith(b"}\n")


@pytest.mark.parametrize("mode", get_args(CitationMode))
def test_it_reads_back_as_what_it_was(mode: str) -> None:
    view = fold_events(logs.two_agents().events)
    assert msgspec.json.decode(render(view, citations=mode), type=Report) == build_report(view, mode)
    assert EXPORTER.render(record(view), mode) == render(fold_events(logs.two_agents().events), citations=mode)


@pytest.mark.parametrize(
    ("field", "value"),
    [("schema", "assay.report/2"), ("claims", [{"id": "c1"}]), ("status", 1), ("passages", [{"text_sha256": "x"}])],
)
def test_the_schema_refuses_what_is_not_a_report(field: str, value: object) -> None:
    data = json.loads(render(fold_events(logs.one_agent().events)))
    data[field] = value
    assert not VALIDATOR.is_valid(data)


def test_the_schema_wants_every_field_and_allows_more() -> None:
    data = json.loads(render(fold_events(logs.one_agent().events)))
    assert VALIDATOR.is_valid({**data, "later": 1})
    for field in data:
        assert not VALIDATOR.is_valid({name: value for name, value in data.items() if name != field}), field


def test_what_a_terminal_obeys_is_escaped() -> None:
    log = logs.Log()
    nasty = "a\x1b[31m\x9b2J\u202e\u2066\x7f\u061cé界"
    logs.begin(log, nasty)
    printed = events.event_line(log.events[0]) + render(fold_events(log.events))
    assert not set("\x1b\x9b\u202e\u2066\x7f\u061c") & set(printed.decode())
    assert json.loads(events.event_line(log.events[0]))["data"]["brief"]["question"] == nasty
    assert json.loads(render(fold_events(log.events)))["question"] == nasty
    assert "é界".encode() in printed


def test_an_event_line_is_the_event() -> None:
    for envelope in logs.two_agents().events:
        line = events.event_line(envelope)
        assert line.count(b"\n") == 1
        assert msgspec.json.decode(line, type=Envelope) == envelope
