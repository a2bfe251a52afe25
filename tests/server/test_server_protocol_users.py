"""Users behind the other protocols: a token is the key, and one user's runs are unknown to another."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import openai
import pytest
from accounts import accounts, session
from harbours import QUESTION
from openai import AsyncOpenAI
from serving import HASTY, WAIT, Served, command, served

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

TIDES = "# Tides\n\nThe tide at Brest rises seven metres.\n"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("users") / "home"


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    accounts(home, ann="member", bob="member")
    with served(home, program=HASTY, ASSAY_SEARCH_WEB="false") as found:
        yield found


async def token(server: Served, name: str) -> str:
    async with session(server, name) as client:
        made = await client.post("/api/v1/tokens", json={"name": "client", "days": 1})
        assert made.status_code in (200, 201), made.text
        return next(text for text in re.findall(r'"(assay_[^"]+)"', made.text))


def api(server: Served, key: str) -> AsyncOpenAI:
    return AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0)


@asynccontextmanager
async def tools(server: Served, key: str) -> AsyncIterator[Client]:
    import httpx2

    headers = {"Authorization": f"Bearer {key}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT, trust_env=False) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
    ):
        yield client


async def test_the_key_of_a_client_is_a_token(server: Served) -> None:
    async with api(server, "wrong") as client:
        with pytest.raises(
            openai.AuthenticationError, match="the token is none of this server, was revoked or has expired"
        ):
            await client.responses.create(model="assay", input=QUESTION)
    async with server.client() as client:
        assert (await client.post("/mcp", json={})).status_code == 401


async def test_what_tools_do_to_runs_is_in_the_audit_log(server: Served, home: Path) -> None:
    key = await token(server, "bob")
    async with tools(server, key) as client, server.client() as http:
        http.headers["Authorization"] = f"Bearer {key}"
        file = {"file": ("quays.md", "# Quays\n\nThe highest tide floods the quay.\n")}
        await http.post("/api/v1/collections/quays/documents", files=file, timeout=WAIT)
        asked = {"question": "Which tide is highest?", "collections": ["quays"], "wait_seconds": 50}
        run_id = (await client.call_tool("research", asked)).structured_content["run_id"]
        assert (await client.call_tool("steer", {"run_id": run_id, "text": "Faster"})).is_error  # it has ended
        waits = {"scope": {"collections": ["quays"]}, "review_plan": "required"}  # it does not end by itself
        made = await http.post("/api/v1/runs", json={"question": "Which tide is lowest?", **waits})
        other = made.json()["id"]
        assert not (await client.call_tool("steer", {"run_id": other, "text": "secret words"})).is_error
        assert not (await client.call_tool("cancel", {"run_id": other})).is_error
    done = command(home, "users", "audit", "--user", "bob", "--json")
    found = [each for each in json.loads(done) if each["subject"] in (run_id, other)][::-1]
    assert [(each["action"], each["subject"]) for each in found] == [
        ("create_run", run_id),
        ("create_run", other),
        ("steer_run", other),
        ("cancel_run", other),
    ]
    assert {(each["actor"], each["via"], each["address"]) for each in found} == {("bob", "token", "127.0.0.1")}
    assert "secret words" not in done


async def test_what_one_user_has_done_is_unknown_to_another(server: Served, tmp_path: Path) -> None:
    ann, bob = await token(server, "ann"), await token(server, "bob")
    async with httpx.AsyncClient(
        base_url=server.url, headers={"Authorization": f"Bearer {ann}"}, trust_env=False, timeout=WAIT
    ) as http:
        made = await http.post("/api/v1/collections/default/documents", files={"file": ("tides.md", TIDES)})
        assert made.status_code in (200, 201, 202), made.text
    async with api(server, ann) as client:
        response = await client.responses.create(model="assay", input="How far does the tide at Brest rise?")
        assert "seven metres" in response.output_text
        run_id = response.id.removeprefix("resp_")
    async with api(server, bob) as client:
        with pytest.raises(openai.NotFoundError, match="no response"):
            await client.responses.retrieve(response.id)
        for call in (client.responses.cancel, client.responses.delete):
            with pytest.raises(openai.NotFoundError):
                await call(response.id)
        with pytest.raises(openai.APIStatusError, match="there is no response"):
            await client.responses.create(model="assay", input="And?", previous_response_id=response.id)
        assert "assay:default" not in [model.id async for model in client.models.list()]
    async with tools(server, ann) as client:
        answer = await client.call_tool("research_report", {"run_id": run_id})
        assert "seven metres" in answer.content[0].text
        found = await client.call_tool("search", {"query": "tide"})
        assert [each["title"] for each in found.structured_content["results"]] == ["Tides"]
        same = await client.call_tool("research", {"question": "How far does the tide at Brest rise?"})
    async with tools(server, bob) as client:
        for name, arguments in (
            ("research_report", {"run_id": run_id}),
            ("research_wait", {"run_id": run_id}),
            ("ask", {"run_id": run_id, "question": "Why?"}),
            ("steer", {"run_id": run_id, "text": "Faster"}),
            ("cancel", {"run_id": run_id}),
            ("evidence", {"run_id": run_id}),
            ("verify", {"run_id": run_id}),
            ("fetch", {"id": found.structured_content["results"][0]["id"]}),
        ):
            answer = await client.call_tool(name, arguments)
            assert answer.is_error, name
            assert "seven metres" not in answer.content[0].text
        seen = (await client.call_tool("search", {"query": "tide"})).structured_content["results"]
        assert "Tides" not in [each["title"] for each in seen]
        listed = (await client.call_tool("list_runs", {})).structured_content["runs"]
        assert run_id not in [each["run_id"] for each in listed]
        other = await client.call_tool("research", {"question": "How far does the tide at Brest rise?"})
        assert other.structured_content["run_id"] != same.structured_content["run_id"]
