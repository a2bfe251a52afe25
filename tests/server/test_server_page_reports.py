"""Reports in the page beside their text: which two are compared, in which formats one takes them along."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from serving import TIDE, TIDES, WAIT, Served, begun, served, until

from assay.core.ports.lists import CELL_OF

HTML = {"Accept": "text/html"}
OTHER = "How often does the tide turn?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("reports") / "home") as server:
        path = f"{server.url}/api/v1/collections/tides/documents?name=tides.md"
        httpx.post(path, content=TIDES.encode(), trust_env=False, timeout=WAIT).raise_for_status()
        yield server


async def ended(client: httpx.AsyncClient, question: str) -> str:
    """The id of a run that has ended."""
    run = str(await begun(client, question, scope={"collections": ["tides"]}))
    await until(client, run)
    return run


def chosen(page: str) -> list[str | None]:
    """The runs that are selected before anybody selects some."""
    return [each.attributes["value"] for each in LexborHTMLParser(page).css("option[selected]")]


async def test_a_report_is_compared_with_another_one_of_its_question_first(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        assert "once there are two" in (await client.get("/compare")).text
        older, other, newer = [await ended(client, question) for question in (TIDE, OTHER, TIDE)]
        assert chosen((await client.get("/compare")).text) == [other, newer]
        assert chosen((await client.get(f"/compare?a={older}")).text) == [older, newer]
        assert chosen((await client.get(f"/compare?a={other}")).text) == [other, newer]
        pair = await client.get(f"/compare?a={newer}&b={other}")
        assert chosen(pair.text) == [newer, other]
        assert all(f'<a href="/runs/{run}">' in pair.text for run in (newer, other))
        begins = str(await begun(client, OTHER, mode="deep_research", review_plan="required"))  # it waits for a person
        assert chosen((await client.get(f"/compare?a={begins}")).text)[0] == begins
        wrong = await client.get("/compare?a=nowhere&b=nowhere")
        assert 'role="alert"' in wrong.text


async def test_a_table_shows_its_cells_and_the_latest_answer_to_a_question_asked_again(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        assert "There are no tables yet" in (await client.get("/tables")).text
        labels, scope = {CELL_OF: "a <b>/t.csv"}, {"collections": ["tides"]}
        cells = [await begun(client, question, scope=scope, labels=labels) for question in (TIDE, "Who is Ana?", TIDE)]
        for cell in cells:
            await until(client, cell)
        listed = LexborHTMLParser((await client.get("/tables")).text)
        [link] = listed.css(".shelves a")
        assert (link.text(), "3 runs" in listed.css(".shelves")[0].text()) == ("a <b>/t.csv", True)
        table = LexborHTMLParser((await client.get(str(link.attributes["href"]))).text).css("table")[0]
        assert [head.text() for head in table.css("thead th")] == ["Document", TIDE, "Who is Ana?"]
        [row] = table.css("tbody tr")
        assert [cell.attributes["href"] for cell in row.css("td a")] == [f"/runs/{cells[2]}", f"/runs/{cells[1]}"]
        answer, nothing = [cell.text() for cell in row.css("td")]
        assert ("quoted" in answer, "seven metres" in answer, nothing) == (True, True, "no answer found")
        assert row.css("th a")[0].text() == "Tides"
        assert (await client.get("/tables/nowhere.csv")).status_code == 404


async def test_formats_have_the_names_people_know(server: Served) -> None:
    async with server.client(headers=HTML) as client:
        page = LexborHTMLParser((await client.get(f"/runs/{await ended(client, TIDE)}")).text)
        named = [" ".join(each.text().split()) for each in page.css(".menu a[download]")]
        assert named[:4] == ["Markdown .md", "Web page .html", "PDF .pdf", "Word .docx"]
        assert "Archive with all evidence .zip" in named
