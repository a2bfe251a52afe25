"""Servers of the Model Context Protocol as sources: real ones, over stdio and streamable HTTP on loopback."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from ports import free_port
from waiting import until

from assay import Assay
from assay.core.errors import ConfigError, FetchFailed, SearchError
from assay.core.ports import Query
from assay.core.web_addresses import WebRules
from assay.run.process import SystemClock
from assay.search.mcp import McpAccess, McpServer
from assay.settings import Settings, load

pytest.importorskip("mcp", reason="the extra mcp is not installed")

PROGRAM = str(Path(__file__).parents[2] / "support" / "mcp_server.py")
STDIO = (sys.executable, PROGRAM, "stdio")
SEARCH = Query(text="harbor")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, PROGRAM, "http", str(port)], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}/mcp"
    process.terminate()
    process.wait(120)


@pytest.fixture(params=["stdio", "http"])
def access(request: pytest.FixtureRequest, address: str) -> McpAccess:
    return McpAccess(command=STDIO) if request.param == "stdio" else McpAccess(url=address)


def server(access: McpAccess, **changed: object) -> McpServer:
    named = {name: getattr(access, name) for name in access.__struct_fields__} | changed
    return McpServer("notes", McpAccess(**named), SystemClock())  # type: ignore[arg-type]


@pytest.mark.slow
async def test_it_finds_and_reads(access: McpAccess):
    made = server(access)
    hits = await made.find(SEARCH)
    assert [(hit.url, hit.title) for hit in hits] == [
        ("mcp:notes/n%201", "The Harbor log"),
        ("mcp:notes/n%2F2", "Tides"),
    ]
    page = await made.read(hits[1].url)
    assert page.body.decode() == "# Tides\n\nThe highest tide on record was 5.2 metres, in March 1838."
    assert page.url == "mcp:notes/n%2F2"
    await made.close()


def line(process: psutil.Process) -> list[str]:
    """With what it was started; nothing where it has just ended."""
    try:
        return list(process.cmdline())
    except psutil.Error:
        return []


@pytest.mark.slow
async def test_one_process_without_keys_answers_all_questions_and_another_follows_one_that_died(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    before = {each.pid for each in psutil.Process().children(recursive=True)}

    def servers() -> list[psutil.Process]:
        found = (each for each in psutil.Process().children(recursive=True) if each.pid not in before)
        return [each for each in found if PROGRAM in " ".join(line(each))]

    made = server(McpAccess(command=STDIO), fetch="environment")
    answers = await asyncio.gather(*(made.find(SEARCH) for _ in range(4)))
    assert [len(hits) for hits in answers] == [2, 2, 2, 2]
    (first,) = servers()
    environment = (await made.read("mcp:notes/n%201")).body.decode()
    assert "PATH" in environment
    assert "OPENAI_API_KEY" not in environment
    assert servers() == [first]
    first.kill()
    first.wait(120)
    assert len(await made.find(SEARCH)) == 2
    assert servers() != [first]
    await made.close()
    await until(lambda: not servers())


@pytest.mark.slow
async def test_what_goes_wrong_is_said(address: str):
    at = McpAccess(url=address)
    with pytest.raises(SearchError, match=r"no tool named 'find'; it has: broken, environment, fetch"):
        await server(at, search="find").find(SEARCH)
    with pytest.raises(SearchError, match="answered: Error executing tool broken"):
        await server(at, search="broken").find(SEARCH)
    with pytest.raises(SearchError, match="mcp:notes"):
        await server(at, search="large", bytes=100_000).find(SEARCH)
    assert await server(at, search="nonsense").find(SEARCH) == []
    assert await server(at, search="").find(SEARCH) == []
    assert [(hit.url, hit.title) for hit in await server(at, search="odd").find(SEARCH)] == [("mcp:notes/n%201", "n 1")]
    with pytest.raises(SearchError, match="mcp:notes sent results that cannot be read"):
        await server(at, search="unreadable").find(SEARCH)
    with pytest.raises(FetchFailed, match="no tool that reads"):
        await server(at, fetch="").read("mcp:notes/1")
    with pytest.raises(FetchFailed, match="unreachable"):
        await server(at).read("mcp:notes/nosuch")


async def test_waiting_ends(address: str):
    with pytest.raises(SearchError, match=r"within 0\.5 s|timed out"):  # the tool itself would answer after 3 s
        await server(McpAccess(url=address), search="slow", seconds=0.5).find(SEARCH)


async def test_nobody_there():
    with pytest.raises(SearchError, match="mcp:notes"):
        await server(McpAccess(url="http://127.0.0.1:9/mcp", seconds=5)).find(SEARCH)
    with pytest.raises(SearchError, match="mcp:notes"):
        await server(McpAccess(command=("/nonexistent/program",), seconds=5)).find(SEARCH)


def settings_of(access: McpAccess) -> Settings:
    reached = {"command": access.command} if access.command else {"url": access.url}
    return load(
        search={"providers": "searxng", "services": {"searxng": {"url": "http://127.0.0.1:9"}}}, mcp={"notes": reached}
    )


async def test_a_run_cites_what_a_server_gave(address: str):
    async with Assay(settings_of(McpAccess(url=address))) as assay:
        run = assay.start("When was the harbor built?", web=True, depth="light")
        view = await asyncio.wait_for(run.view(), 100)
    cited = [source.url for source in view.sources.values() if source.media_type == "text/markdown"]
    assert "mcp:notes/n%201" in cited
    assert "1843" in view.report.text


async def test_without_the_web_it_is_not_asked(tmp_path: Path):
    (tmp_path / "a.md").write_text("The harbor was built in 1850.\n")
    touched = tmp_path / "touched"
    settings = load(mcp={"notes": {"command": ["touch", str(touched)]}})
    async with Assay(settings) as assay:
        await assay.start("When was the harbor built?", sources=tmp_path / "a.md").view()
    assert not touched.exists()


@pytest.mark.parametrize("wrong", [{}, {"url": "http://x.example/mcp", "command": ["x"]}, {"url": "ftp://x"}])
def test_settings_are_checked(wrong: dict[str, object]):
    with pytest.raises(ConfigError, match=r"mcp\.notes"):
        load(mcp={"notes": wrong})


def test_rules_of_hosts():
    assert WebRules().refusal_reason("mcp:notes/1") == ""
    assert WebRules(domains=("x.example",)).refusal_reason("mcp:notes/1")
    assert WebRules(since="2024-01-01").refusal_reason("mcp:notes/1", "2023")
