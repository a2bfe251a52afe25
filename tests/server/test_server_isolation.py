"""Two users, every route: one never sees, guesses or disturbs what is the other's.

The requests are made from the OpenAPI document, so a new route is tried without being named here. One that takes a body
or a query has to say below how another's things could be named in it: until it does, the test fails.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest
from accounts import accounts, session
from serving import TIDE, TIDES, Served, begun, command, served, until

from assay.core.ports.lists import CELL_OF

Ids = dict[str, str]
"""What a placeholder of a path, a query or a body stands for."""

QUESTION = {"question": "And?"}
RUN_NAMED = [{**QUESTION, "continues": "{run}"}, {**QUESTION, "scope": {"collections": ["{collection}"]}}]

BODIES: dict[str, list[Any]] = {
    "add_places": [{"urls": ["http://127.0.0.1:9/page"]}],
    "add_schedule": [{"every": "7d", "run": {**QUESTION, "scope": {"collections": ["{collection}"]}}}],
    "add_user": [{"name": "{user}", "password": "a long password"}],
    "add_webhook": [{"url": "https://93.184.215.14/hook"}],
    "answer_run": [{"answers": ["x"]}],
    "approve_plan": [{}, {"form": "title: x\n\n1. y\n"}],
    "ask_run": [QUESTION],
    "change_settings": [{"settings": {"depth": "light"}}],
    "change_user": [{"role": "reader"}],
    "crawl_site": [{"url": "http://127.0.0.1:9/page"}],
    "begin_addition": [
        {"crawl": {"url": "http://127.0.0.1:9/page"}, "wait": 60},
        {"sync": True},
        {"urls": ["http://127.0.0.1:9/x"], "wait": 60},
    ],
    "begin_job": [{"sync": "{collection}"}],
    "create_collection": [{"name": "{collection}"}],
    "create_run": RUN_NAMED,
    "estimate_run": RUN_NAMED,
    "follow_up": [QUESTION, *RUN_NAMED],
    "fork_run": [{"point": "write"}, {"point": "write", "scope": {"collections": ["{collection}"]}}],
    "label_run": [{"added": {"mine": "x"}}, {"removed": ["mine"]}],
    "make_token": [{"scopes": ["admin"]}],
    "mark_collection": [{"private": True}, {"readers": "all"}],
    "search_all": [{"q": "tide"}, {"q": "tide", "collections": ["{collection}"]}],
    "rename_thread": [{"title": "mine"}],
    "replace_plan": [{"form": "title: x\n\n1. y\n"}],
    "set_user_limits": [{"runs_per_day": 1}],
    "set_key": [{"key": "sk-of-another"}],
    "share_run": [{}, {"days": 1}],
    "steer_run": [{"text": "more"}],
    "test_model": [{"model": "extractive"}],
    "verify_run": [{}],
    "verify_text": [{"text": "The tide rises seven metres.", "scope": {"collections": ["{collection}"]}}],
}
"""The bodies which each operation is tried with."""

QUERIES: dict[str, list[dict[str, str]]] = {
    "all_events": [{}],
    "ask_run": [{}],
    "create_run": [{}],
    "compare_runs": [{"a": "{run}", "b": "{run}"}],
    "list_webhooks": [{"run": "{run}"}],
    "draw_page": [{}, {"width": "300"}],
    "find_printed": [{"start": "0", "end": "5"}],
    "follow_up": [{}],
    "list_all_runs": [{}],
    "list_audit": [{}],
    "list_documents": [{}],
    "list_models": [{}],
    "list_runs": [{}, {"q": "tide"}, {"label": "mine"}, {"thread": "{thread}"}, {"collection": "{collection}"}],
    "list_threads": [{}, {"q": "tide"}],
    "list_usage": [{}],
    "read_document": [{}, {"start": "0", "end": "5"}],
    "remove_user": [{}, {"data": "all"}],
    "run_events": [{}, {"after": "3"}],
    "search_documents": [{"q": "tide"}],
    "search_runs": [{"q": "tide Brest seven"}],
    "show_report": [{}, {"format": "html"}, {"format": "md"}],
    "show_run": [{}, {"expand": "view"}, {"wait": "1"}],
    "upload_documents": [{"name": "x.md"}],
}
"""The queries which each operation is tried with."""

CHANGING = re.compile(r'"(id|created_at|next_at|secret)":"[^"]*",?')
"""What of an answer is new each time."""

HOOK = {"url": "https://93.184.215.14/hook"}

ONESELF = frozenset(("change_password", "log_in", "log_out"))
"""What acts on whoever asks alone, and would end the session of the test."""
MAKES = frozenset(
    ("add_places", "begin_addition", "crawl_site", "create_collection", "mark_collection", "upload_documents")
)
"""What makes a collection of one's own, where it is called by its bare name."""
ENDLESS = frozenset(("all_events",))
"""Streams without an end: a second of them is read."""
ADMINS = frozenset(("change_user", "remove_key", "remove_user", "reset_user_limits", "set_key", "set_user_limits"))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("isolation") / "home", ana="admin", bob="member", cleo="reader")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_SEARCH_WEB="false", ASSAY_SERVER_REQUESTS_PER_MINUTE="0") as server:
        yield server


