"""`/mcp` of a real server, as the official client sees it over HTTP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx
import pytest
from harbours import QUESTION, fill_home, make_home
from one_agent_script import one_agent

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client  # noqa: E402
from mcp.client.context import ClientRequestContext  # noqa: E402
from mcp_types import ElicitRequestParams, ElicitResult  # noqa: E402
from serving import WAIT, Served, served  # noqa: E402

UNCLEAR = [
    {"task": "triage", "reply": {"text": "Which Vendel?"}},
    {"task": "plan", "reply": {"text": json.dumps({"title": "Any", "steps": [{"title": "Any harbour"}]})}},
    *one_agent("harbour Vendel", "The harbour of Vendel was built in 1902. [S1001.1]"),
]
Era = Literal["legacy", "auto"]
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = make_home(tmp_path_factory.mktemp("harbours"))
    with served(home, ASSAY_SEARCH_WEB="false") as found:
        yield found


@asynccontextmanager
async def connected(url: str, era: Era, **more: Any) -> AsyncIterator[Client]:
    async with Client(f"{url}/mcp", mode=era, **more) as client:
        yield client


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_report_over_http(server: Served, era: Era) -> None:
    lines: list[str] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        lines.append(message or "")

    async with connected(server.url, era) as client:
        assert client.protocol_version == VERSIONS[era]
        answer = await client.call_tool("research", {"question": f"{QUESTION} {era}"}, progress_callback=note)
        assert not answer.is_error, answer.content
        assert answer.structured_content["status"] == "completed"
        assert "built in 1902" in answer.structured_content["report"]
        assert lines
        (link,) = re.findall(r"^\[1\]: <(.+)>$", answer.structured_content["report"], re.MULTILINE)
        assert "built in 1902" in httpx.get(link, trust_env=False, timeout=WAIT).text
        assert "file:" not in answer.structured_content["report"]
        page = httpx.get(answer.structured_content["url"], trust_env=False, timeout=WAIT)
        assert page.status_code == 200
        assert "built in 1902" in page.text
        run_id = answer.structured_content["run_id"]
        path = f"{server.url}/api/v1/runs/{run_id}/sources"
        listed = httpx.get(path, trust_env=False, timeout=WAIT).json()["sources"]
        assert answer.structured_content["sources"] == len(listed)
        read = await client.read_resource(f"assay://runs/{run_id}/claims.json")
        assert '"verdict":"quoted"' in read.contents[0].text
        prompt = await client.get_prompt("deep_research", {"question": "Why?"})
        assert "Why?" in prompt.messages[0].content.text


async def test_a_wrong_value_is_told_in_one_line_of_our_own(server: Served) -> None:
    wrong = {
        "research": ({"question": "?", "depth": "deep", "wait_seconds": 500}, ("depth: ", "'light'", "wait_seconds: ")),
        "list_runs": ({"limit": 0}, ("limit: ",)),
        "verify": ({"text": " "}, ("nothing to check: give a text, or the run_id of a report",)),
        "Verify": ({"text": "It was built in 1900.", "run_id": "last"}, ("give a text or a run_id, not both",)),
    }
    async with connected(server.url, "auto") as client:
        for tool, (arguments, expected) in wrong.items():
            answer = await client.call_tool(tool.lower(), arguments)
            said = answer.content[0].text
            assert answer.is_error
            assert all(words in said for words in expected), said
            assert not any(words in said for words in ("\n", "pydantic", "Arguments")), said


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_clients_of_every_version_are_answered(server: Served, version: str) -> None:
    """As bare requests: what a client of that version sends, and no more."""
    headers = {"Accept": "application/json, text/event-stream"}

    async with server.client(headers=headers) as http:

        async def call(method: str, **params: Any) -> dict[str, Any]:
            answer = await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            assert answer.status_code == 200, answer.text
            http.headers.update({name: value for name, value in answer.headers.items() if name == "mcp-session-id"})
            data = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
            return dict(json.loads(data[-1] if data else answer.text)["result"])

        begun = await call(
            "initialize", protocolVersion=version, capabilities={}, clientInfo={"name": "old", "version": "1"}
        )
        assert begun["protocolVersion"] == version
        http.headers["MCP-Protocol-Version"] = version
        note = await http.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert note.status_code == 202
        found = await call("tools/call", name="search", arguments={"query": "harbour"})
        assert [each["title"] for each in json.loads(found["content"][0]["text"])["results"]] == ["Harbour of Vendel"]


async def test_a_run_outlives_the_server(tmp_path: Path) -> None:
    home = await fill_home(tmp_path)
    with served(home, ASSAY_SEARCH_WEB="false") as first:
        async with connected(first.url, "auto") as client:
            answer = await client.call_tool("research", {"question": QUESTION, "wait_seconds": 0})
            run_id = answer.structured_content["run_id"]
            assert not answer.structured_content["terminal"]
        first.kill()
    with served(home, ASSAY_SEARCH_WEB="false") as second:
        async with connected(second.url, "auto") as client:
            answer = await client.call_tool("research_wait", {"run_id": run_id})
            assert answer.structured_content["status"] == "completed"
            assert (await client.call_tool("research", {"question": QUESTION})).structured_content["run_id"] == run_id


async def test_two_who_ask_the_same_at_once_get_one_run(server: Served) -> None:
    async with connected(server.url, "auto") as one, connected(server.url, "legacy") as other:
        asked = {"question": "Since when does the ferry sail?", "collections": ["ferries"]}
        answers = await asyncio.gather(*(client.call_tool("research", asked) for client in (one, other, one)))
        assert len({answer.structured_content["run_id"] for answer in answers}) == 1
        assert all(answer.structured_content["status"] == "completed" for answer in answers)


async def test_waiting_takes_a_stream_of_the_user(tmp_path: Path) -> None:
    """As `POST /runs?wait=`: who has no stream left is refused before anything begins, unless they do not wait."""
    home = await fill_home(tmp_path)
    with served(home, ASSAY_SEARCH_WEB="false", ASSAY_SERVER_STREAMS="1") as server:
        runs = f"{server.url}/api/v1/runs"
        async with (
            httpx.AsyncClient(trust_env=False, timeout=WAIT) as browser,
            connected(server.url, "auto") as client,
        ):
            async with browser.stream("GET", f"{server.url}/api/v1/events") as stream:
                assert stream.status_code == 200
                refused = await client.call_tool("research", {"question": QUESTION})
                assert refused.is_error
                assert "1 streams are open already" in refused.content[0].text
                assert "wait_seconds 0" in refused.content[0].text
                assert (await browser.get(runs)).json()["runs"] == []
                begun = await client.call_tool("research", {"question": QUESTION, "wait_seconds": 0})
                run_id = begun.structured_content["run_id"]
            async with asyncio.timeout(WAIT):  # the server notices a little later that the stream is gone
                while (done := await client.call_tool("research_wait", {"run_id": run_id})).is_error:
                    await asyncio.sleep(0.1)
            assert done.structured_content["status"] == "completed"
            async with browser.stream("GET", f"{server.url}/api/v1/events"):  # the ticket was given back
                ended = await client.call_tool("research_wait", {"run_id": run_id})
                assert ended.structured_content["status"] == "completed"  # it needs no wait
                asked = {"run_id": run_id, "question": "When?"}
                assert (await client.call_tool("ask", asked)).is_error


async def test_private_documents_are_not_shown(server: Served) -> None:
    async with connected(server.url, "auto") as client:
        answer = await client.call_tool("research", {"question": "Who goes?", "collections": ["letters"]})
        assert answer.is_error
        assert "private" in answer.content[0].text


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_client_which_can_is_asked_over_http(tmp_path: Path, era: Era) -> None:
    home, script = await fill_home(tmp_path), tmp_path / "script.json"
    script.write_text(json.dumps(UNCLEAR))
    seen: list[str] = []

    async def fill(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        seen.extend(field["title"] for field in params.requested_schema["properties"].values())
        return ElicitResult(action="decline")

    with served(home, ASSAY_SEARCH_WEB="false", ASSAY_MODEL=f"scripted:{script}") as asking:
        async with connected(asking.url, era, elicitation_callback=fill) as client:
            answer = await client.call_tool("research", {"question": "How old is it?", "depth": "light"})
            assert not answer.is_error, answer.content
            assert seen == ["Which Vendel?"]
            assert answer.structured_content["status"] == "completed", "who declines is not asked again"


@pytest.mark.parametrize("era", ["legacy", "auto"])
async def test_a_server_with_clients_stops_at_once(tmp_path: Path, era: Era) -> None:
    with served(await fill_home(tmp_path), ASSAY_SEARCH_WEB="false") as stopped:
        async with connected(stopped.url, era) as client:
            await client.list_tools()
            assert await asyncio.to_thread(stopped.stop) == 143
        assert "exceeded" not in stopped.output(), "nothing was waited for until patience ended"
