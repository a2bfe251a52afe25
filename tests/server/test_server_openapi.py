"""The description of the API is that of the routes there are, and a valid one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from importlib import import_module, metadata
from typing import Any

import jsonschema_rs
import msgspec
import proved
import pytest
from serving import TIDE, TIDES, Served, begun, served, until
from starlette.routing import BaseRoute, Route

from assay import Assay
from assay.core import ways
from assay.core.events import KINDS
from assay.server import operations, page
from assay.server.app import PARTS, create_app
from assay.server.backend import Backend
from assay.server.openapi import openapi_document


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    return json.loads(msgspec.json.encode(openapi_document(operations.endpoints())))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("described") / "home") as server:
        yield server


def test_both_editions_are_valid() -> None:
    made = [msgspec.json.encode(openapi_document(operations.endpoints(), *edition)) for edition in ((), ("3.1.1",))]
    read = (
        *made,
        *(metadata.version(name).encode() for name in ("openapi-spec-validator", "openapi-schema-validator")),
    )
    if proved.is_known("openapi", *read):
        return
    editions = import_module("openapi_spec_validator")  # takes seconds, which only who runs this test shall wait for
    editions.OpenAPIV32SpecValidator(json.loads(made[0])).validate()
    editions.OpenAPIV31SpecValidator(json.loads(made[1])).validate()
    proved.note("openapi", *read)


def known(routes: list[BaseRoute]) -> set[tuple[str, str]]:
    return {
        (method.lower(), re.sub(r":\w+\}", "}", route.path))
        for route in routes
        if isinstance(route, Route)
        for method in (route.methods or ())
        if method != "HEAD"
    }


async def test_every_route_is_described_and_only_those(described: dict[str, Any], tmp_path: Any) -> None:
    async with Assay(home=tmp_path / "home") as assay:
        app = create_app(Backend(assay), [part for part in PARTS if part is not page.PART])
        native = {each for each in known(app.routes) if not each[1].startswith(("/v1", "/mcp"))}
    found = {(method, path) for path, operations in described["paths"].items() for method in operations}
    assert found == native
    names = [operation["operationId"] for each in described["paths"].values() for operation in each.values()]
    assert len(names) == len(set(names))
    assert all(
        operation["summary"].endswith(".") for each in described["paths"].values() for operation in each.values()
    )


def test_every_kind_of_event_is_described(described: dict[str, Any]) -> None:
    envelope = described["components"]["schemas"]["Envelope"]
    assert envelope["discriminator"]["mapping"].keys() == KINDS.keys()
    assert len(envelope["oneOf"]) == len(KINDS)


def test_names_of_types_are_plain(described: dict[str, Any]) -> None:
    assert all(re.fullmatch(r"\w+", name) for name in described["components"]["schemas"])


def test_generators_of_clients_can_read_it(described: dict[str, Any]) -> None:
    """openapi-python-client names classes by titles, and reads no schema that is only true or false."""
    components = described["components"]["schemas"]
    assert [each["title"] for each in components.values()] == list(components)
    report = described["paths"]["/api/v1/runs/{run}/report"]["get"]["responses"]["200"]["content"]
    assert next(iter(report)) == "text/markdown"  # what comes where no format is named; generated code reads the first
    assert "false" not in re.findall(r'"(?:items|prefixItems)":(\w+)', json.dumps(described, separators=(",", ":")))


def test_generators_of_clients_know_files_by_their_format() -> None:
    """Those that know no `contentMediaType` would take a file for any value, and openapi-python-client sends none."""
    paths = json.loads(msgspec.json.encode(openapi_document(operations.endpoints(), "3.1.1")))["paths"]
    upload = paths["/api/v1/collections/{collection}/documents"]["post"]["requestBody"]["content"]
    download = paths["/api/v1/documents/{document}/file"]["get"]["responses"]["200"]["content"]
    file = {"type": "string", "format": "binary"}
    assert upload["application/octet-stream"]["schema"] == file
    assert upload["multipart/form-data"]["schema"]["properties"]["file"]["items"] == file
    assert download["application/octet-stream"]["schema"] == file


def validator(described: dict[str, Any], name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {"$ref": f"#/components/schemas/{name}", "components": described["components"]}
    )


async def test_what_is_served_is_as_described(server: Served) -> None:
    async with server.client() as client:
        described = (await client.get("/openapi.json")).json()
        assert (await client.get("/openapi-3.1.json")).json()["openapi"] == "3.1.1"
        await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        expand = "plan,report,sources,claims,usage,lanes,view"
        for path, type in {
            f"/api/v1/runs/{run}?expand={expand}": "RunDetail",
            "/api/v1/runs": "RunList",
            "/api/v1/threads": "ThreadList",
            f"/api/v1/runs/{run}/claims": "Claims",
            f"/api/v1/runs/{run}/citations/1": "CitationShown",
            f"/api/v1/runs/{run}/report?format=json": "Report",
            f"/api/v1/runs/{run}/method": "Method",
            "/api/v1/collections/tides/documents": "DocumentPage",
            "/api/v1/models": "Models",
            "/api/v1/runs/none": "Problem",
        }.items():
            answer = await client.get(path, headers={"Accept": "application/json"})
            validator(described, type).validate(answer.json())
        events = await client.get(f"/api/v1/runs/{run}/events", headers={"Accept": "application/json"})
        check = validator(described, "EventPage")
        check.validate(events.json())


async def test_events_are_described_for_themselves_and_routes_in_plain_text(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        schema = (await client.get("/events.schema.json")).json()
        jsonschema_rs.meta.validate(schema)
        check = jsonschema_rs.Draft202012Validator(schema)
        events = (await client.get(f"/api/v1/runs/{run}/events", headers={"Accept": "application/json"})).json()[
            "events"
        ]
        assert len(events) > 3
        for event in events:
            check.validate(event)
        assert not check.is_valid({**events[0], "data": {"brief": 5}})
        text = (await client.get("/llms.txt")).text
        assert text.startswith("# Assay")
        assert "POST /api/v1/runs: Start a run" in text
        assert (await client.get("/healthz")).json() == (await client.get("/livez")).json()


async def test_the_page_needs_nothing_from_elsewhere(server: Served) -> None:
    async with server.client() as client:
        page = await client.get("/docs")
        assert "/api/v1/runs/{run}/events" in page.text
        assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page.text)
        assert "<script" not in page.text
        assert "details" in (await client.get("/docs.css")).text


def test_every_request_that_takes_the_place_of_a_command_exists(described: dict[str, Any]) -> None:
    words = [each["http"] for each in (*ways._WAYS.values(), *(words for _, words in ways._COMMANDS))]
    proposed = re.findall(r"^([A-Z]+) (/api/v1/[^?\n]*)", "\n".join(words), re.MULTILINE)
    there = {
        (method, re.sub(r"\{[^}]*\}", "{}", path))
        for path, methods in described["paths"].items()
        for method in map(str.upper, methods)
    }
    assert len(proposed) > 15
    assert {(method, re.sub(r"\{+[^}]*\}+", "{}", path.strip())) for method, path in proposed} - there == set()
