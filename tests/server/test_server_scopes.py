"""Tools of MCP under a token which may only read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from accounts import accounts, session
from serving import TIDE, TIDES, WAIT, Served, begun, command, served, until

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2  # noqa: E402
from mcp import Client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return accounts(tmp_path_factory.mktemp("scopes") / "home", ana="admin")


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Served]:
    with served(home, ASSAY_SEARCH_WEB="false") as server:
        yield server


async def test_a_reading_token_uses_the_tools_which_read_and_no_other(server: Served, home: Path) -> None:
    async with session(server, "ana") as ana:
        uploaded = "/api/v1/collections/default/documents?name=tides.md"
        assert (await ana.post(uploaded, content=TIDES.encode())).status_code == 201
        run = await begun(ana, TIDE)
        await until(ana, run)
        before = (await ana.get("/api/v1/runs")).json()
    secret = command(home, "users", "token", "ana", "--scope", "read").splitlines()[0]
    calls = {
        "search": {"query": "tide"},
        "fetch": {"id": ""},
        "research": {"question": "And at Saint-Malo?"},
        "research_wait": {"run_id": run},
        "research_report": {"run_id": run},
        "verify": {"text": "The tide rises."},
        "evidence": {"run_id": run},
        "ask": {"run_id": run, "question": "Why?"},
        "steer": {"run_id": run, "text": "Faster"},
        "cancel": {"run_id": run},
        "list_runs": {},
        "list_collections": {},
    }
    headers = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=WAIT, trust_env=False) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
    ):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == set(calls)
        found = await client.call_tool("search", calls["search"])
        calls["fetch"]["id"] = found.structured_content["results"][0]["id"]
        for name, arguments in calls.items():
            answer = await client.call_tool(name, arguments)
            reads = tools[name].annotations.read_only_hint or name == "research_wait"
            assert answer.is_error != reads, (name, answer.content)
            if not reads:
                assert "needs the permission 'write'" in answer.content[0].text
                assert "ask an administrator" in answer.content[0].text
        answer = await client.call_tool("research_wait", {"run_id": run, "answers": ["x"]})
        assert answer.is_error
        assert "seven metres" in (await client.read_resource(f"assay://runs/{run}/report.md")).contents[0].text
    async with session(server, "ana") as ana:
        assert (await ana.get("/api/v1/runs")).json() == before
