"""A response over a small web on loopback: its searches, the pages it opened, and links with their annotations."""

from __future__ import annotations

from pathlib import Path

from local_web import QUESTION, LocalWeb
from openai import AsyncOpenAI
from serving import served
from web import site

CONFIG = """
[search]
providers = ["searxng"]
[search.services.searxng]
url = "{url}"
[web]
allow = ["127.0.0.1"]
"""


async def test_pages_are_linked_where_they_are_cited(tmp_path: Path) -> None:
    async with site() as there:
        web = LocalWeb(there)
        (tmp_path / "config.toml").write_text(CONFIG.format(url=there.url("").rstrip("/")))
        with served(tmp_path / "home") as server:
            async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none") as api:
                response = await api.responses.create(
                    model="assay-light",
                    input=QUESTION,
                    tools=[{"type": "web_search"}],
                    include=["web_search_call.action.sources"],
                )
        assert response.status == "completed"
        assert "web_search" in [tool.type for tool in response.tools]
        text = response.output_text
        message = next(item for item in response.output if item.type == "message")
        notes = message.content[0].annotations
        assert {note.type for note in notes} == {"url_citation"}
        for note in notes:
            shown = text[note.start_index : note.end_index]
            assert shown.startswith("[")
            assert shown.endswith(f"]({note.url})")
        assert there.url("/harbor") in {note.url for note in notes} or there.url("/old") in {note.url for note in notes}
        calls = [item for item in response.output if item.type == "web_search_call"]
        searches = [call.action for call in calls if call.action.type == "search"]
        assert searches[0].sources is not None
        assert there.url("/tides") in [source.url for source in searches[0].sources]
        opened = {call.action.url for call in calls if call.action.type == "open_page"}
        assert opened <= {there.url(path) for path in ("/harbor", "/old", "/tides", "/dead")}
        assert web.read