async def things(client: httpx.AsyncClient) -> Ids:
    """What a user has of every kind there is."""
    path = "/api/v1/collections/tides"
    assert (await client.post(f"{path}/documents?name=tides.md", content=TIDES.encode())).status_code == 201
    run = await begun(client, TIDE, scope={"collections": ["tides"]})
    await until(client, run)
    schedule = {"every": "999d", "run": {"question": TIDE, "scope": {"collections": ["tides"]}}}
    return {
        "run": run,
        "thread": run,
        "number": "1",
        "lane": "1",
        "collection": "ana/tides",
        "document": (await client.get(f"{path}/documents")).json()["documents"][0]["sha256"],
        "addition": (await client.get("/api/v1/additions")).json()["additions"][0]["id"],
        "job": (await client.post("/api/v1/jobs", json={"sync": "tides"})).json()["id"],
        "schedule": (await client.post("/api/v1/schedules", json=schedule)).json()["id"],
        "token": (await client.post("/api/v1/tokens", json={})).json()["token"]["id"],
        "share": (await client.post(f"/api/v1/runs/{run}/shares", json={})).json()["share"]["id"],
        "webhook": (await client.post("/api/v1/webhooks", json=HOOK)).json()["webhook"]["id"],
        "provider": "openai",
        "user": "ana",
    }


def unknown(ids: Ids) -> Ids:
    """Names of nothing, which look like those."""
    values = list(dict.fromkeys(ids.values()))
    made = {name: re.sub(r"[0-9a-zA-Z]", str(values.index(value)), value) for name, value in ids.items()}
    return made | {"number": ids["number"], "lane": ids["lane"], "user": "nil", "collection": "ana/tidez"}


def filled(value: Any, ids: Ids) -> Any:
    """A value with its placeholders filled."""
    return json.loads(re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], json.dumps(value)))


