"""Requests made at random from the API's own description: none makes the server fail."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest
from conformance import COMMAND
from sampling import EXAMPLES
from serving import TIDE, TIDES, Served, begun, served, until

REQUESTS = 20 * EXAMPLES
ODD: tuple[Any, ...] = (
    *(
        "",
        " ",
        "last",
        "\x00",
        "../..",
        "%2e%2e%2f",
        "ünï",
        "a" * 3_000,
        "@x",
        "2026-13-99",
        "<script>",
        "\ud7ff",
        "{}",
    ),
    *(0, -1, 2**63, 1e308, None, True, [], {}),
)
TEXTS = tuple(each for each in ODD if isinstance(each, str))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("fuzzed") / "home"
    with served(home, ASSAY_SEARCH_OFFLINE="true", ASSAY_WORKERS_SLOTS="1") as server:
        yield server


class Client:
    """Makes requests of a described API, most of them nearly right."""

    def __init__(self, described: dict[str, Any], known: dict[str, str], seed: int) -> None:
        self.described, self.known, self.chance = described, known, random.Random(seed)
        self.routes = [
            (method, path, operation)
            for path, operations in described["paths"].items()
            for method, operation in operations.items()
            if operation["operationId"] not in ("all_events", "delete_run", "delete_thread", "drop_collection")
        ]

    def value(self, schema: dict[str, Any], depth: int = 0) -> Any:
        """A value which fits a schema, or now and then one which does not."""
        if self.chance.random() < 0.1 or depth > 6:
            return self.chance.choice(ODD)
        if "$ref" in schema:
            return self.value(self.described["components"]["schemas"][schema["$ref"].rpartition("/")[2]], depth + 1)
        if "anyOf" in schema or "oneOf" in schema:
            return self.value(self.chance.choice(schema.get("anyOf") or schema["oneOf"]), depth + 1)
        if "enum" in schema:
            return self.chance.choice(schema["enum"])
        return self.plain(schema, depth)

    def plain(self, schema: dict[str, Any], depth: int) -> Any:
        match schema.get("type"):
            case "object":
                return self.object(schema, depth)
            case "array":
                return [self.value(schema.get("items", {}), depth + 1) for _ in range(self.chance.randrange(3))]
            case "string":
                return self.chance.choice((*TEXTS, *self.known.values()))
            case "integer":
                return self.chance.randrange(-2, 20)
            case "number":
                return self.chance.random() * 2
            case "boolean":
                return self.chance.random() < 0.5
        return self.chance.choice(ODD)

    def object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        wanted = {
            name: self.value(each, depth + 1)
            for name, each in schema.get("properties", {}).items()
            if name in required or self.chance.random() < 0.2
        }
        return wanted | ({"unknown": 1} if self.chance.random() < 0.05 else {})

    def request(self) -> dict[str, Any]:
        method, path, operation = self.chance.choice(self.routes)
        query, headers = {}, {}
        for each in operation.get("parameters", ()):
            if each["in"] == "path":
                text = self.known.get(each["name"], "x") if self.chance.random() < 0.8 else self.chance.choice(TEXTS)
                path = path.replace(f"{{{each['name']}}}", quote(text, safe=""))
            elif each["in"] == "query" and self.chance.random() < 0.4:
                query[each["name"]] = str(self.value(each["schema"]))
            elif each["in"] == "header" and self.chance.random() < 0.3:
                headers[each["name"]] = str(self.chance.randrange(5))
        made: dict[str, Any] = {"method": method, "url": path, "params": query, "headers": headers}
        body = operation.get("requestBody", {}).get("content", {})
        if "application/json" in body:
            made["json"] = self.value(body["application/json"]["schema"])
        elif body:
            made["content"] = self.chance.choice((b"", b"words\n", bytes(range(256))))
        return made


async def test_nothing_a_client_sends_makes_the_server_fail(server: Served) -> None:
    async with server.client() as client:
        await client.post("/api/v1/collections/tides/documents?name=tides.md", content=TIDES.encode())
        run = await begun(client, TIDE, scope={"collections": ["tides"]})
        await until(client, run)
        described = (await client.get("/openapi.json")).json()
        made = Client(described, {"run": run, "collection": "tides", "number": "1", "thread": run}, seed=16)
        problem = jsonschema_rs.Draft202012Validator(
            {"$ref": "#/components/schemas/Problem", "components": described["components"]}
        )
        statuses: dict[int, int] = {}
        for _ in range(REQUESTS):
            request = made.request()
            answer = await client.request(**request)
            statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            assert answer.status_code not in (500, 502), (request, answer.text)
            if answer.status_code >= 400:
                problem.validate(answer.json())
                assert not COMMAND.search(answer.content), (request, answer.text)
        assert {200, 404, 422} <= statuses.keys()
        assert (await client.get("/readyz")).status_code == 200
    assert "Traceback" not in server.output()
