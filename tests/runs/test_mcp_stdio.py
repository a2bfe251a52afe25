"""`assay mcp` as the official client sees it, in a process of its own, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
import pytest_asyncio
import warm
from harbours import HARBOUR, QUESTION, fill_home, make_home
from one_agent_script import one_agent

from assay import Assay, settings

mcp = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

from mcp import Client, StdioServerParameters, stdio_client  # noqa: E402
from mcp.client.context import ClientRequestContext  # noqa: E402
from mcp_types import ElicitRequestParams, ElicitResult  # noqa: E402

Era = Literal["legacy", "auto"]
ERAS: tuple[Era, ...] = ("legacy", "auto")
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
TOOLS = {
    "search",
    "fetch",
    "research",
    "research_wait",
    "research_report",
    "verify",
    "evidence",
    "ask",
    "steer",
    "cancel",
    "list_runs",
    "list_collections",
}
QUESTIONS = ["Which Vendel?", "Which century?"]
SCRIPT = [
    {"task": "triage", "reply": {"text": "\n".join(QUESTIONS)}},
    {
        "task": "plan",
        "contains": "the one in the north",
        "reply": {"text": json.dumps({"title": "North", "steps": [{"title": "The northern harbour"}]})},
    },
    {"task": "plan", "reply": {"text": json.dumps({"title": "Any", "steps": [{"title": "Any harbour"}]})}},
    *one_agent("harbour Vendel", "The harbour of Vendel was built in 1902. [S1001.1]"),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("harbours"))


@asynccontextmanager
async def connected(home: Path, era: Era = "auto", *args: str, **more: Any) -> AsyncIterator[Client]:
    environment = {**os.environ, "ASSAY_SEARCH_WEB": "false", **more.pop("env", {})}
    command, *words = more.pop("line", warm.line)("mcp", "-q", "--home", home, *args)
    server = StdioServerParameters(command=command, args=words, env=environment)
    async with Client(stdio_client(server), mode=era, **more) as client:
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=ERAS)
async def client(request: pytest.FixtureRequest, home: Path) -> AsyncIterator[Client]:
    """One process for all tests which only ask it. A task of its own enters and leaves it, as its library demands."""
    opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    left = asyncio.Event()

    async def hold() -> None:
        async with connected(home, request.param) as client:
            opened.set_result(client)
            await left.wait()

    holder = asyncio.create_task(hold())
    await asyncio.wait((opened, holder), return_when=asyncio.FIRST_COMPLETED)
    if holder.done():
        await holder  # says what went wrong
    yield opened.result()
    left.set()
    await holder


shared = pytest.mark.asyncio(loop_scope="module")
auto = pytest.mark.parametrize("client", ["auto"], indirect=True)


async def called(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    answer = await client.call_tool(name, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def refused(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    return str(answer.content[0].text)


@shared
@pytest.mark.parametrize(("client", "version"), VERSIONS.items(), indirect=["client"])
async def test_each_tool_says_what_it_is(client: Client, version: str) -> None:
    assert client.protocol_version == version
    tools = (await client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS
    for tool in tools:
        assert tool.title, tool.name
        assert tool.description, tool.name
        assert tool.output_schema, tool.name
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is not None
        assert tool.annotations.destructive_hint is (tool.name == "cancel")
    prompts = (await client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["deep_research"]
    templates = (await client.list_resource_templates()).resource_templates
    assert "assay://runs/{run_id}/report.md" in {each.uri_template for each in templates}


@shared
@auto
async def test_search_and_fetch_keep_the_contract_of_chatgpt(client: Client) -> None:
    answer = await client.call_tool("search", {"query": "harbour of Vendel"})
    assert [block.type for block in answer.content] == ["text"]
    found = json.loads(answer.content[0].text)["results"]
    assert {"id", "title", "url"} <= set(found[0])
    assert found[0]["title"] == "Harbour of Vendel"
    answer = await client.call_tool("fetch", {"id": found[0]["id"]})
    assert [block.type for block in answer.content] == ["text"]
    document = json.loads(answer.content[0].text)
    assert set(document) == {"id", "title", "text", "url", "metadata"}
    assert document["text"].strip() == HARBOUR.strip()
    assert document == answer.structured_content


@shared
async def test_a_report_with_its_evidence(client: Client) -> None:
    received: list[tuple[float, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        received.append((progress, message))

    question = f"{QUESTION} ({client.protocol_version})"
    answer = await client.call_tool("research", {"question": question}, progress_callback=note)
    assert not answer.is_error, answer.content
    news = answer.structured_content
    assert news["status"] == "completed"
    assert news["terminal"]
    assert "built in 1902. [1]" in news["report"]
    assert "assay://documents/" in news["report"]
    assert "/harbours" not in news["report"], "the path of a file"
    assert "assay://runs/" in str(answer.content[1].uri)
    steps = [step for step, _ in received]
    assert steps
    assert steps == sorted(set(steps))
    run_id = news["run_id"]

    again = await called(client, "research", question=question)
    assert again["run_id"] == run_id, "the same question shortly after is the same run"

    shown = await called(client, "evidence", run_id=run_id, citation=1)
    passage = shown["evidence"][0]
    assert HARBOUR.encode()[passage["start"] : passage["end"]].decode() == passage["text"]
    assert shown["claims"][0]["verdict"] == "quoted"

    page = await called(client, "research_report", run_id=run_id, part="claims")
    assert page["text"].startswith("- ")
    assert page["next_cursor"] is None
    page = await called(client, "research_report", run_id=run_id, part="sources")
    assert page["text"].startswith("1. Harbour of Vendel: assay://documents/")
    assert "file:" not in page["text"]
    resource = await client.read_resource(f"assay://runs/{run_id}/report.md")
    assert resource.contents[0].text == news["report"]
    listed = await called(client, "list_runs")
    assert run_id in [run["run_id"] for run in listed["runs"]]
    more = await called(client, "ask", run_id=run_id, question="By how much was the harbour enlarged?")
    assert more["run_id"] != run_id
    assert more["terminal"]


@shared
@auto
async def test_a_text_is_checked_against_the_library(client: Client) -> None:
    checked = await called(
        client, "verify", text="The harbour of Vendel was built in 1902. The ferry to Oster takes 90 minutes."
    )
    assert checked["claims"][0]["verdict"] in ("quoted", "supported")
    assert checked["claims"][1]["verdict"] not in ("quoted", "supported")
    assert "1 of 2" in checked["next_action"]
    found = await called(client, "search", query="harbour of Vendel")
    assert found["results"][0]["url"] in checked["claims"][0]["urls"]
    assert all(url.startswith("assay://documents/") for claim in checked["claims"] for url in claim["urls"])


@shared
@auto
async def test_private_documents_stay_unless_the_owner_allows_it(client: Client, home: Path) -> None:
    listed = await called(client, "list_collections")
    assert [row["name"] for row in listed["collections"]] == ["default", "ferries", "mixed"]
    assert "private" in await refused(client, "research", question="Who is dismissed?", collections=["letters"])
    assert "private" in await refused(client, "research", question="Who is dismissed?", collections=["mixed"])
    found = await called(client, "search", query="harbour master dismissed in May")
    assert "Letters" not in [each["title"] for each in found["results"]]
    async with Assay(settings.load(), home=home) as assay:
        run = assay.start("Who is to be dismissed?", sources=["@letters"])
        await run.view()
    assert "private" in await refused(client, "research_report", run_id=run.run_id)
    async with connected(home, "auto", "--allow-private") as trusted:
        listed = await called(trusted, "list_collections")
        assert "letters" in [row["name"] for row in listed["collections"]]
        page = await called(trusted, "research_report", run_id=run.run_id)
        assert "dismissed" in page["text"]


def test_it_needs_none_of_the_server() -> None:
    """The extra `mcp` is enough: what else the server is made of may not be installed."""
    text = "import sys, assay.server.mcp.mcp_server; print({'argon2', 'assay.server.backend'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@shared
@auto
async def test_that_no_answer_was_found_is_told(client: Client) -> None:
    news = await called(client, "research", question="Who painted the Mona Lisa?", web=False)
    assert news["status"] == "completed"
    assert "nothing was found that answers the question" in news["next_action"]


@shared
@auto
async def test_mistakes_are_told(client: Client) -> None:
    assert "no run named 'nowhere'" in await refused(client, "research_wait", run_id="nowhere")
    assert "use one of: default, ferries, mixed" in await refused(
        client, "research", question="x", collections=["none"]
    )
    assert "the question is empty" in await refused(client, "research", question="  ")
    assert "no option of research named 'dept'; did you mean 'depth'?" in await refused(
        client, "research", question="x", dept="light"
    )
    assert "no document" in await refused(client, "fetch", id="feed")


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_which_can_is_asked(tmp_path: Path, era: Era) -> None:
    home, script = await fill_home(tmp_path), tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    model = {"ASSAY_MODEL": f"scripted:{script}"}
    seen: list[Any] = []

    async def fill(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        seen.append(params.requested_schema)
        return ElicitResult(action="accept", content={"q1": "the one in the north"})

    async with connected(home, era, env=model, elicitation_callback=fill) as client:
        news = await called(client, "research", question="How old is the harbour of Vendel?", depth="light")
        assert [each["title"] for each in seen[0]["properties"].values()] == QUESTIONS
        assert news["status"] == "completed"
        view = await stored(home, news["run_id"])
        assert view.clarification.answers[0] == "the one in the north"
        assert view.plan is not None
        assert view.plan.steps[0].title == "The northern harbour"


async def test_where_nobody_can_be_asked_the_assistant_is(tmp_path: Path) -> None:
    home, script = await fill_home(tmp_path), tmp_path / "script.json"
    script.write_text(json.dumps(SCRIPT))
    async with connected(home, env={"ASSAY_MODEL": f"scripted:{script}"}) as client:
        news = await called(client, "research", question="How old is the harbour, then?", clarify=True)
        assert (news["status"], news["questions"]) == ("waiting", QUESTIONS)
        assert "research_wait" in news["next_action"]
        news = await called(client, "research_wait", run_id=news["run_id"], answers=["the one in the north"])
        assert news["status"] == "completed"


async def stored(home: Path, run_id: str) -> Any:
    async with Assay(settings.load(), home=home) as assay:
        return await assay.view(run_id)


@shared
@auto
async def test_a_run_goes_on_when_its_client_leaves(client: Client, home: Path) -> None:
    """What it left is there for the next."""
    async with connected(home, line=lambda *words: [sys.executable, "-m", "assay", *map(str, words)]) as leaving:
        news = await called(leaving, "research", question=QUESTION, wait_seconds=0)
        assert not news["terminal"]
        assert news["timed_out"]
        assert "research_wait" in news["next_action"]
    async with asyncio.timeout(60):
        while (await stored(home, news["run_id"])).status != "completed":  # a process of its own is at it
            await asyncio.sleep(0.2)
    news = await called(client, "research_wait", run_id=news["run_id"])
    assert "1902" in news["report"]