def requests(described: dict[str, Any]) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Every operation but those on oneself: its name, method and path, and what else of a request."""
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            name = operation["operationId"]
            if name in ONESELF or not operation["security"]:
                continue
            takes = operation.get("requestBody", {}).get("content", {})
            queries = any(each["in"] == "query" for each in operation.get("parameters", ()))
            assert "application/json" not in takes or name in BODIES, f"say in BODIES how {name} is tried"
            assert not queries or name in QUERIES, f"say in QUERIES how {name} is tried"
            for body, query in product(BODIES.get(name, [None]), QUERIES.get(name, [{}])):
                more = {"json": body} if body is not None else {"content": b"# x"} if takes else {}
                yield name, method, path, {**more, "params": query}


async def answer(client: httpx.AsyncClient, method: str, path: str, more: dict[str, Any], ids: Ids) -> tuple[int, str]:
    """What a request is answered, with the names it was asked by left out."""
    url = re.sub(r"\{(\w+)\}", lambda found: ids[found[1]], path)
    parts = {name: value if name == "content" else filled(value, ids) for name, value in more.items()}
    response = await client.request(method, url, **parts)
    if path.endswith("/schedules") and response.status_code == 201:  # nothing of this test begins by itself
        await client.delete(f"/api/v1/schedules/{response.json()['id']}")
    text = CHANGING.sub("", response.text)
    for name, value in sorted(ids.items(), key=lambda each: -len(each[1])):
        text = text if name in ("lane", "number", "provider", "user") else text.replace(value, f"<{name}>")
    return response.status_code, text


async def some(client: httpx.AsyncClient, path: str) -> str:
    """The first second of a stream."""
    text = ""
    try:
        async with asyncio.timeout(1.0), client.stream("GET", path) as response:
            assert response.status_code == 200
            async for piece in response.aiter_text():
                text += piece
    except TimeoutError:
        pass
    return text


async def state(client: httpx.AsyncClient, ids: Ids) -> list[Any]:
    """What a user has, as far as another could have changed it."""
    shares = (await client.get(f"/api/v1/runs/{ids['run']}/shares")).json()
    lists = ("runs", "threads", "collections", "additions", "jobs", "schedules", "users")
    found = [(await client.get(f"/api/v1/{name}")).json() for name in lists]
    tokens = (await client.get("/api/v1/tokens")).json()["tokens"]
    detail = (await client.get(f"/api/v1/runs/{ids['run']}", params={"expand": "view"})).json()
    documents = (await client.get("/api/v1/collections/tides/documents")).json()
    return [*found, [each["id"] for each in tokens], shares, detail, documents]


def traces(ids: Ids) -> tuple[str, ...]:
    """What no answer to another holds."""
    return (
        ids["run"],
        ids["document"],
        ids["addition"],
        ids["job"],
        ids["schedule"],
        ids["token"],
        ids["share"],
        "seven metres",
        "Brest",
    )


async def test_what_is_anothers_is_answered_as_what_does_not_exist(server: Served) -> None:
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        known = await things(ana)
        await settled(ana)
        before = await state(ana, known)
        described = (await ana.get("/openapi.json")).json()
        tried = 0
        for name, method, path, more in requests(described):
            if name in ENDLESS:
                assert not [trace for trace in traces(known) if trace in await some(bob, path)]
                continue
            body = path + json.dumps(more.get("json", {}))
            short = [known | {"run": known["run"][:6]}] * ("{run}" in body + json.dumps(more["params"]))
            bare = [known | {"collection": "tides"}] * (name not in MAKES and "{collection}" in body)
            for ids in (known, *short, *bare):
                others = unknown(ids) | ({"collection": "tidez"} if ids["collection"] == "tides" else {})
                real, none = [await answer(bob, method, path, more, each) for each in (ids, others)]
                assert real == none, (name, more)
                assert real[0] < 500, (name, real)
                assert not [trace for trace in traces(known) if trace in real[1]], (name, real)
                if "{" in path:
                    assert real[0] == (403 if name in ADMINS else 404) or real[0] == 422, (name, real)
                tried += 1
        assert tried > 150
        assert await state(ana, known) == before


async def settled(client: httpx.AsyncClient) -> None:
    """Wait until nothing of a user goes on."""
    while True:
        runs = (await client.get("/api/v1/runs")).json()["runs"]
        if len(runs) > 1 and all(each["status"] in ("completed", "failed") and not each["executed"] for each in runs):
            return
        await asyncio.sleep(0.1)


async def test_another_may_call_his_things_the_same(server: Served) -> None:
    """A thread or a collection of one's own has the name of another's, and nothing of it."""
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        await ana.post("/api/v1/collections/same/documents?name=a.md", content=TIDES.encode())
        made = await bob.post("/api/v1/collections/same/documents?name=b.md", content=b"# Rain\n\nIt rains in Lima.\n")
        assert made.status_code == 201
        [mine] = (await bob.get("/api/v1/collections/same/documents")).json()["documents"]
        assert mine["title"] == "Rain"
        first = await begun(ana, TIDE, thread="talk", scope={"collections": ["same"]})
        second = await begun(bob, "Does it rain in Lima?", thread="talk", scope={"collections": ["same"]})
        await until(ana, first)
        await until(bob, second)
        shown = (await bob.get("/api/v1/threads/talk")).json()
        assert {each["run_id"] for each in shown["messages"]} == {second}
        assert (await bob.delete("/api/v1/threads/talk")).status_code in (200, 204)
        assert (await ana.get("/api/v1/threads/talk")).status_code == 200


@pytest.mark.parametrize("name", ["bob", "ana"])
async def test_a_token_does_what_its_scope_says_on_every_route(server: Served, home: Path, name: str) -> None:
    secret = command(home, "users", "token", name, "--scope", "read").splitlines()[0]
    named = "thread collection addition job schedule token user share provider webhook".split()
    nothing = dict.fromkeys(named, "none") | {"run": "0" * 10, "lane": "1", "number": "1", "document": "0" * 64}
    async with server.client(headers={"Authorization": f"Bearer {secret}"}) as client:
        described = (await client.get("/openapi.json")).json()
        for operation, method, path, more in requests(described):
            [needed] = described["paths"][path][method]["security"][0]["token"]
            if operation in ENDLESS:
                await some(client, path)
                continue
            status, found = await answer(client, method, path, more, nothing)
            assert (status == 403) == (needed != "read"), (operation, status, found)
        assert (await client.get("/v1/models")).status_code == 200
        body = {"model": "assay", "input": TIDE}
        assert (await client.post("/v1/responses", json=body)).status_code == 403
        chat = {"model": "assay", "messages": [{"role": "user", "content": TIDE}]}
        assert (await client.post("/v1/chat/completions", json=chat)).status_code == 403


async def test_a_table_is_shown_to_its_owner_alone(server: Served) -> None:
    html = {"Accept": "text/html"}
    async with session(server, "ana") as ana, session(server, "bob") as bob:
        await begun(ana, TIDE, labels={CELL_OF: "hers.csv"})
        for client, is_hers in ((ana, True), (bob, False)):
            assert ("hers.csv" in (await client.get("/tables", headers=html)).text) == is_hers
            assert (await client.get("/tables/hers.csv", headers=html)).status_code == (200 if is_hers else 404)
